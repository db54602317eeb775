// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

namespace udtperf {

namespace {

/// Fewest packets that libudt gives a receive buffer (core.cpp, UDT_RCVBUF).
constexpr std::int64_t least_packets = 32;
constexpr std::int64_t usual_block_bytes = 131'072;
constexpr std::int64_t most_bytes = 1'073'741'824;
constexpr double most_time_s = 1e6;
constexpr double least_interval_s = 0.1; // iperf3's

struct Whole {
    const char* name;
    std::int64_t Options::* member;
    std::int64_t least;
    std::int64_t most;
    const char* unit;
    const char* meaning;
};

const Whole whole_numbers[] = {
    {"--port", &Options::port, 1, 65'535, "", "UDP port of the server"},
    {"--length", &Options::length_bytes, 0, most_bytes, "bytes",
     "handed to UDT at a time; 0: whole packets, about 128 KiB"},
    {"--mss", &Options::mss_bytes, 576, 9'000, "bytes", "IP packet that UDT fills"},
    {"--fc", &Options::fc_packets, least_packets, 1'000'000, "packets", "most packets in flight"},
    {"--sndbuf", &Options::sndbuf_bytes, 1, most_bytes, "bytes", "UDT's send buffer"},
    {"--rcvbuf", &Options::rcvbuf_bytes, 1, most_bytes, "bytes", "UDT's receive buffer"},
    {"--udp-sndbuf", &Options::udp_sndbuf_bytes, 4'608, most_bytes, "bytes", "SO_SNDBUF"},
    {"--udp-rcvbuf", &Options::udp_rcvbuf_bytes, 4'608, most_bytes, "bytes", "SO_RCVBUF"},
    {"--max-rate", &Options::max_rate_bps, 0, 100'000'000'000, "bit/s", "cap on the rate; 0: none"},
    {"--ahead", &Options::ahead_us, 0, 10'000, "us", "kernel pacing: how far ahead packets wait"},
    {"--gather", &Options::gather_us, 0, 10'000, "us", "server: packets taken together, at most"},
};

struct Seconds {
    const char* name;
    double Options::* member;
    double least;
    const char* meaning;
};

const Seconds seconds[] = {
    {"--time", &Options::time_s, least_interval_s, "how long the client sends"},
    {"--interval", &Options::interval_s, least_interval_s, "between two reports"},
};

const std::map<std::string, Congestion> controls = {
    {"udtv2", Congestion::udtv2}, {"udt4", Congestion::udt4},   {"reno", Congestion::reno},
    {"hstcp", Congestion::hstcp}, {"blast", Congestion::blast}, {"scalable", Congestion::scalable},
};

struct Word {
    const char* name;
    const char* allowed;
    const char* meaning;
    std::function<bool(Options&, const std::string&)> set;
};

const Word words[] = {
    {"--congestion", "udtv2, udt4, reno, hstcp, scalable or blast",
     "rate control of UDT version 2, libudt's own, TCP's windows, or the constant --max-rate",
     [](Options& options, const std::string& value) {
         const auto control = controls.find(value);
         if (control == controls.end())
             return false;
         options.congestion = control->second;
         return true;
     }},
    {"--clock", "live or virtual", "virtual: time stands still while a thread runs",
     [](Options& options, const std::string& value) {
         options.clock = value == "virtual" ? Clock::standing : Clock::live;
         return value == "live" || value == "virtual";
     }},
    {"--pacing", "auto, thread or kernel", "who holds packets until they are due",
     [](Options& options, const std::string& value) {
         options.pacing = value == "kernel"   ? Pacing::kernel
                          : value == "thread" ? Pacing::thread
                                              : Pacing::automatic;
         return value == "auto" || value == "thread" || value == "kernel";
     }},
};

std::string number_text(double number) {
    std::ostringstream text;
    text << number;
    return text.str();
}

std::int64_t read_whole(const Whole& option, const std::string& text) {
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end || number < option.least || number > option.most) {
        const std::string unit = *option.unit ? std::string(" ") + option.unit : "";
        throw Refusal(std::string(option.name) + " is '" + text +
                      "'; allowed: a whole number from " + std::to_string(option.least) + " to " +
                      std::to_string(option.most) + unit);
    }
    return number;
}

double read_seconds(const Seconds& option, const std::string& text) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || !std::isfinite(number) || number < option.least ||
        number > most_time_s) {
        throw Refusal(std::string(option.name) + " is '" + text + "'; allowed: " +
                      number_text(option.least) + " to " + number_text(most_time_s) + " seconds");
    }
    return number;
}

/// Set what takes a value; false if there is no such option.
bool set_value(Options& options, const std::string& name, const std::string& value) {
    for (const auto& option : whole_numbers)
        if (name == option.name)
            return options.*option.member = read_whole(option, value), true;
    for (const auto& option : seconds)
        if (name == option.name)
            return options.*option.member = read_seconds(option, value), true;
    for (const auto& option : words)
        if (name == option.name) {
            if (!option.set(options, value))
                throw Refusal(name + " is '" + value + "'; allowed: " + option.allowed);
            return true;
        }
    return false;
}

std::string help_text() {
    const Options defaults;
    std::ostringstream text;
    text << "udtperf --server --one-off [options]\n"
            "udtperf --client ADDRESS [options]\n\n"
            "Sends over UDT for a while and reports each interval, as iperf3 does.\n\n"
            "  --json  report as one JSON object in iperf3's shape\n"
            "  --help, --version\n";
    for (const auto& option : seconds)
        text << "  " << option.name << " S  " << option.meaning << " (default "
             << defaults.*option.member << ")\n";
    for (const auto& option : whole_numbers)
        text << "  " << option.name << " N  " << option.meaning << (*option.unit ? ", " : "")
             << option.unit << " (default " << defaults.*option.member << ")\n";
    for (const auto& option : words)
        text << "  " << option.name << " WORD  " << option.allowed << ": " << option.meaning
             << "\n";
    text << "  --congestion-file FILE  shared library with a congestion control of your own; "
            "options "
            "that\n    are not above are its parameters\n";
    text << "\nFARPATH_CLOCK=virtual in the environment is --clock virtual.\n"
            "Exit status: 0 done, 1 the transfer failed, 2 bad input.\n";
    return text.str();
}

/// What the limits of single options do not say.
void check_together(const Options& options) {
    const std::int64_t packet_bytes = options.mss_bytes - udp_header_bytes;
    const std::int64_t least_bytes = least_packets * packet_bytes;
    for (const auto& [name, bytes] :
         {std::pair{"--sndbuf", options.sndbuf_bytes}, std::pair{"--rcvbuf", options.rcvbuf_bytes}})
        if (bytes < least_bytes)
            throw Refusal(std::string(name) + " is " + std::to_string(bytes) +
                          "; UDT needs at least " + std::to_string(least_bytes) + " bytes, " +
                          std::to_string(least_packets) + " packets");
    if (options.congestion == Congestion::blast && !options.max_rate_bps)
        throw Refusal("--congestion blast sends at --max-rate; give one in bit/s");
    if (options.pacing == Pacing::kernel && options.clock != Clock::standing)
        throw Refusal("--pacing kernel works on the virtual clock only; give --clock virtual too");
}

/// The parameter that `--its-name` sets, its_name; empty for what is no option.
std::string parameter_name(const std::string& option) {
    if (option.size() < 3 || option.compare(0, 2, "--") != 0)
        return "";
    std::string name = option.substr(2);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

std::string option_name(std::string parameter) {
    std::replace(parameter.begin(), parameter.end(), '_', '-');
    return "--" + parameter;
}

Options read_all(const std::vector<std::string>& arguments, Options options) {
    bool server = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& name = arguments[i];
        if (name == "--server")
            server = true;
        else if (name == "--one-off")
            options.one_off = true;
        else if (name == "--json")
            options.json = true;
        else if (i + 1 == arguments.size())
            throw Refusal("'" + name + "' is no option of udtperf or lacks its value; see --help");
        else if (name == "--client")
            options.address = arguments[++i];
        else if (name == "--congestion-file") {
            options.congestion_file = arguments[++i];
            options.congestion = Congestion::own;
        } else if (set_value(options, name, arguments[i + 1]))
            ++i;
        else if (const auto own = parameter_name(name); !own.empty())
            options.congestion_parameters.emplace_back(own, arguments[++i]);
        else
            throw Refusal("'" + name + "' is no option of udtperf; see --help");
    }
    if (!options.congestion_parameters.empty() && options.congestion != Congestion::own)
        throw Refusal("'" + option_name(options.congestion_parameters[0].first) +
                      "' is no option of udtperf; see --help");
    if (server == !options.address.empty())
        throw Refusal("give either --server or --client ADDRESS");
    options.role = server ? Role::server : Role::client;
    if (server && !options.one_off)
        throw Refusal("a server takes one transfer and ends; say so with --one-off");
    check_together(options);
    return options;
}

} // namespace

std::int64_t payload_bytes(const Options& options) {
    return options.mss_bytes - udp_header_bytes - udt_header_bytes;
}

std::int64_t window_packets(const Options& options) {
    return std::min(options.fc_packets,
                    options.rcvbuf_bytes / (options.mss_bytes - udp_header_bytes));
}

std::int64_t block_bytes(const Options& options) {
    const std::int64_t payload = payload_bytes(options);
    return options.length_bytes ? options.length_bytes : usual_block_bytes / payload * payload;
}

std::string congestion_name(const Options& options) {
    for (const auto& [name, congestion] : controls)
        if (congestion == options.congestion)
            return name;
    return options.congestion_file;
}

std::variant<Options, Answer> parse_options(const std::vector<std::string>& arguments,
                                            const std::string& environment_clock) {
    for (const auto& argument : arguments) {
        if (argument == "--help")
            return Answer{help_text(), 0};
        if (argument == "--version")
            return Answer{"udtperf " UDTPERF_VERSION "\n", 0};
    }
    try {
        Options options;
        // The lab names its clock: of its clocks (virtual, cpu, wall) one stands
        if (environment_clock == "virtual")
            options.clock = Clock::standing;
        return read_all(arguments, options);
    } catch (const Refusal& refusal) {
        return Answer{std::string("udtperf: ") + refusal.what() + "\n", bad_input};
    }
}

} // namespace udtperf

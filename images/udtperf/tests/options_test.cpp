// SPDX-License-Identifier: BSD-3-Clause
#include "check.hpp"
#include "options.hpp"

#include <sstream>

using namespace udtperf;

namespace {

std::vector<std::string> words(const std::string& line) {
    std::istringstream text(line);
    std::vector<std::string> all;
    for (std::string word; text >> word;)
        all.push_back(word);
    return all;
}

Options accepted(const std::string& line, const std::string& clock = "") {
    const auto parsed = parse_options(words(line), clock);
    if (const auto* answer = std::get_if<Answer>(&parsed))
        check(false, "'" + line + "' was answered: " + answer->text);
    return std::get<Options>(parsed);
}

std::string refused(const std::string& line) {
    const auto parsed = parse_options(words(line), "");
    const auto* answer = std::get_if<Answer>(&parsed);
    check(answer, "'" + line + "' was accepted");
    check(answer->status == bad_input, "'" + line + "' is no bad input");
    check(answer->text.find('\n') == answer->text.size() - 1, "not one line: " + answer->text);
    return answer->text;
}

void check_says(const std::string& text, const std::string& part) {
    check(text.find(part) != std::string::npos, "'" + text + "' does not say '" + part + "'");
}

} // namespace

TEST(a_client_without_options_sends_ten_seconds_to_iperf3s_port) {
    const Options options = accepted("--client 10.0.0.2");
    check(options.role == Role::client && options.address == "10.0.0.2", "role or address");
    check(options.port == 5201 && options.time_s == 10 && options.interval_s == 1, "defaults");
    check(options.congestion == Congestion::udtv2 && !options.json, "congestion or json");
}

TEST(every_option_of_the_interface_is_read) {
    const Options options = accepted(
        "--client 10.0.0.2 --port 5301 --time 2.5 --interval 0.1 --json --length 4000 --mss 9000 "
        "--fc 3000 --sndbuf 20000000 --rcvbuf 19000000 --udp-sndbuf 70000 --udp-rcvbuf 80000 "
        "--max-rate 5000000 --congestion udt4 --pacing thread --ahead 100 --gather 200");
    check(options.port == 5301 && options.time_s == 2.5 && options.interval_s == 0.1, "times");
    check(options.json && options.length_bytes == 4000 && options.mss_bytes == 9000, "sizes");
    check(options.fc_packets == 3000 && options.sndbuf_bytes == 20'000'000 &&
              options.rcvbuf_bytes == 19'000'000,
          "UDT's buffers");
    check(options.udp_sndbuf_bytes == 70'000 && options.udp_rcvbuf_bytes == 80'000, "UDP's");
    check(options.max_rate_bps == 5'000'000 && options.congestion == Congestion::udt4, "rate");
    check(options.pacing == Pacing::thread && options.ahead_us == 100 && options.gather_us == 200,
          "pacing");
}

TEST(a_server_takes_one_transfer_and_says_so) {
    check(accepted("--server --one-off").role == Role::server, "no server");
    check_says(refused("--server"), "--one-off");
}

TEST(either_side_is_asked_for_and_not_both) {
    check_says(refused(""), "either --server or --client");
    check_says(refused("--server --one-off --client 10.0.0.2"), "either --server or --client");
}

TEST(numbers_that_are_none_are_refused_with_what_is_allowed) {
    for (const char* text : {"12x", "x", "-1", "0x10", "1e3", "9223372036854775808", "575"})
        check_says(refused(std::string("--client 10.0.0.2 --mss ") + text), "from 576 to 9000");
    for (const char* text : {"nan", "inf", "-1", "1s", "0.09", "1e7"})
        check_says(refused(std::string("--client 10.0.0.2 --time ") + text), "0.1 to 1e+06");
}

TEST(words_that_are_none_are_refused_with_what_is_allowed) {
    check_says(refused("--client 10.0.0.2 --congestion udt5"), "udtv2, udt4, reno");
    check_says(refused("--client 10.0.0.2 --clock wall"), "live or virtual");
    check_says(refused("--client 10.0.0.2 --pacing fq"), "auto, thread or kernel");
}

TEST(every_congestion_control_is_read_by_its_name) {
    const std::vector<std::pair<std::string, Congestion>> named = {
        {"udtv2", Congestion::udtv2},
        {"reno", Congestion::reno},
        {"hstcp", Congestion::hstcp},
        {"scalable", Congestion::scalable}};
    for (const auto& [name, congestion] : named)
        check(accepted("--client 10.0.0.2 --congestion " + name).congestion == congestion &&
                  congestion_name(accepted("--client 10.0.0.2 --congestion " + name)) == name,
              name);
    check(accepted("--client 10.0.0.2 --congestion blast --max-rate 1000000").congestion ==
              Congestion::blast,
          "blast");
}

TEST(a_constant_rate_needs_one) {
    check_says(refused("--client 10.0.0.2 --congestion blast"), "--max-rate");
}

TEST(what_udtperf_does_not_know_is_a_parameter_of_a_users_file) {
    const Options options =
        accepted("--client 10.0.0.2 --decrease-by 0.3 --fc 3000 --congestion-file /a.so");
    check(options.congestion == Congestion::own && options.congestion_file == "/a.so", "file");
    check(options.fc_packets == 3'000, "udtperf's own");
    check(options.congestion_parameters.size() == 1 &&
              options.congestion_parameters[0].first == "decrease_by" &&
              options.congestion_parameters[0].second == "0.3",
          "the file's");
}

TEST(unknown_and_unfinished_options_are_refused) {
    check_says(refused("--client 10.0.0.2 --speed 3"), "'--speed' is no option");
    check_says(refused("--client 10.0.0.2 --port"), "lacks its value");
    check_says(refused("--client"), "lacks its value");
}

TEST(the_window_is_the_smaller_of_fc_and_the_receive_buffer) {
    check(window_packets(accepted("--server --one-off --fc 10000")) == 10'000, "fc");
    check(window_packets(accepted("--server --one-off --rcvbuf 14720000")) == 10'000, "rcvbuf");
}

TEST(buffers_of_less_than_32_packets_are_refused) {
    check_says(refused("--server --one-off --rcvbuf 47103"), "at least 47104");
    check_says(refused("--client 10.0.0.2 --sndbuf 47103"), "at least 47104");
}

TEST(the_defaults_fit_each_other_at_every_common_mtu) {
    for (const char* mss : {"576", "1500", "4470", "9000"})
        accepted(std::string("--client 10.0.0.2 --mss ") + mss);
}

TEST(the_labs_virtual_clock_stands_and_its_others_do_not) {
    check(accepted("--client 10.0.0.2", "virtual").clock == Clock::standing, "virtual");
    for (const char* clock : {"", "cpu", "wall"})
        check(accepted("--client 10.0.0.2", clock).clock == Clock::live, clock);
    check(accepted("--client 10.0.0.2 --clock live", "virtual").clock == Clock::live,
          "the option counts more than the environment");
}

TEST(the_kernel_paces_on_the_virtual_clock_only) {
    check_says(refused("--client 10.0.0.2 --pacing kernel"), "virtual clock only");
    accepted("--client 10.0.0.2 --pacing kernel --clock virtual");
}

TEST(a_block_is_whole_packets_of_about_128_kib) {
    for (const char* mss : {"576", "1500", "9000"}) {
        const Options options = accepted(std::string("--client 10.0.0.2 --fc 100000 --mss ") + mss);
        const auto block = block_bytes(options);
        check(block % payload_bytes(options) == 0, "no whole packets");
        check(block > 131'072 - payload_bytes(options) && block <= 131'072, "not about 128 KiB");
    }
    check(block_bytes(accepted("--client 10.0.0.2 --length 1000")) == 1000, "not the one asked");
}

TEST(help_and_version_are_answered_without_a_transfer) {
    for (const char* option : {"--help", "--version"}) {
        const auto parsed = parse_options({option}, "");
        const auto* answer = std::get_if<Answer>(&parsed);
        check(answer && answer->status == 0 && !answer->text.empty(), option);
    }
}

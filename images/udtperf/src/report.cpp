// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <cstdio>
#include <type_traits>

namespace udtperf {

namespace {

/// Builds one line of JSON; commas are its own affair.
class Json {
  public:
    Json& open(char bracket) {
        separate();
        text_ += bracket;
        first_ = true;
        return *this;
    }
    Json& close(char bracket) {
        text_ += bracket;
        first_ = false;
        return *this;
    }
    Json& key(const char* name) {
        string(name);
        text_ += ':';
        first_ = true;
        return *this;
    }
    Json& string(const std::string& value);
    Json& number(double value);
    Json& number(std::int64_t value) {
        separate();
        text_ += std::to_string(value);
        return *this;
    }
    template <class Number> Json& field(const char* name, Number value) {
        if constexpr (std::is_floating_point_v<Number>)
            return key(name).number(static_cast<double>(value));
        else
            return key(name).number(static_cast<std::int64_t>(value));
    }
    std::string text() const { return text_; }

  private:
    void separate() {
        if (!first_)
            text_ += ',';
        first_ = false;
    }

    std::string text_;
    bool first_ = true;
};

Json& Json::string(const std::string& value) {
    separate();
    text_ += '"';
    for (const char character : value) {
        if (character == '"' || character == '\\') {
            text_ += '\\';
            text_ += character;
        } else if (static_cast<unsigned char>(character) < 0x20) {
            char escaped[8];
            std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(character));
            text_ += escaped;
        } else {
            text_ += character;
        }
    }
    text_ += '"';
    return *this;
}

Json& Json::number(double value) {
    separate();
    char digits[64];
    std::snprintf(digits, sizeof(digits), "%.6f", value);
    text_ += digits;
    return *this;
}

double megabits_per_second(std::uint64_t bytes, double duration_s) {
    return duration_s > 0 ? static_cast<double>(bytes) * 8 / duration_s / 1e6 : 0.0;
}

void write_start(Json& json, const Report& report) {
    const Options& options = report.options;
    json.key("start").open('{');
    json.key("version").string("udtperf " UDTPERF_VERSION);
    json.key("role").string(options.role == Role::client ? "client" : "server");
    json.key("peer").string(report.peer);
    json.key("congestion").string(congestion_name(options));
    json.key("clock").string(options.clock == Clock::standing ? "virtual" : "live");
    json.key("pacing").string(options.pacing == Pacing::kernel ? "kernel" : "thread");
    json.field("duration", options.time_s).field("interval", options.interval_s);
    json.field("mss_bytes", options.mss_bytes).field("payload_bytes", report.payload_bytes);
    json.field("fc_packets", options.fc_packets);
    json.field("window_packets", window_packets(options))
        .field("max_rate_bps", options.max_rate_bps);
    json.field("sndbuf_bytes", options.sndbuf_bytes).field("rcvbuf_bytes", options.rcvbuf_bytes);
    json.field("udp_sndbuf_bytes", report.udp_sndbuf_bytes);
    json.field("udp_rcvbuf_bytes", report.udp_rcvbuf_bytes);
    json.field("ahead_us", options.ahead_us).field("gather_us", options.gather_us);
    if (report.begin_ns)
        json.field("monotonic_ns", report.begin_ns);
    json.close('}');
}

void write_stream(Json& json, const Interval& interval, const Report& report) {
    const double duration_s = interval.end_s - interval.start_s;
    json.open('{').key("streams").open('[').open('{');
    json.field("start", interval.start_s).field("end", interval.end_s);
    json.field("seconds", duration_s).field("bytes", interval.bytes);
    json.field("bits_per_second", megabits_per_second(interval.bytes, duration_s) * 1e6);
    if (report.options.role == Role::client) {
        json.field("retransmits", interval.retransmits);
        json.field("snd_cwnd", interval.cwnd_packets * report.payload_bytes);
        json.field("snd_wnd", interval.window_packets * report.payload_bytes);
        json.field("rtt", static_cast<std::int64_t>(interval.rtt_us));
        json.field("snd_period_us", interval.period_us);
        json.field("flight_pkts", interval.flight_packets);
        json.field("bandwidth_mbps", interval.link_mbps);
    }
    json.field("packets", interval.packets).field("lost_packets", interval.lost_packets);
    json.field("acks", interval.acks).field("naks", interval.naks);
    json.close('}').close(']').close('}');
}

void write_end(Json& json, const Report& report) {
    std::uint64_t bytes = 0;
    std::int64_t retransmits = 0;
    for (const auto& interval : report.intervals) {
        bytes += interval.bytes;
        retransmits += interval.retransmits;
    }
    const double duration_s = report.intervals.empty() ? 0.0 : report.intervals.back().end_s;
    json.key("end").open('{').field("seconds", duration_s).field("bytes", bytes);
    json.field("bits_per_second", megabits_per_second(bytes, duration_s) * 1e6);
    json.field("retransmits", retransmits);
    if (duration_s > 0) {
        json.key("cpu_utilization_percent").open('{');
        json.field("host_total", 100 * report.cpu_s / duration_s).close('}');
    }
    json.close('}');
}

} // namespace

std::string to_json(const Report& report) {
    Json json;
    json.open('{');
    write_start(json, report);
    json.key("intervals").open('[');
    for (const auto& interval : report.intervals)
        write_stream(json, interval, report);
    json.close(']');
    write_end(json, report);
    if (!report.error.empty())
        json.key("error").string(report.error);
    return json.close('}').text() + "\n";
}

std::string to_line(const Interval& interval, Role role) {
    char text[200];
    int length = std::snprintf(
        text, sizeof(text), "%7.2f-%-7.2f s %12llu bytes %8.1f Mbit/s", interval.start_s,
        interval.end_s, static_cast<unsigned long long>(interval.bytes),
        megabits_per_second(interval.bytes, interval.end_s - interval.start_s));
    if (role == Role::client)
        std::snprintf(text + length, sizeof(text) - static_cast<std::size_t>(length),
                      " %6lld retr %6lld cwnd %8.2f us/packet %7.1f ms",
                      static_cast<long long>(interval.retransmits),
                      static_cast<long long>(interval.cwnd_packets), interval.period_us,
                      interval.rtt_us / 1e3);
    return text;
}

} // namespace udtperf

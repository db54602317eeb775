// SPDX-License-Identifier: BSD-3-Clause
// Reports: interval lines for people, or one JSON object in iperf3's shape.
//
// Of iperf3's fields those are there that a reader of samples needs: start, end,
// bytes, and of a sender retransmits, snd_cwnd, snd_wnd (bytes) and rtt (us). UDT's
// own follow, with their units in their names.
#ifndef UDTPERF_REPORT_HPP
#define UDTPERF_REPORT_HPP

#include "options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace udtperf {

/// One interval of a transfer, in seconds from its start.
struct Interval {
    double start_s = 0;
    double end_s = 0;
    /// What UDT took from the program (sender), or gave to it (receiver)
    std::uint64_t bytes = 0;
    /// Since the last interval
    std::int64_t packets = 0;
    std::int64_t retransmits = 0;
    std::int64_t lost_packets = 0;
    std::int64_t acks = 0;
    std::int64_t naks = 0;
    /// As they are at its end
    std::int64_t cwnd_packets = 0;
    std::int64_t window_packets = 0;
    std::int64_t flight_packets = 0;
    double period_us = 0;
    double rtt_us = 0;
    double link_mbps = 0;
};

/// A transfer as far as it got.
struct Report {
    Options options;
    std::int64_t payload_bytes = 0; // of a full packet
    std::int64_t udp_sndbuf_bytes = 0;
    std::int64_t udp_rcvbuf_bytes = 0;
    std::string peer;
    /// When the first interval began, in ns of the monotonic clock; 0: never
    std::uint64_t begin_ns = 0;
    std::vector<Interval> intervals;
    /// User and system time that the program took
    double cpu_s = 0;
    std::string error; // empty: none
};

std::string to_json(const Report& report);

/// One line of text per interval, without its newline.
std::string to_line(const Interval& interval, Role role);

} // namespace udtperf

#endif

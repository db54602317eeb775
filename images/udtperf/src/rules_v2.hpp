// SPDX-License-Identifier: BSD-3-Clause
// The rate and flow control of UDT version 2, as arithmetic.
//
// Source: Y. Gu, R. L. Grossman, "UDT: A Transport Protocol for Data Intensive
// Applications", draft-gg-udt-01, August 2004, sections 3.4, 3.6 and 3.7. Names of
// the draft: STP is the sending period, W the flow window, RCTP and ATP the constant
// SYN, AS the arrival speed, B the link capacity, LSD, NumNAK, AvgNAK and DR the
// state of its decrease rule.
#ifndef UDTPERF_RULES_V2_HPP
#define UDTPERF_RULES_V2_HPP

#include <cstdint>
#include <random>

namespace udtperf {

/// Period between two rate updates and between two ACKs, RCTP = ATP, in us (3.3).
constexpr double syn_us = 10'000;

/// Packets by which the rate grows in the next SYN (3.6, rule 3).
/// `link_pps` is B, `rate_pps` C, both in packets per second.
double increase_packets(double link_pps, double rate_pps, int mss_bytes);

/// Period after one SYN in which the rate grew by `inc` packets (3.6, rule 4), in us.
double faster_period_us(double period_us, double inc_packets);

/// What a sender learns from an ACK.
struct AckNews {
    double now_us = 0;
    std::uint64_t acked_packets = 0; // since the connection's start
    double link_pps = 0;
    double arrival_pps = 0;
    double rtt_us = 0;
};

/// What a sender learns from a NAK.
struct NakNews {
    std::int32_t largest_lost = 0;
    std::int32_t largest_sent = 0;
    std::uint64_t lost_packets = 0;
};

/// What the entries of a NAK say (3.9): single sequence numbers, and ranges of which the
/// first has the highest bit set.
NakNews read_nak(const std::int32_t* entries, int count);

class RulesV2 {
  public:
    RulesV2(int mss_bytes, double most_window_packets, std::int32_t first_sequence);

    void on_ack(const AckNews& news);
    void on_nak(const NakNews& news);
    void on_sent() { ++sent_packets_; }

    /// STP in us.
    double period_us() const { return period_us_; }
    /// W in packets.
    double window_packets() const { return window_packets_; }
    /// Whether the next packet is followed by a pause of one SYN (3.4, rule 6).
    bool pauses() const { return pauses_; }
    void paused() { pauses_ = false; }

  private:
    void update_window(const AckNews& news);
    void update_rate(const AckNews& news);
    void decrease(std::int32_t largest_sent);

    int mss_bytes_;
    double most_window_packets_;
    double period_us_;
    double rtt_us_ = 100'000; // until the first ACK (3.3)
    double window_packets_;
    bool window_quick_start_ = true;
    bool rate_quick_start_ = true;
    bool pauses_ = false;
    double last_update_us_ = 0;
    std::uint64_t sent_packets_ = 0;
    std::uint64_t sent_before_ = 0;
    std::uint64_t lost_packets_ = 0;
    std::uint64_t lost_before_ = 0;
    std::int32_t last_decrease_sequence_;
    std::int64_t naks_ = 0;
    int decreases_ = 0;
    double average_naks_ = 1;
    std::int64_t decrease_every_ = 1;
    std::minstd_rand random_;
};

/// Whether sequence number `a` is after `b`: they have 31 bits and wrap (3.2).
bool is_after(std::int32_t a, std::int32_t b);
/// How many packets `to` comes after `from`.
std::uint64_t packets_between(std::int32_t from, std::int32_t to);

} // namespace udtperf

#endif

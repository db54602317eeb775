// SPDX-License-Identifier: BSD-3-Clause
// Window rules of TCP for a flow of UDT, as arithmetic.
//
// Sources: Reno is RFC 5681 with RFC 3465 (growth counts packets, not ACKs); HighSpeed
// TCP is RFC 3649; Scalable TCP is T. Kelly, "Scalable TCP: Improving Performance in
// Highspeed Wide Area Networks", CCR 33(2), 2003. Windows are in packets.
#ifndef UDTPERF_RULES_WINDOW_HPP
#define UDTPERF_RULES_WINDOW_HPP

#include "rules_v2.hpp"

#include <cstdint>

namespace udtperf {

enum class WindowLaw { reno, hstcp, scalable };

/// What one acknowledged packet adds to a window in congestion avoidance.
double growth_packets(WindowLaw law, double window_packets);
/// The part of a window that a loss leaves.
double kept_part(WindowLaw law, double window_packets);

class WindowRules {
  public:
    /// `next`: the first sequence number that will be sent.
    WindowRules(WindowLaw law, double most_window_packets, std::int32_t next);

    /// All packets before `next` have arrived.
    void on_ack(std::int32_t next);
    /// One decrease for all losses among packets that were sent before it.
    void on_nak(const NakNews& news);
    /// Nothing was heard for a timeout of UDT: the slow start begins again.
    void on_timeout(std::int32_t largest_sent);

    /// Packets that may be on their way. While losses are mended UDT acknowledges nothing
    /// that came after them; the window then holds what was on its way besides.
    double window_packets() const;
    /// Time from a packet to the next, in us: the window spread over a round trip, by the
    /// ratios of Linux (net.ipv4.tcp_pacing_ss_ratio, tcp_pacing_ca_ratio), and without a
    /// margin while losses are mended.
    double period_us(double rtt_us) const;

  private:
    double flight_packets(std::int32_t largest_sent) const;
    bool in_slow_start() const { return window_packets_ < threshold_packets_; }

    WindowLaw law_;
    double most_packets_;
    double window_packets_;
    double threshold_packets_;
    double unmended_packets_ = 0;
    bool mending_ = false;
    /// The last packet that was sent before the latest decrease.
    std::int32_t mended_from_;
    std::int32_t next_;
};

} // namespace udtperf

#endif

// SPDX-License-Identifier: BSD-3-Clause
#include "rules_window.hpp"

#include <algorithm>
#include <cmath>

namespace udtperf {

namespace {

/// A connection's first window, and the least after a loss (RFC 5681, sections 3.1 and 3.2).
constexpr double first_packets = 2;
constexpr double least_packets = 2;
constexpr double reno_kept = 0.5;
/// RFC 3649, section 5: Low_Window, High_Window and High_Decrease; p(w) of its equation 4.
constexpr double low_window = 38;
constexpr double high_window = 83'000;
constexpr double high_decrease = 0.1;
/// Kelly's a and b, and the window below which Reno's rules hold.
constexpr double scalable_growth = 0.01;
constexpr double scalable_kept = 1 - 0.125;
constexpr double scalable_legacy = 16;
/// Rates of pacing over window / RTT (net/ipv4/tcp_input.c, tcp_update_pacing_rate).
constexpr double slow_start_ratio = 2.0;
constexpr double avoidance_ratio = 1.2;

double hstcp_decrease(double window) {
    const double part =
        (std::log(window) - std::log(low_window)) / (std::log(high_window) - std::log(low_window));
    return (high_decrease - reno_kept) * part + reno_kept;
}

} // namespace

double growth_packets(WindowLaw law, double window) {
    if (law == WindowLaw::scalable && window > scalable_legacy)
        return scalable_growth;
    if (law == WindowLaw::hstcp && window > low_window) {
        const double loss = 0.078 / std::pow(window, 1.2);
        const double decrease = hstcp_decrease(window);
        return window * loss * 2 * decrease / (2 - decrease);
    }
    return 1 / window;
}

double kept_part(WindowLaw law, double window) {
    if (law == WindowLaw::scalable && window > scalable_legacy)
        return scalable_kept;
    if (law == WindowLaw::hstcp && window > low_window)
        return 1 - hstcp_decrease(window);
    return reno_kept;
}

WindowRules::WindowRules(WindowLaw law, double most_window_packets, std::int32_t next)
    : law_(law), most_packets_(most_window_packets), window_packets_(first_packets),
      threshold_packets_(most_window_packets), mended_from_(next - 1), next_(next) {}

void WindowRules::on_ack(std::int32_t next) {
    if (!is_after(next, next_))
        return;
    const auto acked = static_cast<double>(packets_between(next_, next));
    next_ = next;
    if (mending_ && !is_after(next, mended_from_))
        return;
    if (mending_) {
        // What this ACK covers was sent before the loss and grows no window
        mending_ = false;
        return;
    }
    double left = acked;
    if (in_slow_start()) {
        const double taken = std::min(left, threshold_packets_ - window_packets_);
        window_packets_ += taken;
        left -= taken;
    }
    if (left > 0)
        window_packets_ += left * growth_packets(law_, window_packets_);
    window_packets_ = std::min(window_packets_, most_packets_);
}

void WindowRules::on_nak(const NakNews& news) {
    if (!is_after(news.largest_lost, mended_from_))
        return;
    const double flight = std::min(flight_packets(news.largest_sent), window_packets_);
    unmended_packets_ = flight_packets(news.largest_sent);
    window_packets_ = threshold_packets_ =
        std::max(flight * kept_part(law_, flight), least_packets);
    mending_ = true;
    mended_from_ = news.largest_sent;
}

void WindowRules::on_timeout(std::int32_t largest_sent) {
    const double flight = std::min(flight_packets(largest_sent), window_packets_);
    threshold_packets_ = std::max(flight * reno_kept, least_packets);
    window_packets_ = first_packets;
    mending_ = false;
    // Old losses that are reported again are no new congestion (RFC 6582, section 4)
    mended_from_ = largest_sent;
}

double WindowRules::window_packets() const {
    return mending_ ? unmended_packets_ + window_packets_ : window_packets_;
}

double WindowRules::period_us(double rtt_us) const {
    const double ratio = mending_ ? 1.0 : in_slow_start() ? slow_start_ratio : avoidance_ratio;
    return rtt_us / (ratio * window_packets_);
}

double WindowRules::flight_packets(std::int32_t largest_sent) const {
    return static_cast<double>(packets_between(next_, largest_sent)) + 1;
}

} // namespace udtperf

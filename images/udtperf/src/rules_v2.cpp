// SPDX-License-Identifier: BSD-3-Clause
#include "rules_v2.hpp"

#include <algorithm>
#include <cmath>

namespace udtperf {

namespace {

constexpr double us_per_s = 1e6;
/// Sequence numbers have 31 bits (3.2); the 32nd starts a range in a NAK (3.9).
constexpr std::uint32_t sequence_bits = 0x7fffffff;
constexpr std::uint32_t range_bit = 0x80000000;
/// Beta of the increase (3.6, rule 3).
constexpr double beta = 0.0000015;
/// A decrease lengthens the period by an eighth (3.6, on NAK).
constexpr double slower = 1.0 + 1.0 / 8.0;
/// Decreases for the losses of one congestion: not in the draft, with whose rule a full
/// buffer's hundreds of NAKs stop a flow for good. UDT's program of 2007 and UDT 4 make
/// as many at most, so that the rate does not fall by much more than half.
constexpr int most_decreases = 5;
/// No increase in a SYN in which more than this part was lost (3.6, rule 2).
constexpr double most_loss = 0.001;
/// Shortest period in us (3.6, rule 6), and the one of the quick start.
constexpr double least_period_us = 1.0;
/// W at a connection's start, in packets (3.7).
constexpr double first_window_packets = 16;
/// Weight of what is new in W (3.7, rule 2) and in AvgNAK (3.6, on NAK).
constexpr double window_weight = 0.125;
constexpr double nak_weight = 0.125;

} // namespace

double increase_packets(double link_pps, double rate_pps, int mss_bytes) {
    const double least = 1.0 / mss_bytes;
    if (link_pps <= rate_pps)
        return least;
    const double spare_bps = (link_pps - rate_pps) * mss_bytes * 8;
    return std::max(std::pow(10.0, std::ceil(std::log10(spare_bps))) * beta / mss_bytes, least);
}

double faster_period_us(double period_us, double inc_packets) {
    return period_us * syn_us / (period_us * inc_packets + syn_us);
}

bool is_after(std::int32_t a, std::int32_t b) {
    constexpr std::uint32_t half = 0x40000000;
    const std::uint64_t distance = packets_between(b, a);
    return distance != 0 && distance < half;
}

std::uint64_t packets_between(std::int32_t from, std::int32_t to) {
    return (static_cast<std::uint32_t>(to) - static_cast<std::uint32_t>(from)) & sequence_bits;
}

NakNews read_nak(const std::int32_t* entries, int count) {
    NakNews news;
    for (int i = 0; i < count; ++i) {
        const auto entry = static_cast<std::uint32_t>(entries[i]);
        const auto first = static_cast<std::int32_t>(entry & sequence_bits);
        const bool range = (entry & range_bit) && i + 1 < count;
        const std::int32_t last = range ? entries[++i] : first;
        const bool is_first = news.lost_packets == 0;
        news.lost_packets += packets_between(first, last) + 1;
        if (is_first || is_after(last, news.largest_lost))
            news.largest_lost = last;
    }
    return news;
}

RulesV2::RulesV2(int mss_bytes, double most_window_packets, std::int32_t first_sequence)
    : mss_bytes_(mss_bytes), most_window_packets_(most_window_packets), period_us_(least_period_us),
      window_packets_(first_window_packets), last_decrease_sequence_(first_sequence),
      random_(static_cast<unsigned>(first_sequence)) {}

void RulesV2::on_ack(const AckNews& news) {
    update_window(news);
    rtt_us_ = news.rtt_us;
    if (rate_quick_start_) {
        // "The period is then set as 1/W" (3.6): W packets take a round trip and the
        // SYN that an ACK may wait
        if (!window_quick_start_ && news.link_pps > 0) {
            rate_quick_start_ = false;
            period_us_ = std::max((news.rtt_us + syn_us) / window_packets_, least_period_us);
            last_update_us_ = news.now_us;
        }
    } else {
        update_rate(news);
    }
}

void RulesV2::update_window(const AckNews& news) {
    if (window_quick_start_)
        window_packets_ = std::max(static_cast<double>(news.acked_packets), first_window_packets);
    else if (news.arrival_pps > 0)
        window_packets_ =
            std::ceil(window_packets_ * (1 - window_weight) +
                      news.arrival_pps / us_per_s * (news.rtt_us + syn_us) * window_weight);
    if (window_packets_ >= most_window_packets_) {
        window_packets_ = most_window_packets_;
        // The draft lets a flow without loss stay in its quick start for ever; both
        // published programs end it at the largest window
        window_quick_start_ = false;
    }
}

void RulesV2::update_rate(const AckNews& news) {
    if (news.now_us - last_update_us_ < syn_us)
        return;
    last_update_us_ = news.now_us;
    const auto sent = static_cast<double>(sent_packets_ - sent_before_);
    const auto lost = static_cast<double>(lost_packets_ - lost_before_);
    sent_before_ = sent_packets_;
    lost_before_ = lost_packets_;
    if (lost > most_loss * sent)
        return;
    const double inc = increase_packets(news.link_pps, us_per_s / period_us_, mss_bytes_);
    period_us_ = faster_period_us(period_us_, inc);
    // Rule 5 keeps STP above half the shortest interval that the sender really reached,
    // a bound of its processor. Packets leave on time here, so that never binds.
    period_us_ = std::max(period_us_, least_period_us);
}

void RulesV2::on_nak(const NakNews& news) {
    window_quick_start_ = false;
    lost_packets_ += news.lost_packets;
    if (is_after(news.largest_lost, last_decrease_sequence_)) {
        average_naks_ = average_naks_ * (1 - nak_weight) + static_cast<double>(naks_) * nak_weight;
        const auto most = std::max<std::int64_t>(1, std::llround(std::ceil(average_naks_)));
        decrease_every_ = std::uniform_int_distribution<std::int64_t>(1, most)(random_);
        naks_ = 0;
        decreases_ = 0;
        decrease(news.largest_sent);
    } else if (++naks_ % decrease_every_ == 0 && decreases_ < most_decreases) {
        decrease(news.largest_sent);
    }
}

void RulesV2::decrease(std::int32_t largest_sent) {
    ++decreases_;
    // The program of February 2004 cut the period to a round trip (core.cpp, processCtrl):
    // a sender that waits for longer would not see what ends its wait
    period_us_ = std::min(period_us_ * slower, rtt_us_);
    last_decrease_sequence_ = largest_sent;
    pauses_ = true;
}

} // namespace udtperf

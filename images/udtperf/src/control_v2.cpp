// SPDX-License-Identifier: BSD-3-Clause
#include "control_v2.hpp"

#include "clock.hpp"

namespace udtperf {

namespace {

constexpr std::uint32_t sequence_bits = 0x7fffffff;
/// A NAK's type (3.2), and what headers take of a packet.
constexpr int type_nak = 3;
constexpr int header_bytes = 28 + 16;

std::uint64_t distance(std::int32_t from, std::int32_t to) {
    return (static_cast<std::uint32_t>(to) - static_cast<std::uint32_t>(from)) & sequence_bits;
}

} // namespace

void ControlV2::init() {
    rules_ = std::make_unique<RulesV2>(m_iMSS, m_dMaxCWndSize, m_iSndCurrSeqNo);
    acked_to_ = m_iSndCurrSeqNo + 1;
    // Both directions start at the same sequence number (core.cpp, connect)
    losses_ = std::make_unique<LossesV2>(acked_to_);
    setACKTimer(static_cast<int>(syn_us));
    publish();
}

void ControlV2::onACK(int32_t ack) {
    acked_packets_ += distance(acked_to_, ack);
    acked_to_ = ack;
    for (const auto sent = sent_packets_.load(); counted_packets_ < sent; ++counted_packets_)
        rules_->on_sent();
    AckNews news;
    news.now_us = static_cast<double>(clock::unix_us());
    news.acked_packets = acked_packets_;
    news.link_pps = m_iBandwidth;
    news.arrival_pps = m_iRcvRate;
    news.rtt_us = m_iRTT;
    rules_->on_ack(news);
    publish();
}

void ControlV2::onLoss(const int32_t* list, int length) {
    NakNews news = read_nak(list, length);
    news.largest_sent = m_iSndCurrSeqNo;
    rules_->on_nak(news);
    if (rules_->pauses()) {
        rules_->paused();
        pausing_ = true;
    }
    publish();
}

// libudt takes the period of the packet just sent from what was published before this
// call, so the pause after it has begun, and the next one has its ordinary period.
void ControlV2::onPktSent(const CPacket*) {
    ++sent_packets_;
    if (pausing_.exchange(false))
        m_dPktSndPeriod = rules_->period_us();
}

void ControlV2::onPktReceived(const CPacket* packet) {
    const double now_us = static_cast<double>(clock::unix_us());
    losses_->on_arrival(packet->m_iSeqNo, now_us);
    if (!losses_->none() && now_us >= next_nak_us_)
        repeat_nak(now_us);
}

// The NAK timer: once in a round trip (3.3). RTTVar, which the draft adds, is not for a
// congestion control to see; 0 stands for it.
void ControlV2::repeat_nak(double now_us) {
    next_nak_us_ = now_us + m_iRTT;
    const auto most = static_cast<std::size_t>(m_iMSS - header_bytes) / sizeof(std::int32_t);
    auto entries = losses_->report(now_us, m_iRTT, most);
    if (entries.empty())
        return;
    CPacket nak;
    nak.pack(type_nak, nullptr, entries.data(),
             static_cast<int>(entries.size() * sizeof(std::int32_t)));
    sendCustomMsg(nak);
}

void ControlV2::publish() {
    m_dPktSndPeriod = rules_->period_us() + (pausing_ ? syn_us : 0.0);
    m_dCWndSize = rules_->window_packets();
}

} // namespace udtperf

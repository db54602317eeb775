// SPDX-License-Identifier: BSD-3-Clause
#include "control_v2.hpp"

#include "clock.hpp"

namespace udtperf {

void ControlV2::init() {
    rules_ = std::make_unique<RulesV2>(m_iMSS, m_dMaxCWndSize, m_iSndCurrSeqNo);
    acked_to_ = m_iSndCurrSeqNo + 1;
    ReceiverV2::init();
    setACKTimer(static_cast<int>(syn_us));
    publish();
}

void ControlV2::onACK(int32_t ack) {
    acked_packets_ += packets_between(acked_to_, ack);
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

void ControlV2::publish() {
    m_dPktSndPeriod = rules_->period_us() + (pausing_ ? syn_us : 0.0);
    m_dCWndSize = rules_->window_packets();
}

} // namespace udtperf

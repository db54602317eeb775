// SPDX-License-Identifier: BSD-3-Clause
#include "control_window.hpp"

namespace udtperf {

namespace {

/// An ACK for two packets, as TCP sends them (RFC 5681, section 4.2). By its timer alone libudt
/// would acknowledge the end of a small window 100 ms late.
constexpr int packets_per_ack = 2;

} // namespace

void ControlWindow::init() {
    ReceiverV2::init();
    rules_ = std::make_unique<WindowRules>(law_, m_dMaxCWndSize, m_iSndCurrSeqNo + 1);
    setACKInterval(packets_per_ack);
    publish();
}

void ControlWindow::onACK(int32_t ack) {
    rules_->on_ack(ack);
    publish();
}

void ControlWindow::onLoss(const int32_t* list, int length) {
    NakNews news = read_nak(list, length);
    news.largest_sent = m_iSndCurrSeqNo;
    rules_->on_nak(news);
    publish();
}

void ControlWindow::onTimeout() {
    rules_->on_timeout(m_iSndCurrSeqNo);
    publish();
}

void ControlWindow::publish() {
    m_dPktSndPeriod = rules_->period_us(m_iRTT);
    m_dCWndSize = rules_->window_packets();
}

} // namespace udtperf

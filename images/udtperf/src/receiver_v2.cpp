// SPDX-License-Identifier: BSD-3-Clause
#include "receiver_v2.hpp"

#include "clock.hpp"

namespace udtperf {

namespace {

/// A NAK's type (3.2), and what headers take of a packet.
constexpr int type_nak = 3;
constexpr int header_bytes = 28 + 16;

} // namespace

void ReceiverV2::init() {
    // Both directions start at the same sequence number (core.cpp, connect)
    losses_ = std::make_unique<LossesV2>(m_iSndCurrSeqNo + 1);
}

void ReceiverV2::onPktReceived(const CPacket* packet) {
    const double now_us = static_cast<double>(clock::unix_us());
    losses_->on_arrival(packet->m_iSeqNo, now_us);
    if (!losses_->none() && now_us >= next_nak_us_)
        repeat_nak(now_us);
}

// The NAK timer: once in a round trip (3.3). RTTVar, which the draft adds, is not for a
// congestion control to see; 0 stands for it.
void ReceiverV2::repeat_nak(double now_us) {
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

} // namespace udtperf

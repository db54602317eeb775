// SPDX-License-Identifier: BSD-3-Clause
// The rules of UDT version 2 behind libudt's interface for congestion control.
#ifndef UDTPERF_CONTROL_V2_HPP
#define UDTPERF_CONTROL_V2_HPP

#include "receiver_v2.hpp"
#include "rules_v2.hpp"

#include <atomic>
#include <memory>

namespace udtperf {

class ControlV2 : public ReceiverV2 {
  public:
    void init() override;
    void onACK(int32_t ack) override;
    void onLoss(const int32_t* list, int length) override;
    void onPktSent(const CPacket* packet) override;

  private:
    void publish();

    std::unique_ptr<RulesV2> rules_;
    int32_t acked_to_ = 0;
    std::uint64_t acked_packets_ = 0;
    /// Packets that libudt's sending thread has sent; the rules belong to the
    /// receiving thread, which calls all else here.
    std::atomic<std::uint64_t> sent_packets_{0};
    std::atomic<bool> pausing_{false};
    std::uint64_t counted_packets_ = 0;
};

} // namespace udtperf

#endif

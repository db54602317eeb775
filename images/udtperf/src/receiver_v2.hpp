// SPDX-License-Identifier: BSD-3-Clause
// The receiver's part of UDT version 2 behind libudt's interface for congestion control:
// it repeats NAKs, whatever rules its sender has.
#ifndef UDTPERF_RECEIVER_V2_HPP
#define UDTPERF_RECEIVER_V2_HPP

#include "losses_v2.hpp"

#include <udt/udt.h>

// needs the types that udt.h brings
#include <udt/ccc.h>

#include <memory>

namespace udtperf {

class ReceiverV2 : public CCC {
  public:
    void init() override;
    void onPktReceived(const CPacket* packet) override;

  private:
    void repeat_nak(double now_us);

    std::unique_ptr<LossesV2> losses_;
    double next_nak_us_ = 0;
};

} // namespace udtperf

#endif

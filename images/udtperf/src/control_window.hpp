// SPDX-License-Identifier: BSD-3-Clause
// Window rules of TCP behind libudt's interface for congestion control.
#ifndef UDTPERF_CONTROL_WINDOW_HPP
#define UDTPERF_CONTROL_WINDOW_HPP

#include "receiver_v2.hpp"
#include "rules_window.hpp"

#include <memory>

namespace udtperf {

class ControlWindow : public ReceiverV2 {
  public:
    explicit ControlWindow(WindowLaw law) : law_(law) {}

    void init() override;
    void onACK(int32_t ack) override;
    void onLoss(const int32_t* list, int length) override;
    void onTimeout() override;

  private:
    void publish();

    WindowLaw law_;
    std::unique_ptr<WindowRules> rules_;
};

} // namespace udtperf

#endif

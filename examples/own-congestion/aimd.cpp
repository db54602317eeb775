// SPDX-License-Identifier: BSD-3-Clause
// A congestion control for UDT: the rate grows by a step in each SYN (10 ms) that brings
// an ACK, and falls to a part of itself at a loss, once for all losses of a round trip.
//
//   STACK=./aimd.cpp:step=2,keep=80      step: packets a second, keep: per cent
#include <udt/udt.h>

// needs the types that udt.h brings
#include <udt/ccc.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace {

constexpr double us_per_s = 1e6;
constexpr double first_pps = 100;
/// Sequence numbers have 31 bits.
constexpr int32_t sequence_bits = 0x7fffffff;

double step_pps = 10;
double kept_part = 0.875;

class Aimd : public CCC {
  public:
    void init() override {
        decreased_at_ = m_iSndCurrSeqNo;
        publish();
    }

    void onACK(int32_t) override {
        rate_pps_ += step_pps;
        publish();
    }

    void onLoss(const int32_t* list, int) override {
        // The first entry of a NAK: the oldest loss, with the highest bit set if it is a range
        const int32_t lost = list[0] & sequence_bits;
        const int32_t after = (lost - decreased_at_) & sequence_bits;
        if (after == 0 || after > sequence_bits / 2)
            return;
        decreased_at_ = m_iSndCurrSeqNo;
        rate_pps_ = std::max(rate_pps_ * kept_part, first_pps);
        publish();
    }

  private:
    void publish() {
        m_dPktSndPeriod = us_per_s / rate_pps_;
        // The rate alone limits
        m_dCWndSize = m_dMaxCWndSize;
    }

    double rate_pps_ = first_pps;
    int32_t decreased_at_ = 0;
};

bool read(const char* text, int least, int most, int& number) {
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, number);
    return error == std::errc{} && stop == end && number >= least && number <= most;
}

} // namespace

/// Called by udtperf for each connection's class; asked for by name.
extern "C" CCCVirtualFactory* udt_congestion() {
    return new CCCFactory<Aimd>;
}

/// Called before, for each parameter. Returns nothing, or what is allowed.
extern "C" const char* udt_parameter(const char* name, const char* value) {
    int number = 0;
    if (!std::strcmp(name, "step")) {
        if (!read(value, 1, 100'000, number))
            return "it must be 1 to 100000 packets a second";
        step_pps = number;
        return nullptr;
    }
    if (!std::strcmp(name, "keep")) {
        if (!read(value, 1, 99, number))
            return "it must be 1 to 99 per cent";
        kept_part = number / 100.0;
        return nullptr;
    }
    return "aimd has step and keep";
}

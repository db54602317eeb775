// SPDX-License-Identifier: BSD-3-Clause
// What a receiver of UDT version 2 misses, and when it says so again.
//
// Source: draft-gg-udt-01, section 3.5, "On NAK timer expired", and section 3.9 for the
// form of the report. The first report of a loss is sent at once, by libudt. It has no
// NAK timer, so a loss whose retransmission is lost too would never be reported again.
#ifndef UDTPERF_LOSSES_V2_HPP
#define UDTPERF_LOSSES_V2_HPP

#include <cstdint>
#include <map>
#include <vector>

namespace udtperf {

class LossesV2 {
  public:
    /// `next`: the first sequence number that is expected.
    explicit LossesV2(std::int32_t next) : next_(next) {}

    void on_arrival(std::int32_t sequence, double now_us);

    /// A report, in the form of a NAK, of what was reported k times and last k + 1
    /// round trips ago; empty if there is none. It has `most` entries at most.
    std::vector<std::int32_t> report(double now_us, double rtt_us, std::size_t most);

    bool none() const { return missing_.empty(); }

  private:
    struct Range {
        std::int64_t last;
        double reported_us;
        int reports;
    };

    std::int64_t unwrapped(std::int32_t sequence) const;
    void found(std::int64_t sequence);

    std::int32_t next_;
    /// The same number without its wraps, and ranges of missing ones by their first.
    std::int64_t next_unwrapped_ = 0;
    std::map<std::int64_t, Range> missing_;
};

} // namespace udtperf

#endif

// SPDX-License-Identifier: BSD-3-Clause
#include "losses_v2.hpp"

#include <iterator>

namespace udtperf {

namespace {

/// Sequence numbers have 31 bits (3.2); the 32nd starts a range in a NAK (3.9).
constexpr std::uint32_t sequence_bits = 0x7fffffff;
constexpr std::uint32_t range_bit = 0x80000000;
constexpr std::int64_t half = 0x40000000;

std::int32_t wrapped(std::int32_t near, std::int64_t distance) {
    return static_cast<std::int32_t>(
        (static_cast<std::uint32_t>(near) + static_cast<std::uint32_t>(distance)) & sequence_bits);
}

} // namespace

std::int64_t LossesV2::unwrapped(std::int32_t sequence) const {
    const auto ahead = static_cast<std::int64_t>(
        (static_cast<std::uint32_t>(sequence) - static_cast<std::uint32_t>(next_)) & sequence_bits);
    return next_unwrapped_ + (ahead < half ? ahead : ahead - 2 * half);
}

void LossesV2::on_arrival(std::int32_t sequence, double now_us) {
    const std::int64_t arrived = unwrapped(sequence);
    if (arrived < next_unwrapped_) {
        found(arrived);
        return;
    }
    if (arrived > next_unwrapped_)
        missing_.emplace(next_unwrapped_, Range{arrived - 1, now_us, 1});
    next_unwrapped_ = arrived + 1;
    next_ = wrapped(sequence, 1);
}

void LossesV2::found(std::int64_t sequence) {
    const auto after = missing_.upper_bound(sequence);
    if (after == missing_.begin())
        return;
    const auto holder = std::prev(after);
    const std::int64_t first = holder->first;
    const Range range = holder->second;
    if (sequence > range.last)
        return;
    missing_.erase(holder);
    if (first < sequence)
        missing_.emplace(first, Range{sequence - 1, range.reported_us, range.reports});
    if (sequence < range.last)
        missing_.emplace(sequence + 1, range);
}

std::vector<std::int32_t> LossesV2::report(double now_us, double rtt_us, std::size_t most) {
    std::vector<std::int32_t> entries;
    for (auto& [first, range] : missing_) {
        if (entries.size() + 2 > most)
            break;
        if (now_us - range.reported_us < (range.reports + 1) * rtt_us)
            continue;
        range.reported_us = now_us;
        ++range.reports;
        const std::int32_t from = wrapped(next_, first - next_unwrapped_);
        if (range.last == first) {
            entries.push_back(from);
        } else {
            entries.push_back(
                static_cast<std::int32_t>(static_cast<std::uint32_t>(from) | range_bit));
            entries.push_back(wrapped(next_, range.last - next_unwrapped_));
        }
    }
    return entries;
}

} // namespace udtperf

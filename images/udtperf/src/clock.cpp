// SPDX-License-Identifier: BSD-3-Clause
#include "clock.hpp"

#include <algorithm>
#include <atomic>

namespace udtperf::clock {

namespace {

bool is_standing = false;
std::atomic<std::uint64_t> common_ns{0};
thread_local std::uint64_t ahead_ns = 0;
thread_local std::uint64_t held_ns = 0;

} // namespace

std::uint64_t kernel_ns(clockid_t id) {
    timespec now{};
    clock_gettime(id, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * ns_per_s +
           static_cast<std::uint64_t>(now.tv_nsec);
}

timespec to_timespec(std::uint64_t ns) {
    return {static_cast<time_t>(ns / ns_per_s), static_cast<long>(ns % ns_per_s)};
}

void set_standing(bool standing) {
    is_standing = standing;
    if (standing)
        woke();
}

bool standing() {
    return is_standing;
}

std::uint64_t standing_ns() {
    return common_ns.load(std::memory_order_relaxed);
}

std::uint64_t now_ns() {
    if (!is_standing)
        return kernel_ns(CLOCK_MONOTONIC);
    return held_ns ? held_ns : std::max(ahead_ns, standing_ns());
}

std::uint64_t unix_us() {
    return (is_standing ? now_ns() : kernel_ns(CLOCK_REALTIME)) / ns_per_us;
}

void woke() {
    if (is_standing)
        woke_at(kernel_ns(CLOCK_REALTIME));
}

void woke_at(std::uint64_t ns) {
    auto known = standing_ns();
    while (known < ns && !common_ns.compare_exchange_weak(known, ns, std::memory_order_relaxed)) {
    }
}

void run_ahead_to(std::uint64_t ns) {
    ahead_ns = ns;
}

void hold_at(std::uint64_t ns) {
    held_ns = ns;
}

void release() {
    held_ns = 0;
}

} // namespace udtperf::clock

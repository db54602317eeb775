// SPDX-License-Identifier: BSD-3-Clause
// Time as this program and libudt see it.
//
// Live: each reading asks the kernel. Standing: for a guest whose clock moves only
// while the whole guest is idle (User Mode Linux, time-travel=inf-cpu). There time
// stands still while any thread runs, so one reading after each wait serves all
// threads until the next wait; a reading costs the guest a system call in real
// time and 256 ns in virtual time (timer_read in Linux's arch/um/kernel/time.c).
//
// A thread may have a time of its own on the standing clock: the one that paces
// packets runs ahead of it, the one that takes packets is at each one's arrival.
#ifndef UDTPERF_CLOCK_HPP
#define UDTPERF_CLOCK_HPP

#include <cstdint>
#include <ctime>

namespace udtperf::clock {

constexpr std::uint64_t ns_per_us = 1'000;
constexpr std::uint64_t ns_per_s = 1'000'000'000;

/// Which of the two; chosen once, before libudt makes its first thread.
void set_standing(bool standing);
bool standing();

/// What the clocks of this thread show, in ns. Live, it is the kernel's monotonic
/// clock; standing, Unix time, which packets are stamped with.
std::uint64_t now_ns();
/// Unix time of this thread in us: what waits with a deadline count in.
std::uint64_t unix_us();

/// The standing clock itself, without what this thread has of its own.
std::uint64_t standing_ns();
/// Read the kernel's clock again: to be called after each wait.
void woke();
/// The same where a timer tells the time for nothing: it ended a wait at `ns`.
void woke_at(std::uint64_t ns);

/// This thread is ahead, at `ns`, until the standing clock has passed that.
void run_ahead_to(std::uint64_t ns);
/// This thread is at `ns`, in the past, until released.
void hold_at(std::uint64_t ns);
void release();

/// Kernel's reading of a clock, in ns.
std::uint64_t kernel_ns(clockid_t id);
timespec to_timespec(std::uint64_t ns);

} // namespace udtperf::clock

#endif

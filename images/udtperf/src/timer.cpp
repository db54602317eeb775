// SPDX-License-Identifier: BSD-3-Clause
// libudt's CTimer on the clocks of this program; it replaces the library's own.
//
// libudt 4.11 counts in ticks of the processor's cycle counter, which is not
// virtual, and takes the counter's frequency from a sleep of 100 ms at start. Here
// a tick is a nanosecond, so a sending period keeps its fraction of a microsecond.
//
// sleepto() ends at the time asked for. The library's own waits in slices of 10 ms
// that any received packet cuts short, and sends what is overdue in one burst;
// UDT version 2 spun on the cycle counter until the time asked for, so packets
// left evenly spaced, as they do here.
#include "clock.hpp"
#include "packets.hpp"

#include <udt/udt.h>

// needs the types that udt.h brings
#include <udt/common.h>

using namespace udtperf;

namespace {

/// How long libudt's waits for "something happened" last when nothing did; the
/// library's own value (common.cpp, waitForEvent).
constexpr std::uint64_t event_wait_ns = 10'000'000;
/// Pause of loops that wait for sockets to close; the library's own is 10 us, which
/// would be 100,000 wake-ups in the second that closing takes.
constexpr std::uint64_t closing_pause_ns = 10'000'000;

class Lock {
  public:
    explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
    ~Lock() { pthread_mutex_unlock(&mutex_); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

  private:
    pthread_mutex_t& mutex_;
};

} // namespace

bool CTimer::m_bUseMicroSecond = false;
uint64_t CTimer::s_ullCPUFrequency = clock::ns_per_us;
pthread_mutex_t CTimer::m_EventLock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t CTimer::m_EventCond = PTHREAD_COND_INITIALIZER;

CTimer::CTimer() : m_ullSchedTime(0) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, clock::standing() ? CLOCK_REALTIME : CLOCK_MONOTONIC);
    pthread_cond_init(&m_TickCond, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&m_TickLock, nullptr);
}

CTimer::~CTimer() {
    pthread_cond_destroy(&m_TickCond);
    pthread_mutex_destroy(&m_TickLock);
}

void CTimer::rdtsc(uint64_t& x) {
    x = clock::now_ns();
}

uint64_t CTimer::readCPUFrequency() {
    return clock::ns_per_us;
}

uint64_t CTimer::getCPUFrequency() {
    return clock::ns_per_us;
}

uint64_t CTimer::getTime() {
    return clock::unix_us();
}

void CTimer::sleep(uint64_t interval) {
    sleepto(clock::now_ns() + interval);
}

void CTimer::sleepto(uint64_t nexttime) {
    if (packets::may_run_ahead_to(nexttime)) {
        clock::run_ahead_to(nexttime);
        return;
    }
    packets::flush();
    Lock lock(m_TickLock);
    m_ullSchedTime = nexttime;
    while (clock::now_ns() < m_ullSchedTime) {
        const timespec deadline = clock::to_timespec(m_ullSchedTime);
        pthread_cond_timedwait(&m_TickCond, &m_TickLock, &deadline);
    }
}

void CTimer::interrupt() {
    Lock lock(m_TickLock);
    m_ullSchedTime = 0;
    pthread_cond_signal(&m_TickCond);
}

// The receiving thread calls it at each turn to end the slices of the library's own
// sleepto(); this one has none.
void CTimer::tick() {}

void CTimer::triggerEvent() {
    pthread_cond_signal(&m_EventCond);
}

void CTimer::waitForEvent() {
    const timespec deadline =
        clock::to_timespec(clock::unix_us() * clock::ns_per_us + event_wait_ns);
    Lock lock(m_EventLock);
    pthread_cond_timedwait(&m_EventCond, &m_EventLock, &deadline);
}

void CTimer::sleep() {
    const timespec pause = clock::to_timespec(closing_pause_ns);
    nanosleep(&pause, nullptr);
}

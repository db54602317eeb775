// SPDX-License-Identifier: BSD-3-Clause
#include "packets.hpp"

#include "clock.hpp"
#include "inbox.hpp"
#include "outbox.hpp"

#include <fcntl.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/select.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace udtperf::packets {

namespace {

/// UDT's header: control packets start with a bit 1 and 15 bits of their kind, of
/// which 2 is an ACK; a light one has 4 bytes after the header (libudt's packet.cpp).
constexpr std::size_t header_bytes = 16;
constexpr std::uint16_t kind_ack = 0x8002;
constexpr std::size_t light_ack_bytes = header_bytes + 4;

Tuning tuned;
std::atomic<int> granted_send_bytes{0};
std::atomic<int> granted_receive_bytes{0};

/// Stamps for what arrives, times for what leaves, and an end to each wait.
void prepare_socket(int fd) {
    const int on = 1;
    const sock_txtime by_time{CLOCK_MONOTONIC, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &receive_wait, sizeof(receive_wait));
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
    if (tuned.ahead_ns)
        setsockopt(fd, SOL_SOCKET, SO_TXTIME, &by_time, sizeof(by_time));
}

} // namespace

std::size_t total_bytes(const msghdr& message) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < message.msg_iovlen; ++i)
        bytes += message.msg_iov[i].iov_len;
    return bytes;
}

void tune(const Tuning& wanted) {
    tuned = wanted;
}

const Tuning& tuning() {
    return tuned;
}

Granted granted() {
    return {granted_send_bytes, granted_receive_bytes};
}

bool may_run_ahead_to(std::uint64_t ns) {
    if (!clock::standing() || !tuned.ahead_ns)
        return false;
    outbox().pace();
    return ns <= clock::standing_ns() + tuned.ahead_ns;
}

void flush() {
    outbox().flush();
}

} // namespace udtperf::packets

// ------------------------------------------------------------ what ld --wrap leads here

using namespace udtperf;

extern "C" {

ssize_t __real_sendmsg(int, const msghdr*, int);
ssize_t __real_recvmsg(int, msghdr*, int);
int __real_setsockopt(int, int, int, const void*, socklen_t);
int __real_fcntl(int, int, ...);
int __real_select(int, fd_set*, fd_set*, fd_set*, timeval*);
int __real_pthread_cond_wait(pthread_cond_t*, pthread_mutex_t*);
int __real_pthread_cond_timedwait(pthread_cond_t*, pthread_mutex_t*, const timespec*);
int __real_nanosleep(const timespec*, timespec*);
int __real_usleep(useconds_t);

ssize_t __wrap_sendmsg(int fd, const msghdr* message, int flags) {
    if (clock::standing()) {
        const auto& first = message->msg_iov[0];
        std::uint16_t kind = 0;
        std::memcpy(&kind, first.iov_base, sizeof(kind));
        if (ntohs(kind) == packets::kind_ack &&
            packets::total_bytes(*message) > packets::light_ack_bytes)
            packets::inbox().ack_left_at(clock::now_ns());
        if (packets::outbox().take(fd, *message))
            return static_cast<ssize_t>(packets::total_bytes(*message));
    }
    return __real_sendmsg(fd, message, flags);
}

ssize_t __wrap_recvmsg(int fd, msghdr* message, int flags) {
    return clock::standing() ? packets::inbox().next(fd, *message)
                             : __real_recvmsg(fd, message, flags);
}

int __wrap_setsockopt(int fd, int level, int name, const void* value, socklen_t bytes) {
    if (level == SOL_SOCKET && (name == SO_SNDBUF || name == SO_RCVBUF)) {
        const int result = __real_setsockopt(fd, level, name, value, bytes);
        int granted = 0;
        socklen_t size = sizeof(granted);
        getsockopt(fd, level, name, &granted, &size);
        (name == SO_SNDBUF ? packets::granted_send_bytes : packets::granted_receive_bytes) =
            granted;
        return result;
    }
    return __real_setsockopt(fd, level, name, value, bytes);
}

// libudt makes its socket non-blocking, once its buffers are set, and waits for it with
// select(). On the standing clock one blocking call does for both.
int __wrap_fcntl(int fd, int command, int argument) {
    if (!clock::standing() || command != F_SETFL)
        return __real_fcntl(fd, command, argument);
    packets::prepare_socket(fd);
    return 0;
}

int __wrap_select(int count, fd_set* reading, fd_set* writing, fd_set* failing, timeval* wait) {
    return clock::standing() ? 1 : __real_select(count, reading, writing, failing, wait);
}

int __wrap_pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
    packets::flush();
    const int result = __real_pthread_cond_wait(condition, mutex);
    clock::woke();
    return result;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                  const timespec* deadline) {
    packets::flush();
    const int result = __real_pthread_cond_timedwait(condition, mutex, deadline);
    if (clock::standing() && result == ETIMEDOUT)
        clock::woke_at(static_cast<std::uint64_t>(deadline->tv_sec) * clock::ns_per_s +
                       static_cast<std::uint64_t>(deadline->tv_nsec));
    else
        clock::woke();
    return result;
}

int __wrap_nanosleep(const timespec* wanted, timespec* left) {
    const int result = __real_nanosleep(wanted, left);
    clock::woke();
    return result;
}

int __wrap_usleep(useconds_t wanted) {
    const int result = __real_usleep(wanted);
    clock::woke();
    return result;
}

} // extern "C"

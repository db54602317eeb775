// SPDX-License-Identifier: BSD-3-Clause
#include "packets.hpp"

#include "clock.hpp"

#include <fcntl.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

namespace udtperf::packets {

namespace {

/// Packets per system call: what arrives in 1.7 ms at 450 Mbit/s.
constexpr unsigned batch_packets = 64;
/// Bytes of the largest datagram: an IPv4 packet's (RFC 791).
constexpr std::size_t datagram_bytes = 65'536;
/// How long a wait for a packet lasts: libudt looks for new connections between two.
/// SYN, the shortest of its timers (draft-gg-udt-01, section 3.3).
constexpr timeval receive_wait = {0, 10'000};
constexpr std::uint64_t syn_ns = 10'000'000;
/// UDT's header: control packets start with a bit 1 and 15 bits of their kind, of
/// which 2 is an ACK; a light one has 4 bytes after the header (libudt's packet.cpp).
constexpr std::size_t header_bytes = 16;
constexpr std::uint16_t kind_ack = 0x8002;
constexpr std::size_t light_ack_bytes = header_bytes + 4;

Tuning tuning;
std::atomic<int> granted_send_bytes{0};
std::atomic<int> granted_receive_bytes{0};

struct Stamped {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> bytes;
};

std::size_t total_bytes(const msghdr& message) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < message.msg_iovlen; ++i)
        bytes += message.msg_iov[i].iov_len;
    return bytes;
}

/// The kernel's stamp of a datagram's arrival in ns of Unix time, 0 if it has none.
std::uint64_t arrival_ns(msghdr& message) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SO_TIMESTAMPNS) {
            timespec stamp{};
            std::memcpy(&stamp, CMSG_DATA(part), sizeof(stamp));
            return static_cast<std::uint64_t>(stamp.tv_sec) * clock::ns_per_s +
                   static_cast<std::uint64_t>(stamp.tv_nsec);
        }
    }
    return 0;
}

} // namespace

/// The datagrams that one thread took from the kernel and libudt has not seen yet.
class Inbox {
  public:
    ssize_t next(int fd, msghdr& wanted);
    /// An ACK left, so the next is due a SYN later: libudt's sender of data does not
    /// count ACKs that are less apart, so this one must not wait until packets gathered.
    void ack_left_at(std::uint64_t ns) { ack_due_ns_ = ns + syn_ns; }

  private:
    void refill(int fd);
    void gather() const;
    static void rest();
    void prepare(std::size_t room_bytes);
    ssize_t hand_over(unsigned number, msghdr& wanted);

    std::vector<char> storage_;
    std::size_t room_bytes_ = 0;
    std::array<mmsghdr, batch_packets> messages_{};
    std::array<iovec, batch_packets> pieces_{};
    std::array<Stamped, batch_packets> stamps_{};
    std::array<sockaddr_storage, batch_packets> senders_{};
    unsigned taken_ = 0;
    unsigned held_ = 0;
    std::uint64_t ack_due_ns_ = 0;
    std::uint64_t last_ns_ = 0;
};

namespace {
thread_local Inbox inbox;
}

void Inbox::prepare(std::size_t room_bytes) {
    if (room_bytes_ != room_bytes) {
        room_bytes_ = room_bytes;
        storage_.resize(batch_packets * room_bytes);
    }
    for (unsigned i = 0; i < batch_packets; ++i) {
        pieces_[i] = {storage_.data() + i * room_bytes_, room_bytes_};
        msghdr& header = messages_[i].msg_hdr;
        header = {};
        header.msg_name = &senders_[i];
        header.msg_namelen = sizeof(senders_[i]);
        header.msg_iov = &pieces_[i];
        header.msg_iovlen = 1;
        header.msg_control = stamps_[i].bytes.data();
        header.msg_controllen = stamps_[i].bytes.size();
    }
}

/// Rest while packets arrive, until the next ACK is due: the first packet from then on
/// makes libudt send it, and is taken as it comes.
void Inbox::gather() const {
    const auto now_ns = clock::standing_ns();
    if (ack_due_ns_ && ack_due_ns_ <= now_ns)
        return;
    auto until_ns = now_ns + tuning.gather_ns;
    if (ack_due_ns_)
        until_ns = std::min(until_ns, ack_due_ns_);
    const timespec until = clock::to_timespec(until_ns);
    if (!clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr))
        clock::woke_at(until_ns);
}

/// libudt closes its socket before it ends this thread, which then asks in vain. Time
/// must pass meanwhile, or whoever it waits for would never wake.
void Inbox::rest() {
    const timespec pause = {0, receive_wait.tv_usec * static_cast<long>(clock::ns_per_us)};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
}

void Inbox::refill(int fd) {
    const bool was_busy = held_ > 0;
    taken_ = held_ = 0;
    if (tuning.gather_ns && was_busy)
        gather();
    const int got = recvmmsg(fd, messages_.data(), batch_packets, MSG_WAITFORONE, nullptr);
    if (got > 0)
        held_ = static_cast<unsigned>(got);
    else if (errno != EAGAIN && errno != EINTR)
        rest();
    // The last stamp tells the time as well as a reading of the clock, for nothing
    const auto last_ns = held_ ? arrival_ns(messages_[held_ - 1].msg_hdr) : 0;
    last_ns ? clock::woke_at(last_ns) : clock::woke();
}

ssize_t Inbox::hand_over(unsigned number, msghdr& wanted) {
    msghdr& header = messages_[number].msg_hdr;
    if (const auto stamp_ns = arrival_ns(header)) {
        clock::hold_at(stamp_ns);
        last_ns_ = stamp_ns;
    }
    const char* from = static_cast<const char*>(header.msg_iov->iov_base);
    std::size_t left = messages_[number].msg_len;
    for (std::size_t i = 0; i < wanted.msg_iovlen && left; ++i) {
        const std::size_t part = std::min(left, wanted.msg_iov[i].iov_len);
        std::memcpy(wanted.msg_iov[i].iov_base, from, part);
        from += part;
        left -= part;
    }
    if (wanted.msg_name)
        std::memcpy(wanted.msg_name, header.msg_name,
                    std::min<std::size_t>(wanted.msg_namelen, header.msg_namelen));
    return static_cast<ssize_t>(messages_[number].msg_len);
}

ssize_t Inbox::next(int fd, msghdr& wanted) {
    clock::release();
    // An ACK that was due but had nothing new to say is put off by a SYN all the same
    // (libudt's checkTimers)
    if (ack_due_ns_ && last_ns_ > ack_due_ns_)
        ack_left_at(last_ns_);
    if (taken_ == held_) {
        prepare(std::min(total_bytes(wanted), datagram_bytes));
        refill(fd);
        if (!held_) {
            errno = EAGAIN;
            return -1;
        }
    }
    return hand_over(taken_++, wanted);
}

/// The datagrams that a thread running ahead has prepared, each with its time.
class Outbox {
  public:
    /// Whether the datagram was taken; the caller sends it itself if not.
    bool take(int fd, const msghdr& message);
    void flush();
    /// Only a thread that paces has times to give along.
    void pace() { pacing_ = true; }

  private:
    struct Slot {
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(std::uint64_t))> control;
        sockaddr_storage to;
        iovec piece;
    };

    bool pacing_ = false;
    int fd_ = -1;
    unsigned held_ = 0;
    std::vector<char> storage_;
    std::array<mmsghdr, batch_packets> messages_{};
    std::array<Slot, batch_packets> slots_{};
    std::size_t room_bytes_ = 0;
};

namespace {

thread_local Outbox outbox;

/// fq reads a packet's time on the monotonic clock; the two run together in the guest.
std::uint64_t monotonic_of(std::uint64_t unix_ns) {
    static const std::uint64_t apart_ns =
        clock::kernel_ns(CLOCK_REALTIME) - clock::kernel_ns(CLOCK_MONOTONIC);
    return unix_ns - apart_ns;
}

} // namespace

bool Outbox::take(int fd, const msghdr& message) {
    if (!pacing_)
        return false;
    const std::size_t bytes = total_bytes(message);
    if (bytes > room_bytes_) {
        flush();
        room_bytes_ = bytes;
        storage_.resize(batch_packets * room_bytes_);
    }
    fd_ = fd;
    Slot& slot = slots_[held_];
    char* to = storage_.data() + held_ * room_bytes_;
    slot.piece = {to, bytes};
    for (std::size_t i = 0; i < message.msg_iovlen; ++i) {
        std::memcpy(to, message.msg_iov[i].iov_base, message.msg_iov[i].iov_len);
        to += message.msg_iov[i].iov_len;
    }
    std::memcpy(&slot.to, message.msg_name, message.msg_namelen);
    msghdr& header = messages_[held_].msg_hdr;
    header = {};
    header.msg_name = &slot.to;
    header.msg_namelen = message.msg_namelen;
    header.msg_iov = &slot.piece;
    header.msg_iovlen = 1;
    header.msg_control = slot.control.data();
    header.msg_controllen = slot.control.size();
    cmsghdr* due = CMSG_FIRSTHDR(&header);
    due->cmsg_level = SOL_SOCKET;
    due->cmsg_type = SCM_TXTIME;
    due->cmsg_len = CMSG_LEN(sizeof(std::uint64_t));
    const std::uint64_t due_ns = monotonic_of(clock::now_ns());
    std::memcpy(CMSG_DATA(due), &due_ns, sizeof(due_ns));
    if (++held_ == batch_packets)
        flush();
    return true;
}

void Outbox::flush() {
    unsigned sent = 0;
    while (sent < held_) {
        const int done = sendmmsg(fd_, &messages_[sent], held_ - sent, 0);
        // A datagram that the kernel refuses is lost, as on the path; libudt's own
        // sender does not look at the result either
        sent += done > 0 ? static_cast<unsigned>(done) : 1;
    }
    held_ = 0;
}

/// Stamps for what arrives, times for what leaves, and an end to each wait.
void prepare_socket(int fd) {
    const int on = 1;
    const sock_txtime by_time{CLOCK_MONOTONIC, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &receive_wait, sizeof(receive_wait));
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
    if (tuning.ahead_ns)
        setsockopt(fd, SOL_SOCKET, SO_TXTIME, &by_time, sizeof(by_time));
}

void tune(const Tuning& wanted) {
    tuning = wanted;
}

Granted granted() {
    return {granted_send_bytes, granted_receive_bytes};
}

bool may_run_ahead_to(std::uint64_t ns) {
    if (!clock::standing() || !tuning.ahead_ns)
        return false;
    outbox.pace();
    return ns <= clock::standing_ns() + tuning.ahead_ns;
}

void flush() {
    outbox.flush();
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
            packets::inbox.ack_left_at(clock::now_ns());
        if (packets::outbox.take(fd, *message))
            return static_cast<ssize_t>(packets::total_bytes(*message));
    }
    return __real_sendmsg(fd, message, flags);
}

ssize_t __wrap_recvmsg(int fd, msghdr* message, int flags) {
    return clock::standing() ? packets::inbox.next(fd, *message)
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

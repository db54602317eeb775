// SPDX-License-Identifier: BSD-3-Clause
#include "inbox.hpp"

#include "clock.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace udtperf::packets {

namespace {

/// Bytes of the largest datagram: an IPv4 packet's (RFC 791).
constexpr std::size_t datagram_bytes = 65'536;
constexpr std::uint64_t syn_ns = 10'000'000;

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

void Inbox::ack_left_at(std::uint64_t ns) {
    ack_due_ns_ = ns + syn_ns;
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
    auto until_ns = now_ns + tuning().gather_ns;
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
    if (tuning().gather_ns && was_busy)
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

Inbox& inbox() {
    thread_local Inbox own;
    return own;
}

} // namespace udtperf::packets

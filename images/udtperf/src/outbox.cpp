// SPDX-License-Identifier: BSD-3-Clause
#include "outbox.hpp"

#include "clock.hpp"

#include <linux/net_tstamp.h>
#include <netinet/in.h>

#include <cstring>

namespace udtperf::packets {

namespace {

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

Outbox& outbox() {
    thread_local Outbox own;
    return own;
}

} // namespace udtperf::packets

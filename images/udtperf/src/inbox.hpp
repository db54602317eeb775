// SPDX-License-Identifier: BSD-3-Clause
// The receiving side of packets.hpp.
#ifndef UDTPERF_INBOX_HPP
#define UDTPERF_INBOX_HPP

#include "packets.hpp"

#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <vector>

namespace udtperf::packets {

/// How long a wait for a packet lasts: libudt looks for new connections between two.
/// SYN, the shortest of its timers (draft-gg-udt-01, section 3.3).
constexpr timeval receive_wait = {0, 10'000};

/// The datagrams that one thread took from the kernel and libudt has not seen yet.
class Inbox {
  public:
    ssize_t next(int fd, msghdr& wanted);
    /// An ACK left, so the next is due a SYN later: libudt's sender of data does not
    /// count ACKs that are less apart, so this one must not wait until packets gathered.
    void ack_left_at(std::uint64_t ns);

  private:
    struct Stamp {
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> bytes;
    };

    void refill(int fd);
    void gather() const;
    static void rest();
    void prepare(std::size_t room_bytes);
    ssize_t hand_over(unsigned number, msghdr& wanted);

    std::vector<char> storage_;
    std::size_t room_bytes_ = 0;
    std::array<mmsghdr, batch_packets> messages_{};
    std::array<iovec, batch_packets> pieces_{};
    std::array<Stamp, batch_packets> stamps_{};
    std::array<sockaddr_storage, batch_packets> senders_{};
    unsigned taken_ = 0;
    unsigned held_ = 0;
    std::uint64_t ack_due_ns_ = 0;
    std::uint64_t last_ns_ = 0;
};

/// That of the calling thread.
Inbox& inbox();

} // namespace udtperf::packets

#endif

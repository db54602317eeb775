// SPDX-License-Identifier: BSD-3-Clause
// The sending side of packets.hpp.
#ifndef UDTPERF_OUTBOX_HPP
#define UDTPERF_OUTBOX_HPP

#include "packets.hpp"

#include <sys/socket.h>

#include <array>
#include <vector>

namespace udtperf::packets {

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

/// That of the calling thread.
Outbox& outbox();

} // namespace udtperf::packets

#endif

// SPDX-License-Identifier: BSD-3-Clause
// libudt's datagrams on the standing clock: fewer system calls, same times.
//
// The linker leads libudt's calls of sendmsg(), recvmsg(), setsockopt() and of what
// waits to the functions here (ld --wrap). On the live clock they pass through.
//
// Receiving: all packets that wait are taken in one call. Each carries the kernel's
// time stamp of its arrival, and while libudt works on it the thread's clock shows
// that. A receiver of data may rest between two such calls (gather).
//
// Sending: where the path's first queue paces packets by their time stamp (fq),
// libudt's sending thread runs ahead of the clock by a little, and each packet takes
// along when it is due (SO_TXTIME).
#ifndef UDTPERF_PACKETS_HPP
#define UDTPERF_PACKETS_HPP

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

namespace udtperf::packets {

struct Tuning {
    /// How far the sending thread may run ahead, in ns; 0 where the kernel does not pace.
    std::uint64_t ahead_ns = 0;
    /// How long the receiving thread lets packets gather, in ns; 0: takes them as they come.
    std::uint64_t gather_ns = 0;
};

/// To be called once, before libudt opens a socket.
void tune(const Tuning& wanted);
const Tuning& tuning();

/// UDP buffers as the kernel holds them, in bytes; 0 before there is a socket.
struct Granted {
    std::int64_t send_bytes = 0;
    std::int64_t receive_bytes = 0;
};
Granted granted();

/// Whether the calling thread may act as if it were `ns` already.
bool may_run_ahead_to(std::uint64_t ns);
/// Hand the packets that this thread has prepared to the kernel.
void flush();

/// Packets per system call: what arrives in 1.7 ms at 450 Mbit/s.
constexpr unsigned batch_packets = 64;

/// Bytes of a datagram in all its pieces.
std::size_t total_bytes(const msghdr& message);

} // namespace udtperf::packets

#endif

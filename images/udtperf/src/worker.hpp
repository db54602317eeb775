// SPDX-License-Identifier: BSD-3-Clause
// The work of one transfer: the connection and what goes through it.
#ifndef UDTPERF_WORKER_HPP
#define UDTPERF_WORKER_HPP

#include "handles.hpp"
#include "options.hpp"

#include <netinet/in.h>
#include <sys/eventfd.h>
#include <udt/udt.h>

// needs the types that udt.h brings
#include <udt/ccc.h>

#include <array>
#include <atomic>
#include <thread>

namespace udtperf {

/// The first bytes of a transfer: who speaks, and for how long. A server needs it,
/// since the packet that ends a UDT connection is sent once and may be lost.
struct Preamble {
    std::array<char, 8> name{'u', 'd', 't', 'p', 'e', 'r', 'f', '1'};
    std::uint64_t duration_ms = 0;
};

/// An IPv4 address, empty for all of this host's, and a port; Failure if it is none.
sockaddr_in endpoint(const std::string& address, std::int64_t port);

/// The work of one transfer in a thread of its own, and what it says of itself.
class Worker {
  public:
    /// `control`: makes the congestion control; nothing for libudt's own.
    Worker(const Options& options, CCCVirtualFactory* control)
        : options_(options), control_(control), changed_(eventfd(0, EFD_CLOEXEC)),
          thread_([this] { work(); }) {}
    ~Worker() { stop(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Readable once the transfer has begun or ended.
    int changed() const { return changed_.get(); }
    void acknowledge() {
        eventfd_t count = 0;
        eventfd_read(changed_.get(), &count);
    }
    bool begun() const { return begun_; }
    bool ended() const { return ended_; }
    std::uint64_t bytes() const { return bytes_; }
    UDTSOCKET socket() const { return socket_; }

    /// End the transfer if it goes on. What failed, or nothing, is in error() then.
    void stop() {
        stopping_ = true;
        for (const UDTSOCKET socket : {socket_.load(), listener_.load()})
            if (socket != UDT::INVALID_SOCK)
                UDT::close(socket);
        if (thread_.joinable())
            thread_.join();
    }
    const std::string& error() const { return error_; }
    /// How long the sender meant to send, once it has said so.
    double duration_s() const { return static_cast<double>(preamble_.duration_ms) / 1e3; }

  private:
    void work();
    void send();
    void receive();
    void begin(UDTSOCKET socket);
    bool take(const char* data, std::size_t bytes);

    const Options& options_;
    CCCVirtualFactory* control_;
    Descriptor changed_;
    std::atomic<bool> begun_{false};
    std::atomic<bool> ended_{false};
    std::atomic<bool> stopping_{false};
    std::atomic<std::uint64_t> bytes_{0};
    std::atomic<UDTSOCKET> socket_{-1};
    std::atomic<UDTSOCKET> listener_{-1};
    std::uint64_t began_ns_ = 0;
    Preamble preamble_;
    std::string error_;
    std::thread thread_; // last: it uses all above
};

} // namespace udtperf

#endif

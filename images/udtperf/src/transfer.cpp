// SPDX-License-Identifier: BSD-3-Clause
#include "transfer.hpp"

#include "clock.hpp"
#include "control_v2.hpp"
#include "packets.hpp"
#include "port.hpp"

#include <udt/udt.h>

#include <arpa/inet.h>
#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace udtperf {

namespace {

/// The first bytes of a transfer: who speaks, and for how long. A server needs it,
/// since the packet that ends a UDT connection is sent once and may be lost.
struct Preamble {
    std::array<char, 8> name{'u', 'd', 't', 'p', 'e', 'r', 'f', '1'};
    std::uint64_t duration_ms = 0;
};

/// A server waits so long for late data after a transfer's time is over.
constexpr int silence_ms = 1'000;
/// The last row of a transfer may be short, but a sliver is none.
constexpr double least_row = 0.01;
/// The kernel keeps twice what SO_SNDBUF and SO_RCVBUF ask for (socket(7)).
constexpr std::int64_t kernel_doubles = 2;

class Failure : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What libudt says about its last failure in this thread.
std::string udt_error() {
    std::string text = UDT::getlasterror().getErrorMessage();
    while (!text.empty() && (text.back() == '.' || text.back() == '\n'))
        text.pop_back();
    return text;
}

class Library {
  public:
    Library() { UDT::startup(); }
    ~Library() { UDT::cleanup(); }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
};

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {
        if (fd < 0)
            throw Failure(std::string("no descriptor: ") + std::strerror(errno));
    }
    ~Descriptor() { ::close(fd_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

/// SIGTERM and SIGINT as something to wait for. To be made before any thread.
class Signals {
  public:
    Signals() {
        sigemptyset(&set_);
        sigaddset(&set_, SIGTERM);
        sigaddset(&set_, SIGINT);
        pthread_sigmask(SIG_BLOCK, &set_, &before_);
    }
    ~Signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    const sigset_t& set() const { return set_; }

  private:
    sigset_t set_{};
    sigset_t before_{};
};

sockaddr_in endpoint(const std::string& address, std::int64_t port) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<std::uint16_t>(port));
    if (address.empty())
        name.sin_addr.s_addr = INADDR_ANY;
    else if (inet_pton(AF_INET, address.c_str(), &name.sin_addr) != 1)
        throw Failure("'" + address + "' is no IPv4 address");
    return name;
}

template <class Value> void set_option(UDTSOCKET socket, UDTOpt option, const Value& value) {
    if (UDT::setsockopt(socket, 0, option, &value, sizeof(value)) == UDT::ERROR)
        throw Failure("UDT refuses an option: " + udt_error());
}

UDTSOCKET open_socket(const Options& options) {
    const UDTSOCKET socket = UDT::socket(AF_INET, SOCK_STREAM, 0);
    if (socket == UDT::INVALID_SOCK)
        throw Failure("no UDT socket: " + udt_error());
    // The window first: libudt cuts a receive buffer to it without a word
    set_option(socket, UDT_FC, static_cast<int>(options.fc_packets));
    set_option(socket, UDT_MSS, static_cast<int>(options.mss_bytes));
    set_option(socket, UDT_SNDBUF, static_cast<int>(options.sndbuf_bytes));
    set_option(socket, UDT_RCVBUF, static_cast<int>(options.rcvbuf_bytes));
    set_option(socket, UDP_SNDBUF, static_cast<int>(options.udp_sndbuf_bytes));
    set_option(socket, UDP_RCVBUF, static_cast<int>(options.udp_rcvbuf_bytes));
    // What is not delivered when the time is over is of no interest
    set_option(socket, UDT_LINGER, linger{0, 0});
    if (options.max_rate_bps)
        set_option(socket, UDT_MAXBW, options.max_rate_bps / 8);
    if (options.congestion == Congestion::udtv2) {
        CCCFactory<ControlV2> factory;
        set_option(socket, UDT_CC, factory);
    }
    return socket;
}

/// The work of one transfer in a thread of its own, and what it says of itself.
class Worker {
  public:
    explicit Worker(const Options& options)
        : options_(options), changed_(eventfd(0, EFD_CLOEXEC)), thread_([this] { work(); }) {}
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

  private:
    void work();
    void send();
    void receive();
    void begin(UDTSOCKET socket);
    bool take(const char* data, std::size_t bytes);

    const Options& options_;
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

void Worker::work() {
    try {
        options_.role == Role::client ? send() : receive();
    } catch (const std::exception& failure) {
        if (!stopping_)
            error_ = failure.what();
    }
    ended_ = true;
    eventfd_write(changed_.get(), 1);
}

void Worker::begin(UDTSOCKET socket) {
    began_ns_ = clock::now_ns();
    socket_ = socket;
    begun_ = true;
    eventfd_write(changed_.get(), 1);
}

void Worker::send() {
    const sockaddr_in server = endpoint(options_.address, options_.port);
    const UDTSOCKET socket = open_socket(options_);
    if (UDT::connect(socket, reinterpret_cast<const sockaddr*>(&server), sizeof(server)) ==
        UDT::ERROR)
        throw Failure("cannot connect to " + options_.address + " port " +
                      std::to_string(options_.port) + ": " + udt_error());
    begin(socket);
    preamble_.duration_ms = static_cast<std::uint64_t>(std::llround(options_.time_s * 1e3));
    std::vector<char> block(
        std::max(static_cast<std::size_t>(block_bytes(options_)), sizeof(preamble_)));
    std::memcpy(block.data(), &preamble_, sizeof(preamble_));
    for (std::size_t done = 0; !stopping_; done %= block.size()) {
        const int taken =
            UDT::send(socket, block.data() + done, static_cast<int>(block.size() - done), 0);
        if (taken == UDT::ERROR)
            throw Failure("the connection broke: " + udt_error());
        done += static_cast<std::size_t>(taken);
        bytes_ += static_cast<std::uint64_t>(taken);
    }
}

/// Count what came; false for a sender that is no udtperf.
bool Worker::take(const char* data, std::size_t bytes) {
    const std::uint64_t before = bytes_;
    if (before < sizeof(preamble_)) {
        const std::size_t part = std::min(bytes, sizeof(preamble_) - before);
        std::memcpy(reinterpret_cast<char*>(&preamble_) + before, data, part);
    }
    bytes_ += bytes;
    return bytes_ < sizeof(preamble_) || preamble_.name == Preamble{}.name;
}

void Worker::receive() {
    const sockaddr_in here = endpoint("", options_.port);
    const UDTSOCKET listener = open_socket(options_);
    listener_ = listener;
    if (UDT::bind(listener, reinterpret_cast<const sockaddr*>(&here), sizeof(here)) == UDT::ERROR ||
        UDT::listen(listener, 1) == UDT::ERROR)
        throw Failure("cannot listen on port " + std::to_string(options_.port) + ": " +
                      udt_error());
    sockaddr_in peer{};
    int peer_bytes = sizeof(peer);
    const UDTSOCKET socket = UDT::accept(listener, reinterpret_cast<sockaddr*>(&peer), &peer_bytes);
    if (socket == UDT::INVALID_SOCK)
        throw Failure("no connection: " + udt_error());
    set_option(socket, UDT_RCVTIMEO, silence_ms);
    begin(socket);
    std::vector<char> block(static_cast<std::size_t>(block_bytes(options_)));
    for (;;) {
        const int taken = UDT::recv(socket, block.data(), static_cast<int>(block.size()), 0);
        const double elapsed_s = static_cast<double>(clock::now_ns() - began_ns_) / clock::ns_per_s;
        const bool over = bytes_ >= sizeof(preamble_) &&
                          elapsed_s * 1e3 >= static_cast<double>(preamble_.duration_ms);
        if (taken == UDT::ERROR) {
            if (over || stopping_)
                return;
            if (UDT::getlasterror_code() == CUDTException::ETIMEOUT)
                continue;
            throw Failure("the transfer ended after " + std::to_string(elapsed_s) +
                          " s: " + udt_error());
        }
        if (!take(block.data(), static_cast<std::size_t>(taken)))
            throw Failure("the sender is no udtperf");
    }
}

/// Waits for the worker, signals and the clock, and keeps the rows of the report.
class Observer {
  public:
    Observer(const Options& options, const Watch& watch, const Signals& signals)
        : options_(options), watch_(watch), signals_(signalfd(-1, &signals.set(), SFD_CLOEXEC)),
          worker_(options) {
        report_.options = options;
    }
    Report run();

  private:
    enum class Event { time, change, signal };

    Event wait(std::uint64_t until_ns);
    void follow();
    void add_row();
    void note_buffers();

    const Options& options_;
    const Watch& watch_;
    Descriptor signals_;
    Worker worker_;
    Report report_;
    std::uint64_t epoch_ns_ = 0;
    std::uint64_t bytes_before_ = 0;
};

constexpr std::uint64_t for_ever = UINT64_MAX;

Observer::Event Observer::wait(std::uint64_t until_ns) {
    std::array<pollfd, 2> sources{{{worker_.changed(), POLLIN, 0}, {signals_.get(), POLLIN, 0}}};
    const std::uint64_t now_ns = clock::now_ns();
    const timespec left = clock::to_timespec(until_ns > now_ns ? until_ns - now_ns : 0);
    ppoll(sources.data(), sources.size(), until_ns == for_ever ? nullptr : &left, nullptr);
    clock::woke();
    if (sources[1].revents)
        return Event::signal;
    if (!sources[0].revents)
        return Event::time;
    worker_.acknowledge();
    return Event::change;
}

void Observer::add_row() {
    Interval row;
    row.start_s = report_.intervals.empty() ? 0.0 : report_.intervals.back().end_s;
    row.end_s = static_cast<double>(clock::now_ns() - epoch_ns_) / clock::ns_per_s;
    const std::uint64_t bytes = worker_.bytes();
    row.bytes = bytes - bytes_before_;
    bytes_before_ = bytes;
    CPerfMon seen;
    std::memset(&seen, 0, sizeof(seen));
    if (UDT::perfmon(worker_.socket(), &seen, true) != UDT::ERROR) {
        const bool client = options_.role == Role::client;
        row.packets = client ? seen.pktSent : seen.pktRecv;
        row.retransmits = seen.pktRetrans;
        row.lost_packets = client ? seen.pktSndLoss : seen.pktRcvLoss;
        row.acks = client ? seen.pktRecvACK : seen.pktSentACK;
        row.naks = client ? seen.pktRecvNAK : seen.pktSentNAK;
        row.cwnd_packets = seen.pktCongestionWindow;
        row.window_packets = seen.pktFlowWindow;
        row.flight_packets = seen.pktFlightSize;
        row.period_us = seen.usPktSndPeriod;
        row.rtt_us = seen.msRTT * 1e3;
        row.link_mbps = seen.mbpsBandwidth;
    }
    report_.intervals.push_back(row);
    watch_(row);
}

/// The kernel cuts a buffer to net.core.rmem_max or wmem_max without a word.
void Observer::note_buffers() {
    const auto granted = packets::granted();
    report_.udp_sndbuf_bytes = granted.send_bytes / kernel_doubles;
    report_.udp_rcvbuf_bytes = granted.receive_bytes / kernel_doubles;
    if (report_.udp_sndbuf_bytes < options_.udp_sndbuf_bytes)
        report_.error = "the kernel gives a UDP send buffer of " +
                        std::to_string(report_.udp_sndbuf_bytes) + " bytes, not " +
                        std::to_string(options_.udp_sndbuf_bytes) + "; raise net.core.wmem_max";
    if (report_.udp_rcvbuf_bytes < options_.udp_rcvbuf_bytes)
        report_.error = "the kernel gives a UDP receive buffer of " +
                        std::to_string(report_.udp_rcvbuf_bytes) + " bytes, not " +
                        std::to_string(options_.udp_rcvbuf_bytes) + "; raise net.core.rmem_max";
}

void Observer::follow() {
    const auto interval_ns = std::llround(options_.interval_s * clock::ns_per_s);
    const auto time_ns =
        static_cast<std::uint64_t>(std::llround(options_.time_s * clock::ns_per_s));
    const bool client = options_.role == Role::client;
    epoch_ns_ = clock::now_ns();
    const std::uint64_t end_ns = client ? epoch_ns_ + time_ns : for_ever;
    for (;;) {
        const auto rows = report_.intervals.size() + 1;
        const std::uint64_t row_ns = epoch_ns_ + rows * static_cast<std::uint64_t>(interval_ns);
        const Event event = wait(std::min(row_ns, end_ns));
        const bool last = event == Event::signal || worker_.ended() || clock::now_ns() >= end_ns;
        const double since_row_s =
            static_cast<double>(clock::now_ns() - epoch_ns_) / clock::ns_per_s -
            (report_.intervals.empty() ? 0.0 : report_.intervals.back().end_s);
        if (clock::now_ns() >= row_ns || (last && since_row_s > least_row * options_.interval_s))
            add_row();
        if (last)
            return;
    }
}

Report Observer::run() {
    while (!worker_.begun() && !worker_.ended())
        if (wait(for_ever) == Event::signal)
            break;
    if (worker_.begun()) {
        note_buffers();
        sockaddr_in peer{};
        int bytes = sizeof(peer);
        std::array<char, INET_ADDRSTRLEN> text{};
        if (UDT::getpeername(worker_.socket(), reinterpret_cast<sockaddr*>(&peer), &bytes) !=
            UDT::ERROR)
            report_.peer = inet_ntop(AF_INET, &peer.sin_addr, text.data(), text.size());
        if (report_.error.empty())
            follow();
    }
    worker_.stop();
    if (report_.error.empty())
        report_.error = worker_.error();
    // What nobody received adds no rows at a server's end
    while (options_.role == Role::server && !report_.intervals.empty() &&
           report_.intervals.back().bytes == 0)
        report_.intervals.pop_back();
    return report_;
}

/// Who paces; Failure where the kernel is asked to and cannot.
Pacing pacing_of(const Options& options) {
    if (options.role == Role::server || options.clock == Clock::live ||
        options.pacing == Pacing::thread)
        return Pacing::thread;
    if (sends_on_time(endpoint(options.address, options.port)))
        return Pacing::kernel;
    if (options.pacing == Pacing::kernel)
        throw Failure("--pacing kernel: the port towards " + options.address +
                      " has no fq, which holds packets until they are due");
    return Pacing::thread;
}

packets::Tuning tuning_of(const Options& options) {
    packets::Tuning tuning;
    if (options.pacing == Pacing::kernel)
        tuning.ahead_ns = static_cast<std::uint64_t>(options.ahead_us) * clock::ns_per_us;
    if (options.role == Role::server)
        tuning.gather_ns = static_cast<std::uint64_t>(options.gather_us) * clock::ns_per_us;
    return tuning;
}

} // namespace

Report transfer(const Options& asked, const Watch& watch) {
    const Signals signals;
    // Timers end when asked, not up to 50 us later (prctl(2), PR_SET_TIMERSLACK)
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    Options options = asked;
    Report report;
    report.options = options;
    try {
        options.pacing = pacing_of(asked);
        clock::set_standing(options.clock == Clock::standing);
        packets::tune(tuning_of(options));
        const Library library;
        Observer observer(options, watch, signals);
        report = observer.run();
    } catch (const Failure& failure) {
        report.error = failure.what();
    }
    report.payload_bytes = payload_bytes(options);
    return report;
}

} // namespace udtperf

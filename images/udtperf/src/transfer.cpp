// SPDX-License-Identifier: BSD-3-Clause
#include "transfer.hpp"

#include "clock.hpp"
#include "handles.hpp"
#include "packets.hpp"
#include "port.hpp"
#include "worker.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include <array>
#include <cmath>
#include <cstring>

namespace udtperf {

namespace {

/// The last row of a transfer may be short, but a sliver is none.
constexpr double least_row = 0.01;
/// The kernel keeps twice what SO_SNDBUF and SO_RCVBUF ask for (socket(7)).
constexpr std::int64_t kernel_doubles = 2;

/// Waits for the worker, signals and the clock, and keeps the rows of the report.
class Observer {
  public:
    Observer(const Options& options, CCCVirtualFactory* control, const Watch& watch,
             const Signals& signals)
        : options_(options), watch_(watch), signals_(signalfd(-1, &signals.set(), SFD_CLOEXEC)),
          worker_(options, control) {
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
    if (sources[1].revents) {
        // Taken, or it would end the program once signals are let through again
        signalfd_siginfo taken{};
        if (::read(signals_.get(), &taken, sizeof(taken)) == sizeof(taken))
            return Event::signal;
    }
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
    report_.begin_ns = clock::kernel_ns(CLOCK_MONOTONIC);
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
    // Waiting for late data after the sender's time adds no rows
    while (options_.role == Role::server && !report_.intervals.empty() &&
           report_.intervals.back().bytes == 0 &&
           report_.intervals.back().start_s >= worker_.duration_s())
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

/// User and system time of this program so far, as getrusage(2) tells it.
double cpu_taken_s() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

} // namespace

Report transfer(const Options& asked, CCCVirtualFactory* control, const Watch& watch) {
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
        Observer observer(options, control, watch, signals);
        report = observer.run();
    } catch (const Failure& failure) {
        report.error = failure.what();
    }
    report.payload_bytes = payload_bytes(options);
    report.cpu_s = cpu_taken_s();
    return report;
}

} // namespace udtperf

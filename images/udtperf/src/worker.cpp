// SPDX-License-Identifier: BSD-3-Clause
#include "worker.hpp"

#include "clock.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace udtperf {

namespace {

/// A server waits so long for late data after a transfer's time is over.
constexpr int silence_ms = 1'000;

/// What libudt says about its last failure in this thread.
std::string udt_error() {
    std::string text = UDT::getlasterror().getErrorMessage();
    while (!text.empty() && (text.back() == '.' || text.back() == '\n'))
        text.pop_back();
    return text;
}

template <class Value> void set_option(UDTSOCKET socket, UDTOpt option, const Value& value) {
    if (UDT::setsockopt(socket, 0, option, &value, sizeof(value)) == UDT::ERROR)
        throw Failure("UDT refuses an option: " + udt_error());
}

UDTSOCKET open_socket(const Options& options, CCCVirtualFactory* control) {
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
    if (control)
        set_option(socket, UDT_CC, *control);
    return socket;
}

} // namespace

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
    const UDTSOCKET socket = open_socket(options_, control_);
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
    const UDTSOCKET listener = open_socket(options_, control_);
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

} // namespace udtperf

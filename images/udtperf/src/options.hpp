// SPDX-License-Identifier: BSD-3-Clause
// The command line: what may be asked, and one line about what may not.
#ifndef UDTPERF_OPTIONS_HPP
#define UDTPERF_OPTIONS_HPP

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace udtperf {

enum class Role { server, client };
/// Which rules set the sending rate: libudt's own, those of draft-gg-udt-01, TCP's windows,
/// a constant rate, or those of a user's file.
enum class Congestion { udt4, udtv2, reno, hstcp, scalable, blast, own };
enum class Clock { live, standing };
/// Who keeps a packet until it is due: libudt's thread, or the port's queue (fq);
/// automatic: the queue on the standing clock where it can, else the thread.
enum class Pacing { automatic, thread, kernel };

struct Options {
    Role role = Role::server;
    std::string address;
    std::int64_t port = 5201; // iperf3's
    double time_s = 10.0;     // iperf3's
    double interval_s = 1.0;  // iperf3's
    bool json = false;
    bool one_off = false;
    std::int64_t length_bytes = 0; // 0: whole packets, see block_bytes()
    // The four below are UDT's own defaults of 2004: flight flag 25600 packets, and as
    // many of 1472 bytes in each buffer (it had 40 960 000 bytes, cut to the former).
    std::int64_t mss_bytes = 1'500;
    std::int64_t fc_packets = 25'600;
    std::int64_t sndbuf_bytes = 37'683'200;
    std::int64_t rcvbuf_bytes = 37'683'200;
    std::int64_t udp_sndbuf_bytes = 1'048'576;
    std::int64_t udp_rcvbuf_bytes = 4'194'304;
    std::int64_t max_rate_bps = 0;
    Congestion congestion = Congestion::udtv2;
    /// A shared library with a congestion control, and what it is to be told.
    std::string congestion_file;
    std::vector<std::pair<std::string, std::string>> congestion_parameters;
    Clock clock = Clock::live;
    Pacing pacing = Pacing::automatic;
    std::int64_t ahead_us = 500;
    std::int64_t gather_us = 500;
};

/// Bytes of headers in a packet: IPv4 and UDP, which UDT's MSS counts, and UDT's own
/// (packet.cpp of UDT 4).
constexpr std::int64_t udp_header_bytes = 28;
constexpr std::int64_t udt_header_bytes = 16;

/// Bytes of data in a full packet.
std::int64_t payload_bytes(const Options& options);
/// Most packets in flight: what fc allows and the receive buffer holds. libudt cuts the
/// buffer to fc (core.cpp, UDT_RCVBUF).
std::int64_t window_packets(const Options& options);
/// Bytes handed to UDT at a time. Unless asked for otherwise as many whole packets as
/// fill 128 KiB: a short packet at a block's end would make libudt send an ACK out of
/// turn (core.cpp of UDT 4, processData).
std::int64_t block_bytes(const Options& options);

/// The word that asks for a congestion control, or a user's file.
std::string congestion_name(const Options& options);

/// A command line that asks for no transfer: what to print, and the exit status.
struct Answer {
    std::string text;
    int status = 0;
};

/// What a command line may not say; the message is one line.
class Refusal : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Exit status of a command line that cannot be followed.
constexpr int bad_input = 2;

/// Read the arguments after the program's name. `environment_clock` is the value of
/// FARPATH_CLOCK or empty.
std::variant<Options, Answer> parse_options(const std::vector<std::string>& arguments,
                                            const std::string& environment_clock);

} // namespace udtperf

#endif

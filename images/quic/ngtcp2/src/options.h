// SPDX-License-Identifier: BSD-3-Clause
// The command line: that of iperf3 as far as farpath uses it, and this program's parameters.
#ifndef OPTIONS_H
#define OPTIONS_H

#include <ngtcp2/ngtcp2.h>
#include <stdbool.h>
#include <stdint.h>

struct options {
    bool server;
    const char* address; // of the server, for a client
    const char* port;
    double time_s;
    double interval_s;
    ngtcp2_cc_algo cc;
    const char* cc_name;
    uint64_t window_bytes; // of flow control, for the connection and for the stream
    unsigned mtu_bytes;    // size of the IP packets that are filled
    bool pacing;
    uint64_t qlog_bytes; // most that is written of the qlog
    const char* qlog_file;
};

// Ends the program with status 2 and a line on stderr for what it does not know.
struct options parse_options(int count, char** words);

// Ends the program with a line on stderr.
[[gnu::format(printf, 2, 3), noreturn]] void fail(int status, const char* format, ...);

#endif

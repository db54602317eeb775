// SPDX-License-Identifier: BSD-3-Clause
// The report: JSON of iperf3's shape, with an interval for each second or what was asked for.
#ifndef REPORT_H
#define REPORT_H

#include "options.h"

struct interval {
    uint64_t bytes;
    uint64_t lost_packets;
    uint64_t cwnd_bytes;
    uint64_t rtt_us;
    double end_s;
};

struct report {
    const struct options* options;
    uint64_t begin_ns; // of the first interval, by CLOCK_MONOTONIC; 0 before it
    struct interval* intervals;
    size_t count, room;
};

// When interval number count ends, by CLOCK_MONOTONIC.
uint64_t report_boundary_ns(const struct report* report);

// Ends an interval at its boundary, or at end_ns if that is earlier.
void report_add(struct report* report, struct interval interval, uint64_t end_ns);

void report_print(const struct report* report);

#endif

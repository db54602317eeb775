// SPDX-License-Identifier: BSD-3-Clause
#include "report.h"

#include <ngtcp2/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

uint64_t report_boundary_ns(const struct report* report) {
    const double end_s = (double)(report->count + 1) * report->options->interval_s;
    return report->begin_ns + (uint64_t)(end_s * 1e9 + 0.5);
}

void report_add(struct report* report, struct interval interval, uint64_t end_ns) {
    const uint64_t boundary_ns = report_boundary_ns(report);
    if (end_ns > boundary_ns)
        end_ns = boundary_ns;
    interval.end_s = (double)(end_ns - report->begin_ns) / 1e9;
    if (report->count == report->room) {
        report->room = report->room ? 2 * report->room : 64;
        report->intervals = realloc(report->intervals, report->room * sizeof(interval));
        if (!report->intervals)
            fail(1, "no memory for %zu intervals", report->room);
    }
    report->intervals[report->count++] = interval;
}

static double cpu_s(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void print_interval(const struct interval* interval, double start_s, bool server) {
    printf("{\"streams\":[{\"start\":%.9f,\"end\":%.9f,\"bytes\":%llu", start_s, interval->end_s,
           (unsigned long long)interval->bytes);
    if (!server)
        printf(",\"retransmits\":%llu,\"snd_cwnd\":%llu,\"rtt\":%llu",
               (unsigned long long)interval->lost_packets, (unsigned long long)interval->cwnd_bytes,
               (unsigned long long)interval->rtt_us);
    fputs("}]}", stdout);
}

void report_print(const struct report* report) {
    const struct options* options = report->options;
    printf("{\"start\":{\"version\":\"ngtcp2 %s\",\"congestion\":\"%s\",\"mtu\":%u,\"window\":%llu,"
           "\"pacing\":%d",
           ngtcp2_version(0)->version_str, options->cc_name, options->mtu_bytes,
           (unsigned long long)options->window_bytes, options->pacing);
    if (report->begin_ns)
        printf(",\"monotonic_ns\":%llu", (unsigned long long)report->begin_ns);
    fputs("},\n\"intervals\":[", stdout);
    double start_s = 0;
    for (size_t i = 0; i < report->count; i++) {
        fputs(i ? ",\n" : "\n", stdout);
        print_interval(&report->intervals[i], start_s, options->server);
        start_s = report->intervals[i].end_s;
    }
    printf("],\n\"end\":{\"cpu_utilization_percent\":{\"host_total\":%.6f}}}\n",
           start_s > 0 ? 100 * cpu_s() / start_s : 0.0);
}

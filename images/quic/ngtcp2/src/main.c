// SPDX-License-Identifier: BSD-3-Clause
// Sends or receives one stream of QUIC for a time, and reports as iperf3 does (docs/quic.md).
#include "connection.h"

// How long an end waits for the other's last packets, in round trips and at least
static const uint64_t LINGER_ROUND_TRIPS = 4, LEAST_LINGER_NS = 1000000000;

static struct connection connection;

static uint64_t least(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

static uint64_t linger_ns(void) {
    ngtcp2_conn_info info;
    ngtcp2_conn_get_conn_info(connection.conn, &info);
    const uint64_t ns = LINGER_ROUND_TRIPS * info.smoothed_rtt;
    return ns > LEAST_LINGER_NS ? ns : LEAST_LINGER_NS;
}

// Sends what may go, waits for a packet, for the library's timer or until a time
static void turn(uint64_t until_ns) {
    connection_send(&connection);
    socket_wait(connection.socket, connection.held_bytes > 0,
                least(until_ns, connection_expiry_ns(&connection)));
    connection_receive(&connection);
    connection_expire(&connection);
}

static void add_sent(struct report* report, uint64_t now) {
    static uint64_t bytes, lost;
    ngtcp2_conn_info info;
    ngtcp2_conn_get_conn_info(connection.conn, &info);
    const struct interval interval = {
        .bytes = connection.stream_bytes - bytes,
        .lost_packets = connection.qlog->lost_packets - lost,
        .cwnd_bytes = info.cwnd,
        .rtt_us = info.smoothed_rtt / 1000,
    };
    bytes = connection.stream_bytes;
    lost = connection.qlog->lost_packets;
    report_add(report, interval, now);
}

static void send_for_a_time(struct report* report) {
    const struct options* options = report->options;
    connection_connect(&connection);
    while (!connection.established && !connection.closed)
        turn(UINT64_MAX);
    report->begin_ns = now_ns();
    const uint64_t end_ns = report->begin_ns + (uint64_t)(options->time_s * 1e9 + 0.5);
    while (!connection.closed && now_ns() < end_ns) {
        turn(least(report_boundary_ns(report), end_ns));
        for (uint64_t now = now_ns(); report_boundary_ns(report) <= least(now, end_ns);)
            add_sent(report, now);
    }
    if (connection.closed)
        fail(1, "the server closed the connection early");
    connection_end_stream(&connection);
    const uint64_t last_ns = now_ns() + linger_ns();
    while (!connection.ended && !connection.closed && now_ns() < last_ns)
        turn(last_ns);
    connection_close(&connection);
}

// Ends the intervals whose time is over; what has just arrived belongs to the one that follows
static void add_received(struct report* report, uint64_t bytes, uint64_t now) {
    static uint64_t added;
    while (report_boundary_ns(report) <= now) {
        report_add(report, (struct interval){.bytes = bytes - added}, now);
        added = bytes;
    }
    if (connection.ended || connection.closed)
        report_add(report, (struct interval){.bytes = connection.stream_bytes - added}, now);
}

static void receive_until_the_end(struct report* report) {
    while (!connection.ended && !connection.closed) {
        const uint64_t before = connection.stream_bytes;
        turn(UINT64_MAX);
        if (!report->begin_ns)
            report->begin_ns = connection.first_data_ns;
        if (report->begin_ns)
            add_received(report, before, now_ns());
    }
    const uint64_t last_ns = now_ns() + linger_ns();
    while (!connection.closed && now_ns() < last_ns)
        turn(last_ns);
    connection_close(&connection);
}

int main(int count, char** words) {
    const struct options options = parse_options(count, words);
    struct qlog qlog = qlog_open(options.qlog_file, options.qlog_bytes);
    struct report report = {.options = &options};
    connection.options = &options;
    connection.qlog = &qlog;
    connection.socket = socket_open(&options);
    if (options.server)
        receive_until_the_end(&report);
    else
        send_for_a_time(&report);
    qlog_close(&qlog);
    report_print(&report);
    return 0;
}

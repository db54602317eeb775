// SPDX-License-Identifier: BSD-3-Clause
// The qlog (draft-ietf-quic-qlog-main-schema): text in JSON-SEQ (RFC 7464), bounded in size.
#ifndef QLOG_H
#define QLOG_H

#include <stdint.h>
#include <stdio.h>

struct qlog {
    FILE* file; // NULL for none
    uint64_t most_bytes;
    uint64_t written_bytes;
    uint64_t left_out;     // events that were not written
    uint64_t lost_packets; // events packet_lost so far, written or not
};

struct qlog qlog_open(const char* file, uint64_t most_bytes);

// Writes one event. Behind half of the size only events of recovery are kept.
void qlog_event(struct qlog* qlog, const void* data, size_t size);

// Says on stderr how many events were left out.
void qlog_close(struct qlog* qlog);

#endif

// SPDX-License-Identifier: BSD-3-Clause
#include "qlog.h"

#include "options.h"

#include <errno.h>
#include <string.h>

static const char RECOVERY[] = "\"name\":\"recovery:";
static const char LOST[] = "\"name\":\"recovery:packet_lost\"";

struct qlog qlog_open(const char* file, uint64_t most_bytes) {
    struct qlog qlog = {.most_bytes = most_bytes};
    if (file && most_bytes && !(qlog.file = fopen(file, "w")))
        fail(1, "%s cannot be written: %s", file, strerror(errno));
    return qlog;
}

static bool has(const void* data, size_t size, const char* text) {
    return memmem(data, size, text, strlen(text)) != NULL;
}

void qlog_event(struct qlog* qlog, const void* data, size_t size) {
    if (has(data, size, LOST))
        qlog->lost_packets++;
    if (!qlog->file || !size)
        return;
    const uint64_t room_bytes = has(data, size, RECOVERY) ? qlog->most_bytes : qlog->most_bytes / 2;
    if (qlog->written_bytes + size > room_bytes) {
        qlog->left_out++;
        return;
    }
    qlog->written_bytes += size;
    if (fwrite(data, 1, size, qlog->file) != size)
        fail(1, "the qlog cannot be written: %s", strerror(errno));
}

void qlog_close(struct qlog* qlog) {
    if (qlog->left_out)
        fprintf(stderr, "qlog: %llu events were left out\n", (unsigned long long)qlog->left_out);
    if (qlog->file && fclose(qlog->file))
        fail(1, "the qlog cannot be written: %s", strerror(errno));
    qlog->file = NULL;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAD_INPUT = 2 };

void fail(int status, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("quic_ngtcp2: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(status);
}

static double number(const char* name, const char* text, double low, double high) {
    char* end = NULL;
    errno = 0;
    const double value = strtod(text, &end);
    if (errno || end == text || *end || !(value >= low && value <= high))
        fail(BAD_INPUT, "%s is '%s': it must be a number from %.15g to %.15g", name, text, low,
             high);
    return value;
}

static ngtcp2_cc_algo congestion(const char* text) {
    if (!strcmp(text, "reno"))
        return NGTCP2_CC_ALGO_RENO;
    if (!strcmp(text, "cubic"))
        return NGTCP2_CC_ALGO_CUBIC;
    if (!strcmp(text, "bbr"))
        return NGTCP2_CC_ALGO_BBR;
    fail(BAD_INPUT, "--cc is '%s': it must be reno, cubic or bbr", text);
}

static void set(struct options* options, const char* name, const char* value) {
    if (!strcmp(name, "--client"))
        options->address = value;
    else if (!strcmp(name, "--port"))
        options->port = value;
    else if (!strcmp(name, "--time"))
        options->time_s = number(name, value, 0.1, 200000);
    else if (!strcmp(name, "--interval"))
        options->interval_s = number(name, value, 0.001, 200000);
    else if (!strcmp(name, "--cc"))
        options->cc = congestion(options->cc_name = value);
    else if (!strcmp(name, "--window"))
        options->window_bytes = (uint64_t)number(name, value, 65536, 17179869184.0);
    else if (!strcmp(name, "--mtu"))
        options->mtu_bytes = (unsigned)number(name, value, 1280, 9000);
    else if (!strcmp(name, "--pacing"))
        options->pacing = number(name, value, 0, 1) != 0;
    else if (!strcmp(name, "--qlog"))
        options->qlog_bytes = (uint64_t)number(name, value, 0, 1024) << 20;
    else if (!strcmp(name, "--qlog-file"))
        options->qlog_file = value;
    else
        fail(BAD_INPUT,
             "%s: there is no such option; there are --cc, --window, --mtu, --pacing and --qlog",
             name);
}

struct options parse_options(int count, char** words) {
    struct options options = {
        .port = "5201",
        .time_s = 10,
        .interval_s = 1,
        .cc = NGTCP2_CC_ALGO_CUBIC,
        .cc_name = "cubic",
        .window_bytes = 64 << 20,
        .mtu_bytes = 1500,
        .pacing = true,
        .qlog_bytes = 16 << 20,
    };
    for (int i = 1; i < count; i++) {
        if (!strcmp(words[i], "--server"))
            options.server = true;
        else if (!strcmp(words[i], "--one-off") || !strcmp(words[i], "--json"))
            continue; // There is nothing else
        else if (i + 1 == count)
            fail(BAD_INPUT, "%s: it has no value", words[i]);
        else {
            set(&options, words[i], words[i + 1]);
            i++;
        }
    }
    if (options.server == (options.address != NULL))
        fail(BAD_INPUT, "give either --server or --client and an address");
    if (options.cc == NGTCP2_CC_ALGO_BBR && !options.pacing)
        fail(BAD_INPUT,
             "--cc is bbr and --pacing is 0: BBR sends at a rate; leave one of them out");
    return options;
}

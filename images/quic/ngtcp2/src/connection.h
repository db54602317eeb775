// SPDX-License-Identifier: BSD-3-Clause
// One QUIC connection with one stream towards the server, on ngtcp2.
#ifndef CONNECTION_H
#define CONNECTION_H

#include "qlog.h"
#include "report.h"
#include "socket.h"

#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2_crypto.h>

enum { MOST_PACKET_BYTES = 65536 };

struct connection {
    const struct options* options;
    ngtcp2_conn* conn; // NULL at a server before the first packet
    ngtcp2_crypto_conn_ref reference;
    gnutls_session_t tls;
    struct qlog* qlog;
    int socket;
    struct address local, remote;
    unsigned headers_bytes; // of IP and UDP
    int64_t stream;         // -1 before it is opened
    bool established;       // by the handshake
    bool sending;           // whether the stream has data to send
    bool ended;             // the stream: the peer knows, or has said so
    bool closed;            // by the peer
    uint64_t stream_bytes;  // sent for the first time, or received in order
    uint64_t first_data_ns; // when the first of them were received
    uint8_t packet[MOST_PACKET_BYTES];
    size_t held_bytes; // of a packet for which the socket had no room
};

void connection_connect(struct connection* connection);

// Takes every packet that has arrived.
void connection_receive(struct connection* connection);

// Sends what congestion control and pacing allow.
void connection_send(struct connection* connection);

// When the library wants to be called again, by CLOCK_MONOTONIC.
uint64_t connection_expiry_ns(const struct connection* connection);
void connection_expire(struct connection* connection);

// Ends the stream at once, without what was not sent (RESET_STREAM, RFC 9000, section 3.1).
void connection_end_stream(struct connection* connection);

// Sends CONNECTION_CLOSE and forgets the connection.
void connection_close(struct connection* connection);

#endif

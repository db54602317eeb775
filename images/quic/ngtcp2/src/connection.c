// SPDX-License-Identifier: BSD-3-Clause
#include "connection.h"

#include "tls.h"

#include <netinet/in.h>
#include <string.h>

enum { ID_BYTES = 8, IPV4_UDP_BYTES = 28, IPV6_UDP_BYTES = 48, IDLE_S = 60 };

// What the stream carries; the library keeps pointers to it until it is acknowledged
static uint8_t payload[1 << 16];

static void check(int status, const char* what) {
    if (status)
        fail(1, "%s: %s", what, ngtcp2_strerror(status));
}

// ------------------------------------------------------------------ what the library calls

static ngtcp2_conn* conn_of(ngtcp2_crypto_conn_ref* reference) {
    return ((struct connection*)reference->user_data)->conn;
}

static void on_random(uint8_t* bytes, size_t size, const ngtcp2_rand_ctx* context) {
    (void)context;
    tls_random(bytes, size);
}

static int on_new_id(ngtcp2_conn* conn, ngtcp2_cid* id, uint8_t* token, size_t size, void* user) {
    (void)conn, (void)user;
    id->datalen = size;
    tls_random(id->data, size);
    tls_random(token, NGTCP2_STATELESS_RESET_TOKENLEN);
    return 0;
}

static int on_established(ngtcp2_conn* conn, void* user) {
    (void)conn;
    ((struct connection*)user)->established = true;
    return 0;
}

static int on_data(ngtcp2_conn* conn, uint32_t flags, int64_t stream, uint64_t offset,
                   const uint8_t* data, size_t size, void* user, void* stream_user) {
    struct connection* connection = user;
    (void)flags, (void)offset, (void)data, (void)stream_user;
    if (!connection->first_data_ns)
        connection->first_data_ns = now_ns();
    connection->stream_bytes += size;
    ngtcp2_conn_extend_max_stream_offset(conn, stream, size);
    ngtcp2_conn_extend_max_offset(conn, size);
    return 0;
}

static int on_reset(ngtcp2_conn* conn, int64_t stream, uint64_t size, uint64_t error, void* user,
                    void* stream_user) {
    (void)conn, (void)stream, (void)size, (void)error, (void)stream_user;
    ((struct connection*)user)->ended = true;
    return 0;
}

static int on_stream_close(ngtcp2_conn* conn, uint32_t flags, int64_t stream, uint64_t error,
                           void* user, void* stream_user) {
    (void)conn, (void)flags, (void)stream, (void)error, (void)stream_user;
    ((struct connection*)user)->ended = true;
    return 0;
}

static void on_qlog(void* user, uint32_t flags, const void* data, size_t size) {
    (void)flags;
    qlog_event(((struct connection*)user)->qlog, data, size);
}

static ngtcp2_callbacks callbacks(bool server) {
    ngtcp2_callbacks all = {
        .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
        .encrypt = ngtcp2_crypto_encrypt_cb,
        .decrypt = ngtcp2_crypto_decrypt_cb,
        .hp_mask = ngtcp2_crypto_hp_mask_cb,
        .update_key = ngtcp2_crypto_update_key_cb,
        .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
        .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
        .get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
        .version_negotiation = ngtcp2_crypto_version_negotiation_cb,
        .rand = on_random,
        .get_new_connection_id = on_new_id,
        .handshake_completed = on_established,
        .recv_stream_data = on_data,
        .stream_reset = on_reset,
        .stream_close = on_stream_close,
    };
    if (server) {
        all.recv_client_initial = ngtcp2_crypto_recv_client_initial_cb;
    } else {
        all.client_initial = ngtcp2_crypto_client_initial_cb;
        all.recv_retry = ngtcp2_crypto_recv_retry_cb;
    }
    return all;
}

// ------------------------------------------------------------------ making it

static ngtcp2_cid random_id(void) {
    ngtcp2_cid id = {.datalen = ID_BYTES};
    tls_random(id.data, ID_BYTES);
    return id;
}

static ngtcp2_path path_of(struct connection* connection) {
    struct address *local = &connection->local, *remote = &connection->remote;
    return (ngtcp2_path){{(struct sockaddr*)&local->storage, local->length},
                         {(struct sockaddr*)&remote->storage, remote->length},
                         NULL};
}

static bool is_ipv6(const struct address* address) {
    const struct sockaddr_in6* ipv6 = (const struct sockaddr_in6*)&address->storage;
    return address->storage.ss_family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(&ipv6->sin6_addr);
}

// Packets fill the path's MTU from the first on, and nothing is probed
static ngtcp2_settings settings_of(const struct connection* connection) {
    ngtcp2_settings settings;
    ngtcp2_settings_default(&settings);
    settings.initial_ts = now_ns();
    settings.cc_algo = connection->options->cc;
    settings.max_tx_udp_payload_size = connection->options->mtu_bytes - connection->headers_bytes;
    settings.no_tx_udp_payload_size_shaping = 1;
    settings.no_pmtud = 1;
    settings.handshake_timeout = UINT64_MAX;
    settings.qlog_write = on_qlog;
    return settings;
}

static ngtcp2_transport_params params_of(const struct connection* connection) {
    ngtcp2_transport_params params;
    ngtcp2_transport_params_default(&params);
    params.initial_max_data = connection->options->window_bytes;
    params.initial_max_stream_data_uni = connection->options->window_bytes;
    params.initial_max_streams_uni = 1;
    params.max_idle_timeout = IDLE_S * NGTCP2_SECONDS;
    return params;
}

static void prepare(struct connection* connection) {
    connection->stream = -1;
    connection->local = socket_local(connection->socket);
    connection->headers_bytes = is_ipv6(&connection->remote) ? IPV6_UDP_BYTES : IPV4_UDP_BYTES;
    connection->reference = (ngtcp2_crypto_conn_ref){conn_of, connection};
    connection->tls = tls_session(connection->options->server, &connection->reference);
}

static void set_tls(struct connection* connection) {
    ngtcp2_conn_set_tls_native_handle(connection->conn, connection->tls);
}

void connection_connect(struct connection* connection) {
    struct address* remote = &connection->remote;
    remote->length = sizeof(remote->storage);
    getpeername(connection->socket, (struct sockaddr*)&remote->storage, &remote->length);
    prepare(connection);
    const ngtcp2_path path = path_of(connection);
    const ngtcp2_settings settings = settings_of(connection);
    const ngtcp2_transport_params params = params_of(connection);
    const ngtcp2_callbacks all = callbacks(false);
    const ngtcp2_cid theirs = random_id(), ours = random_id();
    check(ngtcp2_conn_client_new(&connection->conn, &theirs, &ours, &path, NGTCP2_PROTO_VER_V1,
                                 &all, &settings, &params, NULL, connection),
          "the connection");
    set_tls(connection);
}

static void accept_first(struct connection* connection, size_t size, const struct address* from) {
    ngtcp2_pkt_hd header;
    if (ngtcp2_accept(&header, connection->packet, size))
        return; // No client's first packet
    connection->remote = *from;
    if (connect(connection->socket, (const struct sockaddr*)&from->storage, from->length))
        fail(1, "the client's address cannot be reached");
    prepare(connection);
    const ngtcp2_path path = path_of(connection);
    const ngtcp2_settings settings = settings_of(connection);
    const ngtcp2_callbacks all = callbacks(true);
    const ngtcp2_cid ours = random_id();
    ngtcp2_transport_params params = params_of(connection);
    params.original_dcid = header.dcid;
    params.original_dcid_present = 1;
    check(ngtcp2_conn_server_new(&connection->conn, &header.scid, &ours, &path, header.version,
                                 &all, &settings, &params, NULL, connection),
          "the connection");
    set_tls(connection);
}

// ------------------------------------------------------------------ receiving and sending

void connection_receive(struct connection* connection) {
    static uint8_t received[MOST_PACKET_BYTES];
    struct address from;
    ssize_t size;
    while (!connection->closed &&
           (size = socket_receive(connection->socket, received, sizeof(received), &from)) >= 0) {
        if (!connection->conn) {
            memcpy(connection->packet, received, (size_t)size);
            accept_first(connection, (size_t)size, &from);
        }
        if (!connection->conn)
            continue;
        const ngtcp2_path path = path_of(connection);
        const ngtcp2_pkt_info info = {0};
        const int status =
            ngtcp2_conn_read_pkt(connection->conn, &path, &info, received, (size_t)size, now_ns());
        if (status == NGTCP2_ERR_DRAINING || status == NGTCP2_ERR_CLOSING)
            connection->closed = true;
        else if (status && status != NGTCP2_ERR_DROP_CONN)
            check(status, "a packet");
    }
}

static void open_stream(struct connection* connection) {
    const int status =
        ngtcp2_conn_open_uni_stream(connection->conn, &connection->stream, connection);
    if (status == NGTCP2_ERR_STREAM_ID_BLOCKED)
        connection->stream = -1;
    else
        check(status, "the stream");
    connection->sending = !status;
}

// One packet into connection->packet, with stream data if there are some; its size
static size_t next_packet(struct connection* connection, uint64_t now) {
    ngtcp2_path_storage path;
    ngtcp2_path_storage_zero(&path);
    ngtcp2_pkt_info info;
    bool with_data = connection->sending;
    for (;;) {
        const ngtcp2_vec data = {payload, sizeof(payload)};
        ngtcp2_ssize taken = -1;
        const ngtcp2_ssize size = ngtcp2_conn_writev_stream(
            connection->conn, &path.path, &info, connection->packet,
            connection->options->mtu_bytes - connection->headers_bytes, &taken,
            NGTCP2_WRITE_STREAM_FLAG_NONE, with_data ? connection->stream : -1, &data,
            with_data ? 1 : 0, now);
        if (with_data &&
            (size == NGTCP2_ERR_STREAM_DATA_BLOCKED || size == NGTCP2_ERR_STREAM_SHUT_WR ||
             size == NGTCP2_ERR_STREAM_NOT_FOUND)) {
            with_data = false; // Acknowledgements and the like still go
            continue;
        }
        if (size < 0)
            check((int)size, "sending");
        if (taken > 0)
            connection->stream_bytes += (uint64_t)taken;
        return (size_t)size;
    }
}

void connection_send(struct connection* connection) {
    if (!connection->conn || connection->closed)
        return;
    if (!connection->options->server && connection->established && connection->stream < 0)
        open_stream(connection);
    const uint64_t now = now_ns();
    const bool pacing = connection->options->pacing;
    const size_t quantum = pacing ? ngtcp2_conn_get_send_quantum(connection->conn) : SIZE_MAX;
    for (size_t sent = 0; sent < quantum;) {
        if (!connection->held_bytes)
            connection->held_bytes = next_packet(connection, now);
        if (!connection->held_bytes)
            break; // Congestion control or pacing allows no more
        if (!socket_send(connection->socket, connection->packet, connection->held_bytes))
            return;
        sent += connection->held_bytes;
        connection->held_bytes = 0;
    }
    if (pacing)
        ngtcp2_conn_update_pkt_tx_time(connection->conn, now);
}

uint64_t connection_expiry_ns(const struct connection* connection) {
    return connection->conn ? ngtcp2_conn_get_expiry(connection->conn) : UINT64_MAX;
}

void connection_expire(struct connection* connection) {
    const uint64_t now = now_ns();
    if (connection->conn && !connection->closed && connection_expiry_ns(connection) <= now)
        check(ngtcp2_conn_handle_expiry(connection->conn, now), "the connection");
}

// ------------------------------------------------------------------ ending

void connection_end_stream(struct connection* connection) {
    connection->sending = false;
    if (connection->stream >= 0)
        check(ngtcp2_conn_shutdown_stream_write(connection->conn, 0, connection->stream, 0),
              "the stream");
}

void connection_close(struct connection* connection) {
    if (connection->conn && !connection->closed) {
        ngtcp2_path_storage path;
        ngtcp2_path_storage_zero(&path);
        ngtcp2_pkt_info info;
        ngtcp2_ccerr error;
        ngtcp2_ccerr_default(&error);
        ngtcp2_ccerr_set_application_error(&error, 0, NULL, 0);
        const ngtcp2_ssize size = ngtcp2_conn_write_connection_close(
            connection->conn, &path.path, &info, connection->packet,
            connection->options->mtu_bytes - connection->headers_bytes, &error, now_ns());
        if (size > 0)
            socket_send(connection->socket, connection->packet, (size_t)size);
    }
    // The last events of the qlog come with it
    ngtcp2_conn_del(connection->conn);
    connection->conn = NULL;
}

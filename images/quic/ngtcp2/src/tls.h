// SPDX-License-Identifier: BSD-3-Clause
// TLS 1.3 by GnuTLS, with a certificate made at the start, which the client does not verify.
#ifndef TLS_H
#define TLS_H

#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <stdbool.h>

gnutls_session_t tls_session(bool server, ngtcp2_crypto_conn_ref* reference);

void tls_random(void* bytes, size_t size);

#endif

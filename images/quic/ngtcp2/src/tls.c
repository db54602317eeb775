// SPDX-License-Identifier: BSD-3-Clause
#include "tls.h"

#include "options.h"

#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>
#include <time.h>

// One cipher, so that equal runs compute the same whatever the processor has
static const char PRIORITY[] =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:-GROUP-ALL:+GROUP-X25519";
static const gnutls_datum_t PROTOCOL = {(unsigned char*)"farpath", 7};
enum { DAY_S = 86400 };

static void check(int status, const char* what) {
    if (status < 0)
        fail(1, "%s: %s", what, gnutls_strerror(status));
}

void tls_random(void* bytes, size_t size) {
    check(gnutls_rnd(GNUTLS_RND_RANDOM, bytes, size), "random numbers");
}

// The certificate is valid around the lab's clock, which shows 2004
static void add_certificate(gnutls_certificate_credentials_t credentials) {
    static const char name[] = "farpath", serial[] = "\1";
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t certificate;
    check(gnutls_x509_privkey_init(&key), "key");
    check(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                       GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
          "key");
    check(gnutls_x509_crt_init(&certificate), "certificate");
    check(gnutls_x509_crt_set_version(certificate, 3), "certificate");
    check(gnutls_x509_crt_set_serial(certificate, serial, 1), "certificate");
    check(gnutls_x509_crt_set_activation_time(certificate, time(NULL) - DAY_S), "certificate");
    check(gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + 30 * DAY_S), "certificate");
    check(gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                        sizeof(name) - 1),
          "certificate");
    check(gnutls_x509_crt_set_key(certificate, key), "certificate");
    check(gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0),
          "certificate");
    check(gnutls_certificate_set_x509_key(credentials, &certificate, 1, key), "certificate");
}

gnutls_session_t tls_session(bool server, ngtcp2_crypto_conn_ref* reference) {
    gnutls_certificate_credentials_t credentials;
    gnutls_session_t session;
    check(gnutls_certificate_allocate_credentials(&credentials), "credentials");
    if (server)
        add_certificate(credentials);
    check(
        gnutls_init(&session, server ? GNUTLS_SERVER | GNUTLS_NO_AUTO_SEND_TICKET : GNUTLS_CLIENT),
        "session");
    check(gnutls_priority_set_direct(session, PRIORITY, NULL), "priority");
    check(server ? ngtcp2_crypto_gnutls_configure_server_session(session)
                 : ngtcp2_crypto_gnutls_configure_client_session(session),
          "session");
    check(gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials), "credentials");
    check(gnutls_alpn_set_protocols(session, &PROTOCOL, 1, GNUTLS_ALPN_MANDATORY), "protocol");
    gnutls_session_set_ptr(session, reference);
    return session;
}

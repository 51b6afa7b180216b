/* tls.c: OpenSSL's calls, looked up by name. */
#define _GNU_SOURCE
#include "server/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "system/late.h"

/* clang-format off */
#define CALLS(X) \
    X(TLS_client_method) X(SSL_CTX_new) X(SSL_CTX_free) X(SSL_CTX_set_verify) X(SSL_CTX_ctrl) \
    X(SSL_CTX_set_default_verify_paths) X(SSL_CTX_load_verify_file) \
    X(SSL_CTX_use_certificate_chain_file) X(SSL_CTX_use_PrivateKey_file) \
    X(SSL_CTX_check_private_key) X(SSL_new) X(SSL_free) X(SSL_set_fd) X(SSL_ctrl) \
    X(SSL_set1_host) X(SSL_get0_param) X(X509_VERIFY_PARAM_set1_ip_asc) X(SSL_connect) \
    X(SSL_read) X(SSL_write) X(SSL_get_error) X(SSL_get_verify_result) \
    X(X509_verify_cert_error_string) X(ERR_get_error) X(ERR_clear_error) X(ERR_reason_error_string)
/* clang-format on */

/* libssl brings libcrypto, and both are looked into. */
LATE_LIBRARY(ssl, CALLS, "libssl.so.3")

struct tls {
    SSL_CTX *context;
    SSL *session;
};

/* What went wrong last. */
static void explain(char *why, size_t room, const char *what)
{
    unsigned long code = ssl.ERR_get_error();
    const char *reason = code == 0 ? NULL : ssl.ERR_reason_error_string(code);
    snprintf(why, room, "%s: %s", what,
             reason != NULL ? reason
             : errno != 0   ? strerror(errno)
                            : "the connection was closed");
}

static bool prepare(struct tls *tls, const struct login *login, char *why, size_t room)
{
    tls->context = ssl.SSL_CTX_new(ssl.TLS_client_method());
    if (tls->context == NULL) {
        explain(why, room, "TLS");
        return false;
    }
    ssl.SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, NULL);
    (void)ssl.SSL_CTX_ctrl(tls->context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL);
    (void)ssl.SSL_CTX_ctrl(tls->context, SSL_CTRL_MODE,
                           SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER,
                           NULL);
    errno = 0;
    if (login->cacert != NULL ? ssl.SSL_CTX_load_verify_file(tls->context, login->cacert) != 1
                              : ssl.SSL_CTX_set_default_verify_paths(tls->context) != 1) {
        explain(why, room, login->cacert != NULL ? login->cacert : "the system's authorities");
        return false;
    }
    if (login->cert != NULL) {
        if (ssl.SSL_CTX_use_certificate_chain_file(tls->context, login->cert) != 1) {
            explain(why, room, login->cert);
            return false;
        }
        if (ssl.SSL_CTX_use_PrivateKey_file(tls->context, login->cert_key, SSL_FILETYPE_PEM) != 1 ||
            ssl.SSL_CTX_check_private_key(tls->context) != 1) {
            explain(why, room, login->cert_key);
            return false;
        }
    }
    return true;
}

/* The certificate must bear the name, or be of the address. */
static bool name_peer(struct tls *tls, const char *name)
{
    unsigned char address[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1) {
        return ssl.X509_VERIFY_PARAM_set1_ip_asc(ssl.SSL_get0_param(tls->session), name) == 1;
    }
    char copy[256];
    snprintf(copy, sizeof copy, "%s", name);
    (void)ssl.SSL_ctrl(tls->session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, copy);
    return ssl.SSL_set1_host(tls->session, name) == 1;
}

struct tls *tls_open(const struct login *login, int fd, const char *host, char *why, size_t room)
{
    if (!ssl_load()) {
        snprintf(why, room, "TLS is done with libssl.so.3 (OpenSSL), which is not installed");
        return NULL;
    }
    /* OpenSSL writes without MSG_NOSIGNAL, and a server may go away at any time. */
    (void)signal(SIGPIPE, SIG_IGN);
    struct tls *tls = calloc(1, sizeof *tls);
    if (tls == NULL) {
        snprintf(why, room, "out of memory");
        return NULL;
    }
    ssl.ERR_clear_error();
    if (!prepare(tls, login, why, room)) {
        tls_free(tls);
        return NULL;
    }
    tls->session = ssl.SSL_new(tls->context);
    if (tls->session == NULL || ssl.SSL_set_fd(tls->session, fd) != 1 ||
        !name_peer(tls, login->tls_name != NULL ? login->tls_name : host)) {
        explain(why, room, "TLS");
        tls_free(tls);
        return NULL;
    }
    return tls;
}

void tls_free(struct tls *tls)
{
    if (tls != NULL) {
        ssl.SSL_free(tls->session);
        ssl.SSL_CTX_free(tls->context);
        free(tls);
    }
}

static ssize_t settle(struct tls *tls, int result, short *events, char *why, size_t room)
{
    if (result > 0) {
        return result;
    }
    int error = ssl.SSL_get_error(tls->session, result);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
        *events = error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
        return -1;
    }
    if (error == SSL_ERROR_ZERO_RETURN) {
        return 0;
    }
    long verified = ssl.SSL_get_verify_result(tls->session);
    if (verified != X509_V_OK) {
        snprintf(why, room, "TLS: the server's certificate is not accepted: %s",
                 ssl.X509_verify_cert_error_string(verified));
    } else {
        explain(why, room, "TLS");
    }
    return -2;
}

ssize_t tls_read(struct tls *tls, void *bytes, size_t len, short *events, char *why, size_t room)
{
    errno = 0;
    ssl.ERR_clear_error();
    int some = len > INT_MAX ? INT_MAX : (int)len;
    return settle(tls, ssl.SSL_read(tls->session, bytes, some), events, why, room);
}

ssize_t tls_write(struct tls *tls, const void *bytes, size_t len, short *events, char *why,
                  size_t room)
{
    errno = 0;
    ssl.ERR_clear_error();
    if (len == 0) {
        ssize_t done = settle(tls, ssl.SSL_connect(tls->session), events, why, room);
        return done > 0 ? 0 : done;
    }
    int some = len > INT_MAX ? INT_MAX : (int)len;
    ssize_t done = settle(tls, ssl.SSL_write(tls->session, bytes, some), events, why, room);
    if (done == 0) {
        snprintf(why, room, "TLS: the server closed the connection");
        return -2;
    }
    return done;
}

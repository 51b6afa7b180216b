/*
 * login.h: which server, who asks, and how long to wait: the options that push, pull and ask share.
 * A password never stands on the command line, where every user of the machine can read it.
 */
#ifndef TOOL_SERVER_LOGIN_H
#define TOOL_SERVER_LOGIN_H

#include "cli/command.h"

#define LOGIN_PASSWORD 512
#define LOGIN_PARTS    1000000 /* that a filter may have */

struct login {
    const char *server; /* HOST:PORT, or unix:PATH */
    const char *user;   /* NULL: the server's default */
    char password[LOGIN_PASSWORD + 1];
    size_t password_len; /* 0: none */
    uint64_t db;
    int timeout; /* milliseconds that a step may take */
    bool tls;
    const char *cacert; /* NULL: those of the system */
    const char *cert;   /* of the client; NULL: none */
    const char *cert_key;
    const char *tls_name; /* that the server's certificate must bear; NULL: the host's */
};

/* By the options. EXIT_YES, or EXIT_TROUBLE after having said why. */
int login_read(const struct args *args, struct login *login);

/* Wipes the password. */
void login_forget(struct login *login);

/* The host and the port of "HOST:PORT", "[HOST]:PORT" or "HOST:PORT@BUS"; false: it is neither. */
bool login_split(const char *address, char *host, size_t host_room, char *port, size_t port_room);

#define LOGIN_OPTIONS                                                                              \
    OPTION(0, "server", OF_VALUE(TAKES_TEXT, "HOST:PORT"),                                         \
           "The server, or any node of a cluster; [ADDRESS]:PORT for IPv6, unix:PATH for a "       \
           "socket."),                                                                             \
        OPTION(0, "key", OF_VALUE(TAKES_TEXT, "NAME"), "The name of the filter on the server."),   \
        OPTION(0, "parts", OF_WHOLE("P", 1, LOGIN_PARTS),                                          \
               "The filter is divided into P parts, at the names {NAME:0} to {NAME:P-1}, which a " \
               "cluster spreads over its nodes (docs/redis.md). push stores the number: without "  \
               "--parts ask and pull find it at {NAME:parts}."),                                   \
        OPTION(0, "user", OF_VALUE(TAKES_TEXT, "USER"), "The user's name on the server."),         \
        OPTION(0, "password-file", OF_VALUE(TAKES_FILE, "FILE"),                                   \
               "The password is the first line of FILE (default: the environment variable "        \
               "TEPAL_PASSWORD, or else REDISCLI_AUTH)."),                                         \
        OPTION(0, "db", OF_WHOLE("N", 0, 1000000), "The database on the server (default 0)."),     \
        OPTION(0, "timeout", OF_VALUE(TAKES_DURATION, "TIME"),                                     \
               "Give up when the server has not moved for so long (default 30s)."),                \
        FLAG(0, "tls", "Connect with TLS, and check the server's certificate."),                   \
        OPTION(0, "cacert", OF_VALUE(TAKES_FILE, "FILE"),                                          \
               "TLS: trust the authorities in FILE (PEM) instead of the system's."),               \
        OPTION(0, "cert", OF_VALUE(TAKES_FILE, "FILE"),                                            \
               "TLS: the client's certificate (PEM); give --cert-key, too."),                      \
        OPTION(0, "cert-key", OF_VALUE(TAKES_FILE, "FILE"),                                        \
               "TLS: the private key of --cert (PEM)."),                                           \
        OPTION(0, "tls-name", OF_VALUE(TAKES_TEXT, "NAME"),                                        \
               "TLS: the certificate must bear NAME (default: HOST, or each node's address).")

#endif

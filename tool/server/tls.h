/*
 * tls.h: bytes over TLS on a socket that never blocks. OpenSSL is loaded when it is wanted: with it
 * every command would take longer to start than most take to run.
 */
#ifndef TOOL_SERVER_TLS_H
#define TOOL_SERVER_TLS_H

#include <stddef.h>
#include <sys/types.h>

#include "server/login.h"

struct tls;

/* For a connected socket, which stays the caller's. NULL after having written why. */
struct tls *tls_open(const struct login *login, int fd, const char *host, char *why, size_t room);
void tls_free(struct tls *tls);

/*
 * As read and write: how many bytes; 0 the end (of a read). -1: not now, *events is what to poll
 * for. -2: failed, and why is written. With no bytes at all tls_write shakes hands: 0 when done.
 */
ssize_t tls_read(struct tls *tls, void *bytes, size_t len, short *events, char *why, size_t room);
ssize_t tls_write(struct tls *tls, const void *bytes, size_t len, short *events, char *why,
                  size_t room);

#endif

/*
 * wire.h: one connection to a server: commands out, replies in. hiredis writes and reads the
 * protocol; the socket, its timeouts and TLS are here. Commands gather until they are flushed, so
 * that many go in one piece.
 */
#ifndef TOOL_SERVER_WIRE_H
#define TOOL_SERVER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/time.h>

#include <hiredis/hiredis.h>

#include "server/login.h"

#define WIRE_WHY 512

struct wire;

/* The words of a command: bytes, with 0 in them if need be. */
struct words {
    const char *text[16];
    size_t len[16];
    int count;
};

void words_add(struct words *words, const void *text, size_t len);
void words_text(struct words *words, const char *text);

/*
 * Connected, with the user and the database that the login tells. NULL after having written why
 * (WIRE_WHY characters at most). The login must live as long.
 */
struct wire *wire_open(const struct login *login, const char *address, char *why);
void wire_close(struct wire *wire); /* NULL is allowed */

/* Adds a command of `count` words to what will be sent; false: no memory. */
bool wire_add(struct wire *wire, int count, const char **text, const size_t *len);

/* Sends all that was added; false: the connection is lost, and wire_why says why. */
bool wire_flush(struct wire *wire);

/* The next reply, to be freed with freeReplyObject; NULL: the connection is lost. */
redisReply *wire_reply(struct wire *wire);

const char *wire_why(const struct wire *wire);

#endif

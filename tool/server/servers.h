/*
 * servers.h: a server, or all nodes of a cluster, as one. A request names the key it is about; it
 * goes to the node that serves the key's slot. Many requests go out together, each node's in one
 * piece, and all nodes work at the same time. MOVED and ASK are followed, and the map of slots is
 * read again when it was wrong; what a cluster cannot do for a moment (TRYAGAIN, CLUSTERDOWN,
 * LOADING) is tried again until the timeout.
 *
 * Nothing is asked of a server before the first request: one that is no cluster never hears of it.
 */
#ifndef TOOL_SERVER_SERVERS_H
#define TOOL_SERVER_SERVERS_H

#include "server/login.h"
#include "server/wire.h"

#define SERVERS_SLOTS 16384

/* The slot of a key: CRC-16 of what stands within the first braces, or of all of it. */
unsigned servers_slot(const char *key, size_t len);

struct request {
    const char **text;
    const size_t *len;
    int count;
    int key; /* which of the words is the key */
    /*
     * Does it do no harm to be carried out twice? If so it is sent again after a connection was
     * lost; if not, nobody can know whether it was carried out, and that is an error.
     */
    bool again;
    redisReply *reply; /* never MOVED, ASK and the like; belongs to the caller */
    char *ask;         /* of servers.c: where to go this time; NULL: by the slot */
};

struct servers;

/* Connects to the server of the login, which must live as long. NULL after having written why. */
struct servers *servers_open(const struct login *login, char *why);
void servers_close(struct servers *servers); /* NULL is allowed */

/*
 * Carries out all requests. False if one could not be: servers_why says why. Replies that came
 * until then are there; others are NULL.
 */
bool servers_run(struct servers *servers, struct request *requests, size_t count);

/* One command, whose second word is the key. NULL as above. */
redisReply *servers_call(struct servers *servers, struct words *words, bool again);

/* Why a call failed: the node, and what it said. */
const char *servers_why(const struct servers *servers);

/* The nodes that were spoken to. */
size_t servers_nodes(const struct servers *servers);

/*
 * What an error reply means to the user, in `room`: that there is no module, no right, no such
 * kind of value; or the server's own words.
 */
const char *servers_explain(const redisReply *reply, char *room, size_t size);

/* Does the error begin with this word? */
bool servers_error_is(const redisReply *reply, const char *word);

#endif

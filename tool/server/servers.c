/* servers.c: which node a request goes to, and what is done when it is the wrong one. */
#define _GNU_SOURCE
#include "server/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NODES_MOST 4096
#define NO_NODE    UINT16_MAX
#define PAUSE      20 /* milliseconds before a cluster that is changing is asked again */
#define HOPS       4  /* MOVED and ASK in a row, before the nodes are given time to agree */

struct node {
    char *address;
    struct wire *wire; /* NULL: not connected now */
    size_t sent;       /* requests that wait for a reply */
    bool failed;
};

struct servers {
    const struct login *login;
    struct node *node;
    size_t nodes;
    uint16_t slot[SERVERS_SLOTS]; /* which node serves it; NO_NODE: not known */
    bool stale;                   /* the map was wrong: read it again ... */
    size_t turn;                  /* ... from another node each time */
    char why[WIRE_WHY + 300];
};

/* ---- slots ----------------------------------------------------------------------------------- */

/* CRC-16 of XMODEM: polynomial 0x1021, nothing reflected, begins with 0. */
static unsigned crc16(const char *bytes, size_t len)
{
    unsigned crc = 0;
    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned)(unsigned char)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc << 1 ^ ((crc & 0x8000) != 0 ? 0x1021 : 0)) & 0xffff;
        }
    }
    return crc;
}

unsigned servers_slot(const char *key, size_t len)
{
    const char *open = memchr(key, '{', len);
    if (open != NULL) {
        size_t rest = len - (size_t)(open + 1 - key);
        const char *close = memchr(open + 1, '}', rest);
        if (close != NULL && close > open + 1) {
            key = open + 1;
            len = (size_t)(close - key);
        }
    }
    return crc16(key, len) % SERVERS_SLOTS;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* The node of the address, a new one if need be; NO_NODE: no memory, or too many. */
static uint16_t find_node(struct servers *s, const char *address)
{
    for (size_t i = 0; i < s->nodes; i++) {
        if (strcmp(s->node[i].address, address) == 0) {
            return (uint16_t)i;
        }
    }
    struct node *more =
        s->nodes >= NODES_MOST ? NULL : realloc(s->node, (s->nodes + 1) * sizeof *more);
    if (more == NULL) {
        return NO_NODE;
    }
    s->node = more;
    char *copy = strdup(address);
    if (copy == NULL) {
        return NO_NODE;
    }
    s->node[s->nodes] = (struct node){.address = copy};
    return (uint16_t)s->nodes++;
}

/* "HOST:PORT" as a node tells it; without a host (or "?") it is the node's own. */
static uint16_t told_node(struct servers *s, size_t teller, const char *host, const char *port)
{
    char own_host[256];
    char own_port[8];
    char address[300];
    if (host[0] == '\0' || strcmp(host, "?") == 0) {
        if (!login_split(s->node[teller].address, own_host, sizeof own_host, own_port,
                         sizeof own_port)) {
            return NO_NODE; /* by a local socket */
        }
        host = own_host;
    }
    int n = snprintf(address, sizeof address, "%s:%s", host, port);
    return n < 0 || (size_t)n >= sizeof address ? NO_NODE : find_node(s, address);
}

/* "MOVED 3999 127.0.0.1:6381": the node, or NO_NODE; *slot gets the slot. */
static uint16_t redirected(struct servers *s, size_t teller, const char *text, unsigned *slot)
{
    char host[256];
    char port[8];
    unsigned number;
    int used = 0;
    if (sscanf(text, "%*s %u %n", &number, &used) != 1 || used == 0 || number >= SERVERS_SLOTS ||
        !login_split(text + used, host, sizeof host, port, sizeof port)) {
        return NO_NODE;
    }
    *slot = number;
    return told_node(s, teller, host, port);
}

static bool connected(struct servers *s, size_t n)
{
    struct node *node = &s->node[n];
    char why[WIRE_WHY];
    if (node->wire == NULL) {
        node->wire = wire_open(s->login, node->address, why);
        if (node->wire == NULL) {
            snprintf(s->why, sizeof s->why, "%s: %s", node->address, why);
        }
    }
    return node->wire != NULL;
}

static void disconnect(struct servers *s, size_t n)
{
    snprintf(s->why, sizeof s->why, "%s: %s", s->node[n].address, wire_why(s->node[n].wire));
    wire_close(s->node[n].wire);
    s->node[n].wire = NULL;
}

struct servers *servers_open(const struct login *login, char *why)
{
    struct servers *s = calloc(1, sizeof *s);
    if (s == NULL) {
        snprintf(why, WIRE_WHY, "out of memory");
        return NULL;
    }
    s->login = login;
    memset(s->slot, 0xff, sizeof s->slot);
    if (find_node(s, login->server) == NO_NODE) {
        snprintf(why, WIRE_WHY, "out of memory");
        servers_close(s);
        return NULL;
    }
    s->node[0].wire = wire_open(login, login->server, why);
    if (s->node[0].wire == NULL) {
        servers_close(s);
        return NULL;
    }
    return s;
}

void servers_close(struct servers *s)
{
    if (s != NULL) {
        for (size_t i = 0; i < s->nodes; i++) {
            wire_close(s->node[i].wire);
            free(s->node[i].address);
        }
        free(s->node);
        free(s);
    }
}

const char *servers_why(const struct servers *s)
{
    return s->why;
}

size_t servers_nodes(const struct servers *s)
{
    return s->nodes;
}

/* ---- the map of slots ------------------------------------------------------------------------ */

static void read_range(struct servers *s, size_t teller, const redisReply *range)
{
    if (range->type != REDIS_REPLY_ARRAY || range->elements < 3 ||
        range->element[0]->type != REDIS_REPLY_INTEGER ||
        range->element[1]->type != REDIS_REPLY_INTEGER ||
        range->element[2]->type != REDIS_REPLY_ARRAY || range->element[2]->elements < 2) {
        return;
    }
    const redisReply *host = range->element[2]->element[0];
    const redisReply *port = range->element[2]->element[1];
    char number[24];
    if (port->type != REDIS_REPLY_INTEGER) {
        return;
    }
    snprintf(number, sizeof number, "%lld", port->integer);
    uint16_t node = told_node(s, teller, host->type == REDIS_REPLY_STRING ? host->str : "", number);
    for (long long i = range->element[0]->integer;
         i >= 0 && i <= range->element[1]->integer && i < SERVERS_SLOTS; i++) {
        s->slot[i] = node;
    }
}

/* From this node; false: it did not tell. */
static bool read_map_of(struct servers *s, size_t n)
{
    static const char *text[] = {"CLUSTER", "SLOTS"};
    static const size_t len[] = {7, 5};
    if (!connected(s, n)) {
        return false;
    }
    struct wire *wire = s->node[n].wire;
    redisReply *reply = wire_add(wire, 2, text, len) && wire_flush(wire) ? wire_reply(wire) : NULL;
    if (reply == NULL) {
        disconnect(s, n);
        return false;
    }
    bool told = reply->type == REDIS_REPLY_ARRAY && reply->elements > 0;
    for (size_t i = 0; told && i < reply->elements; i++) {
        read_range(s, n, reply->element[i]);
    }
    freeReplyObject(reply);
    return told;
}

/* From the first node that tells it. */
static void read_map(struct servers *s)
{
    size_t nodes = s->nodes; /* it may learn of more */
    for (size_t i = 0; i < nodes; i++) {
        if (read_map_of(s, s->turn++ % nodes)) {
            s->stale = false;
            return;
        }
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

bool servers_error_is(const redisReply *reply, const char *word)
{
    size_t len = strlen(word);
    return reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, word, len) == 0 &&
           (reply->str[len] == ' ' || reply->str[len] == '\0');
}

static long long now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void pause_a_little(void)
{
    struct timespec t = {0, PAUSE * 1000000L};
    (void)nanosleep(&t, NULL);
}

/* One round: which node each request was sent to, until its reply has come. */
struct round {
    struct request *request;
    size_t count;
    uint16_t *to;
    size_t replied; /* requests that have their final reply */
    bool moved;     /* one was sent elsewhere */
    bool waits;     /* one has to wait */
    bool fatal;     /* one cannot be carried out */
};

static unsigned slot_of(const struct request *r)
{
    return servers_slot(r->text[r->key], r->len[r->key]);
}

static uint16_t choose(struct servers *s, const struct request *r)
{
    if (r->ask != NULL) {
        return find_node(s, r->ask);
    }
    uint16_t node = s->slot[slot_of(r)];
    return node == NO_NODE ? 0 : node;
}

static bool queue(struct servers *s, const struct request *r, size_t node)
{
    static const char *asking[] = {"ASKING"};
    static const size_t asking_len[] = {6};
    struct wire *wire = s->node[node].wire;
    return (r->ask == NULL || wire_add(wire, 1, asking, asking_len)) &&
           wire_add(wire, r->count, r->text, r->len);
}

static void send_all(struct servers *s, struct round *round)
{
    for (size_t i = 0; i < round->count; i++) {
        struct request *r = &round->request[i];
        round->to[i] = NO_NODE;
        if (r->reply != NULL) {
            continue;
        }
        uint16_t node = choose(s, r);
        if (node == NO_NODE) {
            snprintf(s->why, sizeof s->why, "out of memory for so many nodes");
            round->fatal = true;
        } else if (!connected(s, node)) {
            round->waits = s->stale = true;
            free(r->ask);
            r->ask = NULL;
        } else if (!queue(s, r, node)) {
            snprintf(s->why, sizeof s->why, "out of memory");
            round->fatal = true;
        } else {
            round->to[i] = node;
            s->node[node].sent++;
        }
    }
    for (size_t n = 0; n < s->nodes; n++) {
        s->node[n].failed = s->node[n].sent > 0 && !wire_flush(s->node[n].wire);
    }
}

/* The connection went before the reply came. */
static void lost(struct servers *s, struct round *round, const struct request *r)
{
    round->waits = s->stale = true;
    round->fatal = round->fatal || !r->again;
}

/* A reply that is not final: where to next? True: it was one. */
static bool follow(struct servers *s, struct round *round, struct request *r, size_t node,
                   const redisReply *reply)
{
    bool moved = servers_error_is(reply, "MOVED");
    bool ask = servers_error_is(reply, "ASK");
    if (moved || ask) {
        unsigned slot = 0;
        uint16_t to = redirected(s, node, reply->str, &slot);
        if (to == NO_NODE) {
            return false;
        }
        round->moved = true;
        if (moved) {
            s->slot[slot] = to;
            s->stale = true;
        } else {
            r->ask = strdup(s->node[to].address);
            round->fatal = round->fatal || r->ask == NULL;
        }
        return true;
    }
    if (servers_error_is(reply, "TRYAGAIN") || servers_error_is(reply, "CLUSTERDOWN") ||
        servers_error_is(reply, "LOADING") || servers_error_is(reply, "MASTERDOWN")) {
        snprintf(s->why, sizeof s->why, "%s: %s", s->node[node].address, reply->str);
        round->waits = s->stale = true;
        return true;
    }
    return false;
}

static void read_all(struct servers *s, struct round *round)
{
    for (size_t i = 0; i < round->count; i++) {
        struct request *r = &round->request[i];
        uint16_t n = round->to[i];
        if (n == NO_NODE) {
            continue;
        }
        bool asked = r->ask != NULL;
        free(r->ask);
        r->ask = NULL;
        redisReply *reply = NULL;
        if (!s->node[n].failed && asked) { /* the reply to ASKING */
            reply = wire_reply(s->node[n].wire);
            s->node[n].failed = reply == NULL;
            freeReplyObject(reply);
        }
        reply = s->node[n].failed ? NULL : wire_reply(s->node[n].wire);
        s->node[n].sent--;
        if (reply == NULL) {
            if (s->node[n].wire != NULL) {
                disconnect(s, n);
            }
            s->node[n].failed = true;
            lost(s, round, r);
        } else if (follow(s, round, r, n, reply)) {
            freeReplyObject(reply);
        } else {
            r->reply = reply;
            round->replied++;
        }
    }
}

bool servers_run(struct servers *s, struct request *requests, size_t count)
{
    struct round round = {.request = requests, .count = count};
    round.to = malloc((count + 1) * sizeof *round.to);
    if (round.to == NULL) {
        snprintf(s->why, sizeof s->why, "out of memory");
        return false;
    }
    long long since = now(); /* when a request was last answered */
    unsigned hops = 0;
    bool first = true;
    while (round.replied < count && !round.fatal) {
        size_t before = round.replied;
        if (s->stale && !first) {
            read_map(s);
        }
        first = false;
        round.moved = round.waits = false;
        send_all(s, &round);
        read_all(s, &round);
        if (round.replied > before) {
            since = now();
            hops = 0;
        } else if (round.moved && !round.waits && ++hops >= HOPS) {
            snprintf(s->why, sizeof s->why, "the nodes send each other in a circle");
            round.waits = true; /* while a slot moves, that can be so for a moment */
        }
        if (round.replied == before && now() - since >= s->login->timeout) {
            break; /* with the words of the latest failure */
        }
        if (round.waits && round.replied < count && !round.fatal) {
            pause_a_little();
        }
    }
    for (size_t i = 0; i < count; i++) {
        free(requests[i].ask);
        requests[i].ask = NULL;
    }
    free(round.to);
    return round.replied == count;
}

redisReply *servers_call(struct servers *s, struct words *words, bool again)
{
    struct request r = {
        .text = words->text, .len = words->len, .count = words->count, .key = 1, .again = again};
    (void)servers_run(s, &r, 1);
    return r.reply;
}

/* ---- words ----------------------------------------------------------------------------------- */

const char *servers_explain(const redisReply *reply, char *room, size_t size)
{
    static const struct {
        const char *begins;
        const char *means;
    } known[] = {
        {"ERR unknown command", "the server has no tepal module (load tepal-redis.so into it)"},
        {"NOAUTH", "the server wants a password: give --password-file, or set TEPAL_PASSWORD"},
        {"WRONGTYPE", "what the server has there is not a filter"},
        {"OOM", "the server has no memory left for it (maxmemory)"},
        {"READONLY", "the server is a replica, and takes no changes: name its master"},
        {"NOREPLICAS", "the server has too few replicas to take changes"},
        {"ARRIVING", "a filter is still arriving there: try again when its transfer has ended"},
    };
    if (reply->type != REDIS_REPLY_ERROR) {
        return "the server's answer was not understood";
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strncmp(reply->str, known[i].begins, strlen(known[i].begins)) == 0) {
            return known[i].means;
        }
    }
    const char *text = strncmp(reply->str, "ERR ", 4) == 0       ? reply->str + 4
                       : strncmp(reply->str, "REFUSED ", 8) == 0 ? reply->str + 8
                                                                 : reply->str;
    snprintf(room, size, "%s", text);
    return room;
}

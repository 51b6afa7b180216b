/* wire.c: a socket that never blocks, and waits for as long as the login allows. */
#define _GNU_SOURCE
#include "server/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/tls.h"

#define READ_ROOM ((size_t)1 << 16)

struct wire {
    const struct login *login;
    int fd;
    struct tls *tls;
    redisReader *reader;
    char *out;
    size_t used;
    size_t room;
    char why[WIRE_WHY];
    char in[READ_ROOM];
};

void words_add(struct words *words, const void *text, size_t len)
{
    words->text[words->count] = text;
    words->len[words->count++] = len;
}

void words_text(struct words *words, const char *text)
{
    words_add(words, text, strlen(text));
}

const char *wire_why(const struct wire *wire)
{
    return wire->why;
}

/* ---- the socket ------------------------------------------------------------------------------ */

/* Waits until the socket is ready; false: it was not in time. */
static bool ready(struct wire *wire, short events)
{
    struct pollfd one = {.fd = wire->fd, .events = events};
    int n;
    do {
        n = poll(&one, 1, wire->login->timeout);
    } while (n < 0 && errno == EINTR);
    if (n == 0) {
        snprintf(wire->why, sizeof wire->why, "no answer within %g s (--timeout)",
                 wire->login->timeout / 1000.0);
    } else if (n < 0) {
        snprintf(wire->why, sizeof wire->why, "%s", strerror(errno));
    }
    return n > 0;
}

static bool connect_to(struct wire *wire, const struct sockaddr *to, socklen_t len)
{
    int error = 0;
    socklen_t error_len = sizeof error;
    wire->fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (wire->fd < 0 || (connect(wire->fd, to, len) != 0 && errno != EINPROGRESS)) {
        snprintf(wire->why, sizeof wire->why, "%s", strerror(errno));
        return false;
    }
    if (!ready(wire, POLLOUT)) {
        return false;
    }
    if (getsockopt(wire->fd, SOL_SOCKET, SO_ERROR, &error, &error_len) != 0 || error != 0) {
        snprintf(wire->why, sizeof wire->why, "%s", strerror(error));
        return false;
    }
    int yes = 1;
    (void)setsockopt(wire->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return true;
}

static bool connect_local(struct wire *wire, const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof to.sun_path) {
        snprintf(wire->why, sizeof wire->why, "the path of the socket is too long");
        return false;
    }
    strcpy(to.sun_path, path);
    return connect_to(wire, (const struct sockaddr *)&to, sizeof to);
}

static bool connect_host(struct wire *wire, const char *host, const char *port)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    int error = getaddrinfo(host, port, &hints, &found);
    if (error != 0) {
        snprintf(wire->why, sizeof wire->why, "%s",
                 error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
        return false;
    }
    bool done = false;
    for (const struct addrinfo *one = found; one != NULL && !done; one = one->ai_next) {
        if (wire->fd >= 0) {
            close(wire->fd);
        }
        done = connect_to(wire, one->ai_addr, one->ai_addrlen);
    }
    freeaddrinfo(found);
    return done;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* As tls_write and tls_read. */
static ssize_t put(struct wire *wire, const char *bytes, size_t len, short *events)
{
    if (wire->tls != NULL) {
        return tls_write(wire->tls, bytes, len, events, wire->why, sizeof wire->why);
    }
    ssize_t n = send(wire->fd, bytes, len, MSG_NOSIGNAL);
    *events = POLLOUT;
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        snprintf(wire->why, sizeof wire->why, "%s", strerror(errno));
        return -2;
    }
    return n;
}

static ssize_t get(struct wire *wire, short *events)
{
    if (wire->tls != NULL) {
        return tls_read(wire->tls, wire->in, sizeof wire->in, events, wire->why, sizeof wire->why);
    }
    ssize_t n = recv(wire->fd, wire->in, sizeof wire->in, 0);
    *events = POLLIN;
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        snprintf(wire->why, sizeof wire->why, "%s", strerror(errno));
        return -2;
    }
    return n;
}

static bool shake_hands(struct wire *wire)
{
    ssize_t n;
    short events;
    while ((n = put(wire, NULL, 0, &events)) == -1) {
        if (!ready(wire, events)) {
            return false;
        }
    }
    return n == 0;
}

bool wire_flush(struct wire *wire)
{
    size_t at = 0;
    while (at < wire->used) {
        short events;
        ssize_t n = put(wire, wire->out + at, wire->used - at, &events);
        if (n == -2 || (n == -1 && !ready(wire, events))) {
            break;
        }
        at += n > 0 ? (size_t)n : 0;
    }
    bool all = at == wire->used;
    wire->used = 0;
    return all;
}

redisReply *wire_reply(struct wire *wire)
{
    void *reply = NULL;
    while (redisReaderGetReply(wire->reader, &reply) == REDIS_OK && reply == NULL) {
        short events;
        ssize_t n = get(wire, &events);
        if (n == 0) {
            snprintf(wire->why, sizeof wire->why, "the server closed the connection");
        }
        if (n == 0 || n == -2 || (n == -1 && !ready(wire, events))) {
            return NULL;
        }
        if (n > 0 && redisReaderFeed(wire->reader, wire->in, (size_t)n) != REDIS_OK) {
            break;
        }
    }
    if (reply == NULL) {
        snprintf(wire->why, sizeof wire->why, "not the answer of a Redis or Valkey server: %s",
                 wire->reader->errstr);
    }
    return reply;
}

bool wire_add(struct wire *wire, int count, const char **text, const size_t *len)
{
    char *command = NULL;
    int size = redisFormatCommandArgv(&command, count, text, len);
    if (size < 0) {
        return false;
    }
    size_t need = wire->used + (size_t)size;
    if (need > wire->room) {
        char *larger = realloc(wire->out, need + need / 2);
        if (larger == NULL) {
            redisFreeCommand(command);
            return false;
        }
        wire->out = larger;
        wire->room = need + need / 2;
    }
    memcpy(wire->out + wire->used, command, (size_t)size);
    wire->used = need;
    redisFreeCommand(command);
    return true;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* A command of the greeting. */
static bool greet(struct wire *wire, struct words *words, const char *what)
{
    if (!wire_add(wire, words->count, words->text, words->len)) {
        snprintf(wire->why, sizeof wire->why, "out of memory");
        return false;
    }
    redisReply *reply = wire_flush(wire) ? wire_reply(wire) : NULL;
    if (reply == NULL) {
        return false;
    }
    bool good = reply->type == REDIS_REPLY_STATUS;
    if (!good) {
        snprintf(wire->why, sizeof wire->why, "%s: %s", what,
                 reply->type == REDIS_REPLY_ERROR ? reply->str : "an unexpected answer");
    }
    freeReplyObject(reply);
    return good;
}

static bool enter(struct wire *wire)
{
    const struct login *login = wire->login;
    if (login->password_len > 0) {
        struct words words = {.count = 0};
        words_text(&words, "AUTH");
        if (login->user != NULL) {
            words_text(&words, login->user);
        }
        words_add(&words, login->password, login->password_len);
        if (!greet(wire, &words, "the login was refused")) {
            return false;
        }
    }
    if (login->db > 0) {
        struct words words = {.count = 0};
        char number[24];
        snprintf(number, sizeof number, "%llu", (unsigned long long)login->db);
        words_text(&words, "SELECT");
        words_text(&words, number);
        return greet(wire, &words, "--db");
    }
    return true;
}

static bool open_all(struct wire *wire, const char *address)
{
    char host[256] = "localhost";
    char port[8];
    bool local = strncmp(address, "unix:", 5) == 0;
    if (!local && !login_split(address, host, sizeof host, port, sizeof port)) {
        snprintf(wire->why, sizeof wire->why, "not HOST:PORT");
        return false;
    }
    if (local ? !connect_local(wire, address + 5) : !connect_host(wire, host, port)) {
        return false;
    }
    if (wire->login->tls) {
        wire->tls = tls_open(wire->login, wire->fd, host, wire->why, sizeof wire->why);
        if (wire->tls == NULL || !shake_hands(wire)) {
            return false;
        }
    }
    return enter(wire);
}

struct wire *wire_open(const struct login *login, const char *address, char *why)
{
    struct wire *wire = malloc(sizeof *wire);
    redisReader *reader = redisReaderCreate();
    if (wire == NULL || reader == NULL) {
        snprintf(why, WIRE_WHY, "out of memory");
        free(wire);
        redisReaderFree(reader);
        return NULL;
    }
    *wire = (struct wire){.login = login, .fd = -1, .reader = reader};
    if (!open_all(wire, address)) {
        memcpy(why, wire->why, WIRE_WHY);
        wire_close(wire);
        return NULL;
    }
    return wire;
}

void wire_close(struct wire *wire)
{
    if (wire != NULL) {
        tls_free(wire->tls);
        if (wire->fd >= 0) {
            close(wire->fd);
        }
        redisReaderFree(wire->reader);
        free(wire->out);
        free(wire);
    }
}

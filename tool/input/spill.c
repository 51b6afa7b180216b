/* spill.c: an array that empties itself into an unnamed file whenever it is full. */
#define _GNU_SOURCE
#include "input/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/retry.h"

#define FIRST_DIGESTS ((size_t)1 << 12)
#define PIECE         ((size_t)1 << 14) /* digests read back at once: they stay in the cache */

struct spill {
    struct tepal_digest *held;
    size_t used;
    size_t room;
    size_t limit;
    uint64_t count;
    uint64_t in_file; /* digests written to the file */
    uint64_t replayed;
    bool tail_done;
    int fd; /* -1: no file yet */
    const char *folder;
    const char *why;
};

struct spill *spill_open(size_t limit)
{
    struct spill *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    s->limit = limit;
    s->room = limit < FIRST_DIGESTS ? limit : FIRST_DIGESTS;
    s->held = malloc(s->room * sizeof *s->held);
    s->fd = -1;
    const char *folder = getenv("TMPDIR");
    s->folder = folder != NULL && folder[0] != '\0' ? folder : "/tmp";
    s->why = "";
    if (s->held == NULL) {
        free(s);
        return NULL;
    }
    return s;
}

void spill_close(struct spill *s)
{
    if (s == NULL) {
        return;
    }
    if (s->fd >= 0) {
        close(s->fd);
    }
    free(s->held);
    free(s);
}

static int fail(struct spill *s, const char *why)
{
    s->why = why;
    return -1;
}

/* A file with a name for the shortest time, and with signals held off meanwhile. */
static int open_named(const char *folder)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/tepal.XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    int fd = mkostemp(path, O_CLOEXEC);
    int error = errno;
    if (fd >= 0) {
        unlink(path);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return fd;
}

static int open_file(struct spill *s)
{
#ifdef O_TMPFILE
    s->fd = open(s->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (s->fd < 0) {
        s->fd = open_named(s->folder);
    }
    return s->fd >= 0 ? 0 : fail(s, strerror(errno));
}

static int empty_into_file(struct spill *s)
{
    if (s->fd < 0 && open_file(s) != 0) {
        return -1;
    }
    const char *bytes = (const char *)s->held;
    size_t left = s->used * sizeof *s->held;
    while (left > 0) {
        ssize_t n = write(s->fd, bytes, left);
        if (n < 0 && !retry_io(s->fd, POLLOUT)) {
            return fail(s, strerror(errno));
        }
        bytes += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    s->in_file += s->used;
    s->used = 0;
    return 0;
}

static int make_room(struct spill *s)
{
    if (s->room == s->limit) {
        return empty_into_file(s);
    }
    size_t room = s->room * 2 < s->limit ? s->room * 2 : s->limit;
    struct tepal_digest *larger = realloc(s->held, room * sizeof *larger);
    if (larger == NULL) {
        s->limit = s->room; /* no more memory: from here on the file takes what comes */
        return empty_into_file(s);
    }
    s->held = larger;
    s->room = room;
    return 0;
}

int spill_add(struct spill *s, const struct tepal_digest *digests, size_t count)
{
    s->count += count;
    while (count > 0) {
        if (s->used == s->room && make_room(s) != 0) {
            return -1;
        }
        size_t n = s->room - s->used < count ? s->room - s->used : count;
        memcpy(s->held + s->used, digests, n * sizeof *digests);
        s->used += n;
        digests += n;
        count -= n;
    }
    return 0;
}

uint64_t spill_count(const struct spill *s)
{
    return s->count;
}

/* A piece of the file, into the array that is free by then: its last part is written out first. */
static ptrdiff_t read_piece(struct spill *s)
{
    uint64_t left = s->in_file - s->replayed;
    size_t piece = s->room < PIECE ? s->room : PIECE;
    size_t want = (left < piece ? (size_t)left : piece) * sizeof *s->held;
    char *bytes = (char *)s->held;
    off_t offset = (off_t)(s->replayed * sizeof *s->held);
    size_t done = 0;
    while (done < want) {
        ssize_t n = pread(s->fd, bytes + done, want - done, offset + (off_t)done);
        if (n == 0) {
            return fail(s, "the temporary file was cut short");
        }
        if (n < 0 && !retry_io(s->fd, POLLIN)) {
            return fail(s, strerror(errno));
        }
        done += n > 0 ? (size_t)n : 0;
    }
    s->replayed += done / sizeof *s->held;
    return (ptrdiff_t)(done / sizeof *s->held);
}

ptrdiff_t spill_next(struct spill *s, const struct tepal_digest **digests)
{
    *digests = s->held;
    if (s->fd < 0) {
        size_t n = s->tail_done ? 0 : s->used;
        s->tail_done = true;
        return (ptrdiff_t)n;
    }
    if (s->used > 0 && empty_into_file(s) != 0) {
        return -1;
    }
    return s->replayed == s->in_file ? 0 : read_piece(s);
}

const char *spill_subject(const struct spill *s)
{
    return s->folder;
}

const char *spill_why(const struct spill *s)
{
    return s->why;
}

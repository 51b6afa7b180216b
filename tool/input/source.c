/* source.c: read(2), or zlib, libzstd or liblzma, behind one call. */
#define _POSIX_C_SOURCE 200809L
#include "input/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "input/retry.h"
#include "system/late.h"

#define LIBZ(X) X(inflateInit2_) X(inflate) X(inflateReset) X(inflateEnd)
#define LIBZSTD(X)                                                                                 \
    X(ZSTD_createDStream)                                                                          \
    X(ZSTD_freeDStream) X(ZSTD_decompressStream) X(ZSTD_isError) X(ZSTD_getErrorName)
#define LIBLZMA(X) X(lzma_stream_decoder) X(lzma_code) X(lzma_end)
LATE_LIBRARY(libz, LIBZ, "libz.so.1")
LATE_LIBRARY(libzstd, LIBZSTD, "libzstd.so.1")
LATE_LIBRARY(liblzma, LIBLZMA, "liblzma.so.5")

#define IN_ROOM   ((size_t)1 << 17)
#define XZ_MEMORY ((uint64_t)1 << 27) /* what a decoder may take, as much as zstd's */

enum form { FORM_UNKNOWN, FORM_PLAIN, FORM_GZIP, FORM_ZSTD, FORM_XZ, FORM_BZIP2 };

struct source {
    int fd;
    bool owned;   /* the descriptor is ours to close */
    bool live;    /* not a regular file */
    bool ended;   /* read(2) has returned 0 */
    bool stopped; /* whoever waits said so */
    bool between; /* compressed: at the end of a member or a frame */
    enum form form;
    const char *why;
    int error;         /* of read(2) */
    source_wait *wait; /* NULL: nobody */
    void *wait_context;
    z_stream gzip;
    ZSTD_DStream *zstd;
    lzma_stream xz;
    size_t at; /* in[at .. used) is read and not yet consumed */
    size_t used;
    uint8_t in[IN_ROOM];
};

static ssize_t fail(struct source *s, const char *why)
{
    s->why = why;
    return -1;
}

static ssize_t read_some(struct source *s, void *bytes, size_t room)
{
    for (;;) {
        if (s->wait != NULL && !s->wait(s->wait_context, s->fd)) {
            s->ended = true;
            s->stopped = true;
            return 0;
        }
        ssize_t n = read(s->fd, bytes, room);
        if (n > 0) {
            return n;
        }
        if (n == 0) {
            s->ended = true;
            return 0;
        }
        if (!retry_io(s->fd, POLLIN)) {
            s->error = errno;
            return fail(s, strerror(s->error));
        }
    }
}

/* More compressed bytes, if there are none at hand and the file has not ended. */
static bool refill(struct source *s)
{
    if (s->at < s->used || s->ended) {
        return true;
    }
    ssize_t n = read_some(s, s->in, IN_ROOM);
    s->at = 0;
    s->used = n > 0 ? (size_t)n : 0;
    return n >= 0;
}

/* ---- what is it? ----------------------------------------------------------------------------- */

/* Do the first `len` bytes agree with `magic` as far as both go? */
static bool begins(const struct source *s, const uint8_t *magic, size_t len)
{
    return memcmp(s->in, magic, s->used < len ? s->used : len) == 0;
}

static bool zstd_skippable(const struct source *s)
{
    static const uint8_t rest[] = {0x2a, 0x4d, 0x18};
    size_t len = s->used < 4 ? s->used : 4;
    return len > 0 && (s->in[0] & 0xf0) == 0x50 && memcmp(s->in + 1, rest, len - 1) == 0;
}

/* "BZh", a level, and the six bytes that begin a block or end the data. */
static bool bzip2(const struct source *s)
{
    static const uint8_t block[] = {0x31, 0x41, 0x59, 0x26, 0x53, 0x59};
    static const uint8_t end[] = {0x17, 0x72, 0x45, 0x38, 0x50, 0x90};
    size_t rest = s->used < 4 ? 0 : s->used < 10 ? s->used - 4 : 6;
    return begins(s, (const uint8_t *)"BZh", 3) &&
           (s->used < 4 || (s->in[3] >= '1' && s->in[3] <= '9')) &&
           (memcmp(s->in + 4, block, rest) == 0 || memcmp(s->in + 4, end, rest) == 0);
}

/* FORM_UNKNOWN as long as more bytes could decide otherwise. */
static enum form guess(const struct source *s)
{
    static const uint8_t gzip[] = {0x1f, 0x8b, 0x08};
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    static const uint8_t xz[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    if (begins(s, gzip, sizeof gzip)) {
        return s->used >= sizeof gzip || (s->ended && s->used == 2) ? FORM_GZIP : FORM_UNKNOWN;
    }
    if (begins(s, zstd, sizeof zstd) || zstd_skippable(s)) {
        return s->used >= 4 ? FORM_ZSTD : FORM_UNKNOWN;
    }
    if (begins(s, xz, sizeof xz)) {
        return s->used >= sizeof xz ? FORM_XZ : FORM_UNKNOWN;
    }
    if (bzip2(s)) {
        return s->used >= 10 ? FORM_BZIP2 : FORM_UNKNOWN;
    }
    return FORM_PLAIN;
}

/* What the form needs to be read. */
static bool begin_form(struct source *s)
{
    const char *why = NULL;
    switch (s->form) {
    case FORM_GZIP:
        why = !libz_load() ? "gzip data are read with libz.so.1, which is not installed"
              : libz.inflateInit2_(&s->gzip, 15 + 16, ZLIB_VERSION, (int)sizeof s->gzip) != Z_OK
                  ? "out of memory"
                  : NULL;
        break;
    case FORM_ZSTD:
        why = !libzstd_load() ? "zstd data are read with libzstd.so.1, which is not installed"
              : (s->zstd = libzstd.ZSTD_createDStream()) == NULL ? "out of memory"
                                                                 : NULL;
        break;
    case FORM_XZ:
        why = !liblzma_load() ? "xz data are read with liblzma.so.5, which is not installed"
              : liblzma.lzma_stream_decoder(&s->xz, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK
                  ? "out of memory"
                  : NULL;
        break;
    case FORM_BZIP2:
        return fail(s, "compressed with bzip2, which is not read: decompress it into a pipe, as in "
                       "bzcat FILE | tepal ... - (--plain takes any bytes as keys)") == 0;
    default:
        s->form = FORM_PLAIN; /* shorter than any of these */
        return true;
    }
    if (why != NULL) {
        s->form = FORM_UNKNOWN;
        return fail(s, why) == 0;
    }
    return true;
}

static bool detect(struct source *s)
{
    while ((s->form = guess(s)) == FORM_UNKNOWN && !s->ended) {
        ssize_t n = read_some(s, s->in + s->used, IN_ROOM - s->used);
        if (n < 0) {
            return false;
        }
        s->used += (size_t)n;
    }
    return begin_form(s);
}

/* ---- the four readers ----------------------------------------------------------------------- */

static ssize_t read_plain(struct source *s, char *bytes, size_t room)
{
    if (s->at < s->used) {
        size_t len = s->used - s->at < room ? s->used - s->at : room;
        memcpy(bytes, s->in + s->at, len);
        s->at += len;
        return (ssize_t)len;
    }
    return s->ended ? 0 : read_some(s, bytes, room);
}

/* After a member: padding of zeros, another member, or the end. 1: go on, 0: the end. */
static int next_member(struct source *s)
{
    for (;;) {
        if (!refill(s)) {
            return -1;
        }
        if (s->at == s->used) {
            return 0;
        }
        if (s->in[s->at] != 0) {
            break;
        }
        s->at++;
    }
    if (s->in[s->at] != 0x1f) {
        return (int)fail(s, "damaged gzip data: unexpected bytes after its end");
    }
    libz.inflateReset(&s->gzip);
    s->between = false;
    return 1;
}

static ssize_t read_gzip(struct source *s, char *bytes, size_t room)
{
    for (;;) {
        int more = s->between ? next_member(s) : 1;
        if (more <= 0) {
            return more;
        }
        if (!refill(s)) {
            return -1;
        }
        if (s->at == s->used && s->stopped) {
            return 0;
        }
        if (s->at == s->used) {
            return fail(s, "truncated gzip data: the file ends too early");
        }
        s->gzip.next_in = s->in + s->at;
        s->gzip.avail_in = (uInt)(s->used - s->at);
        s->gzip.next_out = (Bytef *)bytes;
        s->gzip.avail_out = (uInt)(room < IN_ROOM ? room : IN_ROOM);
        size_t asked = s->gzip.avail_out;
        int result = libz.inflate(&s->gzip, Z_NO_FLUSH);
        s->at = s->used - s->gzip.avail_in;
        if (result == Z_MEM_ERROR) {
            return fail(s, "out of memory");
        }
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
            return fail(s, "damaged gzip data");
        }
        s->between = result == Z_STREAM_END;
        if (s->gzip.avail_out < asked) {
            return (ssize_t)(asked - s->gzip.avail_out);
        }
    }
}

static ssize_t read_zstd(struct source *s, char *bytes, size_t room)
{
    for (;;) {
        if (!refill(s)) {
            return -1;
        }
        bool spent = s->at == s->used;
        if (spent && (s->between || s->stopped)) {
            return 0;
        }
        ZSTD_inBuffer in = {s->in, s->used, s->at};
        ZSTD_outBuffer out = {bytes, room, 0};
        size_t result = libzstd.ZSTD_decompressStream(s->zstd, &out, &in);
        s->at = in.pos;
        if (libzstd.ZSTD_isError(result)) {
            return fail(s, s->between ? "damaged zstd data: unexpected bytes after its end"
                                      : libzstd.ZSTD_getErrorName(result));
        }
        s->between = result == 0;
        if (out.pos > 0) {
            return (ssize_t)out.pos;
        }
        if (spent && !s->between) {
            return fail(s, "truncated zstd data: the file ends too early");
        }
    }
}

static ssize_t xz_fault(struct source *s, lzma_ret result)
{
    switch (result) {
    case LZMA_MEM_ERROR:
        return fail(s, "out of memory");
    case LZMA_MEMLIMIT_ERROR:
        return fail(s, "the xz data need more than 128 MiB of memory to decompress");
    case LZMA_BUF_ERROR:
        return fail(s, "truncated xz data: the file ends too early");
    case LZMA_OPTIONS_ERROR:
        return fail(s, "xz data of a sort that this liblzma does not know");
    default:
        return fail(s, "damaged xz data");
    }
}

static ssize_t read_xz(struct source *s, char *bytes, size_t room)
{
    while (!s->between) {
        if (!refill(s)) {
            return -1;
        }
        bool spent = s->at == s->used;
        if (spent && s->stopped) {
            return 0;
        }
        s->xz.next_in = s->in + s->at;
        s->xz.avail_in = s->used - s->at;
        s->xz.next_out = (uint8_t *)bytes;
        s->xz.avail_out = room;
        lzma_ret result = liblzma.lzma_code(&s->xz, spent ? LZMA_FINISH : LZMA_RUN);
        s->at = s->used - s->xz.avail_in;
        s->between = result == LZMA_STREAM_END;
        if (result != LZMA_OK && result != LZMA_STREAM_END) {
            return xz_fault(s, result);
        }
        if (s->xz.avail_out < room) {
            return (ssize_t)(room - s->xz.avail_out);
        }
    }
    return 0;
}

ssize_t source_read(struct source *s, char *bytes, size_t room)
{
    if (s->form == FORM_UNKNOWN && !detect(s)) {
        return -1;
    }
    switch (s->form) {
    case FORM_GZIP:
        return read_gzip(s, bytes, room);
    case FORM_ZSTD:
        return read_zstd(s, bytes, room);
    case FORM_XZ:
        return read_xz(s, bytes, room);
    case FORM_BZIP2:
        return -1; /* said when it was recognised */
    default:
        return read_plain(s, bytes, room);
    }
}

/* ---- open and close -------------------------------------------------------------------------- */

struct source *source_open_fd(int fd, bool plain, const char **why)
{
    struct stat about;
    if (fstat(fd, &about) != 0) {
        *why = strerror(errno);
        return NULL;
    }
    if (S_ISDIR(about.st_mode)) {
        *why = strerror(EISDIR);
        return NULL;
    }
    struct source *s = malloc(sizeof *s);
    if (s == NULL) {
        *why = "out of memory";
        return NULL;
    }
    memset(s, 0, offsetof(struct source, in));
    s->fd = fd;
    s->live = !S_ISREG(about.st_mode);
    s->form = plain ? FORM_PLAIN : FORM_UNKNOWN;
    s->why = "";
    s->error = 0;
    return s;
}

struct source *source_open(const char *path, bool plain, const char **why)
{
    if (strcmp(path, "-") == 0) {
        return source_open_fd(STDIN_FILENO, plain, why);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        *why = strerror(errno);
        return NULL;
    }
    struct source *s = source_open_fd(fd, plain, why);
    if (s == NULL) {
        close(fd);
        return NULL;
    }
    s->owned = true;
#ifdef POSIX_FADV_SEQUENTIAL
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
    return s;
}

void source_close(struct source *s)
{
    if (s == NULL) {
        return;
    }
    if (s->form == FORM_GZIP) {
        libz.inflateEnd(&s->gzip);
    } else if (s->form == FORM_ZSTD) {
        libzstd.ZSTD_freeDStream(s->zstd);
    } else if (s->form == FORM_XZ) {
        liblzma.lzma_end(&s->xz);
    }
    if (s->owned) {
        close(s->fd);
    }
    free(s);
}

int source_error(const struct source *s)
{
    return s->error;
}

const char *source_why(const struct source *s)
{
    return s->why;
}

void source_set_wait(struct source *s, source_wait *wait, void *context)
{
    s->wait = wait;
    s->wait_context = context;
}

bool source_stopped(const struct source *s)
{
    return s->stopped;
}

bool source_packed(const struct source *s)
{
    return s->form == FORM_GZIP || s->form == FORM_ZSTD || s->form == FORM_XZ;
}

bool source_live(const struct source *s)
{
    return s->live;
}

off_t source_at(const struct source *s)
{
    return s->live ? -1 : lseek(s->fd, 0, SEEK_CUR) - (off_t)(s->used - s->at);
}

bool source_ends(const struct source *s)
{
    struct stat about;
    return s->form == FORM_PLAIN && fstat(s->fd, &about) == 0 && source_at(s) >= about.st_size;
}

/*
 * store.c: filters in files. The bytes are format.c's; here they meet the operating system.
 *
 * Saving. The new file is written beside the old one under another name, synced, and renamed over
 * it: a reader, or a machine that stops in between, sees the old file or the new one, whole. Cells
 * are summed and written a few at a time, straight from the filter's own memory: nothing is
 * allocated, so a filter can be saved when memory is out. The disk begins with each mebibyte while
 * the next one is summed, so that little is left to sync.
 *
 * Loading. One stream for files and pipes, read to where decoder.c wants it, up to its end. A
 * header's word is taken for the size of the memory only when the file is known to be as long as
 * that; from a pipe, room is doubled as it fills: at most three times what has arrived, while the
 * old room is copied to the new.
 *
 * Mapping. The payload's pages are the words; only the header is copied.
 *
 * Everything that needs a POSIX system is in this file: the rest of the library works without it.
 */
#define _GNU_SOURCE       /* sync_file_range, where there is one */
#define _FILE_OFFSET_BITS 64
#include "file/receive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/decoder.h"

/* Some systems refuse a read or write of 2 GiB and more. */
#define CHUNK ((size_t)1 << 26)

static enum tepal_status system_fault(struct tepal_error *error, int number, uint64_t offset,
                                      const char *why)
{
    return tepal_format_fault(error, TEPAL_IO, number, offset, why);
}

/* ---- reading and writing all of it ----------------------------------------------------------- */

/* After EINTR at once, after EAGAIN when the descriptor is ready again. */
static bool try_again(int fd, short events)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        struct pollfd wait = {.fd = fd, .events = events};
        return poll(&wait, 1, -1) >= 0 || errno == EINTR;
    }
    return errno == EINTR;
}

/* Up to `len` bytes, at least one unless the input ends; -1 and errno if it fails. */
static ssize_t read_some(int fd, uint8_t *bytes, size_t len)
{
    ssize_t got;
    do {
        got = read(fd, bytes, len < CHUNK ? len : CHUNK);
    } while (got < 0 && try_again(fd, POLLIN));
    return got;
}

static enum tepal_status write_all(int fd, const uint8_t *bytes, size_t len, uint64_t at,
                                   struct tepal_error *error)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = write(fd, bytes + done, len - done < CHUNK ? len - done : CHUNK);
        if (n == 0) {
            errno = EIO; /* nothing written and no reason given: do not try for ever */
        }
        if (n == 0 || (n < 0 && !try_again(fd, POLLOUT))) {
            return system_fault(error, errno, at + done, "cannot write the output");
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return TEPAL_OK;
}

static bool sync_all(int fd)
{
    int result;
    do {
        result = fsync(fd);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

/* A wish: what was written from `from` to `to` will be synced soon. */
static void begin_sync(int fd, uint64_t from, uint64_t to)
{
#if defined(SYNC_FILE_RANGE_WRITE)
    (void)sync_file_range(fd, (off_t)from, (off_t)(to - from), SYNC_FILE_RANGE_WRITE);
#else
    (void)fd;
    (void)from;
    (void)to;
#endif
}

/* ---- out ------------------------------------------------------------------------------------- */

/* Blocks written by one call, if they lie together: the cache has them from summing. */
#define WRITTEN_AT_ONCE 16

/* The payload; the sums of its first blocks go to `sums`, which has room for so many. */
static enum tepal_status write_payload(const struct tepal_filter *filter, int fd, bool synced,
                                       uint8_t *sums, uint64_t room, struct tepal_error *error)
{
    union format_scratch scratch;
    uint64_t payload = (uint64_t)filter->word_count * 8;
    uint64_t blocks = tepal_format_blocks(payload);
    uint64_t begun = 0; /* blocks that the disk has begun with */
    enum tepal_status status = TEPAL_OK;
    uint64_t count;
    for (uint64_t i = 0; status == TEPAL_OK && i < blocks; i += count) {
        count = WRITTEN_AT_ONCE;
        const uint8_t *bytes = tepal_format_run(filter, i, &count, &scratch);
        size_t len = 0;
        for (uint64_t j = i; j < i + count; j++) {
            size_t block = tepal_format_block_bytes(payload, j);
            if (j < room) {
                little_put64(sums + 8 * j, tepal_format_sum(bytes + len, block, j));
            }
            len += block;
        }
        status = write_all(fd, bytes, len, FORMAT_HEADER + i * FORMAT_BLOCK, error);
        if (synced && i + count - begun >= WRITTEN_AT_ONCE) {
            begin_sync(fd, begun * FORMAT_BLOCK, (i + count) * FORMAT_BLOCK);
            begun = i + count;
        }
    }
    return status;
}

/* `synced`: it will be, as soon as all is written. */
static enum tepal_status write_filter(const struct tepal_filter *filter, int fd, bool synced,
                                      struct tepal_error *error)
{
    uint8_t header[FORMAT_HEADER];
    uint8_t sums[8 * FORMAT_SUMS_KEPT];
    uint64_t payload = (uint64_t)filter->word_count * 8;
    uint64_t blocks = tepal_format_blocks(payload);
    uint64_t at = FORMAT_HEADER + payload;
    if (tepal_format_lacks_key(filter)) {
        return tepal_format_fault(error, TEPAL_KEY_NEEDED, 0, 0, FORMAT_LACKS_KEY);
    }
    tepal_format_write_header(filter, header);
    enum tepal_status status = write_all(fd, header, sizeof header, 0, error);
    if (status == TEPAL_OK) {
        status = write_payload(filter, fd, synced, sums, FORMAT_SUMS_KEPT, error);
    }
    for (uint64_t i = 0; status == TEPAL_OK && i < blocks; i += FORMAT_SUMS_KEPT) {
        size_t count = blocks - i < FORMAT_SUMS_KEPT ? (size_t)(blocks - i) : FORMAT_SUMS_KEPT;
        if (i > 0) {
            tepal_format_sums(filter, i, count, sums); /* those that did not fit */
        }
        status = write_all(fd, sums, 8 * count, at, error);
        at += 8 * count;
    }
    return status;
}

enum tepal_status tepal_save_fd(const struct tepal_filter *filter, int fd,
                                struct tepal_error *error)
{
    return write_filter(filter, fd, false, error);
}

/* Where a file is to be put. */
struct place {
    char path[PATH_MAX]; /* the directory, once `name` has been cut off */
    const char *name;
    int directory;
    bool exists;
    struct stat old; /* if it exists */
};

/* What does the path name, after symbolic links? */
static enum tepal_status look_up(const char *path, struct place *to, struct tepal_error *error)
{
    to->exists = stat(path, &to->old) == 0;
    if (to->exists) {
        if (!S_ISREG(to->old.st_mode)) {
            return tepal_format_fault(error, TEPAL_NOT_REGULAR, 0, 0,
                                      "the path is not a regular file");
        }
        if (realpath(path, to->path) == NULL) {
            return system_fault(error, errno, 0, "cannot resolve the path");
        }
        return TEPAL_OK;
    }
    if (errno != ENOENT) {
        return system_fault(error, errno, 0, "cannot look up the path");
    }
    struct stat link;
    if (lstat(path, &link) == 0) {
        return system_fault(error, ENOENT, 0, "the target of the symbolic link does not exist");
    }
    if (errno != ENOENT) {
        return system_fault(error, errno, 0, "cannot look up the path");
    }
    size_t len = strlen(path);
    if (len >= sizeof to->path) {
        return system_fault(error, ENAMETOOLONG, 0, "the path is too long");
    }
    memcpy(to->path, path, len + 1);
    return TEPAL_OK;
}

/* Cut the path into directory and name, and open the directory. */
static enum tepal_status open_directory(struct place *to, struct tepal_error *error)
{
    char *slash = strrchr(to->path, '/');
    const char *directory = ".";
    to->name = to->path;
    if (slash != NULL) {
        directory = slash == to->path ? "/" : to->path;
        to->name = slash + 1;
        *slash = '\0';
    }
    if (*to->name == '\0') {
        return system_fault(error, ENOENT, 0, "the path does not name a file");
    }
    to->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (to->directory < 0) {
        return system_fault(error, errno, 0, "cannot open the directory of the file");
    }
    return TEPAL_OK;
}

#define TEMPORARY_NAME 32

/*
 * A new file beside the old one. The name cannot be guessed, so that nobody in a shared directory
 * can keep us from finding a free one. A file that replaces another is ours alone until it gets
 * the other's permissions; a new one gets what the process's umask leaves, from the kernel, since
 * the umask cannot be asked for without changing it.
 */
static int create_temporary(const struct place *to, char name[TEMPORARY_NAME])
{
    int fd;
    int attempts = 100;
    do {
        uint64_t draw;
        if (getentropy(&draw, sizeof draw) != 0) {
            return -1;
        }
        (void)snprintf(name, TEMPORARY_NAME, ".tepal-%016llx.tmp", (unsigned long long)draw);
        fd = openat(to->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                    to->exists ? 0600 : 0666);
    } while (fd < 0 && (errno == EEXIST || errno == EINTR) && --attempts > 0);
    return fd;
}

/*
 * Owner, group and permissions of the old file. The owner is kept if we may. If the group cannot
 * be kept, ours must not get what was meant for it.
 */
static bool keep_permissions(int fd, const struct stat *old)
{
    struct stat now;
    if (fstat(fd, &now) != 0) {
        return false;
    }
    mode_t mode = old->st_mode & 0777;
    if (now.st_uid != old->st_uid || now.st_gid != old->st_gid) {
        if (fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, (uid_t)-1, old->st_gid) != 0) {
            mode &= ~(mode_t)0070 | ((mode & 0007) << 3);
        }
    }
    return (now.st_mode & 0777) == mode || fchmod(fd, mode) == 0;
}

/* Write, sync and close; closes in any case. */
static enum tepal_status fill(const struct tepal_filter *filter, int fd, const struct place *to,
                              struct tepal_error *error)
{
    enum tepal_status status = TEPAL_OK;
    if (to->exists && !keep_permissions(fd, &to->old)) {
        status =
            system_fault(error, errno, 0, "cannot give the temporary file the old permissions");
    }
    if (status == TEPAL_OK) {
        status = write_filter(filter, fd, true, error);
    }
    if (status == TEPAL_OK && !sync_all(fd)) {
        status = system_fault(error, errno, 0, "cannot sync the temporary file");
    }
    if (close(fd) != 0 && status == TEPAL_OK && errno != EINTR) {
        status = system_fault(error, errno, 0, "cannot close the temporary file");
    }
    return status;
}

static enum tepal_status replace(const struct tepal_filter *filter, const struct place *to,
                                 struct tepal_error *error)
{
    char name[TEMPORARY_NAME];
    int fd = create_temporary(to, name);
    if (fd < 0) {
        return system_fault(error, errno, 0, "cannot create the temporary file");
    }
    enum tepal_status status = fill(filter, fd, to, error);
    if (status == TEPAL_OK && renameat(to->directory, name, to->directory, to->name) != 0) {
        status = system_fault(error, errno, 0, "cannot rename the temporary file");
    }
    if (status != TEPAL_OK) {
        (void)unlinkat(to->directory, name, 0);
        return status;
    }
    /* EINVAL: a file system that has no such thing. */
    if (!sync_all(to->directory) && errno != EINVAL) {
        return system_fault(error, errno, 0,
                            "the new file is in place, but its directory cannot be synced");
    }
    return TEPAL_OK;
}

enum tepal_status tepal_save(const struct tepal_filter *filter, const char *path,
                             struct tepal_error *error)
{
    struct place to;
    enum tepal_status status = look_up(path, &to, error);
    if (status == TEPAL_OK) {
        status = open_directory(&to, error);
    }
    if (status != TEPAL_OK) {
        return status;
    }
    status = replace(filter, &to, error);
    (void)close(to.directory);
    return status;
}

/* ---- in -------------------------------------------------------------------------------------- */

/* When nothing but the stream tells how much there is. */
#define LENGTH_UNKNOWN 0

static enum tepal_status load_stream(int fd, uint64_t length, const struct format_gate *gate,
                                     const struct tepal_allocator *allocator,
                                     struct tepal_filter **out, struct tepal_error *error)
{
    struct decoding d;
    uint64_t sums[FORMAT_SUMS_KEPT];
    tepal_decoding_begin(&d, allocator, gate);
    d.sums = sums;
    d.sums_room = FORMAT_SUMS_KEPT;
    d.length = length;
    d.cautious = length == LENGTH_UNKNOWN;
    for (;;) {
        size_t room;
        uint8_t *to = tepal_decoding_room(&d, &room);
        ssize_t got = read_some(fd, to, room);
        if (got == 0) {
            return tepal_decoding_end(&d, out, error);
        }
        enum tepal_status status =
            got < 0 ? system_fault(error, errno, d.taken, "cannot read the input")
                    : tepal_decoding_take(&d, (size_t)got, error);
        if (status != TEPAL_OK) {
            tepal_decoding_drop(&d);
            return status;
        }
    }
}

static enum tepal_status load_gated(int fd, const struct format_gate *gate,
                                    const struct tepal_allocator *allocator,
                                    struct tepal_filter **out, struct tepal_error *error)
{
    /*
     * A regular file that has more than nothing left says how much; some that are made as they
     * are read (/proc) say 0.
     */
    uint64_t length = LENGTH_UNKNOWN;
    struct stat about;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) {
        off_t position = lseek(fd, 0, SEEK_CUR);
        if (position >= 0 && about.st_size > position) {
            length = (uint64_t)(about.st_size - position);
        }
    }
    return load_stream(fd, length, gate, allocator, out, error);
}

enum tepal_status tepal_load_fd(int fd, const struct tepal_allocator *allocator,
                                struct tepal_filter **out, struct tepal_error *error)
{
    return load_gated(fd, NULL, allocator, out, error);
}

enum tepal_status tepal_receive_fd(int fd, const struct tepal_terms *terms,
                                   const struct tepal_allocator *allocator,
                                   struct tepal_filter **out, struct tepal_judgement *judgement,
                                   struct tepal_error *error)
{
    struct reception at;
    enum tepal_status status = tepal_receive_begin(&at, terms, judgement, error);
    if (status != TEPAL_OK) {
        return status;
    }
    status = load_gated(fd, &at.gate, allocator, &at.read, &at.error);
    return tepal_receive_end(&at, status, out, error);
}

/* Without O_NONBLOCK, opening a FIFO would wait for somebody to write to it. */
static enum tepal_status open_regular(const char *path, int *out, uint64_t *length,
                                      struct tepal_error *error)
{
    int fd;
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0 && errno != ENXIO) {
        return system_fault(error, errno, 0, "cannot open the file");
    }
    struct stat about;
    if (fd >= 0 && fstat(fd, &about) != 0) {
        int number = errno;
        (void)close(fd);
        return system_fault(error, number, 0, "cannot examine the file");
    }
    /* ENXIO: a socket, or a device that is not there. */
    if (fd < 0 || !S_ISREG(about.st_mode)) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return tepal_format_fault(error, TEPAL_NOT_REGULAR, 0, 0, "the path is not a regular file");
    }
    *out = fd;
    *length = (uint64_t)about.st_size;
    return TEPAL_OK;
}

enum tepal_status tepal_load(const char *path, const struct tepal_allocator *allocator,
                             struct tepal_filter **out, struct tepal_error *error)
{
    int fd = -1;
    uint64_t length = 0;
    enum tepal_status status = open_regular(path, &fd, &length, error);
    if (status != TEPAL_OK) {
        return status;
    }
    status = load_stream(fd, length, NULL, allocator, out, error);
    (void)close(fd);
    return status;
}

/* ---- mapped ---------------------------------------------------------------------------------- */

#if LITTLE_ENDIAN_HOST

static enum tepal_status read_header(int fd, struct format_header *h, struct tepal_error *error)
{
    uint8_t bytes[FORMAT_HEADER];
    size_t got = 0;
    while (got < sizeof bytes) {
        ssize_t n = read_some(fd, bytes + got, sizeof bytes - got);
        if (n < 0) {
            return system_fault(error, errno, got, "cannot read the input");
        }
        if (n == 0) {
            break;
        }
        got += (size_t)n;
    }
    return tepal_format_read_header(bytes, got, h, error);
}

static void unmap(void *mapping, size_t bytes)
{
    (void)munmap(mapping, bytes);
}

/* Advice may be refused; everything works without it. */
static void advise(uint8_t *mapping, const struct format_header *h, int advice)
{
    (void)madvise(mapping, (size_t)h->file, advice);
}

static enum tepal_status map_file(int fd, const struct format_header *h, enum tepal_map_check check,
                                  const struct tepal_allocator *allocator,
                                  struct tepal_filter **out, struct tepal_error *error)
{
    size_t bytes = (size_t)h->file;
    uint8_t *mapping = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (mapping == MAP_FAILED) {
        return system_fault(error, errno, 0, "cannot map the file");
    }
    uint8_t *payload = mapping + FORMAT_HEADER;
    if (check != TEPAL_MAP_LAZY) {
        advise(mapping, h, MADV_SEQUENTIAL);
        enum tepal_status status =
            tepal_format_verify(h, payload, 0, (size_t)h->blocks, payload + h->payload,
                                (struct format_known){NULL, 0}, error);
        if (status != TEPAL_OK) {
            unmap(mapping, bytes);
            return status;
        }
    }
    /* A query reads here and there: reading ahead would fetch what nobody asked for. */
    advise(mapping, h, MADV_RANDOM);
    const struct filter_mapping whole = {unmap, mapping, bytes};
    return tepal_format_finish(h, allocator, (uint64_t *)(void *)payload, &whole, check, out,
                               error);
}

enum tepal_status tepal_map(const char *path, enum tepal_map_check check,
                            const struct tepal_allocator *allocator, struct tepal_filter **out,
                            struct tepal_error *error)
{
    int fd;
    uint64_t length;
    struct format_header h;
    if (check != TEPAL_MAP_VERIFY && check != TEPAL_MAP_LAZY) {
        return tepal_format_fault(error, TEPAL_BAD_ARGUMENT, 0, 0, "no such way to check a map");
    }
    enum tepal_status status = open_regular(path, &fd, &length, error);
    if (status != TEPAL_OK) {
        return status;
    }
    status = read_header(fd, &h, error);
    if (status == TEPAL_OK) {
        status = tepal_format_check_length(&h, length, error);
    }
    if (status == TEPAL_OK) {
        status = tepal_format_check_room(&h, error);
    }
    if (status == TEPAL_OK) {
        status = map_file(fd, &h, check, allocator, out, error);
    }
    (void)close(fd);
    return status;
}

#else

enum tepal_status tepal_map(const char *path, enum tepal_map_check check,
                            const struct tepal_allocator *allocator, struct tepal_filter **out,
                            struct tepal_error *error)
{
    (void)path;
    (void)check;
    (void)allocator;
    (void)out;
    return tepal_format_fault(error, TEPAL_UNSUPPORTED, 0, 0,
                              "only a little-endian machine can map a filter; load it instead");
}

#endif

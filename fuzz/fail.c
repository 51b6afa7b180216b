/*
 * fail.c: see fail.h. The linker gives a call of `read` to __wrap_read, and ours of __real_read to
 * the system.
 */
#define _DEFAULT_SOURCE
#include "fail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    bool armed;
    bool failed;
    uint64_t left;
    int error;
} plan;

void fail_begin(uint64_t at, int error)
{
    plan.failed = false;
    plan.left = at;
    plan.error = error;
    plan.armed = true;
}

bool fail_end(void)
{
    plan.armed = false;
    return plan.failed;
}

void fail_each(void (*run)(void *context), void *context)
{
    uint64_t at = 0;
    do {
        fail_begin(at++, EIO);
        run(context);
    } while (fail_end());
}

/* Is it this call's turn? */
static bool fails(void)
{
    if (!plan.armed || plan.left-- > 0) {
        return false;
    }
    plan.armed = false;
    plan.failed = true;
    errno = plan.error == FAIL_SHORT ? EIO : plan.error;
    return true;
}

static bool fails_memory(void)
{
    bool now = fails();
    errno = now ? ENOMEM : errno;
    return now;
}

#define FAILING(type, name, parameters, arguments, value)                                          \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fails() ? (type)(value) : __real_##name arguments;                                  \
    }

#define FAILING_MEMORY(name, parameters, arguments)                                                \
    void *__real_##name parameters;                                                                \
    void *__wrap_##name parameters;                                                                \
    void *__wrap_##name parameters                                                                 \
    {                                                                                              \
        return fails_memory() ? NULL : __real_##name arguments;                                    \
    }

#define FAILING_TRANSFER(name, parameters, len)                                                    \
    ssize_t __real_##name parameters;                                                              \
    ssize_t __wrap_##name parameters;                                                              \
    ssize_t __wrap_##name parameters                                                               \
    {                                                                                              \
        if (fails()) {                                                                             \
            return plan.error == FAIL_SHORT ? __real_##name(fd, bytes, (len + 1) / 2) : -1;        \
        }                                                                                          \
        return __real_##name(fd, bytes, len);                                                      \
    }

#define FAILING_STAT(name)                                                                         \
    FAILING(int, name, (const char *path, struct stat *about), (path, about), -1)

/* The mode is there only if a file may be made; passing on one that is not does no harm. */
#define FAILING_OPEN(name, first, names)                                                           \
    int __real_##name(first, int flags, ...);                                                      \
    int __wrap_##name(first, int flags, ...);                                                      \
    int __wrap_##name(first, int flags, ...)                                                       \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;                           \
        va_end(list);                                                                              \
        return fails() ? -1 : __real_##name(names, flags, mode);                                   \
    }
#define AT_PATH const char *path
#define IN_PATH int at, const char *path
#define IN_NAME at, path

FAILING_MEMORY(malloc, (size_t bytes), (bytes))
FAILING_MEMORY(calloc, (size_t count, size_t bytes), (count, bytes))
FAILING_MEMORY(realloc, (void *memory, size_t bytes), (memory, bytes))
FAILING_MEMORY(aligned_alloc, (size_t align, size_t bytes), (align, bytes))
FAILING_TRANSFER(read, (int fd, void *bytes, size_t len), len)
FAILING_TRANSFER(write, (int fd, const void *bytes, size_t len), len)
FAILING_OPEN(open, AT_PATH, path)
FAILING_OPEN(open64, AT_PATH, path)
FAILING_OPEN(openat, IN_PATH, IN_NAME)
FAILING_OPEN(openat64, IN_PATH, IN_NAME)
FAILING_STAT(stat)
FAILING_STAT(stat64)
FAILING_STAT(lstat)
FAILING_STAT(lstat64)
FAILING(int, fstat, (int fd, struct stat *about), (fd, about), -1)
FAILING(int, fstat64, (int fd, struct stat *about), (fd, about), -1)
FAILING(int, fsync, (int fd), (fd), -1)
FAILING(int, poll, (struct pollfd * list, nfds_t count, int limit), (list, count, limit), -1)
FAILING(int, getentropy, (void *bytes, size_t len), (bytes, len), -1)
FAILING(int, fchown, (int fd, uid_t owner, gid_t group), (fd, owner, group), -1)
FAILING(int, fchmod, (int fd, mode_t mode), (fd, mode), -1)
FAILING(char *, realpath, (const char *path, char *room), (path, room), NULL)
FAILING(int, renameat, (int from, const char *old, int to, const char *name), (from, old, to, name),
        -1)
FAILING(void *, mmap, (void *at, size_t len, int protection, int flags, int fd, off_t offset),
        (at, len, protection, flags, fd, offset), MAP_FAILED)
FAILING(void *, mmap64, (void *at, size_t len, int protection, int flags, int fd, off_t offset),
        (at, len, protection, flags, fd, offset), MAP_FAILED)

/*
 * shim.c: a library for LD_PRELOAD that makes one system call fail, for faults.py.
 *
 *   TEPAL_FAULT=CALL:N:WHAT   the N-th (from 1) call of that name fails. WHAT is the number of an
 *                             error; "short": half of the bytes are moved; "kill": SIGKILL instead;
 *                             "term": SIGTERM comes just before; "zero": getentropy gives zeros
 *   TEPAL_FAULT_LOG=FILE      every call is written there, a line each: NAME RESULT FD PATH PATH;
 *                             of open, the second one is the mode of a new file
 *
 * Calls to standard error are neither counted nor failed: they are how the command tells.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOTHING = 0, SHORT = -1, KILL = -2, TERM = -3, ZERO = -4 };

static char fault_call[32];
static long fault_at;
static int fault_what;
static long calls;
static int record = -1;

__attribute__((constructor)) static void start(void)
{
    const char *fault = getenv("TEPAL_FAULT");
    const char *path = getenv("TEPAL_FAULT_LOG");
    char what[16] = "";
    if (fault != NULL && sscanf(fault, "%31[^:]:%ld:%15s", fault_call, &fault_at, what) == 3) {
        fault_what = strcmp(what, "short") == 0  ? SHORT
                     : strcmp(what, "kill") == 0 ? KILL
                     : strcmp(what, "term") == 0 ? TERM
                     : strcmp(what, "zero") == 0 ? ZERO
                                                 : atoi(what);
    }
    if (path != NULL) {
        record = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                              0600);
    }
}

/* What is to happen to this call. */
static int due(const char *name)
{
    if (strcmp(name, fault_call) != 0 || ++calls != fault_at) {
        return NOTHING;
    }
    if (fault_what == KILL) {
        (void)syscall(SYS_kill, (int)syscall(SYS_getpid), SIGKILL);
    }
    if (fault_what == TERM) {
        (void)syscall(SYS_kill, (int)syscall(SYS_getpid), SIGTERM);
    }
    if (fault_what > 0) {
        errno = fault_what;
    }
    return fault_what;
}

static void note(const char *name, long result, int fd, const char *from, const char *to)
{
    char line[8192];
    int kept = errno;
    if (record >= 0) {
        int len = snprintf(line, sizeof line, "%s %ld %d %s %s\n", name, result, fd,
                           from == NULL ? "-" : from, to == NULL ? "-" : to);
        (void)!syscall(SYS_write, record, line, (size_t)len);
    }
    errno = kept;
}

static void *real(const char *name)
{
    void *call = dlsym(RTLD_NEXT, name);
    if (call == NULL) {
        abort();
    }
    return call;
}

/* A call that either fails or is made: its type, name, parameters, arguments, and what to note. */
#define PASS(type, wrong, name, kind, parameters, arguments, fd, from, to)                         \
    type name parameters                                                                           \
    {                                                                                              \
        type(*call) parameters = (type(*) parameters)real(#name);                                  \
        type result = due(kind) > 0 ? (wrong) : call arguments;                                    \
        note(kind, (long)result, fd, from, to);                                                    \
        return result;                                                                             \
    }

static void note_open(int flags, mode_t mode, int fd, const char *path)
{
    char text[16];
    snprintf(text, sizeof text, "%o", (unsigned)mode);
    note((flags & O_ACCMODE) == O_RDONLY ? "open" : "create", fd, fd, path, text);
}

static mode_t mode_of(int flags, va_list list)
{
    return (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = mode_of(flags, list);                                                        \
        va_end(list);                                                                              \
        int (*call)(const char *, int, ...) = (int (*)(const char *, int, ...))real(#name);        \
        int result = due("open") > 0 ? -1 : call(path, flags, mode);                               \
        note_open(flags, mode, result, path);                                                      \
        return result;                                                                             \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
    int name(int folder, const char *path, int flags, ...)                                         \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = mode_of(flags, list);                                                        \
        va_end(list);                                                                              \
        int (*call)(int, const char *, int, ...) =                                                 \
            (int (*)(int, const char *, int, ...))real(#name);                                     \
        int result = due("open") > 0 ? -1 : call(folder, path, flags, mode);                       \
        note_open(flags, mode, result, path);                                                      \
        return result;                                                                             \
    }
OPENAT(openat)
OPENAT(openat64)

ssize_t read(int fd, void *bytes, size_t len)
{
    ssize_t (*call)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))real("read");
    int what = due("read");
    ssize_t result = what > 0 ? -1 : call(fd, bytes, what == SHORT ? (len + 1) / 2 : len);
    note("read", (long)result, fd, NULL, NULL);
    return result;
}

ssize_t pread(int fd, void *bytes, size_t len, off_t from)
{
    ssize_t (*call)(int, void *, size_t, off_t) =
        (ssize_t(*)(int, void *, size_t, off_t))real("pread");
    int what = due("pread");
    ssize_t result = what > 0 ? -1 : call(fd, bytes, what == SHORT ? (len + 1) / 2 : len, from);
    note("pread", (long)result, fd, NULL, NULL);
    return result;
}

ssize_t write(int fd, const void *bytes, size_t len)
{
    ssize_t (*call)(int, const void *, size_t) =
        (ssize_t(*)(int, const void *, size_t))real("write");
    int what = fd == STDERR_FILENO ? NOTHING : due("write");
    ssize_t result = what > 0 ? -1 : call(fd, bytes, what == SHORT ? (len + 1) / 2 : len);
    note("write", (long)result, fd, NULL, NULL);
    return result;
}

/* A descriptor is closed, whatever close says of it. */
int close(int fd)
{
    int (*call)(int) = (int (*)(int))real("close");
    int what = due("close");
    int kept = errno;
    int result = call(fd);
    if (what > 0) {
        errno = kept;
        result = -1;
    }
    note("close", result, fd, NULL, NULL);
    return result;
}

PASS(int, -1, fsync, "fsync", (int fd), (fd), fd, NULL, NULL)
PASS(int, -1, flock, "flock", (int fd, int how), (fd, how), fd, NULL, NULL)
PASS(int, -1, fchmod, "fchmod", (int fd, mode_t mode), (fd, mode), fd, NULL, NULL)
PASS(int, -1, fchown, "fchown", (int fd, uid_t uid, gid_t gid), (fd, uid, gid), fd, NULL, NULL)
PASS(int, -1, rename, "rename", (const char *from, const char *to), (from, to), -1, from, to)
PASS(int, -1, renameat, "rename", (int a, const char *from, int b, const char *to),
     (a, from, b, to), -1, from, to)
PASS(int, -1, unlink, "unlink", (const char *path), (path), -1, path, NULL)
PASS(int, -1, unlinkat, "unlink", (int folder, const char *path, int flags), (folder, path, flags),
     -1, path, NULL)
PASS(int, -1, access, "access", (const char *path, int mode), (path, mode), -1, path, NULL)
PASS(int, -1, stat, "stat", (const char *path, struct stat *about), (path, about), -1, path, NULL)
PASS(int, -1, stat64, "stat", (const char *path, struct stat64 *about), (path, about), -1, path,
     NULL)
PASS(int, -1, lstat, "lstat", (const char *path, struct stat *about), (path, about), -1, path, NULL)
PASS(int, -1, lstat64, "lstat", (const char *path, struct stat64 *about), (path, about), -1, path,
     NULL)
PASS(int, -1, fstat, "fstat", (int fd, struct stat *about), (fd, about), fd, NULL, NULL)
PASS(int, -1, fstat64, "fstat", (int fd, struct stat64 *about), (fd, about), fd, NULL, NULL)
PASS(char *, NULL, realpath, "realpath", (const char *path, char *room), (path, room), -1, path,
     NULL)
PASS(void *, MAP_FAILED, mmap64, "mmap",
     (void *at, size_t len, int protection, int flags, int fd, off64_t from),
     (at, len, protection, flags, fd, from), fd, NULL, NULL)

int getentropy(void *room, size_t len)
{
    int (*call)(void *, size_t) = (int (*)(void *, size_t))real("getentropy");
    int what = due("getentropy");
    int result = what > 0 ? -1 : call(room, len);
    if (what == ZERO) {
        memset(room, 0, len);
    }
    note("getentropy", result, -1, NULL, NULL);
    return result;
}

/*
 * limits.c: memory. A server grants an allocation of any size and is killed when the pages are
 * touched, and its own check looks at what is used before a command, not at what the command will
 * take. So everything that a filter takes, when it is created, loaded, merged or grows, is asked
 * for here: against max-filter-bytes, against maxmemory, and against what this machine has left.
 *
 * Cells are aligned to 64 bytes. The server's allocator has size classes, and a request of 2^n
 * bytes and a little more is charged as the next class, a quarter more. But jemalloc aligns large
 * requests to lines by itself: then they are of the exact size. Small ones, and all where the
 * allocator does not do that, ask for a little more; the pointer is moved, and the way back is
 * stored before it.
 *
 *     exact     |cells ...
 *     moved     |.... taken at|cells ...        taken at ((void **)p)[-1]
 */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server.h"

#define LINE    64
#define LARGE   ((size_t)16 << 10) /* whole pages in jemalloc */
#define CHECKED ((uint64_t)64 << 10)
#define SPARE   ((uint64_t)32 << 20) /* that is left to the machine */

struct counts counts;

static struct redis_ctx *current;
static char why[160];

void limits_begin(struct redis_ctx *ctx)
{
    current = ctx;
    why[0] = 0;
}

const char *limits_why(void)
{
    return why[0] != 0 ? why : "out of memory";
}

/* Must this command be obeyed whatever the operator has set? */
static bool obey(void)
{
    int in = redis.GetContextFlags(current);
    return (in & (REDIS_IN_REPLICATED | REDIS_IN_LOADING | REDIS_IN_ASYNC_LOADING)) != 0 ||
           (in & REDIS_IN_MASTER) == 0;
}

uint64_t limits_encoded(void)
{
    /* An encoded filter is larger than its cells by a header and its sums. */
    uint64_t most = settings.max_filter_bytes;
    return most == 0 || most > UINT64_MAX / 2 || obey() ? 0 : most + most / 4096 + 4096;
}

/* The number after `name` in a small file of the system, times `unit`; UINT64_MAX: none. */
static uint64_t system_number(const char *path, const char *name, uint64_t unit)
{
    char text[2048];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) {
        (void)close(fd);
    }
    text[len > 0 ? len : 0] = 0;
    const char *at = strstr(text, name);
    if (at == NULL) {
        return UINT64_MAX;
    }
    char *end;
    at += strlen(name);
    unsigned long long number = strtoull(at, &end, 10);
    return end == at || number > UINT64_MAX / unit ? UINT64_MAX : number * unit;
}

/* What this machine, or the container, has left. */
static uint64_t available(void)
{
    uint64_t left = system_number("/proc/meminfo", "MemAvailable:", 1024);
    uint64_t most = system_number("/sys/fs/cgroup/memory.max", "", 1);
    uint64_t used = system_number("/sys/fs/cgroup/memory.current", "", 1);
    uint64_t file = system_number("/sys/fs/cgroup/memory.stat", "inactive_file ", 1);
    if (most != UINT64_MAX && used != UINT64_MAX) {
        if (file != UINT64_MAX && file <= used) {
            used -= file; /* given up when memory is wanted */
        }
        uint64_t here = used < most ? most - used : 0;
        left = here < left ? here : left;
    }
    return left;
}

static bool refuse(const char *what, uint64_t bytes, uint64_t most)
{
    (void)snprintf(why, sizeof why, "%llu bytes are needed; %s %llu", (unsigned long long)bytes,
                   what, (unsigned long long)most);
    counts.refused_memory++;
    if (obey()) {
        redis.Log(current, "warning", "tepal: refused to take memory: %s", why);
    }
    return false;
}

/* `bytes` more, for a filter that has `already` taken so many. */
static bool allow(uint64_t already, uint64_t bytes)
{
    uint64_t most = settings.max_filter_bytes;
    uint64_t total = bytes > UINT64_MAX - already ? UINT64_MAX : already + bytes;
    if (most != 0 && total > most && !obey()) {
        return refuse("max-filter-bytes is", total, most);
    }
    if (bytes < CHECKED) {
        return true;
    }
    if (!obey()) {
        int bad = 0;
        struct redis_server_info *info = redis.GetServerInfo(NULL, "memory");
        uint64_t used = redis.ServerInfoGetFieldUnsigned(info, "used_memory", &bad);
        uint64_t all = bad ? 0 : redis.ServerInfoGetFieldUnsigned(info, "maxmemory", &bad);
        redis.FreeServerInfo(NULL, info);
        uint64_t left = used < all ? all - used : 0;
        if (!bad && all != 0 && bytes > left) {
            return refuse("maxmemory leaves", bytes, left);
        }
    }
    uint64_t left = available();
    left = left > SPARE ? left - SPARE : 0;
    return bytes <= left || refuse("this machine has", bytes, left);
}

bool limits_allow(uint64_t bytes)
{
    return allow(0, bytes);
}

/* ---- the allocator --------------------------------------------------------------------------- */

static size_t really_taken(void *ptr, size_t asked)
{
    if (redis.MallocSize != NULL) {
        return redis.MallocSize(ptr);
    }
    return redis.MallocUsableSize != NULL ? redis.MallocUsableSize(ptr) : asked;
}

static void tally(size_t *taken, void *ptr, size_t asked)
{
    size_t bytes = really_taken(ptr, asked);
    *taken += bytes;
    atomic_fetch_add(&counts.bytes, bytes);
}

/* Does the allocator align all large requests to lines? */
static bool aligns;

#define PROBES 14

void limits_probe(void)
{
    void *probe[PROBES];
    aligns = true;
    for (size_t i = 0; i < PROBES; i++) { /* up to 1 MiB: also what libc maps */
        probe[i] = redis.TryAlloc(LARGE << i / 2);
        aligns = aligns && probe[i] != NULL && (uintptr_t)probe[i] % LINE == 0;
    }
    for (size_t i = 0; i < PROBES; i++) {
        redis.Free(probe[i]);
    }
}

static bool is_exact(size_t size)
{
    return aligns && size >= LARGE;
}

static void *take(void *ctx, size_t size, size_t align)
{
    (void)align; /* at most LINE */
    size_t *taken = ctx;
    if (size > SIZE_MAX / 2 || !allow(*taken, size)) {
        return NULL;
    }
    if (is_exact(size)) {
        void *exact = redis.TryAlloc(size);
        if (exact != NULL && (uintptr_t)exact % LINE != 0) {
            redis.Free(exact); /* never, in jemalloc */
            exact = NULL;
        }
        if (exact != NULL) {
            tally(taken, exact, size);
        }
        return exact;
    }
    size_t more = size + sizeof(void *) + LINE;
    char *from = redis.TryAlloc(more);
    if (from == NULL) {
        return NULL;
    }
    size_t skip = LINE - ((uintptr_t)from + sizeof(void *)) % LINE + sizeof(void *);
    char *ptr = from + skip;
    memcpy(ptr - sizeof from, &from, sizeof from);
    tally(taken, from, more);
    return ptr;
}

static void give(void *ctx, void *ptr, size_t size)
{
    size_t *taken = ctx;
    void *from = ptr;
    if (!is_exact(size)) {
        memcpy(&from, (char *)ptr - sizeof from, sizeof from);
        size += sizeof(void *) + LINE;
    }
    size_t bytes = really_taken(from, size);
    *taken -= bytes;
    atomic_fetch_sub(&counts.bytes, bytes);
    redis.Free(from);
}

struct tepal_allocator limits_allocator(size_t *taken)
{
    return (struct tepal_allocator){take, give, taken};
}

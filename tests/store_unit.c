/*
 * store_unit.c: filters in files. Real files, pipes, links, limits and permissions where the
 * system gives them; where it does not, store.c is compiled into this test with its system calls
 * led through a place where each of them can be made to fail, to be interrupted, or to do only a
 * part of what was asked.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "file_help.h"
#include "recycling_help.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "file/format.h"

#define assert_ok(call) assert_int_equal((call), TEPAL_OK)

/* ---- where system calls go wrong ------------------------------------------------------------- */

static struct {
    unsigned calls;
    unsigned fail_at; /* the call that fails, from 1 on; 0: none */
    int error;
    const char *failed; /* its name */
    size_t most;        /* bytes that one read or write moves; 0: no limit */
    bool interrupt;     /* every other read, write and sync is interrupted first */
    bool interrupted;
    const char *cut; /* a file whose length is changed at the third read */
    off_t cut_to;
    unsigned reads;
    size_t guard; /* so many bytes at either end of a mapping may be read, and no others; 0: all */
    char log[4096]; /* the names of all calls, each with a space behind it */
} inject;

static bool injected(const char *name)
{
    size_t len = strlen(inject.log);
    (void)snprintf(inject.log + len, sizeof inject.log - len, "%s ", name);
    if (++inject.calls == inject.fail_at) {
        inject.failed = name;
        errno = inject.error;
        return true;
    }
    return false;
}

static bool interrupts(void)
{
    inject.interrupted = inject.interrupt && !inject.interrupted;
    if (inject.interrupted) {
        errno = EINTR;
    }
    return inject.interrupted;
}

/* What of the last guarded mapping may not be read. */
static struct {
    void *start;
    size_t bytes;
} inject_guarded;

static void *guarded(uint8_t *mapping, size_t bytes)
{
    if (mapping != MAP_FAILED && inject.guard != 0) {
        assert_true(bytes > 2 * inject.guard);
        inject_guarded.start = mapping + inject.guard;
        inject_guarded.bytes = (bytes - 2 * inject.guard) / 4096 * 4096;
        assert_int_equal(mprotect(inject_guarded.start, inject_guarded.bytes, PROT_NONE), 0);
    }
    return mapping;
}

static size_t part(size_t len)
{
    return inject.most != 0 && len > inject.most ? inject.most : len;
}

static ssize_t inject_read(int fd, void *bytes, size_t len)
{
    if (inject.cut != NULL && ++inject.reads == 3) {
        assert_int_equal(truncate(inject.cut, inject.cut_to), 0);
    }
    return injected("read") || interrupts() ? -1 : read(fd, bytes, part(len));
}

static ssize_t inject_write(int fd, const void *bytes, size_t len)
{
    return injected("write") || interrupts() ? -1 : write(fd, bytes, part(len));
}

static int inject_fsync(int fd)
{
    return injected("fsync") || interrupts() ? -1 : fsync(fd);
}

/* A failing close has closed. */
static int inject_close(int fd)
{
    int result = close(fd);
    return injected("close") ? -1 : result;
}

#define open(...)       (injected("open") ? -1 : open(__VA_ARGS__))
#define openat(...)     (injected("openat") ? -1 : openat(__VA_ARGS__))
#define read(...)       inject_read(__VA_ARGS__)
#define write(...)      inject_write(__VA_ARGS__)
#define fsync(...)      inject_fsync(__VA_ARGS__)
#define close(...)      inject_close(__VA_ARGS__)
#define stat(...)       (injected("stat") ? -1 : stat(__VA_ARGS__))
#define fstat(...)      (injected("fstat") ? -1 : fstat(__VA_ARGS__))
#define lseek(...)      (injected("lseek") ? -1 : lseek(__VA_ARGS__))
#define realpath(...)   (injected("realpath") ? NULL : realpath(__VA_ARGS__))
#define renameat(...)   (injected("renameat") ? -1 : renameat(__VA_ARGS__))
#define fchmod(...)     (injected("fchmod") ? -1 : fchmod(__VA_ARGS__))
#define fchown(...)     (injected("fchown") ? -1 : fchown(__VA_ARGS__))
#define getentropy(...) (injected("getentropy") ? -1 : getentropy(__VA_ARGS__))
#define mmap(at, bytes, ...)                                                                       \
    (injected("mmap") ? MAP_FAILED : guarded(mmap(at, bytes, __VA_ARGS__), bytes))
#define madvise(...)         (injected("madvise") ? -1 : madvise(__VA_ARGS__))
#define sync_file_range(...) (injected("sync") ? -1 : sync_file_range(__VA_ARGS__))

#undef _FILE_OFFSET_BITS
#include "file/store.c"

#undef open
#undef openat
#undef read
#undef write
#undef fsync
#undef close
#undef stat
#undef fstat
#undef lseek
#undef realpath
#undef renameat
#undef fchmod
#undef fchown
#undef getentropy
#undef mmap
#undef madvise
#undef sync_file_range

static void inject_nothing(void)
{
    memset(&inject, 0, sizeof inject);
}

/* ---- a directory for each test --------------------------------------------------------------- */

static char here[64];

static const char *in_here(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % COUNT(paths)];
    (void)snprintf(path, sizeof paths[0], "%s/%s", here, name);
    return path;
}

static int enter(void **unused)
{
    (void)unused;
    inject_nothing();
    (void)umask(022);
    (void)snprintf(here, sizeof here, "/tmp/tepal-store-XXXXXX");
    return mkdtemp(here) != NULL && chmod(here, 0755) == 0 ? 0 : -1;
}

static int leave(void **unused)
{
    (void)unused;
    inject_nothing();
    DIR *d = opendir(here);
    struct dirent *entry;
    while ((entry = readdir(d)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            (void)unlinkat(dirfd(d), entry->d_name, entry->d_type == DT_DIR ? AT_REMOVEDIR : 0);
        }
    }
    (void)closedir(d);
    return rmdir(here);
}

/* How many entries the directory has: a temporary file that stayed would count. */
static unsigned entries(void)
{
    unsigned count = 0;
    DIR *d = opendir(here);
    assert_non_null(d);
    while (readdir(d) != NULL) {
        count++;
    }
    (void)closedir(d);
    return count - 2;
}

static void put_bytes(const char *path, const void *bytes, size_t len)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, len, out), len);
    assert_int_equal(fclose(out), 0);
}

static void assert_file_holds(const char *path, const void *bytes, size_t len)
{
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    uint8_t *found = malloc(len + 1);
    assert_non_null(found);
    assert_int_equal(fread(found, 1, len + 1, in), len);
    assert_memory_equal(found, bytes, len);
    free(found);
    (void)fclose(in);
}

static const struct recipe small = {
    "", TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, TEPAL_HASH_XXH3, 7, 1000, 100, 42, 90};
static const struct recipe large = {
    "", TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_DISTINCT, TEPAL_HASH_XXH3, 9, 512 * 4000, 0, 43, 500};
static const struct recipe larger =
    {/* than two mebibytes */
     "", TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, TEPAL_HASH_XXH3, 7, 20000000, 100, 42, 90};
static const struct recipe keyed = {
    "", TEPAL_LAYOUT_PARTITIONED, TEPAL_POSITIONS_COLLIDING, TEPAL_HASH_SIPHASH, 5, 1003, 0, 44,
    50};

static void assert_same(const struct recipe *r, struct tepal_filter *f)
{
    struct tepal_filter *fresh = recipe_make(r);
    if (r->hash == TEPAL_HASH_SIPHASH) {
        assert_int_equal(tepal_filter_set_key(f, recipe_key), TEPAL_OK);
    }
    assert_true(tepal_filter_equal(fresh, f));
    assert_int_equal(tepal_filter_keys_added(fresh), tepal_filter_keys_added(f));
    recipe_check(r, f);
    unsigned found = 0;
    for (unsigned i = 0; i < 500; i++) {
        struct tepal_digest d = recipe_digest(f, "stranger", i);
        assert_int_equal(tepal_filter_query(f, d), tepal_filter_query(fresh, d));
        found += tepal_filter_query(f, d);
    }
    assert_true(found < 250);
    tepal_filter_free(fresh);
}

/* ---- there and back -------------------------------------------------------------------------- */

static void save_and_load(void **unused)
{
    (void)unused;
    const struct recipe *recipes[] = {&small, &large, &keyed};
    for (size_t i = 0; i < COUNT(recipes); i++) {
        size_t len;
        struct tepal_filter *f = recipe_make(recipes[i]);
        struct tepal_filter *g = NULL;
        struct tepal_error error = {TEPAL_OK, 0, 0, "untouched"};
        uint8_t *bytes = encoded(f, &len);
        const char *path = in_here("filter");
        for (int twice = 0; twice < 2; twice++) {
            assert_int_equal(tepal_save(f, path, &error), TEPAL_OK);
            assert_file_holds(path, bytes, len);
        }
        assert_int_equal(entries(), 1);
        assert_int_equal(tepal_load(path, NULL, &g, &error), TEPAL_OK);
        assert_string_equal(error.why, "untouched");
        /* Independent of the file from then on. */
        assert_int_equal(unlink(path), 0);
        assert_same(recipes[i], g);
        assert_false(tepal_filter_read_only(g));
        assert_int_equal(tepal_filter_clear(g), TEPAL_OK);
        tepal_filter_free(g);
        tepal_filter_free(f);
        free(bytes);
    }
}

static void save_by_a_bare_name(void **unused)
{
    (void)unused;
    char old[PATH_MAX];
    struct tepal_filter *f = recipe_make(&small);
    struct tepal_filter *g = NULL;
    assert_non_null(getcwd(old, sizeof old));
    assert_int_equal(chdir(here), 0);
    assert_int_equal(tepal_save(f, "bare", NULL), TEPAL_OK);
    assert_int_equal(tepal_load("bare", NULL, &g, NULL), TEPAL_OK);
    assert_int_equal(chdir(old), 0);
    assert_same(&small, g);
    tepal_filter_free(g);
    tepal_filter_free(f);
}

static void short_transfers_and_interrupts(void **unused)
{
    (void)unused;
    static const size_t most[] = {1, 7, 255, 4096};
    for (size_t i = 0; i < COUNT(most); i++) {
        const struct recipe *r = most[i] < 4096 ? &small : &large;
        struct tepal_filter *f = recipe_make(r);
        struct tepal_filter *g = NULL;
        inject_nothing();
        inject.most = most[i];
        inject.interrupt = true;
        assert_int_equal(tepal_save(f, in_here("slow"), NULL), TEPAL_OK);
        assert_int_equal(tepal_load(in_here("slow"), NULL, &g, NULL), TEPAL_OK);
        assert_same(r, g);
        tepal_filter_free(g);
        tepal_filter_free(f);
    }
}

/* ---- mapped ---------------------------------------------------------------------------------- */

#define ONLY_WHERE_FILES_CAN_BE_MAPPED                                                             \
    if (!LITTLE_ENDIAN_HOST) {                                                                     \
        skip();                                                                                    \
    }

static void mapped_views(void **unused)
{
    (void)unused;
    ONLY_WHERE_FILES_CAN_BE_MAPPED
    const struct recipe *recipes[] = {&small, &large, &keyed};
    for (size_t i = 0; i < COUNT(recipes) * 2; i++) {
        const struct recipe *r = recipes[i / 2];
        struct tepal_filter *f = recipe_make(r);
        struct tepal_filter *view = NULL;
        struct tepal_filter *copy = NULL;
        const char *path = in_here("mapped");
        assert_int_equal(tepal_save(f, path, NULL), TEPAL_OK);
        assert_int_equal(tepal_map(path, (enum tepal_map_check)(i % 2), NULL, &view, NULL),
                         TEPAL_OK);
        assert_true(tepal_filter_read_only(view));
        size_t words;
        assert_int_equal((uintptr_t)tepal_filter_words(view, &words) % 64, 0);
        assert_same(r, view);
        struct tepal_digest d = recipe_digest(f, "other", 1);
        assert_int_equal(tepal_filter_add(view, d), TEPAL_READ_ONLY);
        assert_int_equal(tepal_filter_add_many(view, &d, 1), TEPAL_READ_ONLY);
        assert_int_equal(tepal_filter_clear(view), TEPAL_READ_ONLY);
        assert_int_equal(tepal_filter_unite(view, f), TEPAL_READ_ONLY);
        assert_int_equal(tepal_filter_intersect(view, f), TEPAL_READ_ONLY);
        assert_int_equal(tepal_filter_add(view, d), TEPAL_READ_ONLY);
        assert_int_equal(tepal_filter_add_bytes(view, "x", 1), TEPAL_READ_ONLY);
        assert_int_equal(tepal_filter_add_u64(view, 1), TEPAL_READ_ONLY);
        assert_int_equal(tepal_filter_add_fixed_many(view, "x", 1, 1), TEPAL_READ_ONLY);
        assert_int_equal(tepal_filter_add_many(view, &d, 1), TEPAL_READ_ONLY);
        assert_int_equal(tepal_bloom_add_atomic(view, d, NULL), TEPAL_READ_ONLY);
        assert_int_equal(tepal_filter_clear(view), TEPAL_READ_ONLY);
        assert_int_equal(tepal_filter_unite(f, view), TEPAL_OK);
        assert_int_equal(tepal_filter_clone(view, NULL, &copy, NULL), TEPAL_OK);
        assert_false(tepal_filter_read_only(copy));
        assert_int_equal(tepal_filter_add(copy, d), TEPAL_OK);
        assert_true(tepal_filter_query(copy, d));
        /* A new file at the path does not disturb the view of the old one. */
        assert_int_equal(tepal_save(copy, path, NULL), TEPAL_OK);
        assert_same(r, view);
        assert_int_equal(tepal_filter_validate(view, NULL), TEPAL_OK);
        /* And a view can be saved over the file that it maps. */
        assert_int_equal(tepal_save(view, path, NULL), TEPAL_OK);
        tepal_filter_free(copy);
        tepal_filter_free(view);
        tepal_filter_free(f);
    }
}

/* An empty filter of these parameters, as a file that takes no room; false if there is none. */
static bool put_sparse(const char *path, const struct tepal_params *params)
{
    struct tepal_params seed = *params;
    uint8_t header[256];
    struct tepal_filter *f;
    size_t len;
    seed.cells = 8 * 16 * 64; /* any small one that every kind can have */
    assert_ok(tepal_filter_create(&seed, NULL, &f, NULL));
    uint8_t *bytes = encoded(f, &len);
    memcpy(header, bytes, sizeof header);
    free(bytes);
    tepal_filter_free(f);
    uint64_t payload = tepal_params_cell_bytes(params);
    uint64_t whole = 256 + payload + (payload + 65535) / 65536 * 8;
    little_put64(header + 32, params->cells);
    little_put64(header + 200, payload);
    little_put64(header + 208, whole);
    header_resum(header);
    put_bytes(path, header, sizeof header);
    return sizeof(size_t) >= 8 && truncate(path, (off_t)whole) == 0;
}

/* 8 GiB that take no room: positions beyond 2^32, offsets beyond 4 GiB. */
static void a_view_of_many_gigabytes(void **unused)
{
    (void)unused;
    ONLY_WHERE_FILES_CAN_BE_MAPPED
    uint64_t payload = UINT64_C(8) << 30;
    struct tepal_params params = recipe_params(&small);
    struct tepal_filter *view = NULL;
    struct tepal_error error;
    params.hashes = 1;
    params.cells = payload * 8;
    if (!put_sparse(in_here("huge"), &params)) {
        skip();
    }
    static const uint8_t last = 0x80;
    int fd = open(in_here("huge"), O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &last, 1, (off_t)(256 + payload - 1)), 1);
    assert_int_equal(close(fd), 0);
    assert_int_equal(tepal_map(in_here("huge"), TEPAL_MAP_LAZY, NULL, &view, NULL), TEPAL_OK);
    assert_true(tepal_filter_query(view, (struct tepal_digest){0, UINT64_MAX}));
    assert_false(tepal_filter_query(view, (struct tepal_digest){0, UINT64_MAX / 2}));
    assert_false(tepal_filter_query(view, (struct tepal_digest){0, 0}));
    tepal_filter_free(view);
    /* Its sums are zeros, which they should not be. */
    assert_int_equal(tepal_map(in_here("huge"), TEPAL_MAP_VERIFY, NULL, &view, &error),
                     TEPAL_BAD_CHECKSUM);
    assert_int_equal(error.offset, 256);
}

/* The kinds whose headers count their cells. */
#define COUNTED_KINDS 4

static void counted_kinds(struct tepal_params out[COUNTED_KINDS])
{
    struct recycling_options options = RECYCLING_OPTIONS_INIT;
    for (size_t i = 0; i < COUNTED_KINDS; i++) {
        out[i] = recipe_params(&small);
        out[i].layout = TEPAL_LAYOUT_FLAT;
        out[i].hashes = 2;
        out[i].cells = 1024;
    }
    out[0].kind = out[1].kind = TEPAL_KIND_COUNTING;
    out[0].counting.choices = out[1].counting.choices = 1;
    out[1].counting.form = TEPAL_FORM_BITS;
    out[2].kind = TEPAL_KIND_FINGERPRINT;
    out[2].own[0] = 16;
    options.phases = 2;
    options.limit = 100;
    set_recycling(&out[3], &options);
}

#define GUARD_ENDS 8192 /* the header, and the last words with the sums */

/* A lazy view of any kind opens although nobody may read its cells. */
static void a_lazy_view_reads_no_cells(void **unused)
{
    (void)unused;
    ONLY_WHERE_FILES_CAN_BE_MAPPED
    struct tepal_params params[COUNTED_KINDS];
    counted_kinds(params);
    for (size_t i = 0; i < COUNT(params); i++) {
        struct tepal_filter *view = NULL;
        params[i].cells = UINT64_C(1) << 25; /* 4 MiB or more, and no tail to look at */
        if (!put_sparse(in_here("sparse"), &params[i])) {
            skip();
        }
        inject.guard = GUARD_ENDS;
        assert_ok(tepal_map(in_here("sparse"), TEPAL_MAP_LAZY, NULL, &view, NULL));
        inject_nothing();
        assert_true(inject_guarded.bytes > (size_t)1 << 21);
        assert_int_equal(mprotect(inject_guarded.start, inject_guarded.bytes, PROT_READ), 0);
        assert_false(tepal_filter_query(view, (struct tepal_digest){1, 2}));
        assert_ok(tepal_filter_validate(view, NULL));
        tepal_filter_free(view);
    }
}

/* Cells that contradict the header, checksums right. */
static void a_lazy_view_of_lies(void **unused)
{
    (void)unused;
    ONLY_WHERE_FILES_CAN_BE_MAPPED
    struct tepal_params params[COUNTED_KINDS];
    counted_kinds(params);
    for (size_t i = 0; i < COUNT(params); i++) {
        struct tepal_filter *f;
        struct tepal_filter *view = NULL;
        struct tepal_filter *copy = NULL;
        struct tepal_error error;
        struct tepal_error refusal = {.why = ""};
        size_t len;
        assert_ok(tepal_filter_create(&params[i], NULL, &f, NULL));
        uint8_t *bytes = encoded(f, &len);
        tepal_filter_free(f);
        bytes[256 + 40] = 1;
        blocks_resum(bytes, (size_t)tepal_params_cell_bytes(&params[i]));
        put_bytes(in_here("lies"), bytes, len);
        free(bytes);
        assert_int_equal(tepal_load(in_here("lies"), NULL, &view, &error), TEPAL_CORRUPT);
        assert_int_equal(tepal_map(in_here("lies"), TEPAL_MAP_VERIFY, NULL, &view, &error),
                         TEPAL_CORRUPT);
        assert_int_equal(tepal_map(in_here("lies"), TEPAL_MAP_LAZY, NULL, &view, &error), TEPAL_OK);
        for (uint64_t x = 0; x < 1000; x++) {
            (void)tepal_filter_query(view, (struct tepal_digest){x << 54, ~x << 54});
        }
        assert_int_equal(tepal_filter_validate(view, &refusal), TEPAL_CORRUPT);
        assert_string_equal(refusal.why, error.why);
        assert_int_equal(tepal_filter_clone(view, NULL, &copy, NULL), TEPAL_CORRUPT);
        assert_null(copy);
        tepal_filter_free(view);
    }
}

/* ---- descriptors ----------------------------------------------------------------------------- */

/* A child that writes `bytes` into a pipe, `step` at a time, waiting now and then. */
static int piped(const uint8_t *bytes, size_t len, size_t step, int flags, pid_t *child)
{
    int ends[2];
    assert_int_equal(pipe2(ends, flags), 0);
    *child = fork();
    assert_true(*child >= 0);
    if (*child == 0) {
        (void)close(ends[0]);
        (void)signal(SIGPIPE, SIG_IGN);
        (void)fcntl(ends[1], F_SETFL, 0);
        for (size_t at = 0; at < len; at += step) {
            size_t n = len - at < step ? len - at : step;
            if (write(ends[1], bytes + at, n) != (ssize_t)n) {
                break;
            }
            if (at == 0) {
                (void)usleep(20000);
            }
        }
        _exit(0);
    }
    (void)close(ends[1]);
    return ends[0];
}

static enum tepal_status load_piped(const uint8_t *bytes, size_t len, size_t step, int flags,
                                    const struct tepal_allocator *allocator,
                                    struct tepal_filter **out, struct tepal_error *error)
{
    pid_t child;
    int fd = piped(bytes, len, step, flags, &child);
    enum tepal_status status = tepal_load_fd(fd, allocator, out, error);
    (void)close(fd);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return status;
}

static void pipes(void **unused)
{
    (void)unused;
    const struct recipe *recipes[] = {&small, &large};
    static const int flags[] = {0, O_NONBLOCK};
    for (size_t i = 0; i < COUNT(recipes); i++) {
        for (size_t j = 0; j < COUNT(flags); j++) {
            size_t len;
            struct memory m = {0};
            struct tepal_allocator allocator = memory_allocator(&m);
            struct tepal_filter *f = recipe_make(recipes[i]);
            struct tepal_filter *g = NULL;
            struct tepal_error error;
            uint8_t *bytes = encoded(f, &len);
            assert_int_equal(
                load_piped(bytes, len, i == 0 ? 100 : 5000, flags[j], &allocator, &g, NULL),
                TEPAL_OK);
            assert_same(recipes[i], g);
            tepal_filter_free(g);
            assert_int_equal(m.live, 0);
            /* Cut off in the header, in the payload, in the sums. */
            size_t cuts[] = {0, 100, 256, 300, len - 8, len - 1};
            for (size_t k = 0; k < COUNT(cuts); k++) {
                assert_int_equal(
                    load_piped(bytes, cuts[k], 60000, flags[j], &allocator, &g, &error),
                    cuts[k] == 0 ? TEPAL_NOT_A_FILTER : TEPAL_BAD_LENGTH);
                assert_int_equal(error.offset, cuts[k]);
                assert_int_equal(m.live, 0);
            }
            /* One byte more. */
            uint8_t *longer = malloc(len + 1);
            assert_non_null(longer);
            memcpy(longer, bytes, len);
            longer[len] = 0;
            assert_int_equal(load_piped(longer, len + 1, 60000, flags[j], &allocator, &g, &error),
                             TEPAL_BAD_LENGTH);
            assert_int_equal(error.offset, len);
            free(longer);
            /* A damaged block. */
            bytes[len / 2] ^= 1;
            assert_int_equal(load_piped(bytes, len, 60000, flags[j], &allocator, &g, NULL),
                             TEPAL_BAD_CHECKSUM);
            assert_int_equal(m.live, 0);
            free(bytes);
            tepal_filter_free(f);
        }
    }
}

/* A header that promises 2^57 bytes gets no more memory than what arrives behind it. */
static void a_pipe_that_boasts(void **unused)
{
    (void)unused;
    size_t len;
    struct memory m = {0};
    struct tepal_allocator allocator = memory_allocator(&m);
    struct tepal_filter *f = recipe_make(&large);
    struct tepal_filter *g = NULL;
    struct tepal_error error;
    uint8_t *bytes = encoded(f, &len);
    uint64_t payload = UINT64_C(1) << 57;
    little_put32(bytes + 16, TEPAL_LAYOUT_FLAT);
    little_put64(bytes + 32, payload * 8);
    little_put64(bytes + 200, payload);
    little_put64(bytes + 208, 256 + payload + payload / 65536 * 8);
    header_resum(bytes);
    assert_int_equal(load_piped(bytes, len, 60000, 0, &allocator, &g, &error), TEPAL_BAD_LENGTH);
    assert_int_equal(error.offset, len);
    assert_true(m.largest <= 2 * len);
    assert_true(m.peak > len && m.peak <= 3 * len); /* while it is copied to twice the room */
    assert_int_equal(m.live, 0);
    m.largest = 0;
    assert_int_equal(load_piped(bytes, 300, 300, 0, &allocator, &g, &error), TEPAL_BAD_LENGTH);
    assert_true(m.largest <= 65536);
    /* The same in a file: nothing is allocated at all. */
    m.largest = 0;
    put_bytes(in_here("boast"), bytes, len);
    assert_int_equal(tepal_load(in_here("boast"), &allocator, &g, &error), TEPAL_BAD_LENGTH);
    assert_int_equal(tepal_map(in_here("boast"), TEPAL_MAP_LAZY, &allocator, &g, &error),
                     LITTLE_ENDIAN_HOST ? TEPAL_BAD_LENGTH : TEPAL_UNSUPPORTED);
    assert_int_equal(m.largest, 0);
    free(bytes);
    tepal_filter_free(f);
}

static void descriptors_of_files(void **unused)
{
    (void)unused;
    size_t len;
    struct memory m = {0};
    struct tepal_allocator allocator = memory_allocator(&m);
    struct tepal_filter *f = recipe_make(&large);
    struct tepal_filter *g = NULL;
    uint8_t *bytes = encoded(f, &len);
    /* A filter behind something else: read from where the descriptor stands. */
    int fd = open(in_here("behind"), O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "prefix", 6), 6);
    assert_int_equal(tepal_save_fd(f, fd, NULL), TEPAL_OK);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 6 + len);
    assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
    assert_int_equal(tepal_load_fd(fd, &allocator, &g, NULL), TEPAL_OK);
    assert_same(&large, g);
    /* The length was known, so the words came in one piece. */
    assert_int_equal(m.calls, 2);
    tepal_filter_free(g);
    /* At its end there is nothing. */
    assert_int_equal(tepal_load_fd(fd, &allocator, &g, NULL), TEPAL_NOT_A_FILTER);
    (void)close(fd);
    assert_int_equal(m.live, 0);
    free(bytes);
    tepal_filter_free(f);
}

static void bad_descriptors(void **unused)
{
    (void)unused;
    struct tepal_error error;
    struct tepal_filter *f = recipe_make(&large);
    struct tepal_filter *g = NULL;
    assert_int_equal(tepal_save_fd(f, -1, &error), TEPAL_IO);
    assert_int_equal(error.system, EBADF);
    assert_int_equal(tepal_load_fd(-1, NULL, &g, &error), TEPAL_IO);
    assert_int_equal(error.system, EBADF);
    int fd = open(here, O_RDONLY);
    assert_int_equal(tepal_load_fd(fd, NULL, &g, &error), TEPAL_IO);
    assert_int_equal(error.system, EISDIR);
    (void)close(fd);
    fd = open("/dev/full", O_WRONLY);
    if (fd >= 0) {
        assert_int_equal(tepal_save_fd(f, fd, &error), TEPAL_IO);
        assert_int_equal(error.system, ENOSPC);
        assert_int_equal(error.offset, 0);
        (void)close(fd);
    }
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    (void)close(ends[0]);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    assert_int_equal(tepal_save_fd(f, ends[1], &error), TEPAL_IO);
    assert_int_equal(error.system, EPIPE);
    (void)signal(SIGPIPE, before);
    (void)close(ends[1]);
    assert_null(g);
    tepal_filter_free(f);
}

/* A pipe that is full again and again, and does not wait. */
static void save_to_a_slow_pipe(void **unused)
{
    (void)unused;
    size_t len;
    int ends[2];
    struct tepal_filter *f = recipe_make(&large);
    uint8_t *bytes = encoded(f, &len);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(ends[0]);
        (void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
        _exit(tepal_save_fd(f, ends[1], NULL) == TEPAL_OK ? 0 : 1);
    }
    (void)close(ends[1]);
    (void)usleep(20000);
    uint8_t *got = malloc(len + 1);
    assert_non_null(got);
    size_t have = 0;
    ssize_t n;
    while ((n = read(ends[0], got + have, len + 1 - have)) > 0) {
        have += (size_t)n;
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(have, len);
    assert_memory_equal(got, bytes, len);
    (void)close(ends[0]);
    free(got);
    free(bytes);
    tepal_filter_free(f);
}

/* ---- damaged and strange files --------------------------------------------------------------- */

static void load_all_ways(const char *path, enum tepal_status expected, uint64_t offset, int error)
{
    struct memory m = {0};
    struct tepal_allocator allocator = memory_allocator(&m);
    struct tepal_filter *g = NULL;
    for (int way = 0; way < (LITTLE_ENDIAN_HOST ? 3 : 1); way++) {
        struct tepal_error refusal = {TEPAL_OK, -1, UINT64_MAX, NULL};
        enum tepal_status status =
            way == 0 ? tepal_load(path, &allocator, &g, &refusal)
                     : tepal_map(path, (enum tepal_map_check)(way - 1), &allocator, &g, &refusal);
        assert_int_equal(status, expected);
        assert_int_equal(refusal.status, expected);
        assert_int_equal(refusal.system, error);
        assert_int_equal(refusal.offset, offset);
        assert_non_null(refusal.why);
        assert_null(g);
        assert_int_equal(m.live, 0);
        assert_int_equal(way == 0 ? tepal_load(path, NULL, &g, NULL)
                                  : tepal_map(path, TEPAL_MAP_LAZY, NULL, &g, NULL),
                         expected);
    }
}

static void damaged_files(void **unused)
{
    (void)unused;
    size_t len;
    struct tepal_filter *f = recipe_make(&large);
    struct tepal_filter *g = NULL;
    uint8_t *bytes = encoded(f, &len);
    const char *path = in_here("damaged");
    put_bytes(path, bytes, 0);
    load_all_ways(path, TEPAL_NOT_A_FILTER, 0, 0);
    size_t cuts[] = {8, 11, 255, 256, 300, 256 + 65536, len - 8, len - 1};
    for (size_t i = 0; i < COUNT(cuts); i++) {
        put_bytes(path, bytes, cuts[i]);
        load_all_ways(path, TEPAL_BAD_LENGTH, cuts[i], 0);
    }
    uint8_t *longer = calloc(1, len + 65536);
    assert_non_null(longer);
    memcpy(longer, bytes, len);
    put_bytes(path, longer, len + 1);
    load_all_ways(path, TEPAL_BAD_LENGTH, len, 0);
    put_bytes(path, longer, len + 65536);
    load_all_ways(path, TEPAL_BAD_LENGTH, len, 0);
    free(longer);
    bytes[100] ^= 1;
    put_bytes(path, bytes, len);
    load_all_ways(path, TEPAL_BAD_CHECKSUM, 248, 0);
    bytes[100] ^= 1;
    bytes[8] = 2;
    put_bytes(path, bytes, len);
    load_all_ways(path, TEPAL_BAD_VERSION, 8, 0);
    bytes[8] = 1;
    /* A block: noticed by load and by a verifying view; a lazy one opens. */
    bytes[256 + 65536 + 5] ^= 1;
    put_bytes(path, bytes, len);
    struct tepal_error error;
    assert_int_equal(tepal_load(path, NULL, &g, &error), TEPAL_BAD_CHECKSUM);
    assert_int_equal(error.offset, 256 + 65536);
    if (LITTLE_ENDIAN_HOST) {
        assert_int_equal(tepal_map(path, TEPAL_MAP_VERIFY, NULL, &g, &error), TEPAL_BAD_CHECKSUM);
        assert_int_equal(error.offset, 256 + 65536);
        assert_null(g);
        assert_int_equal(tepal_map(path, TEPAL_MAP_LAZY, NULL, &g, &error), TEPAL_OK);
        tepal_filter_free(g);
    }
    free(bytes);
    tepal_filter_free(f);
}

static void tail_bits_in_files(void **unused)
{
    (void)unused;
    size_t len;
    struct tepal_filter *f = recipe_make(&small);
    uint8_t *bytes = encoded(f, &len);
    bytes[256 + 127] |= 0x80; /* bit 1023 of 1000 */
    blocks_resum(bytes, 128);
    put_bytes(in_here("tail"), bytes, len);
    load_all_ways(in_here("tail"), TEPAL_CORRUPT, 256 + 120, 0);
    free(bytes);
    tepal_filter_free(f);
}

static void not_regular(void **unused)
{
    (void)unused;
    struct tepal_filter *f = recipe_make(&small);
    struct tepal_error error;
    (void)alarm(30); /* a FIFO must not make us wait */
    assert_int_equal(mkfifo(in_here("fifo"), 0600), 0);
    assert_int_equal(mkdir(in_here("directory"), 0700), 0);
    assert_int_equal(symlink("fifo", in_here("link")), 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", in_here("socket"));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    const char *paths[] = {"fifo", "directory", "link", "socket", "/dev/null"};
    for (size_t i = 0; i < COUNT(paths); i++) {
        const char *path = paths[i][0] == '/' ? paths[i] : in_here(paths[i]);
        struct stat before;
        struct stat after;
        assert_int_equal(stat(path, &before), 0);
        load_all_ways(path, TEPAL_NOT_REGULAR, 0, 0);
        assert_int_equal(tepal_save(f, path, &error), TEPAL_NOT_REGULAR);
        assert_int_equal(error.status, TEPAL_NOT_REGULAR);
        assert_int_equal(tepal_save(f, path, NULL), TEPAL_NOT_REGULAR);
        assert_int_equal(stat(path, &after), 0);
        assert_int_equal(before.st_ino, after.st_ino);
        assert_int_equal(before.st_mode, after.st_mode);
    }
    assert_int_equal(entries(), 4);
    (void)close(fd);
    (void)alarm(0);
    tepal_filter_free(f);
}

static void nothing_there(void **unused)
{
    (void)unused;
    struct tepal_filter *f = recipe_make(&small);
    struct tepal_error refusal;
    load_all_ways(in_here("missing"), TEPAL_IO, 0, ENOENT);
    put_bytes(in_here("file"), "x", 1);
    load_all_ways(in_here("file/below"), TEPAL_IO, 0, ENOTDIR);
    static const struct {
        const char *path;
        int error;
    } wrong[] = {{"missing/filter", ENOENT}, {"file/filter", ENOTDIR}, {"new/", ENOENT}};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(tepal_save(f, in_here(wrong[i].path), &refusal), TEPAL_IO);
        assert_int_equal(refusal.system, wrong[i].error);
        assert_int_equal(entries(), 1);
    }
    assert_int_equal(tepal_save(f, "", &refusal), TEPAL_IO);
    assert_int_equal(refusal.system, ENOENT);
    assert_int_equal(tepal_save(f, "/proc/tepal", &refusal), TEPAL_IO);
    assert_string_equal(refusal.why, "cannot create the temporary file");
    char *name = malloc(PATH_MAX + 10);
    assert_non_null(name);
    memset(name, 'x', PATH_MAX + 9);
    name[PATH_MAX + 9] = '\0';
    assert_int_equal(tepal_save(f, name, &refusal), TEPAL_IO);
    assert_int_equal(refusal.system, ENAMETOOLONG);
    name[255] = '\0';
    /* The longest name that is allowed: the temporary file's must not be longer. */
    assert_int_equal(tepal_save(f, in_here("file"), &refusal), TEPAL_OK);
    int directory = open(here, O_RDONLY);
    char old[PATH_MAX];
    assert_non_null(getcwd(old, sizeof old));
    assert_int_equal(fchdir(directory), 0);
    assert_int_equal(tepal_save(f, name, &refusal), TEPAL_OK);
    assert_int_equal(chdir(old), 0);
    (void)close(directory);
    free(name);
    tepal_filter_free(f);
}

/* ---- links, permissions, limits -------------------------------------------------------------- */

static void links(void **unused)
{
    (void)unused;
    size_t len;
    struct stat about;
    struct tepal_error error;
    struct tepal_filter *f = recipe_make(&small);
    uint8_t *bytes = encoded(f, &len);
    put_bytes(in_here("target"), "old", 3);
    assert_int_equal(symlink("target", in_here("one")), 0);
    assert_int_equal(symlink("one", in_here("two")), 0);
    assert_int_equal(symlink("nowhere", in_here("dangling")), 0);
    assert_int_equal(symlink("loop", in_here("loop")), 0);
    assert_int_equal(tepal_save(f, in_here("two"), &error), TEPAL_OK);
    assert_file_holds(in_here("target"), bytes, len);
    assert_int_equal(lstat(in_here("two"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(tepal_save(f, in_here("dangling"), &error), TEPAL_IO);
    assert_int_equal(error.system, ENOENT);
    assert_int_equal(lstat(in_here("dangling"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(tepal_save(f, in_here("loop"), &error), TEPAL_IO);
    assert_int_equal(error.system, ELOOP);
    assert_int_equal(entries(), 5);
    free(bytes);
    tepal_filter_free(f);
}

static mode_t mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 07777;
}

static void permissions(void **unused)
{
    (void)unused;
    struct tepal_filter *f = recipe_make(&small);
    (void)umask(027);
    assert_int_equal(tepal_save(f, in_here("new"), NULL), TEPAL_OK);
    assert_int_equal(mode_of(in_here("new")), 0640);
    static const mode_t modes[] = {0600, 0644, 0666, 0777, 0400, 0440};
    for (size_t i = 0; i < COUNT(modes); i++) {
        assert_int_equal(chmod(in_here("new"), modes[i]), 0);
        assert_int_equal(tepal_save(f, in_here("new"), NULL), TEPAL_OK);
        assert_int_equal(mode_of(in_here("new")), modes[i]);
    }
    if (geteuid() == 0) {
        struct stat about;
        assert_int_equal(chown(in_here("new"), 65534, 65533), 0);
        assert_int_equal(chmod(in_here("new"), 0640), 0);
        assert_int_equal(tepal_save(f, in_here("new"), NULL), TEPAL_OK);
        assert_int_equal(stat(in_here("new"), &about), 0);
        assert_int_equal(about.st_uid, 65534);
        assert_int_equal(about.st_gid, 65533);
        assert_int_equal(about.st_mode & 07777, 0640);
        /* Neither can be kept: our group must not get what was the other group's. */
        inject_nothing();
        assert_int_equal(chmod(here, 0777), 0);
        assert_int_equal(seteuid(65532), 0);
        assert_int_equal(tepal_save(f, in_here("new"), NULL), TEPAL_OK);
        assert_int_equal(seteuid(0), 0);
        assert_int_equal(stat(in_here("new"), &about), 0);
        assert_int_equal(about.st_uid, 65532);
        assert_int_equal(about.st_mode & 07777, about.st_gid == 65533 ? 0640 : 0600);
    }
    tepal_filter_free(f);
}

/* Root may do everything, so root becomes somebody else for a while. */
static void forbidden(void **unused)
{
    (void)unused;
    struct tepal_error error;
    struct tepal_filter *f = recipe_make(&small);
    assert_int_equal(tepal_save(f, in_here("secret"), NULL), TEPAL_OK);
    assert_int_equal(chmod(in_here("secret"), 0), 0);
    assert_int_equal(chmod(here, 0555), 0);
    bool root = geteuid() == 0;
    if (root) {
        assert_int_equal(seteuid(65534), 0);
    }
    load_all_ways(in_here("secret"), TEPAL_IO, 0, EACCES);
    assert_int_equal(tepal_save(f, in_here("other"), &error), TEPAL_IO);
    assert_int_equal(error.system, EACCES);
    assert_int_equal(tepal_save(f, in_here("secret"), &error), TEPAL_IO);
    assert_int_equal(error.system, EACCES);
    if (root) {
        assert_int_equal(seteuid(0), 0);
    }
    assert_int_equal(entries(), 1);
    assert_int_equal(chmod(here, 0755), 0);
    tepal_filter_free(f);
}

static void no_room(void **unused)
{
    (void)unused;
    struct rlimit old;
    struct tepal_error error;
    struct tepal_filter *f = recipe_make(&large);
    put_bytes(in_here("kept"), "old contents", 12);
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    static const rlim_t limits[] = {0, 100, 256, 70000};
    for (size_t i = 0; i < COUNT(limits); i++) {
        struct rlimit tight = {limits[i], old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
        enum tepal_status kept = tepal_save(f, in_here("kept"), &error);
        enum tepal_status fresh = tepal_save(f, in_here("fresh"), NULL);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(kept, TEPAL_IO);
        assert_int_equal(fresh, TEPAL_IO);
        assert_int_equal(error.system, EFBIG);
        assert_int_equal(error.offset, limits[i]);
        assert_string_equal(error.why, "cannot write the output");
        assert_file_holds(in_here("kept"), "old contents", 12);
        assert_int_equal(entries(), 1);
    }
    (void)signal(SIGXFSZ, before);
    tepal_filter_free(f);
}

/* ---- every system call fails once ------------------------------------------------------------ */

/* Is this a failure that is not the caller's concern? */
static bool forgivable(const char *name)
{
    return strcmp(name, "madvise") == 0 || strcmp(name, "lseek") == 0 ||
           strcmp(name, "close") == 0 || strcmp(name, "fstat") == 0;
}

static void failing_saves(void **unused)
{
    (void)unused;
    static const int errors[] = {EIO, ENOSPC, EDQUOT};
    size_t len;
    struct tepal_filter *f = recipe_make(&large);
    uint8_t *bytes = encoded(f, &len);
    for (int existing = 0; existing < 2; existing++) {
        unsigned forgiven = 0;
        for (unsigned n = 1;; n++) {
            const char *path = in_here("file");
            struct tepal_error error = {TEPAL_OK, 0, 0, NULL};
            (void)unlink(path);
            if (existing) {
                put_bytes(path, "old contents", 12);
            }
            inject_nothing();
            inject.fail_at = n;
            inject.error = errors[n % COUNT(errors)];
            enum tepal_status status = tepal_save(f, path, &error);
            if (inject.failed == NULL) {
                assert_int_equal(status, TEPAL_OK);
                assert_true(n > 11); /* header, cells, sums and the rest */
                break;
            }
            if (status == TEPAL_OK) {
                /* Closing the directory, after all is done; never the file. */
                assert_string_equal(inject.failed, "close");
                assert_int_equal(++forgiven, 1);
                assert_file_holds(path, bytes, len);
                assert_int_equal(entries(), 1);
                continue;
            }
            assert_int_equal(status, TEPAL_IO);
            assert_int_equal(error.status, TEPAL_IO);
            assert_int_equal(error.system, inject.error);
            assert_non_null(error.why);
            if (strstr(error.why, "in place") != NULL) {
                assert_string_equal(inject.failed, "fsync");
                assert_file_holds(path, bytes, len);
                assert_int_equal(entries(), 1);
                continue;
            }
            if (existing) {
                assert_file_holds(path, "old contents", 12);
            }
            assert_int_equal(entries(), existing);
        }
    }
    free(bytes);
    tepal_filter_free(f);
}

/* What a crash may not undo: contents before the name, the name before the return. */
static void the_order_of_a_save(void **unused)
{
    (void)unused;
    struct tepal_filter *f = recipe_make(&small);
    inject_nothing();
    assert_int_equal(tepal_save(f, in_here("file"), NULL), TEPAL_OK);
    assert_string_equal(inject.log, "stat open getentropy openat write write write fsync close "
                                    "renameat fsync close ");
    inject_nothing();
    assert_int_equal(tepal_save(f, in_here("file"), NULL), TEPAL_OK);
    assert_string_equal(inject.log, "stat realpath open getentropy openat fstat fchmod write write "
                                    "write fsync close renameat fsync close ");
    tepal_filter_free(f);
}

/* The disk begins while the rest is summed, if it is to sync at all; if it cannot, that is all. */
static void syncs_that_begin_early(void **unused)
{
    (void)unused;
    size_t len;
    struct tepal_filter *f = recipe_make(&larger);
    uint8_t *bytes = encoded(f, &len);
    for (unsigned fail_at = 0; fail_at <= 7; fail_at += 7) {
        inject_nothing();
        inject.fail_at = fail_at;
        inject.error = EIO;
        (void)unlink(in_here("file"));
        assert_int_equal(tepal_save(f, in_here("file"), NULL), TEPAL_OK);
        assert_string_equal(inject.log, "stat open getentropy openat write write sync write sync "
                                        "write write fsync close renameat fsync close ");
        assert_true(fail_at == 0 || strcmp(inject.failed, "sync") == 0);
        assert_file_holds(in_here("file"), bytes, len);
    }
    int fd = open(in_here("file"), O_WRONLY | O_TRUNC);
    inject_nothing();
    assert_int_equal(tepal_save_fd(f, fd, NULL), TEPAL_OK);
    assert_string_equal(inject.log, "write write write write write ");
    assert_file_holds(in_here("file"), bytes, len);
    close(fd);
    free(bytes);
    tepal_filter_free(f);
}

/* Names that are taken: another one is tried. */
static void names_that_are_taken(void **unused)
{
    (void)unused;
    struct tepal_filter *f = recipe_make(&small);
    inject_nothing();
    inject.fail_at = 4; /* openat */
    inject.error = EEXIST;
    assert_int_equal(tepal_save(f, in_here("file"), NULL), TEPAL_OK);
    assert_string_equal(inject.failed, "openat");
    assert_int_equal(entries(), 1);
    tepal_filter_free(f);
}

/* A file that grows or shrinks while it is read. */
static void lengths_that_change(void **unused)
{
    (void)unused;
    struct tepal_filter *f = recipe_make(&large);
    struct tepal_filter *g = NULL;
    size_t len = (size_t)tepal_encoded_bytes(f);
    static const int changes[] = {-200000, -8, -1, 1, 100000};
    for (size_t i = 0; i < COUNT(changes); i++) {
        struct memory m = {0};
        struct tepal_allocator allocator = memory_allocator(&m);
        struct tepal_error error;
        inject_nothing();
        assert_int_equal(tepal_save(f, in_here("file"), NULL), TEPAL_OK);
        inject.cut = in_here("file");
        inject.cut_to = (off_t)len + changes[i];
        inject.most = 30000;
        assert_int_equal(tepal_load(inject.cut, &allocator, &g, &error), TEPAL_BAD_LENGTH);
        assert_int_equal(error.offset, changes[i] < 0 ? (uint64_t)inject.cut_to : len);
        assert_null(g);
        assert_int_equal(m.live, 0);
    }
    tepal_filter_free(f);
}

/* A file system without directory syncs is not an error. */
static void directories_that_cannot_sync(void **unused)
{
    (void)unused;
    struct tepal_filter *f = recipe_make(&small);
    unsigned seen = 0;
    for (unsigned n = 1;; n++) {
        struct tepal_error error;
        inject_nothing();
        inject.fail_at = n;
        inject.error = EINVAL;
        (void)unlink(in_here("file"));
        enum tepal_status status = tepal_save(f, in_here("file"), &error);
        if (inject.failed == NULL) {
            break;
        }
        if (strcmp(inject.failed, "fsync") == 0) {
            seen++;
            assert_int_equal(status, seen == 1 ? TEPAL_IO : TEPAL_OK);
        }
    }
    assert_int_equal(seen, 2);
    tepal_filter_free(f);
}

static void failing_loads(void **unused)
{
    (void)unused;
    struct tepal_filter *f = recipe_make(&large);
    const char *path = in_here("file");
    assert_int_equal(tepal_save(f, path, NULL), TEPAL_OK);
    for (int way = 0; way < (LITTLE_ENDIAN_HOST ? 4 : 2); way++) {
        for (unsigned n = 1;; n++) {
            struct memory m = {0};
            struct tepal_allocator allocator = memory_allocator(&m);
            struct tepal_error error = {TEPAL_OK, 0, 0, NULL};
            struct tepal_filter *g = NULL;
            int fd = open(path, O_RDONLY);
            assert_true(fd >= 0);
            inject_nothing();
            inject.fail_at = n;
            inject.error = EIO;
            inject.most = 50000;
            enum tepal_status status = way == 0   ? tepal_load(path, &allocator, &g, &error)
                                       : way == 1 ? tepal_load_fd(fd, &allocator, &g, &error)
                                                  : tepal_map(path, (enum tepal_map_check)(way - 2),
                                                              &allocator, &g, &error);
            (void)close(fd);
            if (status == TEPAL_OK) {
                assert_same(&large, g);
                tepal_filter_free(g);
            } else {
                assert_null(g);
                assert_non_null(inject.failed);
                assert_int_equal(status, TEPAL_IO);
                assert_int_equal(error.status, TEPAL_IO);
                assert_int_equal(error.system, EIO);
                assert_non_null(error.why);
            }
            assert_int_equal(m.live, 0);
            if (inject.failed == NULL) {
                assert_true(n > 4);
                break;
            }
            assert_true(status != TEPAL_OK || forgivable(inject.failed));
        }
    }
    tepal_filter_free(f);
}

/* Descriptors do not leak, whatever fails: as many are open after as before. */
static unsigned open_descriptors(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 256; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

static void descriptors_are_closed(void **unused)
{
    (void)unused;
    struct tepal_filter *f = recipe_make(&small);
    unsigned before = open_descriptors();
    for (unsigned n = 1; n < 30; n++) {
        struct tepal_filter *g[3] = {NULL, NULL, NULL};
        inject_nothing();
        inject.fail_at = n;
        inject.error = EIO;
        (void)tepal_save(f, in_here("file"), NULL);
        inject_nothing();
        assert_int_equal(tepal_save(f, in_here("file"), NULL), TEPAL_OK);
        for (int way = 0; way < 3; way++) {
            inject_nothing();
            inject.fail_at = n;
            inject.error = EIO;
            (void)(way == 0 ? tepal_load(in_here("file"), NULL, &g[way], NULL)
                            : tepal_map(in_here("file"), (enum tepal_map_check)(way - 1), NULL,
                                        &g[way], NULL));
        }
        assert_int_equal(open_descriptors(), before);
        for (int way = 0; way < 3; way++) {
            tepal_filter_free(g[way]);
        }
    }
    tepal_filter_free(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(save_and_load),
        TEST(save_by_a_bare_name),
        TEST(short_transfers_and_interrupts),
        TEST(mapped_views),
        TEST(a_view_of_many_gigabytes),
        TEST(a_lazy_view_reads_no_cells),
        TEST(a_lazy_view_of_lies),
        TEST(pipes),
        TEST(a_pipe_that_boasts),
        TEST(descriptors_of_files),
        TEST(bad_descriptors),
        TEST(save_to_a_slow_pipe),
        TEST(damaged_files),
        TEST(tail_bits_in_files),
        TEST(not_regular),
        TEST(nothing_there),
        TEST(links),
        TEST(permissions),
        TEST(forbidden),
        TEST(no_room),
        TEST(failing_saves),
        TEST(the_order_of_a_save),
        TEST(syncs_that_begin_early),
        TEST(names_that_are_taken),
        TEST(lengths_that_change),
        TEST(directories_that_cannot_sync),
        TEST(failing_loads),
        TEST(descriptors_are_closed),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}

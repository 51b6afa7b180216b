/*
 * store_fuzz.c: filters in files, with any bytes in them, and with calls of the system that fail.
 *
 *     byte 0   bit 0: the bytes are mended (mend.h); bits 1-7: where the filter is saved
 *     byte 1   the call that fails: 0 none, 1 the first, ...
 *     byte 2   how: another error, or half of what was to be read or written
 *     rest     the file
 *
 * What must hold: every way to read gives the filter of the bytes or a reason, and the same verdict
 * if nothing failed. A filter that is saved is the new file; one that is not leaves the old one,
 * unless the message says otherwise. Nothing else stays in the directory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <tepal/receive.h>
#include <tepal/tepal.h>

#include "fail.h"
#include "mend.h"
#include "must.h"

#define ROOM 8192 /* a path that is too long, too */

static char folder[64];
static int home = -1; /* where the fuzzer works, between the inputs */

static void forget_folder(void)
{
    (void)chdir(folder);
    static const char *const names[] = {"old", "new", "link", "nowhere", "pipe"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)unlink(names[i]);
    }
    (void)chdir("/");
    (void)rmdir(folder);
}

/* A directory of our own, in memory where that can be: it is synced often. */
static void make_folder(void)
{
    (void)snprintf(folder, sizeof folder, "%s/tepal-store-fuzz-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    MUST(home >= 0 && mkdtemp(folder) != NULL && chdir(folder) == 0);
    MUST(symlink("old", "link") == 0 && symlink("missing", "nowhere") == 0);
    MUST(mkfifo("pipe", 0600) == 0);
    (void)atexit(forget_folder);
}

static void put(const char *path, const uint8_t *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    MUST(fd >= 0 && write(fd, bytes, len) == (ssize_t)len && close(fd) == 0);
}

static bool holds(const char *path, const uint8_t *bytes, size_t len)
{
    static uint8_t room[1 << 16];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, room, sizeof room);
    (void)close(fd);
    return got >= 0 && (size_t)got == len && memcmp(room, bytes, len) == 0;
}

/* Are there files that a save has left behind? */
static bool left_behind(void)
{
    DIR *all = opendir(".");
    bool any = false;
    MUST(all != NULL);
    for (struct dirent *one = readdir(all); one != NULL; one = readdir(all)) {
        any |= strncmp(one->d_name, ".tepal-", 7) == 0;
    }
    (void)closedir(all);
    return any;
}

struct plan {
    uint64_t at; /* the call that fails, or more than there are */
    int error;
};

static struct plan plan_of(const uint8_t *data)
{
    static const int errors[] = {EIO,    ENOSPC, EINTR,  EAGAIN,    ENOMEM,
                                 EACCES, EEXIST, EINVAL, FAIL_SHORT};
    return (struct plan){data[1] == 0 ? UINT64_MAX : data[1] - 1U,
                         errors[data[2] % (sizeof errors / sizeof *errors)]};
}

/* ---- in -------------------------------------------------------------------------------------- */

enum way { LOAD, LOAD_PIPE, LOAD_FD, MAP, MAP_LAZY, RECEIVE, WAYS };

static enum tepal_status come_in(enum way way, const uint8_t *bytes, size_t len, struct plan plan,
                                 struct tepal_filter **out, bool *failed)
{
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct tepal_judgement judgement = {.verdict = TEPAL_ACCEPTED};
    struct tepal_error error = {.status = TEPAL_OK};
    enum tepal_status status = TEPAL_OK;
    int ends[2] = {-1, -1};
    terms.keys = 1;
    if (way == LOAD_PIPE) {
        MUST(pipe(ends) == 0 && write(ends[1], bytes, len) == (ssize_t)len && close(ends[1]) == 0);
    } else if (way == LOAD_FD || way == RECEIVE) {
        ends[0] = open("old", O_RDONLY | O_CLOEXEC);
    }
    fail_begin(plan.at, plan.error);
    switch (way) {
    case LOAD:
        status = tepal_load("old", NULL, out, &error);
        break;
    case LOAD_PIPE:
    case LOAD_FD:
        status = tepal_load_fd(ends[0], NULL, out, &error);
        break;
    case MAP:
    case MAP_LAZY:
        status =
            tepal_map("link", way == MAP ? TEPAL_MAP_VERIFY : TEPAL_MAP_LAZY, NULL, out, &error);
        break;
    case RECEIVE:
    case WAYS:
        status = tepal_receive_fd(ends[0], &terms, NULL, out, &judgement, &error);
        break;
    }
    *failed = fail_end();
    MUST((*out != NULL) == (status == TEPAL_OK && judgement.verdict == TEPAL_ACCEPTED));
    MUST(status == TEPAL_OK || (error.status == status && error.why != NULL));
    (void)close(ends[0]);
    return status;
}

static void read_every_way(const struct tepal_filter *f, const uint8_t *bytes, size_t len,
                           struct plan plan)
{
    for (enum way way = LOAD; way < WAYS; way++) {
        struct tepal_filter *got = NULL;
        bool failed;
        enum tepal_status status = come_in(way, bytes, len, plan, &got, &failed);
        if (got != NULL && way != MAP_LAZY) {
            MUST(f != NULL && tepal_filter_equal(f, got));
        } else if (way != MAP_LAZY && way != RECEIVE) {
            MUST(f == NULL || failed);
        }
        MUST(way != RECEIVE || failed || status == TEPAL_OK);
        tepal_filter_free(got);
    }
}

/* ---- out ------------------------------------------------------------------------------------- */

static void save_anywhere(const struct tepal_filter *f, unsigned place, const uint8_t *bytes,
                          size_t len, struct plan plan)
{
    static char long_path[ROOM];
    static const uint8_t before[] = "old";
    static const char *const paths[] = {"old", "new",         "link",   "nowhere", "pipe",
                                        ".",   "missing/new", "",       "/",       "./",
                                        NULL,  "./old",       long_path};
    char whole[sizeof folder + 8];
    const char *path = paths[place % (sizeof paths / sizeof *paths)];
    struct tepal_error error = {.why = ""};
    memset(long_path, 'x', ROOM - 1);
    (void)snprintf(whole, sizeof whole, "%s/old", folder);
    path = path == NULL ? whole : path;
    put("old", before, sizeof before);
    /* other rights than a new file has; another group, if we may */
    MUST(chmod("old", 0600 + (place & 077)) == 0);
    if ((place & 64) != 0) {
        (void)chown("old", (uid_t)-1, 12345);
    }
    (void)unlink("new");
    fail_begin(plan.at, plan.error);
    enum tepal_status status = tepal_save(f, path, &error);
    bool failed = fail_end();
    bool is_new = strcmp(path, "new") == 0;
    bool is_old = strstr(path, "old") != NULL || strcmp(path, "link") == 0;
    MUST(!left_behind());
    MUST(status != TEPAL_OK || is_new || is_old);
    MUST(status == TEPAL_OK || failed || !(is_new || is_old) || status == TEPAL_KEY_NEEDED);
    if (status == TEPAL_OK || strstr(error.why, "in place") != NULL) {
        MUST(holds(is_new ? "new" : "old", bytes, len));
    } else {
        MUST(holds("old", before, sizeof before) && access("new", F_OK) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3) {
        return 0;
    }
    if (folder[0] == '\0') {
        make_folder();
    }
    MUST(chdir(folder) == 0);
    size_t len = size - 3;
    uint8_t *bytes = must_copy(data + 3, len);
    if ((data[0] & 1) != 0) {
        len = mend(bytes, len, 0);
    }
    struct tepal_filter *f = NULL;
    (void)tepal_decode(bytes, len, NULL, &f, NULL);
    struct tepal_filter *none = NULL;
    MUST(tepal_load("pipe", NULL, &none, NULL) == TEPAL_NOT_REGULAR);
    MUST(tepal_map("link", TEPAL_MAP_LAZY + 1, NULL, &none, NULL) == TEPAL_BAD_ARGUMENT);
    put("old", bytes, len);
    read_every_way(f, bytes, len, plan_of(data));
    if (f != NULL) {
        save_anywhere(f, data[0] >> 1, bytes, len, plan_of(data));
    }
    tepal_filter_free(f);
    free(bytes);
    MUST(fchdir(home) == 0);
    return 0;
}

/* shelf.c: open, check, save. */
#define _POSIX_C_SOURCE 200809L
#include "shelf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "say.h"
#include "secret.h"

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *shelf_name(const char *path, bool output)
{
    return !is_standard(path) ? path : output ? "standard output" : "standard input";
}

/* ---- open ----------------------------------------------------------------------------------- */

static enum tepal_status system_fault(struct tepal_fault *fault)
{
    fault->status = TEPAL_IO;
    fault->system = errno;
    fault->offset = 0;
    fault->why = NULL;
    return TEPAL_IO;
}

/* A pipe or a device: read to its end. */
static enum tepal_status load_stream(const char *path, struct tepal_filter **out,
                                     struct tepal_fault *fault)
{
    int fd = is_standard(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return system_fault(fault);
    }
    enum tepal_status status = tepal_load_fd(fd, NULL, out, fault);
    if (fd != STDIN_FILENO) {
        close(fd);
    }
    return status;
}

enum tepal_status shelf_try(const char *path, enum shelf_mode mode, struct tepal_filter **out,
                            struct tepal_fault *fault)
{
    struct stat about;
    if (is_standard(path)) {
        return load_stream(path, out, fault);
    }
    if (stat(path, &about) != 0) {
        return system_fault(fault);
    }
    if (S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return system_fault(fault);
    }
    if (!S_ISREG(about.st_mode)) {
        return load_stream(path, out, fault);
    }
    if (mode != SHELF_LOAD) {
        enum tepal_map_check check = mode == SHELF_GLANCE ? TEPAL_MAP_LAZY : TEPAL_MAP_VERIFY;
        enum tepal_status status = tepal_map(path, check, NULL, out, fault);
        if (status != TEPAL_UNSUPPORTED) {
            return status;
        }
    }
    return tepal_load(path, NULL, out, fault);
}

int shelf_fault(const char *stays, const char *path, const struct tepal_fault *fault)
{
    if (fault->why == NULL) {
        return say_error(stays, path, "%s", strerror(fault->system));
    }
    if (fault->system != 0) {
        return say_error(stays, path, "%s: %s", fault->why, strerror(fault->system));
    }
    if (fault->status == TEPAL_NO_MEMORY || fault->status == TEPAL_NOT_REGULAR) {
        return say_error(stays, path, "%s", fault->why);
    }
    return say_error(stays, path, "%s (byte %" PRIu64 ")", fault->why, fault->offset);
}

int shelf_open(const char *stays, const char *path, enum shelf_mode mode, struct tepal_filter **out)
{
    struct tepal_fault fault;
    if (shelf_try(path, mode, out, &fault) == TEPAL_OK) {
        return EXIT_YES;
    }
    return shelf_fault(stays, shelf_name(path, false), &fault);
}

/* ---- checks before any work ----------------------------------------------------------------- */

/* Is there something at `path` that is not a filter, or cannot be read to find out? */
static bool is_foreign(const char *path, const struct stat *about)
{
    struct tepal_filter *filter;
    struct tepal_fault fault;
    if (about->st_size == 0) {
        return false;
    }
    if (shelf_try(path, SHELF_GLANCE, &filter, &fault) == TEPAL_OK) {
        tepal_filter_free(filter);
        return false;
    }
    return fault.status == TEPAL_NOT_A_FILTER || fault.status == TEPAL_IO;
}

static int check_folder(const char *stays, const char *path)
{
    char *folder = strdup(path);
    if (folder == NULL) {
        return say_error(stays, path, "out of memory");
    }
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        strcpy(folder, ".");
    } else {
        slash[slash == folder] = '\0';
    }
    struct stat about;
    int error = 0;
    if (stat(folder, &about) != 0) {
        error = errno;
    } else if (!S_ISDIR(about.st_mode)) {
        error = ENOTDIR;
    } else if (access(folder, W_OK | X_OK) != 0) {
        error = errno;
    }
    int code = error == 0 ? EXIT_YES
                          : say_error(stays, path, "cannot write to the directory %s: %s", folder,
                                      strerror(error));
    free(folder);
    return code;
}

static int check_standard_output(const struct args *args)
{
    if (args->option[OPT_JSON].given) {
        return say_error(NULL, args->command->name,
                         "--output - and --json contradict each other: both go to standard output");
    }
    if (isatty(STDOUT_FILENO)) {
        return say_error(args->command->stays, "standard output",
                         "a filter is never written to a terminal");
    }
    return EXIT_YES;
}

int shelf_check_output(const struct args *args, const char *path)
{
    const char *stays = args->command->stays;
    struct stat about;
    if (is_standard(path)) {
        return check_standard_output(args);
    }
    size_t len = strlen(path);
    if (stat(path, &about) != 0) {
        if (path[len - 1] == '/') {
            return say_error(stays, path, "%s", strerror(EISDIR));
        }
        return check_folder(stays, path);
    }
    if (S_ISDIR(about.st_mode)) {
        return say_error(stays, path, "%s", strerror(EISDIR));
    }
    if (!S_ISREG(about.st_mode)) {
        return say_error(stays, path, "not a regular file (write to - and redirect instead)");
    }
    if (!args->option[OPT_FORCE].given && is_foreign(path, &about)) {
        return say_error(stays, path,
                         "this file is not a filter, so it is not overwritten (--force does)");
    }
    return check_folder(stays, path);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool shelf_same(const char *a, const char *b)
{
    struct stat left;
    struct stat right;
    return !is_standard(a) && !is_standard(b) && stat(a, &left) == 0 && stat(b, &right) == 0 &&
           same_file(&left, &right);
}

/* What `output` is now; false if it is nothing yet. Standard output counts if it is a file. */
static bool stat_output(const char *output, struct stat *about)
{
    if (output == NULL) {
        return false;
    }
    return is_standard(output) ? fstat(STDOUT_FILENO, about) == 0 && S_ISREG(about->st_mode)
                               : stat(output, about) == 0;
}

int shelf_check_inputs(const char *stays, const char *output, const char *const *paths,
                       size_t count, const char *why)
{
    struct stat to;
    bool compare = stat_output(output, &to);
    bool standard = false;
    for (size_t i = 0; i < count; i++) {
        struct stat from;
        bool dash = is_standard(paths[i]);
        const char *name = shelf_name(paths[i], false);
        if (dash && standard) {
            return say_error(stays, name, "given twice, but it can be read only once");
        }
        standard = standard || dash;
        if (dash ? fstat(STDIN_FILENO, &from) != 0 : stat(paths[i], &from) != 0) {
            return say_error(stays, name, "%s", strerror(errno));
        }
        if (S_ISDIR(from.st_mode)) {
            return say_error(stays, name, "%s", strerror(EISDIR));
        }
        if (!dash && access(paths[i], R_OK) != 0) {
            return say_error(stays, name, "%s", strerror(errno));
        }
        if (compare && same_file(&from, &to)) {
            return say_error(stays, name, "%s", why);
        }
    }
    return EXIT_YES;
}

/* ---- save ----------------------------------------------------------------------------------- */

static enum tepal_status save_held(const struct tepal_filter *filter, const char *path,
                                   struct tepal_fault *fault)
{
    sigset_t held;
    sigset_t before;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigaddset(&held, SIGQUIT);
    sigprocmask(SIG_BLOCK, &held, &before);
    enum tepal_status status = tepal_save(filter, path, fault);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

int shelf_save(const char *stays, const struct tepal_filter *filter, const char *path)
{
    struct tepal_fault fault;
    enum tepal_status status;
    if (is_standard(path)) {
        status = tepal_save_fd(filter, STDOUT_FILENO, &fault);
        stays = NULL;
        if (status != TEPAL_OK && fault.system == EPIPE) {
            return EXIT_TROUBLE;
        }
    } else {
        struct stat before = {.st_size = 0};
        struct stat after = {.st_size = 0};
        (void)stat(path, &before);
        status = save_held(filter, path, &fault);
        /* A save can fail after it has put the new file in place: do not deny that. */
        if (status != TEPAL_OK && stat(path, &after) == 0 && !same_file(&before, &after)) {
            stays = NULL;
        }
    }
    return status == TEPAL_OK ? EXIT_YES : shelf_fault(stays, shelf_name(path, true), &fault);
}

/* ---- keyed filters -------------------------------------------------------------------------- */

int shelf_hasher(const struct args *args, const char *path, struct tepal_filter *filter,
                 struct tepal_hasher *hasher)
{
    const char *stays = args->command->stays;
    const struct option_value *file = &args->option[OPT_KEY_FILE];
    bool keyed = tepal_filter_params(filter)->hash == TEPAL_HASH_SIPHASH;
    if (keyed && !file->given) {
        return say_error(stays, path, "this filter was made with a secret key: give --key-file");
    }
    if (!keyed && file->given) {
        return say_error(stays, path,
                         "this filter was made without a secret key: leave out --key-file");
    }
    if (keyed) {
        uint8_t key[TEPAL_KEY_BYTES];
        if (secret_read(stays, file->text, key) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        enum tepal_status status = tepal_filter_set_key(filter, key);
        sodium_memzero(key, sizeof key);
        if (status != TEPAL_OK) {
            return say_error(stays, file->text, "%s", tepal_status_message(status));
        }
    }
    enum tepal_status status = tepal_filter_hasher(filter, hasher);
    return status == TEPAL_OK ? EXIT_YES
                              : say_error(stays, path, "%s", tepal_status_message(status));
}

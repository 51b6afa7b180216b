/* filter_file.c: open, check, save. */
#define _DEFAULT_SOURCE
#include "files/filter_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/file_lock.h"
#include "files/leftover.h"
#include "files/packed.h"
#include "input/secret.h"
#include "system/bytes.h"

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *filter_file_name(const char *path, bool output)
{
    return !is_standard(path) ? path : output ? "standard output" : "standard input";
}

/* ---- open ------------------------------------------------------------------------------------ */

static enum tepal_status system_fault(struct tepal_error *error)
{
    error->status = TEPAL_IO;
    error->system = errno;
    error->offset = 0;
    error->why = NULL;
    return TEPAL_IO;
}

/* The file itself: mapped or loaded. */
static enum tepal_status open_regular(const char *path, enum filter_file_mode mode,
                                      struct tepal_filter **out, struct tepal_error *error)
{
    if (mode != FILTER_FILE_LOAD) {
        enum tepal_map_check check = mode == FILTER_FILE_GLANCE ? TEPAL_MAP_LAZY : TEPAL_MAP_VERIFY;
        enum tepal_status status = tepal_map(path, check, NULL, out, error);
        if (status != TEPAL_UNSUPPORTED) {
            return status;
        }
    }
    return tepal_load(path, NULL, out, error);
}

/* Whatever it is: a file, a pipe, compressed or not. */
static enum tepal_status open_any(const char *path, enum filter_file_mode mode, uint64_t most,
                                  struct tepal_filter **out, struct tepal_error *error)
{
    struct stat about;
    if (is_standard(path)) {
        return packed_load(path, most, out, error);
    }
    path = file_lock_place(path);
    if (stat(path, &about) != 0) {
        return system_fault(error);
    }
    if (S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return system_fault(error);
    }
    if (!S_ISREG(about.st_mode)) {
        return packed_load(path, most, out, error);
    }
    enum tepal_status status = open_regular(path, mode, out, error);
    return status == TEPAL_NOT_A_FILTER && packed_look(path) != PACKED_NOT
               ? packed_load(path, most, out, error)
               : status;
}

enum tepal_status filter_file_try(const char *path, enum filter_file_mode mode,
                                  struct tepal_filter **out, struct tepal_error *error)
{
    return open_any(path, mode, PACKED_MOST, out, error);
}

int filter_file_fault(const char *stays, const char *path, const struct tepal_error *error)
{
    if (error->why == NULL) {
        return say_error(stays, path, "%s", strerror(error->system));
    }
    if (error->system != 0) {
        return say_error(stays, path, "%s: %s", error->why, strerror(error->system));
    }
    if (error->status == TEPAL_NO_MEMORY || error->status == TEPAL_NOT_REGULAR) {
        return say_error(stays, path, "%s", error->why);
    }
    return say_error(stays, path, "%s (byte %" PRIu64 ")", error->why, error->offset);
}

int filter_file_open(const struct args *args, const char *path, enum filter_file_mode mode,
                     struct tepal_filter **out)
{
    struct tepal_error error;
    uint64_t most = arg_whole(args, "max-bytes", PACKED_MOST);
    if (open_any(path, mode, most, out, &error) == TEPAL_OK) {
        return EXIT_YES;
    }
    return filter_file_fault(args->command->stays, filter_file_name(path, false), &error);
}

/* ---- checks before any work ------------------------------------------------------------------ */

/* What is at `path` must be a filter, sound or not, or empty. */
static int check_foreign(const struct args *args, const char *path, const struct stat *about)
{
    struct tepal_filter *filter;
    struct tepal_error error;
    if (about->st_size == 0) {
        return EXIT_YES;
    }
    if (filter_file_try(path, FILTER_FILE_GLANCE, &filter, &error) == TEPAL_OK) {
        tepal_filter_free(filter);
        return EXIT_YES;
    }
    if (error.status == TEPAL_NOT_A_FILTER) {
        return args_about(args, path,
                          "the file exists and is not a filter; use --force to overwrite it");
    }
    return error.status == TEPAL_IO ? filter_file_fault(args->command->stays, path, &error)
                                    : EXIT_YES;
}

/* The directory where a save would put its file, and what a save needs there. */
static int check_folder(const struct args *args, const char *path, bool exists)
{
    char *folder = exists ? realpath(path, NULL) : strdup(path);
    if (folder == NULL) {
        return args_about(args, path, "%s", strerror(errno));
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
    } else if (access(folder, R_OK | W_OK | X_OK) != 0) {
        error = errno;
    }
    int code = error == 0 ? EXIT_YES
                          : args_about(args, path, "cannot write to the directory %s: %s", folder,
                                       strerror(error));
    free(folder);
    return code;
}

static int check_standard_output(const struct args *args)
{
    if (arg(args, "json")->given) {
        return args_wrong(args,
                          "--output - and --json cannot be combined: both go to standard output");
    }
    if (isatty(STDOUT_FILENO)) {
        return args_about(args, "standard output", "refusing to write a filter to a terminal");
    }
    return EXIT_YES;
}

int filter_file_check_output(const struct args *args, const char *path)
{
    struct stat about;
    if (is_standard(path)) {
        return check_standard_output(args);
    }
    size_t len = strlen(path);
    if (stat(path, &about) != 0) {
        int error = errno;
        if (path[len - 1] == '/') {
            return args_about(args, path, "%s", strerror(EISDIR));
        }
        if (lstat(path, &about) == 0) {
            return args_about(args, path, "the symbolic link cannot be followed: %s",
                              strerror(error));
        }
        return check_folder(args, path, false);
    }
    if (S_ISDIR(about.st_mode)) {
        return args_about(args, path, "%s", strerror(EISDIR));
    }
    if (!S_ISREG(about.st_mode)) {
        return args_about(args, path, "not a regular file (write to - and redirect instead)");
    }
    if (filter_file_check_own(args, path, true) != EXIT_YES ||
        (!arg(args, "force")->given && check_foreign(args, path, &about) != EXIT_YES)) {
        return EXIT_TROUBLE;
    }
    return check_folder(args, path, true);
}

int filter_file_check_in_place(const struct args *args, const char *path)
{
    struct stat about;
    if (filter_file_check_inputs(args, NULL, &path, 1, "") != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        return args_about(args, path,
                          "not a regular file, so it cannot be changed in place: give --output");
    }
    if (packed_look(path) == PACKED_SO) {
        return args_about(args, path,
                          "compressed, so it cannot be changed in place: give --output");
    }
    return check_folder(args, path, true);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The folder of a path, on the heap, and the name in it. NULL without memory. */
static char *folder_of(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash == NULL ? path : slash + 1;
    return slash == NULL ? strdup(".") : strndup(path, (size_t)(slash + 1 - path));
}

/* Of files that are not there yet: the same name in the same folder. */
static bool same_place(const char *a, const char *b)
{
    struct stat left;
    struct stat right;
    const char *names[2];
    char *one = folder_of(a, &names[0]);
    char *two = folder_of(b, &names[1]);
    bool same = one != NULL && two != NULL && strcmp(names[0], names[1]) == 0 &&
                stat(one, &left) == 0 && stat(two, &right) == 0 && same_file(&left, &right);
    free(one);
    free(two);
    return same;
}

bool filter_file_same(const char *a, const char *b)
{
    struct stat left;
    struct stat right;
    if (is_standard(a) || is_standard(b)) {
        return false;
    }
    bool first = stat(a, &left) == 0;
    bool second = stat(b, &right) == 0;
    return first && second ? same_file(&left, &right) : first == second && same_place(a, b);
}

/* What `output` is now; false if it is no file, or nothing yet. */
static bool stat_output(const char *output, struct stat *about)
{
    return output != NULL &&
           (is_standard(output) ? fstat(STDOUT_FILENO, about) : stat(output, about)) == 0 &&
           S_ISREG(about->st_mode);
}

int filter_file_check_own(const struct args *args, const char *path, bool filter)
{
    struct stat to;
    struct stat standard;
    bool same = !filter && stat_output(path, &to) && fstat(STDIN_FILENO, &standard) == 0 &&
                same_file(&standard, &to);
    for (size_t i = 0; i < args->operands && args->command->files && !filter; i++) {
        same = same || filter_file_same(path, args->operand[i]);
    }
    for (const struct option *o = args->command->options; o->name != NULL; o++) {
        const struct option_value *other = arg(args, o->name);
        same = same ||
               (o->type == TAKES_FILE && other->given && other->text != path &&
                !(filter && strcmp(o->name, "like") == 0) && filter_file_same(path, other->text));
    }
    return same ? args_about(args, path, "the output would overwrite another file of this command")
                : EXIT_YES;
}

int filter_file_check_inputs(const struct args *args, const char *output, const char *const *paths,
                             size_t count, const char *why)
{
    static const char *const none_named[] = {"-"};
    struct stat to;
    bool compare = stat_output(output, &to);
    bool standard = false;
    if (count == 0) {
        paths = none_named;
        count = 1;
    }
    for (size_t i = 0; i < count; i++) {
        struct stat from;
        bool dash = is_standard(paths[i]);
        const char *name = filter_file_name(paths[i], false);
        if (dash && standard) {
            return args_about(args, name, "given twice, but it can be read only once");
        }
        standard = standard || dash;
        if (dash ? fstat(STDIN_FILENO, &from) != 0 : stat(paths[i], &from) != 0) {
            /* Behind a filter, a key may have been typed in place of a file of keys. */
            return args_about(args, name, "%s%s", strerror(errno),
                              errno == ENOENT && paths == args->operand + 1
                                  ? " (keys are read from files, or from standard input)"
                                  : "");
        }
        if (S_ISDIR(from.st_mode)) {
            return args_about(args, name, "%s", strerror(EISDIR));
        }
        if (!dash && access(paths[i], R_OK) != 0) {
            return args_about(args, name, "%s", strerror(errno));
        }
        if (compare && same_file(&from, &to)) {
            return args_about(args, name, "%s", why);
        }
    }
    return EXIT_YES;
}

/* ---- save ------------------------------------------------------------------------------------ */

enum tepal_status filter_file_save_quietly(const struct tepal_filter *filter, const char *path,
                                           struct tepal_error *error)
{
    sigset_t before;
    leftover_hold(&before);
    enum tepal_status status = tepal_save(filter, path, error);
    leftover_release(&before);
    return status;
}

bool filter_file_in_place(const struct tepal_error *error)
{
    static const char says[] = "the new file is in place";
    return error->why != NULL && strncmp(error->why, says, sizeof says - 1) == 0;
}

static int save(const struct args *args, const struct tepal_filter *filter, const char *path,
                bool *in_place)
{
    const char *stays = args->command->stays;
    struct tepal_error error;
    enum tepal_status status;
    *in_place = false;
    if (arg(args, "compress")->given) {
        return packed_save(args, filter, file_lock_place(path), in_place);
    }
    if (is_standard(path)) {
        status = tepal_save_fd(filter, STDOUT_FILENO, &error);
        stays = NULL;
        if (status != TEPAL_OK && error.system == EPIPE) {
            return EXIT_TROUBLE;
        }
    } else {
        status = filter_file_save_quietly(filter, file_lock_place(path), &error);
        stays =
            status != TEPAL_OK && filter_file_in_place(&error) ? NULL : stays; /* do not deny it */
    }
    *in_place = status == TEPAL_OK || filter_file_in_place(&error);
    return status == TEPAL_OK ? EXIT_YES
                              : filter_file_fault(stays, filter_file_name(path, true), &error);
}

int filter_file_save_with(const struct args *args, const struct tepal_filter *filter,
                          const char *path, struct atomic_file *const *beside, size_t count)
{
    const char *done = filter != NULL ? "the filter was written" : NULL;
    bool in_place = true;
    sigset_t before;
    leftover_hold(&before);
    int code = filter != NULL ? save(args, filter, path, &in_place) : EXIT_YES;
    /* While nothing has its name the first failure is the last: then nothing was written. */
    for (size_t i = 0; i < count && in_place && (code == EXIT_YES || done != NULL); i++) {
        if (beside[i]->temporary == NULL) {
            continue;
        }
        code = atomic_file_commit(beside[i], args, done) == EXIT_YES ? code : EXIT_TROUBLE;
        done = done == NULL && beside[i]->named ? "others before it were written" : done;
    }
    leftover_release(&before);
    return code;
}

int filter_file_save(const struct args *args, const struct tepal_filter *filter, const char *path)
{
    return filter_file_save_with(args, filter, path, NULL, 0);
}

int filter_file_replace(const struct args *args, const struct tepal_filter *filter,
                        const char *path, struct atomic_file *const *beside, size_t count)
{
    struct file_lock lock = {.path = NULL};
    int code = file_lock_take(&lock, args, path, FILE_LOCK_WAIT);
    code = code == EXIT_YES ? filter_file_save_with(args, filter, path, beside, count) : code;
    file_lock_drop(&lock);
    return code;
}

uint64_t filter_file_bytes(const char *path, const struct tepal_filter *filter)
{
    struct stat about;
    return !is_standard(path) && stat(path, &about) == 0 && S_ISREG(about.st_mode)
               ? (uint64_t)about.st_size
               : tepal_encoded_bytes(filter);
}

/* ---- keyed filters --------------------------------------------------------------------------- */

int filter_file_hasher(const struct args *args, const char *path, struct tepal_filter *filter,
                       struct tepal_hasher *hasher)
{
    const struct option_value *file = arg(args, "key-file");
    bool keyed = tepal_hash_is_keyed(tepal_filter_params(filter)->hash);
    if (keyed && !file->given) {
        return args_about(args, path, "this filter was made with a secret key: give --key-file");
    }
    if (!keyed && file->given) {
        return args_about(args, path,
                          "this filter was made without a secret key: leave out --key-file");
    }
    if (keyed) {
        uint8_t key[TEPAL_KEY_BYTES];
        if (secret_read(args, file->text, key) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        enum tepal_status status = tepal_filter_set_key(filter, key);
        bytes_wipe(key, sizeof key);
        if (status != TEPAL_OK) {
            return say_status(args->command->stays, file->text, status, NULL);
        }
    }
    enum tepal_status status = tepal_filter_hasher(filter, hasher);
    return say_status(args->command->stays, path, status, NULL);
}

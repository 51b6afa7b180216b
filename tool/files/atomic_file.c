/* atomic_file.c: create, write, sync, rename, sync the directory. */
#define _DEFAULT_SOURCE
#include "files/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/filter_file.h"
#include "files/leftover.h"
#include "system/bytes.h"

int atomic_file_check(const struct args *args, const char *path)
{
    struct stat about;
    if (filter_file_check_own(args, path, false) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (stat(path, &about) != 0) {
        return errno == ENOENT ? EXIT_YES : args_about(args, path, "%s", strerror(errno));
    }
    if (S_ISDIR(about.st_mode)) {
        return args_about(args, path, "%s", strerror(EISDIR));
    }
    if (!S_ISREG(about.st_mode)) {
        return args_about(args, path, "not a regular file");
    }
    if (about.st_size > 0 && !arg(args, "force")->given) {
        return args_about(args, path, "the file exists; use --force to overwrite it");
    }
    return EXIT_YES;
}

/* The temporary name is no longer ours to remove. */
static void forget(struct atomic_file *file)
{
    leftover_forget(file->temporary);
    free(file->temporary);
    file->temporary = NULL;
}

static int failed(struct atomic_file *file, const struct args *args, int error)
{
    atomic_file_free(file);
    return args_about(args, file->path, "%s", strerror(error));
}

/* What the path names, after symbolic links: a regular file, or nothing yet. 0, or an error. */
static int resolve(struct atomic_file *file, struct stat *old, bool *exists)
{
    struct stat link;
    *exists = stat(file->path, old) == 0;
    if (*exists) {
        file->target = realpath(file->path, NULL);
        return !S_ISREG(old->st_mode) ? EINVAL : file->target == NULL ? errno : 0;
    }
    if (errno != ENOENT) {
        return errno;
    }
    if (lstat(file->path, &link) == 0) {
        return ELOOP; /* a link that leads nowhere */
    }
    if (errno != ENOENT) {
        return errno;
    }
    file->target = strdup(file->path);
    return file->target == NULL ? ENOMEM : 0;
}

/* A new file in the directory of the target, by a name that cannot be guessed; -1 and errno. */
static int create(struct atomic_file *file, mode_t mode)
{
    const char *slash = strrchr(file->target, '/');
    int folder = slash == NULL ? 0 : (int)(slash + 1 - file->target);
    size_t room = (size_t)folder + sizeof ".tepal-0123456789abcdef.tmp";
    file->temporary = malloc(room);
    if (file->temporary == NULL) {
        errno = ENOMEM;
        return -1;
    }
    int fd;
    sigset_t before;
    leftover_hold(&before);
    do {
        uint64_t draw;
        if (!bytes_draw(&draw, sizeof draw)) {
            fd = -1;
            break;
        }
        snprintf(file->temporary, room, "%.*s.tepal-%016" PRIx64 ".tmp", folder, file->target,
                 draw);
        fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    } while (fd < 0 && (errno == EEXIST || errno == EINTR));
    if (fd < 0) {
        int error = errno;
        leftover_release(&before);
        free(file->temporary);
        file->temporary = NULL;
        errno = error;
        return -1;
    }
    leftover_note(file->temporary);
    leftover_release(&before);
    return fd;
}

/*
 * Owner, group and permissions of the old file. The owner is kept if we may. If the group cannot
 * be kept, ours must not get what was meant for it.
 */
static bool keep_permissions(int fd, const struct stat *old)
{
    mode_t mode = old->st_mode & 0777;
    if (fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, (uid_t)-1, old->st_gid) != 0) {
        mode &= ~(mode_t)0070 | ((mode & 0007) << 3);
    }
    return fchmod(fd, mode) == 0;
}

int atomic_file_open(struct atomic_file *file, const struct args *args, const char *path)
{
    struct stat old;
    bool exists;
    *file = (struct atomic_file){.path = path};
    int error = resolve(file, &old, &exists);
    if (error != 0) {
        return failed(file, args, error);
    }
    int fd = create(file, exists ? 0600 : 0666);
    if (fd < 0) {
        return failed(file, args, errno);
    }
    if (exists && !keep_permissions(fd, &old)) {
        error = errno;
        close(fd);
        return failed(file, args, error);
    }
    file->out = out_open(fd);
    if (file->out == NULL) {
        close(fd);
        atomic_file_free(file);
        return EXIT_TROUBLE;
    }
    return EXIT_YES;
}

static int sync_whole(int fd)
{
    int result;
    do {
        result = fsync(fd);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

int atomic_file_finish(struct atomic_file *file, const struct args *args)
{
    out_flush(file->out);
    int error = file->out->failed;
    error = error == 0 ? sync_whole(file->out->fd) : error;
    if (close(file->out->fd) != 0 && error == 0 && errno != EINTR) {
        error = errno;
    }
    free(file->out);
    file->out = NULL;
    return error == 0 ? EXIT_YES : failed(file, args, error);
}

/* The name is only safe when the directory is. 0, or an error; EINVAL: it has no such thing. */
static int sync_directory(char *path)
{
    char *slash = strrchr(path, '/');
    const char *directory = slash == NULL ? "." : slash == path ? "/" : path;
    if (slash != NULL) {
        *slash = '\0';
    }
    int fd;
    do {
        fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    int error = fd < 0 ? errno : sync_whole(fd);
    if (fd >= 0) {
        close(fd);
    }
    if (slash != NULL) {
        *slash = '/';
    }
    return error == EINVAL ? 0 : error;
}

int atomic_file_commit(struct atomic_file *file, const struct args *args, const char *done)
{
    if (rename(file->temporary, file->target) != 0) {
        int error = errno;
        if (done == NULL) {
            return failed(file, args, error);
        }
        int code = say_error(NULL, file->path, "%s; %s, and what belongs here is in %s",
                             strerror(error), done, file->temporary);
        forget(file);
        return code;
    }
    forget(file);
    file->named = true;
    int error = sync_directory(file->target);
    return error == 0
               ? EXIT_YES
               : say_error(NULL, file->path,
                           "the new file is in place, but its directory cannot be synced: %s",
                           strerror(error));
}

int atomic_file_write(const struct args *args, const char *option,
                      void (*write)(const void *context, struct out *out), const void *context)
{
    struct atomic_file file = {.path = NULL};
    if (!arg(args, option)->given) {
        return EXIT_YES;
    }
    int code = atomic_file_open(&file, args, arg(args, option)->text);
    if (code == EXIT_YES) {
        write(context, file.out);
        code = atomic_file_finish(&file, args);
    }
    code = code == EXIT_YES ? atomic_file_commit(&file, args, NULL) : code;
    atomic_file_free(&file);
    return code;
}

void atomic_file_free(struct atomic_file *file)
{
    if (file->out != NULL) {
        close(file->out->fd);
        free(file->out);
        file->out = NULL;
    }
    if (file->temporary != NULL) {
        unlink(file->temporary);
        forget(file);
    }
    free(file->target);
    file->target = NULL;
}

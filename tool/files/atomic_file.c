/* atomic_file.c: mkstemp, write, sync, rename. */
#define _POSIX_C_SOURCE 200809L
#include "files/atomic_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int atomic_file_check(const struct args *args, const char *path)
{
    struct stat about;
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
        return args_about(args, path, "this file exists, so it is not overwritten (--force does)");
    }
    return EXIT_YES;
}

static int failed(struct atomic_file *side, const struct args *args, int error)
{
    atomic_file_free(side);
    return args_about(args, side->path, "%s", strerror(error));
}

int atomic_file_open(struct atomic_file *side, const struct args *args, const char *path)
{
    const char *slash = strrchr(path, '/');
    int folder = slash == NULL ? 0 : (int)(slash + 1 - path);
    size_t room = (size_t)folder + sizeof ".tepal-XXXXXX";
    memset(side, 0, sizeof *side);
    side->path = path;
    side->temporary = malloc(room);
    if (side->temporary == NULL) {
        return failed(side, args, ENOMEM);
    }
    snprintf(side->temporary, room, "%.*s.tepal-XXXXXX", folder, path);
    int fd = mkstemp(side->temporary);
    if (fd < 0) {
        int error = errno;
        free(side->temporary);
        side->temporary = NULL;
        return failed(side, args, error);
    }
    mode_t mask = umask(0);
    umask(mask);
    (void)!fchmod(fd, 0666 & ~mask);
    side->out = out_open(fd);
    if (side->out == NULL) {
        close(fd);
        atomic_file_free(side);
        return EXIT_TROUBLE;
    }
    return EXIT_YES;
}

int atomic_file_finish(struct atomic_file *side, const struct args *args)
{
    out_flush(side->out);
    int error = side->out->failed;
    if (error == 0 && fsync(side->out->fd) != 0) {
        error = errno;
    }
    if (close(side->out->fd) != 0 && error == 0) {
        error = errno;
    }
    free(side->out);
    side->out = NULL;
    return error == 0 ? EXIT_YES : failed(side, args, error);
}

int atomic_file_commit(struct atomic_file *side, const struct args *args)
{
    if (rename(side->temporary, side->path) != 0) {
        return failed(side, args, errno);
    }
    free(side->temporary);
    side->temporary = NULL;
    return EXIT_YES;
}

int atomic_file_write(const struct args *args, const char *option,
                      void (*write)(const void *context, struct out *out), const void *context)
{
    struct atomic_file side = {.path = NULL};
    if (!arg(args, option)->given) {
        return EXIT_YES;
    }
    int code = atomic_file_open(&side, args, arg(args, option)->text);
    if (code == EXIT_YES) {
        write(context, side.out);
        code = atomic_file_finish(&side, args);
    }
    code = code == EXIT_YES ? atomic_file_commit(&side, args) : code;
    atomic_file_free(&side);
    return code;
}

void atomic_file_free(struct atomic_file *side)
{
    if (side->out != NULL) {
        close(side->out->fd);
        free(side->out);
        side->out = NULL;
    }
    if (side->temporary != NULL) {
        unlink(side->temporary);
        free(side->temporary);
        side->temporary = NULL;
    }
}

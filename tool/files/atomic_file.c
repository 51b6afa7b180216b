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
        return args_about(args, path, "the file exists; use --force to overwrite it");
    }
    return EXIT_YES;
}

static int failed(struct atomic_file *file, const struct args *args, int error)
{
    atomic_file_free(file);
    return args_about(args, file->path, "%s", strerror(error));
}

int atomic_file_open(struct atomic_file *file, const struct args *args, const char *path)
{
    const char *slash = strrchr(path, '/');
    int folder = slash == NULL ? 0 : (int)(slash + 1 - path);
    size_t room = (size_t)folder + sizeof ".tepal-XXXXXX";
    memset(file, 0, sizeof *file);
    file->path = path;
    file->temporary = malloc(room);
    if (file->temporary == NULL) {
        return failed(file, args, ENOMEM);
    }
    snprintf(file->temporary, room, "%.*s.tepal-XXXXXX", folder, path);
    int fd = mkstemp(file->temporary);
    if (fd < 0) {
        int error = errno;
        free(file->temporary);
        file->temporary = NULL;
        return failed(file, args, error);
    }
    mode_t mask = umask(0);
    umask(mask);
    (void)!fchmod(fd, 0666 & ~mask);
    file->out = out_open(fd);
    if (file->out == NULL) {
        close(fd);
        atomic_file_free(file);
        return EXIT_TROUBLE;
    }
    return EXIT_YES;
}

int atomic_file_finish(struct atomic_file *file, const struct args *args)
{
    out_flush(file->out);
    int error = file->out->failed;
    if (error == 0 && fsync(file->out->fd) != 0) {
        error = errno;
    }
    if (close(file->out->fd) != 0 && error == 0) {
        error = errno;
    }
    free(file->out);
    file->out = NULL;
    return error == 0 ? EXIT_YES : failed(file, args, error);
}

int atomic_file_commit(struct atomic_file *file, const struct args *args)
{
    if (rename(file->temporary, file->path) != 0) {
        return failed(file, args, errno);
    }
    free(file->temporary);
    file->temporary = NULL;
    return EXIT_YES;
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
    code = code == EXIT_YES ? atomic_file_commit(&file, args) : code;
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
        free(file->temporary);
        file->temporary = NULL;
    }
}

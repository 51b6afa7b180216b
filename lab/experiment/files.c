/* files.c: the lab's files: read whole, and written whole or not at all. */
#define _POSIX_C_SOURCE 200809L
#include "experiment/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/atomic_file.h"
#include "input/retry.h"

#define MOST_BYTES ((size_t)64 << 20)

char *lab_path(const char *folder, const char *name, const char *ending)
{
    size_t size = strlen(folder) + strlen(name) + strlen(ending) + 2;
    char *path = malloc(size);
    if (path != NULL) {
        snprintf(path, size, "%s/%s%s", folder, name, ending);
    }
    return path;
}

char *lab_picture_path(const char *folder, const char *name, unsigned number)
{
    char ending[24] = ".svg";
    if (number > 1) {
        snprintf(ending, sizeof ending, "-%u.svg", number);
    }
    return lab_path(folder, name, ending);
}

static int write_held(const struct args *args, const char *path,
                      int (*print)(struct out *out, void *what), void *what)
{
    struct atomic_file file = {0};
    int code = atomic_file_open(&file, args, path);
    code = code == EXIT_YES ? print(file.out, what) : code;
    code = code == EXIT_YES ? atomic_file_finish(&file, args) : code;
    code = code == EXIT_YES ? atomic_file_commit(&file, args, NULL) : code;
    atomic_file_free(&file);
    return code;
}

int lab_write(const struct args *args, const char *path, int (*print)(struct out *out, void *what),
              void *what)
{
    sigset_t held;
    sigset_t before;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigprocmask(SIG_BLOCK, &held, &before);
    int code = write_held(args, path, print, what);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return code;
}

static char *read_open(int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0) {
        return NULL;
    }
    if (!S_ISREG(about.st_mode) || (uintmax_t)about.st_size > MOST_BYTES) {
        errno = S_ISREG(about.st_mode) ? EFBIG : EINVAL;
        return NULL;
    }
    size_t size = (size_t)about.st_size;
    size_t used = 0;
    char *text = malloc(size + 1);
    ssize_t got = 1;
    while (text != NULL && used < size && got != 0) {
        got = read(fd, text + used, size - used);
        if (got < 0 && !retry_io(fd, POLLIN)) {
            free(text);
            return NULL;
        }
        used += got > 0 ? (size_t)got : 0;
    }
    if (text != NULL) {
        text[used] = '\0';
    }
    return text;
}

char *lab_slurp(const char *path)
{
    int fd;
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        return NULL;
    }
    char *text = read_open(fd);
    int error = errno;
    close(fd);
    errno = error;
    return text;
}

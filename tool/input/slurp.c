/* slurp.c: read until the end, or until it is too much. */
#define _POSIX_C_SOURCE 200809L
#include "input/slurp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/retry.h"

/* All of it, or at least a byte more than `most`; false and errno on failure. */
static bool read_all(int fd, size_t most, char **bytes, size_t *len)
{
    size_t room = 0;
    ssize_t got = 1;
    while (got != 0 && *len <= most) {
        if (*len == room) {
            room = room == 0 ? 65536 : 2 * room;
            char *larger = realloc(*bytes, room);
            if (larger == NULL) {
                return false;
            }
            *bytes = larger;
        }
        got = read(fd, *bytes + *len, room - *len);
        if (got < 0 && !retry_io(fd, POLLIN)) {
            return false;
        }
        *len += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static int open_whole(const char *path)
{
    int fd;
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

char *slurp(const struct args *args, const char *path, size_t most, size_t *len)
{
    int fd = open_whole(path);
    char *bytes = NULL;
    *len = 0;
    bool failed = true;
    if (fd < 0 || !read_all(fd, most, &bytes, len)) {
        args_about(args, path, "%s", strerror(errno));
    } else if (*len > most) {
        args_about(args, path, "too large: more than %zu bytes", most);
    } else {
        failed = false;
    }
    if (fd >= 0) {
        close(fd);
    }
    if (failed) {
        free(bytes);
    }
    return failed ? NULL : bytes;
}

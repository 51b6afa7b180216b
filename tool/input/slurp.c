/* slurp.c: read until the end, or until it is too much. */
#define _POSIX_C_SOURCE 200809L
#include "input/slurp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All of it, or at least a byte more than `most`; false and errno on failure. */
static bool read_all(FILE *file, size_t most, char **bytes, size_t *len)
{
    size_t room = 0;
    do {
        room = room == 0 ? 65536 : 2 * room;
        char *larger = realloc(*bytes, room);
        if (larger == NULL) {
            return false;
        }
        *bytes = larger;
        *len += fread(*bytes + *len, 1, room - *len, file);
    } while (*len == room && *len <= most);
    return ferror(file) == 0;
}

char *slurp(const struct args *args, const char *path, size_t most, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    *len = 0;
    bool failed = true;
    if (file == NULL || !read_all(file, most, &bytes, len)) {
        args_about(args, path, "%s", strerror(errno));
    } else if (*len > most) {
        args_about(args, path, "too large: more than %zu bytes", most);
    } else {
        failed = false;
    }
    if (file != NULL) {
        fclose(file);
    }
    if (failed) {
        free(bytes);
    }
    return failed ? NULL : bytes;
}

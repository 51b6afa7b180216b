/* spool.c: standard input to a temporary file, which goes with the spool. */
#define _POSIX_C_SOURCE 200809L
#include "input/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/leftover.h"
#include "input/retry.h"

static int copy_input(const struct args *args, int to)
{
    char room[65536];
    ssize_t got;
    while ((got = read(STDIN_FILENO, room, sizeof room)) > 0 ||
           (got < 0 && retry_io(STDIN_FILENO, POLLIN))) {
        for (ssize_t at = 0; at < got;) {
            ssize_t wrote = write(to, room + at, (size_t)(got - at));
            if (wrote < 0 && !retry_io(to, POLLOUT)) {
                return args_about(args, "temporary file", "%s", strerror(errno));
            }
            at += wrote > 0 ? wrote : 0;
        }
    }
    return got == 0 ? EXIT_YES : args_about(args, "standard input", "%s", strerror(errno));
}

static int take_input(const struct args *args, struct spool *s)
{
    const char *folder = getenv("TMPDIR");
    int len = snprintf(s->temporary, sizeof s->temporary, "%s/tepal-keys-XXXXXX",
                       folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    sigset_t before;
    leftover_hold(&before);
    int fd = len < (int)sizeof s->temporary ? mkstemp(s->temporary) : -1;
    if (fd < 0) {
        s->temporary[0] = '\0';
    } else {
        leftover_note(s->temporary);
    }
    leftover_release(&before);
    if (fd < 0) {
        return args_about(args, "temporary file", "%s", strerror(errno));
    }
    int code = copy_input(args, fd);
    if (close(fd) != 0 && code == EXIT_YES && errno != EINTR) {
        code = args_about(args, "temporary file", "%s", strerror(errno));
    }
    return code;
}

int spool_open(const struct args *args, struct spool *s)
{
    s->count = args->operands == 0 ? 1 : args->operands;
    s->path = calloc(s->count, sizeof *s->path);
    if (s->path == NULL) {
        return args_no_memory(args);
    }
    for (size_t i = 0; i < s->count; i++) {
        s->path[i] = args->operands == 0 ? "-" : args->operand[i];
        if (strcmp(s->path[i], "-") == 0) {
            if (s->temporary[0] == '\0' && take_input(args, s) != EXIT_YES) {
                return EXIT_TROUBLE;
            }
            s->path[i] = s->temporary;
        }
    }
    s->avoid = arg(args, "avoid")->given ? arg(args, "avoid")->text : NULL;
    if (s->avoid != NULL && strcmp(s->avoid, "-") == 0) {
        if (s->temporary[0] != '\0') {
            return args_error(args, "standard input cannot be both the keys and the negatives");
        }
        if (take_input(args, s) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        s->avoid = s->temporary;
    }
    return EXIT_YES;
}

void spool_close(struct spool *s)
{
    if (s->temporary[0] != '\0') {
        unlink(s->temporary);
        leftover_forget(s->temporary);
    }
    free(s->path);
}

/* out.c: a buffer before write(2). */
#define _POSIX_C_SOURCE 200809L
#include "output/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/retry.h"

struct out *out_open(int fd)
{
    struct out *out = malloc(sizeof *out);
    if (out == NULL) {
        say_no_memory();
        return NULL;
    }
    out->fd = fd;
    out->failed = 0;
    out->used = 0;
    return out;
}

static void send_all(struct out *out, const char *bytes, size_t len)
{
    while (len > 0 && out->failed == 0) {
        ssize_t n = write(out->fd, bytes, len);
        if (n >= 0) {
            bytes += n;
            len -= (size_t)n;
        } else if (!retry_io(out->fd, POLLOUT)) {
            out->failed = errno;
        }
    }
}

void out_flush(struct out *out)
{
    send_all(out, out->buffer, out->used);
    out->used = 0;
}

void out_bytes(struct out *out, const void *bytes, size_t len)
{
    if (len > OUT_ROOM - out->used) {
        out_flush(out);
        if (len >= OUT_ROOM) {
            send_all(out, bytes, len);
            return;
        }
    }
    memcpy(out->buffer + out->used, bytes, len);
    out->used += len;
}

void out_text(struct out *out, const char *text)
{
    out_bytes(out, text, strlen(text));
}

void out_format(struct out *out, const char *format, ...)
{
    char text[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    out_text(out, text);
}

int out_close(struct out *out, int code)
{
    return out_close_after(out, NULL, code);
}

int out_close_after(struct out *out, const char *done, int code)
{
    out_flush(out);
    int failed = out->failed;
    free(out);
    if (failed == 0) {
        return code;
    }
    if (failed == EPIPE) {
        return EXIT_TROUBLE;
    }
    return say_error(done, "standard output", "%s", strerror(failed));
}

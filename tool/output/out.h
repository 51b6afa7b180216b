/*
 * out.h: data to standard output, through one large buffer. The first failed write is remembered
 * and everything after it is dropped; out_close tells.
 */
#ifndef TOOL_OUTPUT_OUT_H
#define TOOL_OUTPUT_OUT_H

#include <stddef.h>

#include "cli/say.h"

#define OUT_ROOM ((size_t)1 << 16)

struct out {
    int fd;
    int failed; /* errno of the first failed write, or 0 */
    size_t used;
    char buffer[OUT_ROOM];
};

/* Output to the descriptor; heap memory, NULL if there is none (already said). */
struct out *out_open(int fd);

void out_bytes(struct out *out, const void *bytes, size_t len);
void out_text(struct out *out, const char *text);
void out_format(struct out *out, const char *format, ...) SAY_FORMAT(2, 3);
void out_flush(struct out *out);

/*
 * Flush and free. Returns `code`, or EXIT_TROUBLE if anything could not be written. That is said,
 * unless it is a pipe whose reader went away: then nobody wants to know.
 */
int out_close(struct out *out, int code);

/* The same, when something was done before: `done` ends what is said. */
int out_close_after(struct out *out, const char *done, int code);

#endif

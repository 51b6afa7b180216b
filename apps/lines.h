/*
 * lines.h: every line of files that may be compressed, one after the other, to a reader that says
 * what is wrong with one; and the applications' random numbers.
 */
#ifndef APPS_LINES_H
#define APPS_LINES_H

#include <stddef.h>
#include <stdint.h>

/* One line without its end: NULL, or what is wrong with it. */
typedef const char *lines_reader(void *ctx, const char *text, size_t len);

/*
 * All lines of the file ("-" is standard input). EXIT_YES, or EXIT_TROUBLE after having named the
 * file, the line and what is wrong.
 */
int lines_read(const char *path, lines_reader *reader, void *ctx);

/* 64 random bits; the state is any number (splitmix64). */
uint64_t lines_draw(uint64_t *state);

#endif

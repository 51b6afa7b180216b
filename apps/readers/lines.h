/*
 * lines.h: every line of files that may be compressed, one after the other, to a reader that says
 * what is wrong with one; and what the readers have in common: lines that are passed over, a first
 * line that names the columns, fields.
 */
#ifndef APPS_READERS_LINES_H
#define APPS_READERS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_NO_MEMORY "out of memory"

/* One line without its end: NULL, or what is wrong with it: a sentence, or LINES_NO_MEMORY. */
typedef const char *lines_reader(void *ctx, const char *text, size_t len);

/*
 * All lines of the file ("-" is standard input). EXIT_YES, or EXIT_TROUBLE after having named the
 * file, the line and what is wrong.
 */
int lines_read(const char *path, lines_reader *reader, void *ctx);

/* Every file, by its number from 1, to `read` while that gives EXIT_YES; none: standard input. */
int lines_files(const char *const *paths, size_t count,
                int (*read)(void *ctx, const char *path, size_t number), void *ctx);

/* What "-" is called in an error; a path is called by itself. */
const char *lines_subject(const char *path);

/* A piece of a line. */
struct piece {
    const char *text;
    size_t len;
};

bool piece_is(struct piece piece, const char *word);

/* "WHAT: 'PIECE'", of a long one the first 48 bytes, into `why`; which is returned. */
const char *piece_wrong(struct piece piece, const char *what, char *why, size_t room);

/* The pieces between `by`; `most` + 1 if there are more than `most`. */
size_t piece_split(struct piece line, char by, struct piece *field, size_t most);

/* With a NUL behind it, if it fits and has none within. */
bool piece_copy(struct piece piece, char *text, size_t room);

/*
 * What the `number`-th line (from 1) is, less the carriage return at its end: nothing to read, as
 * it is empty or a remark (#); a first line of #, names and tabs; or one to be read.
 */
enum line_sort { LINE_NOTHING, LINE_NAMES, LINE_VALUES };
enum line_sort line_sort(uint64_t number, struct piece *line);

/*
 * Where a line of names has each of `names`; SIZE_MAX: nowhere. Returns how many columns it has,
 * LINE_COLUMNS + 1 if more than that.
 */
#define LINE_COLUMNS 64
size_t line_columns(struct piece line, const char *const *names, size_t count, size_t *column);

#endif

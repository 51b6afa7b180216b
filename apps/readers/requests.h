/*
 * requests.h: logs of requests, from files: who asked for what, in order, and how large it was. A
 * request a line, in fields that tabs divide if there is one in the line, else spaces. Which field
 * is which, by number (from 1) or by the name that a first line starting with # gives it:
 *
 *   what was asked for   unless told: url, key or object; without names the only field of one, the
 *                        second of two
 *   who asked            unless told: proxy, client or host; without names the first of two; nobody
 *                        in particular if there is one field
 *   how large it is      if told; "-" is 0
 *
 * Lines that are empty or start with # are passed over. The common log format of web servers has
 * who asked in field 1, what for in field 7 and how large it was in field 10.
 */
#ifndef APPS_READERS_REQUESTS_H
#define APPS_READERS_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "readers/names.h"

#define REQUESTS_FIELDS 64                 /* more in a line are not looked at */
#define REQUESTS_LINE   ((size_t)16 << 20) /* the longest line */

struct request {
    uint32_t key; /* in requests.keys */
    uint32_t who; /* in requests.who, or NAMES_NONE */
    uint64_t size;
};

/* All zeros is an empty one. */
struct requests {
    struct request *request;
    size_t count;
    size_t room;
    struct names keys;
    struct names who;
};

/* Which field is which: a number from 1, or a name; NULL: the usual one. */
struct requests_form {
    const char *key;
    const char *who;
    const char *size; /* NULL: none */
};

/* Where the reader stands in one file. */
struct requests_file {
    const struct requests_form *form;
    uint64_t line;
    bool known;  /* the fields are known */
    size_t key;  /* from 0 */
    size_t who;  /* SIZE_MAX: none */
    size_t size; /* SIZE_MAX: none */
    char why[160];
};

void requests_begin(struct requests_file *file, const struct requests_form *form);

/* Take one line, without its end. NULL, or what is wrong with it (text of *file or static). */
const char *requests_line(struct requests *requests, struct requests_file *file, const char *text,
                          size_t len);

/*
 * All lines of the files ("-" is standard input; none: that), which may be compressed with gzip or
 * zstd. EXIT_YES, or EXIT_TROUBLE after having said which line of which file is wrong.
 */
int requests_read(struct requests *requests, const struct requests_form *form,
                  const char *const *paths, size_t count);

void requests_free(struct requests *requests);

#endif

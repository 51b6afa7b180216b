/*
 * names.h: texts to small numbers and back. Every distinct text is kept once; the first gets 0, the
 * next 1 and so on, so that arrays can stand for maps.
 */
#ifndef APPS_READERS_NAMES_H
#define APPS_READERS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES_NONE UINT32_MAX

/* All zeros is an empty one. */
struct names {
    char *text; /* the texts, each with a NUL behind it */
    size_t used;
    size_t room;
    size_t *start; /* where the text of a number begins */
    uint32_t count;
    size_t start_room;
    uint32_t *slot; /* a hash table of numbers, NAMES_NONE where there is none */
    size_t slots;   /* a power of two, or 0 */
};

/* The number of a text, which is given one if it has none. False: no memory (or 2^32 texts). */
bool names_add(struct names *names, const char *text, size_t len, uint32_t *number);

/* The number of a text, or NAMES_NONE. */
uint32_t names_find(const struct names *names, const char *text, size_t len);

/* The text of a number below names->count. */
const char *names_text(const struct names *names, uint32_t number);

void names_free(struct names *names);

#endif

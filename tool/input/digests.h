/*
 * digests.h: digests in memory, each once, in the order in which they first came, with a weight
 * each and, if wanted, the text of the key.
 */
#ifndef TOOL_INPUT_DIGESTS_H
#define TOOL_INPUT_DIGESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tepal/hash.h>

/* All zeros is an empty one. */
struct digests {
    struct tepal_digest *digest;
    double *weight;
    size_t count;
    size_t room;
    uint32_t *slot; /* a hash table of indices + 1, 0 where there is none */
    size_t slots;
    uint64_t repeats; /* additions of what was there */
    bool texts;       /* keep the texts: set it before the first addition */
    size_t *text_end;
    char *text;
    size_t text_used;
    size_t text_room;
};

/*
 * Add one; if it is there already, its weight grows and nothing else happens. `text` may be NULL
 * unless texts are kept. False: no memory (or 2^31 digests).
 */
bool digests_add(struct digests *set, struct tepal_digest digest, double weight, const char *text,
                 size_t len);

/* Which one is it; SIZE_MAX: it is not there. */
size_t digests_find(const struct digests *set, struct tepal_digest digest);

/* Is it there? */
bool digests_has(const struct digests *set, struct tepal_digest digest);

/* The text of the index-th; *len gets its length. */
const char *digests_text(const struct digests *set, size_t index, size_t *len);

void digests_free(struct digests *set);

#endif

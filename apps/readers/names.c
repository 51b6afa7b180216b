/* names.c: one pool of characters, one table with linear probing, at most half full. */
#include "readers/names.h"

#include <stdlib.h>
#include <string.h>

#include <tepal/hash.h>

#include "shared/grow.h"

static size_t hash(const char *text, size_t len)
{
    struct tepal_hasher hasher;
    tepal_hasher_init(0, &hasher);
    return (size_t)tepal_hash_bytes(&hasher, text, len).lo;
}

/* The slot where a text is, or where it would go. */
static size_t place(const struct names *n, const char *text, size_t len)
{
    size_t at = hash(text, len) & (n->slots - 1);
    while (n->slot[at] != NAMES_NONE) {
        const char *other = names_text(n, n->slot[at]);
        if (strlen(other) == len && memcmp(other, text, len) == 0) {
            break;
        }
        at = (at + 1) & (n->slots - 1);
    }
    return at;
}

static bool grow_slots(struct names *n)
{
    struct names larger = *n;
    larger.slots = n->slots == 0 ? 64 : n->slots * 2;
    larger.slot = malloc(larger.slots * sizeof *larger.slot);
    if (larger.slot == NULL) {
        return false;
    }
    memset(larger.slot, 0xff, larger.slots * sizeof *larger.slot);
    for (uint32_t i = 0; i < n->count; i++) {
        const char *text = names_text(n, i);
        larger.slot[place(&larger, text, strlen(text))] = i;
    }
    free(n->slot);
    *n = larger;
    return true;
}

static bool make_room(struct names *n, size_t len)
{
    return grow(&n->text, &n->room, n->used + len + 1, sizeof *n->text) &&
           grow(&n->start, &n->start_room, (size_t)n->count + 1, sizeof *n->start);
}

bool names_add(struct names *n, const char *text, size_t len, uint32_t *number)
{
    if ((size_t)n->count * 2 >= n->slots && !grow_slots(n)) {
        return false;
    }
    size_t at = place(n, text, len);
    if (n->slot[at] == NAMES_NONE) {
        if (n->count == NAMES_NONE - 1 || !make_room(n, len)) {
            return false;
        }
        memcpy(n->text + n->used, text, len);
        n->text[n->used + len] = '\0';
        n->start[n->count] = n->used;
        n->used += len + 1;
        n->slot[at] = n->count++;
    }
    *number = n->slot[at];
    return true;
}

uint32_t names_find(const struct names *n, const char *text, size_t len)
{
    return n->slots == 0 ? NAMES_NONE : n->slot[place(n, text, len)];
}

const char *names_text(const struct names *n, uint32_t number)
{
    return n->text + n->start[number];
}

void names_free(struct names *n)
{
    free(n->text);
    free(n->start);
    free(n->slot);
    memset(n, 0, sizeof *n);
}

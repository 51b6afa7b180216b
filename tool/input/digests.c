/* digests.c: arrays, and a table with linear probing over them that is at most half full. */
#include "input/digests.h"

#include <stdlib.h>
#include <string.h>

#define MOST ((size_t)1 << 31)

/* The slot where a digest is, or where it would go. */
static size_t place(const struct digests *s, struct tepal_digest d)
{
    size_t at = (size_t)(d.lo ^ d.hi >> 7) & (s->slots - 1);
    while (s->slot[at] != 0) {
        const struct tepal_digest *other = &s->digest[s->slot[at] - 1];
        if (other->lo == d.lo && other->hi == d.hi) {
            break;
        }
        at = (at + 1) & (s->slots - 1);
    }
    return at;
}

static bool grow_slots(struct digests *s)
{
    struct digests larger = *s;
    larger.slots = s->slots == 0 ? 1024 : s->slots * 2;
    larger.slot = calloc(larger.slots, sizeof *larger.slot);
    if (larger.slot == NULL) {
        return false;
    }
    for (size_t i = 0; i < s->count; i++) {
        larger.slot[place(&larger, s->digest[i])] = (uint32_t)(i + 1);
    }
    free(s->slot);
    *s = larger;
    return true;
}

static bool make_room(struct digests *s)
{
    if (s->count < s->room) {
        return true;
    }
    size_t room = s->room == 0 ? 1024 : s->room * 2;
    struct tepal_digest *digest = realloc(s->digest, room * sizeof *digest);
    if (digest == NULL) {
        return false;
    }
    s->digest = digest;
    double *weight = realloc(s->weight, room * sizeof *weight);
    if (weight == NULL) {
        return false;
    }
    s->weight = weight;
    if (s->texts) {
        size_t *end = realloc(s->text_end, room * sizeof *end);
        if (end == NULL) {
            return false;
        }
        s->text_end = end;
    }
    s->room = room;
    return true;
}

static bool keep_text(struct digests *s, const char *text, size_t len)
{
    if (!s->texts) {
        return true;
    }
    if (s->text == NULL || s->text_used + len > s->text_room) {
        size_t room = (s->text_used + len) * 2 + 4096;
        char *larger = realloc(s->text, room);
        if (larger == NULL) {
            return false;
        }
        s->text = larger;
        s->text_room = room;
    }
    memcpy(s->text + s->text_used, text, len);
    s->text_used += len;
    s->text_end[s->count] = s->text_used;
    return true;
}

bool digests_add(struct digests *s, struct tepal_digest digest, double weight, const char *text,
                 size_t len)
{
    if (s->count * 2 >= s->slots && !grow_slots(s)) {
        return false;
    }
    size_t at = place(s, digest);
    if (s->slot[at] != 0) {
        s->weight[s->slot[at] - 1] += weight;
        s->repeats++;
        return true;
    }
    if (s->count == MOST || !make_room(s) || !keep_text(s, text, len)) {
        return false;
    }
    s->digest[s->count] = digest;
    s->weight[s->count] = weight;
    s->slot[at] = (uint32_t)++s->count;
    return true;
}

size_t digests_find(const struct digests *s, struct tepal_digest digest)
{
    uint32_t slot = s->slots > 0 ? s->slot[place(s, digest)] : 0;
    return slot == 0 ? SIZE_MAX : (size_t)slot - 1;
}

bool digests_has(const struct digests *s, struct tepal_digest digest)
{
    return digests_find(s, digest) != SIZE_MAX;
}

const char *digests_text(const struct digests *s, size_t index, size_t *len)
{
    size_t start = index == 0 ? 0 : s->text_end[index - 1];
    *len = s->text_end[index] - start;
    return s->text + start;
}

void digests_free(struct digests *s)
{
    free(s->digest);
    free(s->weight);
    free(s->slot);
    free(s->text_end);
    free(s->text);
    memset(s, 0, sizeof *s);
}

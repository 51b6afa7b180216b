/* sample.c: a hash table with linear probing that is never more than half full. */
#include "streams/sample.h"

#include <math.h>
#include <stdlib.h>

#include "statistics/random.h"

#define SLOTS (2 * TRACE_KEYS)

uint64_t sample_hash(struct tepal_digest d)
{
    return random_mix(d.lo ^ (d.hi * RANDOM_STEP));
}

bool sample_init(struct sample *t)
{
    *t = (struct sample){.slot = calloc(SLOTS, sizeof *t->slot)};
    return t->slot != NULL;
}

void sample_free(struct sample *t)
{
    free(t->slot);
    t->slot = NULL;
}

/* The slot of a key, or the empty one where it belongs. */
static struct sample_key *find(struct sample *t, uint64_t id)
{
    size_t i = (size_t)(id >> 40) % SLOTS;
    while (t->slot[i].id != 0 && t->slot[i].id != id) {
        i = (i + 1) % SLOTS;
    }
    return &t->slot[i];
}

/* Half of the keys leave; the others move to where they belong now. */
static void thin(struct sample *t)
{
    struct sample_key *old = t->slot;
    struct sample_key *kept = malloc(TRACE_KEYS * sizeof *kept);
    size_t count = 0;
    if (kept == NULL) {
        return;
    }
    t->mask = t->mask * 2 + 1;
    for (size_t i = 0; i < SLOTS; i++) {
        if (old[i].id != 0 && (old[i].id & t->mask) == 0) {
            kept[count++] = old[i];
        }
        old[i].id = 0;
    }
    for (size_t i = 0; i < count; i++) {
        *find(t, kept[i].id) = kept[i];
    }
    t->used = count;
    free(kept);
}

static void arrive(struct sample *t, uint64_t id, bool seen)
{
    struct sample_key *key = find(t, id);
    if (key->id != 0) {
        key->repeats++;
        key->missed += !seen;
        return;
    }
    if (t->used == TRACE_KEYS) {
        thin(t);
        if ((id & t->mask) != 0 || t->used == TRACE_KEYS) {
            return; /* left, or there was no memory to thin: it is not watched */
        }
        key = find(t, id);
    }
    *key = (struct sample_key){.id = id};
    t->used++;
}

void sample_note(struct sample *t, const struct tepal_digest *digests, const uint64_t *answers,
                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t id = sample_hash(digests[i]);
        if ((id & t->mask) == 0 && id != 0) {
            arrive(t, id, (answers[i / 64] >> (i % 64) & 1) != 0);
        }
    }
}

double sample_missed(const struct sample *t)
{
    uint64_t repeats = 0;
    uint64_t missed = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        if (t->slot[i].id != 0) {
            repeats += t->slot[i].repeats;
            missed += t->slot[i].missed;
        }
    }
    return repeats == 0 ? NAN : (double)missed / (double)repeats;
}

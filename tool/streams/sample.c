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
        if (t->ages != NULL && t->now >= key->last) {
            ages_note(t->ages, t->now - key->last, seen);
        }
        key->last = t->only_misses && seen ? key->last : t->now;
        return;
    }
    if (t->used == TRACE_KEYS) {
        thin(t);
        t->broken = t->broken || t->used == TRACE_KEYS;
        if ((id & t->mask) != 0 || t->used == TRACE_KEYS) {
            return; /* left, or there was no memory to thin: it is not watched */
        }
        key = find(t, id);
    }
    *key = (struct sample_key){.id = id, .last = t->now, .taken = seen};
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

struct tepal_recycling_counts sample_ways(const struct sample *t)
{
    double keys = 0;
    double arrivals = 0;
    double taken = 0;
    double theirs = 0; /* arrivals of keys that were taken */
    for (size_t i = 0; i < SLOTS; i++) {
        const struct sample_key *key = &t->slot[i];
        double eta = (double)key->repeats + 1;
        if (key->id != 0) {
            keys++;
            arrivals += eta;
            taken += key->taken;
            theirs += key->taken ? eta : 0;
        }
    }
    return (struct tepal_recycling_counts){taken / arrivals, theirs / arrivals, taken / keys};
}

#define Z95 1.959963984540054

struct sample_distinct sample_distinct(const struct sample *t, uint64_t fresh)
{
    double w = (double)t->mask + 1;
    double n = 0;
    double y = 0;
    double squares = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        if (t->slot[i].id != 0) {
            double answers = (double)t->slot[i].missed + !t->slot[i].taken;
            n++;
            y += answers;
            squares += answers * answers;
        }
    }
    if (t->broken) {
        return (struct sample_distinct){NAN, NAN, NAN};
    }
    double b = squares > 0 ? y / squares : 0;
    double keys = w * n + b * ((double)fresh - w * y);
    /* sum (1 - b y)^2; errors so rare that the sample has none may be there all the same */
    double left = n - b * y + Z95 * Z95;
    double half = Z95 * sqrt(w * (w - 1) * left);
    return (struct sample_distinct){keys, fmax(keys - half, n), keys + half};
}

/* gap_counts.c: when did each key come last, and how long ago was that? */
#include "streams/gap_counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "streams/sample.h"

size_t gap_counts_bin(uint64_t gap)
{
    if (gap < 64) {
        return (size_t)gap;
    }
    unsigned octave = 6;
    while (gap >> octave > 1) {
        octave++;
    }
    return 64 + (octave - 6) * 32 + (size_t)(gap >> (octave - 5) & 31);
}

void gap_counts_init(struct gap_counts *g, double sample)
{
    memset(g, 0, sizeof *g);
    g->below = sample >= 1 ? UINT64_MAX : (uint64_t)(sample * 0x1p64);
}

void gap_counts_free(struct gap_counts *g)
{
    free(g->slot);
    g->slot = NULL;
}

/* ---- the keys -------------------------------------------------------------------------------- */

static struct gap_counts_key *find(const struct gap_counts *g, struct tepal_digest d)
{
    size_t i = (size_t)d.lo & (g->slots - 1);
    while (g->slot[i].last != 0 && (g->slot[i].digest.lo != d.lo || g->slot[i].digest.hi != d.hi)) {
        i = (i + 1) & (g->slots - 1);
    }
    return &g->slot[i];
}

/* Room for one more key with the table at most two thirds full. */
static bool make_room(struct gap_counts *g)
{
    if (g->keys + 1 <= g->slots / 3 * 2) {
        return true;
    }
    struct gap_counts old = *g;
    g->slots = old.slots == 0 ? 1024 : old.slots * 2;
    g->slot = calloc(g->slots, sizeof *g->slot);
    if (g->slot == NULL) {
        g->slot = old.slot;
        g->slots = old.slots;
        return false;
    }
    for (size_t i = 0; i < old.slots; i++) {
        if (old.slot[i].last != 0) {
            *find(g, old.slot[i].digest) = old.slot[i];
        }
    }
    free(old.slot);
    return true;
}

static void count_gap(struct gap_counts *g, uint64_t gap)
{
    size_t bin = gap_counts_bin(gap);
    g->count[bin]++;
    g->sum[bin] += (double)gap;
    g->longest = gap > g->longest ? gap : g->longest;
}

bool gap_counts_note(struct gap_counts *g, const struct tepal_digest *digests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        g->arrivals++;
        if (sample_hash(digests[i]) > g->below) {
            continue;
        }
        if (!make_room(g)) {
            return false;
        }
        struct gap_counts_key *key = find(g, digests[i]);
        if (key->last == 0) {
            key->digest = digests[i];
            g->keys++;
        } else {
            count_gap(g, g->arrivals - key->last);
        }
        key->last = g->arrivals;
        g->watched++;
    }
    return true;
}

/* ---- what is known --------------------------------------------------------------------------- */

uint64_t gap_counts_repeats(const struct gap_counts *g)
{
    return g->watched - g->keys;
}

double gap_counts_fresh(const struct gap_counts *g)
{
    return g->watched == 0 ? 0 : (double)g->keys / (double)g->watched;
}

double gap_counts_distinct(const struct gap_counts *g)
{
    return g->below == UINT64_MAX ? (double)g->keys
                                  : (double)g->keys / ((double)g->below * 0x1p-64);
}

double gap_counts_quantile(const struct gap_counts *g, double q)
{
    double want = q * (double)gap_counts_repeats(g);
    double so_far = 0;
    for (size_t i = 0; i < GAPCOUNT_BINS; i++) {
        so_far += (double)g->count[i];
        if (g->count[i] > 0 && so_far >= want) {
            return g->sum[i] / (double)g->count[i];
        }
    }
    return (double)g->longest;
}

struct tepal_gaps gap_counts_steps(const struct gap_counts *g, double *gap, double *survival)
{
    struct tepal_gaps steps = {.gap = gap, .survival = survival};
    uint64_t repeats = gap_counts_repeats(g);
    uint64_t left = repeats;
    for (size_t i = 0; i < GAPCOUNT_BINS; i++) {
        if (g->count[i] > 0) {
            left -= g->count[i];
            gap[steps.count] = g->sum[i] / (double)g->count[i];
            survival[steps.count] = (double)left / (double)repeats;
            steps.count++;
        }
    }
    steps.fresh = gap_counts_fresh(g);
    return steps;
}

void gap_counts_print(const struct gap_counts *g, double sample, struct out *out)
{
    uint64_t repeats = gap_counts_repeats(g);
    uint64_t left = repeats;
    out_format(out,
               "# arrivals %" PRIu64 "\n# watched %" PRIu64 "\n# keys %zu\n# sample %.9g\n"
               "# fresh %.9g\ngap\trepeats\tsurvival\n",
               g->arrivals, g->watched, g->keys, sample, gap_counts_fresh(g));
    for (size_t i = 0; i < GAPCOUNT_BINS; i++) {
        if (g->count[i] > 0) {
            left -= g->count[i];
            out_format(out, "%.10g\t%" PRIu64 "\t%.9g\n", g->sum[i] / (double)g->count[i],
                       g->count[i], (double)left / (double)repeats);
        }
    }
}

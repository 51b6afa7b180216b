/* stopset.h: red stop sets as filters, tried on the routes of a world, and rows about them. */
#ifndef LAB_PAPER000_STOPSET_H
#define LAB_PAPER000_STOPSET_H

#include "paper000/paper000.h"
#include "paper000/world.h"

/* The sizes of the figures. */
#define SIZES 10
static inline uint64_t size_of(size_t i)
{
    return 10000 * (i + 1);
}

/* A Bloom filter of the penultimate nodes, with all that retouching wants to know. */
struct stopset {
    struct tepal_filter *bloom;
    struct tepal_digest *member;
    struct tepal_digest *bad; /* false positives among the nodes that were seen, heaviest first */
    struct suspect *suspect;
    size_t bad_count;
};

/* Nodes get new hashes. Free it, however this ends. */
int stopset_make(struct lab *lab, struct world *w, uint64_t bits, uint32_t hashes,
                 struct stopset *s);
void stopset_free(struct stopset *s);

/*
 * The set, retouched against the share beta of its false positives (0: the Bloom filter), against a
 * cycle. run: its own numbers, or NULL.
 */
int stopset_measure(struct lab *lab, struct world *w, const struct stopset *s,
                    enum tepal_retouch_method method, double beta, uint32_t cycle,
                    struct lab_mean mean[METRICS], double *run);

/* A sentence of the text that is so (1) or not (0). */
void stopset_holds(struct lab *lab, const struct world *w, bool so, const char *words);

/* What the text says of skitter's routes, to stand beside ours. */
struct lab_row stopset_skitter(double published);
void stopset_skitter_row(struct lab *lab, double published, const struct lab_mean *mean,
                         const struct world *w, const char *words);

/* A picture of shares: its title says whose routes they are, and the words. */
int stopset_draw(struct lab *lab, const struct world *w, struct lab_curves *curves,
                 const char *x_label, const char *format, ...) SAY_FORMAT(5, 6);

#endif

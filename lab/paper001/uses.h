/*
 * uses.h: what the experiments on the three uses that the paper names share (Sec. 1 and 6.2): web
 * caches that tell each other what they hold, look-ups among peers, and tracing packets back.
 *
 * An attacker sends a filter of its own making: all ones, or as many ones as hurt most. Against
 * Bloom filters the first is enough: every question is answered "yes". A Bloom filter is here the
 * generalized one without hashes that reset: they are the same, bit for bit.
 */
#ifndef LAB_PAPER001_USES_H
#define LAB_PAPER001_USES_H

#include "paper001/paper001.h"

enum use_attack { NO_ATTACK, ALL_ONES, WORST, USE_ATTACKS };
extern const char *const use_attacks[USE_ATTACKS];

struct use_kind {
    const char *name;
    double bits; /* a key, or of all */
    uint32_t k0;
    uint32_t k1;
    uint32_t tolerance;
};

/* What caches and peers advertise. */
#define USE_KINDS 3
extern const struct use_kind use_kinds[USE_KINDS];

/* An empty filter, or what the attacker sends. Sabotaged, resets are left out. */
int use_filter(struct lab *lab, const struct use_kind *kind, uint64_t bits, uint64_t seed,
               enum use_attack attack, struct tepal_filter **out);

/*
 * What the attacker draws to itself of what it does not have: by the paper everything with a Bloom
 * filter; with (2, 2), as Tables 1 to 6 have it, nothing by all ones and 6.3 % by the worst bits.
 * Of a tolerance it prints nothing.
 */
void use_attracted_row(struct lab *lab, const struct use_kind *kind, enum use_attack attack,
                       const struct lab_share *share, const char *what);

/* A share of which nothing is printed. */
void use_plain_row(struct lab *lab, const struct use_kind *kind, enum use_attack attack,
                   const struct lab_share *share, const char *what);

/* One point for each attack, by kind: of a share, in percent; and the picture. */
void use_point(struct lab_curves *curves, const struct use_kind *kind, enum use_attack attack,
               const struct lab_share *share);
int use_draw(struct lab *lab, struct lab_curves *curves, const char *title, const char *y_label);

#endif

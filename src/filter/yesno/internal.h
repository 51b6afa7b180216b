/*
 * internal.h: the yes-no filter from the inside, and one build of it: who does what.
 *
 *   yesno.c   the filter: queries, additions, what it tells of itself
 *   build.c   the public build: checks, who is a false positive, seed search, the report
 *   later.c   false positives that were seen later, into no-filters that exist
 *   veto.c    the no-filters under construction: which may take which false positive
 *   fit.c     greedy, nextfit, bestfit: one pass over the false positives
 *   spend.c   members given up for what is left
 *   search.c  pairs and local-search: what is placed makes room for what is not
 *   exact.c   exact: branch and bound
 */
#ifndef TEPAL_SRC_FILTER_YESNO_INTERNAL_H
#define TEPAL_SRC_FILTER_YESNO_INTERNAL_H

#include <tepal/yesno.h>

#include "address/address.h"
#include "base/arena.h"
#include "base/work.h"
#include "cells/bits.h"
#include "filter/bloom/kernels.h"
#include "filter/kind.h"
#include "filter/known/known.h"

struct tepal_yesno {
    struct tepal_filter head;
    struct address yes;
    struct address no; /* of every no-filter, from its own first bit */
    const struct bloom_kernels *kernels;
    uint32_t filters; /* r */
    bool own_seeds;
    uint64_t salt;
};

/* The state: what the build knew, and what was undone since. */
enum yesno_state {
    YESNO_MEMBERS,
    YESNO_AVOID,    /* known negatives, members among them not counted */
    YESNO_POSITIVE, /* of them, found by the yes-filter */
    YESNO_LEFT,     /* of these, still found */
    YESNO_LOST,     /* members vetoed */
    YESNO_UNDONE,   /* no-filter bits cleared by later additions */
    YESNO_STATES
};

extern const struct filter_ops tepal_yesno_ops;

/* The digest that the yes-filter uses, and the one of no-filter j. */
static inline struct tepal_digest yesno_yes_digest(uint64_t salt, struct tepal_digest d)
{
    return salt == 0 ? d : address_rehash(d, salt * (TEPAL_MAX_NO_FILTERS + 1));
}

static inline uint64_t yesno_no_number(uint64_t salt, bool own_seeds, uint32_t j)
{
    return salt * (TEPAL_MAX_NO_FILTERS + 1) + 1 + (own_seeds ? j : 0);
}

static inline struct tepal_digest yesno_no_digest(uint64_t salt, bool own_seeds, uint32_t j,
                                                  struct tepal_digest d)
{
    return address_rehash(d, yesno_no_number(salt, own_seeds, j));
}

/*
 * The key alone in a filter of these parameters (Sec. III-A): its k bits of the yes-filter and its
 * k' bits in every no-filter. `mask` has room for tepal_params_cell_bytes / 8 words and is
 * overwritten. A header h, the words of a filter, holds the key if h contains the yes part of the
 * mask and, for no j, the part of no-filter j. Params must have passed the check and be of this
 * kind.
 */
void tepal_yesno_mask(const struct tepal_params *params, struct tepal_digest digest,
                      uint64_t *mask);

/* Are all bits of a key set in the bits from `start` on that `at` addresses? */
bool tepal_yesno_holds(const struct address *at, const uint64_t *words, uint64_t start,
                       struct tepal_digest digest);

/* As tepal_filter_query_many, but what the yes-filter alone says. */
size_t tepal_yesno_query_yes_many(const struct tepal_yesno *yesno,
                                  const struct tepal_digest *digests, size_t count,
                                  uint64_t *answers);

/*
 * Of up to BLOOM_PART_KEYS keys, the numbers of those whose bits of no-filter j are all set in
 * `words` from `start` on: of `count` keys that are listed, ascending, to `stay`, which may be
 * `listed`. Returns how many.
 */
uint32_t tepal_yesno_inside(const struct tepal_yesno *yesno, const uint64_t *words, uint64_t start,
                            uint32_t j, const struct tepal_digest *digests, const uint16_t *listed,
                            uint32_t count, uint16_t *stay);

/* ---- one build ------------------------------------------------------------------------------- */

#define YESNO_HOMELESS UINT8_MAX

/* Key -> its bits in a no-filter, each once: a row of k', with YESNO_NO_BIT behind the last. */
#define YESNO_NO_BIT UINT32_MAX

struct yesno_bits {
    uint32_t *row;
    uint32_t width; /* k' */
};

static inline const uint32_t *yesno_bits_of(struct yesno_bits bits, uint32_t key)
{
    return bits.row + (uint64_t)key * bits.width;
}

static inline const uint32_t *yesno_bits_end(struct yesno_bits bits, uint32_t key)
{
    const uint32_t *end = yesno_bits_of(bits, key) + bits.width;
    while (end[-1] == YESNO_NO_BIT) {
        end--;
    }
    return end;
}

static inline bool yesno_bits_have(struct yesno_bits bits, uint32_t key, uint32_t bit)
{
    const uint32_t *at = yesno_bits_of(bits, key);
    const uint32_t *end = yesno_bits_end(bits, key);
    while (at < end && *at != bit) {
        at++;
    }
    return at < end;
}

/* Bit -> the keys that have it, ascending: key[start[bit]] .. key[start[bit + 1] - 1] */
struct yesno_owners {
    uint32_t *start;
    uint32_t *key;
};

/*
 * One way to hash for the no-filters (all share one, or each has its own): who has which bits. Of
 * the members only those *at risk* are in it: all of whose bits are bits of false positives too. At
 * large sizes these are one in thousands, and whatever is done later asks them alone.
 */
struct yesno_family {
    struct yesno_bits has;      /* of each false positive */
    struct yesno_owners users;  /* bit -> false positives; made when asked for */
    struct yesno_bits risk_has; /* of each member at risk */
    struct yesno_owners risk;   /* bit -> members at risk */
    uint32_t *member;           /* at risk -> index into the input */
    uint32_t risks;
};

/* A no-filter under construction. */
struct yesno_veto {
    const struct yesno_family *family;
    uint64_t first;   /* its bits in the filter; those that are set there are *held*, and stay */
    bool held;        /* some are */
    uint32_t *uses;   /* bit -> how many of the false positives in here have it; held: one more */
    uint8_t *missing; /* member at risk -> how many of its bits nobody here has; 0: vetoed */
    uint64_t vetoed;  /* members that miss none */
};

/* A run. */
/* The shares of a build until the yes-filter is there, and until the search is over. */
#define YESNO_FILLED   0.3
#define YESNO_SEARCHED 0.95

struct yesno_run {
    const struct tepal_known *in;
    const struct tepal_yesno_options *how;
    const struct tepal_yesno *filter; /* the yes-filter is filled */
    struct arena arena;               /* everything below that a pointer points to */

    uint32_t falses;          /* F */
    struct tepal_digest *key; /* of each: side by side, for in the input they are far apart */
    double *weight;           /* of each */
    uint8_t *home;            /* of each: the no-filter that holds it, or YESNO_HOMELESS */

    struct yesno_family family[TEPAL_MAX_NO_FILTERS];
    uint32_t families;
    struct yesno_veto veto[TEPAL_MAX_NO_FILTERS];
    uint32_t vetoes; /* r */

    uint64_t steps;       /* placements tried */
    uint64_t work;        /* entries of lists looked at: what a step costs differs by far */
    uint64_t most_steps;  /* where the search ends; tepal_yesno_limit */
    uint64_t most_work;   /* ... whatever is reached first */
    uint64_t asked_steps; /* when the caller was asked last */
    uint64_t asked_work;
    struct work *told;   /* what the caller is told, in the phase before the search ... */
    double until;        /* ... and where the search's own ends */
    uint64_t from_steps; /* of the limit: where the search began */
    bool ended;          /* the caller has had enough */
    bool proved;         /* no distribution leaves less weight */
};

/* ---- the no-filters (veto.c) ----------------------------------------------------------------- */

/* Families and empty no-filters, once the false positives are known. */
enum tepal_status tepal_yesno_index(struct yesno_run *run);

/* `users` of every family. TEPAL_NO_MEMORY, TEPAL_TOO_LARGE. */
enum tepal_status tepal_yesno_index_users(struct yesno_run *run);

/*
 * Put false positive f, which is nowhere, into no-filter j unless that makes more than `most`
 * members vetoed there; true if it was put.
 */
bool tepal_yesno_place(struct yesno_run *run, uint32_t f, uint32_t j, uint64_t most);

/* The homeless, in their order, each put into no-filter j if that vetoes no member. */
void tepal_yesno_place_all(struct yesno_run *run, uint32_t j);

/* Take it out of where it is. */
void tepal_yesno_displace(struct yesno_run *run, uint32_t f);

/* How many ones no-filter j would gain. */
uint32_t tepal_yesno_gain(const struct yesno_run *run, uint32_t f, uint32_t j);

/* Nothing is anywhere; bits that the filter holds are set. */
void tepal_yesno_empty(struct yesno_run *run);

/* Is the bit of no-filter j held: set in the filter before, for whoever needs it? */
static inline bool yesno_held(const struct yesno_run *run, uint32_t j, uint32_t bit)
{
    return bits_test(run->filter->head.words, run->veto[j].first + bit);
}

/* Is member a at risk vetoed by what no-filter j holds, whatever is put in or taken out? */
bool tepal_yesno_given_up(const struct yesno_run *run, uint32_t j, uint32_t a);

/* The weight of the homeless. */
double tepal_yesno_left(const struct yesno_run *run);

/* ---- the methods ----------------------------------------------------------------------------- */

/* One pass (fit.c) over the false positives; first fit takes the homeless alone. */
void tepal_yesno_first_fit(struct yesno_run *run);
void tepal_yesno_next_fit(struct yesno_run *run);
void tepal_yesno_best_fit(struct yesno_run *run);

/* First fit, the heaviest of the homeless first. TEPAL_NO_MEMORY. */
enum tepal_status tepal_yesno_heavy_fit(struct yesno_run *run);

/* The homeless, the heaviest first. NULL without memory. */
struct known_weight *tepal_yesno_list_heavy(struct yesno_run *run, uint32_t *count);

/* After any of them (spend.c): let members be vetoed, as the options tolerate. TEPAL_NO_MEMORY. */
bool tepal_yesno_tolerates(const struct tepal_yesno_options *how);
enum tepal_status tepal_yesno_spend(struct yesno_run *run);

/* The others (search.c, exact.c). TEPAL_NO_MEMORY. */
enum tepal_status tepal_yesno_pairs(struct yesno_run *run);
enum tepal_status tepal_yesno_local_search(struct yesno_run *run);
enum tepal_status tepal_yesno_exact(struct yesno_run *run);

/* ---- the steps of a run (build.c) ------------------------------------------------------------ */

/* What every run refuses. */
enum tepal_status tepal_yesno_check(const struct tepal_known *in,
                                    const struct tepal_yesno_options *how,
                                    struct tepal_error *error);

/*
 * Homes for the false positives: of the `count` known negatives whose bits are set in `found`,
 * those that are not members; `report` gets how many are. TEPAL_NO_MEMORY, TEPAL_TOO_LARGE,
 * TEPAL_STOPPED.
 */
enum tepal_status tepal_yesno_decide(struct yesno_run *run, const uint64_t *found, uint64_t count,
                                     struct tepal_known_report *report);

/* The bits of the no-filters, from where everybody lives. */
void tepal_yesno_write(const struct yesno_run *run, struct tepal_yesno *filter);

/* The report, by asking the filter. `answers`: room for a bit for every member. */
void tepal_yesno_compare(const struct yesno_run *run, uint64_t *answers,
                         struct tepal_known_report *report);
uint64_t *tepal_yesno_answers(struct yesno_run *run);

/* ---- when it ends (build.c) ------------------------------------------------------------------ */

/* From now on so many steps, and as much work as so many steps of ordinary size. */
void tepal_yesno_limit(struct yesno_run *run, uint64_t steps);
#define YESNO_UNLIMITED UINT64_MAX

/* Has it worked as much as it may, or the caller had enough? For what must not run on for long. */
bool tepal_yesno_stopped(struct yesno_run *run);

/* That, or as many steps as it may. */
bool tepal_yesno_ended(struct yesno_run *run);

#endif

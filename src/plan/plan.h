/*
 * plan.h: what the planners of the kinds share. Each kind has a file of its own, with one function
 * that appends its plans, or the reason why there is none; plan.c asks all of them and ranks.
 */
#ifndef TEPAL_SRC_PLAN_PLAN_H
#define TEPAL_SRC_PLAN_PLAN_H

#include <tepal/plan.h>

#include "params/params.h"

/* A wish, made definite. */
struct plan_task {
    const struct tepal_wish *wish;
    uint64_t n;          /* keys */
    uint64_t t;          /* known negatives */
    uint64_t limit;      /* bits at most; UINT64_MAX: any number */
    bool smallest;       /* the fewest bits that keep fp and fn, else the least cost in the limit */
    bool closed;         /* strangers may pass */
    double fp_strangers; /* to be kept; 1: may pass; NaN: none stated, and not `smallest` */
    double fp_known;     /* the same of known negatives; NaN also if there are none */
    double fp;      /* the lower one, for kinds to which all keys that are no members are alike */
    double fn;      /* at most, where there must be some; NaN: none stated, and not `smallest` */
    bool fn_stated; /* by the user */
    bool costs;     /* stated by the user */
    double cost_fp;
    double cost_fn;
    enum tepal_layout last; /* layouts from flat to this one are looked at */
};

/* A wish that is no nonsense and has keys, made definite. */
struct plan_task tepal_plan_definite(const struct tepal_wish *wish);

/* Appends an empty plan. Its reason, bits and errors are the caller's to set. */
struct tepal_proposal *tepal_plan_add(struct tepal_plans *out, enum tepal_kind_id kind,
                                      enum tepal_layout layout);

/* This plan cannot be, on its layout, and why. */
void tepal_plan_no(struct tepal_proposal *plan, const char *blocked_by, const char *reason);

/*
 * Bits, errors and probes are there: the rest follows, and whether all limits are kept. fp_known is
 * fp unless it is there too.
 */
void tepal_plan_finish(const struct plan_task *task, struct tepal_proposal *plan);

/* What is in the way of a kind, on all layouts, and why; NULL as long as nothing is. */
struct plan_bar {
    const char *by;
    const char *why;
};

/* What the kind does not promise and the wish asks for. */
struct plan_bar tepal_plan_bar(const struct plan_task *task, enum tepal_kind_id kind);

/* Something more, if that is in the way; what came first stays. */
static inline void plan_bar_if(struct plan_bar *bar, bool barred, const char *by, const char *why)
{
    if (bar->why == NULL && barred) {
        *bar = (struct plan_bar){by, why};
    }
}

/* Is anything? Then that is all there is of this kind. */
bool tepal_plan_barred(struct tepal_plans *out, enum tepal_kind_id kind, struct plan_bar bar);

/* What the memory is called that is too small. */
static inline const char *plan_memory(const struct plan_task *task)
{
    return task->wish->header_bits > 0 ? "header-bits" : "memory";
}

/* The share of the weight of the known negatives that the lightest `share` of them have. */
double tepal_plan_lightest(const struct plan_task *task, double share);

/* Have the known negatives weights? */
bool tepal_plan_weighs(const struct plan_task *task);

/* Positions that differ are worth their while in a filter of a few hundred bits. */
static inline enum tepal_positions plan_positions(const struct plan_task *task)
{
    return task->wish->header_bits > 0 ? TEPAL_POSITIONS_DISTINCT : TEPAL_POSITIONS_COLLIDING;
}

/* `bits` down to a multiple of unit. */
uint64_t tepal_plan_down(uint64_t bits, uint64_t unit);

/* The most bits that a filter in the limit can have, in whole units. */
uint64_t tepal_plan_most(const struct plan_task *task, uint64_t unit);

/*
 * Cache lines that an absent key reads: 1 + fill + ... + fill^(k-1) until the first 0 of m bits,
 * but for positions that share a line (of few bits), or the first of its lines.
 */
double tepal_plan_reads(enum tepal_layout layout, double fill, uint32_t k, uint64_t m);

/* The same of a Bloom filter, or of the bits beside counters: the second of two lines included. */
double tepal_plan_probes(const struct tepal_params *p, uint64_t n);

/* Is it a header that is no multiple of a line? Then no layout of lines can have its bits. */
#define TEPAL_PLAN_NOT_LINES "a header of cache lines needs a multiple of 512 bits"
bool tepal_plan_in_lines(const struct plan_task *task);

/*
 * Of a Bloom filter, and of the one that is retouched: cells and hashes for n keys (false: there is
 * none); then why not, and what is in the way.
 */
bool tepal_plan_bloom_size(const struct plan_task *task, uint64_t n, struct tepal_params *p);
void tepal_plan_bloom_no(const struct plan_task *task, struct tepal_proposal *plan);

/* The kinds. */
void tepal_plan_bloom(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_retouched(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_generalized(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_counting(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_fingerprint(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_yesno(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_cascade(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_recycling(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_growing(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_chain(const struct plan_task *task, struct tepal_plans *out);

#endif

/*
 * plan.h: what the planners of the kinds share. Each kind has a file of its own, with one function
 * that appends its plans, or the reason why there is none; plan.c asks all of them and ranks.
 */
#ifndef TEPAL_SRC_PLAN_PLAN_H
#define TEPAL_SRC_PLAN_PLAN_H

#include <tepal/plan.h>

/* A wish, made definite. */
struct plan_task {
    const struct tepal_wish *wish;
    uint64_t n;     /* keys */
    uint64_t t;     /* known negatives */
    uint64_t limit; /* bits at most; UINT64_MAX: any number */
    bool smallest;  /* the fewest bits that keep fp and fn, else the least cost in the limit */
    double fp;      /* to be kept; NaN: none stated, and not `smallest` */
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

/* Appends a kind that cannot be on any layout, and why. */
void tepal_plan_refuse(struct tepal_plans *out, enum tepal_kind_id kind, const char *blocked_by,
                       const char *reason);

/*
 * Bits, errors and probes are there: the rest follows, and whether all limits are kept. Where there
 * are no known negatives fp is fp_unknown.
 */
void tepal_plan_finish(const struct plan_task *task, struct tepal_proposal *plan);

/* The best of the reasons that a kind which only grows and only asks has: NULL if there is none. */
const char *tepal_plan_unfit(const struct plan_task *task, bool deletes, bool bounded, bool endless,
                             const char **blocked_by);

/* The share of the weight of the known negatives that the lightest `share` of them have. */
double tepal_plan_lightest(const struct plan_task *task, double share);

/* Have the known negatives weights? */
bool tepal_plan_weighs(const struct plan_task *task);

/* `bits` down to a multiple of unit. */
uint64_t tepal_plan_down(uint64_t bits, uint64_t unit);

/* 1 + fill + ... + fill^(k-1): cells read until the first 0, of m bits. */
double tepal_plan_reads(double fill, uint32_t k, uint64_t m);

/* Is it a header that is no multiple of a line? Then no layout of lines can have its bits. */
#define TEPAL_PLAN_NOT_LINES "a header in lines must be a multiple of 512 bits"
bool tepal_plan_in_lines(const struct plan_task *task);

/*
 * Of a Bloom filter, and of the one that is retouched: cells and hashes for n keys (false: there is
 * none); then why not, and what is in the way; and the cache lines that an absent key reads.
 */
bool tepal_plan_bloom_size(const struct plan_task *task, uint64_t n, struct tepal_params *p);
void tepal_plan_bloom_no(const struct plan_task *task, struct tepal_proposal *plan);
double tepal_plan_bloom_probes(const struct tepal_params *p, uint64_t n);

/* The kinds. */
void tepal_plan_bloom(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_retouched(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_generalized(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_counting(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_fingerprint(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_yesno(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_cascade(const struct plan_task *task, struct tepal_plans *out);
void tepal_plan_recycling(const struct plan_task *task, struct tepal_plans *out);

#endif

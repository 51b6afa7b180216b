/*
 * wish.h: from the options of plan, build --auto and compare to a wish (tepal/plan.h).
 */
#ifndef TOOL_PLANS_WISH_H
#define TOOL_PLANS_WISH_H

#include <tepal/plan.h>

#include "cli/command.h"
#include "plans/weights.h"

#define WISH_GAPS 8192 /* steps of a gap file, at most */

struct wish {
    struct tepal_wish wish;
    double *steps;          /* gaps and survival, ours */
    struct weights weights; /* of the known negatives */
    const char *negatives;  /* the file of known negatives, or NULL */
    bool weighted;          /* its lines have weights */
    double bits_per_key;    /* 0: not given */
    bool assumed_keys;      /* bits a key without keys: planned for a million */
};

/*
 * The wish of the options; keys > 0 are those counted by the caller, `negatives` is the caller's
 * file of them, or NULL. EXIT_YES, or EXIT_TROUBLE
 * after saying why. Free with wish_free either way.
 */
int wish_read(const struct args *args, uint64_t keys, const char *negatives, struct wish *wish);
void wish_free(struct wish *wish);

/*
 * The lines of a gap file (tepal gaps --save): gap, repeats, survival, and "# fresh SHARE" before
 * them. gap and survival have room for `most`. NULL, or what is wrong with it.
 */
const char *wish_gaps(const char *text, size_t len, double *gap, double *survival, size_t most,
                      struct tepal_recycling_gaps *out);

/* How many keys a file has. EXIT_YES, or EXIT_TROUBLE after saying why. */
int wish_count(const struct args *args, const char *path, bool weighted, uint64_t *count);

/* A small file, whole, in heap memory with a NUL behind it; NULL after saying why. */
char *wish_slurp(const struct args *args, const char *path, size_t most, size_t *len);

extern const struct option option_wish_memory;
extern const struct option option_wish_bits_per_key;
extern const struct option option_fp_average;
extern const struct option option_deletes;
extern const struct option option_wrong_deletes;
extern const struct option option_untrusted;
extern const struct option option_wish_weights;
extern const struct option option_endless;
extern const struct option option_wish_gaps;
extern const struct option option_wish_stream;
extern const struct option option_header_bits;
extern const struct option option_prefer;
extern const struct option option_cost_fp;
extern const struct option option_cost_fn;

#define WISH_OPTIONS                                                                               \
    &option_wish_memory, &option_fp_average, &option_deletes, &option_wrong_deletes,               \
        &option_untrusted, &option_endless, &option_wish_gaps, &option_wish_stream,                \
        &option_header_bits, &option_prefer, &option_cost_fp, &option_cost_fn

#endif

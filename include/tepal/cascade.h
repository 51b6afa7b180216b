/*
 * tepal/cascade.h: a filter of the members; a filter of its false positives among the known
 * negatives; a filter of that one's false positives among the members; and so on until none is
 * left. No error at all on the keys that it was built from: members are found, known negatives are
 * not.
 *
 *     struct tepal_params params = TEPAL_PARAMS_INIT;
 *     params.kind = TEPAL_KIND_CASCADE;
 *     struct tepal_cascade_input input = {.members = s, .member_count = n,
 *                                         .avoid = t, .avoid_count = count};
 *     struct tepal_cascade_options options = {.bits = 10 * n};      at most; all zero: the smallest
 *     struct tepal_cascade_report report;
 *     const char *why = "";
 *     tepal_cascade_build(&params, &input, &options, NULL, &filter, &report, &why);
 *
 * An unknown key is accepted at nearly the rate of the first level; the smallest cascade has a
 * first level that accepts many. Give it bits, or a rate, if unknown keys will come.
 * tepal_filter_info tells both rates (fp_known, fp_now).
 *
 * Threads: building reads its inputs only; const calls may run concurrently.
 */
#ifndef TEPAL_CASCADE_H
#define TEPAL_CASCADE_H

#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The size, by one of the two; both 0: as few bits as possible. */
struct tepal_cascade_options {
    uint64_t bits; /* of all levels together, at most */
    double fp;     /* the first level's rate, hence at most that for unknown keys: 0 < fp < 1 */
};

/*
 * What is known. A known negative that is also a member (the same digest) is reported and taken for
 * a member: members win. Keys given twice do no harm. At most 2^31 of each.
 */
struct tepal_cascade_input {
    const struct tepal_digest *members;
    size_t member_count;
    const struct tepal_digest *avoid;
    size_t avoid_count;
};

struct tepal_cascade_report {
    uint64_t members;                           /* given */
    uint64_t avoid_given;                       /* |T| as given */
    uint64_t avoid_members;                     /* of them, members: not counted below */
    uint64_t avoid_positive;                    /* of the others, found by the first level */
    uint64_t avoid_left;                        /* of these, still found: 0 */
    uint64_t false_negatives;                   /* 0 */
    uint64_t bits;                              /* of all levels */
    uint64_t level[TEPAL_CASCADE_MOST_LEVELS];  /* bits of each */
    uint64_t stored[TEPAL_CASCADE_MOST_LEVELS]; /* keys in each */
    uint32_t levels;
};

/*
 * Of *params layout, positions, hash, hashes (of the first level; 0: chosen), seed, key_check and
 * capacity are used; sizes are chosen. The filter is to be freed by tepal_filter_free; *report and
 * *why may be NULL.
 *
 * TEPAL_BAD_ARGUMENT: no members, another kind, bits and fp together, an fp outside 0..1;
 * TEPAL_FULL: no cascade of so few bits was found; TEPAL_TOO_LARGE; TEPAL_NO_MEMORY; and as
 * tepal_params_check. Cost: linear in members and avoid, at most 16 times over if bits are given.
 */
TEPAL_API enum tepal_status
tepal_cascade_build(const struct tepal_params *params, const struct tepal_cascade_input *input,
                    const struct tepal_cascade_options *options,
                    const struct tepal_allocator *allocator, struct tepal_filter **out,
                    struct tepal_cascade_report *report, const char **why);

/*
 * The same filter through its typed handle (NULL if it is of another kind).
 *
 * A key may be added later: it goes into every odd level (first, third, ...) up to the first even
 * one that does not have it. So a member is always found; known negatives may come back. If an even
 * level is the last and has it by accident, there is nowhere to go: TEPAL_FULL, nothing changed.
 */
struct tepal_cascade;

TEPAL_API struct tepal_cascade *tepal_filter_cascade(struct tepal_filter *filter);
TEPAL_API struct tepal_filter *tepal_cascade_filter(struct tepal_cascade *cascade);
TEPAL_API bool tepal_cascade_query(const struct tepal_cascade *cascade, struct tepal_digest digest);
TEPAL_API size_t tepal_cascade_query_many(const struct tepal_cascade *cascade,
                                          const struct tepal_digest *digests, size_t count,
                                          uint64_t *answers);

/* How many levels, and the bits of level i (from 0). */
TEPAL_API uint32_t tepal_cascade_levels(const struct tepal_cascade *cascade);
TEPAL_API uint64_t tepal_cascade_level_bits(const struct tepal_cascade *cascade, uint32_t i);

#ifdef __cplusplus
}
#endif

#endif

/*
 * tepal/cascade.h: a filter of the members; a filter of its false positives among the known
 * negatives; a filter of that one's false positives among the members; and so on until none is
 * left. No error at all on the keys it was built from: members are found, known negatives are not.
 *
 *     struct tepal_params p = TEPAL_PARAMS_INIT;
 *     p.kind = TEPAL_KIND_CASCADE;
 *     struct tepal_known known = {.members = s, .member_count = n,
 *                                 .avoid = t, .avoid_count = count};
 *     struct tepal_cascade_options options = {.bits = 10 * n};   at most; all zero: the smallest
 *     tepal_cascade_build(&p, &known, &options, NULL, &filter, &report, &error);
 *
 * An unknown key is accepted at nearly the rate of the first level; the smallest cascade has a
 * first level that accepts many. Give it bits, or a rate, if unknown keys will come.
 * tepal_filter_info reports both rates (fp_known, fp_now), and the bits of every level.
 *
 * A key may be added later: it goes into every odd level (first, third, ...) up to the first even
 * one that does not have it. So a member is always found; known negatives may be found again. If
 * the last level is an even one and finds it by accident, it cannot be added: TEPAL_FULL, and
 * nothing has changed.
 *
 * Threads: building only reads its inputs.
 */
#ifndef TEPAL_CASCADE_H
#define TEPAL_CASCADE_H

#include <tepal/filter.h>
#include <tepal/known.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The size, by one of the two; both 0: as few bits as possible. */
struct tepal_cascade_options {
    uint64_t bits; /* of all levels together, at most */
    double fp;     /* rate of the first level, and a bound for unknown keys: 0 < fp < 1 */
};

/*
 * Layout, positions, hash, hashes (of the first level; 0: chosen), seed, key_check and capacity are
 * taken from *params; sizes are chosen. The filter is to be freed by tepal_filter_free; *report may
 * be NULL. Keys given twice do no harm.
 *
 * TEPAL_BAD_ARGUMENT: no members, another kind, bits and fp together, an fp outside 0..1;
 * TEPAL_FULL: no cascade this small was found; TEPAL_TOO_LARGE; TEPAL_NO_MEMORY; and as
 * tepal_params_check. Cost: linear in members and avoid, at most 16 times over if bits are given.
 */
TEPAL_API enum tepal_status
tepal_cascade_build(const struct tepal_params *params, const struct tepal_known *known,
                    const struct tepal_cascade_options *options,
                    const struct tepal_allocator *allocator, struct tepal_filter **out,
                    struct tepal_known_report *report, struct tepal_error *error);

#ifdef __cplusplus
}
#endif

#endif

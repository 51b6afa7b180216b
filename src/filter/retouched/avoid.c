/*
 * avoid.c: keys that a Bloom filter must not find, as they become known: Algorithm 1 (Random
 * Selection) without the members. The filter becomes a retouched one: the same words, another kind.
 *
 * What that loses is expected (model/loss.c). The members that were lost before are out of it:
 * given the bits that are set now, the positions of the others lie on these at random. So one call
 * after the other expects what a single call would have expected (on lines up to their weights,
 * which are taken from the bits that are left). The state has the expectation with its fraction:
 * many calls of one key each would otherwise round it away.
 */
#include "filter/retouched/internal.h"

#include <math.h>
#include <string.h>

#include <tepal/avoid.h>

#include "base/refuse.h"
#include "base/wide.h"

/* A word of the digest that no layout draws, and no counting filter takes. */
#define AVOID_WORD (((uint64_t)1 << 20) - 2)

/* From now on its members are counted (or estimated), and may be lost. */
static enum tepal_status become(struct tepal_filter *filter, struct tepal_error *error)
{
    double members =
        tepal_bloom_estimate(&filter->params, tepal_bits_count(filter->words, filter->word_count));
    if (!(members < 0x1p60)) {
        return refuse(
            error, TEPAL_BAD_ARGUMENT,
            "all bits of the filter are set: they do not tell how many members there are");
    }
    filter->params.kind = TEPAL_KIND_RETOUCHED;
    filter->ops = &tepal_retouched_ops;
    filter->state.own[RETOUCHED_MEMBERS] = (uint64_t)llround(members);
    filter->state.own[RETOUCHED_EXPECTED] = members > 0;
    tepal_filter_open(filter);
    return TEPAL_OK;
}

enum tepal_status tepal_retouched_op_allow(struct tepal_filter *filter, uint64_t members,
                                           struct tepal_error *error)
{
    if (filter->ops == &tepal_bloom_ops) {
        enum tepal_status status = become(filter, error);
        if (status != TEPAL_OK) {
            return status;
        }
    }
    if ((double)members < retouched_lost(filter)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "more members than that are lost already");
    }
    filter->state.own[RETOUCHED_BUDGET] = members;
    return TEPAL_OK;
}

/* One of its bits, by the key's own hash. */
static uint64_t choose(const struct tepal_bloom *bloom, struct tepal_digest digest)
{
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t count = tepal_address_positions(&bloom->at, digest, positions);
    return positions[wide_scale(address_more(digest, AVOID_WORD * ADDRESS_GOLDEN), count)];
}

/* The expectation into the state. */
static void keep(struct tepal_filter *filter, double lost, uint64_t cleared)
{
    uint64_t *own = filter->state.own;
    double most = (double)own[RETOUCHED_MEMBERS];
    double whole = floor(fmin(lost, most));
    own[RETOUCHED_VICTIMS] = (uint64_t)whole;
    own[RETOUCHED_PART] = lost < most ? (uint64_t)((lost - whole) * RETOUCHED_PARTS) : 0;
    own[RETOUCHED_CLEARED] += cleared;
    own[RETOUCHED_EXPECTED] = 1;
    if (own[RETOUCHED_CLEARED] > filter->params.cells) {
        own[RETOUCHED_CLEARED] = filter->params.cells; /* bits that came back and went again */
    }
}

static void avoid_all(struct tepal_filter *filter, const struct tepal_digest *digests, size_t count,
                      struct loss *loss, uint64_t *refused, struct tepal_avoided *done)
{
    double before = retouched_lost(filter);
    double most = (double)filter->state.own[RETOUCHED_BUDGET] * (1 + 1e-12);
    for (size_t i = 0; i < count; i++) {
        bool found = filter->query(filter, digests[i]);
        uint64_t bit = found ? choose((const struct tepal_bloom *)filter, digests[i]) : 0;
        uint64_t region = tepal_loss_region_of(&filter->params, bit);
        bool may = found && before + tepal_loss_after(loss, region, (double)NAN) <= most;
        if (may) {
            filter->words[bit >> 6] &= ~((uint64_t)1 << (bit & 63));
            tepal_loss_clear(loss, region, (double)NAN);
        }
        done->absent += !found;
        done->avoided += may;
        done->refused += found && !may;
        if (refused != NULL) {
            refused[i / 64] |= (uint64_t)(found && !may) << (i % 64);
        }
    }
    done->cleared = done->avoided;
    done->lost = tepal_loss_expected(loss);
    done->lost_all = before + done->lost;
}

enum tepal_status tepal_retouched_op_avoid(struct tepal_filter *filter,
                                           const struct tepal_digest *digests, size_t count,
                                           uint64_t *refused, struct tepal_avoided *done,
                                           struct tepal_error *error)
{
    const uint64_t *own = filter->state.own;
    if (filter->ops != &tepal_retouched_ops || own[RETOUCHED_BUDGET] == 0) {
        return refuse(error, TEPAL_BAD_ARGUMENT, FILTER_NO_BUDGET);
    }
    if (own[RETOUCHED_MEMBERS] >> 60 != 0) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "the filter claims more members than there can be");
    }
    struct arena arena = tepal_arena_open(&filter->allocator);
    uint64_t regions = tepal_loss_regions(&filter->params);
    struct loss_region *region = tepal_arena_take(&arena, regions, sizeof *region);
    if (region == NULL) {
        tepal_arena_release(&arena, NULL);
        return refuse_if(error, TEPAL_NO_MEMORY);
    }
    struct loss loss;
    double members = (double)own[RETOUCHED_MEMBERS];
    tepal_retouch_region_ones(filter, region, regions);
    tepal_loss_open(&loss, &filter->params, fmax(0, members - retouched_lost(filter)), NAN, region);
    if (refused != NULL) {
        memset(refused, 0, (count + 63) / 64 * 8);
    }
    avoid_all(filter, digests, count, &loss, refused, done);
    if (done->avoided > 0) {
        keep(filter, done->lost_all, done->cleared);
    }
    done->expected = true;
    done->most_lost = (double)own[RETOUCHED_BUDGET];
    done->members = members;
    tepal_arena_release(&arena, NULL);
    return TEPAL_OK;
}

/*
 * direct.c: what one key needs of a Bloom filter, in one struct: for the filter's own calls (one.h)
 * and for programs that inline them (tepal/inline.h).
 */
#include <tepal/inline.h>

#include "filter/bloom/internal.h"
#include "filter/fingerprint/internal.h"

static enum tepal_direct_way way_of(const struct address *at)
{
    switch (at->layout) {
    case TEPAL_LAYOUT_FLAT:
        return at->positions == TEPAL_POSITIONS_COLLIDING ? TEPAL_DIRECT_FLAT : TEPAL_DIRECT_CALL;
    case TEPAL_LAYOUT_BLOCKED:
        return at->hashes > ADDRESS_SECTORS ? TEPAL_DIRECT_BLOCKED_TWO : TEPAL_DIRECT_BLOCKED;
    case TEPAL_LAYOUT_PAIRED:
        return at->hashes > 2 * ADDRESS_SECTORS ? TEPAL_DIRECT_PAIRED_TWO : TEPAL_DIRECT_PAIRED;
    case TEPAL_LAYOUT_PARTITIONED:
        break;
    }
    return TEPAL_DIRECT_CALL;
}

struct tepal_direct tepal_bloom_direct(const struct address *at, uint64_t *words)
{
    bool paired = at->layout == TEPAL_LAYOUT_PAIRED;
    bool in_lines = tepal_layout_in_lines(at->layout);
    struct tepal_direct direct = {.way = way_of(at),
                                  .hashes = at->hashes,
                                  .distinct = at->positions == TEPAL_POSITIONS_DISTINCT,
                                  .words = words,
                                  .range = in_lines ? at->lines : at->cells};
    if (in_lines) {
        direct.line[0] = bloom_line(paired ? (at->hashes + 1) / 2 : at->hashes);
        direct.line[1] = bloom_line(paired ? at->hashes / 2 : 0);
    }
    return direct;
}

void tepal_filter_direct_seed(struct tepal_direct *direct, const struct tepal_hasher *hasher)
{
    direct->integer[0] = hasher->integer[0];
    direct->integer[1] = hasher->integer[1];
    direct->factors[0] = TEPAL_PLACE_C1;
    direct->factors[1] = TEPAL_PLACE_C2;
    direct->factors[2] = TEPAL_PLACE_C3;
}

/* Its own, if the kind has one. */
static struct tepal_direct direct_of(const struct tepal_filter *filter)
{
    switch (filter->params.kind) {
    case TEPAL_KIND_BLOOM:
    case TEPAL_KIND_RETOUCHED:
        return ((const struct tepal_bloom *)filter)->direct;
    case TEPAL_KIND_FINGERPRINT:
        return ((const struct tepal_fingerprint *)filter)->direct;
    default:
        return (struct tepal_direct){.way = TEPAL_DIRECT_CALL};
    }
}

enum tepal_status tepal_direct_of(struct tepal_filter *filter, struct tepal_direct *out)
{
    if (!filter->has_hasher) {
        return TEPAL_KEY_NEEDED;
    }
    *out = filter->hasher.hash == TEPAL_HASH_XXH3 ? direct_of(filter)
                                                  : (struct tepal_direct){.way = TEPAL_DIRECT_CALL};
    out->filter = filter;
    /* A retouched filter counts more than keys when it is added to; others look for room. */
    if (filter->params.kind == TEPAL_KIND_BLOOM && out->way != TEPAL_DIRECT_CALL &&
        !filter_read_only(filter)) {
        out->keys_added = &filter->state.keys_added;
    }
    return TEPAL_OK;
}

/*
 * unite.c: two growing filters become one, although their keys are gone: an entry is all that is
 * needed to add it to another filter with the same tags.
 */
#include "filter/growing/internal.h"

/*
 * Add what an entry of another filter knows. Where it knows more than there is room for, it
 * forgets; where it knows less than its buckets need, it is added for either value of the next bit.
 */
static enum tepal_status add_entry(struct tepal_growing *f, uint64_t tag, uint64_t address,
                                   uint32_t known)
{
    const struct growing_table *t = &f->at;
    struct growing_key key = {tag, {address, address ^ growing_offset(tag)}};
    uint32_t needed = growing_depth(t, key.address[0]);
    uint32_t other = growing_depth(t, key.address[1]);
    needed = needed < other ? other : needed;
    if (known < needed) {
        enum tepal_status status = add_entry(f, tag, address, known + 1);
        growing_count_copy(f);
        return status == TEPAL_OK ? add_entry(f, tag, address | (uint64_t)1 << known, known + 1)
                                  : status;
    }
    /* There is no digest for the exact table: if no chain of moves frees a slot, make more. */
    for (uint64_t more = t->buckets / 8; more > 0; more--) {
        uint32_t most = growing_known_now(t, &key);
        if (tepal_growing_put(f, tag, key.address, known < most ? known : most)) {
            tepal_growing_grow(f);
            return TEPAL_OK;
        }
        if (!tepal_growing_split(f)) {
            return TEPAL_NO_MEMORY;
        }
        if (known < growing_depth(t, key.address[0]) || known < growing_depth(t, key.address[1])) {
            return add_entry(f, tag, address, known);
        }
    }
    return TEPAL_FULL;
}

static enum tepal_status add_entries(struct tepal_growing *into, const struct tepal_growing *from)
{
    enum tepal_status status = TEPAL_OK;
    for (uint64_t bucket = 0; status == TEPAL_OK && bucket < from->at.buckets; bucket++) {
        for (uint32_t s = 0; status == TEPAL_OK && s < GROWING_SLOTS; s++) {
            uint64_t entry = growing_slot(from, bucket, s);
            if (entry != 0) {
                uint32_t known;
                uint64_t address = growing_entry_address(&from->at, bucket, entry, &known);
                status = add_entry(into, entry & from->at.tag_mask, address, known);
            }
        }
    }
    for (uint64_t i = 0; status == TEPAL_OK && i < from->head.params.growing.overflow; i++) {
        const uint64_t *slot = from->at.overflow + i * PARAMS_OVERFLOW_WORDS;
        if (slot[2] != 0) {
            status = tepal_overflow_add(into, (struct tepal_digest){slot[0], slot[1]}, slot[2]);
        }
    }
    return status;
}

/*
 * The larger one takes the entries of the smaller: what these know is then enough for its buckets,
 * or nearly. It is a copy that takes them, so that nothing has changed if one finds no room.
 */
enum tepal_status tepal_growing_unite(struct tepal_filter *into, const struct tepal_filter *other)
{
    bool larger = growing_self(into)->at.buckets >= growing_self_const(other)->at.buckets;
    const struct tepal_filter *base = larger ? into : other;
    const struct tepal_filter *more = larger ? other : into;
    struct tepal_filter *both;
    enum tepal_status status = tepal_filter_clone(base, &into->allocator, &both, NULL);
    if (status != TEPAL_OK) {
        return status;
    }
    status = add_entries(growing_self(both), growing_self_const(more));
    if (status == TEPAL_OK) {
        uint64_t *removed = &both->state.own[GROWING_REMOVED];
        struct tepal_growing old = *growing_self(into);
        filter_count_keys(both, more->state.keys_added);
        *removed = saturating_add(*removed, more->state.own[GROWING_REMOVED]);
        both->params.capacity = into->params.capacity;
        *growing_self(into) = *growing_self(both);
        *growing_self(both) = old;
    }
    tepal_filter_free(both);
    return status;
}

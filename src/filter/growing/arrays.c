/*
 * arrays.c: where the words of a growing filter are.
 *
 *     payload:   | buckets, group after group                    | gap | exact table    |
 *     memory:    | first array        | segment | segment | ...  | gap | table or array |
 *
 * A filter is created and loaded as one array, which may be a mapping. What is added later goes
 * into segments: 32 for each doubling, so that at most 1/32 of the memory is unused (and as much
 * again where the first array ends within a segment) and nothing is ever copied from a smaller
 * array into a larger one. Arrays end between groups of sixteen buckets, which are whole words. If
 * the first array ends within a group, the first segment takes a copy of that group. The list of
 * segments is made for one doubling after the other.
 */
#include <string.h>

#include "base/alloc.h"
#include "filter/growing/internal.h"

/* Words of all buckets in the payload. */
static uint64_t bucket_words(const struct growing_table *t, uint64_t buckets)
{
    return (buckets * GROWING_SLOTS * t->bits + 63) / 64;
}

void tepal_growing_resize(struct tepal_growing *f, uint64_t buckets)
{
    struct growing_table *t = &f->at;
    struct tepal_params *p = &f->head.params;
    t->buckets = buckets;
    t->level = 63 - (uint32_t)__builtin_clzll(buckets);
    t->split = buckets - ((uint64_t)1 << t->level);
    p->cells = buckets * GROWING_SLOTS * t->bits;
    f->head.word_count = (size_t)(tepal_params_cell_bytes(p) / 8);
}

/* The words of a segment, with the one that its last bucket may be read with. */
static size_t segment_words(const struct growing_table *t, uint64_t bucket)
{
    return (size_t)(growing_segment_buckets(bucket) / GROWING_GROUP * t->bits + 1);
}

/* A place for this segment in the list, and for all others of its round; false without memory. */
static bool list_segment(struct tepal_growing *f, size_t number)
{
    const size_t round = (size_t)1 << GROWING_SEGMENTS_LOG;
    size_t room = (number / round + 1) * round;
    if (number < f->segment_room) {
        return true;
    }
    uint64_t **list = tepal_alloc_zeroed(&f->head.allocator, room * sizeof *list);
    if (list == NULL) {
        return false;
    }
    if (f->segment_room > 0) {
        memcpy(list, f->segment, f->segment_room * sizeof *list);
        tepal_alloc_release(&f->head.allocator, f->segment, f->segment_room * sizeof *list);
    }
    f->segment = list;
    f->segment_room = room;
    return true;
}

bool tepal_growing_room(struct tepal_growing *f)
{
    struct growing_table *t = &f->at;
    uint64_t next = t->buckets;
    uint64_t group = next & ~(GROWING_GROUP - 1);
    if (next < t->base) { /* it has been cleared since */
        return true;
    }
    if (next >> GROWING_LAST_ROUND != 0) {
        return false;
    }
    if (!list_segment(f, growing_segment(next))) {
        return false;
    }
    uint64_t **segment = &f->segment[growing_segment(next)];
    if (*segment == NULL) {
        size_t words = segment_words(t, next);
        *segment = tepal_alloc_raw(&f->head.allocator, words * 8);
        if (*segment == NULL) {
            return false;
        }
        (*segment)[words - 1] = 0;
        f->segment_bytes += words * 8;
    }
    if (next == group) {
        memset(growing_group(f, next), 0, t->bits * 8);
    } else if (t->base > group) {
        const uint64_t *old = growing_group(f, group);
        uint64_t copy[64] = {0}; /* a slot has at most 32 bits, a group as many words */
        memcpy(copy, old, (size_t)(bucket_words(t, next) - bucket_words(t, group)) * 8);
        t->base = group;
        memcpy(growing_group(f, group), copy, t->bits * 8);
    }
    return true;
}

uint64_t *tepal_growing_run(const struct tepal_filter *filter, uint64_t first, uint64_t *count)
{
    const struct tepal_growing *f = growing_self_const(filter);
    const struct growing_table *t = &f->at;
    uint64_t buckets = bucket_words(t, t->buckets);
    if (filter->word_count == f->first_words && t->base == t->buckets && !f->own_overflow) {
        *count = filter->word_count - first;
        return t->words + first;
    }
    if (first > buckets) {
        *count = filter->word_count - first;
        return t->overflow + (first - buckets - 1);
    }
    if (first == buckets) {
        *count = 1;
        return (uint64_t *)(uintptr_t)&f->gap;
    }
    uint64_t base = bucket_words(t, t->base);
    if (first < base) {
        *count = (base < buckets ? base : buckets) - first;
        return t->words + first;
    }
    uint64_t bucket = first / t->bits * GROWING_GROUP;
    uint64_t size = growing_segment_buckets(bucket);
    uint64_t end = bucket_words(t, (bucket & ~(size - 1)) + size);
    *count = (end < buckets ? end : buckets) - first;
    return growing_group(f, bucket) + first % t->bits;
}

uint64_t tepal_growing_memory(const struct tepal_filter *filter)
{
    const struct tepal_growing *f = growing_self_const(filter);
    uint64_t table = 8 * PARAMS_OVERFLOW_WORDS * filter->params.growing.overflow;
    return (filter_read_only(filter) ? 0 : (uint64_t)f->first_words * 8) + f->segment_bytes +
           f->segment_room * sizeof *f->segment + (f->own_overflow ? table : 0);
}

/* Give back everything but the first array. */
static void release(struct tepal_growing *f)
{
    const struct tepal_allocator *allocator = &f->head.allocator;
    for (size_t i = 0; i < f->segment_room; i++) {
        if (f->segment[i] != NULL) {
            size_t later = i >> GROWING_SEGMENTS_LOG; /* two for the first round */
            later -= later > 0;
            uint64_t bucket = (uint64_t)1 << (GROWING_FIRST_ROUND + later);
            tepal_alloc_release(allocator, f->segment[i], segment_words(&f->at, bucket) * 8);
        }
    }
    if (f->segment_room > 0) {
        tepal_alloc_release(allocator, f->segment, f->segment_room * sizeof *f->segment);
        f->segment = NULL;
        f->segment_room = 0;
    }
    f->segment_bytes = 0;
    if (f->own_overflow) {
        uint64_t slots = f->head.params.growing.overflow;
        tepal_alloc_release(allocator, f->at.overflow, (size_t)(8 * PARAMS_OVERFLOW_WORDS * slots));
        f->own_overflow = false;
    }
}

void tepal_growing_reset(struct tepal_filter *filter)
{
    struct tepal_growing *f = growing_self(filter);
    struct tepal_params *p = &filter->params;
    release(f);
    memset(filter->words, 0, f->first_words * 8); /* its last group may have been left behind */
    f->at.base = f->first_buckets;
    p->growing.first = p->growing.first == 0 ? p->cells : p->growing.first;
    p->growing.overflow = 0;
    f->at.overflow = NULL;
    tepal_growing_resize(f, p->growing.first / (GROWING_SLOTS * f->at.bits));
}

void tepal_growing_close(struct tepal_filter *filter)
{
    release(growing_self(filter));
    filter->word_count = growing_self(filter)->first_words;
}

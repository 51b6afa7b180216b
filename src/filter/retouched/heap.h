/*
 * heap.h: the bits that sacrifice.c may free, the best on top.
 */
#ifndef TEPAL_SRC_FILTER_RETOUCHED_HEAP_H
#define TEPAL_SRC_FILTER_RETOUCHED_HEAP_H

#include <math.h>

#include "filter/retouched/internal.h"

#define OUTSIDE UINT32_MAX
#define WAITS   (UINT32_MAX - 1)
#define NODES   8   /* in a cache line */
#define SAMPLE  512 /* bits that tell where the floor should be */
#define SHARE   6   /* one in so many comes into the heap */

/*
 * A heap of touched bits: the largest worth on top, of equals the lowest bit. Each has four
 * children, side by side in half a cache line, and their worths with them: a step down reads one
 * line.
 */
struct node {
    float worth;
    uint32_t bit;
};

/*
 * Most bits are never asked. So that those which are fit into the cache, the heap holds the bits
 * from `floor` on alone; the others wait, in no order, until it is empty and the floor is lowered.
 */
struct heap {
    struct node *node; /* node[1] is in the middle of a line */
    uint32_t count;
    float floor;
    uint32_t *place; /* of each bit, or OUTSIDE, or WAITS */
    float *worth;    /* of each bit that waits */
    uint32_t waiting;
    const struct retouch *run;
};

/*
 * To find what a bit is worth now takes a chain of random reads, some of them several times.
 * The upper levels of the heap are those bits that will be asked next; so one that comes to a level
 * has the next link of its chain fetched, of its first owner: on the top, most of it is there.
 */
static void fetch(const struct retouch *run, uint32_t at, uint32_t bit)
{
    const struct retouch_lists *keys = &run->keys;
    const struct retouch_lists *bits = &run->member_bits;
    if (at > 1364) {
        __builtin_prefetch(&keys->start[2 * (size_t)bit]);
        return;
    }
    const uint32_t *owner = &keys->item[retouch_owners(run, bit)];
    if (at > 340) {
        __builtin_prefetch(owner);
    } else if (at > 84) {
        __builtin_prefetch(&bits->start[*owner]);
    } else if (at > 20) {
        __builtin_prefetch(&bits->item[bits->start[*owner]]);
    } else {
        for (uint32_t i = bits->start[*owner]; i < bits->start[*owner + 1]; i++) {
            const uint32_t *other = &keys->start[2 * (size_t)bits->item[i]];
            __builtin_prefetch(at > 4 ? other : &keys->item[*other]);
        }
    }
}
#define FETCHED 5461 /* nodes of the upper levels */

static bool before(struct node a, struct node b)
{
    return a.worth > b.worth || (!(a.worth < b.worth) && a.bit < b.bit);
}

static void put(struct heap *heap, uint32_t at, struct node node)
{
    heap->node[at] = node;
    heap->place[node.bit] = at;
}

static void sift_up(struct heap *heap, uint32_t at, struct node node)
{
    while (at > 0 && before(node, heap->node[(at - 1) / 4])) {
        put(heap, at, heap->node[(at - 1) / 4]);
        at = (at - 1) / 4;
    }
    put(heap, at, node);
}

static void sift_down(struct heap *heap, uint32_t at, struct node node)
{
    for (;;) {
        uint64_t child = 4 * (uint64_t)at + 1;
        uint64_t end = child + 4 < heap->count ? child + 4 : heap->count;
        if (child >= end) {
            break;
        }
        uint64_t best = child;
        for (child++; child < end; child++) {
            best = before(heap->node[child], heap->node[best]) ? child : best;
        }
        if (!before(heap->node[best], node)) {
            break;
        }
        put(heap, at, heap->node[best]);
        if (at < FETCHED) {
            fetch(heap->run, at, heap->node[best].bit);
        }
        at = (uint32_t)best;
    }
    put(heap, at, node);
}

/* To where its worth belongs, from a place that it may have taken from another. */
static void sift(struct heap *heap, uint32_t at, struct node node)
{
    if (at > 0 && before(node, heap->node[(at - 1) / 4])) {
        sift_up(heap, at, node);
    } else {
        sift_down(heap, at, node);
    }
}

static void leave(struct heap *heap, uint32_t bit)
{
    uint32_t at = heap->place[bit];
    heap->place[bit] = OUTSIDE;
    if (at == WAITS) {
        heap->waiting--;
        return;
    }
    struct node last = heap->node[--heap->count];
    if (last.bit != bit) {
        sift(heap, at, last);
    }
}

/* Enter the bit, or move it to where its worth belongs. */
static void settle(struct heap *heap, uint32_t bit, float worth)
{
    uint32_t at = heap->place[bit];
    if (worth >= heap->floor) {
        heap->waiting -= at == WAITS;
        at = at == OUTSIDE || at == WAITS ? heap->count++ : at;
        sift(heap, at, (struct node){worth, bit});
        return;
    }
    if (at != WAITS) {
        if (at != OUTSIDE) {
            leave(heap, bit);
        }
        heap->place[bit] = WAITS;
        heap->waiting++;
    }
    heap->worth[bit] = worth;
}

static void sort_down(float *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        float value = values[i];
        uint32_t j = i;
        for (; j > 0 && values[j - 1] < value; j--) {
            values[j] = values[j - 1];
        }
        values[j] = value;
    }
}

/* The heap is empty: the best of those who wait, by a sample of them, come in. */
static void lower(struct heap *heap)
{
    float sample[SAMPLE] = {0};
    uint32_t taken = 0;
    uint32_t seen = 0;
    uint32_t bits = heap->run->bits;
    uint32_t step = heap->waiting / SAMPLE + 1;
    for (uint32_t bit = 0; bit < bits && taken < SAMPLE; bit++) {
        if (heap->place[bit] == WAITS && seen++ % step == 0) {
            sample[taken++] = heap->worth[bit];
        }
    }
    sort_down(sample, taken);
    heap->floor = sample[taken / SHARE];
    for (uint32_t bit = 0; bit < bits; bit++) {
        if (heap->place[bit] == WAITS && heap->worth[bit] >= heap->floor) {
            heap->node[heap->count] = (struct node){heap->worth[bit], bit};
            heap->place[bit] = heap->count++;
            heap->waiting--;
        }
    }
    for (uint32_t at = heap->count; at-- > 0;) {
        sift_down(heap, at, heap->node[at]);
    }
}

static void heap_empty(struct heap *heap)
{
    heap->count = 0;
    heap->waiting = 0;
    heap->floor = INFINITY;
    for (uint32_t bit = 0; bit < heap->run->bits; bit++) {
        heap->place[bit] = OUTSIDE;
    }
}

/* Is there a bit on top? */
static bool find_top(struct heap *heap)
{
    if (heap->count == 0 && heap->waiting > 0) {
        lower(heap);
    }
    return heap->count > 0;
}

#endif

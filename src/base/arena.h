/*
 * arena.h: the memory of one piece of work. Everything that it takes is checked for overflow, and
 * is given back at once when the work ends, whichever way it ends.
 *
 *     last --> | before, bytes | what was taken ... |      each piece is an allocation of its own:
 *                  |                                       a line of its own, then the memory
 *                  v
 *              | before, bytes | what was taken ... |
 *
 * A part can be given back earlier: remember `last`, take, and release down to what it was.
 */
#ifndef TEPAL_SRC_BASE_ARENA_H
#define TEPAL_SRC_BASE_ARENA_H

#include <tepal/base.h>

struct arena_piece;

struct arena {
    struct tepal_allocator allocator;
    struct arena_piece *last; /* NULL: nothing is taken */
};

/* An empty one over the caller's allocator, or the default one if NULL. */
struct arena tepal_arena_open(const struct tepal_allocator *allocator);

/*
 * `count` cleared things of `size` bytes (room for one if count is 0) on a cache line, or NULL if
 * there is no memory or no such size.
 */
void *tepal_arena_take(struct arena *arena, uint64_t count, size_t size);

/* The same, not cleared: for those who fill all that they read. */
void *tepal_arena_raw(struct arena *arena, uint64_t count, size_t size);

/* A bitmap of `count` zeros, in whole words. */
uint64_t *tepal_arena_bitmap(struct arena *arena, uint64_t count);

/* Give back what was taken since arena->last was `last`; NULL: everything. */
void tepal_arena_release(struct arena *arena, struct arena_piece *last);

#endif

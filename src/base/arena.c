/* arena.c: the memory of one piece of work (arena.h). */
#include "base/arena.h"

#include "base/alloc.h"
#include "base/checked.h"

struct arena_piece {
    struct arena_piece *before;
    size_t bytes; /* with the line that this is in */
};

struct arena tepal_arena_open(const struct tepal_allocator *allocator)
{
    return (struct arena){.allocator = tepal_alloc_choose(allocator)};
}

static void *take(struct arena *arena, uint64_t count, size_t size,
                  void *(*allocate)(const struct tepal_allocator *, size_t))
{
    uint64_t bytes;
    if (!checked_mul(count == 0 ? 1 : count, size, &bytes) ||
        !checked_add(bytes, ALLOC_LINE, &bytes) || !checked_size(bytes)) {
        return NULL;
    }
    struct arena_piece *piece = allocate(&arena->allocator, (size_t)bytes);
    if (piece == NULL) {
        return NULL;
    }
    piece->before = arena->last;
    piece->bytes = (size_t)bytes;
    arena->last = piece;
    return (char *)piece + ALLOC_LINE;
}

void *tepal_arena_take(struct arena *arena, uint64_t count, size_t size)
{
    return take(arena, count, size, tepal_alloc_zeroed);
}

void *tepal_arena_raw(struct arena *arena, uint64_t count, size_t size)
{
    return take(arena, count, size, tepal_alloc_raw);
}

uint64_t *tepal_arena_bitmap(struct arena *arena, uint64_t count)
{
    return tepal_arena_take(arena, count / 64 + (count % 64 != 0), 8);
}

void tepal_arena_release(struct arena *arena, struct arena_piece *last)
{
    while (arena->last != last) {
        struct arena_piece *piece = arena->last;
        arena->last = piece->before;
        tepal_alloc_release(&arena->allocator, piece, piece->bytes);
    }
}

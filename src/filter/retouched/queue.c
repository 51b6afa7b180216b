/* queue.c: bins, the run and the heap (queue.h). */
#include "filter/retouched/queue.h"

#define FIRST_CHUNKS 16
#define FEW          32 /* entries that are sorted by insertion */
#define DIGIT        8
#define DIGITS       (64 / DIGIT)

/* ---- memory ---------------------------------------------------------------------------------- */

bool tepal_queue_open(struct queue *queue, struct arena *arena)
{
    *queue = (struct queue){.arena = arena, .open = QUEUE_BINS};
    queue->bin = tepal_arena_take(arena, QUEUE_BINS, sizeof *queue->bin);
    return queue->bin != NULL;
}

/* Room for `count` entries; what is there stays. */
static bool grow(struct queue *queue, struct queue_array *array, size_t count)
{
    if (count <= array->room) {
        return true;
    }
    size_t room = 2 * array->room > count ? 2 * array->room : count;
    uint64_t *entry = tepal_arena_raw(queue->arena, room, sizeof *entry);
    if (entry == NULL) {
        queue->failed = true;
        return false;
    }
    if (array->count > 0) {
        memcpy(entry, array->entry, array->count * sizeof *entry);
    }
    array->entry = entry;
    array->room = room;
    return true;
}

static struct queue_chunk *new_chunk(struct queue *queue)
{
    if (queue->spare == NULL) {
        size_t count = queue->pieces < FIRST_CHUNKS ? FIRST_CHUNKS : queue->pieces / 4;
        struct queue_chunk *some = tepal_arena_raw(queue->arena, count, sizeof *some);
        if (some == NULL) {
            queue->failed = true;
            return NULL;
        }
        for (size_t i = 0; i < count; i++) {
            some[i].next = i + 1 < count ? &some[i + 1] : NULL;
        }
        queue->spare = some;
        queue->pieces += count;
    }
    struct queue_chunk *chunk = queue->spare;
    queue->spare = chunk->next;
    chunk->count = 0;
    return chunk;
}

static void return_chunk(struct queue *queue, struct queue_chunk *chunk)
{
    chunk->next = queue->spare;
    queue->spare = chunk;
}

/* ---- the heap: four children each ------------------------------------------------------------ */

static void heap_push(struct queue *queue, uint64_t entry)
{
    struct queue_array *heap = &queue->heap;
    if (!grow(queue, heap, heap->count + 1)) {
        return;
    }
    size_t at = heap->count++;
    while (at > 0 && heap->entry[(at - 1) / 4] < entry) {
        heap->entry[at] = heap->entry[(at - 1) / 4];
        at = (at - 1) / 4;
    }
    heap->entry[at] = entry;
}

static void heap_pop(struct queue_array *heap)
{
    uint64_t last = heap->entry[--heap->count];
    size_t at = 0;
    for (;;) {
        size_t child = 4 * at + 1;
        size_t end = child + 4 < heap->count ? child + 4 : heap->count;
        if (child >= end) {
            break;
        }
        size_t best = child;
        for (child++; child < end; child++) {
            best = heap->entry[child] > heap->entry[best] ? child : best;
        }
        if (heap->entry[best] <= last) {
            break;
        }
        heap->entry[at] = heap->entry[best];
        at = best;
    }
    heap->entry[at] = last;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void sort_few(uint64_t *entry, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t value = entry[i];
        size_t j = i;
        for (; j > 0 && entry[j - 1] < value; j--) {
            entry[j] = entry[j - 1];
        }
        entry[j] = value;
    }
}

/* Down, by counting, digit by digit from the lowest; a digit that all share is left out. */
static bool sort_many(struct queue *queue)
{
    struct queue_array *run = &queue->run;
    if (!grow(queue, &queue->other, run->count)) {
        return false;
    }
    size_t start[DIGITS][1 << DIGIT] = {{0}};
    for (size_t i = 0; i < run->count; i++) {
        for (uint32_t d = 0; d < DIGITS; d++) {
            start[d][~run->entry[i] >> d * DIGIT & ((1 << DIGIT) - 1)]++;
        }
    }
    for (uint32_t d = 0; d < DIGITS; d++) {
        if (start[d][~run->entry[0] >> d * DIGIT & ((1 << DIGIT) - 1)] == run->count) {
            continue;
        }
        size_t before = 0;
        for (uint32_t value = 0; value < 1 << DIGIT; value++) {
            size_t here = start[d][value];
            start[d][value] = before;
            before += here;
        }
        for (size_t i = 0; i < run->count; i++) {
            uint64_t entry = run->entry[i];
            queue->other.entry[start[d][~entry >> d * DIGIT & ((1 << DIGIT) - 1)]++] = entry;
        }
        struct queue_array sorted = queue->other;
        sorted.count = run->count;
        queue->other = *run;
        queue->other.count = 0;
        *run = sorted;
    }
    return true;
}

/* The highest bin that has something becomes the run. False: there is none, or no memory. */
static bool open_bin(struct queue *queue)
{
    while (queue->open > 0 && queue->bin[queue->open - 1] == NULL) {
        queue->open--;
    }
    if (queue->open == 0) {
        return false;
    }
    struct queue_array *run = &queue->run;
    struct queue_chunk *chunk = queue->bin[--queue->open];
    queue->bin[queue->open] = NULL;
    run->count = 0;
    queue->next = 0;
    while (chunk != NULL) {
        struct queue_chunk *next = chunk->next;
        if (!grow(queue, run, run->count + chunk->count)) {
            return false;
        }
        memcpy(run->entry + run->count, chunk->entry, chunk->count * sizeof *chunk->entry);
        run->count += chunk->count;
        return_chunk(queue, chunk);
        chunk = next;
    }
    if (run->count > FEW) {
        return sort_many(queue);
    }
    sort_few(run->entry, run->count);
    return true;
}

/* ---- the queue ------------------------------------------------------------------------------- */

void tepal_queue_clear(struct queue *queue)
{
    for (size_t b = 0; b < QUEUE_BINS; b++) {
        while (queue->bin[b] != NULL) {
            struct queue_chunk *chunk = queue->bin[b];
            queue->bin[b] = chunk->next;
            return_chunk(queue, chunk);
        }
    }
    queue->open = QUEUE_BINS;
    queue->run.count = 0;
    queue->next = 0;
    queue->heap.count = 0;
}

void tepal_queue_push(struct queue *queue, uint64_t entry)
{
    size_t bin = (size_t)(entry >> QUEUE_SHIFT);
    if (bin >= queue->open) {
        heap_push(queue, entry);
        return;
    }
    struct queue_chunk *chunk = queue->bin[bin];
    if (chunk == NULL || chunk->count == QUEUE_CHUNK) {
        struct queue_chunk *more = new_chunk(queue);
        if (more == NULL) {
            return;
        }
        more->next = chunk;
        queue->bin[bin] = more;
        chunk = more;
    }
    chunk->entry[chunk->count++] = entry;
}

uint64_t tepal_queue_best(struct queue *queue)
{
    if (queue->next == queue->run.count && queue->heap.count == 0 && !open_bin(queue)) {
        return QUEUE_NONE;
    }
    uint64_t first = queue->next < queue->run.count ? queue->run.entry[queue->next] : 0;
    uint64_t top = queue->heap.count > 0 ? queue->heap.entry[0] : 0;
    return first > top ? first : top;
}

void tepal_queue_take(struct queue *queue, uint64_t best)
{
    if (queue->next < queue->run.count && queue->run.entry[queue->next] == best) {
        queue->next++;
    } else {
        heap_pop(&queue->heap);
    }
}

/* replay.c: where routes stop, and what is not seen then. */
#include "stopset/replay.h"

#include <stdlib.h>
#include <string.h>

#include "statistics/random.h"

/* A table of (from, to) with linear probing. */
bool replay_links(const struct routes *routes, size_t first, size_t last, uint32_t **link,
                  uint32_t *links)
{
    size_t slots = 1024;
    while (slots < 2 * routes->hops) {
        slots *= 2;
    }
    uint64_t *key = malloc(slots * sizeof *key);
    uint32_t *number = malloc(slots * sizeof *number);
    *link = malloc((routes->hops + 1) * sizeof **link);
    bool got = key != NULL && number != NULL && *link != NULL;
    if (got) {
        memset(number, 0xff, slots * sizeof *number);
        memset(*link, 0xff, (routes->hops + 1) * sizeof **link);
    }
    for (size_t i = first; i < last && got; i++) {
        const struct route *r = &routes->route[i];
        for (uint32_t h = 0; h + 1 < r->hops; h++) {
            const uint32_t *hop = routes->hop + r->first + h;
            if (hop[0] == ROUTE_SILENT || hop[1] == ROUTE_SILENT) {
                continue;
            }
            uint64_t ends = (uint64_t)hop[0] << 32 | hop[1];
            size_t at = (size_t)((ends * RANDOM_STEP) >> 20) & (slots - 1);
            while (number[at] != REPLAY_NOWHERE && key[at] != ends) {
                at = (at + 1) & (slots - 1);
            }
            if (number[at] == REPLAY_NOWHERE) {
                key[at] = ends;
                number[at] = (*links)++;
            }
            (*link)[r->first + h] = number[at];
        }
    }
    free(key);
    free(number);
    return got;
}

uint32_t replay_end(const struct routes *routes, const struct route *r, const bool *stops)
{
    const uint32_t *hop = routes->hop + r->first;
    uint32_t end = 0;
    while (end < r->hops && (hop[end] == ROUTE_SILENT || !stops[hop[end]])) {
        end++;
    }
    return end;
}

void replay_route(const struct routes *routes, const struct route *r, const bool *stops,
                  struct replay_outcome *o, const struct replay_seen *seen)
{
    const uint32_t *hop = routes->hop + r->first;
    uint32_t end = replay_end(routes, r, stops);
    o->routes++;
    o->probes += (uint64_t)end + 1;
    o->probes_in_full += (uint64_t)r->hops + 1;
    o->collision += end == r->hops;
    o->success += end + 1 == r->hops;
    o->stopped_short += end + 1 < r->hops;
    for (uint32_t h = 0; seen->nodes != NULL && h <= end && h < r->hops; h++) {
        uint32_t link = seen->link[r->first + h];
        if (hop[h] != ROUTE_SILENT) {
            seen->nodes[hop[h]] = true;
        }
        if (h < end && link != REPLAY_NOWHERE) {
            seen->links[link] = true;
        }
    }
}

double replay_missed(const bool *listed, const bool *seen, size_t count)
{
    uint64_t all = 0;
    uint64_t lacking = 0;
    for (size_t i = 0; i < count; i++) {
        all += listed[i];
        lacking += listed[i] && !seen[i];
    }
    return all == 0 ? 0 : (double)lacking / (double)all;
}

static int compare_suspects(const void *a, const void *b)
{
    const struct suspect *x = a;
    const struct suspect *y = b;
    if (x->weight != y->weight) {
        return x->weight > y->weight ? -1 : 1;
    }
    return x->node < y->node ? -1 : x->node > y->node;
}

void suspects_sort(struct suspect *list, size_t count)
{
    qsort(list, count, sizeof *list, compare_suspects);
}

/* select.c: cycles, and routes by how central their penultimate node is. */
#include "stopset/select.h"

#include <stdlib.h>

int select_ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

int select_cycles(const struct args *args, const struct routes *routes, uint64_t **cycle,
                  size_t *count)
{
    *count = 0;
    *cycle = malloc((routes->count + 1) * sizeof **cycle);
    if (*cycle == NULL) {
        return args_no_memory(args);
    }
    for (size_t i = 0; i < routes->count; i++) {
        (*cycle)[i] = routes->route[i].cycle;
    }
    qsort(*cycle, routes->count, sizeof **cycle, select_ascending);
    for (size_t i = 0; i < routes->count; i++) {
        if (*count == 0 || (*cycle)[*count - 1] != (*cycle)[i]) {
            (*cycle)[(*count)++] = (*cycle)[i];
        }
    }
    return EXIT_YES;
}

/* In how many routes of the cycle learned does each node occur before the penultimate one? */
static void count_transit(const struct routes *routes, uint64_t learn, int64_t *transit,
                          uint64_t *last)
{
    for (size_t i = 0; i < routes->count; i++) {
        const struct route *r = &routes->route[i];
        for (uint32_t h = 0; h + 1 < r->hops && r->cycle == learn; h++) {
            uint32_t node = routes->hop[r->first + h];
            if (node != ROUTE_SILENT && last[node] != i + 1) {
                transit[node]++;
                last[node] = i + 1;
            }
        }
    }
}

/* A destination of a monitor as one number. */
static uint64_t errand(const struct route *r)
{
    return (uint64_t)r->monitor << 32 | r->target;
}

struct pair {
    uint64_t errand;
    int64_t transit;
};

static int compare_pairs(const void *a, const void *b)
{
    uint64_t x = ((const struct pair *)a)->errand;
    uint64_t y = ((const struct pair *)b)->errand;
    return x < y ? -1 : x > y;
}

/* The missing pen_transit columns, from the routes themselves. */
static int fill_transit(const struct args *args, struct routes *routes, uint64_t learn)
{
    int64_t *transit = calloc((size_t)routes->nodes.count + 1, sizeof *transit);
    uint64_t *last = calloc((size_t)routes->nodes.count + 1, sizeof *last);
    struct pair *pairs = malloc((routes->count + 1) * sizeof *pairs);
    size_t count = 0;
    bool got = transit != NULL && last != NULL && pairs != NULL;
    if (got) {
        count_transit(routes, learn, transit, last);
    }
    for (size_t i = 0; i < routes->count && got; i++) {
        const struct route *r = &routes->route[i];
        if (r->cycle == learn) {
            uint32_t node = r->hops == 0 ? ROUTE_SILENT : routes->hop[r->first + r->hops - 1];
            pairs[count].errand = errand(r);
            pairs[count++].transit = node == ROUTE_SILENT ? -1 : transit[node];
        }
    }
    if (got) {
        qsort(pairs, count, sizeof *pairs, compare_pairs);
    }
    for (size_t i = 0; i < routes->count && got; i++) {
        struct route *r = &routes->route[i];
        struct pair key = {.errand = errand(r)};
        const struct pair *found = bsearch(&key, pairs, count, sizeof key, compare_pairs);
        if (r->transit == ROUTE_NOT_GIVEN) {
            r->transit = found == NULL ? -1 : found->transit;
        }
    }
    free(transit);
    free(last);
    free(pairs);
    return got ? EXIT_YES : args_no_memory(args);
}

int select_routes(const struct args *args, struct routes *routes, uint64_t learn, size_t **kept,
                  size_t *count)
{
    const struct option_value *most = arg(args, "max-transit");
    *count = 0;
    *kept = NULL;
    if (most->given && fill_transit(args, routes, learn) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    *kept = malloc((routes->count + 1) * sizeof **kept);
    if (*kept == NULL) {
        return args_no_memory(args);
    }
    for (size_t i = 0; i < routes->count; i++) {
        const struct route *r = &routes->route[i];
        bool near = !most->given || (r->transit >= 0 && (uint64_t)r->transit <= most->whole);
        if (near && r->cycle >= learn) {
            (*kept)[(*count)++] = i;
        }
    }
    return EXIT_YES;
}

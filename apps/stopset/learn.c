/*
 * learn.c: which cycle is learned, which routes are looked at, and what the routes of that cycle
 * tell of every node.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "stopset/stopset.h"

/* ---- selecting ------------------------------------------------------------------------------- */

static int compare_whole(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int find_cycles(struct stopset *s)
{
    const struct option_value *learn = arg(s->args, "learn");
    s->cycle = malloc(s->routes.count * sizeof *s->cycle);
    if (s->cycle == NULL) {
        return say_no_memory();
    }
    for (size_t i = 0; i < s->routes.count; i++) {
        s->cycle[i] = s->routes.route[i].cycle;
    }
    qsort(s->cycle, s->routes.count, sizeof *s->cycle, compare_whole);
    for (size_t i = 0; i < s->routes.count; i++) {
        if (s->cycles == 0 || s->cycle[s->cycles - 1] != s->cycle[i]) {
            s->cycle[s->cycles++] = s->cycle[i];
        }
    }
    s->learn = learn->given ? learn->whole : s->cycle[0];
    bool there = false;
    for (size_t i = 0; i < s->cycles; i++) {
        there = there || s->cycle[i] == s->learn;
    }
    if (!there) {
        return say_error(NULL, s->args->command->name, "--learn %s: there is no such cycle",
                         learn->text);
    }
    if (s->learn == s->cycle[s->cycles - 1]) {
        return say_error(NULL, s->args->command->name,
                         "no cycle after cycle %" PRIu64 ": there is nothing to replay", s->learn);
    }
    return EXIT_YES;
}

/* In how many routes of the cycle learned does each node occur before the penultimate one? */
static void count_transit(const struct stopset *s, int64_t *transit, uint64_t *last)
{
    for (size_t i = 0; i < s->routes.count; i++) {
        const struct route *r = &s->routes.route[i];
        for (uint32_t h = 0; h + 1 < r->hops && r->cycle == s->learn; h++) {
            uint32_t node = stopset_hops(s, r)[h];
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
static int fill_transit(struct stopset *s)
{
    int64_t *transit = calloc((size_t)s->routes.nodes.count + 1, sizeof *transit);
    uint64_t *last = calloc((size_t)s->routes.nodes.count + 1, sizeof *last);
    struct pair *pairs = malloc((s->routes.count + 1) * sizeof *pairs);
    size_t count = 0;
    if (transit == NULL || last == NULL || pairs == NULL) {
        free(transit);
        free(last);
        free(pairs);
        return say_no_memory();
    }
    count_transit(s, transit, last);
    for (size_t i = 0; i < s->routes.count; i++) {
        const struct route *r = &s->routes.route[i];
        if (r->cycle == s->learn) {
            uint32_t node = stopset_penultimate(s, r);
            pairs[count].errand = errand(r);
            pairs[count++].transit = node == ROUTE_SILENT ? -1 : transit[node];
        }
    }
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < s->routes.count; i++) {
        struct route *r = &s->routes.route[i];
        struct pair key = {.errand = errand(r)};
        const struct pair *found = bsearch(&key, pairs, count, sizeof key, compare_pairs);
        if (r->transit == ROUTE_NOT_GIVEN) {
            r->transit = found == NULL ? -1 : found->transit;
        }
    }
    free(transit);
    free(last);
    free(pairs);
    return EXIT_YES;
}

static int select_routes(struct stopset *s)
{
    const struct option_value *most = arg(s->args, "max-transit");
    if (most->given && fill_transit(s) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    s->kept = malloc((s->routes.count + 1) * sizeof *s->kept);
    if (s->kept == NULL) {
        return say_no_memory();
    }
    for (size_t i = 0; i < s->routes.count; i++) {
        const struct route *r = &s->routes.route[i];
        bool near = !most->given || (r->transit >= 0 && (uint64_t)r->transit <= most->whole);
        if (near && r->cycle >= s->learn) {
            s->kept[s->kept_count++] = i;
        }
    }
    return EXIT_YES;
}

/* ---- learning -------------------------------------------------------------------------------- */

static bool is_v6(const struct stopset *s, uint32_t node)
{
    return strchr(names_text(&s->routes.nodes, node), ':') != NULL;
}

static void learn(struct stopset *s, uint64_t *last)
{
    for (size_t i = 0; i < s->kept_count; i++) {
        const struct route *r = &s->routes.route[s->kept[i]];
        if (r->cycle != s->learn) {
            continue;
        }
        s->learned++;
        uint32_t node = stopset_penultimate(s, r);
        if (node != ROUTE_SILENT) {
            s->member[node] = true;
            s->ends[node]++;
        }
        for (uint32_t h = 0; h < r->hops; h++) {
            node = stopset_hops(s, r)[h];
            if (node != ROUTE_SILENT && last[node] != i + 1) {
                s->passes[node]++;
                last[node] = i + 1;
            }
        }
    }
    for (uint32_t node = 0; node < s->nodes; node++) {
        s->members += s->member[node];
        s->list_bits += s->member[node] ? (is_v6(s, node) ? 128 : 32) : 0;
    }
}

static int make_arrays(struct stopset *s)
{
    struct tepal_hasher hasher;
    s->nodes = s->routes.nodes.count;
    size_t n = (size_t)s->nodes + 1;
    size_t l = (size_t)s->links + 1;
    uint64_t *last = calloc(n, sizeof *last);
    s->member = calloc(n, sizeof *s->member);
    s->ends = calloc(n, sizeof *s->ends);
    s->passes = calloc(n, sizeof *s->passes);
    s->digest = calloc(n, sizeof *s->digest);
    s->stops = calloc(n, sizeof *s->stops);
    s->listed_nodes = calloc(n, sizeof *s->listed_nodes);
    s->seen_nodes = calloc(n, sizeof *s->seen_nodes);
    s->listed_links = calloc(l, sizeof *s->listed_links);
    s->seen_links = calloc(l, sizeof *s->seen_links);
    if (last == NULL || s->member == NULL || s->ends == NULL || s->passes == NULL ||
        s->digest == NULL || s->stops == NULL || s->listed_nodes == NULL || s->seen_nodes == NULL ||
        s->listed_links == NULL || s->seen_links == NULL) {
        free(last);
        return say_no_memory();
    }
    tepal_hasher_init(arg_whole(s->args, "seed", 1), &hasher);
    for (uint32_t node = 0; node < s->nodes; node++) {
        const char *text = names_text(&s->routes.nodes, node);
        s->digest[node] = tepal_hash_bytes(&hasher, text, strlen(text));
    }
    learn(s, last);
    free(last);
    return s->members > 0
               ? EXIT_YES
               : say_error(NULL, s->args->command->name,
                           "cycle %" PRIu64 " has no penultimate nodes to learn", s->learn);
}

int stopset_learn(struct stopset *s)
{
    int code = find_cycles(s);
    code = code == EXIT_YES ? select_routes(s) : code;
    if (code == EXIT_YES && !replay_links(&s->routes, 0, s->routes.count, &s->link, &s->links)) {
        code = say_no_memory();
    }
    return code == EXIT_YES ? make_arrays(s) : code;
}

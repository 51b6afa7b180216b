/*
 * learn.c: which cycle is learned, which routes are looked at, and what the routes of that cycle
 * tell of every node.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/say.h"
#include "stopset/select.h"
#include "stopset/stopset.h"

static int find_cycles(struct stopset *s)
{
    const struct option_value *learn = arg(s->args, "learn");
    if (select_cycles(s->args, &s->routes, &s->cycle, &s->cycles) != EXIT_YES) {
        return EXIT_TROUBLE;
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

/* The bits of all monitors' lists: a node that several have learned is in each of theirs. */
static int count_lists(struct stopset *s)
{
    uint64_t *pair = malloc((s->kept_count + 1) * sizeof *pair);
    size_t count = 0;
    if (pair == NULL) {
        return args_no_memory(s->args);
    }
    for (size_t i = 0; i < s->kept_count; i++) {
        const struct route *r = &s->routes.route[s->kept[i]];
        uint32_t node = r->hops == 0 ? ROUTE_SILENT : s->routes.hop[r->first + r->hops - 1];
        if (r->cycle == s->learn && node != ROUTE_SILENT && s->member[node]) {
            pair[count++] = (uint64_t)r->monitor << 32 | node;
        }
    }
    qsort(pair, count, sizeof *pair, select_ascending);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || pair[i] != pair[i - 1]) {
            s->lists_up += sightings_address_bits(&s->routes.nodes, (uint32_t)pair[i]);
        }
    }
    free(pair);
    return EXIT_YES;
}

static void learn(struct stopset *s)
{
    s->seen.least = arg_real(s->args, "least-ends", 0);
    for (size_t i = 0; i < s->kept_count; i++) {
        const struct route *r = &s->routes.route[s->kept[i]];
        if (r->cycle == s->learn) {
            s->learned++;
            sightings_route(&s->seen, &s->routes, r, 1);
        }
    }
    for (uint32_t node = 0; node < s->nodes; node++) {
        s->member[node] = sightings_member(&s->seen, node);
    }
    s->members = sightings_members(&s->seen);
    s->list_bits = sightings_bits(&s->seen, &s->routes.nodes);
}

static int make_arrays(struct stopset *s)
{
    s->nodes = s->routes.nodes.count;
    size_t n = (size_t)s->nodes + 1;
    size_t l = (size_t)s->links + 1;
    s->member = calloc(n, sizeof *s->member);
    s->digest = set_digests(&s->routes.nodes, arg_whole(s->args, "seed", 1));
    s->stops = calloc(n, sizeof *s->stops);
    s->listed_nodes = calloc(n, sizeof *s->listed_nodes);
    s->seen_nodes = calloc(n, sizeof *s->seen_nodes);
    s->listed_links = calloc(l, sizeof *s->listed_links);
    s->seen_links = calloc(l, sizeof *s->seen_links);
    if (!sightings_grow(&s->seen, s->nodes) || s->member == NULL || s->digest == NULL ||
        s->stops == NULL || s->listed_nodes == NULL || s->seen_nodes == NULL ||
        s->listed_links == NULL || s->seen_links == NULL) {
        return say_no_memory();
    }
    learn(s);
    return s->members > 0
               ? EXIT_YES
               : say_error(NULL, s->args->command->name,
                           "cycle %" PRIu64 " has no penultimate nodes to learn", s->learn);
}

int stopset_learn(struct stopset *s)
{
    int code = find_cycles(s);
    code = code == EXIT_YES ? select_routes(s->args, &s->routes, s->learn, &s->kept, &s->kept_count)
                            : code;
    if (code == EXIT_YES && !replay_links(&s->routes, 0, s->routes.count, &s->link, &s->links)) {
        code = say_no_memory();
    }
    code = code == EXIT_YES ? make_arrays(s) : code;
    return code == EXIT_YES ? count_lists(s) : code;
}

/*
 * stopset.c: the red stop set (Donnet, Baynat and Friedman 2006, Sec. VI).
 *
 *     monitor ── 1 ── 2 ── 3 ── 4 ── 5 ── destination      5 is the penultimate node
 *                     ^              ^
 *                     |              a route that stops here is a success
 *                     a false positive here stops the route short: 3, 4 and 5 are never seen
 *
 * The stop set A holds the penultimate nodes of one cycle, over all monitors. As a filter it has
 * false positives, and one on a node that many routes pass does great damage; retouching removes
 * those and loses a few penultimate nodes, at which routes then run into their destinations.
 *
 * Which node stops a route depends on the node alone, so a set is asked once for each node and the
 * replay looks answers up.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tepal/tepal.h>

#include "cli/command.h"
#include "output/out.h"
#include "output/render.h"
#include "cli/say.h"
#include "traceroute.h"
#include "cli/options.h"

#define NOWHERE UINT32_MAX

/* What the paper measures: sizes of filters, and shares of the false positives removed. */
static const uint64_t paper_bits[] = {10000, 20000, 30000, 40000, 50000,
                                      60000, 70000, 80000, 90000, 100000};
static const double paper_beta[] = {0.01, 0.05, 0.10, 0.25};

struct stopset {
    const struct args *args;
    struct routes routes;
    uint64_t *cycle; /* the cycles there are, in order */
    size_t cycles;
    uint64_t learn;
    size_t learned; /* routes of that cycle */
    size_t *kept;   /* the selected routes, by index */
    size_t kept_count;
    uint32_t nodes;
    bool *member;   /* is the node in A? */
    double *ends;   /* in how many routes of the cycle learned is it the penultimate */
    double *passes; /* in how many routes of it does it occur */
    uint32_t *link; /* of every hop: the number of the link to the next one, or NOWHERE */
    uint32_t links;
    uint64_t members;
    double list_bits;
    struct tepal_digest *digest; /* of every node */
    bool *stops;                 /* the set at work, by node */
    bool *listed_nodes;          /* what a replay with the list sees in the cycle at work */
    bool *listed_links;
    bool *seen_nodes;
    bool *seen_links;
    uint64_t rows;
    struct out *out;
};

/* One set, as it is reported. */
struct variant {
    const char *set; /* "list", "bloom", "retouched" */
    uint64_t bits;   /* 0: the list */
    uint32_t hashes;
    double beta;   /* NaN: none */
    double max_fn; /* NaN: none */
    uint64_t false_positives;
    uint64_t troublesome;
    uint64_t false_negatives;
};

struct outcome {
    uint64_t routes;
    uint64_t success;
    uint64_t stopped_short;
    uint64_t collision;
};

/* ---- selecting ------------------------------------------------------------------------------- */

static const uint32_t *hops_of(const struct stopset *s, const struct route *r)
{
    return s->routes.hop + r->first;
}

static uint32_t penultimate(const struct stopset *s, const struct route *r)
{
    return r->hops == 0 ? ROUTE_SILENT : hops_of(s, r)[r->hops - 1];
}

static int compare_whole(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int no_memory(void)
{
    return say_error(NULL, NULL, "out of memory");
}

static int find_cycles(struct stopset *s)
{
    const struct option_value *learn = arg(s->args, "learn");
    s->cycle = malloc(s->routes.count * sizeof *s->cycle);
    if (s->cycle == NULL) {
        return no_memory();
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
            uint32_t node = hops_of(s, r)[h];
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
        return no_memory();
    }
    count_transit(s, transit, last);
    for (size_t i = 0; i < s->routes.count; i++) {
        const struct route *r = &s->routes.route[i];
        if (r->cycle == s->learn) {
            uint32_t node = penultimate(s, r);
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
        return no_memory();
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
        uint32_t node = penultimate(s, r);
        if (node != ROUTE_SILENT) {
            s->member[node] = true;
            s->ends[node]++;
        }
        for (uint32_t h = 0; h < r->hops; h++) {
            node = hops_of(s, r)[h];
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

/* Numbers for the links, by a table of (from, to) with linear probing. */
static int number_links(struct stopset *s)
{
    size_t slots = 1024;
    while (slots < 2 * s->routes.hops) {
        slots *= 2;
    }
    uint64_t *key = malloc(slots * sizeof *key);
    uint32_t *number = malloc(slots * sizeof *number);
    s->link = malloc((s->routes.hops + 1) * sizeof *s->link);
    if (key == NULL || number == NULL || s->link == NULL) {
        free(key);
        free(number);
        return no_memory();
    }
    memset(number, 0xff, slots * sizeof *number);
    for (size_t i = 0; i < s->routes.count; i++) {
        const struct route *r = &s->routes.route[i];
        for (uint32_t h = 0; h < r->hops; h++) {
            const uint32_t *hop = hops_of(s, r) + h;
            uint32_t *link = &s->link[r->first + h];
            *link = NOWHERE;
            if (h + 1 == r->hops || hop[0] == ROUTE_SILENT || hop[1] == ROUTE_SILENT) {
                continue;
            }
            uint64_t ends = (uint64_t)hop[0] << 32 | hop[1];
            size_t at = (size_t)((ends * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (slots - 1);
            while (number[at] != NOWHERE && key[at] != ends) {
                at = (at + 1) & (slots - 1);
            }
            if (number[at] == NOWHERE) {
                key[at] = ends;
                number[at] = s->links++;
            }
            *link = number[at];
        }
    }
    free(key);
    free(number);
    return EXIT_YES;
}

static int make_arrays(struct stopset *s)
{
    struct tepal_hasher hasher;
    const struct option_value *seed = arg(s->args, "seed");
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
        return no_memory();
    }
    tepal_hasher_init(&hasher, seed->given ? seed->whole : 1);
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

/* ---- filters --------------------------------------------------------------------------------- */

static int trouble(const struct stopset *s, enum tepal_status status, const char *why)
{
    return say_error(NULL, s->args->command->name, "%s",
                     why != NULL && why[0] != '\0' ? why : tepal_status_message(status));
}

/* What one monitor has learned, as a filter of its own. */
static enum tepal_status filter_of(const struct stopset *s, const struct tepal_params *params,
                                   uint32_t monitor, struct tepal_filter **out)
{
    enum tepal_status status = tepal_filter_create(params, NULL, out, NULL);
    for (size_t i = 0; i < s->kept_count && status == TEPAL_OK; i++) {
        const struct route *r = &s->routes.route[s->kept[i]];
        uint32_t node = penultimate(s, r);
        if (r->cycle == s->learn && r->monitor == monitor && node != ROUTE_SILENT) {
            status = tepal_filter_add(*out, s->digest[node]);
        }
    }
    return status;
}

/* The filters of all monitors, united, as a server would. */
static int unite(const struct stopset *s, const struct variant *v, struct tepal_filter **out)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    const struct option_value *seed = arg(s->args, "seed");
    params.cells = v->bits;
    params.hashes = v->hashes;
    params.capacity = s->members;
    params.seed = seed->given ? seed->whole : 1;
    enum tepal_status status = tepal_filter_create(&params, NULL, out, NULL);
    for (uint32_t m = 0; m < s->routes.monitors.count && status == TEPAL_OK; m++) {
        struct tepal_filter *one = NULL;
        status = filter_of(s, &params, m, &one);
        if (status == TEPAL_OK) {
            status = tepal_filter_unite(*out, one);
        }
        tepal_filter_free(one);
    }
    return status == TEPAL_OK ? EXIT_YES : trouble(s, status, NULL);
}

struct suspect {
    uint32_t node;
    double weight;
};

/* The most troublesome first; of equals, the first seen. */
static int compare_suspects(const void *a, const void *b)
{
    const struct suspect *x = a;
    const struct suspect *y = b;
    if (x->weight != y->weight) {
        return x->weight > y->weight ? -1 : 1;
    }
    return x->node < y->node ? -1 : x->node > y->node;
}

/* The false positives among the nodes of the cycle learned. */
static struct suspect *find_suspects(const struct stopset *s, const struct tepal_filter *filter,
                                     size_t *count)
{
    struct suspect *list = malloc(((size_t)s->nodes + 1) * sizeof *list);
    *count = 0;
    for (uint32_t node = 0; node < s->nodes && list != NULL; node++) {
        if (!s->member[node] && s->passes[node] > 0 &&
            tepal_filter_query(filter, s->digest[node])) {
            list[*count].node = node;
            list[(*count)++].weight = s->passes[node];
        }
    }
    if (list != NULL) {
        qsort(list, *count, sizeof *list, compare_suspects);
    }
    return list;
}

/* Digests and weights as the library wants them. */
struct arrays {
    struct tepal_digest *members;
    double *member_weights;
    struct tepal_digest *avoid;
    double *avoid_weights;
};

static void free_arrays(struct arrays *a)
{
    free(a->members);
    free(a->member_weights);
    free(a->avoid);
    free(a->avoid_weights);
}

static bool fill_arrays(struct arrays *a, const struct stopset *s, const struct suspect *list,
                        size_t count)
{
    size_t at = 0;
    a->members = malloc((s->members + 1) * sizeof *a->members);
    a->member_weights = malloc((s->members + 1) * sizeof *a->member_weights);
    a->avoid = malloc((count + 1) * sizeof *a->avoid);
    a->avoid_weights = malloc((count + 1) * sizeof *a->avoid_weights);
    if (a->members == NULL || a->member_weights == NULL || a->avoid == NULL ||
        a->avoid_weights == NULL) {
        return false;
    }
    for (uint32_t node = 0; node < s->nodes; node++) {
        if (s->member[node]) {
            a->members[at] = s->digest[node];
            a->member_weights[at++] = s->ends[node];
        }
    }
    for (size_t i = 0; i < count; i++) {
        a->avoid[i] = s->digest[list[i].node];
        a->avoid_weights[i] = list[i].weight;
    }
    return true;
}

/*
 * sacrifice weighs: a troublesome node by the routes it cuts, a penultimate one by the routes that
 * end there. The paper's methods count, as they do in the paper.
 */
static int retouch(const struct stopset *s, struct variant *v, const struct tepal_filter *bloom,
                   const struct suspect *list, size_t count, struct tepal_filter **out)
{
    struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_report report;
    struct arrays a = {NULL, NULL, NULL, NULL};
    const char *why = NULL;
    if (arg(s->args, "method")->given) {
        tepal_retouch_method_parse(arg(s->args, "method")->text, &how.method);
    }
    if (isfinite(v->max_fn)) {
        how.limit = TEPAL_RETOUCH_LIMIT_SHARE;
        how.budget = v->max_fn;
    }
    if (!fill_arrays(&a, s, list, count)) {
        free_arrays(&a);
        return no_memory();
    }
    bool weighs = how.method == TEPAL_RETOUCH_SACRIFICE;
    struct tepal_retouch_input input = {.members = a.members,
                                        .member_count = s->members,
                                        .member_weights = weighs ? a.member_weights : NULL,
                                        .avoid = a.avoid,
                                        .avoid_count = count,
                                        .avoid_weights = weighs ? a.avoid_weights : NULL};
    enum tepal_status status = tepal_retouch(bloom, &input, &how, NULL, out, &report, NULL, &why);
    free_arrays(&a);
    if (status != TEPAL_OK) {
        return trouble(s, status, why);
    }
    v->false_negatives = report.false_negatives;
    return EXIT_YES;
}

/* ---- replaying ------------------------------------------------------------------------------- */

static void mark(const struct stopset *s, const struct route *r, uint32_t upto, bool *nodes,
                 bool *links)
{
    for (uint32_t h = 0; h <= upto && h < r->hops; h++) {
        uint32_t node = hops_of(s, r)[h];
        uint32_t link = s->link[r->first + h];
        if (node != ROUTE_SILENT) {
            nodes[node] = true;
        }
        if (h < upto && link != NOWHERE) {
            links[link] = true;
        }
    }
}

/* Every selected route of a cycle against the set at work. */
static struct outcome replay(const struct stopset *s, uint64_t cycle, const bool *stops,
                             bool *nodes, bool *links)
{
    struct outcome o = {0, 0, 0, 0};
    memset(nodes, 0, s->nodes * sizeof *nodes);
    memset(links, 0, s->links * sizeof *links);
    for (size_t i = 0; i < s->kept_count; i++) {
        const struct route *r = &s->routes.route[s->kept[i]];
        uint32_t h = 0;
        if (r->cycle != cycle) {
            continue;
        }
        while (h < r->hops && (hops_of(s, r)[h] == ROUTE_SILENT || !stops[hops_of(s, r)[h]])) {
            h++;
        }
        o.routes++;
        o.collision += h == r->hops;
        o.success += h + 1 == r->hops;
        o.stopped_short += h + 1 < r->hops;
        mark(s, r, h, nodes, links);
    }
    return o;
}

/* The share of what `listed` has that `seen` lacks. */
static double missed(const bool *listed, const bool *seen, size_t count)
{
    uint64_t all = 0;
    uint64_t lacking = 0;
    for (size_t i = 0; i < count; i++) {
        all += listed[i];
        lacking += listed[i] && !seen[i];
    }
    return all == 0 ? 0 : (double)lacking / (double)all;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct row {
    const struct variant *variant;
    uint64_t cycle;
    struct outcome outcome;
    double success;
    double stopped_short;
    double collision;
    double nodes_missed;
    double links_missed;
    double compression;
};

static void set_real(json_t *object, const char *name, double value)
{
    json_object_set_new(object, name, isfinite(value) ? json_real(value) : json_null());
}

static int print_json(const struct stopset *s, const struct row *r)
{
    const struct variant *v = r->variant;
    const char *method = arg(s->args, "method")->text;
    json_t *o = json_object();
    json_object_set_new(o, "cycle", json_integer((json_int_t)r->cycle));
    json_object_set_new(o, "set", json_string(v->set));
    json_object_set_new(o, "addresses", json_integer((json_int_t)s->members));
    json_object_set_new(
        o, "bits", json_integer((json_int_t)(v->bits == 0 ? (uint64_t)s->list_bits : v->bits)));
    json_object_set_new(o, "hashes", json_integer((json_int_t)v->hashes));
    set_real(o, "compression", r->compression);
    json_object_set_new(o, "method",
                        strcmp(v->set, "retouched") == 0
                            ? json_string(method != NULL ? method : "sacrifice")
                            : json_null());
    set_real(o, "beta", v->beta);
    set_real(o, "max_fn", v->max_fn);
    json_object_set_new(o, "false_positives", json_integer((json_int_t)v->false_positives));
    json_object_set_new(o, "troublesome", json_integer((json_int_t)v->troublesome));
    json_object_set_new(o, "false_negatives", json_integer((json_int_t)v->false_negatives));
    json_object_set_new(o, "routes", json_integer((json_int_t)r->outcome.routes));
    set_real(o, "success", r->success);
    set_real(o, "stopping_short", r->stopped_short);
    set_real(o, "collision", r->collision);
    set_real(o, "nodes_missed", r->nodes_missed);
    set_real(o, "links_missed", r->links_missed);
    return render_json(s->out, o);
}

/* A share and a tab; nothing but the tab if there is none. */
static void print_share(struct out *out, double share)
{
    if (isfinite(share)) {
        out_format(out, "%.6g", share);
    }
    out_text(out, "\t");
}

static void print_tsv(struct stopset *s, const struct row *r)
{
    const struct variant *v = r->variant;
    if (s->rows == 0) {
        out_text(s->out, "cycle\tset\tbits\thashes\tcompression\tbeta\tmax_fn\tfalse_positives\t"
                         "troublesome\tfalse_negatives\troutes\tsuccess\tstopping_short\t"
                         "collision\tnodes_missed\tlinks_missed\n");
    }
    out_format(s->out, "%" PRIu64 "\t%s\t%" PRIu64 "\t%" PRIu32 "\t%.6g\t", r->cycle, v->set,
               v->bits == 0 ? (uint64_t)s->list_bits : v->bits, v->hashes, r->compression);
    print_share(s->out, v->beta);
    print_share(s->out, v->max_fn);
    out_format(s->out,
               "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\n",
               v->false_positives, v->troublesome, v->false_negatives, r->outcome.routes,
               r->success, r->stopped_short, r->collision, r->nodes_missed, r->links_missed);
}

static void print_text(struct stopset *s, const struct row *r)
{
    const struct variant *v = r->variant;
    char set[64];
    if (s->rows == 0) {
        out_format(s->out, "%-5s %-17s %7s %5s %5s %6s %7s %6s %6s %6s %6s\n", "cycle", "set",
                   "bits", "ratio", "fp", "fn", "success", "short", "coll.", "nodes-", "links-");
    }
    if (isfinite(v->beta)) {
        snprintf(set, sizeof set, "%s %g %%", v->set, v->beta * 100);
    } else if (isfinite(v->max_fn)) {
        snprintf(set, sizeof set, "%s fn %g %%", v->set, v->max_fn * 100);
    } else {
        snprintf(set, sizeof set, "%s", v->set);
    }
    out_format(s->out,
               "%-5" PRIu64 " %-17s %7" PRIu64 " %5.2f %5" PRIu64 " %6" PRIu64
               " %7.4f %6.4f %6.4f %6.4f %6.4f\n",
               r->cycle, set, v->bits == 0 ? (uint64_t)s->list_bits : v->bits, r->compression,
               v->false_positives, v->false_negatives, r->success, r->stopped_short, r->collision,
               r->nodes_missed, r->links_missed);
}

static int print_row(struct stopset *s, const struct row *r)
{
    int code = EXIT_YES;
    if (arg(s->args, "json")->given) {
        code = print_json(s, r);
    } else if (arg(s->args, "tsv")->given) {
        print_tsv(s, r);
    } else {
        print_text(s, r);
    }
    s->rows++;
    return code;
}

/* A row for every cycle after the one learned, with s->stops as the set. */
static int report(struct stopset *s, const struct variant *v)
{
    int code = EXIT_YES;
    for (size_t c = 0; c < s->cycles && code == EXIT_YES; c++) {
        if (s->cycle[c] <= s->learn) {
            continue;
        }
        replay(s, s->cycle[c], s->member, s->listed_nodes, s->listed_links);
        struct outcome o = replay(s, s->cycle[c], s->stops, s->seen_nodes, s->seen_links);
        double all = o.routes == 0 ? 1 : (double)o.routes;
        struct row row = {.variant = v,
                          .cycle = s->cycle[c],
                          .outcome = o,
                          .success = (double)o.success / all,
                          .stopped_short = (double)o.stopped_short / all,
                          .collision = (double)o.collision / all,
                          .nodes_missed = missed(s->listed_nodes, s->seen_nodes, s->nodes),
                          .links_missed = missed(s->listed_links, s->seen_links, s->links),
                          .compression = v->bits == 0 ? 1 : s->list_bits / (double)v->bits};
        code = print_row(s, &row);
    }
    return code;
}

static int report_filter(struct stopset *s, const struct variant *v,
                         const struct tepal_filter *filter)
{
    for (uint32_t node = 0; node < s->nodes; node++) {
        s->stops[node] = tepal_filter_query(filter, s->digest[node]);
    }
    return report(s, v);
}

/* ---- the experiment -------------------------------------------------------------------------- */

static int run_retouched(struct stopset *s, struct variant v, const struct tepal_filter *bloom,
                         const struct suspect *list, size_t count)
{
    struct tepal_filter *filter = NULL;
    v.set = "retouched";
    v.troublesome = isfinite(v.beta) ? (uint64_t)ceil(v.beta * (double)count - 1e-9) : count;
    int code = retouch(s, &v, bloom, list, v.troublesome, &filter);
    if (code == EXIT_YES) {
        code = report_filter(s, &v, filter);
    }
    tepal_filter_free(filter);
    return code;
}

static int run_size(struct stopset *s, uint64_t bits)
{
    struct tepal_filter *bloom = NULL;
    struct variant v = {.set = "bloom", .bits = bits, .beta = NAN, .max_fn = NAN};
    size_t count = 0;
    v.hashes = arg(s->args, "hashes")->given
                   ? (uint32_t)arg(s->args, "hashes")->whole
                   : tepal_bloom_best_hashes(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, bits,
                                             s->members);
    int code = unite(s, &v, &bloom);
    struct suspect *list = code == EXIT_YES ? find_suspects(s, bloom, &count) : NULL;
    if (code == EXIT_YES && list == NULL) {
        code = no_memory();
    }
    v.false_positives = count;
    if (code == EXIT_YES) {
        code = report_filter(s, &v, bloom);
    }
    if (arg(s->args, "beta")->given || arg(s->args, "max-fn")->given) {
        v.beta = arg_real(s->args, "beta", NAN);
        v.max_fn = arg_real(s->args, "max-fn", NAN);
        code = code == EXIT_YES ? run_retouched(s, v, bloom, list, count) : code;
    } else {
        for (size_t b = 0; b < sizeof paper_beta / sizeof *paper_beta && code == EXIT_YES; b++) {
            v.beta = paper_beta[b];
            code = run_retouched(s, v, bloom, list, count);
        }
    }
    free(list);
    tepal_filter_free(bloom);
    return code;
}

static void say_learned(const struct stopset *s)
{
    uint32_t addresses = 0;
    for (uint32_t node = 0; node < s->nodes; node++) {
        addresses += s->passes[node] > 0;
    }
    say_line("learned    cycle %" PRIu64 ": %zu routes of %" PRIu32 " monitor%s, %" PRIu32
             " addresses, %" PRIu64 " of them penultimate",
             s->learn, s->learned, s->routes.monitors.count,
             s->routes.monitors.count == 1 ? "" : "s", addresses, s->members);
    if (s->routes.incomplete > 0) {
        say_line("left out   %" PRIu64 " routes that do not reach their destination",
                 s->routes.incomplete);
    }
}

static int experiment(struct stopset *s)
{
    const struct option_value *bits = arg(s->args, "bits");
    struct variant list = {.set = "list", .beta = NAN, .max_fn = NAN};
    if (!arg(s->args, "quiet")->given) {
        say_learned(s);
    }
    s->out = out_open(STDOUT_FILENO);
    if (s->out == NULL) {
        return EXIT_TROUBLE;
    }
    memcpy(s->stops, s->member, s->nodes * sizeof *s->stops);
    int code = report(s, &list);
    if (bits->given) {
        code = code == EXIT_YES ? run_size(s, bits->whole) : code;
    } else {
        for (size_t i = 0; i < sizeof paper_bits / sizeof *paper_bits && code == EXIT_YES; i++) {
            code = run_size(s, paper_bits[i]);
        }
    }
    return out_close(s->out, code);
}

static void free_all(struct stopset *s)
{
    routes_free(&s->routes);
    free(s->cycle);
    free(s->kept);
    free(s->member);
    free(s->ends);
    free(s->passes);
    free(s->link);
    free(s->digest);
    free(s->stops);
    free(s->listed_nodes);
    free(s->listed_links);
    free(s->seen_nodes);
    free(s->seen_links);
}

static int stopset_run(const struct args *args)
{
    struct stopset s = {.args = args};
    const char *method = arg(args, "method")->text;
    if (method != NULL && strcmp(method, "random-bits") == 0 && !arg(args, "max-fn")->given) {
        return say_error(NULL, args->command->name, "--method random-bits needs --max-fn R");
    }
    int code = routes_read(&s.routes, args->operand, args->operands);
    if (code == EXIT_YES && s.routes.count == 0) {
        code = say_error(NULL, args->command->name, "no routes that reach their destination");
    }
    if (code == EXIT_YES) {
        code = find_cycles(&s);
    }
    if (code == EXIT_YES) {
        code = select_routes(&s);
    }
    if (code == EXIT_YES) {
        code = number_links(&s);
    }
    if (code == EXIT_YES) {
        code = make_arrays(&s);
    }
    if (code == EXIT_YES) {
        code = experiment(&s);
    }
    free_all(&s);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option option_learn = {
    .name = "learn",
    .value = "C",
    .type = TAKES_WHOLE,
    .most = UINT64_MAX,
    .about = "Learn from cycle C and replay the later ones (default: the first)."};

static const struct option option_max_transit = {
    .name = "max-transit",
    .value = "T",
    .type = TAKES_WHOLE,
    .most = INT64_MAX,
    .about = "Keep only the destinations behind a penultimate node that is passed on "
             "the way to at most T others: the column pen_transit, or counted."};

static const struct option option_set_bits = {
    .letter = 'm',
    .name = "bits",
    .value = "M",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = (uint64_t)1 << 40,
    .about = "The size of the filters (default: 10000, 20000, ... 100000)."};

static const struct option option_set_hashes = {
    .letter = 'k',
    .name = "hashes",
    .value = "K",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = TEPAL_MAX_HASHES,
    .about = "The number of hashes (default: the best for each size)."};

static const struct option option_set_beta = {
    .letter = 'b',
    .name = "beta",
    .value = "R",
    .type = TAKES_SHARE,
    .about = "Remove the share R of the false positives, the most troublesome first "
             "(default: 1 %, 5 %, 10 % and 25 %)."};

static const struct option option_set_max_fn = {
    .name = "max-fn",
    .value = "R",
    .type = TAKES_SHARE,
    .about = "Instead: aim at all false positives, and lose at most the share R of "
             "the penultimate nodes."};

static const struct option *const options[] = {&option_learn,
                                               &option_max_transit,
                                               &option_set_bits,
                                               &option_set_hashes,
                                               &option_set_beta,
                                               &option_set_max_fn,
                                               &option_method,
                                               &option_demo_seed,
                                               &option_rows_tsv,
                                               &option_json,
                                               &option_quiet,
                                               &option_help,
                                               NULL};
static const char *const exclusive[][4] = {{"beta", "max-fn"}, {"tsv", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal app stopset routes.tsv.gz", "All sizes and shares of the paper."},
    {"tepal app stopset routes.tsv.gz --bits 60k --beta 25% --max-transit 5",
     "One filter, over all cycles."},
    {"tepal app stopset monday.json tuesday.json --tsv", "scamper's JSON, a cycle a file."},
    {NULL, NULL}};

const struct command app_stopset = {
    .name = "app stopset",
    .synopsis = "[ROUTES...] [--bits M] [--beta R | --max-fn R] [--max-transit T]",
    .summary = "Red stop sets: where traceroutes should end before their targets.",
    .about =
        "A monitor that traces routes should stop one hop before the destination. One cycle of "
        "the measured routes ROUTES teaches which nodes are penultimate; the set of these, "
        "shared by all monitors, is kept as a list, as a Bloom filter (the union of one a "
        "monitor) and as a retouched filter. The later cycles are replayed against each: a route "
        "that stops at its penultimate node is a success, one that stops earlier stops short, "
        "one that runs into its destination is a collision.\n\n"
        "ROUTES are tab-separated (cycle, monitor, target_as, dst, dst_ttl, pen_transit, hops; a "
        "first line that starts with # may name other columns) or scamper's JSON, and may be "
        "compressed. Nodes and links missed are shares of what the list would have let see.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .most_operands = SIZE_MAX,
    .examples = examples,
    .run = stopset_run};

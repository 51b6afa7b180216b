/*
 * traceback.c: where did a packet come from? (Laufer, Velloso and Duarte 2011, Sec. 1 and 6)
 *
 *     attacker ── r1 ── r2 ── r3 ── ... ── rH ── victim
 *                 |     |     |
 *                 x     x     x            neighbours that were not passed
 *
 * Every router adds itself to the filter in the packet, r1 first. The victim asks the neighbours of
 * rH whether the filter knows them, then the neighbours of those that it knows, and so walks back.
 * A router that the filter has forgotten stops the walk there; one that it wrongly knows is a false
 * branch. The attacker writes the first bits of the filter: the only thing it can do.
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
#include "graph.h"
#include "lines.h"
#include "output/out.h"
#include "output/render.h"
#include "cli/say.h"
#include "traceroute.h"
#include "options.h"
#include "cli/options.h"

#define TREE_HOPS 15
#define NOWHERE   UINT32_MAX

enum attack { ATTACK_NONE, ATTACK_ONES, ATTACK_WORST, ATTACKS };
static const char *const attack_names[ATTACKS] = {"none", "all-ones", "worst"};

/* Who may have sent to whom: the neighbours of v are neighbour[first[v]] .. [first[v + 1] - 1]. */
struct mesh {
    uint32_t nodes;
    uint32_t *first;
    uint32_t *neighbour;
};

/* One packet: the routers it passed, the attacker's first, and those that the walk may meet. */
struct path {
    uint32_t hops;
    uint32_t router[ROUTE_HOPS + 1];
};

/* What the model says of a path of so many hops. */
struct forecast {
    bool known;
    double fp;
    double keeps[ROUTE_HOPS + 1]; /* by age: the chance that the filter still knows it */
};

struct traceback {
    const struct args *args;
    struct graph graph;
    struct graph_spread spread;
    struct routes routes;
    size_t *usable; /* routes without gaps or repeats */
    size_t usable_count;
    struct mesh mesh;
    uint32_t tree; /* neighbours of a router; 0: a network or routes */
    uint32_t hops; /* 0: any */
    uint64_t packets;
    uint64_t seed;
    uint64_t random;
    bool *asked; /* by node */
    bool *found;
    bool *on_path;
    uint32_t *queue;
    struct forecast forecast[ROUTE_HOPS + 1];
    uint64_t rows;
    struct out *out;
};

struct setting {
    const char *kind;
    enum attack attack;
    struct tepal_params params; /* of the filter as the attacker leaves it */
    struct tepal_params plain;  /* of the same without an attack */
};

/* Sums over packets. */
struct tally {
    uint64_t packets;
    uint64_t full;
    uint64_t hops;
    uint64_t hops_found;
    uint64_t branches;
    uint64_t candidates; /* routers off the path that stand next to it */
    uint64_t strays;     /* all routers off the path that the walk reaches */
    double expected_full;
    double expected_hops;
    double expected_branches;
};

static int no_memory(void)
{
    return say_error(NULL, NULL, "out of memory");
}

static int trouble(const struct traceback *t, enum tepal_status status, const char *why)
{
    return say_error(NULL, t->args->command->name, "%s",
                     why != NULL && why[0] != '\0' ? why : tepal_status_message(status));
}

/* ---- the mesh -------------------------------------------------------------------------------- */

struct pair {
    uint32_t to;
    uint32_t from;
};

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a;
    const struct pair *y = b;
    if (x->to != y->to) {
        return x->to < y->to ? -1 : 1;
    }
    return x->from < y->from ? -1 : x->from > y->from;
}

/* From pairs, in any order and repeated. */
static int make_mesh(struct traceback *t, uint32_t nodes, struct pair *pairs, size_t count)
{
    struct mesh *m = &t->mesh;
    m->nodes = nodes;
    m->first = calloc((size_t)nodes + 2, sizeof *m->first);
    m->neighbour = malloc((count + 1) * sizeof *m->neighbour);
    t->asked = calloc((size_t)nodes + 1, sizeof *t->asked);
    t->found = calloc((size_t)nodes + 1, sizeof *t->found);
    t->on_path = calloc((size_t)nodes + 1, sizeof *t->on_path);
    t->queue = malloc(((size_t)nodes + 1) * sizeof *t->queue);
    if (m->first == NULL || m->neighbour == NULL || t->asked == NULL || t->found == NULL ||
        t->on_path == NULL || t->queue == NULL) {
        return no_memory();
    }
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    uint32_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_pairs(&pairs[i - 1], &pairs[i]) != 0) {
            m->neighbour[kept++] = pairs[i].from;
            m->first[pairs[i].to + 1]++;
        }
    }
    for (uint32_t v = 0; v < nodes; v++) {
        m->first[v + 1] += m->first[v];
    }
    return EXIT_YES;
}

static int mesh_of_graph(struct traceback *t)
{
    const struct graph *g = &t->graph;
    struct pair *pairs = malloc(((size_t)g->links + 1) * sizeof *pairs);
    if (pairs == NULL || !graph_spread_new(&t->spread, g)) {
        free(pairs);
        return no_memory();
    }
    for (uint32_t i = 0; i < g->links; i++) {
        pairs[i] = (struct pair){g->link[i].to, g->link[i].from};
    }
    int code = make_mesh(t, g->nodes, pairs, g->links);
    free(pairs);
    return code;
}

/* No gap, no address twice, and as long as is wanted. */
static bool is_usable(struct traceback *t, const struct route *r)
{
    const uint32_t *hop = t->routes.hop + r->first;
    bool usable = r->hops >= 2 && (t->hops == 0 || r->hops == t->hops);
    uint32_t marked = 0;
    for (; marked < r->hops && usable; marked++) {
        usable = hop[marked] != ROUTE_SILENT && !t->on_path[hop[marked]];
        if (!usable) {
            break;
        }
        t->on_path[hop[marked]] = true;
    }
    for (uint32_t i = 0; i < marked; i++) {
        t->on_path[hop[i]] = false;
    }
    return usable;
}

static int mesh_of_routes(struct traceback *t)
{
    const struct routes *r = &t->routes;
    struct pair *pairs = malloc((2 * r->hops + 1) * sizeof *pairs);
    size_t count = 0;
    t->usable = malloc((r->count + 1) * sizeof *t->usable);
    if (pairs == NULL || t->usable == NULL) {
        free(pairs);
        return no_memory();
    }
    for (size_t i = 0; i < r->count; i++) {
        const uint32_t *hop = r->hop + r->route[i].first;
        for (uint32_t h = 0; h + 1 < r->route[i].hops; h++) {
            if (hop[h] != ROUTE_SILENT && hop[h + 1] != ROUTE_SILENT && hop[h] != hop[h + 1]) {
                pairs[count++] = (struct pair){hop[h], hop[h + 1]};
                pairs[count++] = (struct pair){hop[h + 1], hop[h]};
            }
        }
    }
    int code = make_mesh(t, r->nodes.count, pairs, count);
    free(pairs);
    for (size_t i = 0; i < r->count && code == EXIT_YES; i++) {
        if (is_usable(t, &r->route[i])) {
            t->usable[t->usable_count++] = i;
        }
    }
    return code;
}

/* ---- packets --------------------------------------------------------------------------------- */

/* A path from the source to a victim drawn at random; false: there is none that is wanted. */
static bool draw_victim(struct traceback *t, uint32_t source, struct path *path)
{
    uint32_t link[ROUTE_HOPS + 1];
    uint32_t reached = graph_spread(&t->graph, source, &t->spread);
    uint32_t fit = 0;
    for (uint32_t i = 1; i < reached; i++) { /* the victims that are far enough */
        uint32_t routers = t->spread.distance[t->spread.reached[i]] + 1;
        if (routers <= ROUTE_HOPS && (t->hops == 0 || routers == t->hops)) {
            t->queue[fit++] = t->spread.reached[i];
        }
    }
    if (fit == 0) {
        return false;
    }
    uint32_t victim = t->queue[lines_draw(&t->random) % fit];
    uint32_t count = graph_path(&t->graph, &t->spread, victim, link);
    path->router[0] = source;
    for (uint32_t i = 0; i < count; i++) {
        path->router[i + 1] = t->graph.link[link[i]].to;
    }
    path->hops = count + 1;
    return true;
}

/* From a source drawn at random; if few have such paths, from the first that has. */
static bool draw_shortest(struct traceback *t, struct path *path)
{
    bool drawn = false;
    for (int i = 0; i < 200 && !drawn; i++) {
        drawn = draw_victim(t, (uint32_t)(lines_draw(&t->random) % t->graph.nodes), path);
    }
    for (uint32_t source = 0; source < t->graph.nodes && !drawn; source++) {
        drawn = draw_victim(t, source, path);
    }
    return drawn;
}

static bool draw_route(struct traceback *t, struct path *path)
{
    const struct route *r =
        &t->routes.route[t->usable[(size_t)(lines_draw(&t->random) % t->usable_count)]];
    memcpy(path->router, t->routes.hop + r->first, r->hops * sizeof *path->router);
    path->hops = r->hops;
    return true;
}

/* ---- what the model expects ------------------------------------------------------------------ */

static enum tepal_status foresee(struct traceback *t, const struct setting *s, uint32_t hops)
{
    struct forecast *f = &t->forecast[hops];
    uint64_t ages[ROUTE_HOPS + 1] = {0};
    struct tepal_generalized_errors rates;
    if (f->known) {
        return TEPAL_OK;
    }
    for (uint32_t i = 0; i < hops; i++) {
        ages[i] = i;
    }
    f->known = true;
    if (s->params.kind != TEPAL_KIND_GENERALIZED) {
        f->fp = tepal_bloom_fp(s->params.layout, s->params.positions, s->params.cells, hops,
                               s->params.hashes);
        for (uint32_t i = 0; i < hops; i++) {
            f->keeps[i] = 1;
        }
        return TEPAL_OK;
    }
    enum tepal_status status =
        tepal_generalized_rates(&s->params, hops, ages, hops, f->keeps, &rates);
    f->fp = rates.fp;
    for (uint32_t i = 0; i < hops && status == TEPAL_OK; i++) {
        f->keeps[i] = 1 - f->keeps[i];
    }
    return status;
}

/* Candidates of each router of the path, from the victim's on, and how far the walk gets. */
static void expect(const struct forecast *f, const uint32_t *candidates, uint32_t hops,
                   struct tally *sum)
{
    double reach = 1;
    for (uint32_t age = 0; age < hops; age++) {
        reach *= f->keeps[age];
        sum->expected_hops += reach;
        sum->expected_branches += reach * candidates[age] * f->fp;
    }
    sum->expected_full += reach;
}

/* ---- one packet ------------------------------------------------------------------------------ */

static enum tepal_status tree_packet(struct traceback *t, const struct setting *s,
                                     struct tepal_filter *filter, struct tally *sum)
{
    struct tepal_digest router[ROUTE_HOPS + 1];
    uint32_t candidates[ROUTE_HOPS + 1];
    enum tepal_status status = foresee(t, s, t->hops);
    bool walking = true;
    for (uint32_t i = 0; i < t->hops && status == TEPAL_OK; i++) {
        router[i] = (struct tepal_digest){lines_draw(&t->random), lines_draw(&t->random)};
        status = tepal_filter_add(filter, router[i]);
    }
    for (uint32_t age = 0; age < t->hops && status == TEPAL_OK; age++) {
        uint32_t at = t->hops - 1 - age;
        /* all neighbours but the routers of the path before and after it */
        candidates[age] = t->tree - (age > 0) - (at > 0);
        sum->candidates += candidates[age];
        walking = walking && tepal_filter_query(filter, router[at]);
        sum->hops_found += walking;
        for (uint32_t i = 0; i < candidates[age]; i++) {
            struct tepal_digest other = {lines_draw(&t->random), lines_draw(&t->random)};
            sum->branches += walking && tepal_filter_query(filter, other);
        }
    }
    sum->full += walking;
    sum->hops += t->hops;
    if (status == TEPAL_OK) {
        expect(&t->forecast[t->hops], candidates, t->hops, sum);
    }
    return status;
}

static struct tepal_digest key_of(const struct tepal_hasher *hasher, uint32_t node)
{
    return tepal_hash_u64(hasher, node);
}

/* Breadth first from the victim's router, which needs no asking. */
static uint32_t walk(struct traceback *t, const struct tepal_filter *filter,
                     const struct tepal_hasher *hasher, uint32_t start)
{
    const struct mesh *m = &t->mesh;
    uint32_t head = 0;
    uint32_t tail = 0;
    t->queue[tail++] = start;
    t->asked[start] = true;
    t->found[start] = true;
    while (head < tail) {
        uint32_t v = t->queue[head++];
        for (uint32_t i = m->first[v]; i < m->first[v + 1]; i++) {
            uint32_t w = m->neighbour[i];
            if (!t->asked[w]) {
                t->asked[w] = true;
                if (tepal_filter_query(filter, key_of(hasher, w))) {
                    t->found[w] = true;
                    t->queue[tail++] = w;
                }
            }
        }
    }
    return tail;
}

/*
 * Routers off the path next to each router on it, each counted at the one that is met first; and
 * those of them that are found next to one that is found. Uses t->asked to count each once.
 */
static void count_branches(struct traceback *t, const struct path *path, uint32_t *candidates,
                           struct tally *sum)
{
    const struct mesh *m = &t->mesh;
    memset(t->asked, 0, m->nodes * sizeof *t->asked);
    for (uint32_t age = 0; age < path->hops; age++) {
        uint32_t v = path->router[path->hops - 1 - age];
        candidates[age] = 0;
        for (uint32_t i = m->first[v]; i < m->first[v + 1]; i++) {
            uint32_t w = m->neighbour[i];
            if (!t->on_path[w] && !t->asked[w]) {
                t->asked[w] = true;
                candidates[age]++;
            }
        }
        sum->candidates += candidates[age];
    }
    memset(t->asked, 0, m->nodes * sizeof *t->asked);
    for (uint32_t h = 0; h < path->hops; h++) {
        uint32_t v = path->router[h];
        for (uint32_t i = m->first[v]; t->found[v] && i < m->first[v + 1]; i++) {
            uint32_t w = m->neighbour[i];
            if (!t->on_path[w] && t->found[w] && !t->asked[w]) {
                t->asked[w] = true;
                sum->branches++;
            }
        }
    }
}

static enum tepal_status mesh_packet(struct traceback *t, const struct setting *s,
                                     struct tepal_filter *filter, const struct path *path,
                                     struct tally *sum)
{
    uint32_t candidates[ROUTE_HOPS + 1];
    struct tepal_hasher hasher;
    uint32_t found = 0;
    enum tepal_status status = foresee(t, s, path->hops);
    tepal_hasher_init(&hasher, lines_draw(&t->random)); /* every packet has a seed of its own */
    for (uint32_t i = 0; i < path->hops && status == TEPAL_OK; i++) {
        t->on_path[path->router[i]] = true;
        status = tepal_filter_add(filter, key_of(&hasher, path->router[i]));
    }
    uint32_t reached = walk(t, filter, &hasher, path->router[path->hops - 1]);
    for (uint32_t i = 0; i < path->hops; i++) {
        found += t->found[path->router[i]];
    }
    count_branches(t, path, candidates, sum);
    sum->hops += path->hops;
    sum->hops_found += found;
    sum->full += found == path->hops;
    sum->strays += reached - found;
    expect(&t->forecast[path->hops], candidates, path->hops, sum);
    memset(t->asked, 0, t->mesh.nodes * sizeof *t->asked);
    memset(t->found, 0, t->mesh.nodes * sizeof *t->found);
    memset(t->on_path, 0, t->mesh.nodes * sizeof *t->on_path);
    return status;
}

static enum tepal_status one_packet(struct traceback *t, const struct setting *s, struct tally *sum)
{
    struct tepal_params params = s->params;
    struct tepal_filter *filter = NULL;
    struct path path = {0, {0}};
    params.seed = lines_draw(&t->random); /* other bits of the attacker's for every packet */
    enum tepal_status status = tepal_filter_create(&params, NULL, &filter, NULL);
    if (status != TEPAL_OK) {
        return status;
    }
    if (t->tree != 0) {
        status = tree_packet(t, s, filter, sum);
    } else {
        bool drawn = t->usable_count > 0 ? draw_route(t, &path) : draw_shortest(t, &path);
        status = drawn ? mesh_packet(t, s, filter, &path, sum) : TEPAL_NOT_PRESENT;
    }
    sum->packets++;
    tepal_filter_free(filter);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct row {
    double full, hops, branches, strays;
    double expected_full, expected_hops, expected_branches;
};

static struct row averages(const struct tally *t)
{
    double n = (double)t->packets;
    return (struct row){
        (double)t->full / n,     t->hops == 0 ? 0 : (double)t->hops_found / (double)t->hops,
        (double)t->branches / n, (double)t->strays / n,
        t->expected_full / n,    t->hops == 0 ? 0 : t->expected_hops / (double)t->hops,
        t->expected_branches / n};
}

static int print_json(const struct traceback *t, const struct setting *s, const struct tally *sum)
{
    struct row r = averages(sum);
    double n = (double)sum->packets;
    bool generalized = s->plain.kind == TEPAL_KIND_GENERALIZED;
    json_t *o = json_object();
    json_object_set_new(o, "kind", json_string(s->kind));
    json_object_set_new(o, "attack", json_string(attack_names[s->attack]));
    json_object_set_new(o, "bits", json_integer((json_int_t)s->plain.cells));
    json_object_set_new(o, "hashes", json_integer((json_int_t)s->plain.hashes));
    json_object_set_new(
        o, "reset_hashes",
        json_integer((json_int_t)(generalized ? tepal_generalized_reset_hashes(&s->plain) : 0)));
    json_object_set_new(
        o, "tolerance",
        json_integer((json_int_t)(generalized ? tepal_generalized_tolerance(&s->plain) : 0)));
    json_object_set_new(o, "packets", json_integer((json_int_t)sum->packets));
    json_object_set_new(o, "hops", json_real((double)sum->hops / n));
    json_object_set_new(o, "full", json_real(r.full));
    json_object_set_new(o, "hops_found", json_real(r.hops));
    json_object_set_new(o, "candidates", json_real((double)sum->candidates / n));
    json_object_set_new(o, "false_branches", json_real(r.branches));
    json_object_set_new(o, "strays", t->tree != 0 ? json_null() : json_real(r.strays));
    json_object_set_new(o, "full_expected", json_real(r.expected_full));
    json_object_set_new(o, "hops_found_expected", json_real(r.expected_hops));
    json_object_set_new(o, "false_branches_expected", json_real(r.expected_branches));
    return render_json(t->out, o);
}

static void print_tsv(const struct traceback *t, const struct setting *s, const struct tally *sum)
{
    struct row r = averages(sum);
    double n = (double)sum->packets;
    if (t->rows == 0) {
        out_text(t->out, "kind\tattack\tbits\tpackets\thops\tfull\thops_found\tcandidates\t"
                         "false_branches\tstrays\tfull_expected\thops_found_expected\t"
                         "false_branches_expected\n");
    }
    out_format(t->out, "%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%.4f\t%.6f\t%.6f\t%.4f\t%.6f\t", s->kind,
               attack_names[s->attack], s->plain.cells, sum->packets, (double)sum->hops / n, r.full,
               r.hops, (double)sum->candidates / n, r.branches);
    if (t->tree == 0) {
        out_format(t->out, "%.6f", r.strays);
    }
    out_format(t->out, "\t%.6f\t%.6f\t%.6f\n", r.expected_full, r.expected_hops,
               r.expected_branches);
}

static void print_text(const struct traceback *t, const struct setting *s, const struct tally *sum)
{
    struct row r = averages(sum);
    char strays[32] = "-";
    if (t->rows == 0) {
        out_format(t->out, "%-11s %-8s %8s %8s %9s %8s %8s %9s\n", "filter", "attack", "full",
                   "(model)", "hops", "branches", "(model)", "strays");
    }
    if (t->tree == 0) {
        snprintf(strays, sizeof strays, "%.3f", r.strays);
    }
    out_format(t->out, "%-11s %-8s %6.2f %% %6.2f %% %7.2f %% %8.3f %8.3f %9s\n", s->kind,
               attack_names[s->attack], 100 * r.full, 100 * r.expected_full, 100 * r.hops,
               r.branches, r.expected_branches, strays);
}

static int print_row(struct traceback *t, const struct setting *s, const struct tally *sum)
{
    int code = EXIT_YES;
    if (arg(t->args, "json")->given) {
        code = print_json(t, s, sum);
    } else if (arg(t->args, "tsv")->given) {
        print_tsv(t, s, sum);
    } else {
        print_text(t, s, sum);
    }
    t->rows++;
    return code;
}

/* ---- the experiment -------------------------------------------------------------------------- */

/* The filter as the attacker leaves it. */
static enum tepal_status arm(struct setting *s)
{
    const struct tepal_params *p = &s->plain;
    bool generalized = p->kind == TEPAL_KIND_GENERALIZED;
    uint32_t k0 = generalized ? tepal_generalized_reset_hashes(p) : 0;
    uint32_t k1 = p->hashes - k0;
    uint32_t tolerance = generalized ? tepal_generalized_tolerance(p) : 0;
    double zeros = 0;
    s->params = *p;
    if (s->attack == ATTACK_NONE) {
        return TEPAL_OK;
    }
    if (s->attack == ATTACK_WORST && generalized) {
        zeros = tepal_generalized_worst_zero(k0, k1, tolerance);
        /* NaN: the tolerance bounds nothing, and one of the two extremes passes every key */
        zeros = isnan(zeros) ? (k1 > k0 ? 0 : 1) : zeros;
    }
    /* (A generalized filter without resets is a Bloom filter, bit for bit.) */
    return tepal_generalized_params(p->cells, k0, k1, zeros, tolerance, 0, &s->params);
}

static int run_setting(struct traceback *t, struct setting *s)
{
    struct tally sum = {0};
    enum tepal_status status = arm(s);
    memset(t->forecast, 0, sizeof t->forecast);
    t->random = t->seed; /* the same packets for all */
    for (uint64_t i = 0; i < t->packets && status == TEPAL_OK; i++) {
        status = one_packet(t, s, &sum);
    }
    if (status == TEPAL_NOT_PRESENT) {
        return say_error(NULL, t->args->command->name, "no path of %" PRIu32 " routers was found",
                         t->hops);
    }
    return status == TEPAL_OK ? print_row(t, s, &sum) : trouble(t, status, NULL);
}

static uint64_t whole_or(const struct option_value *option, uint64_t otherwise)
{
    return option->given ? option->whole : otherwise;
}

static int settings(struct traceback *t, struct setting kinds[2])
{
    uint32_t k0 = (uint32_t)whole_or(arg(t->args, "reset-hashes"), 2);
    uint32_t k1 = (uint32_t)whole_or(arg(t->args, "set-hashes"), 2);
    struct tepal_params bloom = TEPAL_PARAMS_INIT;
    struct tepal_params generalized = TEPAL_PARAMS_INIT;
    const char *why = "";
    bloom.cells = whole_or(arg(t->args, "bits"), 256);
    bloom.hashes = (uint32_t)whole_or(arg(t->args, "hashes"), k0 + k1);
    generalized.kind = TEPAL_KIND_GENERALIZED;
    generalized.cells = bloom.cells;
    generalized.hashes = k0 + k1;
    generalized.own[TEPAL_GENERALIZED_RESET_HASHES] = k0;
    generalized.own[TEPAL_GENERALIZED_TOLERANCE] = whole_or(arg(t->args, "tolerance"), 0);
    enum tepal_status status = tepal_params_check(&generalized, &why);
    if (status == TEPAL_OK) {
        status = tepal_params_check(&bloom, &why);
    }
    kinds[0] = (struct setting){"bloom", ATTACK_NONE, bloom, bloom};
    kinds[1] = (struct setting){"generalized", ATTACK_NONE, generalized, generalized};
    return status == TEPAL_OK ? EXIT_YES : trouble(t, status, why);
}

static void say_network(const struct traceback *t)
{
    if (t->tree != 0) {
        say_line("network    routers of %" PRIu32 " neighbours each; paths of %" PRIu32 " routers",
                 t->tree, t->hops);
    } else if (t->usable_count > 0) {
        say_line("network    %" PRIu32 " routers on %zu routes, %zu of them whole", t->mesh.nodes,
                 t->routes.count, t->usable_count);
    } else {
        say_line("network    %" PRIu32 " routers, %" PRIu32 " edges", t->graph.nodes,
                 t->graph.edges);
    }
}

static int experiment(struct traceback *t)
{
    const struct option_value *only = arg(t->args, "attack");
    struct setting kinds[2];
    int code = settings(t, kinds);
    if (code != EXIT_YES) {
        return code;
    }
    if (!arg(t->args, "quiet")->given) {
        say_network(t);
        say_line("packets    %" PRIu64 ", with a filter of %" PRIu64 " bits each", t->packets,
                 kinds[0].plain.cells);
    }
    t->out = out_open(STDOUT_FILENO);
    if (t->out == NULL) {
        return EXIT_TROUBLE;
    }
    for (int k = 0; k < 2 && code == EXIT_YES; k++) {
        for (int a = 0; a < ATTACKS && code == EXIT_YES; a++) {
            if (!only->given || strcmp(only->text, attack_names[a]) == 0) {
                kinds[k].attack = (enum attack)a;
                code = run_setting(t, &kinds[k]);
            }
        }
    }
    return out_close(t->out, code);
}

/* ---- where the paths come from --------------------------------------------------------------- */

static int set_tree(struct traceback *t)
{
    if (t->args->operands > 0) {
        return say_error(NULL, t->args->command->name,
                         "--tree and the network %s contradict each other: give one of them",
                         t->args->operand[0]);
    }
    t->tree = (uint32_t)arg(t->args, "tree")->whole;
    if (t->tree < 2) {
        return say_error(NULL, t->args->command->name,
                         "--tree %s: a router on a path has at least 2 neighbours",
                         arg(t->args, "tree")->text);
    }
    t->hops = t->hops == 0 ? TREE_HOPS : t->hops;
    return EXIT_YES;
}

static int set_routes(struct traceback *t)
{
    int code = routes_read(&t->routes, t->args->operand, t->args->operands);
    if (code == EXIT_YES) {
        code = mesh_of_routes(t);
    }
    if (code == EXIT_YES && t->usable_count == 0) {
        code = say_error(NULL, t->args->command->name,
                         "no route of %s routers that all answered, each once",
                         t->hops == 0 ? "two or more" : arg(t->args, "hops")->text);
    }
    return code;
}

static int set_network(struct traceback *t)
{
    const struct args *args = t->args;
    if (args->operands != 1) {
        return say_error(NULL, args->command->name,
                         args->operands == 0
                             ? "a network is needed, or --tree N; see 'tepal app traceback --help'"
                             : "one network, please (or --routes: several files of routes)");
    }
    int code = graph_read(&t->graph, args->operand[0], arg(args, "network")->text);
    if (code == EXIT_YES && t->graph.links == 0) {
        code = say_error(NULL, args->operand[0], "a network without links has no paths");
    }
    return code == EXIT_YES ? mesh_of_graph(t) : code;
}

static void free_all(struct traceback *t)
{
    graph_spread_free(&t->spread);
    graph_free(&t->graph);
    routes_free(&t->routes);
    free(t->usable);
    free(t->mesh.first);
    free(t->mesh.neighbour);
    free(t->asked);
    free(t->found);
    free(t->on_path);
    free(t->queue);
    free(t);
}

static int traceback_run(const struct args *args)
{
    struct traceback *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return no_memory();
    }
    t->args = args;
    t->hops = (uint32_t)arg(args, "hops")->whole;
    t->packets = whole_or(arg(args, "packets"), 1000);
    t->seed = whole_or(arg(args, "seed"), 1);
    int code = arg(args, "tree")->given     ? set_tree(t)
               : arg(args, "routes")->given ? set_routes(t)
                                            : set_network(t);
    if (code == EXIT_YES) {
        code = experiment(t);
    }
    free_all(t);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option option_trace_network = {
    .name = "network",
    .value = "NAME",
    .type = TAKES_TEXT,
    .about = "The one to take of a file that has several networks."};

static const struct option option_trace_routes = {
    .name = "routes",
    .about = "The files are measured routes: packets take these, and their routers "
             "and links are the network."};

static const struct option option_trace_tree = {
    .name = "tree",
    .value = "N",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = 1000,
    .about = "Instead of a network: routers with N neighbours each, none of them met "
             "twice."};

static const struct option option_trace_hops = {
    .name = "hops",
    .value = "H",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = 254,
    .about = "Paths of H routers (default: 15 in a tree, any length in a network)."};

static const struct option option_trace_packets = {
    .name = "packets",
    .value = "N",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = 100000000,
    .about = "How many packets to send, each with another seed (default 1000)."};

static const struct option option_trace_bits = {
    .letter = 'm',
    .name = "bits",
    .value = "M",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = 65536,
    .about = "The size of the filter in a packet (default 256)."};

static const struct option *const options[] = {&option_trace_network,
                                               &option_trace_routes,
                                               &option_trace_tree,
                                               &option_trace_hops,
                                               &option_trace_packets,
                                               &option_trace_bits,
                                               &option_sim_hashes,
                                               &option_sim_resets,
                                               &option_sim_sets,
                                               &option_sim_tolerance,
                                               &option_sim_attack,
                                               &option_demo_seed,
                                               &option_rows_tsv,
                                               &option_json,
                                               &option_quiet,
                                               &option_help,
                                               NULL};
static const char *const exclusive[][4] = {{"tree", "routes", "network"}, {"tsv", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal app traceback Cogentco.graphml --bits 512 --reset-hashes 5 --set-hashes 5 --tolerance "
     "2",
     "A network, and a filter that forgives two bits."},
    {"tepal app traceback --tree 4 --hops 15", "A tree of which everything is known."},
    {"tepal app traceback --routes routes.tsv.gz --packets 10k", "Along measured routes."},
    {NULL, NULL}};

const struct command app_traceback = {
    .name = "app traceback",
    .synopsis = "(NETWORK | --routes ROUTES... | --tree N) [--hops H] [--packets P] [--bits M]",
    .summary = "Where did a packet come from? Its filter knows the routers it passed.",
    .about = "Every router adds itself to a small filter in the packet. The victim asks its "
             "neighbours whether the filter knows them, then theirs, and so walks back. The "
             "sender may have filled the filter before: not at all, with ones, or with the share "
             "of ones at which most routers pass. Told are the paths found in full, the hops "
             "found, the false branches (routers off the path that pass, next to one that was "
             "found on it), and all routers that the walk wrongly reaches; beside the branches "
             "that the model expects. With Bloom filters and with generalized ones.\n\n"
             "NETWORK is GraphML or an edge list (u, v), and packets take shortest paths between "
             "routers drawn at random; ROUTES are measured routes as stopset reads them.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .most_operands = SIZE_MAX,
    .examples = examples,
    .run = traceback_run};

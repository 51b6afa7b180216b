/*
 * route_stat.c: the paper's Sec. VIII: a path of n links beside which t others leave its nodes, a
 * yes-no header of 192 + 2 x 32 bits with 4 and 3 hashes against a Bloom header of 256 bits with 6.
 *
 * Links are told apart by their names alone, so false links depend on n and t and not on the rest
 * of the network: a path with leaves stands for each of the topologies that are named here, with
 * the means that 20000 allocations gave for it (Bloom, first fit, next fit, local search; the first
 * and third of TataNld are the paper's own). With a folder topology-zoo in TEPAL_DATA the
 * topologies themselves are read: their n and t must be those, and yes-no must leave less than
 * Bloom in each that has at least 0.05 false links.
 *
 * Tolerance: 6.5 standard errors, of our mean and of theirs together, and half a unit of their last
 * digit. The variance of one header is the measured one, or the mean if that is more (rare events
 * are Poisson's). 44 means and 11 models are checked: a false alarm has a probability below 1e-8.
 */
#include "check.h"
#include "yesno_help.h"

#include <tepal/papers.h>

#include <dirent.h>
#include <inttypes.h>

#include "route/packet.h"

#define ALLOCATIONS 1500
#define PUBLISHED   20000

enum { BLOOM, GREEDY, NEXTFIT, LOCAL_SEARCH, COLUMNS };

static const char *const column_name[COLUMNS] = {"Bloom", "greedy", "nextfit", "local-search"};

static const struct topology {
    const char *name;
    uint32_t n;
    uint32_t t;
    double mean[COLUMNS];
} topology[] = {
    {"TataNld", 28, 72, {.92, .075, .130, .065}},
    {"UsCarrier", 35, 62, {1.96, .229, .473, .167}},
    {"Syringa", 31, 45, {.882, .064, .100, .058}},
    {"DialtelecomCz", 30, 43, {.734, .052, .076, .049}},
    {"Cogentco", 28, 52, {.662, .047, .068, .044}},
    {"RedBestel", 28, 39, {.497, .033, .042, .032}},
    {"Ion", 25, 47, {.367, .025, .029, .024}},
    {"Deltacom", 23, 59, {.321, .024, .028, .023}},
    {"GtsCe", 21, 57, {.205, .016, .017, .015}},
    {"Colt", 20, 66, {.188, .015, .016, .015}},
    {"Kdl", 58, 115, {19.7, 13.1, 17.8, 9.4}},
};
#define TOPOLOGIES (sizeof topology / sizeof *topology)

/* ---- sending --------------------------------------------------------------------------------- */

struct measured {
    double mean;
    double variance;
};

static void make_setting(struct packet_setting *s, enum tepal_yesno_method method)
{
    struct tepal_params init = TEPAL_PARAMS_INIT;
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    s->params[PACKET_BLOOM] = init;
    s->params[PACKET_BLOOM].cells = 256;
    s->params[PACKET_BLOOM].hashes = 6;
    s->params[PACKET_YESNO] = init;
    set_yesno(192, 4, 32, 2, 3, &s->params[PACKET_YESNO]);
    s->how = how;
    s->how.method = method;
    s->ttl = 1; /* first-order false links do not depend on it */
}

static struct measured measure(const struct packet_plan *plan, int column, uint64_t allocations)
{
    static const enum tepal_yesno_method methods[COLUMNS] = {
        TEPAL_YESNO_GREEDY, TEPAL_YESNO_GREEDY, TEPAL_YESNO_NEXTFIT, TEPAL_YESNO_LOCAL_SEARCH};
    struct packet_setting setting;
    double sum = 0;
    double squares = 0;
    make_setting(&setting, methods[column]);
    struct packet_walker *walker = packet_walker_new(plan->graph, &setting);
    assert_non_null(walker);
    for (uint64_t a = 0; a < allocations; a++) {
        struct packet_walk walk;
        struct tepal_error error = {.why = ""};
        assert_ok(packet_send(walker, plan, column == BLOOM ? PACKET_BLOOM : PACKET_YESNO, 1 + a,
                              &walk, &error));
        sum += walk.false_links;
        squares += (double)walk.false_links * walk.false_links;
    }
    packet_walker_free(walker);
    double mean = sum / (double)allocations;
    return (struct measured){mean, squares / (double)allocations - mean * mean};
}

/* The longest shortest path. */
static void longest(const struct graph *g, struct packet_plan *plan)
{
    struct graph_spread s;
    uint32_t from = 0;
    uint32_t to = 0;
    assert_true(graph_spread_new(&s, g));
    assert_true(graph_longest(g, &s, &from, &to) > 0);
    graph_spread(g, from, &s);
    assert_true(packet_plan_make(plan, g, &s, from, &to, 1));
    graph_spread_free(&s);
}

/* ---- without data ---------------------------------------------------------------------------- */

/* A path of n edges, and t - n leaves at its middle: with the n reverse links, t others. */
static void path_with_leaves(struct graph *g, uint32_t n, uint32_t t)
{
    static char text[1 << 14];
    struct graph_trouble why;
    size_t used = 0;
    for (uint32_t i = 0; i < n; i++) {
        used += (size_t)sprintf(text + used, "p%" PRIu32 "\tp%" PRIu32 "\n", i, i + 1);
    }
    for (uint32_t i = 0; i < t - n; i++) {
        used += (size_t)sprintf(text + used, "p%" PRIu32 "\tleaf%" PRIu32 "\n", n / 2, i);
    }
    memset(g, 0, sizeof *g);
    assert_true(graph_parse(g, GRAPH_TSV, NULL, text, used, &why));
}

/* Half a unit of the last digit that is printed. */
static double rounding(double printed)
{
    return printed >= 10 ? 0.05 : printed >= 1 ? 0.005 : 0.0005;
}

static void check_mean(const struct topology *t, int column, struct measured m)
{
    double variance = fmax(m.variance, t->mean[column]);
    double error = sqrt(variance / ALLOCATIONS + variance / PUBLISHED) + rounding(t->mean[column]);
    char what[64];
    sprintf(what, "%s, %s", t->name, column_name[column]);
    if (getenv("TEPAL_SHOW") != NULL) {
        print_message("%-28s %8.4f, published %7.3f, z = %.2f\n", what, m.mean, t->mean[column],
                      (m.mean - t->mean[column]) / error);
    }
    check_within(what, m.mean, t->mean[column], error);
}

static void false_links_are_the_published_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < TOPOLOGIES; i++) {
        const struct topology *t = &topology[i];
        struct graph g;
        struct packet_plan plan;
        double mean[COLUMNS];
        path_with_leaves(&g, t->n, t->t);
        longest(&g, &plan);
        assert_int_equal(plan.members, t->n);
        assert_int_equal(plan.others, t->t);
        for (int c = 0; c < COLUMNS; c++) {
            struct measured m = measure(&plan, c, ALLOCATIONS);
            check_mean(t, c, m);
            mean[c] = m.mean;
            if (c == BLOOM) {
                double model = t->t * tepal_bloom_fp_exact(256, t->n, 6);
                check_within(t->name, m.mean, model, sqrt(fmax(m.variance, model) / ALLOCATIONS));
            }
        }
        assert_true(mean[LOCAL_SEARCH] <= mean[GREEDY] && mean[LOCAL_SEARCH] < mean[BLOOM]);
        packet_plan_free(&plan);
        graph_free(&g);
    }
}

/* ---- with data ------------------------------------------------------------------------------- */

static void check_named(const char *name, const struct packet_plan *plan, uint32_t *named)
{
    for (size_t i = 0; i < TOPOLOGIES; i++) {
        size_t len = strlen(topology[i].name);
        if (strncmp(name, topology[i].name, len) == 0 && strcmp(name + len, ".graphml") == 0) {
            assert_int_equal(plan->members, topology[i].n);
            assert_int_equal(plan->others, topology[i].t);
            (*named)++;
        }
    }
}

static void yesno_beats_bloom_in_every_topology(void **state)
{
    const char *data = getenv("TEPAL_DATA");
    char folder[3000];
    uint32_t named = 0;
    uint32_t compared = 0;
    uint32_t read = 0;
    (void)state;
    snprintf(folder, sizeof folder, "%s/topology-zoo", data == NULL ? "" : data);
    DIR *list = data == NULL ? NULL : opendir(folder);
    if (list == NULL) {
        skip();
    }
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        struct graph g = {.nodes = 0};
        struct packet_plan plan;
        char path[4000];
        if (strstr(entry->d_name, ".graphml") == NULL) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        assert_int_equal(graph_read(&g, path, NULL), 0);
        longest(&g, &plan);
        read++;
        check_named(entry->d_name, &plan, &named);
        if (plan.others * tepal_bloom_fp_exact(256, plan.members, 6) >= 0.05) {
            double bloom = measure(&plan, BLOOM, 1000).mean;
            double yesno = measure(&plan, LOCAL_SEARCH, 1000).mean;
            if (!(yesno < bloom)) {
                print_error("%s: yes-no %.4f, Bloom %.4f\n", entry->d_name, yesno, bloom);
            }
            assert_true(yesno < bloom);
            compared++;
        }
        packet_plan_free(&plan);
        graph_free(&g);
    }
    closedir(list);
    print_message("%d topologies, %d of them compared, %d named\n", (int)read, (int)compared,
                  (int)named);
    assert_int_equal(named, TOPOLOGIES);
    assert_true(read > 250 && compared > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(false_links_are_the_published_ones),
        cmocka_unit_test(yesno_beats_bloom_in_every_topology),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

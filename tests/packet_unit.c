/*
 * packet_unit.c: packets that follow their headers, against a walk that moves every copy by itself
 * and asks the filter, not the header; plans against their definition; where the nodes of a picture
 * lie.
 */
#include "check.h"
#include "yesno_help.h"

#include <inttypes.h>

#include "route/packet.h"
#include "route/draw.h"
#include "route/split.h"

static void parse(struct graph *g, const char *text)
{
    struct graph_trouble why = {0, ""};
    memset(g, 0, sizeof *g);
    if (!graph_parse(g, GRAPH_GUESS, NULL, text, strlen(text), &why)) {
        print_error("%s\n", why.why);
        fail();
    }
}

static void random_graph(struct graph *g, uint64_t *state, uint32_t nodes, uint32_t edges)
{
    static char text[1 << 16];
    size_t used = (size_t)sprintf(text, "<graphml><graph edgedefault=\"%s\">",
                                  check_random(state) % 3 == 0 ? "directed" : "undirected");
    for (uint32_t i = 0; i < nodes; i++) {
        used += (size_t)sprintf(text + used, "<node id=\"v%" PRIu32 "\"/>", i);
    }
    for (uint32_t i = 0; i < edges; i++) {
        used +=
            (size_t)sprintf(text + used, "<edge source=\"v%d\" target=\"v%d\"/>",
                            (int)(check_random(state) % nodes), (int)(check_random(state) % nodes));
    }
    sprintf(text + used, "</graph></graphml>");
    parse(g, text);
}

/* Small headers with few hashes, so that much goes wrong. */
static void make_setting(struct packet_setting *s, uint32_t hashes, uint32_t ttl)
{
    struct tepal_params init = TEPAL_PARAMS_INIT;
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    s->params[PACKET_BLOOM] = init;
    s->params[PACKET_BLOOM].cells = 128;
    s->params[PACKET_BLOOM].hashes = hashes;
    s->params[PACKET_YESNO] = init;
    set_yesno(128 - 2 * 24, hashes, 24, 2, 2, &s->params[PACKET_YESNO]);
    s->how = how;
    s->how.method = TEPAL_YESNO_GREEDY;
    s->ttl = ttl;
}

/* ---- the naive packet ------------------------------------------------------------------------ */

struct naive {
    const struct packet_plan *plan;
    struct tepal_filter *filter;
    bool *match; /* of every link */
    bool *crossed;
    bool *on_way; /* of every node: is this copy's way through it? */
    uint32_t ttl;
    double crossings;
    double expired;
    bool loop;
};

static struct tepal_digest naive_digest(const struct graph *g, uint32_t l, uint64_t seed)
{
    struct tepal_hasher hasher;
    char key[64];
    int len = sprintf(key, "%s\t%s\t%" PRIu32, names_text(&g->ids, g->link[l].from),
                      names_text(&g->ids, g->link[l].to), g->link[l].parallel);
    tepal_hasher_init(seed, &hasher);
    return tepal_hash_bytes(&hasher, key, (size_t)len);
}

static void naive_build(struct naive *n, const struct packet_setting *s, enum packet_kind kind,
                        uint64_t seed)
{
    const struct packet_plan *plan = n->plan;
    struct tepal_digest members[64];
    struct tepal_digest *others = malloc((plan->others + 1) * sizeof *others);
    struct tepal_params params = s->params[kind];
    params.seed = seed;
    assert_true(plan->members <= 64);
    for (uint32_t i = 0; i < plan->members; i++) {
        members[i] = naive_digest(plan->graph, plan->member[i], seed);
    }
    for (uint32_t i = 0; i < plan->others; i++) {
        others[i] = naive_digest(plan->graph, plan->other[i], seed);
    }
    if (kind == PACKET_BLOOM) {
        assert_ok(tepal_filter_create(&params, NULL, &n->filter, NULL));
        assert_ok(tepal_filter_add_many(n->filter, members, plan->members));
    } else {
        struct tepal_known input = {.members = members,
                                    .member_count = plan->members,
                                    .avoid = others,
                                    .avoid_count = plan->others};
        assert_ok(tepal_yesno_build(&params, &input, &s->how, NULL, &n->filter, NULL, NULL));
    }
    for (uint32_t l = 0; l < plan->graph->links; l++) {
        n->match[l] = tepal_filter_query(n->filter, naive_digest(plan->graph, l, seed));
    }
    free(others);
}

/* One copy, and all that it becomes. */
static void naive_copy(struct naive *n, uint32_t v, uint32_t hops)
{
    const struct graph *g = n->plan->graph;
    bool goes_on = false;
    bool was_on_way = n->on_way[v];
    n->on_way[v] = true;
    for (uint32_t l = g->first[v]; l < g->first[v + 1]; l++) {
        if (!n->match[l]) {
            continue;
        }
        goes_on = true;
        n->loop = n->loop || n->on_way[g->link[l].to];
        if (hops < n->ttl) {
            n->crossings++;
            n->crossed[l] = true;
            naive_copy(n, g->link[l].to, hops + 1);
        }
    }
    n->expired += goes_on && hops == n->ttl;
    n->on_way[v] = was_on_way;
}

static void check_packet(const struct packet_plan *plan, const struct packet_setting *s,
                         struct packet_walker *walker, enum packet_kind kind, uint64_t seed,
                         uint64_t *seen)
{
    const struct graph *g = plan->graph;
    struct packet_walk walk;
    struct tepal_error error = {.why = ""};
    struct naive n = {.plan = plan, .ttl = s->ttl};
    uint32_t false_links = 0;
    uint32_t taken = 0;
    n.match = calloc(g->links + 1, sizeof *n.match);
    n.crossed = calloc(g->links + 1, sizeof *n.crossed);
    n.on_way = calloc(g->nodes + 1, sizeof *n.on_way);
    naive_build(&n, s, kind, seed);
    naive_copy(&n, plan->root, 0);
    assert_ok(packet_send(walker, plan, kind, seed, &walk, &error));
    for (uint32_t i = 0; i < plan->others; i++) {
        false_links += n.match[plan->other[i]];
    }
    for (uint32_t l = 0; l < g->links; l++) {
        assert_true(!plan->is_member[l] || n.crossed[l]); /* no false negative */
        taken += n.crossed[l] && !plan->is_member[l];
        assert_int_equal(packet_crossed(walker, l), n.crossed[l]);
    }
    assert_int_equal(walk.false_links, false_links);
    assert_int_equal(walk.taken, taken);
    assert_true(walk.wasted == n.crossings - plan->members);
    assert_true(walk.expired == n.expired);
    assert_int_equal(walk.loop, n.loop);
    seen[0] += false_links > 0;
    seen[1] += taken > false_links;
    seen[2] += n.loop;
    seen[3] += n.expired > 1;
    tepal_filter_free(n.filter);
    free(n.match);
    free(n.crossed);
    free(n.on_way);
}

/*
 * The time to live is as long as the graph has nodes, so that the naive copies cross every link
 * that can be reached; that many hops are few enough for them to be counted one by one.
 */
static void packets_go_where_copies_go(void **state)
{
    uint64_t seed = 31;
    uint64_t seen[4] = {0, 0, 0, 0}; /* false links, far ones, loops, expiries */
    uint64_t sent = 0;
    (void)state;
    for (int round = 0; round < 800; round++) {
        struct graph g;
        struct graph_spread s;
        struct packet_plan plan;
        struct packet_setting setting;
        uint32_t nodes = 6 + (uint32_t)(check_random(&seed) % 8);
        uint32_t to[6];
        random_graph(&g, &seed, nodes, nodes + (uint32_t)(check_random(&seed) % 10));
        assert_true(graph_spread_new(&s, &g));
        uint32_t root = (uint32_t)(check_random(&seed) % nodes);
        uint32_t count = graph_spread(&g, root, &s);
        if (count > 1) {
            size_t targets = 1 + check_random(&seed) % 6;
            for (size_t i = 0; i < targets; i++) {
                to[i] = s.reached[1 + check_random(&seed) % (count - 1)];
            }
            assert_true(packet_plan_make(&plan, &g, &s, root, to, targets));
            /* One hash or two: enough goes wrong, and copies can still be counted. */
            make_setting(&setting, 1 + (uint32_t)(check_random(&seed) % 2), nodes);
            struct packet_walker *walker = packet_walker_new(&g, &setting);
            assert_non_null(walker);
            for (uint64_t a = 0; a < 6; a++) {
                check_packet(&plan, &setting, walker, PACKET_BLOOM, seed + a, seen);
                check_packet(&plan, &setting, walker, PACKET_YESNO, seed + a, seen);
                sent += 2;
            }
            packet_walker_free(walker);
            packet_plan_free(&plan);
        }
        graph_spread_free(&s);
        graph_free(&g);
    }
    assert_true(sent > 6000);
    if (getenv("TEPAL_SHOW") != NULL) {
        print_message("%d sent: %d false, %d far, %d loops, %d expired\n", (int)sent, (int)seen[0],
                      (int)seen[1], (int)seen[2], (int)seen[3]);
    }
    assert_true(seen[0] > 400 && seen[1] > 8 && seen[2] > 200 && seen[3] > 10);
}

/* S, T and the depth of a tree that was worked out by hand. */
static void a_plan_is_what_it_says(void **state)
{
    struct graph g;
    struct graph_spread s;
    struct packet_plan plan;
    uint32_t several;
    (void)state;
    /* a=b (twice), b-c, c-d, b-e, e-f, and g-h apart */
    parse(&g, "a\tb\na\tb\nb\tc\nc\td\nb\te\ne\tf\ng\th\n");
    assert_true(graph_spread_new(&s, &g));
    uint32_t root = graph_find(&g, "a", &several);
    uint32_t to[2] = {graph_find(&g, "d", &several), graph_find(&g, "e", &several)};
    graph_spread(&g, root, &s);
    assert_true(packet_plan_make(&plan, &g, &s, root, to, 2));
    assert_int_equal(plan.members, 4); /* a>b b>c c>d b>e */
    assert_int_equal(plan.depth, 3);
    /* a: the parallel one; b: two to a; c: to b; d: to c; e: to b and f */
    assert_int_equal(plan.others, 7);
    packet_plan_free(&plan);
    graph_spread_free(&s);
    graph_free(&g);
}

/* A header that loops for certain: one bit in all, so everything matches. */
static void a_loop_doubles_its_copies_until_they_expire(void **state)
{
    struct graph g;
    struct graph_spread s;
    struct packet_plan plan;
    struct packet_setting setting;
    struct packet_walk walk;
    struct tepal_error error = {.why = ""};
    (void)state;
    parse(&g, "a\tb\nb\tc\n");
    assert_true(graph_spread_new(&s, &g));
    graph_spread(&g, 0, &s);
    uint32_t to = 2;
    assert_true(packet_plan_make(&plan, &g, &s, 0, &to, 1));
    make_setting(&setting, 1, 100);
    setting.params[PACKET_BLOOM].cells = 128;
    setting.params[PACKET_BLOOM].hashes = 1;
    /* Find a seed under which the reverse link of a>b matches and no other false one does. */
    struct packet_walker *walker = packet_walker_new(&g, &setting);
    uint64_t seed = 0;
    bool found = false;
    while (!found && seed < 100000) {
        assert_ok(packet_send(walker, &plan, PACKET_BLOOM, ++seed, &walk, &error));
        found = walk.false_links == 1 && walk.loop && packet_crossed(walker, 1);
    }
    assert_true(found);
    /*
     * a > b at hops 1, 3, 5 ...; b > a and b > c at hops 2, 4, 6 ...: 50 of each in 100 hops, and
     * the copy that is at a then would go on.
     */
    assert_true(walk.wasted == 150 - 2);
    assert_true(walk.expired == 1);
    packet_walker_free(walker);
    packet_plan_free(&plan);
    graph_spread_free(&s);
    graph_free(&g);
}

/* ---- paths in parts -------------------------------------------------------------------------- */

/* A path of n edges, with a leaf at each of its nodes. */
static void long_path(struct graph *g, uint32_t n)
{
    static char text[1 << 14];
    size_t used = 0;
    for (uint32_t i = 0; i < n; i++) {
        used += (size_t)sprintf(text + used,
                                "p%02" PRIu32 "\tp%02" PRIu32 "\np%02" PRIu32 "\tx%02" PRIu32 "\n",
                                i, i + 1, i, i);
    }
    parse(g, text);
}

/*
 * Parts follow each other, each is as its own plan says, leaves no false link if it has more than
 * one link, and one link more would leave some (halving finds such an end).
 */
static void a_long_path_is_cut_where_its_header_is_full(void **state)
{
    struct graph g;
    struct graph_spread s;
    struct packet_plan plan;
    struct packet_setting setting;
    struct route_parts parts = {.count = 0};
    struct tepal_error error = {.why = ""};
    uint32_t several;
    uint64_t cuts = 0;
    (void)state;
    long_path(&g, 40);
    assert_true(graph_spread_new(&s, &g));
    uint32_t to = graph_find(&g, "p40", &several);
    uint32_t from = graph_find(&g, "p00", &several);
    graph_spread(&g, from, &s);
    assert_true(packet_plan_make(&plan, &g, &s, from, &to, 1));
    make_setting(&setting, 3, 64);
    struct packet_walker *walker = packet_walker_new(&g, &setting);
    assert_non_null(walker);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint32_t at = 0;
        assert_ok(route_split(walker, &plan, seed, false, &parts, &error));
        for (size_t i = 0; i < parts.count; i++) {
            const struct route_part *p = &parts.part[i];
            assert_int_equal(p->first, at);
            for (uint32_t more = 0; more < 2 && p->first + p->count + more <= plan.members;
                 more++) {
                struct packet_plan own;
                struct packet_walk walk;
                assert_true(packet_plan_part(&own, &plan, p->first, p->count + more));
                assert_int_equal(own.members, p->count + more);
                assert_int_equal(own.depth, own.members);
                assert_int_equal(own.root, g.link[plan.member[p->first]].from);
                assert_ok(packet_send(walker, &own, PACKET_YESNO, seed, &walk, &error));
                if (more == 0) {
                    assert_int_equal(walk.false_links, p->left);
                    assert_memory_equal(packet_header(walker), p->header,
                                        packet_layout(walker)->words * sizeof p->header[0]);
                } else {
                    assert_true(walk.false_links > 0);
                }
                packet_plan_free(&own);
            }
            assert_true(p->left == 0 || p->count == 1);
            at += p->count;
        }
        assert_int_equal(at, plan.members);
        cuts += parts.count - 1;
        assert_ok(route_split(walker, &plan, seed, true, &parts, &error));
        assert_int_equal(parts.count, 1);
        assert_int_equal(parts.part[0].count, plan.members);
    }
    assert_true(cuts >= 40);
    route_parts_free(&parts);
    packet_walker_free(walker);
    packet_plan_free(&plan);
    graph_spread_free(&s);
    graph_free(&g);
}

static void pictures_have_a_place_for_every_node(void **state)
{
    uint64_t seed = 32;
    (void)state;
    for (int round = 0; round < 30; round++) {
        struct graph g;
        double x[2][40];
        double y[2][40];
        random_graph(&g, &seed, 2 + (uint32_t)(check_random(&seed) % 30),
                     (uint32_t)(check_random(&seed) % 40));
        for (uint32_t v = 0; v < g.nodes && round % 2 == 0; v++) {
            if (check_random(&seed) % 5 != 0) { /* most have a place on the map */
                g.node[v].x = (double)(check_random(&seed) % 360) - 180;
                g.node[v].y = (double)(check_random(&seed) % 180) - 90;
            }
        }
        for (int again = 0; again < 2; again++) {
            assert_true(draw_places(&g, 900, 600, x[again], y[again]));
        }
        for (uint32_t v = 0; v < g.nodes; v++) {
            assert_true(x[0][v] >= -1e-6 && x[0][v] <= 900 + 1e-6);
            assert_true(y[0][v] >= -1e-6 && y[0][v] <= 600 + 1e-6);
        }
        assert_memory_equal(x[0], x[1], g.nodes * sizeof x[0][0]);
        assert_memory_equal(y[0], y[1], g.nodes * sizeof y[0][0]);
        graph_free(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_go_where_copies_go),
        cmocka_unit_test(a_plan_is_what_it_says),
        cmocka_unit_test(a_loop_doubles_its_copies_until_they_expire),
        cmocka_unit_test(a_long_path_is_cut_where_its_header_is_full),
        cmocka_unit_test(pictures_have_a_place_for_every_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * replay_unit.c: routes against stop sets, by hand; and the filters that an attacker leaves, which
 * the applications compare.
 */
#include "check.h"
#include "generalized_help.h"

#include "shared/attack.h"
#include "stopset/replay.h"

#define S ROUTE_SILENT

/* Two routes over the links 0-1, 1-2 and 1-3, and one with a gap. */
static uint32_t hops[] = {0, 1, 2, 0, 1, 3, 0, S, 2};
static struct route list[] = {
    {.first = 0, .hops = 3}, {.first = 3, .hops = 3}, {.first = 6, .hops = 3}, {.first = 9}};
static const struct routes routes = {.route = list, .count = 4, .hop = hops, .hops = 9};

static void test_links(void **state)
{
    static const uint32_t all[] = {0, 1, S, 0, 2, S, S, S, S};
    static const uint32_t second[] = {S, S, S, 0, 1, S, S, S, S};
    uint32_t *link = NULL;
    uint32_t links = 0;
    (void)state;
    assert_true(replay_links(&routes, 0, 4, &link, &links));
    assert_int_equal(links, 3);
    assert_memory_equal(link, all, sizeof all);
    free(link);
    links = 0;
    assert_true(replay_links(&routes, 1, 2, &link, &links));
    assert_int_equal(links, 2);
    assert_memory_equal(link, second, sizeof second);
    free(link);
}

static void test_replay(void **state)
{
    static const uint32_t link[] = {0, 1, S, 0, 2, S, S, S, S};
    bool stops[4] = {false, false, true, false};
    bool nodes[4] = {false};
    bool links[3] = {false};
    struct replay_outcome o = {0};
    struct replay_seen seen = {link, nodes, links};
    struct replay_seen nobody = {NULL, NULL, NULL};
    (void)state;
    for (size_t i = 0; i < routes.count; i++) {
        replay_route(&routes, &list[i], stops, &o, &seen);
    }
    assert_true(o.probes_in_full >= o.probes && o.probes > 0);
    assert_true(o.routes == 4 && o.success == 2 && o.collision == 2 && o.stopped_short == 0);
    assert_true(nodes[0] && nodes[1] && nodes[2] && nodes[3]);
    assert_true(links[0] && links[1] && links[2]);
    stops[1] = true;
    bool fewer[4] = {false};
    bool fewer_links[3] = {false};
    o = (struct replay_outcome){0};
    seen = (struct replay_seen){link, fewer, fewer_links};
    for (size_t i = 0; i < 2; i++) {
        replay_route(&routes, &list[i], stops, &o, &seen);
    }
    assert_true(o.stopped_short == 2 && fewer[1] && !fewer[2] && !fewer[3]);
    assert_true(fewer_links[0] && !fewer_links[1] && !fewer_links[2]);
    assert_true(replay_missed(nodes, fewer, 4) == 0.5);
    assert_true(replay_missed(fewer, nodes, 4) == 0 && replay_missed(nodes, nodes, 0) == 0);
    replay_route(&routes, &list[0], stops, &o, &nobody);
    assert_int_equal(o.routes, 3);
}

static void test_suspects(void **state)
{
    struct suspect s[] = {{5, 1}, {4, 7}, {3, 7}, {9, 8}};
    static const uint32_t order[] = {9, 3, 4, 5};
    (void)state;
    suspects_sort(s, COUNT(s));
    for (size_t i = 0; i < COUNT(s); i++) {
        assert_int_equal(s[i].node, order[i]);
    }
}

/* An attacker keeps the size and the hashes, and fills the bits as told. */
static void test_attacks(void **state)
{
    struct tepal_params bloom = TEPAL_PARAMS_INIT;
    struct tepal_params p;
    (void)state;
    bloom.cells = 4096;
    bloom.hashes = 6;
    struct attack_setting setting = {"bloom", ATTACK_NONE, bloom};
    assert_ok(attack_params(&setting, 7, &p));
    assert_true(p.kind == bloom.kind && p.seed == 7 && p.cells == 4096);
    for (int a = ATTACK_ONES; a < ATTACKS; a++) { /* all ones are the worst of a Bloom filter */
        struct tepal_filter *filter = NULL;
        uint64_t state_of = 1;
        setting.attack = (enum attack)a;
        assert_ok(attack_params(&setting, 7, &p));
        assert_ok(tepal_filter_create(&p, NULL, &filter, NULL));
        for (int i = 0; i < 100; i++) {
            assert_true(tepal_filter_query(filter, check_digest(&state_of)));
        }
        tepal_filter_free(filter);
    }
    assert_ok(set_generalized(4096, 2, 2, 1, 1, 0, &setting.params));
    assert_int_equal(attack_resets(&setting), 2);
    assert_int_equal(attack_tolerance(&setting), 1);
    setting.attack = ATTACK_WORST;
    assert_ok(attack_params(&setting, 3, &p));
    assert_true(p.kind == TEPAL_KIND_GENERALIZED && p.seed == 3 && p.hashes == 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_suspects),
        cmocka_unit_test(test_attacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * sightings_unit.c: what routes tell of nodes, counted by hand; files of it, written and read
 * again; every wrong line; who is in the set; and the aspects of Table V.
 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <unistd.h>

#include "readers/lines.h"
#include "stopset/aspects.h"
#include "stopset/sightings.h"

/* 1 -> 2 -> 3; 1 -> 2; 1 -> 2 -> 1 -> 3 (a loop); 1 -> nobody. */
static void make_routes(struct routes *routes)
{
    static const uint32_t hops[4][4] = {
        {0, 1, 2, 0}, {0, 1, 0, 0}, {0, 1, 0, 2}, {0, ROUTE_SILENT}};
    static const uint32_t count[4] = {3, 2, 4, 2};
    uint32_t number;
    for (const char *const *name = (const char *const[]){"a", "2001:db8::1", "c", NULL};
         *name != NULL; name++) {
        assert_true(names_add(&routes->nodes, *name, strlen(*name), &number));
    }
    for (size_t i = 0; i < 4; i++) {
        assert_true(routes_add(routes, (struct route){.cycle = 1}, hops[i], count[i]));
    }
}

static void counted(void **state)
{
    (void)state;
    struct routes routes = {.count = 0};
    struct sightings s = {.nodes = 0};
    struct sightings copy;
    make_routes(&routes);
    assert_true(sightings_grow(&s, 3));
    for (size_t i = 0; i < 4; i++) {
        sightings_route(&s, &routes, &routes.route[i], 2);
    }
    static const double passes[] = {8, 6, 4};
    static const double ends[] = {0, 2, 4};
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(s.passes[i] == passes[i] && s.ends[i] == ends[i]);
    }
    assert_int_equal(sightings_members(&s), 2);
    assert_true(sightings_bits(&s, &routes.nodes) == 128 + 32);
    s.least = 0.5; /* of the routes through the second, a third ends there */
    assert_int_equal(sightings_members(&s), 1);
    assert_true(sightings_copy(&copy, &s));
    assert_int_equal(sightings_members(&copy), 1);
    sightings_free(&copy);
    sightings_free(&s);
    routes_free(&routes);
}

static const char *read_line(struct sightings_reader *r, const char *line)
{
    return sightings_line(r, line, strlen(line));
}

static void lines(void **state)
{
    (void)state;
    static const char *const wrong[] = {"a",           "a\t1",          "a\t1\t2\t3", "\t1\t2",
                                        "a\t-1\t2",    "a\t1\tx",       "a\t3\t2",    "a\tnan\t1",
                                        "a\tinf\tinf", "a\t1e30\t1e30", "a\t\t1",     "a\t0x1\t2"};
    struct names nodes = {.count = 0};
    struct sightings s = {.nodes = 0};
    struct sightings_reader r = {.nodes = &nodes, .into = &s};
    assert_null(read_line(&r, "# address\tends\tpasses"));
    assert_null(read_line(&r, ""));
    assert_null(read_line(&r, "a\t1\t20"));
    assert_null(read_line(&r, "b\t0\t2.5\r"));
    assert_null(read_line(&r, "a\t2\t3"));
    assert_int_equal(r.lines, 3);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const char *why = read_line(&r, wrong[i]);
        assert_non_null(why);
        assert_true(strlen(why) > 10);
    }
    assert_non_null(sightings_line(&r, "a\0b\t1\t2", 7));
    assert_int_equal(nodes.count, 2);
    assert_true(s.ends[0] == 3 && s.passes[0] == 23 && s.ends[1] == 0 && s.passes[1] == 2.5);
    names_free(&nodes);
    sightings_free(&s);
}

/* Written and read again, it is the same. */
static void round_trip(void **state)
{
    (void)state;
    char path[] = "/tmp/sightings-XXXXXX";
    struct names nodes[2] = {{.count = 0}, {.count = 0}};
    struct sightings s[2] = {{.nodes = 0}, {.nodes = 0}};
    struct sightings_reader r = {.nodes = &nodes[0], .into = &s[0]};
    uint64_t seed = 3;
    for (int i = 0; i < 500; i++) {
        char line[96];
        uint64_t passes = check_random(&seed) % 1000 + 1;
        snprintf(line, sizeof line, "10.0.%d.%d\t%.10g\t%.10g", i / 200, i % 200,
                 (double)(check_random(&seed) % (passes + 1)) / 8, (double)passes / 8);
        assert_null(read_line(&r, line));
    }
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    struct out *out = out_open(fd);
    assert_non_null(out);
    sightings_write(&s[0], &nodes[0], out);
    assert_int_equal(out_close(out, 0), 0);
    r = (struct sightings_reader){.nodes = &nodes[1], .into = &s[1]};
    assert_int_equal(lines_read(path, sightings_line, &r), 0);
    assert_int_equal(r.lines, 500);
    for (uint32_t i = 0; i < 500; i++) {
        assert_string_equal(names_text(&nodes[0], i), names_text(&nodes[1], i));
        assert_true(s[0].ends[i] == s[1].ends[i] && s[0].passes[i] == s[1].passes[i]);
    }
    unlink(path);
    for (size_t i = 0; i < 2; i++) {
        names_free(&nodes[i]);
        sightings_free(&s[i]);
    }
}

/* Each aspect on both sides of its boundary. */
static void table_5(void **state)
{
    (void)state;
    const struct aspects_of list = {0.8, 0.1, 0, 0, 1000};
    bool aspect[ASPECTS];
    aspects(&list, &list, aspect);
    assert_true(aspect[ASPECT_SUCCESS] && aspect[ASPECT_DISCOVERY] && aspect[ASPECT_NO_COLLISION]);
    assert_false(aspect[ASPECT_COMPRESSION]);
    aspects(&(struct aspects_of){0.73, 0.11, 0.09, 0.09, 500}, &list, aspect);
    assert_true(aspect[ASPECT_SUCCESS] && aspect[ASPECT_DISCOVERY] && aspect[ASPECT_COMPRESSION]);
    assert_false(aspect[ASPECT_NO_COLLISION]);
    aspects(&(struct aspects_of){0.71, 0.1, 0.09, 0.11, 501}, &list, aspect);
    assert_true(aspect[ASPECT_NO_COLLISION]);
    assert_false(aspect[ASPECT_SUCCESS] || aspect[ASPECT_DISCOVERY] || aspect[ASPECT_COMPRESSION]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted),
        cmocka_unit_test(lines),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(table_5),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * traceroute_unit.c: the reader of measured routes: both forms, every wrong line, lines cut at
 * every byte, hostile JSON; and the table of names below it.
 */
#include "check.h"

#include "readers/names.h"
#include "readers/traceroute.h"

/* ---- names ---------------------------------------------------------------------------------- */

static void names_number_texts_in_order(void **state)
{
    struct names names = {.count = 0};
    char text[32];
    (void)state;
    assert_int_equal(names_find(&names, "x", 1), NAMES_NONE);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            uint32_t number;
            int len = snprintf(text, sizeof text, "name-%u", (unsigned)i);
            assert_true(names_add(&names, text, (size_t)len, &number));
            assert_int_equal(number, i);
        }
    }
    assert_int_equal(names.count, 5000);
    assert_string_equal(names_text(&names, 4321), "name-4321");
    assert_int_equal(names_find(&names, "name-77", 7), 77);
    assert_int_equal(names_find(&names, "name-77", 6), 7);
    assert_int_equal(names_find(&names, "other", 5), NAMES_NONE);
    names_free(&names);
    assert_int_equal(names.count, 0);
}

/* ---- good lines ----------------------------------------------------------------------------- */

static const char *take(struct routes *r, struct routes_file *f, const char *line)
{
    return routes_line(r, f, line, strlen(line));
}

static const char *hop_text(const struct routes *r, const struct route *route, uint32_t hop)
{
    uint32_t node = r->hop[route->first + hop];
    return node == ROUTE_SILENT ? "*" : names_text(&r->nodes, node);
}

static void a_tab_separated_route_is_read(void **state)
{
    struct routes r = {.count = 0};
    struct routes_file f;
    (void)state;
    routes_begin(&f, 1);
    assert_null(take(&r, &f, "# a comment"));
    assert_null(take(&r, &f, ""));
    assert_null(take(&r, &f, "7\tmonitor\tAS1\t9.0.0.1\t4\t12\t1.0.0.1 * 1.0.0.3\r"));
    assert_null(take(&r, &f, "8\tmonitor\tAS1\t9.0.0.1\t1\t-1\t"));
    assert_int_equal(r.count, 2);
    const struct route *route = &r.route[0];
    assert_int_equal(route->cycle, 7);
    assert_int_equal(route->transit, 12);
    assert_int_equal(route->hops, 3);
    assert_string_equal(names_text(&r.monitors, route->monitor), "monitor");
    assert_string_equal(names_text(&r.nodes, route->target), "9.0.0.1");
    assert_string_equal(hop_text(&r, route, 0), "1.0.0.1");
    assert_string_equal(hop_text(&r, route, 1), "*");
    assert_string_equal(hop_text(&r, route, 2), "1.0.0.3");
    assert_int_equal(r.route[1].hops, 0);
    assert_int_equal(r.route[1].transit, -1);
    assert_int_equal(r.route[1].monitor, route->monitor);
    routes_free(&r);
}

static void a_header_names_the_columns(void **state)
{
    struct routes r = {.count = 0};
    struct routes_file f;
    (void)state;
    routes_begin(&f, 1);
    assert_null(take(&r, &f, "# hops\tx\tdst\tcycle\tmonitor"));
    assert_null(take(&r, &f, "1.0.0.1 1.0.0.2\t?\t9.0.0.1\t3\tm"));
    assert_int_equal(r.count, 1);
    assert_int_equal(r.route[0].cycle, 3);
    assert_int_equal(r.route[0].hops, 2);
    assert_int_equal(r.route[0].transit, ROUTE_NOT_GIVEN);
    /* Only the first line is a header. */
    assert_null(take(&r, &f, "# a\tb"));
    assert_null(take(&r, &f, "1.0.0.1\t?\t9.0.0.1\t3\tm"));
    routes_free(&r);
}

static void a_route_ends_where_its_destination_answers(void **state)
{
    struct routes r = {.count = 0};
    struct routes_file f;
    (void)state;
    routes_begin(&f, 1);
    assert_null(take(&r, &f, "1\tm\tx\t9.0.0.1\t5\t0\t1.0.0.1 1.0.0.2 9.0.0.1 9.0.0.1"));
    assert_int_equal(r.route[0].hops, 2);
    assert_null(
        take(&r, &f,
             "{\"type\":\"trace\",\"src\":\"5.5.5.5\",\"dst\":\"9.0.0.1\",\"hops\":["
             "{\"addr\":\"9.0.0.1\",\"probe_ttl\":4},{\"addr\":\"1.0.0.1\",\"probe_ttl\":1},"
             "{\"addr\":\"1.0.0.7\",\"probe_ttl\":1},{\"addr\":\"1.0.0.3\",\"probe_ttl\":3},"
             "{\"addr\":\"9.0.0.1\",\"probe_ttl\":5}]}"));
    const struct route *route = &r.route[1];
    assert_int_equal(route->hops, 3);
    assert_string_equal(hop_text(&r, route, 0), "1.0.0.1"); /* the first answer at TTL 1 */
    assert_string_equal(hop_text(&r, route, 1), "*");
    assert_string_equal(hop_text(&r, route, 2), "1.0.0.3");
    assert_string_equal(names_text(&r.monitors, route->monitor), "5.5.5.5");
    routes_free(&r);
}

static void json_says_which_cycle_and_monitor(void **state)
{
    struct routes r = {.count = 0};
    struct routes_file f;
    static const char trace[] = "{\"type\":\"trace\",\"src\":\"5.5.5.5\",\"dst\":\"9.0.0.1\","
                                "\"hops\":[{\"addr\":\"9.0.0.1\",\"probe_ttl\":1}]}";
    (void)state;
    routes_begin(&f, 4);
    assert_null(take(&r, &f, trace));
    assert_null(take(&r, &f, "{\"type\":\"cycle-start\",\"id\":17,\"hostname\":\"here\"}"));
    assert_null(take(&r, &f, trace));
    assert_null(take(&r, &f, "{\"type\":\"cycle-start\",\"id\":18}"));
    assert_null(take(&r, &f, trace));
    assert_null(take(&r, &f, "{\"type\":\"ping\"}"));
    assert_int_equal(r.count, 3);
    assert_int_equal(r.route[0].cycle, 4);
    assert_int_equal(r.route[1].cycle, 17);
    assert_int_equal(r.route[2].cycle, 18);
    assert_string_equal(names_text(&r.monitors, r.route[1].monitor), "here");
    assert_int_equal(r.route[2].monitor, r.route[0].monitor);
    routes_free(&r);
}

static void incomplete_routes_are_counted_and_left_out(void **state)
{
    struct routes r = {.count = 0};
    struct routes_file f;
    (void)state;
    routes_begin(&f, 1);
    assert_null(take(&r, &f, "{\"type\":\"trace\",\"src\":\"5.5.5.5\",\"dst\":\"9.0.0.1\"}"));
    assert_null(take(&r, &f,
                     "{\"type\":\"trace\",\"src\":\"5.5.5.5\",\"dst\":\"9.0.0.1\","
                     "\"stop_reason\":\"GAPLIMIT\",\"hops\":[{\"addr\":\"1.0.0.1\",\"probe_ttl\":9}"
                     "]}"));
    assert_int_equal(r.incomplete, 2);
    assert_int_equal(r.count, 0);
    /* Completed, from another address of the destination: the last answer is its. */
    assert_null(
        take(&r, &f,
             "{\"type\":\"trace\",\"src\":\"5.5.5.5\",\"dst\":\"9.0.0.1\","
             "\"stop_reason\":\"COMPLETED\",\"hops\":[{\"addr\":\"1.0.0.1\",\"probe_ttl\":1}"
             ",{\"addr\":\"9.0.0.2\",\"probe_ttl\":255}]}"));
    assert_int_equal(r.count, 1);
    assert_int_equal(r.route[0].hops, 254);
    routes_free(&r);
}

static void addresses_have_one_spelling(void **state)
{
    struct routes r = {.count = 0};
    struct routes_file f;
    (void)state;
    routes_begin(&f, 1);
    assert_null(take(&r, &f, "1\tm\tx\t2001:DB8:0:0:0::1\t2\t0\t2001:0db8::1:0:0:2"));
    assert_string_equal(names_text(&r.nodes, r.route[0].target), "2001:db8::1");
    assert_string_equal(hop_text(&r, &r.route[0], 0), "2001:db8::1:0:0:2");
    routes_free(&r);
}

/* ---- bad lines ------------------------------------------------------------------------------ */

/* A line that must be refused, and nothing of it kept. */
static void refuse(const char *line, size_t len, const char *part)
{
    struct routes r = {.count = 0};
    struct routes_file f;
    routes_begin(&f, 1);
    f.line = 1; /* not the first line: no header */
    const char *why = routes_line(&r, &f, line, len);
    if (why == NULL || (part != NULL && strstr(why, part) == NULL)) {
        fail_msg("'%.60s': %s", line, why == NULL ? "accepted" : why);
    }
    assert_true(strlen(why) < sizeof f.why);
    assert_int_equal(r.count, 0);
    assert_int_equal(r.hops, 0);
    routes_free(&r);
}

static void wrong_lines_are_refused(void **state)
{
    static const char *const line[][2] = {
        {"x", "1 field, but 7"},
        {"\t\t\t\t\t\t", "the cycle"},
        {"1\tm\tx\t9.0.0.1\t2\t0", "6 fields"},
        {"1\tm\tx\t9.0.0.1\t2\t0\t1.0.0.1\t", "8 fields"},
        {"18446744073709551616\tm\tx\t9.0.0.1\t2\t0\t1.0.0.1", "the cycle"},
        {"1\tm\tx\t9.0.0.1\t0\t0\t", "dst_ttl"},
        {"1\tm\tx\t9.0.0.1\t2\t\t1.0.0.1", "pen_transit"},
        {"1\tm\tx\t9.0.0.1\t2\t--1\t1.0.0.1", "pen_transit"},
        {"1\tm\tx\t9.0.0.1\t2\t0\t1.0.0.1.1", "not an address"},
        {"1\tm\tx\t9.0.0.1\t2\t0\t**", "not an address"},
        {"1\tm\tx\t::1::\t2\t0\t1.0.0.1", "not an address"},
        {"{", "not JSON"},
        {"{}", "\"type\""},
        {"{\"type\":5}", "\"type\""},
        {"{\"type\":\"trace\"} {}", "not JSON"},
        {"{\"type\":\"trace\",\"type\":\"trace\"}", "not JSON"},
        {"{\"type\":\"trace\",\"dst\":5}", "\"dst\""},
        {"{\"type\":\"trace\",\"dst\":\"\",\"src\":\"1.1.1.1\"}", "not an address"},
        {"{\"type\":\"trace\",\"dst\":\"1.1.1.1\",\"src\":\"host\"}", "not an address"},
        {"{\"type\":\"trace\",\"dst\":\"1.1.1.1\",\"src\":\"1.1.1.2\",\"hops\":{}}", "not a list"},
        {"{\"type\":\"trace\",\"dst\":\"1.1.1.1\",\"src\":\"1.1.1.2\",\"hops\":[5]}", "probe_ttl"},
        {"{\"type\":\"trace\",\"dst\":\"1.1.1.1\",\"src\":\"1.1.1.2\",\"hops\":[[]]}", "probe_ttl"},
        {"{\"type\":\"trace\",\"dst\":\"1.1.1.1\",\"src\":\"1.1.1.2\",\"hops\":[{\"probe_ttl\":0}]"
         "}",
         "probe_ttl"},
        {"{\"type\":\"trace\",\"dst\":\"1.1.1.1\",\"src\":\"1.1.1.2\","
         "\"hops\":[{\"probe_ttl\":-5,\"addr\":\"1.1.1.1\"}]}",
         "probe_ttl"},
        {"{\"type\":\"trace\",\"dst\":\"1.1.1.1\",\"src\":\"1.1.1.2\","
         "\"hops\":[{\"probe_ttl\":9223372036854775807,\"addr\":\"1.1.1.1\"}]}",
         "probe_ttl"},
        {"{\"type\":\"trace\",\"dst\":\"1.1.1.1\",\"src\":\"1.1.1.2\","
         "\"hops\":[{\"probe_ttl\":1e2,\"addr\":\"1.1.1.1\"}]}",
         "probe_ttl"},
        {"{\"type\":\"trace\",\"dst\":\"1.1.1.1\",\"src\":\"1.1.1.2\",\"hops\":[{\"probe_ttl\":1}]"
         "}",
         "\"addr\""},
        {"{\"type\":\"cycle-start\",\"id\":-1}", "\"id\""},
        {"{\"type\":\"cycle-start\",\"id\":\"1\"}", "\"id\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        refuse(line[i][0], strlen(line[i][0]), line[i][1]);
    }
    static const char monitor[] = "1\tm\0n\tx\t9.0.0.1\t2\t0\t1.0.0.1";
    static const char address[] = "1\tm\tx\t9.0\0.1\t2\t0\t1.0.0.1";
    refuse(monitor, sizeof monitor - 1, "the monitor");
    refuse(address, sizeof address - 1, "not an address");
}

static void lines_cut_anywhere_do_no_harm(void **state)
{
    static const char tab[] = "1\tmonitor\tAS1\t9.0.0.1\t4\t12\t1.0.0.1 * 1.0.0.3";
    static const char json[] =
        "{\"type\":\"trace\",\"src\":\"5.5.5.5\",\"dst\":\"9.0.0.1\",\"hops\":["
        "{\"addr\":\"1.0.0.1\",\"probe_ttl\":1},{\"addr\":\"9.0.0.1\",\"probe_ttl\":2}]}";
    (void)state;
    for (size_t len = 1; len + 1 < sizeof tab; len++) {
        /* The address of the last hop may be cut and still be one; the TTL tells the others. */
        if (len < sizeof tab - 8) {
            char *copy = malloc(len); /* exactly as long, for the sanitizer */
            memcpy(copy, tab, len);
            refuse(copy, len, NULL);
            free(copy);
        }
    }
    for (size_t len = 1; len + 1 < sizeof json; len++) {
        char *copy = malloc(len);
        memcpy(copy, json, len);
        refuse(copy, len, "not JSON");
        free(copy);
    }
}

static void hostile_sizes_are_refused(void **state)
{
    size_t deep = 100000;
    char *line = malloc(ROUTE_LINE + 2);
    (void)state;
    assert_non_null(line);
    /* Nesting beyond what a stack would bear. */
    memset(line, '[', deep);
    memcpy(line, "{\"a\":", 5);
    refuse(line, deep, "not JSON");
    /* A line too long to look at. */
    memset(line, 'x', ROUTE_LINE + 1);
    refuse(line, ROUTE_LINE + 1, "16 MiB");
    /* More fields than any header has, more hops than a TTL allows. */
    memset(line, '\t', 1000);
    refuse(line, 1000, "64 or more fields");
    size_t used = (size_t)sprintf(line, "1\tm\tx\t9.0.0.1\t255\t0\t");
    for (int i = 0; i < 255; i++) {
        memcpy(line + used, "* ", 2);
        used += 2;
    }
    refuse(line, used, "more than 254 hops");
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_number_texts_in_order),
        cmocka_unit_test(a_tab_separated_route_is_read),
        cmocka_unit_test(a_header_names_the_columns),
        cmocka_unit_test(a_route_ends_where_its_destination_answers),
        cmocka_unit_test(json_says_which_cycle_and_monitor),
        cmocka_unit_test(incomplete_routes_are_counted_and_left_out),
        cmocka_unit_test(addresses_have_one_spelling),
        cmocka_unit_test(wrong_lines_are_refused),
        cmocka_unit_test(lines_cut_anywhere_do_no_harm),
        cmocka_unit_test(hostile_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

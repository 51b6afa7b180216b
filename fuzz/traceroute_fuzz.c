/*
 * traceroute_fuzz.c: the reader of measured routes, fed with any lines. What it accepts must keep
 * the promises of traceroute.h, and a line that is refused must leave the routes as they were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readers/traceroute.h"
#include "stopset/sightings.h"
#include "must.h"
#include "fail.h"

static void check_route(const struct routes *r, const struct route *route)
{
    MUST(route->hops <= ROUTE_HOPS);
    MUST(route->first + route->hops <= r->hops);
    MUST(route->monitor < r->monitors.count);
    MUST(route->target < r->nodes.count);
    for (uint32_t i = 0; i < route->hops; i++) {
        uint32_t node = r->hop[route->first + i];
        MUST(node == ROUTE_SILENT || node < r->nodes.count);
        MUST(node != route->target);
    }
}

static void check_names(const struct names *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        const char *text = names_text(names, i);
        MUST(text[0] != '\0');
        MUST(names_find(names, text, strlen(text)) == i);
    }
}

/* What a monitor of a stop set learns from the routes; a copy knows the same. */
static void check_sightings(const struct routes *r)
{
    struct sightings s = {.nodes = 0};
    struct sightings copy;
    MUST(sightings_grow(&s, r->nodes.count));
    for (size_t i = 0; i < r->count; i++) {
        sightings_route(&s, r, &r->route[i], 1);
    }
    MUST(sightings_copy(&copy, &s) && copy.nodes == s.nodes);
    for (uint32_t i = 0; i < s.nodes; i++) {
        MUST(s.ends[i] <= s.passes[i] && s.passes[i] <= (double)r->count);
        MUST(copy.ends[i] == s.ends[i] && copy.passes[i] == s.passes[i]);
    }
    MUST(sightings_bits(&s, &r->nodes) <= 128.0 * (double)sightings_members(&s));
    sightings_free(&s);
    sightings_free(&copy);
}

struct again {
    const struct routes *routes;
    const char *path;
    bool refused;
    bool plain;
};

/* The same lines from a file: if none was refused, the same routes. */
static bool read_again(const struct again *a)
{
    struct routes again = {.count = 0};
    int code = routes_read(&again, &a->path, 1);
    MUST(code != 0 || !a->plain || (!a->refused && again.count == a->routes->count));
    routes_free(&again);
    return code == 0;
}

static void read_failing(void *context)
{
    (void)read_again(context);
}

static void check_file(const struct routes *r, bool refused, const uint8_t *data, size_t size)
{
    char path[MUST_PATH];
    int fd = must_file(data, size, path);
    struct again again = {r, path, refused, must_be_plain(data, size)};
    MUST(read_again(&again) || refused || !again.plain);
    if (size % 8 == 0) {
        fail_each(read_failing, &again);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct routes r = {.count = 0};
    struct routes_file file;
    const uint8_t *const begin = data;
    const size_t whole = size;
    bool refused = false;
    routes_begin(&file, 1);
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t len = end == NULL ? size : (size_t)(end - data);
        struct routes before = r;
        /* A copy of its own, so that reading past the line is noticed. */
        char *exact = must_copy(data, len);
        const char *why = routes_line(&r, &file, exact, len);
        refused |= why != NULL;
        if (why != NULL) {
            MUST(why[0] != '\0' && strlen(why) < sizeof file.why);
            MUST(r.count == before.count && r.hops == before.hops);
            MUST(r.incomplete == before.incomplete);
        } else if (r.count > before.count) {
            MUST(r.count == before.count + 1);
            check_route(&r, &r.route[r.count - 1]);
        }
        free(exact);
        data += end == NULL ? len : len + 1;
        size -= end == NULL ? len : len + 1;
    }
    check_names(&r.nodes);
    check_names(&r.monitors);
    check_sightings(&r);
    check_file(&r, refused, begin, whole);
    routes_free(&r);
    return 0;
}

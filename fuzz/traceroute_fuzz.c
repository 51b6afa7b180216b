/*
 * traceroute_fuzz.c: the reader of measured routes, fed with any lines. What it accepts must keep
 * the promises of traceroute.h, and a line that is refused must leave the routes as they were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readers/traceroute.h"
#include "must.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct routes r = {.count = 0};
    struct routes_file file;
    routes_begin(&file, 1);
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t len = end == NULL ? size : (size_t)(end - data);
        struct routes before = r;
        /* A copy of its own, so that reading past the line is noticed. */
        char *exact = must_copy(data, len);
        const char *why = routes_line(&r, &file, exact, len);
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
    routes_free(&r);
    return 0;
}

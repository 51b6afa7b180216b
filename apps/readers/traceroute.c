/*
 * traceroute.c: lines to routes. Nothing of a line is kept unless all of it is sound; whatever the
 * line says, hops stay below ROUTE_HOPS and numbers within their limits.
 */
#define _POSIX_C_SOURCE 200809L
#include "readers/traceroute.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/say.h"
#include "readers/lines.h"
#include "shared/grow.h"

#define FIELDS LINE_COLUMNS

static const char *complain(struct routes_file *f, const char *what, struct piece p)
{
    return piece_wrong(p, what, f->why, sizeof f->why);
}

/* ---- numbers and addresses ------------------------------------------------------------------- */

/* A decimal number of at most 18 digits, with a sign if `negative` ones are allowed. */
static bool read_number(struct piece p, bool negative, int64_t *out)
{
    bool minus = negative && p.len > 0 && p.text[0] == '-';
    size_t at = minus ? 1 : 0;
    int64_t value = 0;
    if (p.len == at || p.len - at > 18) {
        return false;
    }
    for (; at < p.len; at++) {
        if (p.text[at] < '0' || p.text[at] > '9') {
            return false;
        }
        value = value * 10 + (p.text[at] - '0');
    }
    *out = minus ? -value : value;
    return true;
}

static const char *read_address(struct routes *r, struct routes_file *f, struct piece p,
                                uint32_t *node)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char bytes[16];
    int family = memchr(p.text, ':', p.len) != NULL ? AF_INET6 : AF_INET;
    if (piece_copy(p, text, sizeof text) && inet_pton(family, text, bytes) == 1 &&
        inet_ntop(family, bytes, text, sizeof text) != NULL) {
        return names_add(&r->nodes, text, strlen(text), node) ? NULL : LINES_NO_MEMORY;
    }
    return complain(f, "not an address", p);
}

/* ---- keeping a route ------------------------------------------------------------------------- */

bool routes_add(struct routes *r, struct route route, const uint32_t *hop, uint32_t hops)
{
    if (!grow(&r->route, &r->room, r->count + 1, sizeof *r->route) ||
        !grow(&r->hop, &r->hop_room, r->hops + hops + 1, sizeof *r->hop)) {
        return false;
    }
    memcpy(r->hop + r->hops, hop, hops * sizeof *hop);
    route.first = r->hops;
    route.hops = hops;
    r->hops += hops;
    r->route[r->count++] = route;
    return true;
}

/* Keep a route, up to where its destination answers. */
static const char *keep(struct routes *r, struct route route, const uint32_t *hop, uint32_t hops)
{
    uint32_t upto = 0;
    while (upto < hops && hop[upto] != route.target) {
        upto++;
    }
    return routes_add(r, route, hop, upto) ? NULL : LINES_NO_MEMORY;
}

/* ---- tab-separated --------------------------------------------------------------------------- */

static const char *const column_names[COLUMNS] = {
    [COLUMN_CYCLE] = "cycle", [COLUMN_MONITOR] = "monitor", [COLUMN_DST] = "dst",
    [COLUMN_HOPS] = "hops",   [COLUMN_TTL] = "dst_ttl",     [COLUMN_TRANSIT] = "pen_transit"};

static const char *read_header(struct routes_file *f, struct piece line)
{
    size_t column[COLUMNS];
    size_t count = line_columns(line, column_names, COLUMNS, column);
    if (count > LINE_COLUMNS) {
        return "the header names more than 64 columns";
    }
    for (size_t c = 0; c <= COLUMN_HOPS; c++) {
        if (column[c] == SIZE_MAX) {
            snprintf(f->why, sizeof f->why, "the header has no column '%s'", column_names[c]);
            return f->why;
        }
    }
    memcpy(f->column, column, sizeof column);
    f->width = count;
    return NULL;
}

static const char *read_hops(struct routes *r, struct routes_file *f, struct piece list,
                             uint32_t *hop, uint32_t *hops)
{
    const char *end = list.text + list.len;
    uint32_t count = 0;
    for (const char *at = list.text; at < end;) {
        const char *stop = memchr(at, ' ', (size_t)(end - at));
        struct piece p = {at, (size_t)((stop == NULL ? end : stop) - at)};
        at = stop == NULL ? end : stop + 1;
        if (p.len == 0) {
            continue;
        }
        if (count == ROUTE_HOPS) {
            return "more than 254 hops";
        }
        const char *why = NULL;
        hop[count] = ROUTE_SILENT;
        if (!piece_is(p, "*")) {
            why = read_address(r, f, p, &hop[count]);
        }
        if (why != NULL) {
            return why;
        }
        count++;
    }
    *hops = count;
    return NULL;
}

static const char *check_ttl(struct routes_file *f, const struct piece *field, uint32_t hops)
{
    int64_t ttl;
    if (f->column[COLUMN_TTL] == SIZE_MAX) {
        return NULL;
    }
    struct piece p = field[f->column[COLUMN_TTL]];
    if (!read_number(p, false, &ttl) || ttl < 1 || ttl > 255) {
        return complain(f, "dst_ttl is not a number from 1 to 255", p);
    }
    if (ttl != (int64_t)hops + 1) {
        snprintf(f->why, sizeof f->why, "dst_ttl is %" PRId64 ", but there are %" PRIu32 " hops",
                 ttl, hops);
        return f->why;
    }
    return NULL;
}

static const char *tab_line(struct routes *r, struct routes_file *f, struct piece line)
{
    struct piece field[FIELDS];
    struct route route = {.transit = ROUTE_NOT_GIVEN};
    uint32_t hop[ROUTE_HOPS];
    uint32_t hops = 0;
    int64_t cycle;
    size_t count = piece_split(line, '\t', field, FIELDS);
    if (count != f->width) {
        snprintf(f->why, sizeof f->why, "%zu%s field%s, but %zu are needed",
                 count > FIELDS ? (size_t)FIELDS : count, count > FIELDS ? " or more" : "",
                 SAY_S(count), f->width);
        return f->why;
    }
    struct piece p = field[f->column[COLUMN_CYCLE]];
    if (!read_number(p, false, &cycle)) {
        return complain(f, "the cycle is not a whole number", p);
    }
    route.cycle = (uint64_t)cycle;
    p = field[f->column[COLUMN_MONITOR]];
    if (p.len == 0 || memchr(p.text, '\0', p.len) != NULL) {
        return "the monitor has no name";
    }
    if (!names_add(&r->monitors, p.text, p.len, &route.monitor)) {
        return LINES_NO_MEMORY;
    }
    const char *why = read_address(r, f, field[f->column[COLUMN_DST]], &route.target);
    if (why == NULL) {
        why = read_hops(r, f, field[f->column[COLUMN_HOPS]], hop, &hops);
    }
    if (why == NULL) {
        why = check_ttl(f, field, hops);
    }
    if (why == NULL && f->column[COLUMN_TRANSIT] != SIZE_MAX) {
        p = field[f->column[COLUMN_TRANSIT]];
        if (!read_number(p, true, &route.transit)) {
            why = complain(f, "pen_transit is not a whole number", p);
        }
    }
    return why == NULL ? keep(r, route, hop, hops) : why;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static bool string_of(const json_t *object, const char *name, struct piece *out)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_string(value)) {
        return false;
    }
    out->text = json_string_value(value);
    out->len = json_string_length(value);
    return true;
}

static const char *cycle_start(struct routes *r, struct routes_file *f, const json_t *object)
{
    const json_t *id = json_object_get(object, "id");
    struct piece host;
    if (!json_is_integer(id) || json_integer_value(id) < 0) {
        return "a cycle-start without a whole number as its \"id\"";
    }
    f->cycle = (uint64_t)json_integer_value(id);
    f->monitor = NAMES_NONE;
    if (string_of(object, "hostname", &host) && host.len > 0 &&
        memchr(host.text, '\0', host.len) == NULL) {
        return names_add(&r->monitors, host.text, host.len, &f->monitor) ? NULL : LINES_NO_MEMORY;
    }
    return NULL;
}

/* The answers of a trace by TTL: the first one at each. *last is the highest TTL with an answer. */
static const char *answers(struct routes *r, struct routes_file *f, const json_t *list,
                           uint32_t *hop, uint32_t *last)
{
    size_t index;
    const json_t *item;
    *last = 0;
    for (size_t i = 0; i <= ROUTE_HOPS; i++) {
        hop[i] = ROUTE_SILENT;
    }
    json_array_foreach(list, index, item)
    {
        const json_t *ttl = json_object_get(item, "probe_ttl");
        struct piece address;
        uint32_t node;
        if (!json_is_integer(ttl) || json_integer_value(ttl) < 1 ||
            json_integer_value(ttl) > ROUTE_HOPS + 1) {
            return "a hop without a \"probe_ttl\" from 1 to 255";
        }
        if (!string_of(item, "addr", &address)) {
            return "a hop without an \"addr\"";
        }
        const char *why = read_address(r, f, address, &node);
        if (why != NULL) {
            return why;
        }
        uint32_t at = (uint32_t)json_integer_value(ttl);
        if (hop[at - 1] == ROUTE_SILENT) {
            hop[at - 1] = node;
        }
        *last = at > *last ? at : *last;
    }
    return NULL;
}

static const char *trace(struct routes *r, struct routes_file *f, const json_t *object)
{
    struct route route = {.cycle = f->cycle, .monitor = f->monitor, .transit = ROUTE_NOT_GIVEN};
    uint32_t hop[ROUTE_HOPS + 1];
    uint32_t last;
    uint32_t source;
    struct piece p;
    if (!string_of(object, "dst", &p)) {
        return "a trace without a \"dst\"";
    }
    const char *why = read_address(r, f, p, &route.target);
    if (why != NULL) {
        return why;
    }
    if (route.monitor == NAMES_NONE) {
        if (!string_of(object, "src", &p)) {
            return "a trace without a \"src\"";
        }
        why = read_address(r, f, p, &source);
        if (why != NULL) {
            return why;
        }
        const char *text = names_text(&r->nodes, source);
        if (!names_add(&r->monitors, text, strlen(text), &route.monitor)) {
            return LINES_NO_MEMORY;
        }
    }
    const json_t *list = json_object_get(object, "hops");
    if (list != NULL && !json_is_array(list)) {
        return "a trace whose \"hops\" are not a list";
    }
    why = answers(r, f, list, hop, &last);
    if (why != NULL) {
        return why;
    }
    uint32_t reached = 0;
    while (reached < last && hop[reached] != route.target) {
        reached++;
    }
    if (reached == last) {
        /* The destination may have answered from another of its addresses. */
        bool complete =
            last > 0 && string_of(object, "stop_reason", &p) && piece_is(p, "COMPLETED");
        if (!complete) {
            r->incomplete++;
            return NULL;
        }
        reached = last - 1;
    }
    return keep(r, route, hop, reached);
}

static const char *json_line(struct routes *r, struct routes_file *f, struct piece line)
{
    json_error_t error;
    struct piece type;
    const char *why = NULL;
    json_t *object = json_loadb(line.text, line.len, JSON_REJECT_DUPLICATES, &error);
    if (object == NULL) {
        snprintf(f->why, sizeof f->why, "not JSON: %.120s", error.text);
        return f->why;
    }
    if (!json_is_object(object) || !string_of(object, "type", &type)) {
        why = "not an object with a \"type\"";
    } else if (piece_is(type, "trace")) {
        why = trace(r, f, object);
    } else if (piece_is(type, "cycle-start")) {
        why = cycle_start(r, f, object);
    }
    /* What a complaint quotes was copied; the rest of scamper's objects are not about routes. */
    json_decref(object);
    return why;
}

/* ---- files ----------------------------------------------------------------------------------- */

void routes_begin(struct routes_file *f, uint64_t number)
{
    static const size_t usual[COLUMNS] = {
        [COLUMN_CYCLE] = 0, [COLUMN_MONITOR] = 1, [COLUMN_DST] = 3,
        [COLUMN_HOPS] = 6,  [COLUMN_TTL] = 4,     [COLUMN_TRANSIT] = 5};
    memset(f, 0, sizeof *f);
    memcpy(f->column, usual, sizeof usual);
    f->width = 7;
    f->cycle = number;
    f->monitor = NAMES_NONE;
}

const char *routes_line(struct routes *r, struct routes_file *f, const char *text, size_t len)
{
    struct piece line = {text, len};
    f->line++;
    if (len > ROUTE_LINE) {
        return "longer than 16 MiB";
    }
    enum line_sort sort = line_sort(f->line, &line);
    return sort == LINE_NOTHING  ? NULL
           : sort == LINE_NAMES  ? read_header(f, line)
           : line.text[0] == '{' ? json_line(r, f, line)
                                 : tab_line(r, f, line);
}

/* What a line goes to. */
struct reading {
    struct routes *routes;
    struct routes_file f;
};

static const char *read_line(void *ctx, const char *text, size_t len)
{
    struct reading *r = ctx;
    return routes_line(r->routes, &r->f, text, len);
}

static int read_one(void *ctx, const char *path, size_t number)
{
    struct reading *r = ctx;
    routes_begin(&r->f, number);
    return lines_read(path, read_line, r);
}

int routes_read(struct routes *r, const char *const *paths, size_t count)
{
    struct reading reading = {.routes = r};
    return lines_files(paths, count, read_one, &reading);
}

void routes_free(struct routes *r)
{
    free(r->route);
    free(r->hop);
    names_free(&r->nodes);
    names_free(&r->monitors);
    memset(r, 0, sizeof *r);
}

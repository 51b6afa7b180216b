/* sightings.c: nodes and how often they were seen, counted, added up, written and read. */
#include "stopset/sightings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "readers/lines.h"
#include "shared/grow.h"

bool sightings_grow(struct sightings *s, uint32_t nodes)
{
    if (!grow(&s->ends, &s->room[0], nodes, sizeof *s->ends) ||
        !grow(&s->passes, &s->room[1], nodes, sizeof *s->passes)) {
        return false;
    }
    for (; s->nodes < nodes; s->nodes++) {
        s->ends[s->nodes] = 0;
        s->passes[s->nodes] = 0;
    }
    return true;
}

void sightings_route(struct sightings *s, const struct routes *routes, const struct route *route,
                     double weight)
{
    const uint32_t *hop = routes->hop + route->first;
    for (uint32_t h = 0; h < route->hops; h++) {
        uint32_t earlier = 0;
        while (earlier < h && hop[earlier] != hop[h]) {
            earlier++; /* a loop passes a node once */
        }
        if (hop[h] != ROUTE_SILENT && earlier == h) {
            s->passes[hop[h]] += weight;
        }
    }
    if (route->hops > 0 && hop[route->hops - 1] != ROUTE_SILENT) {
        s->ends[hop[route->hops - 1]] += weight;
    }
}

bool sightings_copy(struct sightings *to, const struct sightings *from)
{
    *to = (struct sightings){.least = from->least};
    if (!sightings_grow(to, from->nodes)) {
        return false;
    }
    for (uint32_t i = 0; i < from->nodes; i++) {
        to->ends[i] = from->ends[i];
        to->passes[i] = from->passes[i];
    }
    return true;
}

void sightings_free(struct sightings *s)
{
    free(s->ends);
    free(s->passes);
    *s = (struct sightings){.nodes = 0};
}

uint64_t sightings_members(const struct sightings *s)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < s->nodes; i++) {
        count += sightings_member(s, i);
    }
    return count;
}

double sightings_address_bits(const struct names *nodes, uint32_t node)
{
    return strchr(names_text(nodes, node), ':') != NULL ? 128 : 32;
}

double sightings_bits(const struct sightings *s, const struct names *nodes)
{
    double bits = 0;
    for (uint32_t i = 0; i < s->nodes; i++) {
        bits += sightings_member(s, i) ? sightings_address_bits(nodes, i) : 0;
    }
    return bits;
}

/* ---- files ----------------------------------------------------------------------------------- */

void sightings_write(const struct sightings *s, const struct names *nodes, struct out *out)
{
    out_text(out, "# address\tends\tpasses\n");
    for (uint32_t i = 0; i < s->nodes; i++) {
        if (s->passes[i] > 0) {
            out_format(out, "%s\t%.10g\t%.10g\n", names_text(nodes, i), s->ends[i], s->passes[i]);
        }
    }
}

/* A count of routes: a number that is finite and not negative. */
static bool count_of(struct piece piece, double *out)
{
    char text[64];
    char *end;
    if (!piece_copy(piece, text, sizeof text) || text[0] < '0' || text[0] > '9' ||
        strspn(text, "0123456789.e+-") != piece.len) {
        return false;
    }
    *out = strtod(text, &end);
    return *end == '\0' && *out >= 0 && *out < 1e15;
}

const char *sightings_line(void *reader, const char *text, size_t len)
{
    struct sightings_reader *r = reader;
    struct piece line = {text, len};
    struct piece field[3];
    double ends;
    double passes;
    uint32_t node;
    if (line_sort(2, &line) == LINE_NOTHING) {
        return NULL;
    }
    if (piece_split(line, '\t', field, 3) != 3 || field[0].len == 0) {
        return "not an address, a tab, and two counts of routes (ends and passes)";
    }
    if (!count_of(field[1], &ends) || !count_of(field[2], &passes)) {
        return piece_wrong(field[1], "not two counts of routes, from", r->why, sizeof r->why);
    }
    if (ends > passes) {
        return "more routes end at the address than pass it";
    }
    if (memchr(field[0].text, '\0', field[0].len) != NULL) {
        return "a NUL byte in an address";
    }
    if (!names_add(r->nodes, field[0].text, field[0].len, &node) ||
        !sightings_grow(r->into, r->nodes->count)) {
        return LINES_NO_MEMORY;
    }
    r->into->ends[node] += ends;
    r->into->passes[node] += passes;
    r->lines++;
    return NULL;
}

/*
 * graph_parse.c: from bytes to a graph. Either form is first read into a draft, nodes and edges as
 * they come with the lines they came from, since GraphML may name a node before it is declared; the
 * draft then becomes a graph.
 */
#define _POSIX_C_SOURCE 200809L
#include "graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <expat.h>

#include "cli/say.h"
#include "input/source.h"

static const char no_memory[] = "out of memory";

/* ---- the draft ------------------------------------------------------------------------------- */

struct draft_node {
    bool declared;
    uint32_t label; /* in draft.labels, or NAMES_NONE */
    double x;
    double y;
};

struct draft_edge {
    uint32_t end[2]; /* in draft.ids */
    bool directed;
    bool dropped;
    uint64_t line;
};

struct draft {
    struct names ids; /* all that were mentioned */
    struct names labels;
    struct draft_node *node; /* by their numbers in ids */
    size_t node_room;
    uint32_t *declared; /* the numbers in ids, in the order of declaration */
    uint32_t declared_count;
    size_t declared_room;
    struct draft_edge *edge;
    uint32_t edges;
    size_t edge_room;
    struct graph_trouble *trouble;
};

static void draft_free(struct draft *d)
{
    names_free(&d->ids);
    names_free(&d->labels);
    free(d->node);
    free(d->declared);
    free(d->edge);
}

static bool trouble(struct draft *d, uint64_t line, const char *format, ...) SAY_FORMAT(3, 4);

/* Always false. */
static bool trouble(struct draft *d, uint64_t line, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    d->trouble->line = line;
    vsnprintf(d->trouble->why, sizeof d->trouble->why, format, list);
    va_end(list);
    return false;
}

/* The array with room for one more of `size` bytes; NULL: no memory, and the array is as it was. */
static void *grown(void *array, size_t *room, size_t used, size_t size)
{
    if (used < *room) {
        return array;
    }
    size_t more = *room == 0 ? 256 : *room * 2;
    void *larger = realloc(array, more * size);
    *room = larger == NULL ? *room : more;
    return larger;
}

/* At most 40 characters of a text, for errors. */
#define SHOWN(len) ((len) < 40 ? (int)(len) : 40)

/* The number of an id. */
static bool mention(struct draft *d, uint64_t line, const char *id, size_t len, uint32_t *number)
{
    if (len == 0 || len > GRAPH_TEXT) {
        return trouble(d, line, "the name of a node has %s characters",
                       len == 0 ? "no" : "more than 4096");
    }
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)id[i] < 0x20 || id[i] == 0x7f) {
            return trouble(d, line, "the name of a node has a control character");
        }
    }
    uint32_t before = d->ids.count;
    if (!names_add(&d->ids, id, len, number)) {
        return trouble(d, 0, no_memory);
    }
    if (d->ids.count > before) {
        struct draft_node *node = grown(d->node, &d->node_room, before, sizeof *node);
        if (node == NULL) {
            return trouble(d, 0, no_memory);
        }
        d->node = node;
        node[before] = (struct draft_node){.label = NAMES_NONE, .x = NAN, .y = NAN};
    }
    return true;
}

static bool declare(struct draft *d, uint32_t number)
{
    uint32_t *list = grown(d->declared, &d->declared_room, d->declared_count, sizeof *list);
    if (list == NULL) {
        return trouble(d, 0, no_memory);
    }
    d->declared = list;
    list[d->declared_count++] = number;
    d->node[number].declared = true;
    return true;
}

static bool add_edge(struct draft *d, struct draft_edge edge)
{
    if (d->edges == GRAPH_LINKS / 2) {
        return trouble(d, edge.line, "more than %" PRIu32 " edges", GRAPH_LINKS / 2);
    }
    struct draft_edge *list = grown(d->edge, &d->edge_room, d->edges, sizeof *list);
    if (list == NULL) {
        return trouble(d, 0, no_memory);
    }
    d->edge = list;
    list[d->edges++] = edge;
    return true;
}

/* ---- from the draft to the graph ------------------------------------------------------------- */

struct ranked {
    const char *label;
    uint32_t node;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    int order = strcmp(x->label, y->label);
    return order != 0 ? order : x->node < y->node ? -1 : x->node > y->node;
}

/* Ranks, and who shares a label. */
static bool rank_nodes(struct graph *g)
{
    struct ranked *list = malloc(((size_t)g->nodes + 1) * sizeof *list);
    if (list == NULL) {
        return false;
    }
    for (uint32_t v = 0; v < g->nodes; v++) {
        list[v].label = names_text(&g->labels, g->node[v].label);
        list[v].node = v;
    }
    qsort(list, g->nodes, sizeof *list, compare_ranked);
    for (uint32_t i = 0; i < g->nodes; i++) {
        struct graph_node *node = &g->node[list[i].node];
        node->rank = i;
        node->shared = (i > 0 && list[i - 1].label == list[i].label) ||
                       (i + 1 < g->nodes && list[i + 1].label == list[i].label);
    }
    free(list);
    return true;
}

/* The nodes in the order of their declaration. A node without a label is called by its id. */
static bool take_nodes(struct draft *d, struct graph *g)
{
    g->node = calloc((size_t)d->declared_count + 1, sizeof *g->node);
    if (g->node == NULL) {
        return trouble(d, 0, no_memory);
    }
    for (uint32_t i = 0; i < d->declared_count; i++) {
        const struct draft_node *from = &d->node[d->declared[i]];
        const char *id = names_text(&d->ids, d->declared[i]);
        const char *label = from->label == NAMES_NONE ? id : names_text(&d->labels, from->label);
        struct graph_node *node = &g->node[i];
        uint32_t number;
        if (!names_add(&g->ids, id, strlen(id), &number) ||
            !names_add(&g->labels, label, strlen(label), &node->label)) {
            return trouble(d, 0, no_memory);
        }
        node->x = from->x;
        node->y = from->y;
    }
    g->nodes = d->declared_count;
    return rank_nodes(g) || trouble(d, 0, no_memory);
}

/* By where they start, where they lead (`parallel` holds that node's rank), and as in the file. */
static int compare_links(const void *a, const void *b)
{
    const struct graph_link *x = a;
    const struct graph_link *y = b;
    if (x->from != y->from) {
        return x->from < y->from ? -1 : 1;
    }
    if (x->parallel != y->parallel) {
        return x->parallel < y->parallel ? -1 : 1;
    }
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static void sort_links(struct graph *g)
{
    for (uint32_t l = 0; l < g->links; l++) {
        g->link[l].parallel = g->node[g->link[l].to].rank;
        g->first[g->link[l].from + 1]++;
    }
    qsort(g->link, g->links, sizeof *g->link, compare_links);
    for (uint32_t v = 0; v < g->nodes; v++) {
        g->first[v + 1] += g->first[v];
    }
    for (uint32_t l = 0; l < g->links; l++) {
        bool again =
            l > 0 && g->link[l - 1].from == g->link[l].from && g->link[l - 1].to == g->link[l].to;
        g->link[l].parallel = again ? g->link[l - 1].parallel + 1 : 0;
    }
}

static bool take_edges(struct draft *d, struct graph *g)
{
    g->link = malloc(((size_t)d->edges * 2 + 1) * sizeof *g->link);
    g->first = calloc((size_t)g->nodes + 1, sizeof *g->first);
    if (g->link == NULL || g->first == NULL) {
        return trouble(d, 0, no_memory);
    }
    for (uint32_t e = 0; e < d->edges; e++) {
        const struct draft_edge *edge = &d->edge[e];
        uint32_t end[2];
        for (size_t i = 0; i < 2; i++) {
            const char *id = names_text(&d->ids, edge->end[i]);
            end[i] = names_find(&g->ids, id, strlen(id));
            if (end[i] == NAMES_NONE) {
                return trouble(d, edge->line, "the edge leads to node '%.*s', which is not there",
                               SHOWN(strlen(id)), id);
            }
        }
        if (edge->dropped || end[0] == end[1]) {
            g->loops += !edge->dropped;
            continue;
        }
        g->link[g->links++] = (struct graph_link){end[0], end[1], g->edges, 0};
        if (!edge->directed) {
            g->link[g->links++] = (struct graph_link){end[1], end[0], g->edges, 0};
        }
        g->edges++;
    }
    sort_links(g);
    return true;
}

static bool finish(struct draft *d, struct graph *g)
{
    if (d->declared_count == 0) {
        return trouble(d, 0, "there are no nodes in it");
    }
    return take_nodes(d, g) && take_edges(d, g);
}

/* ---- GraphML --------------------------------------------------------------------------------- */

/* What the <data> of a key means to us. */
enum role { ROLE_NONE, ROLE_LABEL, ROLE_X, ROLE_Y };

struct xml {
    XML_Parser parser;
    struct draft *draft;
    struct names keys;
    unsigned char *role; /* of every key */
    size_t role_room;
    uint32_t depth;
    uint32_t graphs;
    bool directed; /* what edges are that do not say */
    bool failed;
    uint32_t node;  /* the one we are in, or NAMES_NONE */
    enum role data; /* what the characters to come are */
    size_t used;
    char text[GRAPH_TEXT + 1];
};

static uint64_t xml_line(const struct xml *x)
{
    return (uint64_t)XML_GetCurrentLineNumber(x->parser);
}

/* Ends the parsing; the trouble has been noted. */
static void xml_stop(struct xml *x)
{
    x->failed = true;
    XML_StopParser(x->parser, XML_FALSE);
}

static void xml_fail(struct xml *x, const char *why)
{
    trouble(x->draft, xml_line(x), "%s", why);
    xml_stop(x);
}

static const char *attribute(const char *const *list, const char *name)
{
    for (; *list != NULL; list += 2) {
        if (strcmp(list[0], name) == 0) {
            return list[1];
        }
    }
    return NULL;
}

static void start_key(struct xml *x, const char *const *list)
{
    const char *id = attribute(list, "id");
    const char *name = attribute(list, "attr.name");
    const char *of = attribute(list, "for");
    uint32_t number;
    enum role role = ROLE_NONE;
    if (id == NULL) {
        xml_fail(x, "a <key> without an id");
        return;
    }
    if (name != NULL && (of == NULL || strcmp(of, "node") == 0 || strcmp(of, "all") == 0)) {
        role = strcmp(name, "label") == 0                                 ? ROLE_LABEL
               : strcmp(name, "Longitude") == 0 || strcmp(name, "x") == 0 ? ROLE_X
               : strcmp(name, "Latitude") == 0 || strcmp(name, "y") == 0  ? ROLE_Y
                                                                          : ROLE_NONE;
    }
    unsigned char *roles = grown(x->role, &x->role_room, x->keys.count, sizeof *roles);
    x->role = roles == NULL ? x->role : roles;
    if (roles == NULL || !names_add(&x->keys, id, strlen(id), &number)) {
        xml_fail(x, no_memory);
        return;
    }
    roles[number] = (unsigned char)role;
}

static void start_graph(struct xml *x, const char *const *list)
{
    const char *kind = attribute(list, "edgedefault");
    if (x->graphs++ > 0) {
        xml_fail(x, "a second <graph>: one network a file");
        return;
    }
    x->directed = kind != NULL && strcmp(kind, "directed") == 0;
    if (kind != NULL && !x->directed && strcmp(kind, "undirected") != 0) {
        xml_fail(x, "edgedefault is neither directed nor undirected");
    }
}

static void start_node(struct xml *x, const char *const *list)
{
    const char *id = attribute(list, "id");
    uint32_t number;
    if (id == NULL) {
        xml_fail(x, "a <node> without an id");
        return;
    }
    if (!mention(x->draft, xml_line(x), id, strlen(id), &number)) {
        xml_stop(x);
        return;
    }
    if (x->draft->node[number].declared) {
        trouble(x->draft, xml_line(x), "a second node with the id '%.*s'", SHOWN(strlen(id)), id);
        xml_stop(x);
        return;
    }
    x->node = number;
    if (!declare(x->draft, number)) {
        xml_stop(x);
    }
}

static void start_edge(struct xml *x, const char *const *list)
{
    const char *end[2] = {attribute(list, "source"), attribute(list, "target")};
    const char *directed = attribute(list, "directed");
    struct draft_edge edge = {.line = xml_line(x), .directed = x->directed};
    if (end[0] == NULL || end[1] == NULL) {
        xml_fail(x, "an <edge> without a source and a target");
        return;
    }
    if (directed != NULL) {
        edge.directed = strcmp(directed, "true") == 0 || strcmp(directed, "1") == 0;
    }
    for (size_t i = 0; i < 2; i++) {
        if (!mention(x->draft, edge.line, end[i], strlen(end[i]), &edge.end[i])) {
            xml_stop(x);
            return;
        }
    }
    if (!add_edge(x->draft, edge)) {
        xml_stop(x);
    }
}

static void start_data(struct xml *x, const char *const *list)
{
    const char *key = attribute(list, "key");
    uint32_t number = key == NULL ? NAMES_NONE : names_find(&x->keys, key, strlen(key));
    x->data = number == NAMES_NONE ? ROLE_NONE : (enum role)x->role[number];
    x->used = 0;
}

/* <graphml> <key/> <graph> <node> <data/> </node> <edge/> </graph> </graphml>; others are passed
 * over where they mean nothing to us, and refused where they would mean a different network. */
static void XMLCALL start(void *user, const XML_Char *name, const XML_Char **list)
{
    struct xml *x = user;
    const char *colon = strrchr(name, '|');
    const char *local = colon == NULL ? name : colon + 1;
    const char *const *attributes = (const char *const *)list;
    if (x->failed) {
        return;
    }
    uint32_t depth = ++x->depth;
    x->data = ROLE_NONE;
    if (depth > GRAPH_DEPTH) {
        xml_fail(x, "elements are nested more than 64 deep");
    } else if (depth == 1 && strcmp(local, "graphml") != 0) {
        trouble(x->draft, xml_line(x), "the document is <%.*s>, not <graphml>",
                SHOWN(strlen(local)), local);
        xml_stop(x);
    } else if (depth == 2 && strcmp(local, "key") == 0) {
        start_key(x, attributes);
    } else if (depth == 2 && strcmp(local, "graph") == 0) {
        start_graph(x, attributes);
    } else if (depth == 3 && strcmp(local, "node") == 0) {
        start_node(x, attributes);
    } else if (depth == 3 && strcmp(local, "edge") == 0) {
        start_edge(x, attributes);
    } else if (depth == 3 && strcmp(local, "hyperedge") == 0) {
        xml_fail(x, "a <hyperedge>: edges of two ends are understood");
    } else if (depth == 4 && strcmp(local, "graph") == 0) {
        xml_fail(x, "a <graph> within a <graph>: one network a file");
    } else if (depth == 4 && strcmp(local, "data") == 0 && x->node != NAMES_NONE) {
        start_data(x, attributes);
    }
}

static void XMLCALL characters(void *user, const XML_Char *text, int len)
{
    struct xml *x = user;
    if (x->failed || x->data == ROLE_NONE) {
        return;
    }
    if ((size_t)len > GRAPH_TEXT - x->used) {
        xml_fail(x, "the text of a <data> has more than 4096 bytes");
        return;
    }
    memcpy(x->text + x->used, text, (size_t)len);
    x->used += (size_t)len;
}

/* Runs of white space and control characters become one space, those at the ends go. */
static size_t tidy(char *text, size_t len)
{
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c > 0x20 && c != 0x7f) {
            text[used++] = (char)c;
        } else if (used > 0 && text[used - 1] != ' ') {
            text[used++] = ' ';
        }
    }
    return used > 0 && text[used - 1] == ' ' ? used - 1 : used;
}

/* A coordinate, or NaN for what is none. */
static double coordinate(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    return end != text && *end == '\0' && fabs(value) <= 1e9 ? value : (double)NAN;
}

static void end_data(struct xml *x)
{
    struct draft_node *node = &x->draft->node[x->node];
    size_t len = tidy(x->text, x->used);
    x->text[len] = '\0';
    if (x->data == ROLE_X) {
        node->x = coordinate(x->text);
    } else if (x->data == ROLE_Y) {
        node->y = coordinate(x->text);
    } else if (len > 0 && !names_add(&x->draft->labels, x->text, len, &node->label)) {
        xml_fail(x, no_memory);
    }
}

static void XMLCALL end(void *user, const XML_Char *name)
{
    struct xml *x = user;
    (void)name;
    if (x->failed) {
        return;
    }
    if (x->depth == 4 && x->data != ROLE_NONE) {
        end_data(x);
    }
    if (x->depth == 3) {
        x->node = NAMES_NONE;
    }
    x->data = ROLE_NONE;
    x->depth--;
}

/* Entities can only be declared in a document type, so refusing that ends all such tricks. */
static void XMLCALL doctype(void *user, const XML_Char *name, const XML_Char *system,
                            const XML_Char *public, int internal)
{
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    xml_fail(user, "a document type (<!DOCTYPE): it can declare entities, so it is refused");
}

static bool parse_xml(struct draft *d, const char *bytes, size_t len)
{
    struct xml *x = calloc(1, sizeof *x);
    if (x != NULL) {
        x->parser = XML_ParserCreateNS(NULL, '|');
    }
    if (x == NULL || x->parser == NULL) {
        free(x);
        return trouble(d, 0, no_memory);
    }
    x->draft = d;
    x->node = NAMES_NONE;
    XML_SetUserData(x->parser, x);
    XML_SetElementHandler(x->parser, start, end);
    XML_SetCharacterDataHandler(x->parser, characters);
    XML_SetStartDoctypeDeclHandler(x->parser, doctype);
    bool whole = XML_Parse(x->parser, bytes, (int)len, XML_TRUE) == XML_STATUS_OK;
    if (!whole && !x->failed) {
        trouble(d, xml_line(x), "not XML: %s", XML_ErrorString(XML_GetErrorCode(x->parser)));
    } else if (whole && x->graphs == 0) {
        whole = trouble(d, 0, "there is no <graph> in it");
    }
    XML_ParserFree(x->parser);
    names_free(&x->keys);
    free(x->role);
    free(x);
    return whole;
}

/* ---- tab-separated --------------------------------------------------------------------------- */

struct field {
    const char *text;
    size_t len;
};

struct tsv {
    struct draft *draft;
    const char *network;    /* the one to take, or NULL */
    struct names *networks; /* those there are */
    bool listing;           /* list the networks, take no edges */
    uint64_t line;
    size_t column[3]; /* of the two ends and of the network; SIZE_MAX: nowhere */
};

static bool field_is(struct field f, const char *word)
{
    return f.len == strlen(word) && memcmp(f.text, word, f.len) == 0;
}

/* The n-th field (from 0) of a line; false: it has fewer. */
static bool field_at(struct field line, size_t n, struct field *out)
{
    const char *at = line.text;
    const char *stop = line.text + line.len;
    for (;; n--) {
        const char *tab = at == stop ? NULL : memchr(at, '\t', (size_t)(stop - at));
        if (n == 0) {
            out->text = at;
            out->len = (size_t)((tab == NULL ? stop : tab) - at);
            return true;
        }
        if (tab == NULL) {
            return false;
        }
        at = tab + 1;
    }
}

/* Does the header name our columns? Otherwise it is a comment like others. */
static void read_header(struct tsv *t, struct field line)
{
    static const char *const words[3][3] = {
        {"u", "from", "source"}, {"v", "to", "target"}, {"asn", "network", "graph"}};
    size_t column[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    struct field f;
    do {
        line.text++;
        line.len--;
    } while (line.len > 0 && line.text[0] == ' ');
    for (size_t n = 0; n < 64 && field_at(line, n, &f); n++) {
        for (size_t c = 0; c < 3; c++) {
            for (size_t w = 0; w < 3; w++) {
                column[c] = column[c] == SIZE_MAX && field_is(f, words[c][w]) ? n : column[c];
            }
        }
    }
    if (column[0] != SIZE_MAX && column[1] != SIZE_MAX) {
        memcpy(t->column, column, sizeof column);
    }
}

static bool edge_line(struct tsv *t, struct field line)
{
    struct field f[3] = {{"", 0}, {"", 0}, {"", 0}};
    struct draft_edge edge = {.line = t->line};
    uint32_t number;
    for (size_t c = 0; c < 3; c++) {
        if (t->column[c] != SIZE_MAX && !field_at(line, t->column[c], &f[c])) {
            return trouble(t->draft, t->line, "column %zu is missing (columns are divided by tabs)",
                           t->column[c] + 1);
        }
    }
    if (t->column[2] != SIZE_MAX) {
        if (f[2].len == 0 || f[2].len > GRAPH_TEXT || memchr(f[2].text, '\0', f[2].len) != NULL) {
            return trouble(t->draft, t->line, "the network has no name");
        }
        if (!names_add(t->networks, f[2].text, f[2].len, &number)) {
            return trouble(t->draft, 0, no_memory);
        }
        if (t->network != NULL && !field_is(f[2], t->network)) {
            return true;
        }
    }
    for (size_t i = 0; i < 2 && !t->listing; i++) {
        if (!mention(t->draft, t->line, f[i].text, f[i].len, &edge.end[i]) ||
            (!t->draft->node[edge.end[i]].declared && !declare(t->draft, edge.end[i]))) {
            return false;
        }
    }
    return t->listing || add_edge(t->draft, edge);
}

/* By the pair of ends, in whatever direction, and as in the file. */
struct paired {
    uint64_t pair;
    uint32_t edge;
};

static int compare_paired(const void *a, const void *b)
{
    const struct paired *x = a;
    const struct paired *y = b;
    if (x->pair != y->pair) {
        return x->pair < y->pair ? -1 : 1;
    }
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

/* Of the edges between two nodes keep those of the direction that has more of them. */
static void drop_reverse(struct draft *d, const struct paired *list, uint32_t count)
{
    uint32_t up = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct draft_edge *e = &d->edge[list[i].edge];
        up += e->end[0] < e->end[1];
    }
    bool keep_up = up > count - up || (up == count - up &&
                                       d->edge[list[0].edge].end[0] < d->edge[list[0].edge].end[1]);
    for (uint32_t i = 0; i < count; i++) {
        struct draft_edge *e = &d->edge[list[i].edge];
        e->dropped = e->end[0] != e->end[1] && (e->end[0] < e->end[1]) != keep_up;
    }
}

static bool drop_reverses(struct draft *d)
{
    struct paired *list = malloc(((size_t)d->edges + 1) * sizeof *list);
    if (list == NULL) {
        return trouble(d, 0, no_memory);
    }
    for (uint32_t i = 0; i < d->edges; i++) {
        uint32_t a = d->edge[i].end[0];
        uint32_t b = d->edge[i].end[1];
        list[i].pair = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
        list[i].edge = i;
    }
    qsort(list, d->edges, sizeof *list, compare_paired);
    for (uint32_t i = 0, next; i < d->edges; i = next) {
        for (next = i; next < d->edges && list[next].pair == list[i].pair; next++) {
        }
        drop_reverse(d, list + i, next - i);
    }
    free(list);
    return true;
}

static bool check_networks(const struct tsv *t)
{
    const struct names *n = t->networks;
    if (t->network != NULL && n->count == 0) {
        return trouble(t->draft, 0, "the network '%.*s' is asked for, but no column names networks",
                       SHOWN(strlen(t->network)), t->network);
    }
    if (t->network != NULL && names_find(n, t->network, strlen(t->network)) == NAMES_NONE) {
        return trouble(t->draft, 0, "there is no network '%.*s' in it", SHOWN(strlen(t->network)),
                       t->network);
    }
    if (t->network == NULL && n->count > 1) {
        return trouble(t->draft, 0,
                       "there are %" PRIu32 " networks in it, '%.40s' and others: which one?",
                       n->count, names_text(n, 0));
    }
    return true;
}

static bool parse_tsv(struct tsv *t, const char *bytes, size_t len)
{
    const char *stop = bytes + len;
    bool begun = false;
    for (const char *at = bytes; at < stop;) {
        const char *end_of = memchr(at, '\n', (size_t)(stop - at));
        struct field line = {at, (size_t)((end_of == NULL ? stop : end_of) - at)};
        at = end_of == NULL ? stop : end_of + 1;
        t->line++;
        line.len -= line.len > 0 && line.text[line.len - 1] == '\r';
        if (line.len > 0 && line.text[0] == '#') {
            if (!begun) {
                read_header(t, line);
            }
        } else if (line.len > 0 && !edge_line(t, line)) {
            return false;
        }
        begun = begun || line.len > 0;
    }
    return t->listing || (check_networks(t) && drop_reverses(t->draft));
}

/* ---- both ------------------------------------------------------------------------------------ */

/* GraphML begins with <, perhaps after white space or the mark of an encoding. */
static enum graph_form guess(const char *bytes, size_t len)
{
    static const unsigned char marks[3][3] = {{0xef, 0xbb, 0xbf}, {0xff, 0xfe}, {0xfe, 0xff}};
    if (len >= 2 && (memcmp(bytes, marks[1], 2) == 0 || memcmp(bytes, marks[2], 2) == 0)) {
        return GRAPH_XML;
    }
    size_t at = len >= 3 && memcmp(bytes, marks[0], 3) == 0 ? 3 : 0;
    while (at < len && memchr(" \t\r\n", bytes[at], 4) != NULL) {
        at++;
    }
    return at < len && bytes[at] == '<' ? GRAPH_XML : GRAPH_TSV;
}

static bool parse_network(struct draft *d, enum graph_form form, const char *network,
                          const char *bytes, size_t len)
{
    struct names networks = {.count = 0};
    if (form == GRAPH_XML) {
        return network == NULL
                   ? parse_xml(d, bytes, len)
                   : trouble(d, 0, "a network is asked for, but GraphML has one a file");
    }
    struct tsv t = {
        .draft = d, .network = network, .networks = &networks, .column = {0, 1, SIZE_MAX}};
    bool good = parse_tsv(&t, bytes, len);
    names_free(&networks);
    return good;
}

bool graph_parse(struct graph *g, enum graph_form form, const char *network, const char *bytes,
                 size_t len, struct graph_trouble *why)
{
    struct draft d = {.trouble = why};
    if (len > GRAPH_BYTES) {
        return trouble(&d, 0, "more than 256 MiB");
    }
    form = form == GRAPH_GUESS ? guess(bytes, len) : form;
    bool good = parse_network(&d, form, network, bytes, len) && finish(&d, g);
    draft_free(&d);
    if (!good) {
        graph_free(g);
    }
    return good;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* All bytes of a file, at least one allocated. NULL after having said why. */
static char *read_all(const char *path, size_t *len)
{
    const char *why = NULL;
    const char *subject = strcmp(path, "-") == 0 ? "standard input" : path;
    struct source *s = source_open(path, false, &why);
    char *bytes = NULL;
    size_t room = 0;
    ssize_t got = 1;
    *len = 0;
    while (s != NULL && got > 0 && why == NULL) {
        if (*len == room) {
            room = room == 0 ? (size_t)1 << 16 : room * 2;
            char *larger = realloc(bytes, room);
            why = larger == NULL ? no_memory : NULL;
            bytes = larger == NULL ? bytes : larger;
        }
        if (why == NULL) {
            got = source_read(s, bytes + *len, room - *len);
            *len += got > 0 ? (size_t)got : 0;
            why = got < 0 ? source_why(s) : *len > GRAPH_BYTES ? "more than 256 MiB" : NULL;
        }
    }
    if (why != NULL) {
        say_error(NULL, subject, "%s", why);
        free(bytes);
        bytes = NULL;
    }
    source_close(s);
    return bytes;
}

static bool ends_in(const char *text, size_t len, const char *ending)
{
    size_t of = strlen(ending);
    return len >= of && memcmp(text + len - of, ending, of) == 0;
}

static enum graph_form form_of(const char *path, const char *bytes, size_t len)
{
    size_t name = strlen(path);
    name -= ends_in(path, name, ".gz") ? 3 : ends_in(path, name, ".zst") ? 4 : 0;
    return ends_in(path, name, ".graphml") || ends_in(path, name, ".xml") ? GRAPH_XML
                                                                          : guess(bytes, len);
}

static int say_trouble(const char *path, const struct graph_trouble *t)
{
    const char *subject = strcmp(path, "-") == 0 ? "standard input" : path;
    if (t->line == 0) {
        return say_error(NULL, subject, "%s", t->why);
    }
    return say_error(NULL, subject, "line %" PRIu64 ": %s", t->line, t->why);
}

int graph_read(struct graph *g, const char *path, const char *network)
{
    struct graph_trouble why;
    size_t len;
    char *bytes = read_all(path, &len);
    if (bytes == NULL) {
        return EXIT_TROUBLE;
    }
    bool good = graph_parse(g, form_of(path, bytes, len), network, bytes, len, &why);
    free(bytes);
    return good ? EXIT_YES : say_trouble(path, &why);
}

int graph_networks(struct names *networks, const char *path)
{
    struct graph_trouble why = {0, ""};
    struct draft d = {.trouble = &why};
    struct tsv t = {.draft = &d, .networks = networks, .listing = true, .column = {0, 1, SIZE_MAX}};
    size_t len;
    char *bytes = read_all(path, &len);
    if (bytes == NULL) {
        return EXIT_TROUBLE;
    }
    bool good = form_of(path, bytes, len) == GRAPH_XML || parse_tsv(&t, bytes, len);
    free(bytes);
    return good ? EXIT_YES : say_trouble(path, &why);
}

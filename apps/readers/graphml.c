/* graphml.c: networks in GraphML, by expat. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <expat.h>

#include "readers/graph_draft.h"
#include "shared/grow.h"
#include "system/late.h"

/* clang-format off */
#define EXPAT(X) \
    X(XML_ParserCreateNS) X(XML_ParserFree) X(XML_Parse) X(XML_StopParser) X(XML_SetUserData) \
    X(XML_SetElementHandler) X(XML_SetCharacterDataHandler) X(XML_SetStartDoctypeDeclHandler) \
    X(XML_GetCurrentLineNumber) X(XML_GetErrorCode) X(XML_ErrorString)
/* clang-format on */
LATE_LIBRARY(expat, EXPAT, "libexpat.so.1")

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
    return (uint64_t)expat.XML_GetCurrentLineNumber(x->parser);
}

/* Ends the parsing; the trouble has been noted. */
static void xml_stop(struct xml *x)
{
    x->failed = true;
    expat.XML_StopParser(x->parser, XML_FALSE);
}

static void xml_fail(struct xml *x, const char *why)
{
    draft_trouble(x->draft, xml_line(x), "%s", why);
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
    if (!grow(&x->role, &x->role_room, (size_t)x->keys.count + 1, sizeof *x->role) ||
        !names_add(&x->keys, id, strlen(id), &number)) {
        xml_fail(x, LINES_NO_MEMORY);
        return;
    }
    x->role[number] = (unsigned char)role;
}

static void start_graph(struct xml *x, const char *const *list)
{
    const char *kind = attribute(list, "edgedefault");
    if (x->graphs++ > 0) {
        xml_fail(x, "a second <graph>: only one network per file is supported");
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
    if (!draft_mention(x->draft, xml_line(x), id, strlen(id), &number)) {
        xml_stop(x);
        return;
    }
    if (x->draft->node[number].declared) {
        draft_trouble(x->draft, xml_line(x), "a second node with the id '%.*s'", SHOWN(strlen(id)),
                      id);
        xml_stop(x);
        return;
    }
    x->node = number;
    if (!draft_declare(x->draft, number)) {
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
        if (!draft_mention(x->draft, edge.line, end[i], strlen(end[i]), &edge.end[i])) {
            xml_stop(x);
            return;
        }
    }
    if (!draft_edge_add(x->draft, edge)) {
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
        draft_trouble(x->draft, xml_line(x), "the document is <%.*s>, not <graphml>",
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
        xml_fail(x, "a <hyperedge>: only edges between two nodes are supported");
    } else if (depth == 4 && strcmp(local, "graph") == 0) {
        xml_fail(x, "a <graph> within a <graph>: only one network per file is supported");
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
        xml_fail(x, LINES_NO_MEMORY);
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

bool graphml_parse(struct draft *d, const char *bytes, size_t len)
{
    if (!expat_load()) {
        return draft_trouble(d, 0, "GraphML is read with libexpat.so.1, which is not installed");
    }
    struct xml *x = calloc(1, sizeof *x);
    if (x != NULL) {
        x->parser = expat.XML_ParserCreateNS(NULL, '|');
    }
    if (x == NULL || x->parser == NULL) {
        free(x);
        return draft_trouble(d, 0, LINES_NO_MEMORY);
    }
    x->draft = d;
    x->node = NAMES_NONE;
    expat.XML_SetUserData(x->parser, x);
    expat.XML_SetElementHandler(x->parser, start, end);
    expat.XML_SetCharacterDataHandler(x->parser, characters);
    expat.XML_SetStartDoctypeDeclHandler(x->parser, doctype);
    bool whole = expat.XML_Parse(x->parser, bytes, (int)len, XML_TRUE) == XML_STATUS_OK;
    if (!whole && !x->failed) {
        enum XML_Error error = expat.XML_GetErrorCode(x->parser);
        draft_trouble(d, xml_line(x), "not XML: %s", expat.XML_ErrorString(error));
    } else if (whole && x->graphs == 0) {
        whole = draft_trouble(d, 0, "it contains no <graph>");
    }
    expat.XML_ParserFree(x->parser);
    names_free(&x->keys);
    free(x->role);
    free(x);
    return whole;
}

/*
 * graph_parse.c: from bytes to a graph. Either form is first read into a draft, which then becomes
 * the graph.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "input/source.h"
#include "readers/graph_draft.h"
#include "readers/lines.h"
#include "shared/grow.h"

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
                   ? graphml_parse(d, bytes, len)
                   : draft_trouble(
                         d, 0, "GraphML has one network per file, so none can be selected by name");
    }
    bool good = edge_list_parse(d, network, &networks, false, bytes, len);
    names_free(&networks);
    return good;
}

bool graph_parse(struct graph *g, enum graph_form form, const char *network, const char *bytes,
                 size_t len, struct graph_trouble *why)
{
    struct draft d = {.trouble = why};
    if (len > GRAPH_BYTES) {
        return draft_trouble(&d, 0, "more than 256 MiB");
    }
    form = form == GRAPH_GUESS ? guess(bytes, len) : form;
    bool good = parse_network(&d, form, network, bytes, len) && draft_finish(&d, g);
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
    const char *subject = lines_subject(path);
    struct source *s = source_open(path, false, &why);
    char *bytes = NULL;
    size_t room = 0;
    ssize_t got = 1;
    *len = 0;
    while (s != NULL && got > 0 && why == NULL) {
        why = grow(&bytes, &room, *len + 1, 1) ? NULL : LINES_NO_MEMORY;
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
    const char *subject = lines_subject(path);
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
    size_t len;
    char *bytes = read_all(path, &len);
    if (bytes == NULL) {
        return EXIT_TROUBLE;
    }
    bool good = form_of(path, bytes, len) == GRAPH_XML ||
                edge_list_parse(&d, NULL, networks, true, bytes, len);
    free(bytes);
    return good ? EXIT_YES : say_trouble(path, &why);
}

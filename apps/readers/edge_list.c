/* edge_list.c: networks in lines of two ends and perhaps a network's name, between tabs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "readers/graph_draft.h"
#include "readers/lines.h"

struct tsv {
    struct draft *draft;
    const char *network;    /* the one to take, or NULL */
    struct names *networks; /* those there are */
    bool listing;           /* list the networks, take no edges */
    uint64_t line;
    size_t column[3];   /* of the two ends and of the network; SIZE_MAX: nowhere */
    bool named;         /* the file says so itself */
    uint64_t text;      /* characters in columns */
    uint64_t not_taken; /* of them, in columns that nothing says are of use */
};

/* Does the header name our columns? Otherwise it is a comment like others. */
static void read_header(struct tsv *t, struct piece line)
{
    static const char *const words[3][3] = {
        {"u", "from", "source"}, {"v", "to", "target"}, {"asn", "network", "graph"}};
    size_t column[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    struct piece f[LINE_COLUMNS];
    do {
        line.text++;
        line.len--;
    } while (line.len > 0 && line.text[0] == ' ');
    size_t count = piece_split(line, '\t', f, LINE_COLUMNS);
    for (size_t n = 0; n < count && n < LINE_COLUMNS; n++) {
        for (size_t c = 0; c < 3; c++) {
            for (size_t w = 0; w < 3; w++) {
                column[c] = column[c] == SIZE_MAX && piece_is(f[n], words[c][w]) ? n : column[c];
            }
        }
    }
    if (column[0] != SIZE_MAX && column[1] != SIZE_MAX) {
        memcpy(t->column, column, sizeof column);
        t->named = true;
    }
}

static bool edge_line(struct tsv *t, struct piece line)
{
    struct piece field[LINE_COLUMNS];
    struct piece f[3] = {{"", 0}, {"", 0}, {"", 0}};
    struct draft_edge edge = {.line = t->line};
    uint32_t number;
    size_t count = piece_split(line, '\t', field, LINE_COLUMNS);
    t->text += line.len + 1 - count;
    t->not_taken +=
        count > 2 && !t->named ? (uint64_t)(line.text + line.len - field[2].text) - (count - 3) : 0;
    for (size_t c = 0; c < 3; c++) {
        if (t->column[c] != SIZE_MAX && t->column[c] >= count) {
            return draft_trouble(t->draft, t->line,
                                 "column %zu is missing (columns are separated by tabs)",
                                 t->column[c] + 1);
        }
        f[c] = t->column[c] != SIZE_MAX ? field[t->column[c]] : f[c];
    }
    if (t->column[2] != SIZE_MAX) {
        if (f[2].len == 0 || f[2].len > GRAPH_TEXT || memchr(f[2].text, '\0', f[2].len) != NULL) {
            return draft_trouble(t->draft, t->line, "the network has no name");
        }
        if (!names_add(t->networks, f[2].text, f[2].len, &number)) {
            return draft_trouble(t->draft, 0, LINES_NO_MEMORY);
        }
        if (t->network != NULL && !piece_is(f[2], t->network)) {
            return true;
        }
    }
    for (size_t i = 0; i < 2 && !t->listing; i++) {
        if (!draft_mention(t->draft, t->line, f[i].text, f[i].len, &edge.end[i]) ||
            (!t->draft->node[edge.end[i]].declared && !draft_declare(t->draft, edge.end[i]))) {
            return false;
        }
        t->draft->node[edge.end[i]].end[i] = true;
    }
    return t->listing || draft_edge_add(t->draft, edge);
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
        return draft_trouble(d, 0, LINES_NO_MEMORY);
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

/* Is it a list of edges at all? Other tables have names in their first two columns, too. */
#define MOST_NOT_TAKEN 0.5
#define FEW_EDGES      8

static bool check_sense(const struct tsv *t)
{
    struct draft *d = t->draft;
    uint32_t edges = 0;
    for (uint32_t i = 0; i < d->edges; i++) {
        edges += !d->edge[i].dropped && d->edge[i].end[0] != d->edge[i].end[1];
    }
    if ((double)t->not_taken > MOST_NOT_TAKEN * (double)t->text) {
        return draft_trouble(d, 0,
                             "%.0f %% of it is not understood: it is beyond the second column; if "
                             "it is a list of edges, name the columns in a first line: #u, a tab, "
                             "v",
                             100 * (double)t->not_taken / (double)t->text);
    }
    if (edges >= FEW_EDGES && d->declared_count == 2 * edges) {
        return draft_trouble(d, 0,
                             "no two of its %" PRIu32 " edges have a node in common: it is not a "
                             "list of edges, or its columns must be named in a first line: #u, a "
                             "tab, v",
                             edges);
    }
    return true;
}

/*
 * Are the columns of two sorts, as authors and papers are? In a network some node is an end of one
 * edge and the beginning of another, but for stars and those of few edges.
 */
static bool are_two_sorts(const struct tsv *t)
{
    const struct draft *d = t->draft;
    uint32_t in[2] = {0, 0};
    for (uint32_t i = 0; i < d->declared_count; i++) {
        const struct draft_node *node = &d->node[d->declared[i]];
        if (node->end[0] && node->end[1]) {
            return false;
        }
        in[0] += node->end[0];
        in[1] += node->end[1];
    }
    return !t->named && d->edges >= FEW_EDGES && in[0] > 1 && in[1] > 1;
}

static bool check_networks(const struct tsv *t)
{
    const struct names *n = t->networks;
    if (t->network != NULL && n->count == 0) {
        return draft_trouble(t->draft, 0, "no column names networks, so '%.*s' cannot be selected",
                             SHOWN(strlen(t->network)), t->network);
    }
    if (t->network != NULL && names_find(n, t->network, strlen(t->network)) == NAMES_NONE) {
        return draft_trouble(t->draft, 0, "it contains no network '%.*s'",
                             SHOWN(strlen(t->network)), t->network);
    }
    if (t->network == NULL && n->count > 1) {
        return draft_trouble(t->draft, 0,
                             "it contains %" PRIu32 " networks, '%.40s' and others: choose one "
                             "with --network",
                             n->count, names_text(n, 0));
    }
    return true;
}

bool edge_list_parse(struct draft *d, const char *network, struct names *networks, bool listing,
                     const char *bytes, size_t len)
{
    struct tsv t = {.draft = d,
                    .network = network,
                    .networks = networks,
                    .listing = listing,
                    .column = {0, 1, SIZE_MAX}};
    const char *stop = bytes + len;
    bool begun = false;
    for (const char *at = bytes; at < stop;) {
        const char *end_of = memchr(at, '\n', (size_t)(stop - at));
        struct piece line = {at, (size_t)((end_of == NULL ? stop : end_of) - at)};
        at = end_of == NULL ? stop : end_of + 1;
        t.line++;
        line.len -= line.len > 0 && line.text[line.len - 1] == '\r';
        if (line.len > 0 && line.text[0] == '#') {
            if (!begun) {
                read_header(&t, line);
            }
        } else if (line.len > 0 && !edge_line(&t, line)) {
            return false;
        }
        begun = begun || line.len > 0;
    }
    d->two_sorts = are_two_sorts(&t);
    d->not_taken = t.text == 0 ? 0 : (double)t.not_taken / (double)t.text;
    return t.listing || (check_networks(&t) && drop_reverses(d) && check_sense(&t));
}

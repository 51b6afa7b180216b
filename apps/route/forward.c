/*
 * forward.c: `tepal app forward`: packets as nodes forward them, by the masks of their links alone.
 * Reads the tables and headers that `tepal app route` writes (tables.h) and says where each packet
 * goes.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "output/report.h"
#include "readers/lines.h"
#include "route/links.h"
#include "route/tables.h"
#include "route/walk.h"
#include "shared/grow.h"

#define DEFAULT_TTL 64

/* A header, and where it begins and is to end. */
struct header {
    uint32_t from;
    uint32_t part; /* of its path */
    uint32_t salt;
    size_t first; /* its receivers, in app.to */
    uint32_t count;
    uint64_t words[TEPAL_MAX_HEADER_WORDS];
};

struct forward_app {
    const struct args *args;
    struct tables tables;
    struct walk walk;
    const struct header *now; /* the packet under way */
    struct header *header;
    size_t headers;
    size_t header_room;
    uint32_t *to;
    size_t to_count;
    size_t to_room;
    uint32_t *link; /* that a packet crosses, in order */
    uint64_t line;
    char why[512];
    struct report report;
    uint64_t arrived;
    uint64_t only; /* of these, nowhere else */
    uint64_t loops;
};

/* Where one packet went. */
struct journey {
    uint32_t links;
    uint32_t ends;  /* nodes where nothing matches any more */
    uint32_t found; /* receivers that it comes to */
    bool loop;
    double crossings;
    double expired;
};

static const char *name_of(const struct graph *g, uint32_t node, char room[GRAPH_NAME_ROOM])
{
    (void)room;
    return names_text(&g->ids, node);
}

/* ---- headers --------------------------------------------------------------------------------- */

static const char *find_node(struct forward_app *app, struct piece name, uint32_t *node)
{
    *node = names_find(&app->tables.graph.ids, name.text, name.len);
    return *node != NAMES_NONE
               ? NULL
               : piece_wrong(name, "the tables have no such node", app->why, sizeof app->why);
}

static const char *whole_of(struct piece text, uint32_t most, uint32_t *value)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < text.len && sum <= most; i++) {
        if (text.text[i] < '0' || text.text[i] > '9') {
            return "a number is wrong";
        }
        sum = sum * 10 + (uint64_t)(text.text[i] - '0');
    }
    *value = (uint32_t)sum;
    return text.len == 0 || sum > most ? "a number is wrong" : NULL;
}

static const char *add_header(struct forward_app *app, struct piece from, uint32_t part,
                              struct piece salt, struct piece hex)
{
    if (!grow(&app->header, &app->header_room, app->headers + 1, sizeof *app->header)) {
        return LINES_NO_MEMORY;
    }
    struct header *h = &app->header[app->headers];
    memset(h, 0, sizeof *h);
    h->part = part;
    h->first = app->to_count;
    const char *why = find_node(app, from, &h->from);
    why = why == NULL ? whole_of(salt, UINT32_MAX - 1, &h->salt) : why;
    if (why == NULL && h->salt >= app->tables.salts) {
        snprintf(app->why, sizeof app->why,
                 "salt %" PRIu32 ", but the tables have %" PRIu32 " salt%s", h->salt,
                 app->tables.salts, SAY_S(app->tables.salts));
        return app->why;
    }
    why = why == NULL ? tables_words(&app->tables.layout, hex.text, hex.len, h->words) : why;
    app->headers += why == NULL;
    return why;
}

static const char *add_to(struct forward_app *app, struct piece name)
{
    uint32_t node;
    const char *why = find_node(app, name, &node);
    if (why == NULL && !grow(&app->to, &app->to_room, app->to_count + 1, sizeof *app->to)) {
        why = LINES_NO_MEMORY;
    }
    if (why == NULL) {
        app->to[app->to_count++] = node;
        app->header[app->headers - 1].count++;
    }
    return why;
}

/* from, part, salt, header, to ... */
static const char *header_line(void *ctx, const char *text, size_t len)
{
    struct forward_app *app = ctx;
    struct piece line = {text, len};
    struct piece field[LINE_COLUMNS];
    uint32_t part;
    if (line_sort(2, &line) != LINE_VALUES) {
        return NULL;
    }
    size_t count = piece_split(line, '\t', field, LINE_COLUMNS);
    if (count < 5 || count > LINE_COLUMNS) {
        return "a line has a sender, a part, a salt, a header and 1 to 60 receivers, with tabs "
               "between them";
    }
    const char *why = whole_of(field[1], UINT32_MAX - 1, &part);
    why = why == NULL ? add_header(app, field[0], part, field[2], field[3]) : why;
    for (size_t i = 4; i < count && why == NULL; i++) {
        why = add_to(app, field[i]);
    }
    return why;
}

/* --from NODE --header [SALT:]HEX, and --to. */
static int said_header(struct forward_app *app)
{
    const struct args *args = app->args;
    const char *from = args_text(args, "from", 0);
    const char *hex = args_text(args, "header", 0);
    const char *to;
    if (from == NULL || hex == NULL) {
        return args_error(args, "give HEADERS, or --from NODE and --header HEX");
    }
    if (args_text(args, "from", 1) != NULL || args_text(args, "header", 1) != NULL) {
        return args_error(args, "--from and --header can be given once only");
    }
    const char *colon = strchr(hex, ':');
    struct piece salt = {colon == NULL ? "0" : hex, colon == NULL ? 1 : (size_t)(colon - hex)};
    hex = colon == NULL ? hex : colon + 1;
    const char *why = add_header(app, (struct piece){from, strlen(from)}, 1, salt,
                                 (struct piece){hex, strlen(hex)});
    for (size_t i = 0; why == NULL && (to = args_text(args, "to", i)) != NULL; i++) {
        why = add_to(app, (struct piece){to, strlen(to)});
    }
    return why == NULL ? EXIT_YES : args_error(args, "%s", why);
}

static int read_all(struct forward_app *app)
{
    const struct args *args = app->args;
    const char *path = args->operand[0];
    int code = lines_read(path, tables_line, &app->tables);
    if (code != EXIT_YES) {
        return code;
    }
    const char *why = app->tables.line == 0 ? "it is empty" : tables_finish(&app->tables);
    if (why != NULL) {
        return say_error(NULL, lines_subject(path), "%s", why);
    }
    if (args->operands == 1) {
        return said_header(app);
    }
    if (arg(args, "from")->given || arg(args, "header")->given || arg(args, "to")->given) {
        return args_error(args, "HEADERS says where packets go: do not give --from, --header or "
                                "--to as well");
    }
    code = lines_read(args->operand[1], header_line, app);
    return code == EXIT_YES && app->headers == 0
               ? say_error(NULL, lines_subject(args->operand[1]), "it contains no headers")
               : code;
}

/* ---- packets --------------------------------------------------------------------------------- */

static void ask(void *ctx, uint32_t node, bool *matched)
{
    struct forward_app *app = ctx;
    const struct graph *g = &app->tables.graph;
    for (uint32_t l = g->first[node]; l < g->first[node + 1]; l++) {
        matched[l] = tepal_header_match(&app->tables.layout, app->now->words,
                                        tables_mask(&app->tables, l, app->now->salt));
    }
}

/* The crossed links, branch by branch, until a branch comes to a node that was listed. */
static uint32_t list_links(struct forward_app *app)
{
    const struct graph *g = &app->tables.graph;
    uint32_t *next = app->walk.queue; /* of every node: the link to be listed next */
    uint32_t count = 0;
    for (uint32_t i = 0; i < app->walk.reached_count; i++) {
        next[app->walk.reached[i]] = g->first[app->walk.reached[i]];
    }
    for (uint32_t i = 0; i < app->walk.reached_count;) {
        uint32_t start = app->walk.reached[i];
        for (uint32_t v = start; next[v] < g->first[v + 1];) {
            uint32_t l = next[v]++;
            if (app->walk.matched[l]) {
                app->link[count++] = l;
                v = g->link[l].to;
            }
        }
        i += next[start] == g->first[start + 1];
    }
    return count;
}

/* Does nothing match any more at this node? */
static bool ends_at(const struct forward_app *app, uint32_t node)
{
    const struct graph *g = &app->tables.graph;
    uint32_t l = g->first[node];
    while (l < g->first[node + 1] && !app->walk.matched[l]) {
        l++;
    }
    return l == g->first[node + 1];
}

static void send(struct forward_app *app, const struct header *h, struct journey *j)
{
    memset(j, 0, sizeof *j);
    app->now = h;
    walk_spread(&app->walk, h->from, ask, app);
    walk_count(&app->walk, (uint32_t)arg_whole(app->args, "ttl", DEFAULT_TTL), &j->crossings,
               &j->expired);
    j->loop = walk_loops(&app->walk);
    j->links = list_links(app);
    for (uint32_t i = 0; i < app->walk.reached_count; i++) {
        j->ends += ends_at(app, app->walk.reached[i]);
    }
    for (uint32_t t = 0; t < h->count; t++) {
        j->found += app->walk.came[app->to[h->first + t]] == app->walk.packet;
    }
    bool arrived = j->found == h->count;
    app->arrived += arrived;
    app->only += arrived && !j->loop && j->ends <= (h->count == 0 ? 1 : h->count);
    app->loops += j->loop;
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* The nodes where copies end. */
static void tell_ends(struct forward_app *app)
{
    struct report *r = &app->report;
    const struct graph *g = &app->tables.graph;
    bool first = true;
    report_list(r, "ends");
    for (uint32_t i = 0; i < app->walk.reached_count; i++) {
        uint32_t v = app->walk.reached[i];
        if (ends_at(app, v)) {
            report_text(r, NULL, names_text(&g->ids, v), JSON_ONLY);
            report_line(r, "%s%s", first ? "" : ", ", names_text(&g->ids, v));
            first = false;
        }
    }
    report_end(r);
    report_line(r, first ? "nowhere\n" : "\n");
}

static void tell_json(struct forward_app *app, const struct header *h, const struct journey *j)
{
    struct report *r = &app->report;
    const struct graph *g = &app->tables.graph;
    report_object(r, NULL);
    report_text(r, "from", names_text(&g->ids, h->from), JSON_ONLY);
    report_list(r, "to");
    for (uint32_t t = 0; t < h->count; t++) {
        report_text(r, NULL, names_text(&g->ids, app->to[h->first + t]), JSON_ONLY);
    }
    report_end(r);
    report_whole(r, "part", h->part, JSON_ONLY);
    report_whole(r, "salt", h->salt, JSON_ONLY);
    report_list(r, "links");
    for (uint32_t i = 0; i < j->links; i++) {
        report_list(r, NULL);
        report_text(r, NULL, names_text(&g->ids, g->link[app->link[i]].from), JSON_ONLY);
        report_text(r, NULL, names_text(&g->ids, g->link[app->link[i]].to), JSON_ONLY);
        report_end(r);
    }
    report_end(r);
    tell_ends(app);
    report_whole(r, "arrived", j->found, JSON_ONLY);
    report_real(r, "crossings", j->crossings, JSON_ONLY);
    report_real(r, "expired", j->expired, JSON_ONLY);
    report_flag(r, "loop", j->loop, JSON_ONLY);
    report_end(r);
}

static void tell_row(struct forward_app *app, const struct header *h, const struct journey *j)
{
    struct report *r = &app->report;
    const struct graph *g = &app->tables.graph;
    report_object(r, NULL);
    report_text(r, "from", names_text(&g->ids, h->from), column("from", -20, NULL));
    report_text(r, "to", h->count == 0 ? NULL : names_text(&g->ids, app->to[h->first]),
                column("to", -20, NULL));
    report_whole(r, "part", h->part, column("part", 5, NULL));
    report_whole(r, "receivers", h->count, TSV_ONLY);
    report_whole(r, "arrived", j->found, column("arrived", 8, NULL));
    report_whole(r, "links", j->links, column("links", 6, NULL));
    report_whole(r, "ends", j->ends, column("ends", 5, NULL));
    report_real(r, "crossings", j->crossings, column("crossings", 10, "%.6g"));
    report_text(r, "loop", j->loop ? "yes" : "no", column("loop", 5, NULL));
    report_end(r);
}

static void print_one(struct forward_app *app, const struct header *h, const struct journey *j)
{
    struct report *r = &app->report;
    const struct graph *g = &app->tables.graph;
    report_line(r, "%-11s%s\n%-11s", "from", names_text(&g->ids, h->from), "by");
    if (j->links == 0) {
        report_line(r, "no link\n");
    } else {
        links_print(r->out, g, name_of, app->link, j->links);
    }
    report_line(r, "%-11s", "ends at");
    tell_ends(app);
    report_line(r, "%-11s%" PRIu32 ", crossed ", "links", j->links);
    report_line(r, j->crossings == 1 ? "once\n" : "%.6g times\n", j->crossings);
    if (j->loop) {
        report_line(r, "%-11sit comes back to where it was; %.6g copies expire\n", "loop",
                    j->expired);
    }
    for (uint32_t t = 0; t < h->count; t++) {
        uint32_t to = app->to[h->first + t];
        if (app->walk.came[to] != app->walk.packet) {
            report_line(r, "%-11s%s is not reached\n", "missed", names_text(&g->ids, to));
        }
    }
}

static int send_all(struct forward_app *app)
{
    struct report *r = &app->report;
    *r = report_open(app->args);
    for (size_t i = 0; i < app->headers && r->out != NULL; i++) {
        struct journey j;
        send(app, &app->header[i], &j);
        if (report_is(r, REPORT_JSON)) {
            tell_json(app, &app->header[i], &j);
        } else if (report_is(r, REPORT_TSV) || app->headers > 1) {
            tell_row(app, &app->header[i], &j);
        } else {
            print_one(app, &app->header[i], &j);
        }
    }
    if (app->headers > 1) {
        report_say(r,
                   "%zu packets: %" PRIu64 " arrive, %" PRIu64 " of them nowhere else; %" PRIu64
                   " loop%s",
                   app->headers, app->arrived, app->only, app->loops, app->loops == 1 ? "s" : "");
    }
    return report_close(r, app->arrived == app->headers ? EXIT_YES : EXIT_NO);
}

static int forward_run(const struct args *args)
{
    struct forward_app app = {.args = args};
    int code = read_all(&app);
    if (code == EXIT_YES) {
        app.link = malloc(((size_t)app.tables.graph.links + 1) * sizeof *app.link);
        code = app.link != NULL && walk_new(&app.walk, &app.tables.graph) ? send_all(&app)
                                                                          : say_no_memory();
    }
    walk_free(&app.walk);
    tables_free(&app.tables);
    free(app.header);
    free(app.to);
    free(app.link);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "from", OF_VALUE(TAKES_TEXT, "NODE"), "The node that the packet starts from."),
    OPTION(0, "header", OF_VALUE(TAKES_TEXT, "[SALT:]HEX"),
           "Its header in hexadecimal, the first byte first (SALT is 0 by default)."),
    OPTION(0, "to", OF_VALUE(TAKES_TEXT, "NODE"),
           "A node that it should come to; may be repeated."),
    OPTION(0, "ttl", OF_WHOLE("T", 1, 255), "A packet crosses at most T links (default 64)."),
    OPTION_ROWS_TSV,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"tsv", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal app forward tables.tsv headers.tsv", "All packets, one line each."},
    {"tepal app forward tables.tsv --from Oslo --header 4a51c0...", "One packet, link by link."},
    {NULL, NULL}};

const struct command app_forward = {
    .name = "app forward",
    .synopsis = "TABLES (HEADERS | --from NODE --header [SALT:]HEX) [--ttl T]",
    .summary = "Forward packets by the masks of links: where do they go?",
    .about = "TABLES has the masks of every node's links and HEADERS the headers of paths, as "
             "`tepal app route --tables` and `--headers` write them. Each node forwards the packet "
             "over every link whose mask the header matches; nothing else is known to it.\n\n"
             "Prints the links that the packet crosses, where its copies end, and whether it "
             "loops. The exit status is 1 if a packet does not reach all its receivers.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .least_operands = 1,
    .most_operands = 2,
    .operand_name = "a file of tables is",
    .examples = examples,
    .run = forward_run};

/*
 * route.c: `tepal app route`: paths in packets (Carrea, Vernitski and Reed 2016, Secs. VII, VIII).
 * Reads networks, chooses a path or a tree in each, and sends packets with Bloom and yes-no headers
 * along it, a header a seed. What a packet does is in packet.c, the pictures are in route_draw.c.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tepal/tepal.h>

#include "cli/command.h"
#include "output/out.h"
#include "packet.h"
#include "output/progress.h"
#include "output/render.h"
#include "route_draw.h"
#include "cli/say.h"
#include "files/atomic_file.h"
#include "cli/suggest.h"
#include "cli/options.h"

#define DEFAULT_TTL 64

/* A network to be read. Texts on the heap. */
struct place {
    char *path;
    char *network; /* NULL: the only one */
    char *name;
};

/* Sums over the allocations of one kind of header. */
struct sums {
    double false_links;
    double squares;
    double taken;
    double wasted;
    double expired;
    double loops;
};

struct route_app {
    const struct args *args;
    struct packet_setting setting;
    uint64_t seed;
    uint64_t allocations;
    struct place *place;
    size_t places;
    size_t place_room;
    struct out *out;
    struct atomic_file svg;
    struct draw_row *row; /* of the networks so far; names belong to the places */
    size_t rows;
    struct progress progress;
};

/* One network at work. */
struct job {
    struct route_app *app;
    const char *name;
    struct graph graph;
    struct graph_spread spread;
    struct packet_plan plan;
    struct packet_walker *walker;
    struct sums sums[PACKET_KINDS];
    uint8_t *use; /* of every link: what the packets of the first seed did */
};

static int no_memory(void)
{
    return say_error(NULL, NULL, "out of memory");
}

static const char *subject(const struct route_app *app)
{
    return app->args->command->name;
}

/* ---- options --------------------------------------------------------------------------------- */

static uint64_t number(const struct args *args, const char *id, uint64_t otherwise)
{
    return arg(args, id)->given ? arg(args, id)->whole : otherwise;
}

static int read_setting(struct route_app *app)
{
    const struct args *args = app->args;
    struct tepal_params init = TEPAL_PARAMS_INIT;
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    struct packet_setting *s = &app->setting;
    struct tepal_header_layout layout;
    uint64_t r = number(args, "no-filters", 2);
    uint64_t q = number(args, "no-bits", 32);
    const char *why = "";
    if (arg(args, "positions")->given) {
        tepal_positions_parse(arg(args, "positions")->text, &init.positions);
    }
    if (arg(args, "method")->given) {
        tepal_yesno_method_parse(arg(args, "method")->text, &how.method);
    }
    s->params[PACKET_BLOOM] = init;
    s->params[PACKET_YESNO] = init;
    (void)tepal_yesno_params(number(args, "yes-bits", 192), (uint32_t)number(args, "hashes", 4),
                             r == 0 ? 0 : q, r, (uint32_t)number(args, "no-hashes", 3),
                             &s->params[PACKET_YESNO]);
    s->params[PACKET_BLOOM].cells = s->params[PACKET_YESNO].cells;
    s->params[PACKET_BLOOM].hashes = (uint32_t)number(args, "bloom-hashes", 6);
    s->how = how;
    app->seed = number(args, "seed", 1);
    app->allocations = number(args, "allocations", 1000);
    for (size_t k = 0; k < PACKET_KINDS; k++) {
        if (tepal_header_layout_init(&s->params[k], &layout, &why) != TEPAL_OK) {
            return say_error(NULL, subject(app), "%s header of %" PRIu64 " bits: %s",
                             k == PACKET_BLOOM ? "Bloom" : "yes-no", s->params[k].cells, why);
        }
    }
    if (args_text(args, "from", 1) != NULL || args_text(args, "network", 1) != NULL) {
        return say_error(NULL, subject(app), "--from and --network can be given once only");
    }
    if (arg(args, "from")->given != arg(args, "to")->given) {
        return say_error(NULL, subject(app), "--from and --to belong together: give both");
    }
    return EXIT_YES;
}

/* ---- which networks -------------------------------------------------------------------------- */

static const char *const endings[] = {".graphml", ".xml", ".tsv"};

/* The length of a name without .gz or .zst; *whole: without the ending too, or 0 if it has none. */
static size_t bare_name(const char *name, size_t *whole)
{
    size_t len = strlen(name);
    len -= len > 3 && strcmp(name + len - 3, ".gz") == 0    ? 3
           : len > 4 && strcmp(name + len - 4, ".zst") == 0 ? 4
                                                            : 0;
    *whole = 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t of = strlen(endings[i]);
        if (len > of && memcmp(name + len - of, endings[i], of) == 0) {
            *whole = len - of;
        }
    }
    return len;
}

/* Takes over nothing; copies. */
static bool add_place(struct route_app *app, const char *path, const char *network)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash == NULL ? path : slash + 1;
    size_t whole;
    size_t len = bare_name(file, &whole);
    if (app->places == app->place_room) {
        size_t room = app->place_room == 0 ? 64 : app->place_room * 2;
        struct place *larger = realloc(app->place, room * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        app->place = larger;
        app->place_room = room;
    }
    struct place *p = &app->place[app->places++];
    size_t room = strlen(file) + (network == NULL ? 0 : strlen(network)) + 2;
    p->path = strdup(path);
    p->network = network == NULL ? NULL : strdup(network);
    p->name = malloc(room);
    if (p->path == NULL || p->name == NULL || (network != NULL && p->network == NULL)) {
        return false;
    }
    snprintf(p->name, room, "%.*s%s%s", (int)(whole > 0 ? whole : len), file,
             network == NULL ? "" : ":", network == NULL ? "" : network);
    return true;
}

/* A file: itself, or the networks in it. */
static int add_file(struct route_app *app, const char *path)
{
    const char *wanted = args_text(app->args, "network", 0);
    struct names networks = {.count = 0};
    int code = EXIT_YES;
    bool good = true;
    if (wanted == NULL && strcmp(path, "-") != 0) {
        code = graph_networks(&networks, path);
    }
    if (code == EXIT_YES && networks.count > 1) {
        for (uint32_t i = 0; i < networks.count && good; i++) {
            good = add_place(app, path, names_text(&networks, i));
        }
    } else if (code == EXIT_YES) {
        good = add_place(app, path, wanted);
    }
    names_free(&networks);
    return good ? code : no_memory();
}

static int is_network(const struct dirent *entry)
{
    size_t whole;
    bare_name(entry->d_name, &whole);
    return entry->d_name[0] != '.' && whole > 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_folder(struct route_app *app, const char *folder)
{
    struct dirent **entry = NULL;
    int count = scandir(folder, &entry, is_network, by_name);
    int code = EXIT_YES;
    if (count < 0) {
        return say_error(NULL, folder, "%s", strerror(errno));
    }
    if (count == 0) {
        code = say_error(NULL, folder,
                         "no networks in it: no file whose name ends in .graphml, .xml or .tsv");
    }
    for (int i = 0; i < count; i++) {
        size_t room = strlen(folder) + strlen(entry[i]->d_name) + 2;
        char *path = malloc(room);
        if (path == NULL) {
            code = no_memory();
        } else if (code == EXIT_YES) {
            snprintf(path, room, "%s/%s", folder, entry[i]->d_name);
            code = add_file(app, path);
        }
        free(path);
        free(entry[i]);
    }
    free(entry);
    return code;
}

static int find_places(struct route_app *app)
{
    int code = EXIT_YES;
    for (size_t i = 0; i < app->args->operands && code == EXIT_YES; i++) {
        struct stat about;
        const char *path = app->args->operand[i];
        bool folder = strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
        code = folder ? add_folder(app, path) : add_file(app, path);
    }
    if (code == EXIT_YES && app->places > 1 && arg(app->args, "svg")->given) {
        code = say_error(NULL, subject(app), "--svg draws one network, and there are %zu",
                         app->places);
    }
    return code;
}

/* ---- which path ------------------------------------------------------------------------------ */

static int find_node(const struct job *job, const char *name, uint32_t *node)
{
    const struct graph *g = &job->graph;
    char room[GRAPH_NAME_ROOM];
    char hint[96];
    uint32_t several;
    *node = graph_find(g, name, &several);
    if (*node != GRAPH_NONE) {
        return EXIT_YES;
    }
    if (several > 0) {
        uint32_t v = 0;
        while (strcmp(names_text(&g->labels, g->node[v].label), name) != 0) {
            v++;
        }
        return say_error(NULL, job->name,
                         "%" PRIu32 " nodes are called '%.60s': say which, as %.80s", several, name,
                         graph_name(g, v, room));
    }
    struct suggest near = {.word = name};
    for (uint32_t v = 0; v < g->labels.count; v++) {
        suggest_offer(&near, names_text(&g->labels, v));
    }
    return say_error(NULL, job->name, "there is no node '%.60s'%s", name,
                     suggest_text(&near, "", hint, sizeof hint));
}

/* The nodes of --from and --to. */
static int named_ends(struct job *job, uint32_t *root, uint32_t *to, size_t *count)
{
    const struct args *args = job->app->args;
    char from_name[GRAPH_NAME_ROOM];
    char to_name[GRAPH_NAME_ROOM];
    int code = find_node(job, args_text(args, "from", 0), root);
    if (code != EXIT_YES) {
        return code;
    }
    graph_spread(&job->graph, *root, &job->spread);
    const char *name;
    for (*count = 0; (name = args_text(args, "to", *count)) != NULL; (*count)++) {
        code = find_node(job, name, &to[*count]);
        if (code != EXIT_YES) {
            return code;
        }
        if (to[*count] == *root) {
            return say_error(NULL, job->name, "--from and --to are the same node: %.60s", name);
        }
        if (job->spread.distance[to[*count]] == GRAPH_NONE) {
            return say_error(NULL, job->name, "there is no path from %.60s to %.60s",
                             graph_name(&job->graph, *root, from_name),
                             graph_name(&job->graph, to[*count], to_name));
        }
    }
    return EXIT_YES;
}

/* EXIT_NO: there is no path, and nothing was asked for by name. */
static int choose_path(struct job *job)
{
    uint32_t root = 0;
    uint32_t *to = malloc((job->app->args->text_count + 1) * sizeof *to);
    size_t count = 1;
    int code = EXIT_YES;
    if (to == NULL) {
        return no_memory();
    }
    if (arg(job->app->args, "from")->given) {
        code = named_ends(job, &root, to, &count);
    } else if (graph_longest(&job->graph, &job->spread, &root, to) == 0) {
        code = EXIT_NO;
    } else {
        graph_spread(&job->graph, root, &job->spread);
    }
    if (code == EXIT_YES &&
        !packet_plan_make(&job->plan, &job->graph, &job->spread, root, to, count)) {
        code = no_memory();
    }
    free(to);
    return code;
}

/* ---- sending --------------------------------------------------------------------------------- */

static int choose_ttl(struct job *job)
{
    struct route_app *app = job->app;
    uint64_t ttl = number(app->args, "ttl", DEFAULT_TTL);
    if (job->plan.depth > ttl && arg(app->args, "ttl")->given) {
        return say_error(NULL, job->name, "--ttl %" PRIu64 ": the path has %" PRIu32 " links", ttl,
                         job->plan.depth);
    }
    app->setting.ttl = job->plan.depth > ttl ? job->plan.depth : (uint32_t)ttl;
    return EXIT_YES;
}

/* What the packets of the first seed did, link by link. */
static void note_use(struct job *job, enum packet_kind kind)
{
    for (uint32_t l = 0; l < job->graph.links; l++) {
        bool member = job->plan.is_member[l];
        uint8_t false_use = kind == PACKET_BLOOM ? DRAW_FALSE_BLOOM : DRAW_FALSE_YESNO;
        if (packet_crossed(job->walker, l)) {
            job->use[l] = (uint8_t)(job->use[l] | (member ? DRAW_PATH : false_use));
        }
    }
}

static int send_all(struct job *job)
{
    struct route_app *app = job->app;
    for (uint64_t a = 0; a < app->allocations; a++) {
        for (enum packet_kind kind = 0; kind < PACKET_KINDS; kind++) {
            struct packet_walk walk;
            struct sums *s = &job->sums[kind];
            const char *why = "";
            enum tepal_status status = packet_send(job->walker, kind, app->seed + a, &walk, &why);
            if (status != TEPAL_OK) {
                return say_error(NULL, job->name, "%s",
                                 why[0] != '\0' ? why : tepal_status_message(status));
            }
            s->false_links += walk.false_links;
            s->squares += (double)walk.false_links * walk.false_links;
            s->taken += walk.taken;
            s->wasted += walk.wasted;
            s->expired += walk.expired;
            s->loops += walk.loop;
            if (a == 0) {
                note_use(job, kind);
            }
        }
        progress_parts(&app->progress, app->rows, app->places, "networks");
    }
    return EXIT_YES;
}

/* ---- results --------------------------------------------------------------------------------- */

static double mean(const struct job *job, double sum)
{
    return sum / (double)job->app->allocations;
}

/* The standard error of the mean number of false links; NaN if one header cannot tell. */
static double error_of(const struct job *job, enum packet_kind kind)
{
    double n = (double)job->app->allocations;
    double m = job->sums[kind].false_links / n;
    return n < 2 ? (double)NAN : sqrt(fmax(job->sums[kind].squares / n - m * m, 0) / (n - 1));
}

/* The mean that the model predicts for the Bloom header. */
static double expected(const struct job *job)
{
    const struct tepal_params *p = &job->app->setting.params[PACKET_BLOOM];
    return job->plan.others *
           tepal_bloom_fp(TEPAL_LAYOUT_FLAT, p->positions, p->cells, job->plan.members, p->hashes);
}

static double rate(const struct job *job, enum packet_kind kind)
{
    return job->plan.others == 0 ? 0 : mean(job, job->sums[kind].false_links) / job->plan.others;
}

static void set_real(json_t *object, const char *name, double value)
{
    json_object_set_new(object, name, isfinite(value) ? json_real(value) : json_null());
}

static void set_whole(json_t *object, const char *name, uint64_t value)
{
    json_object_set_new(object, name, json_integer((json_int_t)value));
}

/* [FROM, TO] of the links that are used so. */
static json_t *links_json(const struct job *job, uint8_t use)
{
    json_t *list = json_array();
    char room[GRAPH_NAME_ROOM];
    for (uint32_t l = 0; l < job->graph.links; l++) {
        if ((job->use[l] & use) != 0) {
            json_t *ends = json_array();
            json_array_append_new(
                ends, render_string(graph_name(&job->graph, job->graph.link[l].from, room)));
            json_array_append_new(
                ends, render_string(graph_name(&job->graph, job->graph.link[l].to, room)));
            json_array_append_new(list, ends);
        }
    }
    return list;
}

static json_t *kind_json(const struct job *job, enum packet_kind kind)
{
    const struct packet_setting *s = &job->app->setting;
    const struct tepal_params *p = &s->params[kind];
    const struct sums *sums = &job->sums[kind];
    json_t *o = json_object();
    set_whole(o, "bits", p->cells);
    set_whole(o, "hashes", p->hashes);
    if (kind == PACKET_YESNO) {
        set_whole(o, "yes_bits", tepal_yesno_yes_bits(p));
        set_whole(o, "no_bits", p->own[TEPAL_YESNO_NO_BITS]);
        set_whole(o, "no_filters", p->own[TEPAL_YESNO_NO_FILTERS]);
        set_whole(o, "no_hashes", p->own[TEPAL_YESNO_NO_HASHES]);
        json_object_set_new(o, "method", json_string(tepal_yesno_method_name(s->how.method)));
    } else {
        set_real(o, "expected", expected(job));
    }
    set_real(o, "false", mean(job, sums->false_links));
    set_real(o, "standard_error", error_of(job, kind));
    set_real(o, "rate", rate(job, kind));
    set_real(o, "taken", mean(job, sums->taken));
    set_real(o, "wasted", mean(job, sums->wasted));
    set_real(o, "expired", mean(job, sums->expired));
    set_real(o, "loops", mean(job, sums->loops));
    json_object_set_new(
        o, "false_links",
        links_json(job, kind == PACKET_BLOOM ? DRAW_FALSE_BLOOM : DRAW_FALSE_YESNO));
    return o;
}

static json_t *name_json(const struct job *job, uint32_t node)
{
    char room[GRAPH_NAME_ROOM];
    return render_string(graph_name(&job->graph, node, room));
}

static int print_json(const struct job *job)
{
    const struct packet_plan *plan = &job->plan;
    json_t *o = json_object();
    json_t *to = json_array();
    json_t *links = json_array();
    char seed[32];
    json_object_set_new(o, "network", render_string(job->name));
    set_whole(o, "nodes", job->graph.nodes);
    set_whole(o, "edges", job->graph.edges);
    set_whole(o, "links", job->graph.links);
    set_whole(o, "left_out", job->graph.loops);
    json_object_set_new(o, "from", name_json(job, plan->root));
    for (size_t i = 0; i < plan->to_count; i++) {
        json_array_append_new(to, name_json(job, plan->to[i]));
    }
    json_object_set_new(o, "to", to);
    set_whole(o, "n", plan->members);
    set_whole(o, "t", plan->others);
    for (uint32_t i = 0; i < plan->members; i++) {
        json_t *ends = json_array();
        json_array_append_new(ends, name_json(job, job->graph.link[plan->member[i]].from));
        json_array_append_new(ends, name_json(job, job->graph.link[plan->member[i]].to));
        json_array_append_new(links, ends);
    }
    json_object_set_new(o, "path", links);
    snprintf(seed, sizeof seed, "%" PRIu64, job->app->seed);
    json_object_set_new(o, "seed", json_string(seed));
    set_whole(o, "allocations", job->app->allocations);
    set_whole(o, "ttl", job->app->setting.ttl);
    json_object_set_new(o, "bloom", kind_json(job, PACKET_BLOOM));
    json_object_set_new(o, "yesno", kind_json(job, PACKET_YESNO));
    return render_json(job->app->out, o);
}

static void print_tsv(const struct job *job)
{
    struct out *out = job->app->out;
    if (job->app->rows == 0) {
        out_text(out, "network\tnodes\tedges\tn\tt\tbloom_expected\tbloom_false\tbloom_rate\t"
                      "bloom_taken\tbloom_wasted\tbloom_loops\tyesno_false\tyesno_rate\t"
                      "yesno_taken\tyesno_wasted\tyesno_loops\n");
    }
    out_format(out, "%s\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%.6g", job->name,
               job->graph.nodes, job->graph.edges, job->plan.members, job->plan.others,
               expected(job));
    for (enum packet_kind k = 0; k < PACKET_KINDS; k++) {
        const struct sums *s = &job->sums[k];
        out_format(out, "\t%.6g\t%.6g\t%.6g\t%.6g\t%.6g", mean(job, s->false_links), rate(job, k),
                   mean(job, s->taken), mean(job, s->wasted), mean(job, s->loops));
    }
    out_text(out, "\n");
}

/* One line of a table of many networks. */
static void print_line(const struct job *job)
{
    struct out *out = job->app->out;
    const struct sums *b = &job->sums[PACKET_BLOOM];
    const struct sums *y = &job->sums[PACKET_YESNO];
    if (job->app->rows == 0) {
        out_format(out, "%40s %28s %29s\n", "", "------- Bloom header -------",
                   "------- yes-no header -------");
        out_format(out, "%-24s %5s %4s %4s %9s %8s %9s %10s %8s %9s\n", "network", "nodes", "n",
                   "t", "false", "wasted", "loops", "false", "wasted", "loops");
    }
    out_format(out,
               "%-24s %5" PRIu32 " %4" PRIu32 " %4" PRIu32 " %9.4f %8.3g %7.2f %% %10.4f %8.3g "
               "%7.2f %%\n",
               job->name, job->graph.nodes, job->plan.members, job->plan.others,
               mean(job, b->false_links), mean(job, b->wasted), 100 * mean(job, b->loops),
               mean(job, y->false_links), mean(job, y->wasted), 100 * mean(job, y->loops));
}

/* A list of words over lines of 100 columns. */
struct flow {
    struct out *out;
    size_t column;
    size_t indent;
};

static void flow_word(struct flow *f, const char *before, const char *word)
{
    size_t len = strlen(before) + strlen(word);
    if (f->column > f->indent && f->column + len + 1 > 100) {
        out_format(f->out, "\n%*s", (int)f->indent, "");
        f->column = f->indent;
    }
    out_format(f->out, "%s%s%s", f->column > f->indent ? " " : "", before, word);
    f->column += len + (f->column > f->indent);
}

static void print_path(const struct job *job)
{
    struct out *out = job->app->out;
    const struct graph *g = &job->graph;
    const struct packet_plan *plan = &job->plan;
    struct flow flow = {out, 11, 11};
    char room[GRAPH_NAME_ROOM];
    uint32_t last = GRAPH_NONE;
    out_format(out, "%-11s%" PRIu32 " links from %s", plan->to_count == 1 ? "path" : "tree",
               plan->members, graph_name(g, plan->root, room));
    for (size_t i = 0; i < plan->to_count; i++) {
        out_format(out, "%s%s", i == 0 ? " to " : ", ", graph_name(g, plan->to[i], room));
    }
    out_format(out, "\n%-11s", "by");
    for (uint32_t i = 0; i < plan->members; i++) {
        const struct graph_link *link = &g->link[plan->member[i]];
        if (link->from != last) { /* a branch begins */
            flow_word(&flow, last == GRAPH_NONE ? "" : "| ", graph_name(g, link->from, room));
        }
        flow_word(&flow, "> ", graph_name(g, link->to, room));
        last = link->to;
    }
    out_text(out, "\n");
}

static void print_false(const struct job *job, enum packet_kind kind)
{
    struct out *out = job->app->out;
    const struct graph *g = &job->graph;
    uint8_t use = kind == PACKET_BLOOM ? DRAW_FALSE_BLOOM : DRAW_FALSE_YESNO;
    char from[GRAPH_NAME_ROOM];
    char to[GRAPH_NAME_ROOM];
    uint32_t count = 0;
    for (uint32_t l = 0; l < g->links; l++) {
        if ((job->use[l] & use) == 0) {
            continue;
        }
        out_format(out, "%-11s%s > %s\n",
                   count++ > 0            ? ""
                   : kind == PACKET_BLOOM ? "Bloom"
                                          : "yes-no",
                   graph_name(g, job->graph.link[l].from, from),
                   graph_name(g, job->graph.link[l].to, to));
    }
    if (count == 0) {
        out_format(out, "%-11snone\n", kind == PACKET_BLOOM ? "Bloom" : "yes-no");
    }
}

static void print_kind(const struct job *job, enum packet_kind kind)
{
    const struct packet_setting *s = &job->app->setting;
    const struct tepal_params *p = &s->params[kind];
    const struct sums *sums = &job->sums[kind];
    char what[96];
    if (kind == PACKET_BLOOM) {
        snprintf(what, sizeof what, "%" PRIu32 " hashes", p->hashes);
    } else {
        snprintf(what, sizeof what,
                 "%" PRIu64 " bits, %" PRIu32 "; %" PRIu64 " of %" PRIu64 ", %" PRIu64 "; %s",
                 tepal_yesno_yes_bits(p), p->hashes, p->own[TEPAL_YESNO_NO_FILTERS],
                 p->own[TEPAL_YESNO_NO_BITS], p->own[TEPAL_YESNO_NO_HASHES],
                 tepal_yesno_method_name(s->how.method));
    }
    out_format(job->app->out, "%-7s %-38s %8.4f %7.4f %% %8.4f %8.3g %6.2f %%\n",
               kind == PACKET_BLOOM ? "Bloom" : "yes-no", what, mean(job, sums->false_links),
               100 * rate(job, kind), mean(job, sums->taken), mean(job, sums->wasted),
               100 * mean(job, sums->loops));
}

static void print_one(const struct job *job)
{
    struct out *out = job->app->out;
    const struct graph *g = &job->graph;
    out_format(out, "%-11s%s: %" PRIu32 " nodes, %" PRIu32 " edges", "network", job->name, g->nodes,
               g->edges);
    if (g->loops > 0) {
        out_format(out, ", %" PRIu32 " from a node to itself left out", g->loops);
    }
    out_text(out, "\n");
    print_path(job);
    out_format(out, "%-11s%" PRIu32 " other links leave its nodes\n", "beside", job->plan.others);
    out_format(out,
               "%-11s%" PRIu64 " of each kind, %" PRIu64 " bits; seeds from %" PRIu64
               ", time to live %" PRIu32 "\n\n",
               "headers", job->app->allocations, job->app->setting.params[PACKET_BLOOM].cells,
               job->app->seed, job->app->setting.ttl);
    out_format(out, "%-7s %-38s %8s %9s %8s %8s %8s\n", "header", "", "false", "rate", "taken",
               "wasted", "loops");
    print_kind(job, PACKET_BLOOM);
    print_kind(job, PACKET_YESNO);
    out_format(out, "\nfalse links that the packets of seed %" PRIu64 " take\n", job->app->seed);
    print_false(job, PACKET_BLOOM);
    print_false(job, PACKET_YESNO);
}

static int report(struct job *job)
{
    struct route_app *app = job->app;
    struct draw_row *row = &app->row[app->rows];
    int code = EXIT_YES;
    if (arg(app->args, "json")->given) {
        code = print_json(job);
    } else if (arg(app->args, "tsv")->given) {
        print_tsv(job);
    } else if (app->places > 1) {
        print_line(job);
    } else {
        print_one(job);
    }
    row->network = job->name;
    row->members = job->plan.members;
    row->others = job->plan.others;
    for (size_t k = 0; k < PACKET_KINDS; k++) {
        row->false_links[k] = mean(job, job->sums[k].false_links);
    }
    app->rows++;
    return code;
}

/* ---- pictures -------------------------------------------------------------------------------- */

static int draw(struct job *job)
{
    struct route_app *app = job->app;
    char title[2 * GRAPH_NAME_ROOM + 64];
    char room[GRAPH_NAME_ROOM];
    if (!arg(app->args, "svg")->given) {
        return EXIT_YES;
    }
    snprintf(title, sizeof title, "%.200s: %" PRIu32 " links from %.200s", job->name,
             job->plan.members, graph_name(&job->graph, job->plan.root, room));
    int code = atomic_file_open(&app->svg, app->args, arg(app->args, "svg")->text);
    if (code == EXIT_YES && !draw_network(app->svg.out, &job->plan, title, job->use)) {
        code = no_memory();
    }
    return code == EXIT_YES ? atomic_file_finish(&app->svg, app->args) : code;
}

/* FOLDER/figNN.ENDING, on the heap. */
static char *figure_path(const struct route_app *app, int figure, const char *ending)
{
    const char *folder = arg(app->args, "figures")->text;
    size_t room = strlen(folder) + 32;
    char *path = malloc(room);
    if (path != NULL) {
        snprintf(path, room, "%s/fig%d.%s", folder, figure, ending);
    }
    return path;
}

static int write_figure(const struct route_app *app, int figure, bool table)
{
    struct atomic_file side = {NULL, NULL, NULL};
    char *path = figure_path(app, figure, table ? "tsv" : "svg");
    int code = path == NULL ? no_memory() : atomic_file_open(&side, app->args, path);
    if (code == EXIT_YES) {
        bool good = table ? draw_table(side.out, figure, app->row, app->rows)
                          : draw_figure(side.out, figure, app->row, app->rows);
        code = good ? atomic_file_finish(&side, app->args) : no_memory();
    }
    if (code == EXIT_YES) {
        code = atomic_file_commit(&side, app->args);
    }
    atomic_file_free(&side);
    free(path);
    return code;
}

/* May all that is to be written be written? Before anything is computed. */
static int check_pictures(const struct route_app *app)
{
    const struct option_value *svg = arg(app->args, "svg");
    const struct option_value *figures = arg(app->args, "figures");
    int code = svg->given ? atomic_file_check(app->args, svg->text) : EXIT_YES;
    if (figures->given && code == EXIT_YES && mkdir(figures->text, 0777) != 0 && errno != EEXIST) {
        code = say_error(NULL, figures->text, "%s", strerror(errno));
    }
    for (int figure = 16; figure <= 18 && figures->given && code == EXIT_YES; figure++) {
        for (int table = 0; table < 2 && code == EXIT_YES; table++) {
            char *path = figure_path(app, figure, table == 1 ? "tsv" : "svg");
            code = path == NULL ? no_memory() : atomic_file_check(app->args, path);
            free(path);
        }
    }
    return code;
}

static int write_figures(const struct route_app *app)
{
    int code = EXIT_YES;
    for (int figure = 16; figure <= 18 && code == EXIT_YES; figure++) {
        code = write_figure(app, figure, true);
        code = code == EXIT_YES ? write_figure(app, figure, false) : code;
    }
    return code;
}

/* ---- all ------------------------------------------------------------------------------------- */

static void job_free(struct job *job)
{
    packet_walker_free(job->walker);
    packet_plan_free(&job->plan);
    graph_spread_free(&job->spread);
    graph_free(&job->graph);
    free(job->use);
}

static int run_job(struct job *job)
{
    int code = choose_path(job);
    if (code == EXIT_NO && job->app->places == 1) {
        return say_error(NULL, job->name, "there is no path: the network has no links");
    }
    if (code == EXIT_NO) {
        progress_end(&job->app->progress);
        if (!arg(job->app->args, "quiet")->given) {
            say_line("left out   %s: it has no links", job->name);
        }
        return EXIT_YES;
    }
    code = code == EXIT_YES ? choose_ttl(job) : code;
    if (code == EXIT_YES) {
        job->walker = packet_walker_new(&job->plan, &job->app->setting);
        job->use = calloc((size_t)job->graph.links + 1, sizeof *job->use);
        code = job->walker == NULL || job->use == NULL ? no_memory() : send_all(job);
    }
    code = code == EXIT_YES ? draw(job) : code;
    return code == EXIT_YES ? report(job) : code;
}

static int run_place(struct route_app *app, const struct place *place)
{
    struct job job = {.app = app, .name = place->name};
    int code = graph_read(&job.graph, place->path, place->network);
    if (code == EXIT_YES) {
        code = graph_spread_new(&job.spread, &job.graph) ? run_job(&job) : no_memory();
    }
    job_free(&job);
    return code;
}

static int run_places(struct route_app *app)
{
    int code = EXIT_YES;
    app->row = calloc(app->places + 1, sizeof *app->row);
    app->out = out_open(STDOUT_FILENO);
    if (app->row == NULL || app->out == NULL) {
        return app->out == NULL ? EXIT_TROUBLE : out_close(app->out, no_memory());
    }
    progress_start(&app->progress, app->places > 1 && !arg(app->args, "quiet")->given);
    for (size_t i = 0; i < app->places && code == EXIT_YES; i++) {
        code = run_place(app, &app->place[i]);
    }
    progress_end(&app->progress);
    if (code == EXIT_YES && app->rows == 0) {
        code = say_error(NULL, subject(app), "none of the networks has any links");
    }
    code = out_close(app->out, code);
    if (code == EXIT_YES && app->svg.path != NULL) {
        code = atomic_file_commit(&app->svg, app->args);
    }
    if (code == EXIT_YES && arg(app->args, "figures")->given) {
        code = write_figures(app);
    }
    return code;
}

static int route_run(const struct args *args)
{
    struct route_app app = {.args = args};
    int code = read_setting(&app);
    code = code == EXIT_YES ? check_pictures(&app) : code;
    code = code == EXIT_YES ? find_places(&app) : code;
    code = code == EXIT_YES ? run_places(&app) : code;
    for (size_t i = 0; i < app.places; i++) {
        free(app.place[i].path);
        free(app.place[i].network);
        free(app.place[i].name);
    }
    atomic_file_free(&app.svg);
    free(app.place);
    free(app.row);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option option_route_from = {
    .name = "from",
    .value = "NODE",
    .type = TAKES_TEXT,
    .about = "The node that sends: a label, LABEL#ID, or #ID. Without --from and --to "
             "the longest of all shortest paths is taken."};

static const struct option option_route_to = {
    .name = "to",
    .value = "NODE",
    .type = TAKES_TEXT,
    .about = "A node that receives; several make a tree of shortest paths."};

static const struct option option_route_network = {
    .name = "network",
    .value = "NAME",
    .type = TAKES_TEXT,
    .about = "Only this one of the networks in a tab-separated file."};

static const struct option option_route_yes_bits = {.name = "yes-bits",
                                                    .value = "P",
                                                    .type = TAKES_WHOLE,
                                                    .least = 1,
                                                    .most = 512,
                                                    .about =
                                                        "Bits of the yes-filter (default 192)."};

static const struct option option_route_no_bits = {.name = "no-bits",
                                                   .value = "Q",
                                                   .type = TAKES_WHOLE,
                                                   .least = 1,
                                                   .most = 511,
                                                   .about = "Bits of each no-filter (default 32)."};

static const struct option option_route_no_filters = {
    .name = "no-filters",
    .value = "R",
    .type = TAKES_WHOLE,
    .most = 64,
    .about = "The number of no-filters (default 2). P + Q R, the size of both "
             "headers, must be 128, 256 or 512."};

static const struct option option_route_hashes = {.letter = 'k',
                                                  .name = "hashes",
                                                  .value = "K",
                                                  .type = TAKES_WHOLE,
                                                  .least = 1,
                                                  .most = TEPAL_MAX_HASHES,
                                                  .about = "Hashes of the yes-filter (default 4)."};

static const struct option option_route_no_hashes = {.name = "no-hashes",
                                                     .value = "K",
                                                     .type = TAKES_WHOLE,
                                                     .least = 1,
                                                     .most = TEPAL_MAX_HASHES,
                                                     .about =
                                                         "Hashes of the no-filters (default 3)."};

static const struct option option_route_bloom_hashes = {
    .name = "bloom-hashes",
    .value = "K",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = TEPAL_MAX_HASHES,
    .about = "Hashes of the Bloom header (default 6)."};

static const struct option option_route_method = {
    .name = "method",
    .value = "METHOD",
    .type = TAKES_CHOICE,
    .choices = "greedy nextfit bestfit pairs local-search exact",
    .about = "How the no-filters are filled (default local-search): one of greedy, "
             "nextfit, bestfit, pairs, local-search, exact."};

static const struct option option_route_allocations = {
    .name = "allocations",
    .value = "N",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = 10000000,
    .about = "Measure N headers of each kind, with N seeds from S on (default "
             "1000)."};

static const struct option option_route_ttl = {
    .name = "ttl",
    .value = "T",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = 255,
    .about = "A packet crosses at most T links (default 64)."};

static const struct option option_route_svg = {
    .name = "svg",
    .value = "OUT",
    .type = TAKES_FILE,
    .about = "Draw the network, as SVG, to OUT: the path, and the links that the headers "
             "of seed S take falsely."};

static const struct option option_route_figures = {
    .name = "figures",
    .value = "FOLDER",
    .type = TAKES_FILE,
    .about = "Write the paper's Figs. 16 to 18 to FOLDER: fig16.tsv, fig16.svg and "
             "so on."};

static const struct option *const options[] = {&option_route_from,
                                               &option_route_to,
                                               &option_route_network,
                                               &option_route_yes_bits,
                                               &option_route_no_bits,
                                               &option_route_no_filters,
                                               &option_route_hashes,
                                               &option_route_no_hashes,
                                               &option_route_bloom_hashes,
                                               &option_positions,
                                               &option_route_method,
                                               &option_route_allocations,
                                               &option_demo_seed,
                                               &option_route_ttl,
                                               &option_route_svg,
                                               &option_route_figures,
                                               &option_force,
                                               &option_rows_tsv,
                                               &option_json,
                                               &option_quiet,
                                               &option_help,
                                               NULL};
static const char *const exclusive[][4] = {{"tsv", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal app route network.graphml --svg network.svg",
     "The longest shortest path, and a picture of it."},
    {"tepal app route edges.tsv --from Oslo --to Rome --to Athens", "A tree to two cities."},
    {"tepal app route topology-zoo --method nextfit --figures out",
     "All networks of a folder: the paper's Figs. 16 to 18."},
    {NULL, NULL}};

const struct command app_route = {
    .name = "app route",
    .synopsis = "NETWORK... [--from NODE --to NODE...] [--method METHOD] [--svg OUT]",
    .summary = "Paths in packets: where headers forward falsely.",
    .about =
        "A path, or a tree to several nodes, is put into the packet as a filter of its links. "
        "Each node asks the header for all its links and forwards where it matches. Links that "
        "match falsely waste traffic, or lead the packet into a loop. A Bloom header and a "
        "yes-no header of the same size, which vetoes false links of the path's nodes, are "
        "compared: false links beside the path, false links taken in all, traversals wasted, and "
        "the share of headers that loop, each a mean over the allocations.\n\n"
        "A NETWORK is a GraphML file, as the Internet Topology Zoo has them, a tab-separated "
        "list of edges (a first line that starts with # may name the columns u, v and network), "
        "or a folder of such files, and may be compressed.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .least_operands = 1,
    .most_operands = SIZE_MAX,
    .operand_name = "a network is",
    .examples = examples,
    .run = route_run};

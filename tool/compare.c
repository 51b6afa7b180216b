/*
 * compare.c: every kind that goes into the memory, built on the user's own keys and asked for them.
 * Times are those of many queries at once, the best of several rounds.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tepal/plan.h>

#include "command.h"
#include "digests.h"
#include "feed.h"
#include "out.h"
#include "pick.h"
#include "progress.h"
#include "realize.h"
#include "render.h"
#include "say.h"
#include "side.h"
#include "svg.h"
#include "wilson.h"

#define QUERIES_DRAWN 1000000
#define ROUNDS        5
#define SEED          1

struct row {
    const struct tepal_proposal *plan;
    double predicted; /* false positives of these queries */
    struct wilson fp;
    struct wilson fn;
    double cost;
    double ns; /* a query */
    uint64_t bytes;
};

struct compare {
    const struct args *args;
    struct tepal_hasher hasher;
    struct digests members;
    struct digests negatives;
    struct tepal_digest *query; /* as they come, repeats included */
    size_t queries;
    size_t room;
    uint64_t strangers; /* queries that are no members */
    uint64_t known;     /* of them, known negatives */
    uint64_t *answers;
    uint64_t limit; /* bits */
    double cost_fp;
    double cost_fn;
    struct tepal_plans plans;
    struct row row[TEPAL_PLANS_MOST];
    size_t rows;
};

static int no_memory(const struct compare *c)
{
    return say_error(c->args->command->stays, NULL, "out of memory");
}

/* ---- keys ------------------------------------------------------------------------------------ */

static bool keep_query(struct compare *c, struct tepal_digest digest)
{
    if (c->queries == c->room) {
        size_t room = c->room == 0 ? 4096 : 2 * c->room;
        struct tepal_digest *larger = realloc(c->query, room * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        c->query = larger;
        c->room = room;
    }
    c->query[c->queries++] = digest;
    return true;
}

/* Keys of one file: into the set, or (set NULL) among the queries. */
static int read_file(struct compare *c, enum option_id id, struct digests *set)
{
    const struct option_value *o = &c->args->option[id];
    struct feed *feed =
        feed_open_file(c->args, &o->text, &c->hasher, false, c->args->option[OPT_QUIET].given);
    ptrdiff_t count;
    bool room = true;
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    while (room && (count = feed_next(feed)) > 0) {
        for (ptrdiff_t i = 0; i < count && room; i++) {
            struct tepal_digest d = feed->digest[i];
            if (set == NULL) {
                room = keep_query(c, d);
            } else if (set == &c->members || !digests_has(&c->members, d)) {
                room = digests_add(set, d, 1, NULL, 0);
            }
        }
    }
    feed_close(feed);
    return !room ? no_memory(c) : count == 0 ? EXIT_YES : EXIT_TROUBLE;
}

/* Keys that nobody has: digests of a counter. */
static int draw_queries(struct compare *c)
{
    for (uint64_t i = 0; i < QUERIES_DRAWN; i++) {
        if (!keep_query(c, tepal_hash_u64(&c->hasher, i ^ UINT64_C(0xb7e151628aed2a6a)))) {
            return no_memory(c);
        }
    }
    return EXIT_YES;
}

static int read_queries(struct compare *c)
{
    int code = EXIT_YES;
    if (c->args->option[OPT_COMPARE_QUERIES].given) {
        code = read_file(c, OPT_COMPARE_QUERIES, NULL);
    } else if (c->negatives.count > 0) {
        for (size_t i = 0; i < c->negatives.count && code == EXIT_YES; i++) {
            code = keep_query(c, c->negatives.digest[i]) ? EXIT_YES : no_memory(c);
        }
    } else {
        code = draw_queries(c);
    }
    for (size_t i = 0; i < c->queries; i++) {
        bool stranger = !digests_has(&c->members, c->query[i]);
        c->strangers += stranger;
        c->known += stranger && digests_has(&c->negatives, c->query[i]);
    }
    return code;
}

static int read_keys(struct compare *c)
{
    int code = read_file(c, OPT_COMPARE_MEMBERS, &c->members);
    if (code == EXIT_YES && c->members.count == 0) {
        code = say_error(c->args->command->stays, c->args->command->name,
                         "no members came: there is nothing to build from");
    }
    if (code == EXIT_YES && c->args->option[OPT_COMPARE_NEGATIVES].given) {
        code = read_file(c, OPT_COMPARE_NEGATIVES, &c->negatives);
    }
    if (code == EXIT_YES) {
        code = read_queries(c);
    }
    size_t most = c->queries > c->members.count ? c->queries : c->members.count;
    c->answers = code == EXIT_YES ? calloc(most / 64 + 1, sizeof *c->answers) : NULL;
    return code != EXIT_YES ? code : c->answers == NULL ? no_memory(c) : EXIT_YES;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static int plan(struct compare *c)
{
    const struct option_value *o = c->args->option;
    struct tepal_wish w = TEPAL_WISH_INIT;
    const char *why = "";
    double bits = o[OPT_WISH_MEMORY].given
                      ? 8 * (double)o[OPT_WISH_MEMORY].whole
                      : floor(o[OPT_WISH_BITS_PER_KEY].real * (double)c->members.count);
    if (!o[OPT_WISH_MEMORY].given && !o[OPT_WISH_BITS_PER_KEY].given) {
        return say_error(c->args->command->stays, c->args->command->name,
                         "the memory is needed: --memory SIZE or --bits-per-key B");
    }
    if (!(bits >= 1 && bits <= 0x1p60)) {
        return say_error(c->args->command->stays, c->args->command->name,
                         "so many bits a key make no size from 1 to 2^60 bits");
    }
    c->cost_fp = o[OPT_COST_FP].given ? o[OPT_COST_FP].real : 1;
    c->cost_fn = o[OPT_COST_FN].given ? o[OPT_COST_FN].real : 1;
    w.keys = c->members.count;
    c->limit = (uint64_t)bits;
    w.bits = c->limit;
    w.known_negatives = c->negatives.count;
    w.cost_fp = c->cost_fp;
    w.cost_fn = c->cost_fn;
    if (tepal_plan(&w, &c->plans, &why) != TEPAL_OK) {
        return say_error(c->args->command->stays, c->args->command->name, "%s", why);
    }
    return c->plans.plan[0].feasible ? EXIT_YES
                                     : say_error(c->args->command->stays, c->args->command->name,
                                                 "no kind of filter goes into so little memory");
}

/* ---- measuring ------------------------------------------------------------------------------- */

static double time_queries(struct compare *c, const struct tepal_filter *filter)
{
    double best = INFINITY;
    for (int i = 0; i < ROUNDS && c->queries > 0; i++) {
        double from = progress_clock();
        (void)tepal_filter_query_many(filter, c->query, c->queries, c->answers);
        best = fmin(best, progress_clock() - from);
    }
    return best / (double)c->queries * 1e9;
}

static void measure(struct compare *c, const struct tepal_filter *filter, struct row *row)
{
    uint64_t found = 0;
    uint64_t present =
        tepal_filter_query_many(filter, c->members.digest, c->members.count, c->answers);
    row->fn = wilson_99(c->members.count - present, c->members.count);
    row->ns = time_queries(c, filter);
    for (size_t i = 0; i < c->queries; i++) {
        found += pick_answer(c->answers, i) && !digests_has(&c->members, c->query[i]);
    }
    row->fp = wilson_99(found, c->strangers);
    row->cost = (c->strangers > 0 ? c->cost_fp * row->fp.rate : 0) + c->cost_fn * row->fn.rate;
    row->bytes = tepal_params_payload_bytes(tepal_filter_params(filter));
}

static int build_all(struct compare *c)
{
    const struct option_value *seed = &c->args->option[OPT_SEED];
    for (size_t i = 0; i < c->plans.count && c->plans.plan[i].feasible; i++) {
        const struct tepal_proposal *p = &c->plans.plan[i];
        struct realize what = {.plan = p,
                               .limit = p->kind == TEPAL_KIND_CASCADE ? c->limit : 0,
                               .members = c->members.digest,
                               .member_count = c->members.count,
                               .avoid = c->negatives.digest,
                               .avoid_count = c->negatives.count};
        struct tepal_filter *filter = NULL;
        const char *why = "";
        enum tepal_status status =
            realize_plan(&what, seed->given ? seed->whole : SEED, &filter, &why);
        if (status == TEPAL_NO_MEMORY) {
            return no_memory(c);
        }
        if (status != TEPAL_OK) {
            say_warning(c->args->command->name, "%s, %s: %s", tepal_kind_by_id(p->kind)->name,
                        tepal_layout_name(p->params.layout),
                        why[0] != '\0' ? why : tepal_status_message(status));
            continue;
        }
        double share = c->strangers == 0 ? 0 : (double)c->known / (double)c->strangers;
        struct row *row = &c->row[c->rows++];
        row->plan = p;
        row->predicted = share * p->fp + (1 - share) * p->fp_unknown;
        measure(c, filter, row);
        tepal_filter_free(filter);
    }
    return EXIT_YES;
}

/* ---- telling --------------------------------------------------------------------------------- */

static const char *kind_name(const struct row *row)
{
    return tepal_kind_by_id(row->plan->kind)->name;
}

static const char *layout_name(const struct row *row)
{
    return tepal_layout_name(row->plan->params.layout);
}

static void print_text(const struct compare *c, struct out *out)
{
    out_format(out, "%zu members, %zu negatives, %zu queries (%" PRIu64 " of strangers)\n\n",
               c->members.count, c->negatives.count, c->queries, c->strangers);
    out_format(out, "%-11s %-11s %12s %10s %10s %10s %10s %10s %8s\n", "kind", "layout", "bytes",
               "fp planned", "fp", "fn planned", "fn", "cost", "ns/query");
    for (size_t i = 0; i < c->rows; i++) {
        const struct row *r = &c->row[i];
        out_format(out, "%-11s %-11s %12" PRIu64 " %10.3g %10.3g %10.3g %10.3g %10.3g %8.1f\n",
                   kind_name(r), layout_name(r), r->bytes, r->predicted,
                   c->strangers > 0 ? r->fp.rate : 0, r->plan->fn, r->fn.rate, r->cost, r->ns);
    }
}

static void set_real(json_t *o, const char *name, double x)
{
    json_object_set_new(o, name, isfinite(x) ? json_real(x) : json_null());
}

static json_t *row_json(const struct row *r)
{
    json_t *o = json_object();
    json_object_set_new(o, "kind", json_string(kind_name(r)));
    json_object_set_new(o, "layout", json_string(layout_name(r)));
    json_object_set_new(o, "bytes", json_integer((json_int_t)r->bytes));
    set_real(o, "fp_predicted", r->predicted);
    set_real(o, "fp", r->fp.rate);
    set_real(o, "fp_low", r->fp.low);
    set_real(o, "fp_high", r->fp.high);
    set_real(o, "fn_predicted", r->plan->fn);
    set_real(o, "fn", r->fn.rate);
    set_real(o, "cost", r->cost);
    set_real(o, "ns_per_query", r->ns);
    json_object_set_new(o, "command", json_string(r->plan->command));
    return o;
}

static int print(const struct compare *c)
{
    struct out *out = out_open(STDOUT_FILENO);
    int code = EXIT_YES;
    if (out == NULL) {
        return EXIT_TROUBLE;
    }
    if (c->args->option[OPT_JSON].given) {
        json_t *o = json_object();
        json_t *list = json_array();
        json_object_set_new(o, "members", json_integer((json_int_t)c->members.count));
        json_object_set_new(o, "negatives", json_integer((json_int_t)c->negatives.count));
        json_object_set_new(o, "queries", json_integer((json_int_t)c->queries));
        json_object_set_new(o, "strangers", json_integer((json_int_t)c->strangers));
        for (size_t i = 0; i < c->rows; i++) {
            json_array_append_new(list, row_json(&c->row[i]));
        }
        json_object_set_new(o, "rows", list);
        code = render_json(out, o);
    } else {
        print_text(c, out);
    }
    return out_close(out, code);
}

/* A mark for each: how long a query takes, and how often it is wrong. */
static void draw(const struct compare *c, struct out *out)
{
    struct svg_series series[TEPAL_PLANS_MOST];
    struct svg_point point[TEPAL_PLANS_MOST];
    char name[TEPAL_PLANS_MOST][40];
    for (size_t i = 0; i < c->rows; i++) {
        const struct row *r = &c->row[i];
        snprintf(name[i], sizeof name[i], "%s, %s", kind_name(r), layout_name(r));
        point[i] =
            (struct svg_point){r->ns, c->strangers > 0 ? r->fp.rate : 0, r->fp.low, r->fp.high};
        series[i] = (struct svg_series){name[i], SVG_MARKS, &point[i], 1};
    }
    struct svg_chart chart = {.title = "False positives over time, at the same memory",
                              .x_label = "ns a query",
                              .y_label = "false positives",
                              .y_log = true,
                              .series = series,
                              .count = c->rows};
    svg_print(out, &chart);
}

static int write_svg(const struct compare *c)
{
    const struct option_value *svg = &c->args->option[OPT_COMPARE_SVG];
    struct side side;
    memset(&side, 0, sizeof side);
    if (!svg->given) {
        return EXIT_YES;
    }
    int code = side_open(&side, c->args, svg->text);
    if (code == EXIT_YES) {
        draw(c, side.out);
        code = side_finish(&side, c->args);
    }
    if (code == EXIT_YES) {
        code = side_commit(&side, c->args);
    }
    side_free(&side);
    return code;
}

int compare_run(const struct args *args)
{
    struct compare *c = calloc(1, sizeof *c);
    const struct option_value *seed = &args->option[OPT_SEED];
    const struct option_value *svg = &args->option[OPT_COMPARE_SVG];
    if (c == NULL) {
        return say_error(args->command->stays, NULL, "out of memory");
    }
    c->args = args;
    tepal_hasher_init(&c->hasher, seed->given ? seed->whole : SEED);
    int code = svg->given ? side_check(args, svg->text) : EXIT_YES;
    code = code == EXIT_YES ? read_keys(c) : code;
    code = code == EXIT_YES ? plan(c) : code;
    code = code == EXIT_YES ? build_all(c) : code;
    code = code == EXIT_YES ? write_svg(c) : code;
    code = code == EXIT_YES ? print(c) : code;
    digests_free(&c->members);
    digests_free(&c->negatives);
    free(c->query);
    free(c->answers);
    free(c);
    return code;
}

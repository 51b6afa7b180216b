/*
 * compare.c: every kind that goes into the memory, built on the user's own keys and asked for them
 * (of streams: compare_stream.c). Times are those of many queries at once, the median of several
 * rounds in which all take turns. The least cost comes first.
 */
#include "commands/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tepal/recycling.h>

#include "input/feed.h"
#include "output/answers.h"
#include "output/progress.h"
#include "plans/plan_command.h"
#include "output/report.h"
#include "files/atomic_file.h"
#include "pictures/svg.h"
#include "plans/weights.h"
#include "cli/options.h"
#include "plans/wish.h"

#define QUERIES_DRAWN 1000000
#define ROUNDS        5
#define TOGETHER      ((uint64_t)1 << 30) /* bytes of filters that wait until all are timed */
#define SEED          1

/* ---- keys ------------------------------------------------------------------------------------ */

bool compare_keep(struct compare *c, struct tepal_digest digest)
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
static int read_file(struct compare *c, const char *id, struct digests *set)
{
    const struct option_value *o = arg(c->args, id);
    bool weighted = set == &c->negatives && arg(c->args, "weights")->given;
    struct feed *feed = feed_open_file(c->args, &o->text, &c->hasher, weighted);
    ptrdiff_t count;
    bool room = true;
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    while (room && (count = feed_next(feed)) > 0) {
        for (ptrdiff_t i = 0; i < count && room; i++) {
            struct tepal_digest d = feed->digest[i];
            if (set == NULL) {
                room = compare_keep(c, d);
            } else if (set == &c->members || !digests_has(&c->members, d)) {
                room = digests_add(set, d, weighted ? feed->weight[i] : 1, NULL, 0);
            }
        }
    }
    feed_close(feed);
    return !room ? args_no_memory(c->args) : count == 0 ? EXIT_YES : EXIT_TROUBLE;
}

/* Keys that nobody has: digests of a counter. */
static struct tepal_digest drawn(const struct compare *c, uint64_t i)
{
    return tepal_hash_u64(&c->hasher, i ^ UINT64_C(0xb7e151628aed2a6a));
}

static int draw_queries(struct compare *c)
{
    for (uint64_t i = 0; i < QUERIES_DRAWN; i++) {
        if (!compare_keep(c, drawn(c, i))) {
            return args_no_memory(c->args);
        }
    }
    return EXIT_YES;
}

/* Strangers, where the queries have none: for their rate, not for time and cost. */
static int draw_strangers(struct compare *c)
{
    c->drawn = malloc(QUERIES_DRAWN * sizeof *c->drawn);
    if (c->drawn == NULL) {
        return args_no_memory(c->args);
    }
    c->draws = QUERIES_DRAWN;
    for (uint64_t i = 0; i < c->draws; i++) {
        c->drawn[i] = drawn(c, i);
    }
    return EXIT_YES;
}

static int read_queries(struct compare *c)
{
    int code = EXIT_YES;
    if (arg(c->args, "queries")->given) {
        code = read_file(c, "queries", NULL);
    } else if (c->negatives.count > 0) {
        for (size_t i = 0; i < c->negatives.count && code == EXIT_YES; i++) {
            code = compare_keep(c, c->negatives.digest[i]) ? EXIT_YES : args_no_memory(c->args);
        }
        if (arg(c->args, "weights")->given) {
            c->query_weight = c->negatives.weight;
        }
    } else {
        code = draw_queries(c);
    }
    for (size_t i = 0; i < c->queries; i++) {
        bool outsider = !digests_has(&c->members, c->query[i]);
        c->outsiders += outsider;
        c->known += outsider && digests_has(&c->negatives, c->query[i]);
    }
    return code == EXIT_YES && c->outsiders == c->known ? draw_strangers(c) : code;
}

static int read_keys(struct compare *c)
{
    int code = read_file(c, "members", &c->members);
    if (code == EXIT_YES && c->members.count == 0) {
        code = args_error(c->args, "no members in the input: there is nothing to build from");
    }
    if (code == EXIT_YES && arg(c->args, "negatives")->given) {
        code = read_file(c, "negatives", &c->negatives);
    }
    code = code == EXIT_YES ? read_queries(c) : code;
    size_t most = c->queries > c->members.count ? c->queries : c->members.count;
    most = c->draws > most ? c->draws : most;
    c->answers = code == EXIT_YES ? calloc(most / 64 + 1, sizeof *c->answers) : NULL;
    return code != EXIT_YES ? code : c->answers == NULL ? args_no_memory(c->args) : EXIT_YES;
}

/* ---- plans ----------------------------------------------------------------------------------- */

int compare_limit(struct compare *c, uint64_t keys)
{
    double bits = arg(c->args, "memory")->given
                      ? 8 * (double)arg(c->args, "memory")->whole
                      : floor(arg(c->args, "bits-per-key")->real * (double)keys);
    if (!arg(c->args, "memory")->given && !arg(c->args, "bits-per-key")->given) {
        return args_error(c->args, "the memory is needed: --memory SIZE or --bits-per-key B");
    }
    if (!(bits >= 1 && bits <= 0x1p60)) {
        return args_error(c->args,
                          "the size must be from 1 to 2^60 bits: give another --bits-per-key");
    }
    c->limit = (uint64_t)bits;
    c->cost_fp = arg_real(c->args, "cost-fp", 1);
    c->cost_fn = arg_real(c->args, "cost-fn", 1);
    return EXIT_YES;
}

/* The proposal of a kind and layout among plans; NULL: none that is feasible. */
static const struct tepal_proposal *proposal_of(const struct tepal_plans *plans,
                                                enum tepal_kind_id kind, enum tepal_layout layout)
{
    for (size_t i = 0; i < plans->count; i++) {
        const struct tepal_proposal *p = &plans->plan[i];
        if (p->feasible && p->kind == kind && p->params.layout == layout) {
            return p;
        }
    }
    return NULL;
}

#define HALVINGS  10   /* of the exponent of a rate, from -40 to -1: within 3 % */
#define DIRECTORY 3072 /* bits of a chain beside those of its parts, of which there are ten */

/*
 * What grows is planned by its rate, not by its memory: the lowest rate that fits, after a
 * thousandfold growth to the members.
 */
static void plan_one_that_grows(struct compare *c, enum tepal_kind_id kind,
                                enum tepal_layout layout, struct tepal_plans *scratch)
{
    struct tepal_wish w = TEPAL_WISH_INIT;
    double low = -40; /* powers of two: too much memory, or no such filter ... */
    double high = -1; /* ... and little enough, if anything is */
    struct tepal_plans *out = &c->plans[1];
    bool fits = false;
    w.keys = c->members.count;
    w.keys_first = c->members.count / 1000 + 1;
    for (int i = 0; i <= HALVINGS; i++) {
        double power = i == 0 ? high : (low + high) / 2;
        w.fp = exp2(power);
        const struct tepal_proposal *p =
            tepal_plan(&w, scratch, NULL) == TEPAL_OK ? proposal_of(scratch, kind, layout) : NULL;
        bool here = p != NULL && p->bits + (kind == TEPAL_KIND_CHAIN ? DIRECTORY : 0) <= c->limit;
        if (here) {
            out->plan[out->count] = *p;
            out->plan[out->count].fp_known = c->negatives.count > 0 ? p->fp : p->fp_known;
            fits = true;
        }
        *(here ? &high : &low) = power;
        if (!fits) {
            return;
        }
    }
    out->count += fits;
}

static int plan_growth(struct compare *c)
{
    struct tepal_plans *scratch = malloc(sizeof *scratch);
    if (scratch == NULL) {
        return args_no_memory(c->args);
    }
    plan_one_that_grows(c, TEPAL_KIND_GROWING, TEPAL_LAYOUT_FLAT, scratch);
    for (int layout = TEPAL_LAYOUT_FLAT; layout <= TEPAL_LAYOUT_PAIRED; layout++) {
        plan_one_that_grows(c, TEPAL_KIND_CHAIN, (enum tepal_layout)layout, scratch);
    }
    free(scratch);
    return EXIT_YES;
}

static int plan(struct compare *c)
{
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct weights weights = {.points = NULL};
    const char *why = NULL;
    struct tepal_error error;
    if (compare_limit(c, c->members.count) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    w.keys = c->members.count;
    w.bits = c->limit;
    w.known_negatives = c->negatives.count;
    w.counter_bits = wish_counter_bits(c->args);
    w.cost_fp = c->cost_fp;
    w.cost_fn = c->cost_fn;
    if (arg(c->args, "weights")->given) {
        why = weights_curve(c->negatives.weight, c->negatives.count, &weights);
        w.weights = weights.curve;
    }
    if (why == NULL && tepal_plan(&w, &c->plans[0], &error) != TEPAL_OK) {
        why = error.why;
    }
    weights_free(&weights);
    if (why == NULL && !c->plans[0].plan[0].feasible) {
        why = "no kind of filter fits into so little memory";
    }
    return why == NULL ? plan_growth(c) : args_error(c->args, "%s", why);
}

/* ---- measuring ------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of all plans, how many are built and asked; building one is taken for as long as all rounds. */
static void tell_progress(struct compare *c, uint64_t more)
{
    size_t all = 0;
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < c->plans[i].count; j++) {
            all += c->plans[i].plan[j].feasible;
        }
    }
    c->done += more;
    progress_share(&c->progress, (double)c->done / (double)(2 * ROUNDS * all), "comparing");
}

/*
 * The median of several rounds, for each row that still has its filter. All take turns, so that a
 * machine that is busy for a while does not slow down one of them alone.
 */
static void time_rows(struct compare *c)
{
    double took[COMPARE_ROWS][ROUNDS];
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < c->rows; i++) {
            if (c->row[i].filter != NULL) {
                double from = progress_clock();
                (void)tepal_filter_query_many(c->row[i].filter, c->query, c->queries, c->answers);
                took[i][round] = progress_clock() - from;
                tell_progress(c, 1);
            }
        }
    }
    for (size_t i = 0; i < c->rows; i++) {
        if (c->row[i].filter != NULL) {
            qsort(took[i], ROUNDS, sizeof took[i][0], by_size);
            c->row[i].ns = took[i][ROUNDS / 2] / (double)c->queries * 1e9;
            tepal_filter_free(c->row[i].filter);
            c->row[i].filter = NULL;
        }
    }
}

/* The share of the weight of known negatives that is found; as sure as so many equal ones. */
static struct wilson weigh(const struct compare *c)
{
    double found = 0;
    double total = 0;
    double squares = 0;
    for (size_t i = 0; i < c->queries; i++) {
        found += answer_of(c->answers, i) ? c->query_weight[i] : 0;
        total += c->query_weight[i];
        squares += c->query_weight[i] * c->query_weight[i];
    }
    return wilson_share(found / total, total * total / squares);
}

/* Of what is asked and not a member: the cost counts all of it, as often as it is asked. */
static void measure_errors(const struct compare *c, struct compare_row *row)
{
    uint64_t known = 0;
    uint64_t strangers = 0;
    for (size_t i = 0; i < c->queries; i++) {
        if (answer_of(c->answers, i) && !digests_has(&c->members, c->query[i])) {
            bool named = digests_has(&c->negatives, c->query[i]);
            known += named;
            strangers += !named;
        }
    }
    row->known = c->query_weight != NULL ? weigh(c) : wilson_99(known, c->known);
    row->fp = wilson_99(strangers, c->outsiders - c->known);
    double rate =
        c->query_weight != NULL ? row->known.rate : wilson_99(known + strangers, c->outsiders).rate;
    row->cost = (c->outsiders > 0 ? c->cost_fp * rate : 0) + c->cost_fn * row->fn.rate;
}

static void measure(struct compare *c, const struct tepal_filter *filter, struct compare_row *row)
{
    uint64_t present =
        tepal_filter_query_many(filter, c->members.digest, c->members.count, c->answers);
    row->fn = wilson_99(c->members.count - present, c->members.count);
    (void)tepal_filter_query_many(filter, c->query, c->queries, c->answers);
    measure_errors(c, row);
    if (c->draws > 0) {
        row->fp =
            wilson_99(tepal_filter_query_many(filter, c->drawn, c->draws, c->answers), c->draws);
    }
    row->bytes = tepal_params_cell_bytes(tepal_filter_params(filter));
}

static int build_plans(struct compare *c, const struct tepal_plans *plans)
{
    bool weighted = arg(c->args, "weights")->given;
    bool together = c->limit / 8 <= TOGETHER / COMPARE_ROWS;
    int code = EXIT_YES;
    for (size_t i = 0; i < plans->count && plans->plan[i].feasible; i++) {
        const struct tepal_proposal *p = &plans->plan[i];
        struct tepal_plan_input input = {
            .seed = c->seed,
            .known = {.members = c->members.digest,
                      .member_count = c->members.count,
                      .avoid = c->negatives.digest,
                      .avoid_count = c->negatives.count,
                      .avoid_weights = weighted ? c->negatives.weight : NULL}};
        struct tepal_filter *filter = NULL;
        struct tepal_error error = {.why = ""};
        enum tepal_status status = tepal_plan_build(p, &input, NULL, &filter, NULL, &error);
        if (status == TEPAL_NO_MEMORY) {
            code = args_no_memory(c->args);
            break;
        }
        if (status != TEPAL_OK) {
            progress_end(&c->progress);
            say_warning(c->args->command->name, "%s, %s: %s", tepal_kind_by_id(p->kind)->name,
                        tepal_layout_name(p->params.layout), error.why);
            tell_progress(c, (uint64_t)2 * ROUNDS);
            continue;
        }
        struct compare_row *row = &c->row[c->rows++];
        row->plan = p;
        row->filter = filter;
        measure(c, filter, row);
        tell_progress(c, ROUNDS);
        if (!together) {
            time_rows(c);
        }
    }
    return code;
}

static int build_all(struct compare *c)
{
    progress_start(&c->progress, !arg(c->args, "quiet")->given);
    int code = build_plans(c, &c->plans[0]);
    code = code == EXIT_YES ? build_plans(c, &c->plans[1]) : code;
    time_rows(c);
    progress_end(&c->progress);
    return code;
}

/* ---- telling --------------------------------------------------------------------------------- */

static const char *kind_name(const struct compare_row *row)
{
    return tepal_kind_by_id(row->plan->kind)->name;
}

static const char *layout_name(const struct compare_row *row)
{
    return tepal_layout_name(row->plan->params.layout);
}

/* 0: it is not a counting filter, or has one. */
static unsigned choices(const struct tepal_proposal *plan)
{
    uint64_t c = plan->kind == TEPAL_KIND_COUNTING ? plan->params.counting.choices : 0;
    return c > 1 ? (unsigned)c : 0;
}

/* "recycling 2": in two phases; "counting 8": with eight choices. */
static const char *label(const struct compare_row *row, char room[24])
{
    unsigned number = compare_phases(row->plan) + choices(row->plan);
    if (number == 0) {
        return kind_name(row);
    }
    snprintf(room, 24, "%s %u", kind_name(row), number);
    return room;
}

static void tell_row(struct report *r, const struct compare_row *row, bool known)
{
    char room[24];
    char command[PLAN_COMMAND];
    report_object(r, NULL);
    report_text(r, NULL, label(row, room), text_column("kind", -11, NULL));
    report_text(r, "kind", kind_name(row), JSON_ONLY);
    report_text(r, "layout", layout_name(row), column("layout", -11, NULL));
    report_whole(r, "bytes", row->bytes, column("bytes", 12, NULL));
    report_real(r, "fp_predicted", row->plan->fp, column("fp planned", 10, "%.3g"));
    report_real(r, "fp", row->fp.rate, column_or(column("fp", 10, "%.3g"), "?"));
    report_real(r, "fp_low", row->fp.low, JSON_ONLY);
    report_real(r, "fp_high", row->fp.high, JSON_ONLY);
    if (known) {
        report_real(r, "fp_known_predicted", row->plan->fp_known, column("known plan", 10, "%.3g"));
        report_real(r, "fp_known", row->known.rate, column_or(column("fp known", 10, "%.3g"), "?"));
        report_real(r, "fp_known_low", row->known.low, JSON_ONLY);
        report_real(r, "fp_known_high", row->known.high, JSON_ONLY);
    }
    report_real(r, "fn_predicted", row->plan->fn, column("fn planned", 10, "%.3g"));
    report_real(r, "fn", row->fn.rate, column("fn", 10, "%.3g"));
    report_real(r, "cost", row->cost, column("cost", 10, "%.3g"));
    report_real(r, "ns_per_query", row->ns, column("ns/query", 8, "%.1f"));
    if (compare_phases(row->plan) > 0) {
        report_whole(r, "phases", compare_phases(row->plan), JSON_ONLY);
    }
    if (choices(row->plan) > 0) {
        report_whole(r, "choices", choices(row->plan), JSON_ONLY);
    }
    report_text(r, "command", plan_command(row->plan, NULL, command, sizeof command), JSON_ONLY);
    report_end(r);
}

static int print(const struct compare *c)
{
    struct report r = report_open(c->args);
    report_object(&r, NULL);
    report_flag(&r, "endless", arg(c->args, "endless")->given, JSON_ONLY);
    report_flag(&r, "weighted", c->query_weight != NULL, JSON_ONLY);
    report_whole(&r, "members", c->members.count, JSON_ONLY);
    report_whole(&r, "negatives", c->negatives.count, JSON_ONLY);
    report_whole(&r, "queries", c->queries, JSON_ONLY);
    report_whole(&r, "non_members", c->outsiders, JSON_ONLY);
    report_whole(&r, "strangers", c->draws > 0 ? c->draws : c->outsiders - c->known, JSON_ONLY);
    if (arg(c->args, "endless")->given) {
        report_line(&r, "%zu message%s, %" PRIu64 " of them new\n\n", c->queries, SAY_S(c->queries),
                    c->outsiders);
    } else {
        report_line(&r,
                    "%zu member%s, %zu negative%s, %zu quer%s (%" PRIu64 " of non-members)%s\n\n",
                    c->members.count, SAY_S(c->members.count), c->negatives.count,
                    SAY_S(c->negatives.count), c->queries, c->queries == 1 ? "y" : "ies",
                    c->outsiders, c->query_weight != NULL ? "; fp known by weight" : "");
    }
    report_list(&r, "rows");
    for (size_t i = 0; i < c->rows; i++) {
        tell_row(&r, &c->row[i], c->negatives.count > 0);
    }
    report_end(&r);
    report_end(&r);
    return report_close(&r, EXIT_YES);
}

static enum svg_shape shape_of(const struct compare_row *row)
{
    switch (row->plan->params.layout) {
    case TEPAL_LAYOUT_BLOCKED:
        return SVG_SQUARE;
    case TEPAL_LAYOUT_PAIRED:
        return SVG_DIAMOND;
    case TEPAL_LAYOUT_PARTITIONED:
        return SVG_TRIANGLE;
    default:
        return SVG_CIRCLE;
    }
}

#define LEGEND 36 /* kinds and layouts, at most */

/* The legend: series without points, the colours of the kinds and the shapes of the layouts. */
static size_t add_legend(const struct compare *c, struct svg_series *series, struct svg_look *look)
{
    size_t count = 0;
    uint64_t kinds = 0; /* those that are there */
    uint64_t layouts = 0;
    static const char *const shapes[] = {"flat: circles", "partitioned: triangles",
                                         "blocked: squares", "paired: diamonds"};
    for (size_t i = 0; i < c->rows; i++) {
        const struct compare_row *r = &c->row[i];
        uint64_t bit = UINT64_C(1) << (r->plan->kind % 32);
        if ((kinds & bit) == 0) {
            kinds |= bit;
            look[count] = (struct svg_look){.colour = (size_t)r->plan->kind};
            series[count++] = (struct svg_series){kind_name(r), SVG_MARKS, NULL, 0};
        }
    }
    for (size_t i = 0; i < c->rows; i++) {
        const struct compare_row *r = &c->row[i];
        uint64_t bit = UINT64_C(1) << (r->plan->params.layout % 4);
        if ((layouts & bit) == 0) {
            layouts |= bit;
            look[count] = (struct svg_look){.colour = SVG_COLOURS, .shape = shape_of(r)};
            series[count++] =
                (struct svg_series){shapes[r->plan->params.layout % 4], SVG_MARKS, NULL, 0};
        }
    }
    return count;
}

/*
 * A mark for each: how long a query takes, and how often it is wrong. A kind has a colour, a layout
 * a shape, and each mark its name.
 */
static void draw(const void *context, struct out *out)
{
    const struct compare *c = context;
    struct svg_series series[COMPARE_ROWS + LEGEND];
    struct svg_look look[COMPARE_ROWS + LEGEND];
    struct svg_point point[COMPARE_ROWS];
    char name[COMPARE_ROWS][40];
    for (size_t i = 0; i < c->rows; i++) {
        const struct compare_row *r = &c->row[i];
        char room[24];
        snprintf(name[i], sizeof name[i], "%s, %s", label(r, room), layout_name(r));
        look[i] = (struct svg_look){
            .colour = (size_t)r->plan->kind, .shape = shape_of(r), .label = name[i]};
        point[i] =
            (struct svg_point){r->ns, isnan(r->fp.rate) ? 0 : r->fp.rate, r->fp.low, r->fp.high};
        series[i] = (struct svg_series){NULL, SVG_MARKS, &point[i], 1};
    }
    struct svg_chart chart = {.title = "False positives by lookup time, at the same memory",
                              .x_label = "time of a query, ns",
                              .y_label = "false positives",
                              .y_unit = SVG_SHARE,
                              .x_log = true,
                              .y_log = true,
                              .series = series,
                              .look = look,
                              .count = c->rows + add_legend(c, series + c->rows, look + c->rows)};
    svg_print(out, &chart);
}

/* The least cost first; of equal ones, the better plan. */
static int by_cost(const void *a, const void *b)
{
    const struct compare_row *x = a;
    const struct compare_row *y = b;
    return x->cost != y->cost ? by_size(&x->cost, &y->cost)
                              : (x->plan > y->plan) - (x->plan < y->plan);
}

static int compare_set(struct compare *c)
{
    int code = read_keys(c);
    code = code == EXIT_YES ? plan(c) : code;
    return code == EXIT_YES ? build_all(c) : code;
}

static int compare_run(const struct args *args)
{
    struct compare *c = calloc(1, sizeof *c);
    const struct option_value *seed = arg(args, "seed");
    const struct option_value *svg = arg(args, "svg");
    if (c == NULL) {
        return args_no_memory(args);
    }
    c->args = args;
    c->seed = seed->given ? seed->whole : SEED;
    tepal_hasher_init(c->seed, &c->hasher);
    int code = svg->given ? atomic_file_check(args, svg->text) : EXIT_YES;
    if (code == EXIT_YES && arg(args, "weights")->given && !arg(args, "negatives")->given) {
        code = args_error(args, "--weights needs a file of negatives: give --negatives KEYS");
    }
    if (code == EXIT_YES) {
        code = arg(c->args, "endless")->given ? compare_stream(c) : compare_set(c);
    }
    qsort(c->row, c->rows, sizeof *c->row, by_cost);
    code = code == EXIT_YES ? atomic_file_write(args, "svg", draw, c) : code;
    code = code == EXIT_YES ? print(c) : code;
    digests_free(&c->members);
    digests_free(&c->negatives);
    free(c->query);
    free(c->drawn);
    free(c->answers);
    free(c);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "members", OF_VALUE(TAKES_FILE, "KEYS"), "The members: the keys of the set."),
    OPTION(0, "negatives", OF_VALUE(TAKES_FILE, "KEYS"),
           "Keys known not to be in the set, for the kinds that use them."),
    OPTION_WISH_WEIGHTS,
    OPTION(0, "queries", OF_VALUE(TAKES_FILE, "KEYS"),
           "Keys to look up, members or not (default: the negatives, or a million keys that are "
           "not members)."),
    OPTION_ENDLESS,
    OPTION_WISH_MEMORY,
    OPTION_WISH_BITS_PER_KEY,
    OPTION_WISH_COUNTER_BITS,
    OPTION_COST_FP,
    OPTION_COST_FN,
    OPTION_SEED,
    OPTION(0, "svg", OF_VALUE(TAKES_FILE, "FILE"),
           "Draw false positives against lookup time to FILE, as SVG."),
    OPTION_FORCE,
    KEY_OPTIONS,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"memory", "bits-per-key"},
                                           {"endless", "negatives"},
                                           {"endless", "queries"},
                                           {"endless", "counter-bits"},
                                           {NULL}};
static const struct example examples[] = {
    {"tepal compare --members seen.txt --negatives others.txt --bits-per-key 10",
     "Every kind at ten bits per key."},
    {"tepal compare --endless --members log.txt --memory 64Ki",
     "The kinds for endless streams, on your own stream."},
    {NULL, NULL}};

const struct command command_compare = {
    .name = "compare",
    .synopsis = "--members KEYS [--negatives KEYS] [--queries KEYS] --memory SIZE",
    .summary = "Build every kind from your own keys, at the same memory.",
    .about =
        "Plans every kind for the given memory, builds it from your members (and negatives), looks "
        "up your queries and prints a table: predicted and measured error rates, their weighted "
        "cost, lookup time and bytes. fp is the rate of strangers (queries that are no negatives, "
        "or a "
        "million keys if there are none), fp known that of the negatives; with --weights by "
        "weight.\n\n"
        "Growing filters and chains are those that have grown a thousandfold to the members.\n\n"
        "With --endless the members are a stream, in order: the kinds for endless streams are "
        "planned from its gaps, and must say for every line whether it came before.",
    .options = options,
    .exclusive = exclusive,
    .needed = "members",
    .examples = examples,
    .run = compare_run};

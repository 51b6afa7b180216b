/* plan.c: constraints in, a ranked list of plans out. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tepal/filter.h>

#include "cli/command.h"
#include "commands/plan/cluster.h"
#include "commands/plan/picture.h"
#include "plans/explain.h"
#include "plans/plan_command.h"
#include "plans/plan_json.h"
#include "output/progress.h"
#include "output/render.h"
#include "output/report.h"
#include "files/atomic_file.h"
#include "plans/wish.h"
#include "cli/options.h"

struct planner {
    const struct args *args;
    struct wish wish;
    struct tepal_plans plans;
    struct report *report;
    struct cluster cluster; /* 0 nodes: it is not asked for */
};

static const char *kind_name(const struct tepal_proposal *plan)
{
    const struct tepal_kind *kind = tepal_kind_by_id(plan->kind);
    return kind == NULL ? "?" : kind->name;
}

/* ---- text ------------------------------------------------------------------------------------ */

static const char *rate(double x, char *room, size_t size)
{
    if (isnan(x)) {
        snprintf(room, size, "unknown");
        return room;
    }
    return x == 0 ? "none" : render_rate(x, room, size);
}

static void print_choice(const struct planner *p, const struct tepal_proposal *plan)
{
    char room[512];
    report_line(p->report, "plan       %s, %s\n", kind_name(plan),
                tepal_layout_name(plan->params.layout));
    report_line(p->report, "fp         %s%s\n", rate(plan->fp, room, sizeof room),
                p->plans.closed_world ? " of strangers, which are not bounded" : "");
    if (p->wish.wish.known_negatives > 0) {
        report_line(p->report, "fp known   %s%s\n", rate(plan->fp_known, room, sizeof room),
                    p->wish.weighted ? " of the weight" : "");
    }
    report_line(p->report, "fn         %s", rate(plan->fn, room, sizeof room));
    if (p->wish.wish.max_fn > 0 && plan->max_fn == p->wish.wish.max_fn) {
        report_line(p->report, ", and at most %s lost to keys that it avoids",
                    rate(plan->max_fn, room, sizeof room));
    }
    report_line(p->report, "\n");
    report_line(p->report, "memory     %s", render_bytes((plan->bits + 7) / 8, room, sizeof room));
    if (isfinite(plan->bits_per_key)) {
        report_line(p->report, ", %.4g bits per key", plan->bits_per_key);
    }
    report_line(p->report, "\nprobes     %.3g cache line%s per lookup of an absent key\n",
                plan->probes, SAY_S(plan->probes));
    report_line(p->report, "build      %s\n",
                plan_command(plan, p->wish.negatives, room, sizeof room));
}

/* Can it be built, with every seed or with most? */
static bool can_be(const struct tepal_proposal *plan)
{
    return plan->feasible || plan->likely > 0;
}

/* Is there a plan of this kind before it? */
static bool has_better(const struct tepal_proposal *plan, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (plan[j].kind == plan[i].kind) {
            return true;
        }
    }
    return false;
}

/*
 * All of them in JSON; for people the layouts of the choice and the best of each other kind, or
 * all: most kinds come on four layouts of nearly the same size, and twenty rows hide the few that
 * matter.
 */
static void tell_plans(const struct planner *p)
{
    const struct tepal_proposal *plan = p->plans.plan;
    struct report *r = p->report;
    bool json = report_is(r, REPORT_JSON);
    size_t hidden = 0;
    char note[32];
    report_list(r, "plans");
    report_line(r, can_be(&plan[0]) ? "\n" : "");
    for (size_t i = 0; i < p->plans.count && (json || can_be(&plan[i])); i++) {
        if (!json && !arg(p->args, "all")->given && plan[i].kind != plan[0].kind &&
            has_better(plan, i)) {
            hidden++;
            continue;
        }
        report_object(r, NULL);
        plan_figures(r, &plan[i], p->wish.wish.known_negatives > 0);
        if (plan[i].likely > 0) {
            snprintf(note, sizeof note, " likely, %.3g %%", 100 * plan[i].likely);
        }
        if (plan[i].likely > 0 || i == 1) {
            report_text(r, NULL, plan[i].likely > 0 ? note : " runner-up",
                        text_column(NULL, 0, NULL));
        }
        report_end(r);
    }
    report_end(r);
    if (hidden > 0) {
        report_line(r, "and %zu other layout%s of these kinds (--all lists them)\n", hidden,
                    SAY_S(hidden));
    }
}

/* A line for each reason: layouts of a kind that follow each other and share it share the line. */
static void print_refused(const struct planner *p)
{
    const struct tepal_proposal *last = NULL;
    for (size_t i = 0; i < p->plans.count; i++) {
        const struct tepal_proposal *plan = &p->plans.plan[i];
        if (can_be(plan)) {
            continue;
        }
        bool again =
            last != NULL && plan->kind == last->kind && strcmp(plan->reason, last->reason) == 0;
        if (last == NULL) {
            report_line(p->report, "\nrefused\n");
        } else if (!again) {
            report_line(p->report, ": %s\n", last->reason);
        }
        if (!again) {
            report_line(p->report, "  %s", kind_name(plan));
        }
        if (!plan->all_layouts) {
            report_line(p->report, ", %s", tepal_layout_name(plan->params.layout));
        }
        last = plan;
    }
    if (last != NULL) {
        report_line(p->report, ": %s\n", last->reason);
    }
}

static void print_assumptions(const struct planner *p)
{
    const struct tepal_wish *w = &p->wish.wish;
    const struct tepal_proposal *plan = &p->plans.plan[0];
    report_line(p->report, "\nassumptions\n");
    if (w->keys == 0 && !w->endless) {
        report_line(p->report, "  %" PRIu64 " key%s: as many as fit into the memory\n",
                    p->plans.keys, SAY_S(p->plans.keys));
    }
    if (p->wish.assumed_keys) {
        report_line(p->report, "  %" PRIu64 " keys: --keys was not given, only bits per key\n",
                    w->keys);
    }
    if (isnan(w->fp) && isnan(w->fp_average) && isfinite(p->plans.fp)) {
        report_line(p->report, "  1 %% false positives: %s\n",
                    w->bits > 0 ? "--fp was not given"
                                : "neither --fp nor a memory size was given");
    }
    if (isnan(w->fp_known) && p->plans.fp_known == 0) {
        report_line(p->report, "  no known negative may be found: --fp-known was not given\n");
    }
    if (isnan(w->fn) && plan->fn != 0 && plan->kind != TEPAL_KIND_RECYCLING) {
        report_line(p->report, "  false negatives are allowed: --fn was not given\n");
    }
    if (w->wrong_deletes == 0 && w->deletes) {
        report_line(p->report, "  only keys that were added are removed: see --wrong-deletes\n");
    }
    report_line(p->report, "  %s: %s\n", kind_name(plan), plan->reason);
    report_line(p->report, "  keys are distinct, and hash functions are uniform\n");
}

/* The best plan of each kind, if it is wanted. */
static void print_equations(const struct planner *p, const struct tepal_proposal *plan,
                            size_t count)
{
    if (!arg(p->args, "explain")->given || p->report->out == NULL) {
        return;
    }
    report_line(p->report, "\nequations (docs/models.md)\n");
    for (size_t i = 0; i < count && (plan[i].feasible || count == 1); i++) {
        if (!has_better(plan, i)) {
            report_line(p->report, "%s, %s\n", kind_name(&plan[i]),
                        tepal_layout_name(plan[i].params.layout));
            explain_plan(p->report->out, &p->wish.wish, &p->plans, &plan[i]);
        }
    }
}

/* Tries enough for all but one in a thousand. */
static unsigned tries(double likely)
{
    return (unsigned)ceil(log(1e-3) / log1p(-likely));
}

static void print_likely(const struct planner *p)
{
    const struct tepal_proposal *plan = &p->plans.plan[0];
    unsigned enough = tries(plan->likely);
    report_line(
        p->report,
        "nothing fits with every seed: this plan is likely, %.3g %% of all seeds build it\n",
        100 * plan->likely);
    print_choice(p, plan);
    report_line(
        p->report,
        "try        tepal build --auto --try %u: some seed of %u builds it with probability "
        "%.6g %%\n",
        enough, enough, 100 * (1 - pow(1 - plan->likely, enough)));
}

static void print_blocked(const struct planner *p)
{
    const struct tepal_plans *plans = &p->plans;
    report_line(p->report, "nothing fits: the nearest plan does not satisfy --%s",
                strcmp(plans->blocked_by, "memory") == 0 && p->wish.bits_per_key > 0
                    ? "bits-per-key"
                    : plans->blocked_by);
    report_line(p->report, "%s%s\n", plans->blocked_also[0] == '\0' ? "" : ", nor ",
                plans->blocked_also);
    if (plans->nearest.params.cells > 0) {
        print_choice(p, &plans->nearest);
    }
}

/* What was asked for, in JSON. */
static void tell_wish(const struct planner *p)
{
    struct report *r = p->report;
    report_whole(r, "keys", p->plans.keys, JSON_ONLY);
    report_real(r, "fp", p->plans.fp, JSON_ONLY);
    report_real(r, "fp_known", p->plans.fp_known, JSON_ONLY);
    report_flag(r, "closed_world", p->plans.closed_world, JSON_ONLY);
    report_real(r, "fn", p->plans.fn, JSON_ONLY);
    report_whole(r, "known_negatives", p->wish.wish.known_negatives, JSON_ONLY);
    report_flag(r, "weighted", p->wish.wish.weights.count > 0, JSON_ONLY);
    report_flag(r, "feasible", p->plans.plan[0].feasible, JSON_ONLY);
}

/* What is in the way of all, in JSON. */
static void tell_blocked(const struct planner *p)
{
    struct report *r = p->report;
    if (report_is(r, REPORT_JSON) && p->plans.blocked_by[0] != '\0') {
        report_text(r, "blocked_by", p->plans.blocked_by, JSON_ONLY);
        report_text(r, "blocked_also", p->plans.blocked_also, JSON_ONLY);
        report_object(r, "nearest");
        plan_figures(r, &p->plans.nearest, false);
        report_end(r);
    }
}

static void tell(const struct planner *p)
{
    bool feasible = p->plans.plan[0].feasible;
    report_object(p->report, NULL);
    tell_wish(p);
    if (feasible) {
        print_choice(p, &p->plans.plan[0]);
        if (p->cluster.nodes > 0) {
            cluster_tell(p->report, &p->cluster);
        }
    } else if (p->plans.plan[0].likely > 0) {
        print_likely(p);
    } else {
        print_blocked(p);
    }
    tell_plans(p);
    tell_blocked(p);
    print_refused(p);
    if (feasible) {
        print_assumptions(p);
        print_equations(p, p->plans.plan, p->plans.count);
    } else if (p->plans.nearest.params.cells > 0) {
        print_equations(p, &p->plans.nearest, 1);
    }
    report_end(p->report);
}

static int print(struct planner *p)
{
    struct report r = report_open(p->args);
    p->report = &r;
    tell(p);
    return report_close(&r, p->plans.plan[0].feasible ? EXIT_YES : EXIT_NO);
}

/* Into parts for many nodes, if that is wanted. */
static int divide(struct planner *p)
{
    uint64_t nodes = arg_whole(p->args, "cluster", 0);
    if (nodes == 0 || !p->plans.plan[0].feasible) {
        return EXIT_YES;
    }
    if (p->wish.wish.header_bits > 0 || p->wish.wish.weights.count > 0 || p->plans.keys == 0) {
        return args_wrong(p->args, "--cluster needs a number of keys, and neither a header nor "
                                   "weights");
    }
    return cluster_plan(p->args, &p->wish.wish, &p->plans, nodes, &p->cluster);
}

static int plan_run(const struct args *args)
{
    struct planner p = {.args = args};
    struct progress progress;
    struct plan_picture picture = {.wish = &p.wish.wish, .plans = &p.plans, .progress = &progress};
    struct tepal_error error = {.why = ""};
    int code = arg(args, "svg")->given ? atomic_file_check(args, arg(args, "svg")->text) : EXIT_YES;
    code = code == EXIT_YES ? wish_read(args, 0, NULL, &p.wish) : code;
    p.wish.wish.progress = progress_of(&progress, !arg(args, "quiet")->given, "planning");
    if (code == EXIT_YES && tepal_plan(&p.wish.wish, &p.plans, &error) != TEPAL_OK) {
        code = args_wrong(args, "%s", error.why);
    }
    progress_end(&progress);
    if (code == EXIT_YES) {
        wish_warn(args, &p.wish, &p.plans);
        code = divide(&p);
    }
    if (code == EXIT_YES) {
        code = atomic_file_write(args, "svg", plan_picture, &picture);
        progress_end(&progress);
    }
    code = code == EXIT_YES ? print(&p) : code;
    wish_free(&p.wish);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION('n', "keys", OF_RANGE("N", 1, (uint64_t)1 << 50),
           "The number of keys, or A..B for a number that grows from A to B (as --grow --first A "
           "--keys B); with --endless, how many of the latest must be remembered "
           "(default: as many as fit into the memory)."),
    OPTION('p', "fp", OF_VALUE(TAKES_RATE, "RATE"),
           "Maximum false-positive rate of strangers (keys that nobody named), as 1%, 0.01, 1e-2 "
           "or 1/100 (default: the lowest that the memory allows, or 1%)."),
    OPTION(0, "fn", OF_VALUE(TAKES_PART, "RATE"),
           "Maximum false-negative rate; 0 for none (default: none if possible, else the "
           "false-positive rate)."),
    OPTION(0, "max-fn", OF_VALUE(TAKES_SHARE, "R"),
           "The filter will be told which keys it found wrongly (tepal avoid): it may lose at most "
           "the share R of its members for that, as 0.1% or 1/1000, in all."),
    FLAG(0, "grow",
         "The number of keys grows from --first to --keys, and the memory is to follow it: plan "
         "growing filters and chains."),
    OPTION(0, "first", OF_WHOLE("N", 1, (uint64_t)1 << 40),
           "With --grow: the number of keys at first (default: a thousandth)."),
    OPTION_WISH_BITS_PER_KEY,
    WISH_OPTIONS,
    OPTION_WISH_COUNTER_BITS,
    OPTION(0, "known-negatives", OF_VALUE(TAKES_FILE, "N"),
           "The number of known negatives: keys that will be looked up and are not in the set; or "
           "a file with them. --fp-known is their rate."),
    OPTION_WISH_WEIGHTS,
    OPTION(0, "cluster", OF_WHOLE("NODES", 1, 100000),
           "Divide the filter into parts for so many nodes of a Redis or Valkey cluster: how many "
           "parts, of how many keys and bytes, and what a node then has (docs/redis.md)."),
    FLAG('a', "all",
         "List every layout of every kind (default: all layouts of the chosen kind, the best of "
         "each other one; --json always has all)."),
    FLAG(0, "explain", "Print the equations of every feasible kind, with numbers filled in."),
    OPTION(0, "svg", OF_VALUE(TAKES_FILE, "FILE"),
           "Draw false positives against memory for every feasible kind to FILE, as SVG."),
    OPTION_FORCE,
    KEY_OPTIONS,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {
    {"memory", "bits-per-key", "header-bits"}, {"gaps", "stream"}, {"explain", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal plan --keys 10M --fp 1%", "The smallest filter for ten million keys at 1 %."},
    {"tepal plan --keys 1M --deletes --wrong-deletes 1% --fp 0.1%",
     "Keys are removed, sometimes keys that were never added."},
    {"tepal plan --keys 1M --fp 0.1% --known-negatives asked.tsv --weights",
     "Known negatives, weighted by how often they are looked up."},
    {"tepal plan --keys 1M --memory 1Mi --cost-fp 1 --cost-fn 20",
     "The lowest cost within a mebibyte."},
    {"tepal plan --endless --keys 1M --fp 1%", "An endless stream."},
    {"tepal plan --grow --first 1M --keys 1G --fp 1%", "A set that grows from a million keys to a "
                                                       "billion."},
    {"tepal plan --keys 1000G --fp 1% --prefer speed --cluster 1000",
     "A filter for a cluster of a thousand nodes."},
    {NULL, NULL}};

const struct command command_plan = {
    .name = "plan",
    .synopsis = "--keys N [--fp RATE] [--fn RATE] [--memory SIZE] [CONSTRAINTS]",
    .summary = "Choose the kind and size of a filter from your constraints.",
    .about = "Prints plans that satisfy the constraints, best first: the kind of filter, its "
             "layout and size, the error rates to expect, and the command that builds it; and for "
             "every other kind, why it was refused. No filter is built: the plans come from "
             "models.\n\n"
             "With --fp (or neither --fp nor a memory size), minimizes the memory that keeps --fp, "
             "--fp-known and --fn. With a memory size alone, minimizes the cost within it: "
             "--cost-fp per false positive and --cost-fn per false negative; with known negatives "
             "their false positives, and then those of strangers.\n\n"
             "A fingerprint filter into which the keys fit with most seeds but not with all is "
             "listed as likely, with its probability; tepal build --auto --try N builds it.\n\n"
             "Exit status 0 if there is a plan, 1 if nothing fits for certain (prints the likely "
             "plan, or the nearest plan and the constraints it does not satisfy), 2 on an error.",
    .options = options,
    .exclusive = exclusive,
    .examples = examples,
    .run = plan_run};

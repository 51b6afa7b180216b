/* auto.c: count and plan, or read a plan; which options go with that. */
#include "commands/build/auto.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tepal/filter.h>

#include "plans/plan_command.h"
#include "plans/plan_json.h"
#include "plans/wish.h"
#include "input/slurp.h"
#include "output/progress.h"
#include "output/render.h"

#define PLAN_FILE_MOST ((size_t)1 << 20)

/* Constraints that only a planner understands. */
static const char *const constraints[] = {"memory",      "fp-average",   "deletes", "wrong-deletes",
                                          "untrusted",   "endless",      "gaps",    "stream",
                                          "header-bits", "prefer",       "cost-fp", "cost-fn",
                                          "try",         "closed-world", NULL};

/* What a planner takes of the options that build has anyway. */
static const char *const shared[] = {"fp",           "fp-known",     "fn", "max-fn",
                                     "bits-per-key", "counter-bits", NULL};

/* What has nothing to do with what is built. */
static const char *const others[] = {"output", "force", "seed",     "null",     "hex",      "plain",
                                     "crlf",   "jobs",  "json",     "key-file", "comments", "hash",
                                     "unique", "quiet", "compress", NULL};

/* What the plan is made from, or needs. */
static const char *const negatives[] = {"avoid", "weights", NULL};

static bool fits_plan(const void *context, const char *name)
{
    (void)context;
    return args_listed(others, name) || args_listed(negatives, name) || strcmp(name, "plan") == 0 ||
           strcmp(name, "try") == 0;
}

/* The range of a filter that grows is a constraint for the planner, too. */
static const char *const growth[] = {"grow", "first", "capacity", NULL};

static bool fits_auto(const void *context, const char *name)
{
    const struct args *args = context;
    if (arg(args, "grow")->given && args_listed(growth, name)) {
        return true;
    }
    return strcmp(name, "auto") == 0 || args_listed(constraints, name) ||
           args_listed(shared, name) || (strcmp(name, "plan") != 0 && fits_plan(context, name));
}

static bool fits_options(const void *context, const char *name)
{
    (void)context;
    return !args_listed(constraints, name);
}

int auto_check(const struct args *args)
{
    bool plans = arg(args, "auto")->given;
    bool planned = plans || arg(args, "plan")->given;
    bool (*fits)(const void *, const char *) = plans     ? fits_auto
                                               : planned ? fits_plan
                                                         : fits_options;
    const char *other = args_misfit(args, fits, args);
    if (other == NULL) {
        return EXIT_YES;
    }
    return planned ? args_error(args, "--%s cannot be combined with --%s: the plan decides", other,
                                plans ? "auto" : "plan")
                   : args_error(args, "--%s is a constraint for a plan: it needs --auto", other);
}

/* ---- a plan that is made --------------------------------------------------------------------- */

static int say_likely(const struct args *args, const struct tepal_proposal *plan)
{
    return args_error(args,
                      "the plan is likely, not sure: its %" PRIu64 " bytes have room for the keys "
                      "with %.3g %% of all seeds; --try N tries N of them",
                      (plan->params.cells + 7) / 8, 100 * plan->likely);
}

static int say_infeasible(const struct args *args, const struct tepal_plans *plans)
{
    const struct tepal_proposal *near = &plans->nearest;
    const struct tepal_kind *kind = tepal_kind_by_id(near->kind);
    return args_error(args,
                      "nothing fits: the nearest plan does not satisfy --%s%s%s: %s, %s, %" PRIu64
                      " bytes, fp %.3g",
                      plans->blocked_by, plans->blocked_also[0] == '\0' ? "" : ", nor ",
                      plans->blocked_also, kind == NULL ? "?" : kind->name,
                      tepal_layout_name(near->params.layout), (near->bits + 7) / 8, near->fp);
}

/*
 * Must all keys that come be remembered? Not in a stream, if its gaps or a memory tell how far back
 * one should look: it goes on, and how much of it is here is chance.
 */
static bool counts(const struct args *args)
{
    bool told =
        arg(args, "gaps")->given || arg(args, "stream")->given || arg(args, "memory")->given;
    return !(arg(args, "endless")->given && told && !arg(args, "untrusted")->given);
}

static int count_keys(const struct args *args, const struct spool *spool, uint64_t *keys)
{
    if (wish_count(args, spool->path, spool->count, keys) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    return *keys > 0 ? EXIT_YES
                     : args_error(args, "no keys in the input: there is nothing to plan for");
}

static int make_plan(const struct args *args, const struct spool *spool,
                     struct tepal_proposal *plan)
{
    struct wish w = {.steps = NULL};
    struct tepal_plans plans;
    struct tepal_error error = {.why = ""};
    struct progress progress;
    uint64_t keys;
    int code = count_keys(args, spool, &keys);
    if (code == EXIT_YES) {
        code = wish_read(args, counts(args) ? keys : 0, spool->avoid, &w);
    }
    w.wish.progress = progress_of(&progress, !arg(args, "quiet")->given, "planning");
    if (code == EXIT_YES && tepal_plan(&w.wish, &plans, &error) != TEPAL_OK) {
        code = args_error(args, "%s", error.why);
    }
    progress_end(&progress);
    if (code == EXIT_YES) {
        wish_warn(args, &w, &plans);
    }
    wish_free(&w);
    if (code == EXIT_YES && !plans.plan[0].feasible && !(plans.plan[0].likely > 0)) {
        code = say_infeasible(args, &plans);
    }
    if (code == EXIT_YES) {
        char command[PLAN_COMMAND];
        *plan = plans.plan[0];
        if (!arg(args, "quiet")->given) {
            say_line("plan: %s", plan_command(plan, NULL, command, sizeof command));
        }
    }
    return code;
}

/* ---- a plan that was saved ------------------------------------------------------------------- */

static int read_plan(const struct args *args, struct tepal_proposal *plan)
{
    const char *path = arg(args, "plan")->text;
    char room[PLAN_JSON_WHY];
    size_t len;
    char *text = slurp(args, path, PLAN_FILE_MOST, &len);
    if (text == NULL) {
        return EXIT_TROUBLE;
    }
    const char *why = plan_json_read(text, len, plan, room);
    bool old = why == NULL && plan_json_old(text, len);
    free(text);
    if (why != NULL) {
        return args_about(args, path, "%s", why);
    }
    if (old && plan->fp > plan->fp_known && !arg(args, "quiet")->given) {
        char rate[64];
        say_warning(path,
                    "the plan is of an older tepal, whose fp was that of known negatives: %s of "
                    "strangers pass; to bound them, write it again with tepal plan --fp",
                    render_rate(plan->fp, rate, sizeof rate));
    }
    return tepal_plan_streams(plan) || arg(args, "avoid")->given
               ? EXIT_YES
               : args_error(
                     args, "the plan needs --avoid NEGATIVES, the keys known not to be in the set");
}

int auto_plan(const struct args *args, const struct spool *spool, struct tepal_proposal *plan)
{
    int code = arg(args, "auto")->given ? make_plan(args, spool, plan) : read_plan(args, plan);
    return code == EXIT_YES && plan->likely > 0 && !arg(args, "try")->given ? say_likely(args, plan)
                                                                            : code;
}

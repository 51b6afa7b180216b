/*
 * plan_fuzz.c: what the planner reads of files: saved plans, whose numbers must be those of a
 * filter that can be built, and gap files, which must be distributions that the planner takes.
 *
 *     byte 0   even: a plan, odd: a gap file
 *     rest     its text
 */
#include <math.h>

#include <tepal/plan.h>

#include "cli/options.h"
#include "input/slurp.h"
#include "fail.h"
#include "must.h"
#include "plans/plan_command.h"
#include "plans/plan_json.h"
#include "plans/wish.h"

static const struct option options[] = {OPTION_JSON, OPTIONS_END};
static const struct command command = {.name = "plan", .options = options};

struct file {
    const struct args *args;
    const char *path;
};

static void read_failing(void *context)
{
    const struct file *file = context;
    size_t len;
    free(slurp(file->args, file->path, 1 << 20, &len));
}

/* A plan that is told once more is read as the same. */
static void tell_again(const struct tepal_proposal *plan)
{
    struct option_value given = {.given = true};
    struct args args = {.command = &command, .values = &given};
    struct tepal_proposal told = *plan;
    struct tepal_proposal again;
    char why[PLAN_JSON_WHY];
    char path[MUST_PATH];
    told.bits = told.params.cells; /* which most kinds are read from */
    size_t len;
    int fd = must_file("", 0, path);
    struct report r = report_on(out_open(fd), &args);
    report_object(&r, NULL);
    report_whole(&r, "keys", plan->params.capacity, JSON_ONLY);
    report_flag(&r, "weighted", plan->weighted, JSON_ONLY);
    report_list(&r, "plans");
    report_object(&r, NULL);
    plan_figures(&r, &told, true);
    report_end(&r);
    report_end(&r);
    report_end(&r);
    MUST(report_close(&r, 0) == 0);
    char *text = slurp(&args, path, 1 << 20, &len);
    MUST(text != NULL && !plan_json_old(text, len));
    MUST(plan_json_read(text, len, &again, why) == NULL);
    MUST(again.kind == plan->kind && again.params.layout == plan->params.layout);
    MUST(again.params.cells == plan->params.cells && again.params.hashes == plan->params.hashes);
    free(text);
    MUST(len == 0 || slurp(&args, path, len - 1, &len) == NULL);
    struct file file = {&args, path};
    fail_each(read_failing, &file);
    close(fd);
}

/* Whatever is taken can be built, as far as its numbers go, and said in a command. */
static void try_plan(const char *text, size_t len)
{
    struct tepal_proposal plan;
    char why[PLAN_JSON_WHY];
    char words[PLAN_COMMAND];
    const char *wrong = plan_json_read(text, len, &plan, why);
    if (wrong != NULL) {
        MUST(wrong[0] != '\0' && strlen(wrong) < PLAN_JSON_WHY);
        return;
    }
    MUST(tepal_plan_check(&plan, NULL) == TEPAL_OK && plan.params.seed == 0);
    MUST(strlen(plan_command(&plan, NULL, words, sizeof words)) + 1 < sizeof words);
    tell_again(&plan);
}

static void try_gaps(const char *text, size_t len)
{
    static double gap[WISH_GAPS];
    static double survival[WISH_GAPS];
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    if (wish_gaps(text, len, gap, survival, WISH_GAPS, &w.gaps) != NULL) {
        return;
    }
    w.endless = true;
    w.stream = TEPAL_STREAM_GAPS;
    w.bits = 1 << 20;
    w.fp = 0.01;
    if (w.gaps.count == 0 || tepal_plan(&w, &plans, NULL) != TEPAL_OK) {
        abort();
    }
    for (size_t i = 0; i < plans.count; i++) {
        if (plans.plan[i].feasible && !(plans.plan[i].fn >= 0 && plans.plan[i].fn <= 1)) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    char *text = must_copy(data + 1, size - 1);
    if (data[0] % 2 == 0) {
        try_plan(text, size - 1);
    } else {
        try_gaps(text, size - 1);
    }
    free(text);
    return 0;
}

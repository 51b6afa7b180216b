/*
 * plan_fuzz.c: what the planner reads of files: saved plans, whose numbers must be those of a
 * filter that can be built, and gap files, which must be distributions that the planner takes.
 *
 *     byte 0   even: a plan, odd: a gap file
 *     rest     its text
 */
#include <math.h>

#include <tepal/plan.h>

#include "must.h"
#include "plans/plan_command.h"
#include "plans/plan_json.h"
#include "plans/wish.h"

/* Whatever is taken can be built, as far as its numbers go, and said in a command. */
static void try_plan(const char *text, size_t len)
{
    struct tepal_proposal plan;
    char why[PLAN_JSON_WHY];
    char command[PLAN_COMMAND];
    const char *wrong = plan_json_read(text, len, &plan, why);
    if (wrong != NULL) {
        MUST(wrong[0] != '\0' && strlen(wrong) < PLAN_JSON_WHY);
        return;
    }
    MUST(tepal_plan_check(&plan, NULL) == TEPAL_OK && plan.params.seed == 0);
    MUST(strlen(plan_command(&plan, NULL, command, sizeof command)) + 1 < sizeof command);
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

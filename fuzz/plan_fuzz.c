/*
 * plan_fuzz.c: what the planner reads of files: saved plans, whose words must be those of a build
 * and nothing else, and gap files, which must be distributions that the planner takes.
 *
 *     byte 0   even: a plan, odd: a gap file
 *     rest     its text
 */
#include <math.h>

#include <tepal/plan.h>

#include "must.h"
#include "plans/plan_text.h"
#include "plans/wish.h"

static void try_plan(const char *text, size_t len)
{
    struct plan_words words;
    if (plan_text_read(text, len, &words) != NULL) {
        return;
    }
    for (int i = 0; i < words.count; i++) {
        const char *w = words.word[i];
        /* Nothing that names a file, and no option but those of a size. */
        if (strcmp(w, "-o") == 0 || strcmp(w, "--output") == 0 || strcmp(w, "--force") == 0 ||
            strcmp(w, "--key-file") == 0 || strcmp(w, "--avoid") == 0 || strcmp(w, "--") == 0) {
            abort();
        }
    }
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

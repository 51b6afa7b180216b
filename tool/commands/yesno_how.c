/* yesno_how.c: options to the library's. */
#include "commands/yesno_how.h"

#include <math.h>

int yesno_how_check(const struct args *args)
{
    if (arg(args, "tolerate-weight")->given && !arg(args, "member-weights")->given) {
        return args_error(args, "--tolerate-weight needs the weights of members: --member-weights");
    }
    return EXIT_YES;
}

static bool late(void *ctx)
{
    return progress_clock() > ((const struct yesno_how *)ctx)->deadline;
}

/* Whoever has a time limit is told the share of that. */
static bool go_on(void *ctx, double done)
{
    struct yesno_how *to = ctx;
    double timed = (progress_clock() - to->begun) / (to->deadline - to->begun);
    progress_share(&to->progress, to->deadline > 0 ? fmin(timed, 1) : done,
                   "choosing what is vetoed");
    return true;
}

void yesno_how_read(struct yesno_how *to, const struct args *args)
{
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    if (arg(args, "method")->given) {
        tepal_yesno_method_parse(arg(args, "method")->text, &how.method);
    }
    how.salts = (uint32_t)arg(args, "salts")->whole;
    how.false_negatives = arg(args, "tolerate")->whole;
    how.false_negative_weight =
        arg(args, "tolerate-weight")->given ? arg(args, "tolerate-weight")->real : 0;
    progress_start(&to->progress, !arg(args, "quiet")->given);
    how.progress = (struct tepal_progress){to->progress.on ? go_on : NULL, to};
    to->begun = progress_clock();
    to->deadline = 0;
    if (arg(args, "time-limit")->given) {
        to->deadline = to->begun + arg(args, "time-limit")->real;
        how.enough = late;
        how.ctx = to;
        how.steps = UINT64_MAX / 4; /* the clock alone ends it */
    }
    to->how = how;
}

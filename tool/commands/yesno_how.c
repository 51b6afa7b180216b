/* yesno_how.c: options to the library's. */
#include "commands/yesno_how.h"

#include "output/progress.h"

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
    if (arg(args, "time-limit")->given) {
        to->deadline = progress_clock() + arg(args, "time-limit")->real;
        how.enough = late;
        how.ctx = to;
        how.steps = UINT64_MAX / 4; /* the clock alone ends it */
    }
    to->how = how;
}

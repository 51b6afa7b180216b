/* kinds.c: the library's table of kinds, printed. */
#include <tepal/filter.h>

#include "cli/command.h"
#include "output/report.h"
#include "cli/options.h"

static void tell_kind(struct report *r, const struct tepal_kind *kind)
{
    const char *between = "\n    promises: ";
    report_object(r, NULL);
    report_text(r, "kind", kind->name, JSON_ONLY);
    report_text(r, "summary", kind->summary, JSON_ONLY);
    report_line(r, "%s: %s", kind->name, kind->summary);
    report_list(r, "promises");
    for (unsigned promise = 1; tepal_promise_name(promise) != NULL; promise <<= 1) {
        if ((kind->promises & promise) != 0) {
            report_text(r, NULL, tepal_promise_name(promise), JSON_ONLY);
            report_line(r, "%s%s", between, tepal_promise_name(promise));
            between = ", ";
        }
    }
    report_end(r);
    report_line(r, "\n");
    report_end(r);
}

static int kinds_run(const struct args *args)
{
    struct report r = report_open(args);
    for (size_t i = 0; i < tepal_kind_count(); i++) {
        tell_kind(&r, tepal_kind_at(i));
    }
    return report_close(&r, EXIT_YES);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {OPTION_JSON, OPTION_HELP, OPTIONS_END};
static const struct example examples[] = {{"tepal kinds", "List the kinds and their promises."},
                                          {NULL, NULL}};

const struct command command_kinds = {
    .name = "kinds",
    .synopsis = "[--json]",
    .summary = "List the kinds of filters and what they promise.",
    .about =
        "Lists the kinds that build --kind accepts, and what holds for each with any "
        "parameters.\n\n"
        "no-false-negatives: a key that was added is found (until a key is removed that was never "
        "added). bounded-false-positives: whatever its bits, the filter finds only a limited share "
        "of other keys (generalized: with both resets and sets, and a tolerance below the number "
        "of either; info shows the bound). deletable: keys can be removed. mergeable: a union "
        "finds what any of the filters finds. order-free: the order of additions does not matter. "
        "endless: keys can be added forever; old keys are forgotten.",
    .options = options,
    .examples = examples,
    .run = kinds_run};

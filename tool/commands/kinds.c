/* kinds.c: the library's table of kinds, printed. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include <tepal/filter.h>

#include "cli/command.h"
#include "output/out.h"
#include "output/render.h"
#include "cli/say.h"
#include "cli/options.h"

static const struct {
    unsigned bit;
    const char *name;
} promises[] = {
    {TEPAL_NO_FALSE_NEGATIVES, "no-false-negatives"},
    {TEPAL_BOUNDED_FALSE_POSITIVES, "bounded-false-positives"},
    {TEPAL_DELETABLE, "deletable"},
    {TEPAL_MERGEABLE, "mergeable"},
    {TEPAL_ORDER_FREE, "order-free"},
    {TEPAL_ENDLESS, "endless"},
};

#define PROMISES (sizeof promises / sizeof *promises)

static void print_text(struct out *out, const struct tepal_kind *kind)
{
    const char *between = "\n    promises: ";
    out_format(out, "%s: %s", kind->name, kind->summary);
    for (size_t i = 0; i < PROMISES; i++) {
        if ((kind->promises & promises[i].bit) != 0) {
            out_text(out, between);
            out_text(out, promises[i].name);
            between = ", ";
        }
    }
    out_text(out, "\n");
}

static int print_json(struct out *out, const struct tepal_kind *kind)
{
    json_t *object = json_object();
    json_t *list = json_array();
    for (size_t i = 0; i < PROMISES; i++) {
        if ((kind->promises & promises[i].bit) != 0) {
            json_array_append_new(list, json_string(promises[i].name));
        }
    }
    json_object_set_new(object, "kind", json_string(kind->name));
    json_object_set_new(object, "summary", json_string(kind->summary));
    json_object_set_new(object, "promises", list);
    return render_json(out, object);
}

static int kinds_run(const struct args *args)
{
    struct out *out = out_open(STDOUT_FILENO);
    int code = EXIT_YES;
    if (out == NULL) {
        return EXIT_TROUBLE;
    }
    for (size_t i = 0; i < tepal_kind_count() && code == EXIT_YES; i++) {
        if (arg(args, "json")->given) {
            code = print_json(out, tepal_kind_at(i));
        } else {
            print_text(out, tepal_kind_at(i));
        }
    }
    return out_close(out, code);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option *const options[] = {&option_json, &option_help, NULL};
static const struct example examples[] = {{"tepal kinds", "The kinds and their promises."},
                                          {NULL, NULL}};

const struct command command_kinds = {
    .name = "kinds",
    .synopsis = "[--json]",
    .summary = "List the kinds of filters and what they promise.",
    .about = "The kinds that build --kind knows, and what holds of each whatever its "
             "parameters.\n\n"
             "no-false-negatives: a key that was added is found (until a key is removed that "
             "never was). bounded-false-positives: whoever filled it, few other keys are found "
             "(generalized: with resets, sets and a tolerance below the number of either; info "
             "tells the bound). deletable: keys can be removed. mergeable: a union finds what any "
             "of the filters finds. order-free: the order of additions changes nothing. endless: "
             "it can be added to for ever; what is old is forgotten.",
    .options = options,
    .examples = examples,
    .run = kinds_run};

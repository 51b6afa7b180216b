/* recipe.c: the table of recipes; each is in a file of its own, recipe_KIND.c. */
#include "commands/build/recipe.h"

#include <string.h>
#include <inttypes.h>

#include <tepal/papers.h>

#include "cli/options.h"

static const struct recipe *const table[] = {
    &recipe_bloom,     &recipe_generalized, &recipe_counting, &recipe_fingerprint, &recipe_yesno,
    &recipe_recycling, &recipe_cascade,     &recipe_growing,  &recipe_chain,
};

#define RECIPES (sizeof table / sizeof *table)

/* An option of this kind, or of none: one that all kinds take. */
static bool fits(const void *context, const char *name)
{
    const struct recipe *recipe = context;
    bool others = false;
    for (size_t i = 0; i < RECIPES; i++) {
        others |= args_listed(table[i]->options, name);
    }
    return !others || args_listed(recipe->options, name);
}

bool recipe_counts(const struct args *args)
{
    return !arg(args, "capacity")->given && !arg(args, "bits")->given;
}

void recipe_places(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    arg_layout(args, &p->layout);
    arg_positions(args, &p->positions);
    p->hashes = (uint32_t)arg(args, "hashes")->whole;
    p->capacity = keys;
}

int recipe_whole_lines(const struct args *args, const char *option, uint64_t line,
                       struct tepal_params *p)
{
    p->cells = arg(args, option)->whole;
    if (!tepal_layout_in_lines(p->layout) || p->cells % line == 0) {
        return EXIT_YES;
    }
    return args_error(
        args, "--%s %s: the %s layout needs a multiple of %" PRIu64 "; the next is %" PRIu64,
        option, arg(args, option)->text, tepal_layout_name(p->layout), line,
        (p->cells / line + 1) * line);
}

void recipe_fill_line(struct tepal_params *p, uint64_t line)
{
    if (tepal_layout_in_lines(p->layout)) {
        p->cells = (p->cells + line - 1) / line * line;
    }
}

/* Without a number of keys there is no best one. */
#define HASHES_UNPLANNED 7

int recipe_hashes(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    if (p->hashes == 0) {
        p->hashes = keys == 0 ? HASHES_UNPLANNED
                              : tepal_bloom_best_hashes(p->layout, p->positions, p->cells, keys);
    }
    return recipe_check(args, p);
}

int recipe_flat(const struct args *args)
{
    const struct option_value *layout = arg(args, "layout");
    return !layout->given || strcmp(layout->text, tepal_layout_name(TEPAL_LAYOUT_FLAT)) == 0
               ? EXIT_YES
               : args_error(args, "--layout %s: this kind has one layout, flat", layout->text);
}

int recipe_check(const struct args *args, const struct tepal_params *p)
{
    struct tepal_error error = {.why = ""};
    return tepal_params_check(p, &error) == TEPAL_OK ? EXIT_YES : args_error(args, "%s", error.why);
}

const struct recipe *recipe_find(const struct args *args)
{
    const struct option_value *option = arg(args, "kind");
    const char *name = option->given              ? option->text
                       : arg(args, "grow")->given ? "growing"
                                                  : "bloom";
    const struct tepal_kind *kind = tepal_kind_by_name(name);
    const struct recipe *recipe = NULL;
    for (size_t i = 0; i < RECIPES && kind != NULL; i++) {
        if (table[i]->kind == kind->id) {
            recipe = table[i];
        }
    }
    if (recipe == NULL) {
        args_error(args, "--kind %s: build does not make this kind", name);
        return NULL;
    }
    const char *foreign = args_misfit(args, fits, recipe);
    if (foreign != NULL) {
        args_error(args, "--%s is not an option of the kind %s", foreign, kind->name);
        return NULL;
    }
    static const char *const sizes[][4] = {
        {"fp", "bits-per-key", "bits"}, {"max-fn", "max-fn-count"}, {NULL}};
    const char *const(*groups)[4] = recipe->exclusive != NULL ? recipe->exclusive : sizes;
    return args_exclusive(args, groups) == EXIT_YES ? recipe : NULL;
}

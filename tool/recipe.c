/* recipe.c: the table of recipes; each is in a file of its own, recipe_KIND.c. */
#include "recipe.h"

#include <string.h>

#include "say.h"

static const struct recipe *const table[] = {
    &recipe_bloom,
    &recipe_recycling,
};

#define RECIPES (sizeof table / sizeof *table)

static bool listed(const enum option_id *list, enum option_id id)
{
    for (; *list != OPT_END; list++) {
        if (*list == id) {
            return true;
        }
    }
    return false;
}

/* An option that belongs to other kinds only. */
static bool is_foreign(const struct recipe *recipe, enum option_id id)
{
    for (size_t i = 0; i < RECIPES; i++) {
        if (listed(table[i]->options, id)) {
            return !listed(recipe->options, id);
        }
    }
    return false;
}

const struct recipe *recipe_find(const struct args *args)
{
    const struct option_value *option = &args->option[OPT_KIND];
    const struct tepal_kind *kind = tepal_kind_by_name(option->given ? option->text : "bloom");
    const struct recipe *recipe = NULL;
    for (size_t i = 0; i < RECIPES && kind != NULL; i++) {
        if (table[i]->kind == kind->id) {
            recipe = table[i];
        }
    }
    if (recipe == NULL) {
        say_error(args->command->stays, args->command->name, "--kind %s: not built by this command",
                  option->given ? option->text : "bloom");
        return NULL;
    }
    for (int id = OPT_END + 1; id < OPTIONS; id++) {
        if (args->option[id].given && is_foreign(recipe, (enum option_id)id)) {
            say_error(args->command->stays, args->command->name,
                      "--%s is not an option of the kind %s", options[id].name, kind->name);
            return NULL;
        }
    }
    /* A rate is kept by the size, or, when the filter recycles, at any size. */
    static const enum option_id sizes[][4] = {{OPT_FP, OPT_BITS_PER_KEY, OPT_BITS}, {0}};
    bool any_size = recipe == &recipe_recycling;
    return any_size || args_exclusive(args, sizes) == EXIT_YES ? recipe : NULL;
}

/* recipe.c: the table of recipes; each is in a file of its own, recipe_KIND.c. */
#include "commands/build/recipe.h"

#include <string.h>

#include <tepal/model.h>

#include "cli/say.h"

static const struct recipe *const table[] = {
    &recipe_bloom, &recipe_generalized, &recipe_counting, &recipe_fingerprint,
    &recipe_yesno, &recipe_recycling,   &recipe_cascade,
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

void recipe_places(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    if (args->option[OPT_LAYOUT].given) {
        tepal_layout_parse(args->option[OPT_LAYOUT].text, &p->layout);
    }
    if (args->option[OPT_POSITIONS].given) {
        tepal_positions_parse(args->option[OPT_POSITIONS].text, &p->positions);
    }
    p->hashes = (uint32_t)args->option[OPT_HASHES].whole;
    p->capacity = keys;
}

/* Without a number of keys there is no best one. */
#define HASHES_UNPLANNED 7

int recipe_hashes(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    const char *why = "";
    if (p->hashes == 0) {
        p->hashes = keys == 0 ? HASHES_UNPLANNED
                              : tepal_bloom_best_hashes(p->layout, p->positions, p->cells, keys);
    }
    return tepal_params_check(p, &why) == TEPAL_OK
               ? EXIT_YES
               : say_error(args->command->stays, args->command->name, "%s", why);
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
    static const enum option_id sizes[][4] = {{OPT_FP, OPT_BITS_PER_KEY, OPT_BITS}, {0}};
    const enum option_id(*groups)[4] = recipe->exclusive != NULL ? recipe->exclusive : sizes;
    return args_exclusive(args, groups) == EXIT_YES ? recipe : NULL;
}

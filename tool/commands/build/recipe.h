/*
 * recipe.h: from the options of build to the parameters of a filter, by kind. A new kind is a line
 * in the table of recipe.c and a file recipe_KIND.c: which options are its own, and how they become
 * parameters.
 */
#ifndef TOOL_COMMANDS_BUILD_RECIPE_H
#define TOOL_COMMANDS_BUILD_RECIPE_H

#include <tepal/filter.h>

#include "cli/command.h"
#include "input/receipts.h"

struct recipe {
    enum tepal_kind_id kind;
    const char *const *options; /* of build, and understood by this kind; ends with NULL */

    /* Must the keys be counted before the filter can be sized? */
    bool (*counts)(const struct args *args);

    /* The parameters for `keys` keys (0: not known). EXIT_YES, or EXIT_TROUBLE after saying why. */
    int (*params)(const struct args *args, uint64_t keys, struct tepal_params *out);

    /* Groups of which one may be given; NULL: one of --fp, --bits-per-key and --bits. */
    const char *const (*exclusive)[4];
};

/* One a kind that `tepal build` makes. */
extern const struct recipe recipe_bloom;
extern const struct recipe recipe_fingerprint;
extern const struct recipe recipe_growing;
extern const struct recipe recipe_chain;
extern const struct recipe recipe_recycling;
extern const struct recipe recipe_generalized;

/*
 * What the options say of a generalized filter's hashes, tolerance and first bits, into *p; with
 * --fp or --fn, or no --bits and no --bits-per-key, from the solver, and then the size for `keys`
 * as well. EXIT_YES, or EXIT_TROUBLE after saying why.
 */
int recipe_generalized_shape(const struct args *args, uint64_t keys, struct tepal_params *p);
extern const struct recipe recipe_counting;
/* Built by negatives.c, from members and known negatives at once; they have options alone. */
extern const struct recipe recipe_yesno;
extern const struct recipe recipe_cascade;

/* Sizes that neither --capacity nor --bits tells: the keys must be counted. */
bool recipe_counts(const struct args *args);

/* Layout, positions, hashes (0: not said) and capacity, by the options, into *p. */
void recipe_places(const struct args *args, uint64_t keys, struct tepal_params *p);

/*
 * Cells by the option of that name, which must be whole lines on the layouts of lines; or as many
 * as they are, up to a whole line there. A line has so many cells.
 */
int recipe_whole_lines(const struct args *args, const char *option, uint64_t line,
                       struct tepal_params *p);
void recipe_fill_line(struct tepal_params *p, uint64_t line);

/* --growth and --series of a chain, into *p. EXIT_YES, or EXIT_TROUBLE after saying why. */
int recipe_chain_series(const struct args *args, struct tepal_params *p);

/* The best hashes for the size, if none were said, and the gate. EXIT_YES, or EXIT_TROUBLE. */
int recipe_hashes(const struct args *args, uint64_t keys, struct tepal_params *p);

/* Of kinds that have no layout other than flat: is no other one given? */
int recipe_flat(const struct args *args);

/* The gate alone. */
int recipe_check(const struct args *args, const struct tepal_params *p);

/* The recipe that --kind names; NULL after having said what is wrong with the options. */
const struct recipe *recipe_find(const struct args *args);

/* The form of a counting filter by --counter-bits. */
static inline uint64_t recipe_counter_form(const struct args *args)
{
    const struct option_value *bits = arg(args, "counter-bits");
    return bits->given && bits->text[0] == '8' ? TEPAL_FORM_WIDE_COUNTERS : TEPAL_FORM_COUNTERS;
}

/* The lines of a counting filter by --line-cells, if its layout has lines. */
static inline uint64_t recipe_counter_lines(const struct args *args, enum tepal_layout layout)
{
    const struct option_value *cells = arg(args, "line-cells");
    bool is_short = cells->given && cells->text[0] == '1';
    return tepal_layout_in_lines(layout) && !is_short ? TEPAL_LINES_LONG : TEPAL_LINES_SHORT;
}

static inline uint64_t recipe_line_cells(const struct tepal_params *p)
{
    return p->counting.lines == TEPAL_LINES_LONG ? TEPAL_LINE_BITS : TEPAL_COUNTING_LINE_CELLS;
}

#endif

/* recipe_bloom.c: a Bloom filter from its options: by rate, by bits a key, or by bits. */
#include <math.h>

#include <tepal/papers.h>

#include "commands/build/recipe.h"

static const char *const bloom_options[] = {
    "fp",     "bits-per-key", "bits",   "hashes",       "capacity",
    "layout", "positions",    "max-fn", "max-fn-count", NULL};

static int size_by_keys(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    double bits = ceil(arg(args, "bits-per-key")->real * (double)keys);
    if (bits > 0x1p60) {
        return args_error(args, "the filter would be larger than the limit of 2^60 bits");
    }
    p->cells = bits < 1 ? 1 : (uint64_t)bits;
    recipe_fill_line(p, TEPAL_LINE_BITS);
    return EXIT_YES;
}

static int size_by_rate(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    enum tepal_status status = tepal_bloom_size(p->layout, p->positions, keys,
                                                arg_real(args, "fp", 0.01), &p->cells, &p->hashes);
    if (status == TEPAL_TOO_LARGE) {
        return args_error(args,
                          "no size up to 2^60 bits holds this many keys at this rate with the %s "
                          "layout%s",
                          tepal_layout_name(p->layout),
                          arg(args, "hashes")->given ? " and this number of hash functions" : "");
    }
    return args_status(args, status, NULL);
}

static int bloom_size(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    if (arg(args, "bits")->given) {
        return recipe_whole_lines(args, "bits", TEPAL_LINE_BITS, p);
    }
    return arg(args, "bits-per-key")->given ? size_by_keys(args, keys, p)
                                            : size_by_rate(args, keys, p);
}

/* The number of hashes against the limit of the layout, before a size is looked for. */
static int check_hashes(const struct args *args, const struct tepal_params *p)
{
    struct tepal_params any_size = *p;
    struct tepal_error error = {.why = ""};
    any_size.cells = TEPAL_LINE_BITS * 1024;
    if (p->hashes == 0 || tepal_params_check(&any_size, &error) == TEPAL_OK) {
        return EXIT_YES;
    }
    return args_error(args, "--hashes %s: %s", arg(args, "hashes")->text, error.why);
}

static int bloom_params(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    recipe_places(args, keys, p);
    int code = check_hashes(args, p);
    code = code == EXIT_YES ? bloom_size(args, keys, p) : code;
    return code == EXIT_YES ? recipe_hashes(args, keys, p) : code;
}

const struct recipe recipe_bloom = {TEPAL_KIND_BLOOM, bloom_options, recipe_counts, bloom_params,
                                    NULL};

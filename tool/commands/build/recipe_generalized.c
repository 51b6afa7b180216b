/*
 * recipe_generalized.c: a generalized filter from its options: by its hashes and a size, or by the
 * two rates that must not be exceeded.
 */
#include <math.h>

#include <tepal/generalized.h>
#include <tepal/model.h>
#include <tepal/papers.h>

#include "commands/build/recipe.h"
#include "output/render.h"
#include "cli/options.h"

#define HASHES_EACH 2

/* From here on a filter's bound is that of large ones, to a part in a thousand. */
#define SMALL_CELLS ((uint64_t)1 << 18)

static const char *const generalized_options[] = {
    "fp",        "fn",           "bits-per-key", "bits",  "capacity",  "layout",
    "positions", "reset-hashes", "set-hashes",   "zeros", "tolerance", NULL};

/* Are the sizes asked for by rates? */
static bool by_rates(const struct args *args)
{
    return !arg(args, "bits")->given && !arg(args, "bits-per-key")->given;
}

static int set_cells(const struct args *args, double bits, struct tepal_params *p)
{
    if (!(bits <= 0x1p60)) {
        return args_error(args, "the filter would be larger than the limit of 2^60 bits");
    }
    p->cells = bits < 1 ? 1 : (uint64_t)ceil(bits);
    if (p->layout == TEPAL_LAYOUT_BLOCKED) {
        p->cells = (p->cells + TEPAL_LINE_BITS - 1) / TEPAL_LINE_BITS * TEPAL_LINE_BITS;
    }
    return EXIT_YES;
}

/*
 * The solver's bound is that of large filters; a small one exceeds it a little, until it has more
 * bits. (Blocked filters exceed it at any size, of which they are warned.)
 */
static void keep_bound(struct tepal_params *p, double fp)
{
    while (p->layout == TEPAL_LAYOUT_FLAT && p->cells < SMALL_CELLS &&
           tepal_params_fp_bound(p) > fp) {
        p->cells += p->cells / 16 + 1;
    }
}

static int shape_by_rates(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    struct tepal_generalized_setting plan;
    if (arg(args, "reset-hashes")->given || arg(args, "set-hashes")->given) {
        return args_error(args, "--fp and --fn determine the numbers of hash functions: leave out "
                                "--reset-hashes and --set-hashes, or give --bits");
    }
    if (arg(args, "fn")->given && !(arg(args, "fn")->real > 0 && arg(args, "fn")->real < 1)) {
        return args_error(args, "--fn %s: out of range: a rate must be above 0 and below 1",
                          arg(args, "fn")->text);
    }
    double fp = arg_real(args, "fp", 0.01);
    enum tepal_status status = tepal_generalized_size(
        fp, arg_real(args, "fn", 0.01),
        arg(args, "tolerance")->given ? (uint32_t)arg(args, "tolerance")->whole
                                      : TEPAL_GENERALIZED_ANY,
        p->layout == TEPAL_LAYOUT_BLOCKED ? TEPAL_MAX_HASHES_BLOCKED : TEPAL_MAX_HASHES, &plan);
    if (status != TEPAL_OK) {
        return args_error(args, "no number of hash functions keeps both rates; try a higher --fp, "
                                "another --tolerance or the flat layout");
    }
    p->hashes = plan.k0 + plan.k1;
    p->generalized.reset_hashes = plan.k0;
    p->generalized.tolerance = plan.tolerance;
    if (set_cells(args, plan.bits_per_key * (double)(keys == 0 ? 1 : keys), p) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    keep_bound(p, fp);
    return EXIT_YES;
}

static int shape_by_hashes(const struct args *args, struct tepal_params *p)
{
    uint64_t k0 = arg_whole(args, "reset-hashes", HASHES_EACH);
    uint64_t k1 = arg_whole(args, "set-hashes", HASHES_EACH);
    if (k0 + k1 == 0) {
        return args_error(args, "--reset-hashes and --set-hashes are both 0: at least one hash "
                                "function is needed");
    }
    if (arg(args, "tolerance")->whole >= k0 + k1) {
        return args_error(args,
                          "--tolerance %s: too large: every key would be found; it must be below "
                          "--reset-hashes plus --set-hashes",
                          arg(args, "tolerance")->text);
    }
    p->hashes = (uint32_t)(k0 + k1);
    p->generalized.reset_hashes = k0;
    p->generalized.tolerance = arg(args, "tolerance")->whole;
    return EXIT_YES;
}

/* What the numbers mean against somebody who chooses the bits. */
static void warn(const struct args *args, const struct tepal_params *p)
{
    uint64_t k0 = p->generalized.reset_hashes;
    uint64_t k1 = p->hashes - k0;
    double bound = tepal_params_fp_bound(p);
    char room[64];
    if (arg(args, "quiet")->given || k0 == 0) {
        return; /* without resets it is a Bloom filter, and known to be unbounded */
    }
    if (p->generalized.tolerance >= (k0 < k1 ? k0 : k1)) {
        say_warning(args->command->name,
                    "with a tolerance of min(K0, K1) or more the false-positive rate has no bound: "
                    "a filter of all zeros or all ones would accept every key");
    } else if (by_rates(args) && p->layout == TEPAL_LAYOUT_BLOCKED) {
        say_warning(args->command->name,
                    "on the blocked layout an attacker who chooses the bits can reach %s false "
                    "positives; the flat layout keeps --fp",
                    render_rate(bound, room, sizeof room));
    }
}

int recipe_generalized_shape(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    double zeros = arg_real(args, "zeros", 1);
    p->kind = TEPAL_KIND_GENERALIZED;
    p->generalized.ones = (uint64_t)llround((1 - zeros) * (double)TEPAL_GENERALIZED_UNIT);
    if ((by_rates(args) ? shape_by_rates(args, keys, p) : shape_by_hashes(args, p)) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (arg(args, "bits")->given) {
        p->cells = arg(args, "bits")->whole;
    } else if (arg(args, "bits-per-key")->given &&
               set_cells(args, arg(args, "bits-per-key")->real * (double)keys, p) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = recipe_check(args, p);
    if (code == EXIT_YES) {
        warn(args, p);
    }
    return code;
}

static int generalized_params(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    recipe_places(args, keys, p);
    return recipe_generalized_shape(args, keys, p);
}

static const char *const generalized_exclusive[][4] = {
    {"fp", "bits-per-key", "bits"}, {"fn", "bits-per-key", "bits"}, {0}};

const struct recipe recipe_generalized = {TEPAL_KIND_GENERALIZED, generalized_options,
                                          recipe_counts, generalized_params, generalized_exclusive};

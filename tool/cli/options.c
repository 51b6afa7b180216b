/* options.c: what the shared options say, as the library's own values. */
#include "cli/options.h"

#include <inttypes.h>

#include <string.h>

#include <tepal/model.h>

#include "input/lanes.h"
#include "system/bytes.h"

void arg_layout(const struct args *args, enum tepal_layout *layout)
{
    if (arg(args, "layout")->given) {
        tepal_layout_parse(arg(args, "layout")->text, layout);
    }
}

void arg_positions(const struct args *args, enum tepal_positions *positions)
{
    if (arg(args, "positions")->given) {
        tepal_positions_parse(arg(args, "positions")->text, positions);
    }
}

int arg_hash(const struct args *args, enum tepal_hash *hash)
{
    const struct option_value *name = arg(args, "hash");
    bool keyed = arg(args, "key-file")->given;
    bool fast = name->given && strcmp(name->text, "siphash13") == 0;
    *hash = !keyed ? TEPAL_HASH_XXH3 : fast ? TEPAL_HASH_SIPHASH13 : TEPAL_HASH_SIPHASH;
    return !name->given || keyed ? EXIT_YES : args_error(args, "--hash needs --key-file");
}

int arg_seed(const struct args *args, uint64_t *seed)
{
    const struct option_value *given = arg(args, "seed");
    if (given->given) {
        *seed = given->whole;
        return EXIT_YES;
    }
    return bytes_draw(seed, sizeof *seed)
               ? EXIT_YES
               : args_about(args, "random seed",
                            "the system provides no random numbers: give --seed");
}

unsigned arg_jobs(const struct args *args)
{
    return arg(args, "jobs")->given ? (unsigned)arg(args, "jobs")->whole : lanes_cores();
}

int arg_rate_kept(const struct args *args, const char *name, uint64_t keys)
{
    const struct option_value *rate = arg(args, name);
    uint64_t n = keys == 0 ? 1 : keys;
    double least = TEPAL_MIN_RATE * (double)n;
    return !rate->given || rate->real >= least
               ? EXIT_YES
               : args_error(args,
                            "--%s %s: too low: digests of 128 bits keep %.2g or more for %" PRIu64
                            " key%s",
                            name, rate->text, least, n, SAY_S(n));
}

/* model_cascade.c: the cascade's model: the smallest, or within --bits, or with a first --fp. */
#include <tepal/model.h>

#include "commands/model/models.h"

static int cascade_report(const struct args *args, uint64_t keys, struct tepal_params *p,
                          struct tepal_report *report)
{
    struct tepal_use use = TEPAL_USE_INIT;
    if (!arg(args, "keys")->given || keys == 0) {
        return args_wrong(args, "--keys N is needed, at least 1");
    }
    if (!arg(args, "negatives")->given) {
        return args_wrong(args, "--negatives T is needed: the number of known negatives");
    }
    p->kind = TEPAL_KIND_CASCADE;
    use.keys = keys;
    use.known_negatives = arg(args, "negatives")->whole;
    use.bits = p->cells;
    use.fp = arg_real(args, "fp", NAN);
    p->cells = 0; /* the sizes are to be chosen */
    if (tepal_model(p, &use, report, NULL) != TEPAL_OK) {
        return args_wrong(
            args, "no cascade with this many bits and hash functions is expected to exist%s",
            arg(args, "bits")->given ? "; leave out --bits for the smallest one" : "");
    }
    return EXIT_YES;
}

static const char *const of_cascade[] = {"keys",   "bits",      "fp",        "hashes",
                                         "layout", "positions", "negatives", NULL};

const struct model model_cascade = {"cascade", TEPAL_LAYOUT_FLAT, of_cascade, cascade_report, NULL};

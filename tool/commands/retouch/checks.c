/* checks.c: what is refused before any work. */
#include "commands/retouch/retouching.h"

#include <string.h>

#include "files/atomic_file.h"
#include "files/filter_file.h"

int retouch_check_options(const struct retouching *w)
{
    bool dry = arg(w->args, "dry-run")->given;
    bool random_bits = w->how.method == TEPAL_RETOUCH_RANDOM_BITS;
    static const char *const of_members[] = {"victims", "exceptions",     "member-weights",
                                             "sweep",   "remove-members", NULL};
    for (const char *const *name = of_members; w->blind && *name != NULL; name++) {
        if (arg(w->args, *name)->given) {
            return args_wrong(w->args, "--%s needs --members KEYS", *name);
        }
    }
    if (!arg(w->args, "avoid")->given) {
        return args_wrong(w->args, "--avoid NEGATIVES is needed");
    }
    if (!dry && !arg(w->args, "output")->given) {
        return args_wrong(w->args, "--output FILE is needed, or --dry-run");
    }
    if (arg(w->args, "svg")->given && !dry) {
        return args_wrong(w->args, "--svg draws the curve of --dry-run: give both");
    }
    if (arg(w->args, "basis")->given && strcmp(arg(w->args, "basis")->text, "all") == 0 &&
        !arg(w->args, "known")->given) {
        return args_wrong(w->args, "--basis all needs --known FILE");
    }
    if (arg(w->args, "clear-bits")->given && !random_bits) {
        return args_wrong(w->args, "--clear-bits needs --method random-bits");
    }
    if (random_bits && !arg(w->args, "clear-bits")->given && !arg(w->args, "max-fn")->given &&
        !arg(w->args, "max-fn-count")->given) {
        return args_wrong(w->args, "--method random-bits needs --clear-bits S or a limit");
    }
    return EXIT_YES;
}

/* What fits the kind of filter that was opened. */
int retouch_check_kind(struct retouching *w)
{
    static const char *const blooms[] = {"order", "basis",          "sweep", "clear-bits",
                                         "seed",  "remove-members", NULL};
    const struct option_value *method = arg(w->args, "method");
    bool inverts =
        w->how.method == TEPAL_RETOUCH_NET_EFFECT || w->how.method == TEPAL_RETOUCH_LEAST_FN;
    enum tepal_kind_id kind = tepal_filter_kind(w->filter)->id;
    w->generalized = kind == TEPAL_KIND_GENERALIZED;
    if (w->generalized && w->blind) {
        return args_wrong(w->args, "--members KEYS is needed for a generalized filter");
    }
    if (!method->given) {
        w->how.method = w->generalized                ? TEPAL_RETOUCH_NET_EFFECT
                        : !w->blind                   ? TEPAL_RETOUCH_SACRIFICE
                        : kind == TEPAL_KIND_COUNTING ? TEPAL_RETOUCH_RATIO
                                                      : TEPAL_RETOUCH_MAX_FP;
    }
    if (method->given && inverts != w->generalized) {
        return args_about(w->args, filter_file_name(w->path, false),
                          w->generalized
                              ? "--method %s is for Bloom filters, and this is a generalized "
                                "filter: use net-effect or least-fn"
                              : "--method %s is for generalized filters, and this is not one",
                          method->text);
    }
    for (const char *const *name = blooms; w->generalized && *name != NULL; name++) {
        if (arg(w->args, *name)->given) {
            return args_about(w->args, filter_file_name(w->path, false),
                              "--%s is for Bloom filters, and this is a generalized filter", *name);
        }
    }
    return EXIT_YES;
}

static int check_sides(const struct retouching *w)
{
    static const char *const sides[] = {"victims", "exceptions", "svg"};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        const struct option_value *side = arg(w->args, sides[i]);
        if (side->given && atomic_file_check(w->args, side->text) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
    }
    return EXIT_YES;
}

int retouch_check_files(const struct retouching *w)
{
    static const char *const keys[] = {"members", "avoid", "known"};
    const char *inputs[4] = {w->path};
    size_t count = 1;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (arg(w->args, keys[i])->given) {
            inputs[count++] = arg(w->args, keys[i])->text;
        }
    }
    const char *output = arg(w->args, "output")->text;
    int code = filter_file_check_inputs(w->args, NULL, inputs, count, "");
    if (code == EXIT_YES) {
        code = filter_file_check_inputs(w->args, output, inputs + 1, count - 1,
                                        "the filter would overwrite the keys");
    }
    if (code == EXIT_YES && output != NULL && !arg(w->args, "force")->given) {
        code =
            filter_file_check_inputs(w->args, output, inputs, 1,
                                     "the output is the input filter; use --force to replace it");
    }
    if (code == EXIT_YES && output != NULL) {
        code = filter_file_check_output(w->args, output);
    }
    return code == EXIT_YES ? check_sides(w) : code;
}

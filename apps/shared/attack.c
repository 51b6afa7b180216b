/* attack.c: the two kinds, the three attacks, and the options that ask for them. */
#include "shared/attack.h"

#include <math.h>
#include <string.h>

#include <tepal/papers.h>

#include "cli/say.h"

const char *const attack_names[ATTACKS + 1] = {"none", "all-ones", "worst", "forger"};

static bool is_generalized(const struct attack_setting *s)
{
    return s->params.kind == TEPAL_KIND_GENERALIZED;
}

uint32_t attack_resets(const struct attack_setting *s)
{
    return is_generalized(s) ? (uint32_t)s->params.generalized.reset_hashes : 0;
}

uint32_t attack_tolerance(const struct attack_setting *s)
{
    return is_generalized(s) ? (uint32_t)s->params.generalized.tolerance : 0;
}

enum tepal_status attack_params(const struct attack_setting *s, uint64_t seed,
                                struct tepal_params *out)
{
    uint32_t k0 = attack_resets(s);
    uint32_t k1 = s->params.hashes - k0;
    double zeros = 0;
    if (s->attack == ATTACK_NONE) {
        *out = s->params;
        out->seed = seed;
        return TEPAL_OK;
    }
    if (s->attack >= ATTACK_WORST && is_generalized(s)) {
        zeros = tepal_generalized_worst_zero(k0, k1, attack_tolerance(s));
        /* NaN: the tolerance bounds nothing, and one of the two extremes passes every key */
        zeros = isnan(zeros) ? (k1 > k0 ? 0 : 1) : zeros;
    }
    struct tepal_params forged = TEPAL_PARAMS_INIT;
    forged.kind = TEPAL_KIND_GENERALIZED;
    forged.cells = s->params.cells;
    forged.hashes = s->params.hashes;
    forged.seed = seed;
    forged.generalized.reset_hashes = k0;
    forged.generalized.tolerance = attack_tolerance(s);
    forged.generalized.ones = (uint64_t)llround((1 - zeros) * (double)TEPAL_GENERALIZED_UNIT);
    *out = forged;
    return tepal_params_check(out, NULL);
}

int attack_settings(const struct args *args, uint64_t bits,
                    struct attack_setting kinds[ATTACK_KINDS])
{
    uint32_t k0 = (uint32_t)arg_whole(args, "reset-hashes", 2);
    uint32_t k1 = (uint32_t)arg_whole(args, "set-hashes", 2);
    struct tepal_params bloom = TEPAL_PARAMS_INIT;
    struct tepal_params generalized = TEPAL_PARAMS_INIT;
    struct tepal_error error = {.why = ""};
    bloom.cells = bits;
    bloom.hashes = (uint32_t)arg_whole(args, "hashes", k0 + k1);
    generalized.kind = TEPAL_KIND_GENERALIZED;
    generalized.cells = bits;
    generalized.hashes = k0 + k1;
    generalized.generalized.reset_hashes = k0;
    generalized.generalized.tolerance = arg_whole(args, "tolerance", 0);
    kinds[ATTACK_BLOOM] = (struct attack_setting){"bloom", ATTACK_NONE, bloom};
    kinds[ATTACK_GENERALIZED] = (struct attack_setting){"generalized", ATTACK_NONE, generalized};
    enum tepal_status status = tepal_params_check(&generalized, &error);
    if (status == TEPAL_OK) {
        status = tepal_params_check(&bloom, &error);
    }
    return say_status(NULL, args->command->name, status, error.why);
}

int attack_each(const struct args *args, struct attack_setting kinds[ATTACK_KINDS],
                int (*run)(void *ctx, const struct attack_setting *setting), void *ctx)
{
    const struct option_value *only = arg(args, "attack");
    int code = EXIT_YES;
    for (int i = 0; i < ATTACK_KINDS * (ATTACKS + 1) && code == EXIT_YES; i++) {
        struct attack_setting *s = &kinds[i / (ATTACKS + 1)];
        s->attack = (enum attack)(i % (ATTACKS + 1));
        if (only->given ? strcmp(only->text, attack_names[s->attack]) == 0
                        : s->attack != ATTACK_FORGER) {
            code = run(ctx, s);
        }
    }
    return code;
}

/*
 * attack.h: Bloom and generalized filters of the same size under attacks, for the applications that
 * compare the two (Laufer, Velloso and Duarte 2011): whoever sends a filter may have written its
 * bits; not at all, all ones, or the share of ones at which most keys pass.
 */
#ifndef APPS_SHARED_ATTACK_H
#define APPS_SHARED_ATTACK_H

#include <tepal/tepal.h>

#include "cli/command.h"

enum attack { ATTACK_NONE, ATTACK_ONES, ATTACK_WORST, ATTACKS, ATTACK_FORGER = ATTACKS };
extern const char *const attack_names[ATTACKS + 1];

/* One experiment: a kind of filter under an attack. */
struct attack_setting {
    const char *kind;
    enum attack attack;
    struct tepal_params params; /* of an honest filter */
};

/* Of a generalized filter; 0 of a Bloom filter. */
uint32_t attack_resets(const struct attack_setting *setting);
uint32_t attack_tolerance(const struct attack_setting *setting);

/*
 * The filter that the attacker leaves or sends: its bits are drawn from the seed. A forger begins
 * with the worst bits, and may add keys. (A generalized
 * filter without resets is a Bloom filter, bit for bit.)
 */
enum tepal_status attack_params(const struct attack_setting *setting, uint64_t seed,
                                struct tepal_params *out);

enum { ATTACK_BLOOM, ATTACK_GENERALIZED, ATTACK_KINDS };

/*
 * The two kinds by the options below, with the same number of bits and, unless told, of hashes.
 * EXIT_YES, or EXIT_TROUBLE after having said what is wrong with them.
 */
int attack_settings(const struct args *args, uint64_t bits,
                    struct attack_setting kinds[ATTACK_KINDS]);

/*
 * Each kind under each attack but the forger's, or under that of --attack, to `run` while that
 * gives EXIT_YES.
 */
int attack_each(const struct args *args, struct attack_setting kinds[ATTACK_KINDS],
                int (*run)(void *ctx, const struct attack_setting *setting), void *ctx);

#define OPTION_SIM_HASHES                                                                          \
    OPTION('k', "hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),                                      \
           "Bloom: number of hash functions (default: as many as generalized has).")

#define OPTION_SIM_RESETS                                                                          \
    OPTION(0, "reset-hashes", OF_WHOLE("K0", 0, TEPAL_MAX_HASHES),                                 \
           "generalized: number of hash functions that reset bits (default 2).")

#define OPTION_SIM_SETS                                                                            \
    OPTION(0, "set-hashes", OF_WHOLE("K1", 0, TEPAL_MAX_HASHES),                                   \
           "generalized: number of hash functions that set bits (default 2).")

#define OPTION_SIM_TOLERANCE                                                                       \
    OPTION(0, "tolerance", OF_WHOLE("B", 0, TEPAL_MAX_HASHES - 1),                                 \
           "generalized: number of inverted bits that are tolerated (default 0).")

#define OPTION_SIM_ATTACK                                                                          \
    OPTION(0, "attack", OF_CHOICE("ATTACK", "none all-ones worst"),                                \
           "Only this attack (default: all three): none; all-ones; or worst, the share of ones "   \
           "at which most keys are found.")

#endif

/* options.c: the options that several applications share. */
#include "options.h"

#include <tepal/params.h>

const struct option option_sim_hashes = {
    .letter = 'k',
    .name = "hashes",
    .value = "K",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = TEPAL_MAX_HASHES,
    .about = "Bloom: the number of hashes (default: as many as generalized has)."};

const struct option option_sim_resets = {.name = "reset-hashes",
                                         .value = "K0",
                                         .type = TAKES_WHOLE,
                                         .most = TEPAL_MAX_HASHES,
                                         .about =
                                             "generalized: how many hashes reset (default 2)."};

const struct option option_sim_sets = {.name = "set-hashes",
                                       .value = "K1",
                                       .type = TAKES_WHOLE,
                                       .most = TEPAL_MAX_HASHES,
                                       .about = "generalized: how many hashes set (default 2)."};

const struct option option_sim_tolerance = {
    .name = "tolerance",
    .value = "B",
    .type = TAKES_WHOLE,
    .most = TEPAL_MAX_HASHES - 1,
    .about = "generalized: how many inverted bits are forgiven (default 0)."};

const struct option option_sim_attack = {
    .name = "attack",
    .value = "ATTACK",
    .type = TAKES_CHOICE,
    .choices = "none all-ones worst",
    .about = "Only this attack (default: all three): none; all-ones; worst, the share "
             "of ones at which most keys pass."};

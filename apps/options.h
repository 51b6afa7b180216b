/* options.h: the options that several applications share. */
#ifndef APPS_OPTIONS_H
#define APPS_OPTIONS_H

#include "cli/command.h"

extern const struct option option_sim_hashes;
extern const struct option option_sim_resets;
extern const struct option option_sim_sets;
extern const struct option option_sim_tolerance;
extern const struct option option_sim_attack;

#endif

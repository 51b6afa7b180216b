/* state.h: an experiment under way. Experiments themselves do not look into it. */
#ifndef LAB_EXPERIMENT_STATE_H
#define LAB_EXPERIMENT_STATE_H

#include "cli/command.h"
#include "experiment/lab.h"

struct lab {
    const struct args *args;
    const struct lab_experiment *experiment;
    const char *folder;
    bool quick;
    bool sabotaged;
    uint64_t random[2];
    char *rows; /* the TSV, written when all of it is there */
    size_t used;
    size_t room;
    unsigned charts;
    bool used_data; /* it looked into the folder with measured data */
    int code;       /* EXIT_TROUBLE once a file could not be written */
};

#define LAB_COLUMNS "experiment\titem\tpublished\tours\tlow\thigh\tverdict\texpected\tsource\twidth"

/* Random numbers from the seed and the experiment's name, and a table of no rows yet. */
void lab_begin(struct lab *lab, uint64_t seed);

#endif

/* networks.h: networks, and what headers do on a path of each. */
#ifndef LAB_PAPER003_NETWORKS_H
#define LAB_PAPER003_NETWORKS_H

#include "paper003/paper003.h"

#define NETWORKS 261 /* of the paper */

/* The last three are beyond the paper. */
enum { BLOOM, NEXTFIT, GREEDY, SEARCH, EXACT, OWN_SEEDS, SALTS, CHOSEN, COLUMNS };

struct network {
    char name[48];
    uint32_t n;      /* links of the path */
    uint32_t t;      /* others beside it */
    bool random;     /* made at random: tells nothing of the paper's networks */
    double expected; /* false links of a Bloom header, exactly */
    struct lab_mean left[COLUMNS];
    struct lab_mean any[COLUMNS]; /* 1 for a header with a false link, 0 without */
};

struct networks {
    struct network *list;
    size_t count;
    size_t room;
};

extern const char *const lab_003_columns[COLUMNS];

/*
 * Measured networks, or generated ones, with headers of the first `count` columns sent over each.
 * Free the list, however this ends.
 */
int lab_003_networks(struct lab *lab, struct networks *nets, int count);

#endif

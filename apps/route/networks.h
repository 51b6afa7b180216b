/* networks.h: which networks the operands of `tepal app route` name. */
#ifndef APPS_ROUTE_NETWORKS_H
#define APPS_ROUTE_NETWORKS_H

#include "cli/command.h"

/* A network to be read. Texts on the heap. */
struct network {
    char *path;
    char *part; /* of a file that has several; NULL: the only one */
    char *name;
};

/* All zeros is none. */
struct networks {
    const struct args *args;
    struct network *network;
    size_t count;
    size_t room;
};

/*
 * Those of every file, or the one of --network; of a folder those of its files, by name. EXIT_YES,
 * or EXIT_TROUBLE after having said why; free them either way.
 */
int networks_find(struct networks *networks, const struct args *args);
void networks_free(struct networks *networks);

#endif

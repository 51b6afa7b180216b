/* demands.h: which paths, or trees, `tepal app route` puts into headers. */
#ifndef APPS_ROUTE_DEMANDS_H
#define APPS_ROUTE_DEMANDS_H

#include "cli/command.h"
#include "readers/graph.h"

#define DEMANDS_MOST ((size_t)1 << 24)

struct demand {
    uint32_t from;
    uint32_t count; /* of destinations */
    size_t first;   /* in demands.to */
};

/* All zeros is none. */
struct demands {
    struct demand *list;
    size_t count;
    size_t room;
    uint32_t *to;
    size_t to_count;
    size_t to_room;
};

/* Does one run have many? */
bool demands_many(const struct args *args);

/*
 * By the options: --from and --to, --demands, --all-pairs, or the longest of all shortest paths.
 * `name` is the network's, `spread` room to work in. EXIT_YES; EXIT_NO: there is no path at all,
 * and none was asked for by name; or EXIT_TROUBLE after having said why. Free them either way.
 */
int demands_find(struct demands *demands, const struct args *args, const struct graph *graph,
                 const char *name, struct graph_spread *spread);
void demands_free(struct demands *demands);

#endif

/* cluster.h: the plan for many nodes: how many parts, and what each node then has. */
#ifndef TOOL_COMMANDS_PLAN_CLUSTER_H
#define TOOL_COMMANDS_PLAN_CLUSTER_H

#include <tepal/plan.h>

#include "output/report.h"

struct cluster {
    uint64_t nodes;
    uint64_t parts;
    double keys;      /* of a part, on average ... */
    double deviation; /* ... and by how much they differ */
    uint64_t reserve; /* keys that a part is made for */
    uint64_t bytes;   /* of a part made for these */
    uint64_t fullest; /* parts of the fullest node, if slots are left as they fall */
    uint64_t evened;  /* parts of the fullest node after slots were moved */
};

/*
 * For the wish whose plans these are. EXIT_YES, or EXIT_TROUBLE after having said why. A part has
 * 128 MiB of cells at most.
 */
int cluster_plan(const struct args *args, const struct tepal_wish *wish,
                 const struct tepal_plans *plans, uint64_t nodes, struct cluster *out);

/* As the object `cluster` of the report, and as lines. */
void cluster_tell(struct report *report, const struct cluster *cluster);

#endif

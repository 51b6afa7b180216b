/* plan.c: which links a header holds, and which it is asked besides. */
#include <stdlib.h>
#include <string.h>

#include "route/packet.h"

/* Every link that leaves `node` and is no member. */
static void add_others(struct packet_plan *plan, uint32_t node)
{
    const struct graph *g = plan->graph;
    for (uint32_t l = g->first[node]; l < g->first[node + 1]; l++) {
        if (!plan->is_member[l]) {
            plan->other[plan->others++] = l;
        }
    }
}

/* Room for a plan of `count` destinations. */
static bool take_room(struct packet_plan *plan, const struct graph *g, uint32_t root, size_t count)
{
    memset(plan, 0, sizeof *plan);
    plan->graph = g;
    plan->root = root;
    plan->to = malloc((count + 1) * sizeof *plan->to);
    plan->member = malloc(((size_t)g->nodes + 1) * sizeof *plan->member);
    plan->other = malloc(((size_t)g->links + 1) * sizeof *plan->other);
    plan->is_member = calloc((size_t)g->links + 1, sizeof *plan->is_member);
    if (plan->to == NULL || plan->member == NULL || plan->other == NULL ||
        plan->is_member == NULL) {
        packet_plan_free(plan);
        return false;
    }
    return true;
}

/* The members are there: mark them, and list the others. */
static void find_others(struct packet_plan *plan)
{
    for (uint32_t i = 0; i < plan->members; i++) {
        plan->is_member[plan->member[i]] = true;
    }
    add_others(plan, plan->root);
    for (uint32_t i = 0; i < plan->members; i++) {
        add_others(plan, plan->graph->link[plan->member[i]].to);
    }
}

bool packet_plan_make(struct packet_plan *plan, const struct graph *g,
                      const struct graph_spread *spread, uint32_t root, const uint32_t *to,
                      size_t count)
{
    if (!take_room(plan, g, root, count)) {
        return false;
    }
    memcpy(plan->to, to, count * sizeof *to);
    plan->to_count = count;
    plan->members = graph_tree(g, spread, to, count, plan->member);
    for (size_t i = 0; i < count; i++) {
        plan->depth = spread->distance[to[i]] > plan->depth ? spread->distance[to[i]] : plan->depth;
    }
    find_others(plan);
    return true;
}

bool packet_plan_part(struct packet_plan *part, const struct packet_plan *path, uint32_t first,
                      uint32_t count)
{
    const struct graph_link *link = path->graph->link;
    if (!take_room(part, path->graph, link[path->member[first]].from, 1)) {
        return false;
    }
    memcpy(part->member, path->member + first, count * sizeof *part->member);
    part->members = count;
    part->to[0] = link[part->member[count - 1]].to;
    part->to_count = 1;
    part->depth = count;
    find_others(part);
    return true;
}

void packet_plan_free(struct packet_plan *plan)
{
    free(plan->to);
    free(plan->member);
    free(plan->other);
    free(plan->is_member);
    memset(plan, 0, sizeof *plan);
}

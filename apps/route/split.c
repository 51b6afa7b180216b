/* split.c: as many links as a header holds without a false one, again and again. */
#include "route/split.h"

#include <stdlib.h>
#include <string.h>

#include "shared/grow.h"

void route_parts_free(struct route_parts *parts)
{
    free(parts->part);
    memset(parts, 0, sizeof *parts);
}

/* The header of `count` links from the first-th on. */
static enum tepal_status try_part(struct packet_walker *walker, const struct packet_plan *plan,
                                  uint64_t seed, uint32_t first, uint32_t count,
                                  struct route_part *part, struct tepal_error *error)
{
    struct packet_plan own = {.graph = NULL};
    bool all = count == plan->members;
    if (!all && !packet_plan_part(&own, plan, first, count)) {
        return TEPAL_NO_MEMORY;
    }
    *part = (struct route_part){.first = first, .count = count};
    enum tepal_status status =
        packet_try(walker, all ? plan : &own, PACKET_YESNO, seed, &part->left, error);
    if (status == TEPAL_OK) {
        const struct tepal_header_layout *layout = packet_layout(walker);
        part->salt = (uint32_t)layout->params.yesno.salt;
        memcpy(part->header, packet_header(walker), layout->words * sizeof *part->header);
    }
    packet_plan_free(&own);
    return status;
}

/* The longest part from there on: `part`, or a shorter one if it leaves false links. */
static enum tepal_status shorten(struct packet_walker *walker, const struct packet_plan *plan,
                                 uint64_t seed, struct route_part *part, struct tepal_error *error)
{
    uint32_t first = part->first;
    uint32_t least = 1;
    uint32_t most = part->count; /* too many */
    struct route_part best;
    enum tepal_status status = try_part(walker, plan, seed, first, 1, &best, error);
    while (status == TEPAL_OK && most - least > 1) {
        uint32_t middle = least + (most - least) / 2;
        struct route_part here;
        status = try_part(walker, plan, seed, first, middle, &here, error);
        if (status == TEPAL_OK && here.left == 0) {
            best = here;
            least = middle;
        } else {
            most = middle;
        }
    }
    *part = best;
    return status;
}

enum tepal_status route_split(struct packet_walker *walker, const struct packet_plan *plan,
                              uint64_t seed, bool whole, struct route_parts *parts,
                              struct tepal_error *error)
{
    enum tepal_status status = TEPAL_OK;
    parts->count = 0;
    for (uint32_t first = 0; first < plan->members && status == TEPAL_OK;) {
        struct route_part part;
        if (!grow(&parts->part, &parts->room, parts->count + 1, sizeof *parts->part)) {
            return TEPAL_NO_MEMORY;
        }
        status = try_part(walker, plan, seed, first, plan->members - first, &part, error);
        if (status == TEPAL_OK && part.left > 0 && part.count > 1 && !whole) {
            status = shorten(walker, plan, seed, &part, error);
        }
        if (status == TEPAL_OK) {
            parts->part[parts->count++] = part;
            first += part.count;
        }
    }
    return status;
}

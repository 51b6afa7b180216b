/*
 * aspects.h: Table V of the paper, the positive and negative aspects of a stop set, computed. The
 * paper marks them by judgement; here each is a comparison with the exact list:
 *
 *     success       at least nine tenths of the list's
 *     discovery     at most a tenth of the nodes and of the links that the list shows is missed
 *     compression   at most half of the list's bits
 *     no collision  no more collisions than with the list
 *
 * The negative aspects are topology missed, load and collisions: what of the last three is not so.
 */
#ifndef APPS_STOPSET_ASPECTS_H
#define APPS_STOPSET_ASPECTS_H

#include <stdbool.h>

/* What is measured of a set. */
struct aspects_of {
    double success;
    double collision;
    double nodes_missed;
    double links_missed;
    double bits;
};

enum { ASPECT_SUCCESS, ASPECT_DISCOVERY, ASPECT_COMPRESSION, ASPECT_NO_COLLISION, ASPECTS };

void aspects(const struct aspects_of *set, const struct aspects_of *list, bool aspect[ASPECTS]);

#endif

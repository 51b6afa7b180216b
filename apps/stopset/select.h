/*
 * select.h: which of the routes that were read are looked at. Destinations behind a node of the
 * core are left out by --max-transit: their penultimate node is on the way to many others, and
 * would stop all of these.
 */
#ifndef APPS_STOPSET_SELECT_H
#define APPS_STOPSET_SELECT_H

#include "cli/command.h"
#include "readers/traceroute.h"

/* For qsort: whole numbers (uint64_t), ascending. */
int select_ascending(const void *a, const void *b);

/* The cycles that there are, ascending; free *cycle. */
int select_cycles(const struct args *args, const struct routes *routes, uint64_t **cycle,
                  size_t *count);

/*
 * The routes of cycle `learn` and later ones that --max-transit keeps, by index; free *kept.
 * Columns pen_transit that are missing are counted in the routes of cycle `learn`. EXIT_YES, or
 * EXIT_TROUBLE after having said why.
 */
int select_routes(const struct args *args, struct routes *routes, uint64_t learn, size_t **kept,
                  size_t *count);

#define OPTION_MAX_TRANSIT                                                                         \
    OPTION(0, "max-transit", OF_WHOLE("T", 0, INT64_MAX),                                          \
           "Keep only destinations whose penultimate node is on the way to at most T others (the " \
           "column pen_transit, or counted).")

#endif

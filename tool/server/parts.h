/*
 * parts.h: how many parts a filter on servers has. push keeps the number beside the parts, as a
 * string at the name {NAME:parts}, so that others need not be told, and cannot be told wrongly.
 */
#ifndef TOOL_SERVER_PARTS_H
#define TOOL_SERVER_PARTS_H

#include "cli/command.h"
#include "server/servers.h"

/*
 * The number of parts: that of --parts, or the one that is stored; 0: the filter is whole. If both
 * are there and differ, that is an error. Who may not read the number must give it.
 */
int parts_find(const struct args *args, struct servers *servers, uint64_t *parts);

/* Stores the number, if there is none. Says so if the user has no right to. */
int parts_store(const struct args *args, struct servers *servers, uint64_t parts);

#endif

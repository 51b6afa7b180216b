/* written.h: what a command tells of the filter that it wrote. */
#ifndef TOOL_OUTPUT_WRITTEN_H
#define TOOL_OUTPUT_WRITTEN_H

#include <tepal/filter.h>

#include "output/report.h"

/*
 * In text a summary on standard error; in JSON what the filter tells of itself. `keys`: how many
 * were read (UINT64_MAX: none were to be read).
 */
void written_tell(struct report *r, const char *path, const struct tepal_filter *filter,
                  uint64_t keys);

/* What --comments and --unique left out of the input, if they were given. */
void written_left_out(struct report *r, const struct args *args, uint64_t comments,
                      uint64_t repeats);

/* Closes a report of a filter that stays written even if the report could not be. */
int written_close(struct report *r);

/* The whole report, for commands that have nothing to add. */
int written_print(const struct args *args, const char *path, const struct tepal_filter *filter,
                  uint64_t keys);

#endif

/* times.h: the time of a line, if it has one: a field, in seconds. For logs that are read later. */
#ifndef TOOL_STREAMS_TIMES_H
#define TOOL_STREAMS_TIMES_H

#include "input/feed.h"

/*
 * The time of a line, in milliseconds, from its field of that number (from 1): seconds as 12,
 * 1722426235.25 and so on. NULL, or what is wrong with it.
 */
const char *times_read(const struct feed *feed, const struct key *line, size_t field, uint64_t *ms);

#define OPTION_TIME_FIELD                                                                          \
    OPTION(0, "time-field", OF_WHOLE("N", 1, UINT32_MAX),                                          \
           "The N-th field of a line is its time, in seconds: the clock of --every and --within, " \
           "instead of the machine's.")

#endif

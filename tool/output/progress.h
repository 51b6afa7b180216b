/*
 * progress.h: a line on standard error that says how far it is. Only if that is a terminal, only
 * after a second, ten times a second at most.
 */
#ifndef TOOL_OUTPUT_PROGRESS_H
#define TOOL_OUTPUT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool on;
    bool shown;
    double started;
    double next;
};

/* `wanted`: false silences it altogether. */
void progress_start(struct progress *progress, bool wanted);
void progress_tick(struct progress *progress, uint64_t keys);

/* The same for things that are counted out: "3 of 276 networks". */
void progress_parts(struct progress *progress, uint64_t done, uint64_t all, const char *what);

/* Takes the line away again. */
void progress_end(struct progress *progress);

/* Seconds on a clock that only goes forward. */
double progress_clock(void);

#endif

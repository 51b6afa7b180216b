/*
 * progress.h: a line on standard error that says how far it is. Only if that is a terminal, only
 * after a second, ten times a second at most. With TEPAL_PROGRESS=1 in the environment it is shown
 * at once, and line by line where there is no terminal, for logs.
 */
#ifndef TOOL_OUTPUT_PROGRESS_H
#define TOOL_OUTPUT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <tepal/base.h>

#include "cli/say.h"

struct progress {
    bool on;
    bool shown;
    bool in_place;    /* on a terminal: the line is rewritten */
    const char *what; /* what a call of the library does (progress_of) */
    double started;
    double next;
};

/* `wanted`: false silences it altogether. */
void progress_start(struct progress *progress, bool wanted);

/* Is it time for a line? What it says need not be computed otherwise. */
bool progress_due(struct progress *progress);

/*
 * A line, and the time left if the share that is done is known (else NAN): from it and the time so
 * far. progress_tick: so many keys, and how many in a second.
 */
void progress_show(struct progress *progress, double share, const char *format, ...)
    SAY_FORMAT(3, 4);
void progress_tick(struct progress *progress, uint64_t keys, double share);

/* When it is due: "comparing, 40 %, 12 s left". */
void progress_share(struct progress *progress, double share, const char *what);

/* For things that are counted out, when it is due: "3 of 276 networks, 12 s left". */
void progress_parts(struct progress *progress, uint64_t done, uint64_t all, const char *what);

/*
 * For a call of the library that tells how far it is: "retouching, 40 %, 12 s left". Starts it, and
 * must stay where it is until progress_end.
 */
struct tepal_progress progress_of(struct progress *progress, bool wanted, const char *what);

/* Takes the line away again. */
void progress_end(struct progress *progress);

/* Seconds on a clock that only goes forward. */
double progress_clock(void);

#endif

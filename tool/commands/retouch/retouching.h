/*
 * retouching.h: one run of `tepal retouch`: what was asked and read, and what came of it. Its steps
 * are files here: checks, keys, then either the curve, or the files and what is told.
 */
#ifndef TOOL_COMMANDS_RETOUCH_RETOUCHING_H
#define TOOL_COMMANDS_RETOUCH_RETOUCHING_H

#include <tepal/retouched.h>

#include "cli/command.h"
#include "files/file_lock.h"
#include "input/digests.h"
#include "output/report.h"

struct retouching {
    const struct args *args;
    const char *path;      /* of the filter */
    struct file_lock lock; /* of the output */
    struct tepal_filter *filter;
    struct tepal_hasher hasher;
    struct digests members;
    struct digests avoid;
    struct digests known;
    uint64_t members_read;
    double member_weight; /* of all members */
    struct tepal_known input;
    struct tepal_retouch_options how;
    struct tepal_retouch_report report;
    bool generalized; /* the filter is, and is retouched by inverting bits */
    bool blind;       /* the members were not given: their loss is expected, not counted */
    struct tepal_filter *result;
    uint64_t *victims;
    double seconds;
};

/* All that can be refused before any work: options, files, and (once it is open) the filter. */
int retouch_check_options(const struct retouching *w);
int retouch_check_files(const struct retouching *w);
int retouch_check_kind(struct retouching *w);

/* Reads all keys and checks them; then the input and the limits of the library's call. */
int retouch_read(struct retouching *w);
void retouch_set_input(struct retouching *w);

/* Writes the filter and the lists beside it: all, or none. */
int retouch_write(const struct retouching *w);

/* What the library said, or what the status means. */
int retouch_refused(const struct retouching *w, enum tepal_status status, const char *why);

/* What was given; what came of it; and the figures of both, in JSON. */
void retouch_tell_counts(struct report *r, const struct retouching *w);
void retouch_tell_trade(struct report *r, const struct retouching *w);
void retouch_tell_figures(struct report *r, const struct retouching *w);

/* With --dry-run: what each budget would remove, as rows and as a picture. */
int retouch_curve(struct retouching *w);

#endif

/*
 * negatives.h: the kinds that are built from members and known negatives at once (yesno, cascade,
 * and by a plan retouched): both are held in memory as digests, and the library distributes them.
 */
#ifndef TOOL_COMMANDS_BUILD_NEGATIVES_H
#define TOOL_COMMANDS_BUILD_NEGATIVES_H

#include <tepal/plan.h>
#include <tepal/yesno.h>

#include "cli/command.h"

struct negatives_build {
    const struct args *args;
    const struct tepal_proposal *plan; /* NULL: the options say what to build */
    const char *avoid;                 /* the file of known negatives ... */
    bool weighted;                     /* ... and do its lines have weights? */
    const struct tepal_hasher *hasher;
    const uint8_t *key;          /* of a keyed filter */
    struct tepal_params params;  /* kind, hash and seed are there */
    struct tepal_filter *filter; /* the result; the caller's to free */
    uint64_t keys;               /* members read, repeats included */
    enum tepal_yesno_method method;
    bool more;                        /* seeds to try: what does not fit is no error yet ... */
    bool full;                        /* ... and nothing is said if a plan's keys do not */
    struct tepal_known_report report; /* also of what was built by options */
};

/* Is this kind built here? */
bool negatives_builds(enum tepal_kind_id kind);

/* Can the options be right, and the files be read? Before any work. */
int negatives_check(const struct negatives_build *veto);

/* Reads members and known negatives and builds. EXIT_YES, or EXIT_TROUBLE after saying why. */
int negatives_build(struct negatives_build *veto);

/* After the write: the summary, or with --json the object. */
int negatives_written(const struct negatives_build *veto, const char *path);

#endif

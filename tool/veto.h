/*
 * veto.h: the kinds that are built from members and known negatives at once (yesno, cascade): both
 * are held in memory as digests, and the library distributes them.
 */
#ifndef TOOL_VETO_H
#define TOOL_VETO_H

#include <tepal/cascade.h>
#include <tepal/yesno.h>

#include "command.h"

struct veto {
    const struct args *args;
    const struct tepal_hasher *hasher;
    const uint8_t *key;          /* of a keyed filter */
    struct tepal_params params;  /* kind, hash and seed are there */
    struct tepal_filter *filter; /* the result; the caller's to free */
    uint64_t keys;               /* members read, repeats included */
    enum tepal_yesno_method method;
    struct tepal_yesno_report yesno;
    struct tepal_cascade_report cascade;
    double deadline; /* on progress_clock; 0: none */
};

/* Is this kind built here? */
bool veto_builds(enum tepal_kind_id kind);

/* Can the options be right, and the files be read? Before any work. */
int veto_check(const struct args *args, enum tepal_kind_id kind);

/* Reads members and known negatives and builds. EXIT_YES, or EXIT_TROUBLE after saying why. */
int veto_build(struct veto *veto);

/* After the write: the summary, or with --json the object. */
int veto_written(const struct veto *veto, const char *path);

#endif

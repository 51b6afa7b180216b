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
    struct tepal_plan_report report; /* also of what was built by options */
    double deadline;                 /* on progress_clock; 0: none */
};

/* Is this kind built here? */
bool negatives_builds(enum tepal_kind_id kind);

/* Can the options be right, and the files be read? Before any work. */
int negatives_check(const struct negatives_build *veto);

/* Reads members and known negatives and builds. EXIT_YES, or EXIT_TROUBLE after saying why. */
int negatives_build(struct negatives_build *veto);

/* After the write: the summary, or with --json the object. */
int negatives_written(const struct negatives_build *veto, const char *path);

extern const struct option option_yes_bits;
extern const struct option option_no_bits;
extern const struct option option_no_filters;
extern const struct option option_no_hashes;
extern const struct option option_veto_avoid;
extern const struct option option_veto_weights;
extern const struct option option_veto_method;
extern const struct option option_own_seeds;
extern const struct option option_salts;
extern const struct option option_tolerate;
extern const struct option option_time_limit;

#define YESNO_SIZES                                                                                \
    &option_yes_bits, &option_no_bits, &option_no_filters, &option_no_hashes, &option_own_seeds
#define YESNO_BUILD                                                                                \
    &option_veto_avoid, &option_veto_weights, &option_yes_bits, &option_no_bits,                   \
        &option_no_filters, &option_no_hashes, &option_own_seeds, &option_veto_method,             \
        &option_salts, &option_tolerate, &option_time_limit

#endif

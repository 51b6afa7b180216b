/*
 * receive.h: receiving a filter, whatever it is read from: begin, read it through the gate, end.
 */
#ifndef TEPAL_SRC_FILE_RECEIVE_H
#define TEPAL_SRC_FILE_RECEIVE_H

#include <tepal/receive.h>

#include "file/format.h"

struct reception {
    const struct tepal_terms *terms;
    struct tepal_judgement *judgement;
    struct format_gate gate;   /* between header and cells */
    struct tepal_error error;  /* of reading */
    struct tepal_filter *read; /* what was read, or NULL */
};

/*
 * TEPAL_BAD_ARGUMENT: there are no such terms, and the judgement is as it was. The gate points to
 * *at, which must not be moved.
 */
enum tepal_status tepal_receive_begin(struct reception *at, const struct tepal_terms *terms,
                                      struct tepal_judgement *judgement, struct tepal_error *error);

/* The verdict. `status` is that of reading. */
enum tepal_status tepal_receive_end(struct reception *at, enum tepal_status status,
                                    struct tepal_filter **out, struct tepal_error *error);

#endif

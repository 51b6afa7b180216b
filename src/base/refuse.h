/* refuse.h: a refusal with its reason. */
#ifndef TEPAL_SRC_BASE_REFUSE_H
#define TEPAL_SRC_BASE_REFUSE_H

#include <tepal/base.h>

/* Says why, if anybody asks, and returns the status: for `return refuse(...)`. */
static inline enum tepal_status refuse(const char **why, enum tepal_status status,
                                       const char *reason)
{
    if (why != NULL) {
        *why = reason;
    }
    return status;
}

#endif

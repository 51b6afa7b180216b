/* refuse.h: a refusal with its reason: the one way in which the library fills in an error. */
#ifndef TEPAL_SRC_BASE_REFUSE_H
#define TEPAL_SRC_BASE_REFUSE_H

#include <tepal/base.h>

/* Says why, if anybody asks, and returns the status: for `return refuse(...)`. */
static inline enum tepal_status refuse(struct tepal_error *error, enum tepal_status status,
                                       const char *why)
{
    if (error != NULL) {
        *error = (struct tepal_error){.status = status, .why = why};
    }
    return status;
}

/* The same where the status says it all; TEPAL_OK passes. */
static inline enum tepal_status refuse_if(struct tepal_error *error, enum tepal_status status)
{
    return status == TEPAL_OK ? status : refuse(error, status, tepal_status_message(status));
}

#endif

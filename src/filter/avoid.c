/* avoid.c: keys that must not be found, passed on to the kinds that can avoid them. */
#include <tepal/avoid.h>

#include <string.h>

#include "base/refuse.h"
#include "filter/kind.h"

static enum tepal_status check(const struct tepal_filter *filter, bool can,
                               struct tepal_error *error)
{
    if (!can) {
        return refuse(error, TEPAL_UNSUPPORTED,
                      "filters of this kind cannot avoid keys: the kind must be counting, bloom or "
                      "retouched");
    }
    return filter_read_only(filter) ? refuse_if(error, TEPAL_READ_ONLY) : TEPAL_OK;
}

enum tepal_status tepal_avoid_budget(struct tepal_filter *filter, uint64_t members,
                                     struct tepal_error *error)
{
    enum tepal_status status = check(filter, filter->ops->allow != NULL, error);
    if (status != TEPAL_OK) {
        return status;
    }
    return members == 0
               ? refuse(error, TEPAL_BAD_ARGUMENT, "the budget must be at least one member")
               : filter->ops->allow(filter, members, error);
}

enum tepal_status tepal_avoid(struct tepal_filter *filter, const struct tepal_digest *digests,
                              size_t count, uint64_t *refused, struct tepal_avoided *done,
                              struct tepal_error *error)
{
    struct tepal_avoided all = {.absent = 0};
    enum tepal_status status = check(filter, filter->ops->avoid != NULL, error);
    if (status == TEPAL_OK) {
        status = filter->ops->avoid(filter, digests, count, refused, &all, error);
    }
    if (status == TEPAL_OK && done != NULL) {
        *done = all;
    }
    return status;
}

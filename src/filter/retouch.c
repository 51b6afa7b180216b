/* retouch.c: stubs until the methods are in. */
#include "filter/retouch.h"
#include <string.h>
static const char *const names[TEPAL_RETOUCH_METHODS] = {
    "random-bits",     "random",          "min-fn",         "max-fp",   "ratio",
    "improved-min-fn", "improved-max-fp", "improved-ratio", "sacrifice"};
const char *tepal_retouch_method_name(enum tepal_retouch_method method)
{
    return (unsigned)method < TEPAL_RETOUCH_METHODS ? names[method] : "";
}
bool tepal_retouch_method_parse(const char *name, enum tepal_retouch_method *out)
{
    for (unsigned i = 0; i < TEPAL_RETOUCH_METHODS; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (enum tepal_retouch_method)i;
            return true;
        }
    }
    return false;
}
enum tepal_status tepal_retouch(const struct tepal_filter *filter,
                                const struct tepal_retouch_input *input,
                                const struct tepal_retouch_options *options,
                                const struct tepal_allocator *allocator, struct tepal_filter **out,
                                struct tepal_retouch_report *report, uint64_t *victims,
                                const char **why)
{
    (void)filter, (void)input, (void)options, (void)allocator, (void)out, (void)report;
    (void)victims, (void)why;
    return TEPAL_UNSUPPORTED;
}
enum tepal_status tepal_retouch_curve(const struct tepal_filter *filter,
                                      const struct tepal_retouch_input *input,
                                      const struct tepal_retouch_options *options,
                                      const struct tepal_allocator *allocator,
                                      struct tepal_retouch_point *points, size_t capacity,
                                      size_t *count, struct tepal_retouch_report *report,
                                      const char **why)
{
    (void)filter, (void)input, (void)options, (void)allocator, (void)points, (void)report;
    (void)capacity, (void)count, (void)why;
    return TEPAL_UNSUPPORTED;
}

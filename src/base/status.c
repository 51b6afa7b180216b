/* status.c: names and messages, from the one list in tepal/base.h. */
#include <tepal/base.h>

const char *tepal_status_name(enum tepal_status status)
{
    switch (status) {
#define CASE(name, value, message)                                                                 \
    case TEPAL_##name:                                                                             \
        return #name;
        TEPAL_STATUS_LIST(CASE)
#undef CASE
    }
    return "UNKNOWN";
}

const char *tepal_status_message(enum tepal_status status)
{
    switch (status) {
#define CASE(name, value, message)                                                                 \
    case TEPAL_##name:                                                                             \
        return message;
        TEPAL_STATUS_LIST(CASE)
#undef CASE
    }
    return "unknown status";
}

const char *tepal_version(void)
{
    return TEPAL_VERSION;
}

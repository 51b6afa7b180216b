/* names.h: the names of an enum, in the order of its values from 0 on. */
#ifndef TEPAL_SRC_BASE_NAMES_H
#define TEPAL_SRC_BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct names {
    const char *const *name;
    size_t count;
    const char *other; /* what any other value is called */
};

/* For the names in an array. */
#define NAMES(array, other)                                                                        \
    {                                                                                              \
        (array), sizeof(array) / sizeof *(array), (other)                                          \
    }

static inline const char *names_at(struct names names, unsigned value)
{
    return value < names.count ? names.name[value] : names.other;
}

/* False, and *value as it was, if nothing is called so. */
static inline bool names_find(struct names names, const char *name, unsigned *value)
{
    for (unsigned i = 0; i < names.count; i++) {
        if (strcmp(name, names.name[i]) == 0) {
            *value = i;
            return true;
        }
    }
    return false;
}

#endif

/* part.c: the rule, and the names. */
#include "server/part.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t part_of(struct tepal_digest digest, uint64_t parts)
{
    /* The upper half of a product of 64 by 32 bits, in two steps. */
    uint64_t low = (digest.lo & UINT32_MAX) * parts;
    uint64_t high = (digest.lo >> 32) * parts + (low >> 32);
    return high >> 32;
}

void part_hasher(struct tepal_hasher *hasher)
{
    tepal_hasher_init(PART_SEED, hasher);
}

char *part_name(const char *name, uint64_t part, uint64_t parts)
{
    size_t size = strlen(name) + 32;
    char *out = malloc(size);
    if (out != NULL) {
        if (parts == 0) {
            snprintf(out, size, "%s", name);
        } else {
            snprintf(out, size, "{%s:%" PRIu64 "}", name, part);
        }
    }
    return out;
}

char *part_path(const char *path, uint64_t part, uint64_t parts)
{
    size_t size = strlen(path) + 32;
    char *out = malloc(size);
    if (out != NULL) {
        int digits = snprintf(NULL, 0, "%" PRIu64, parts == 0 ? 0 : parts - 1);
        if (parts == 0) {
            snprintf(out, size, "%s", path);
        } else {
            snprintf(out, size, "%s.%0*" PRIu64, path, digits, part);
        }
    }
    return out;
}

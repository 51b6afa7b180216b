/* must.h: what the fuzz targets share: their entry, and claims that stop them when they fail. */
#ifndef TEPAL_FUZZ_MUST_H
#define TEPAL_FUZZ_MUST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* In memory of their own, exactly as long, so that overruns are seen. */
static inline void *must_copy(const void *data, size_t len)
{
    void *bytes = malloc(len == 0 ? 1 : len);
    MUST(bytes != NULL);
    memcpy(bytes, data, len);
    return bytes;
}

#endif

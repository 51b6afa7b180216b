/* must.h: what the fuzz targets share: their entry, and claims that stop them when they fail. */
#ifndef TEPAL_FUZZ_MUST_H
#define TEPAL_FUZZ_MUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Do bytes begin as no packed file does, so that a reader of files takes them as they are? */
static inline bool must_be_plain(const uint8_t *data, size_t len)
{
    uint8_t c = len == 0 ? '#' : data[0];
    return c == '\n' || (c >= ' ' && c < 0x7f && c != '(' && c != 'B' && (c & 0xf0) != 0x50);
}

#define MUST_PATH 64

/* A file in memory, at its beginning, and the path that opens it once more; to be closed. */
static inline int must_file(const void *data, size_t len, char path[MUST_PATH])
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    MUST(fd >= 0);
    for (size_t at = 0; at < len;) {
        ssize_t n = write(fd, (const char *)data + at, len - at);
        MUST(n > 0);
        at += (size_t)n;
    }
    MUST(lseek(fd, 0, SEEK_SET) == 0);
    (void)snprintf(path, MUST_PATH, "/proc/self/fd/%d", fd);
    return fd;
}

#endif

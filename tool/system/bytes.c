/* bytes.c: what libc offers for both, under names of our own. */
#define _DEFAULT_SOURCE
#include "system/bytes.h"

#include <string.h>
#include <sys/random.h>

bool bytes_draw(void *bytes, size_t len)
{
    return getentropy(bytes, len) == 0;
}

void bytes_wipe(void *bytes, size_t len)
{
    explicit_bzero(bytes, len);
}

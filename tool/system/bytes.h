/* bytes.h: bytes that nobody can guess, and bytes that nobody shall find. */
#ifndef TOOL_SYSTEM_BYTES_H
#define TOOL_SYSTEM_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* Up to 256 random bytes of the system's. False: it has none, errno says why. */
bool bytes_draw(void *bytes, size_t len);

/* Zeros over a secret that is not needed any more; compilers do not leave that out. */
void bytes_wipe(void *bytes, size_t len);

#endif

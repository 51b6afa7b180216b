/* secret.h: the secret key of a keyed filter, from a file. */
#ifndef TOOL_INPUT_SECRET_H
#define TOOL_INPUT_SECRET_H

#include <tepal/hash.h>

#include "cli/command.h"

/*
 * 16 raw bytes, or 32 hexadecimal digits, with blanks and empty lines around them. EXIT_YES, or
 * EXIT_TROUBLE after having said why.
 */
int secret_read(const struct args *args, const char *path, uint8_t key[TEPAL_KEY_BYTES]);

#endif

/* terms.h: on what terms a filter is received, from the options of `tepal receive`. */
#ifndef TOOL_COMMANDS_RECEIVE_TERMS_H
#define TOOL_COMMANDS_RECEIVE_TERMS_H

#include <tepal/receive.h>

#include "cli/command.h"

/* The terms may point into `key`. EXIT_YES, or EXIT_TROUBLE after having said why. */
int receive_terms(const struct args *args, struct tepal_terms *terms, uint8_t key[TEPAL_KEY_BYTES]);

#endif

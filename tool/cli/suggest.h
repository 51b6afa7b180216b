/* suggest.h: "did you mean ...?" */
#ifndef TOOL_CLI_SUGGEST_H
#define TOOL_CLI_SUGGEST_H

#include <stddef.h>

/* The best candidate so far for a mistyped word. Start with {.word = ...}. */
struct suggest {
    const char *word;
    char best[64];
    size_t distance;
};

void suggest_offer(struct suggest *suggest, const char *candidate);

/* "; did you mean PREFIXbest?" in `room`, or "" if nothing is close. Returns room. */
const char *suggest_text(const struct suggest *suggest, const char *prefix, char *room,
                         size_t size);

#endif

/* suggest.c: the nearest word by edit distance (insert, delete, replace, swap neighbours). */
#include "cli/suggest.h"

#include <stdio.h>
#include <string.h>

#define LONGEST 32

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(const char *a, const char *b)
{
    size_t la = strlen(a);
    size_t lb = strlen(b);
    size_t d[LONGEST + 1][LONGEST + 1];
    if (la > LONGEST || lb > LONGEST) {
        return LONGEST;
    }
    for (size_t i = 0; i <= la; i++) {
        d[i][0] = i;
    }
    for (size_t j = 0; j <= lb; j++) {
        d[0][j] = j;
    }
    for (size_t i = 1; i <= la; i++) {
        for (size_t j = 1; j <= lb; j++) {
            size_t step = least(d[i - 1][j] + 1, d[i][j - 1] + 1);
            d[i][j] = least(step, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[la][lb];
}

void suggest_offer(struct suggest *s, const char *candidate)
{
    size_t typed = strlen(s->word);
    size_t far = distance(s->word, candidate);
    /* What was typed is how the candidate begins: as good as one slip. */
    if (typed >= 2 && strncmp(s->word, candidate, typed) == 0) {
        far = 1;
    }
    size_t allowed = typed < 4 ? 1 : 2;
    if (far <= allowed && (s->best[0] == '\0' || far < s->distance)) {
        snprintf(s->best, sizeof s->best, "%s", candidate);
        s->distance = far;
    }
}

const char *suggest_text(const struct suggest *s, const char *prefix, char *room, size_t size)
{
    room[0] = '\0';
    if (s->best[0] != '\0') {
        snprintf(room, size, "; did you mean %s%s?", prefix, s->best);
    }
    return room;
}

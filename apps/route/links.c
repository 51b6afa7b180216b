/* links.c: links as words, and words as lines. */
#include "route/links.h"

#include <string.h>

#include "cli/say.h"

#define INDENT 11
#define WIDE   100

static void word(struct out *out, size_t *column, const char *before, const char *name)
{
    char clean[GRAPH_NAME_ROOM];
    const char *text = say_clean(name, clean, sizeof clean);
    size_t len = strlen(before) + strlen(text);
    if (*column > INDENT && *column + len + 1 > WIDE) {
        out_format(out, "\n%*s", INDENT, "");
        *column = INDENT;
    }
    out_format(out, "%s%s%s", *column > INDENT ? " " : "", before, text);
    *column += len + (*column > INDENT);
}

void links_print(struct out *out, const struct graph *g, links_name *name, const uint32_t *link,
                 uint32_t count)
{
    char room[GRAPH_NAME_ROOM];
    uint32_t last = GRAPH_NONE;
    size_t column = INDENT;
    for (uint32_t i = 0; i < count; i++) {
        const struct graph_link *l = &g->link[link[i]];
        if (l->from != last) { /* a branch begins */
            word(out, &column, last == GRAPH_NONE ? "" : "| ", name(g, l->from, room));
        }
        word(out, &column, "> ", name(g, l->to, room));
        last = l->to;
    }
    out_text(out, "\n");
}

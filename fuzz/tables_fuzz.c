/*
 * tables_fuzz.c: tables of masks, as `tepal app forward` reads them, fed with any lines. What is
 * accepted must keep the promises of tables.h: every link has its masks, and packets can be sent.
 */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "must.h"
#include "route/tables.h"
#include "route/walk.h"

struct all {
    const struct tables *tables;
    const uint64_t *header;
};

static void ask(void *ctx, uint32_t node, bool *matched)
{
    const struct all *all = ctx;
    const struct graph *g = &all->tables->graph;
    for (uint32_t l = g->first[node]; l < g->first[node + 1]; l++) {
        matched[l] = tepal_header_match(&all->tables->layout, all->header,
                                        tables_mask(all->tables, l, all->tables->salts - 1));
    }
}

static void check(const struct tables *t)
{
    const struct graph *g = &t->graph;
    struct walk walk;
    char hex[TABLES_HEX];
    uint64_t again[TEPAL_MAX_HEADER_WORDS];
    double crossings;
    double expired;
    MUST(t->salts > 0 && t->layout.bits > 0 && g->edges == g->links);
    MUST(t->masks == (size_t)g->links * t->salts * t->layout.words);
    MUST(walk_new(&walk, g));
    for (uint32_t l = 0; l < g->links; l++) {
        const uint64_t *mask = tables_mask(t, l, t->salts - 1);
        struct all all = {t, mask};
        MUST(mask + t->layout.words <= t->mask + t->masks);
        tables_hex(&t->layout, mask, hex);
        MUST(tables_words(&t->layout, hex, strlen(hex), again) == NULL);
        MUST(memcmp(again, mask, t->layout.words * sizeof *mask) == 0);
        walk_spread(&walk, g->link[l].from, ask, &all);
        walk_count(&walk, 5, &crossings, &expired);
        (void)walk_loops(&walk);
        MUST(walk.reached_count >= 1 && walk.reached_count <= g->nodes && crossings >= 0);
    }
    walk_free(&walk);
}

struct input {
    const uint8_t *data;
    size_t size;
};

static const char *read_lines(struct tables *t, const uint8_t *data, size_t size)
{
    const char *why = size == 0 ? "empty" : NULL;
    for (size_t at = 0; at < size && why == NULL;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t len = end == NULL ? size - at : (size_t)(end - (data + at));
        why = tables_line(t, (const char *)data + at, len);
        at += len + 1;
    }
    return why == NULL ? tables_finish(t) : why;
}

static void read_failing(void *context)
{
    const struct input *in = context;
    struct tables t = {.salts = 0};
    (void)read_lines(&t, in->data, in->size);
    tables_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tables t = {.salts = 0};
    struct input input = {data, size};
    const char *why = read_lines(&t, data, size);
    if (why == NULL) {
        check(&t);
    } else {
        MUST(why[0] != '\0');
    }
    tables_free(&t);
    if (size % 8 == 0) {
        fail_each(read_failing, &input);
    }
    return 0;
}

/* tables.c: masks and headers, read. Files are not trusted: every number and digit is checked. */
#include "route/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "shared/grow.h"

void tables_free(struct tables *t)
{
    graph_free(&t->graph);
    draft_free(&t->draft);
    free(t->mask);
    memset(t, 0, sizeof *t);
}

/* ---- digits ---------------------------------------------------------------------------------- */

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

const char *tables_words(const struct tepal_header_layout *layout, const char *hex, size_t len,
                         uint64_t *words)
{
    uint8_t bytes[TEPAL_MAX_HEADER_BITS / 8];
    size_t count = (layout->bits + 7) / 8;
    if (len != 2 * count) {
        return "a header or mask has not as many digits as the tables say: two for each byte";
    }
    for (size_t i = 0; i < count; i++) {
        int high = digit_of(hex[2 * i]);
        int low = digit_of(hex[2 * i + 1]);
        if (high < 0 || low < 0) {
            return "a header or mask is not hexadecimal";
        }
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    if (layout->bits % 8 != 0 && bytes[count - 1] >> layout->bits % 8 != 0) {
        return "a header or mask has bits beyond its end";
    }
    tepal_header_unpack(layout, bytes, words);
    return NULL;
}

const uint64_t *tables_mask(const struct tables *t, uint32_t link, uint32_t salt)
{
    size_t line = t->graph.link[link].edge;
    return t->mask + (line * t->salts + salt) * t->layout.words;
}

/* ---- the first line -------------------------------------------------------------------------- */

static bool whole_of(struct piece text, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.text[i] < '0' || text.text[i] > '9' || *value > UINT32_MAX) {
            return false;
        }
        *value = *value * 10 + (uint64_t)(text.text[i] - '0');
    }
    return text.len > 0 && *value <= UINT32_MAX;
}

/* What the tests of a header need: where its regions are. The hashing is in the masks. */
static const char *read_head(struct tables *t, struct piece line)
{
    static const char *const name[] = {"bits=", "no_bits=", "no_filters=", "salts="};
    uint64_t value[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    struct piece field[LINE_COLUMNS];
    size_t count = piece_split(line, '\t', field, LINE_COLUMNS);
    if (count == 0 || count > LINE_COLUMNS || !piece_is(field[0], "#tepal-tables")) {
        return "these are not tables of `tepal app route`: the first line is not #tepal-tables";
    }
    for (size_t i = 1; i < count; i++) {
        for (size_t n = 0; n < 4; n++) {
            size_t len = strlen(name[n]);
            if (field[i].len > len && memcmp(field[i].text, name[n], len) == 0 &&
                !whole_of((struct piece){field[i].text + len, field[i].len - len}, &value[n])) {
                return "a number of the first line is wrong";
            }
        }
    }
    for (size_t n = 0; n < 4; n++) {
        if (value[n] == UINT64_MAX) {
            return "the first line must have bits, no_bits, no_filters and salts";
        }
    }
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_error error = {.why = ""};
    params.kind = TEPAL_KIND_YESNO;
    params.cells = value[0];
    params.hashes = 1;
    params.yesno.no_bits = value[1];
    params.yesno.no_filters = value[2];
    params.yesno.no_hashes = value[2] > 0;
    if (value[3] == 0 || value[3] > LINE_COLUMNS - 2) {
        return "the first line has no salts, or more than 62";
    }
    if (tepal_header_layout_init(&params, &t->layout, &error) != TEPAL_OK) {
        return "the sizes in the first line do not make a header";
    }
    t->salts = (uint32_t)value[3];
    return NULL;
}

/* ---- the links ------------------------------------------------------------------------------- */

const char *tables_line(void *ctx, const char *text, size_t len)
{
    struct tables *t = ctx;
    struct piece line = {text, len};
    struct piece field[LINE_COLUMNS];
    struct draft_edge edge = {.directed = true, .line = ++t->line};
    t->draft.trouble = &t->trouble;
    if (t->line == 1) {
        line.len -= line.len > 0 && line.text[line.len - 1] == '\r';
        return read_head(t, line);
    }
    if (line_sort(t->line, &line) != LINE_VALUES) {
        return NULL;
    }
    if (piece_split(line, '\t', field, LINE_COLUMNS) != 2 + (size_t)t->salts) {
        return "a line has two nodes and a mask for each salt, with tabs between them";
    }
    for (size_t i = 0; i < 2; i++) {
        if (!draft_mention(&t->draft, t->line, field[i].text, field[i].len, &edge.end[i]) ||
            (!t->draft.node[edge.end[i]].declared && !draft_declare(&t->draft, edge.end[i]))) {
            return t->trouble.why;
        }
    }
    if (edge.end[0] == edge.end[1]) {
        return "a link leads from a node to itself";
    }
    size_t words = t->layout.words;
    if (!grow(&t->mask, &t->mask_room, t->masks + words * t->salts, sizeof *t->mask)) {
        return LINES_NO_MEMORY;
    }
    for (size_t salt = 0; salt < t->salts; salt++, t->masks += words) {
        const char *why =
            tables_words(&t->layout, field[2 + salt].text, field[2 + salt].len, t->mask + t->masks);
        if (why != NULL) {
            return why;
        }
    }
    return draft_edge_add(&t->draft, edge) ? NULL : t->trouble.why;
}

const char *tables_finish(struct tables *t)
{
    t->draft.trouble = &t->trouble;
    return draft_finish(&t->draft, &t->graph) ? NULL : t->trouble.why;
}

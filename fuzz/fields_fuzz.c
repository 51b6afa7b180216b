/*
 * fields_fuzz.c: what dedup, gaps and app admit read of a line: fields, against a naive reader, and
 * durations, which are refused or exact.
 *
 *     byte 0   which field, and which delimiter
 *     rest     the line; also taken as a duration
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "input/feed.h"
#include "cli/number.h"
#include "must.h"

static int is_delimiter(char c, int delimiter)
{
    return delimiter < 0 ? c == ' ' || c == '\t' : c == (char)delimiter;
}

/* Character by character: the n-th field, or the empty one. */
static struct key naive(const struct key *line, size_t n, int delimiter)
{
    struct key found = {line->text, 0};
    size_t field = delimiter < 0 ? 0 : 1;
    int inside = 0;
    for (size_t i = 0; i < line->len; i++) {
        if (is_delimiter(line->text[i], delimiter)) {
            field += delimiter >= 0;
            inside = 0;
            continue;
        }
        field += delimiter < 0 && !inside;
        if (field == n) {
            found.text = inside ? found.text : line->text + i;
            found.len++;
        }
        inside = 1;
    }
    return found;
}

static void check_fields(const struct key *line, size_t n, int delimiter)
{
    struct key got = feed_field(line, n, delimiter);
    struct key want = naive(line, n, delimiter);
    if (got.len != want.len || memcmp(got.text, want.text, got.len) != 0) {
        abort();
    }
    if (got.text < line->text || got.text + got.len > line->text + line->len) {
        abort();
    }
}

static void check_duration(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    uint64_t value = 12345;
    if (text == NULL) {
        return;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    const char *why = number_duration(text, &value);
    if (why != NULL && value != 12345) {
        abort();
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    static const int delimiters[] = {-1, ',', '\t', 0};
    size_t n = 1 + (data[0] >> 2) % 12;
    /* A line of its own on the heap, without a byte more: reading past it is found. */
    char *text = malloc(size);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\n';
    struct key line = {text, size - 1};
    check_fields(&line, n, delimiters[data[0] & 3]);
    check_duration(data + 1, size - 1);
    free(text);
    return 0;
}

/* lines.c: the command's reader of keys, taken for a reader of lines; and pieces of them. */
#include "readers/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/say.h"
#include "input/keys.h"

#define AT_ONCE 256

/* ---- files ----------------------------------------------------------------------------------- */

int lines_read(const char *path, lines_reader *reader, void *ctx)
{
    struct keys_options how = {.separator = '\n', .plain = false};
    struct key line[AT_ONCE];
    uint64_t number = 0;
    ptrdiff_t count;
    int code = EXIT_YES;
    struct keys *keys = keys_open(&path, 1, &how);
    if (keys == NULL) {
        return say_no_memory();
    }
    while (code == EXIT_YES && (count = keys_next(keys, line, AT_ONCE)) != 0) {
        if (count < 0) {
            code = say_error(NULL, keys_subject(keys), "%s", keys_why(keys));
        }
        for (ptrdiff_t i = 0; i < count && code == EXIT_YES; i++) {
            const char *why = reader(ctx, line[i].text, line[i].len);
            number++;
            if (why != NULL) {
                code = say_error(NULL, keys_subject(keys), "line %" PRIu64 ": %s", number, why);
            }
        }
    }
    keys_close(keys);
    return code;
}

int lines_files(const char *const *paths, size_t count,
                int (*read)(void *ctx, const char *path, size_t number), void *ctx)
{
    int code = count == 0 ? read(ctx, "-", 1) : EXIT_YES;
    for (size_t i = 0; i < count && code == EXIT_YES; i++) {
        code = read(ctx, paths[i], i + 1);
    }
    return code;
}

const char *lines_subject(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

bool piece_is(struct piece p, const char *word)
{
    return p.len == strlen(word) && memcmp(p.text, word, p.len) == 0;
}

const char *piece_wrong(struct piece p, const char *what, char *why, size_t room)
{
    snprintf(why, room, "%s: '%.*s'", what, p.len < 48 ? (int)p.len : 48, p.text);
    return why;
}

size_t piece_split(struct piece line, char by, struct piece *field, size_t most)
{
    const char *end = line.text + line.len;
    const char *at = line.text;
    for (size_t count = 0; count < most; count++) {
        const char *stop = at < end ? memchr(at, by, (size_t)(end - at)) : NULL;
        field[count] = (struct piece){at, (size_t)((stop == NULL ? end : stop) - at)};
        if (stop == NULL) {
            return count + 1;
        }
        at = stop + 1;
    }
    return most + 1;
}

bool piece_copy(struct piece p, char *text, size_t room)
{
    if (p.len >= room || memchr(p.text, '\0', p.len) != NULL) {
        return false;
    }
    memcpy(text, p.text, p.len);
    text[p.len] = '\0';
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

enum line_sort line_sort(uint64_t number, struct piece *line)
{
    line->len -= line->len > 0 && line->text[line->len - 1] == '\r';
    if (line->len == 0) {
        return LINE_NOTHING;
    }
    if (line->text[0] != '#') {
        return LINE_VALUES;
    }
    return number == 1 && memchr(line->text, '\t', line->len) != NULL ? LINE_NAMES : LINE_NOTHING;
}

size_t line_columns(struct piece line, const char *const *names, size_t count, size_t *column)
{
    struct piece field[LINE_COLUMNS];
    size_t width =
        piece_split((struct piece){line.text + 1, line.len - 1}, '\t', field, LINE_COLUMNS);
    for (size_t c = 0; c < count; c++) {
        column[c] = SIZE_MAX;
    }
    for (size_t i = 0; i < width && i < LINE_COLUMNS; i++) {
        struct piece name = field[i];
        for (; name.len > 0 && name.text[0] == ' '; name.text++) {
            name.len--;
        }
        for (size_t c = 0; c < count; c++) {
            column[c] = piece_is(name, names[c]) ? i : column[c];
        }
    }
    return width;
}

/* requests.c: lines into fields, fields into numbers. */
#include "readers/requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "readers/lines.h"
#include "shared/grow.h"

#define NOWHERE SIZE_MAX

/* The fields of a line, up to REQUESTS_FIELDS of them; returns how many. */
static size_t divide(struct piece line, struct piece *field)
{
    bool tabs = memchr(line.text, '\t', line.len) != NULL;
    const char *at = line.text;
    const char *end = line.text + line.len;
    size_t count = 0;
    while (count < REQUESTS_FIELDS) {
        while (!tabs && at < end && *at == ' ') {
            at++;
        }
        if (!tabs && at == end) {
            break;
        }
        const char *stop = at;
        while (stop < end && *stop != (tabs ? '\t' : ' ')) {
            stop++;
        }
        field[count++] = (struct piece){at, (size_t)(stop - at)};
        if (stop == end) {
            break;
        }
        at = stop + 1;
    }
    return count;
}

/* ---- which field is which -------------------------------------------------------------------- */

static size_t find(const struct piece *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (piece_is(names[i], name)) {
            return i;
        }
    }
    return NOWHERE;
}

/* A number from 1 to REQUESTS_FIELDS; 0: it is none. */
static size_t number(const char *text)
{
    size_t value = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || value > REQUESTS_FIELDS) {
            return 0;
        }
        value = value * 10 + (size_t)(*c - '0');
    }
    return value <= REQUESTS_FIELDS ? value : 0;
}

/* One field: by what the user says, else by its usual names. False: there is no such name. */
static bool locate(struct requests_file *f, const struct piece *names, size_t count,
                   const char *told, const char *const *usual, size_t *out)
{
    *out = NOWHERE;
    if (told != NULL) {
        size_t n = number(told);
        *out = n > 0 ? n - 1 : find(names, count, told);
        if (*out == NOWHERE) {
            snprintf(f->why, sizeof f->why, "no field is called '%.80s'%s", told,
                     count == 0 ? ": the first line names none" : "");
        }
        return *out != NOWHERE;
    }
    for (; *usual != NULL && *out == NOWHERE; usual++) {
        *out = find(names, count, *usual);
    }
    return true;
}

static const char *locate_all(struct requests_file *f, const struct piece *names, size_t count)
{
    static const char *const keys[] = {"url", "key", "object", NULL};
    static const char *const who[] = {"proxy", "client", "host", NULL};
    static const char *const none[] = {NULL};
    if (!locate(f, names, count, f->form->key, keys, &f->key) ||
        !locate(f, names, count, f->form->who, who, &f->who) ||
        !locate(f, names, count, f->form->size, none, &f->size)) {
        return f->why;
    }
    f->known = true;
    return NULL;
}

/* Without names: by the number of fields in the first line. */
static const char *guess(struct requests_file *f, size_t count)
{
    const char *why = locate_all(f, NULL, 0);
    if (why != NULL || f->key != NOWHERE) {
        return why;
    }
    if (count > 2) {
        f->known = false;
        snprintf(f->why, sizeof f->why,
                 "%zu fields without names: give --field, the field with the requested object",
                 count);
        return f->why;
    }
    f->key = count - 1;
    if (f->who == NOWHERE && count == 2) {
        f->who = 0;
    }
    return NULL;
}

static const char *read_names(struct requests_file *f, struct piece line)
{
    struct piece names[REQUESTS_FIELDS];
    do {
        line.text++;
        line.len--;
    } while (line.len > 0 && line.text[0] == ' ');
    size_t count = divide(line, names);
    const char *why = count < 2 ? NULL : locate_all(f, names, count);
    f->known = f->known && f->key != NOWHERE; /* a remark: the fields will be counted */
    return f->form->key == NULL && f->key == NOWHERE ? NULL : why;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static const char *read_size(struct requests_file *f, struct piece field, uint64_t *out)
{
    uint64_t value = 0;
    bool dash = piece_is(field, "-");
    for (size_t i = 0; i < field.len && !dash; i++) {
        char c = field.text[i];
        if (c < '0' || c > '9' || value > (UINT64_MAX >> 20)) {
            snprintf(f->why, sizeof f->why, "the size is not a number: '%.*s'",
                     (int)(field.len < 60 ? field.len : 60), field.text);
            return f->why;
        }
        value = value * 10 + (uint64_t)(c - '0');
    }
    *out = value;
    return field.len > 0 ? NULL : "the size is empty";
}

static const char *take(struct requests *r, struct requests_file *f, const struct piece *field,
                        size_t count)
{
    struct request request = {0, NAMES_NONE, 0};
    size_t needed = f->key;
    needed = f->who != NOWHERE && f->who > needed ? f->who : needed;
    needed = f->size != NOWHERE && f->size > needed ? f->size : needed;
    if (count <= needed) {
        snprintf(f->why, sizeof f->why, "%zu field%s, but %zu are needed", count, SAY_S(count),
                 needed + 1);
        return f->why;
    }
    if (field[f->key].len == 0) {
        return "the requested object is empty";
    }
    const char *why = f->size == NOWHERE ? NULL : read_size(f, field[f->size], &request.size);
    if (why != NULL) {
        return why;
    }
    if (!grow(&r->request, &r->room, r->count + 1, sizeof *r->request) ||
        !names_add(&r->keys, field[f->key].text, field[f->key].len, &request.key) ||
        (f->who != NOWHERE &&
         !names_add(&r->who, field[f->who].text, field[f->who].len, &request.who))) {
        return LINES_NO_MEMORY;
    }
    r->request[r->count++] = request;
    return NULL;
}

void requests_begin(struct requests_file *f, const struct requests_form *form)
{
    memset(f, 0, sizeof *f);
    f->form = form;
}

const char *requests_line(struct requests *r, struct requests_file *f, const char *text, size_t len)
{
    struct piece line = {text, len};
    struct piece field[REQUESTS_FIELDS];
    f->line++;
    if (len > REQUESTS_LINE) {
        return "longer than 16 MiB";
    }
    enum line_sort sort = line_sort(f->line, &line);
    if (memchr(text, '\0', len) != NULL) {
        return "a NUL byte: this is not a log";
    }
    if (sort != LINE_VALUES) {
        return f->line == 1 && line.len > 0 ? read_names(f, line) : NULL;
    }
    size_t count = divide(line, field);
    if (count == 0) {
        return NULL;
    }
    const char *why = f->known ? NULL : guess(f, count);
    return why != NULL ? why : take(r, f, field, count);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* What a line goes to. */
struct reading {
    struct requests *requests;
    const struct requests_form *form;
    struct requests_file f;
};

static const char *read_line(void *ctx, const char *text, size_t len)
{
    struct reading *r = ctx;
    return requests_line(r->requests, &r->f, text, len);
}

static int read_one(void *ctx, const char *path, size_t number)
{
    struct reading *r = ctx;
    (void)number;
    requests_begin(&r->f, r->form);
    return lines_read(path, read_line, r);
}

int requests_read(struct requests *r, const struct requests_form *form, const char *const *paths,
                  size_t count)
{
    struct reading reading = {.requests = r, .form = form};
    return lines_files(paths, count, read_one, &reading);
}

void requests_free(struct requests *r)
{
    free(r->request);
    names_free(&r->keys);
    names_free(&r->who);
    memset(r, 0, sizeof *r);
}

/* report.c: figures to JSON values, and to the cells of rows. */
#define _POSIX_C_SOURCE 200809L
#include "output/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output/render.h"

/* ---- columns --------------------------------------------------------------------------------- */

struct column column(const char *heading, int width, const char *format)
{
    return (struct column){.in = REPORT_TEXT | REPORT_JSON | REPORT_TSV,
                           .width = width,
                           .heading = heading,
                           .format = format};
}

struct column text_column(const char *heading, int width, const char *format)
{
    struct column c = column(heading, width, format);
    c.in = REPORT_TEXT;
    return c;
}

struct column column_or(struct column column, const char *unknown)
{
    column.unknown = unknown;
    return column;
}

struct column column_tsv(struct column column, const char *format)
{
    column.tsv = format;
    return column;
}

/* ---- from begin to end ----------------------------------------------------------------------- */

struct report report_on(struct out *out, const struct args *args)
{
    enum report_form form = arg(args, "json")->given  ? REPORT_JSON
                            : arg(args, "tsv")->given ? REPORT_TSV
                                                      : REPORT_TEXT;
    return (struct report){
        .form = form, .out = out, .tsv = "%.6g", .quiet = arg(args, "quiet")->given};
}

struct report report_open(const struct args *args)
{
    return report_on(out_open(STDOUT_FILENO), args);
}

bool report_is(const struct report *r, enum report_form form)
{
    return r->form == form;
}

int report_code(const struct report *r, int code)
{
    return r->out == NULL || r->failed ? EXIT_TROUBLE : code;
}

int report_close_after(struct report *r, const char *done, int code)
{
    code = report_code(r, code);
    return r->out == NULL ? code : out_close_after(r->out, done, code);
}

int report_close(struct report *r, int code)
{
    return report_close_after(r, NULL, code);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* The object or list that is being told; NULL: there is none. */
static json_t *innermost(const struct report *r)
{
    return r->depth == 0 || r->depth > REPORT_DEPTH ? NULL : r->at[r->depth - 1];
}

/* Into it; takes the value over. */
static void set(struct report *r, const char *name, json_t *value)
{
    json_t *into = innermost(r);
    int wrong =
        name != NULL ? json_object_set_new(into, name, value) : json_array_append_new(into, value);
    r->failed = r->failed || wrong != 0;
}

static void begin(struct report *r, const char *name, json_t *value)
{
    if (r->depth > 0) {
        set(r, name, value);
    }
    if (r->depth < REPORT_DEPTH) {
        r->at[r->depth] = value;
    }
    r->depth++;
}

void report_object(struct report *r, const char *name)
{
    if (r->form == REPORT_JSON) {
        begin(r, name, json_object());
    }
}

void report_list(struct report *r, const char *name)
{
    r->rows = 0;
    if (r->form == REPORT_JSON) {
        begin(r, name, json_array());
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put(char *line, size_t size, size_t *used, const char *before, const char *text,
                int width)
{
    int wrote = snprintf(line + *used, size - *used, "%s%*s", before, width, text);
    *used += wrote < 0 ? 0 : (size_t)wrote;
    *used = *used < size ? *used : size - 1;
}

static void put_cell(struct report *r, const char *name, const struct column *c, const char *text)
{
    bool tsv = r->form == REPORT_TSV;
    const char *heading = tsv ? name : c->heading;
    const char *between = r->cells == 0 ? "" : tsv ? "\t" : r->sentence ? ", " : " ";
    int width = tsv ? 0 : c->width;
    if (r->sentence && !tsv) {
        put(r->row, sizeof r->row, &r->row_used, between, heading, 0);
        between = " ";
    } else if (r->rows == 0 && heading != NULL) {
        put(r->head, sizeof r->head, &r->head_used, between, heading, width);
    }
    char clean[1024];
    put(r->row, sizeof r->row, &r->row_used, between, say_clean(text, clean, sizeof clean), width);
    r->cells++;
}

void report_headings(struct report *r)
{
    if (r->out != NULL && r->head_used > 0) {
        out_format(r->out, "%s\n", r->head);
    }
    r->head_used = 0;
    r->row_used = 0;
    r->cells = 0;
}

static void print_row(struct report *r)
{
    bool any = r->cells > 0;
    report_headings(r);
    if (r->out != NULL && any) {
        out_text(r->out, r->row);
        out_text(r->out, "\n");
    }
    r->rows += any;
}

/* The outermost object is whole: print it. */
static void print_object(struct report *r)
{
    if (r->out != NULL && !r->failed) {
        r->failed = render_json(r->out, r->at[0]) != EXIT_YES;
        return;
    }
    json_decref(r->at[0]);
    if (r->out != NULL) {
        say_no_memory();
    }
}

void report_end(struct report *r)
{
    if (r->form != REPORT_JSON) {
        print_row(r);
    } else if (--r->depth == 0) {
        print_object(r);
    }
}

/* ---- figures --------------------------------------------------------------------------------- */

static bool in_json(const struct report *r, const struct column *c)
{
    return r->form == REPORT_JSON && (c->in & REPORT_JSON) != 0;
}

static bool in_row(const struct report *r, const struct column *c)
{
    return r->form != REPORT_JSON && (c->in & r->form) != 0;
}

void report_text(struct report *r, const char *name, const char *value, struct column column)
{
    if (in_json(r, &column)) {
        set(r, name, value == NULL ? json_null() : render_string(value));
    } else if (in_row(r, &column)) {
        const char *unknown = r->form == REPORT_TSV    ? ""
                              : column.unknown != NULL ? column.unknown
                                                       : "-";
        put_cell(r, name, &column, value != NULL ? value : unknown);
    }
}

void report_whole(struct report *r, const char *name, uint64_t value, struct column column)
{
    char room[24];
    if (in_json(r, &column)) {
        set(r, name, render_whole(name, value));
    } else if (in_row(r, &column)) {
        snprintf(room, sizeof room, "%" PRIu64, value);
        put_cell(r, name, &column, room);
    }
}

void report_whole_if(struct report *r, const char *name, bool known, uint64_t value,
                     struct column column)
{
    if (known) {
        report_whole(r, name, value, column);
    } else {
        report_text(r, name, NULL, column);
    }
}

void report_flag(struct report *r, const char *name, bool value, struct column column)
{
    if (in_json(r, &column)) {
        set(r, name, json_boolean(value));
    } else {
        report_text(r, name, value ? "yes" : "no", column);
    }
}

/* Formats come from columns, which are written beside the figure. */
static const char *real_text(const struct report *r, const struct column *c, double value,
                             char *room, size_t size)
{
    if (r->form == REPORT_TSV) {
        snprintf(room, size, c->tsv != NULL ? c->tsv : r->tsv, value);
    } else if (c->format == NULL) {
        render_rate(value, room, size);
    } else {
        snprintf(room, size, c->format, strstr(c->format, "%%") != NULL ? 100 * value : value);
    }
    return room;
}

void report_real(struct report *r, const char *name, double value, struct column column)
{
    char room[64];
    if (!isfinite(value)) {
        report_text(r, name, NULL, column);
    } else if (in_json(r, &column)) {
        set(r, name, json_real(value == 0 ? 0 : value)); /* never -0 */
    } else if (in_row(r, &column)) {
        put_cell(r, name, &column, real_text(r, &column, value, room, sizeof room));
    }
}

/* Line ends are ours, since names come through report_name; other control characters are not. */
static void put_line(struct out *out, const char *text)
{
    while (*text != '\0') {
        size_t control = *text == '\n' || *text == '\t' ? 0 : say_control(text);
        size_t bytes = control > 0 ? control : say_character(text);
        if (control > 0) {
            out_format(out, "\\x%02x", (unsigned char)text[control - 1]);
        } else {
            out_bytes(out, text, bytes);
        }
        text += bytes;
    }
}

void report_name(struct report *r, const char *name)
{
    char clean[4096];
    report_line(r, "%s", say_clean(name, clean, sizeof clean));
}

void report_line(struct report *r, const char *format, ...)
{
    char text[4096];
    if (r->form == REPORT_TEXT && r->out != NULL) {
        va_list list;
        va_start(list, format);
        vsnprintf(text, sizeof text, format, list);
        va_end(list);
        put_line(r->out, text);
    }
}

void report_say(struct report *r, const char *format, ...)
{
    char text[4096];
    if (r->form == REPORT_TEXT && !r->quiet) {
        va_list list;
        va_start(list, format);
        vsnprintf(text, sizeof text, format, list);
        va_end(list);
        say_line("%s", text);
    }
}

void report_quantities(struct report *r, const struct tepal_report *quantities, bool about)
{
    if (r->form == REPORT_JSON) {
        render_report(innermost(r), quantities);
    } else if (r->form == REPORT_TEXT && r->out != NULL) {
        render_text(r->out, quantities, about);
    }
}

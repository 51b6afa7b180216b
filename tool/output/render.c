/* render.c: one place for how results look. */
#include "output/render.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

double render_number(const struct tepal_report *report, const char *name, double otherwise)
{
    const struct tepal_quantity *q = tepal_report_find(report, name);
    if (q != NULL && q->type == TEPAL_QUANTITY_INTEGER) {
        return (double)q->value.integer;
    }
    return q != NULL && q->type == TEPAL_QUANTITY_REAL ? q->value.real : otherwise;
}

double render_figure(const struct tepal_filter *filter, const char *name, double otherwise)
{
    struct tepal_report report = {.count = 0};
    tepal_filter_info(filter, &report);
    return render_number(&report, name, otherwise);
}

/* ---- text ------------------------------------------------------------------------------------ */

const char *render_about(double number, char *room, size_t size)
{
    static const char *const units[] = {"", " million", " billion", " trillion"};
    double step = number < 1000 ? 1 : pow(10, floor(log10(number)) - 2);
    double rounded = round(number / step) * step;
    size_t unit = 0;
    for (double base = 1e6; unit < 3 && rounded >= base; base *= 1000) {
        unit++;
    }
    if (rounded >= 1e15) {
        snprintf(room, size, "%.3g", number);
    } else if (unit == 0) {
        snprintf(room, size, "%.0f", rounded);
    } else {
        snprintf(room, size, "%.3g%s", rounded / pow(1000, (double)unit + 1), units[unit]);
    }
    return room;
}

const char *render_rate(double rate, char *room, size_t size)
{
    char about[32];
    if (rate == 0) {
        snprintf(room, size, "0 %%");
    } else if (rate < 1e-6) {
        snprintf(room, size, "%.4g (1 in %s)", rate, render_about(1 / rate, about, sizeof about));
    } else if (rate < 1e-4) {
        snprintf(room, size, "%.4g %% (1 in %s)", rate * 100,
                 render_about(1 / rate, about, sizeof about));
    } else {
        snprintf(room, size, "%.4g %%", rate * 100);
    }
    return room;
}

const char *render_keys(uint64_t keys, char *room, size_t size)
{
    char about[32];
    snprintf(room, size, "%" PRIu64 " key%s", keys, SAY_S(keys));
    if (keys >= 1000000) {
        size_t used = strlen(room);
        snprintf(room + used, size - used, " (%s)",
                 render_about((double)keys, about, sizeof about));
    }
    return room;
}

const char *render_bytes(uint64_t bytes, char *room, size_t size)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    double scaled = (double)bytes;
    size_t unit = 0;
    if (bytes < 1024) {
        snprintf(room, size, "%" PRIu64 " byte%s", bytes, SAY_S(bytes));
        return room;
    }
    for (scaled /= 1024; scaled >= 1024 && unit < 4; scaled /= 1024) {
        unit++;
    }
    snprintf(room, size, "%" PRIu64 " bytes (%.1f %s)", bytes, scaled, units[unit]);
    return room;
}

static bool is_rate(const char *name)
{
    return strncmp(name, "fp", 2) == 0 || strncmp(name, "fn", 2) == 0 || strcmp(name, "fill") == 0;
}

/* The value of a quantity for people, in `room`; returns room. */
static const char *render_value(const struct tepal_quantity *q, char *room, size_t size)
{
    switch (q->type) {
    case TEPAL_QUANTITY_ABSENT:
        snprintf(room, size, "unknown");
        break;
    case TEPAL_QUANTITY_FLAG:
        snprintf(room, size, "%s", q->value.flag ? "yes" : "no");
        break;
    case TEPAL_QUANTITY_INTEGER:
        if (strcmp(q->name, "bytes") == 0) {
            return render_bytes(q->value.integer, room, size);
        }
        snprintf(room, size, "%" PRIu64, q->value.integer);
        break;
    case TEPAL_QUANTITY_REAL:
        if (is_rate(q->name)) {
            return render_rate(q->value.real, room, size);
        }
        snprintf(room, size, "%.10g", q->value.real);
        break;
    case TEPAL_QUANTITY_TEXT:
        snprintf(room, size, "%s", q->value.text);
        break;
    case TEPAL_QUANTITY_LIST:
        snprintf(room, size, "%zu number%s (--json)", q->value.list.count,
                 SAY_S(q->value.list.count));
        break;
    }
    return room;
}

void render_text(struct out *out, const struct tepal_report *report, bool about)
{
    char value[96];
    int names = 0;
    int values = 0;
    for (size_t i = 0; i < report->count; i++) {
        int name = (int)strlen(report->item[i].name);
        int wide = (int)strlen(render_value(&report->item[i], value, sizeof value));
        names = name > names ? name : names;
        values = wide > values ? wide : values;
    }
    for (size_t i = 0; i < report->count; i++) {
        const struct tepal_quantity *q = &report->item[i];
        render_value(q, value, sizeof value);
        if (about) {
            out_format(out, "%-*s  %-*s  %s\n", names, q->name, values, value, q->about);
        } else {
            out_format(out, "%-*s  %s\n", names, q->name, value);
        }
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

json_t *render_string(const char *text)
{
    json_t *string = json_string(text);
    if (string != NULL) {
        return string;
    }
    /* Not UTF-8: everything beyond ASCII becomes U+FFFD. */
    size_t len = strlen(text);
    char *copy = malloc(3 * len + 1);
    if (copy == NULL) {
        return NULL;
    }
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] < 0x80) {
            copy[used++] = text[i];
        } else {
            memcpy(copy + used, "\xef\xbf\xbd", 3);
            used += 3;
        }
    }
    copy[used] = '\0';
    string = json_string(copy);
    free(copy);
    return string;
}

static json_t *json_list(const struct tepal_report *report, const struct tepal_quantity *q)
{
    json_t *array = json_array();
    for (size_t i = 0; i < q->value.list.count; i++) {
        json_array_append_new(array, json_real(report->number[q->value.list.first + i]));
    }
    return array;
}

json_t *render_whole(const char *name, uint64_t value)
{
    char room[32];
    if ((name != NULL && strcmp(name, "seed") == 0) || value > INT64_MAX) {
        snprintf(room, sizeof room, "%" PRIu64, value);
        return json_string(room);
    }
    return json_integer((json_int_t)value);
}

static json_t *json_of(const struct tepal_report *report, const struct tepal_quantity *q)
{
    switch (q->type) {
    case TEPAL_QUANTITY_FLAG:
        return json_boolean(q->value.flag);
    case TEPAL_QUANTITY_INTEGER:
        return render_whole(q->name, q->value.integer);
    case TEPAL_QUANTITY_REAL:
        return json_real(q->value.real);
    case TEPAL_QUANTITY_TEXT:
        return render_string(q->value.text);
    case TEPAL_QUANTITY_LIST:
        return json_list(report, q);
    default:
        return json_null();
    }
}

void render_report(json_t *object, const struct tepal_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        json_object_set_new(object, report->item[i].name, json_of(report, &report->item[i]));
    }
}

int render_json(struct out *out, json_t *object)
{
    char *text = json_dumps(object, JSON_REAL_PRECISION(15));
    json_decref(object);
    if (text == NULL) {
        return say_no_memory();
    }
    for (const char *from = text; *from != '\0';) {
        size_t control = say_control(from); /* jansson leaves DEL and C1 as they are */
        if (control > 0) {
            out_format(out, "\\u%04x", (unsigned char)from[control - 1]);
            from += control;
            continue;
        }
        size_t len = 0;
        while (from[len] != '\0' && say_control(from + len) == 0) {
            len += say_character(from + len);
        }
        out_bytes(out, from, len);
        from += len;
    }
    out_text(out, "\n");
    free(text);
    return EXIT_YES;
}

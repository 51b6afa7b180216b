/* report.c: lists of named quantities. */
#include "base/report.h"

#include <math.h>
#include <string.h>

static struct tepal_quantity *append(struct tepal_report *report, const char *name,
                                     const char *about, enum tepal_quantity_type type)
{
    static const struct tepal_quantity empty = {0};
    if (report->count >= TEPAL_MAX_QUANTITIES) {
        return NULL;
    }
    struct tepal_quantity *q = &report->item[report->count++];
    *q = empty;
    q->name = name;
    q->about = about;
    q->type = type;
    return q;
}

void tepal_report_absent(struct tepal_report *report, const char *name, const char *about)
{
    (void)append(report, name, about, TEPAL_QUANTITY_ABSENT);
}

void tepal_report_flag(struct tepal_report *report, const char *name, const char *about, bool value)
{
    struct tepal_quantity *q = append(report, name, about, TEPAL_QUANTITY_FLAG);
    if (q != NULL) {
        q->value.flag = value;
    }
}

void tepal_report_integer(struct tepal_report *report, const char *name, const char *about,
                          uint64_t value)
{
    struct tepal_quantity *q = append(report, name, about, TEPAL_QUANTITY_INTEGER);
    if (q != NULL) {
        q->value.integer = value;
    }
}

void tepal_report_real(struct tepal_report *report, const char *name, const char *about,
                       double value)
{
    if (!isfinite(value)) {
        tepal_report_absent(report, name, about);
        return;
    }
    struct tepal_quantity *q = append(report, name, about, TEPAL_QUANTITY_REAL);
    if (q != NULL) {
        q->value.real = value == 0 ? 0 : value; /* never -0 */
    }
}

void tepal_report_text(struct tepal_report *report, const char *name, const char *about,
                       const char *value)
{
    struct tepal_quantity *q = append(report, name, about, TEPAL_QUANTITY_TEXT);
    if (q != NULL) {
        q->value.text = value;
    }
}

void tepal_report_list(struct tepal_report *report, const char *name, const char *about,
                       const double *values, size_t count)
{
    if (report->numbers > TEPAL_MAX_NUMBERS || count > TEPAL_MAX_NUMBERS - report->numbers) {
        return;
    }
    struct tepal_quantity *q = append(report, name, about, TEPAL_QUANTITY_LIST);
    if (q != NULL) {
        q->value.list.first = report->numbers;
        q->value.list.count = count;
        for (size_t i = 0; i < count; i++) {
            report->number[report->numbers++] = values[i];
        }
    }
}

struct tepal_quantity *tepal_report_change(struct tepal_report *report, const char *name)
{
    return (struct tepal_quantity *)tepal_report_find(report, name);
}

const struct tepal_quantity *tepal_report_find(const struct tepal_report *report, const char *name)
{
    for (size_t i = 0; i < report->count; i++) {
        if (strcmp(report->item[i].name, name) == 0) {
            return &report->item[i];
        }
    }
    return NULL;
}

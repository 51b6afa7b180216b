/*
 * report.h: what a command tells, written once and rendered as text, as JSON (--json) or as
 * tab-separated rows (--tsv).
 *
 * A report is told in order: an object begins, its figures follow, it ends. Each figure has a name
 * (that of JSON and TSV), a value, and a column: where it appears and how it looks for people.
 *
 *     struct report r = report_open(args);
 *     report_object(&r, NULL);
 *     report_whole(&r, "lines", lines, JSON_ONLY);
 *     report_line(&r, "lines %" PRIu64 "\n", lines);
 *     report_list(&r, "rows");
 *     for (...) {
 *         report_object(&r, NULL);
 *         report_text(&r, "kind", kind, column("kind", -11, NULL));
 *         report_real(&r, "fp", fp, column("false positives", 15, "%.3g %%"));
 *         report_end(&r);
 *     }
 *     report_end(&r);
 *     report_end(&r);
 *     return report_close(&r, EXIT_YES);
 *
 * In JSON an object is an object, printed on a line of its own when the outermost one ends. In the
 * other forms the figures of an object that have a column there are a row, with the headings above
 * the first row of a list. What is not finite is not known: null in JSON, empty in TSV.
 */
#ifndef TOOL_OUTPUT_REPORT_H
#define TOOL_OUTPUT_REPORT_H

#include <jansson.h>

#include <tepal/base.h>

#include "cli/command.h"
#include "output/out.h"

enum report_form { REPORT_TEXT = 1, REPORT_JSON = 2, REPORT_TSV = 4 };

/* Where a figure appears, and how it looks there. */
struct column {
    unsigned in;         /* of enum report_form */
    int width;           /* in text; negative: to the left */
    const char *heading; /* in text; NULL: none */
    const char *format;  /* of a real in text; with %% it is shown in percent; NULL: a rate */
    const char *unknown; /* in text */
    const char *tsv;     /* the format of a real; NULL: that of the report */
};

/* In all three forms. */
struct column column(const char *heading, int width, const char *format);

/* In text alone: for what is put together from several figures, or stands in another place. */
struct column text_column(const char *heading, int width, const char *format);

/* The same column, with a word for what is not known (else "-"); with a format for TSV. */
struct column column_or(struct column column, const char *unknown);
struct column column_tsv(struct column column, const char *format);

#define JSON_ONLY ((struct column){.in = REPORT_JSON})
#define TSV_ONLY  ((struct column){.in = REPORT_TSV})
#define NO_TEXT   ((struct column){.in = REPORT_JSON | REPORT_TSV})

#define REPORT_DEPTH 6

struct report {
    enum report_form form;
    struct out *out; /* NULL: nothing is printed, and closing it is trouble */
    bool sentence;   /* rows in text are sentences: "heading value, heading value" */
    bool quiet;      /* report_say says nothing */
    const char *tsv; /* the format of reals in TSV: %.6g */
    json_t *at[REPORT_DEPTH];
    size_t depth;
    bool failed;  /* no memory for the JSON, or it could not be written */
    size_t rows;  /* of this list, so far */
    size_t cells; /* of this row, so far */
    size_t head_used;
    size_t row_used;
    char head[1024];
    char row[4096];
};

/* To standard output, in the form that the options ask for; or to an output that is open. */
struct report report_open(const struct args *args);
struct report report_on(struct out *out, const struct args *args);

/* Is it in this form? */
bool report_is(const struct report *r, enum report_form form);

/* The code; EXIT_TROUBLE if not all could be written. After report_on the output stays open. */
int report_code(const struct report *r, int code);

/* The same, and closes the output. `done`: what was done before, if that must be said. */
int report_close(struct report *r, int code);
int report_close_after(struct report *r, const char *done, int code);

/* Names are NULL at the top and in lists. */
void report_object(struct report *r, const char *name);
void report_list(struct report *r, const char *name);
void report_end(struct report *r);

/* Headings without rows: instead of the end of a row that was filled with anything. Not in JSON. */
void report_headings(struct report *r);

void report_whole(struct report *r, const char *name, uint64_t value, struct column column);
void report_real(struct report *r, const char *name, double value, struct column column);
void report_flag(struct report *r, const char *name, bool value, struct column column);

/* NULL: not known. */
void report_text(struct report *r, const char *name, const char *value, struct column column);

/* A whole number if it is known. */
void report_whole_if(struct report *r, const char *name, bool known, uint64_t value,
                     struct column column);

/*
 * Words for people: in text alone. Names of files and the like, which may hold line ends, come
 * through report_name; other control characters appear as \xNN.
 */
void report_line(struct report *r, const char *format, ...) SAY_FORMAT(2, 3);
void report_name(struct report *r, const char *name);

/* The same on standard error, and not with --quiet: a line. */
void report_say(struct report *r, const char *format, ...) SAY_FORMAT(2, 3);

/* All that a filter or a model tells; in text a line each, with what it is if `about`. */
void report_quantities(struct report *r, const struct tepal_report *quantities, bool about);

#endif

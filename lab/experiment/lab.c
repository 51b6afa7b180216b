/* lab.c: rows and their verdicts, means, intervals, charts. */
#define _POSIX_C_SOURCE 200809L
#include "experiment/lab.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/files.h"
#include "experiment/state.h"
#include "statistics/random.h"

/* ---- asking ---------------------------------------------------------------------------------- */

bool lab_quick(const struct lab *lab)
{
    return lab->quick;
}

size_t lab_trials(const struct lab *lab, size_t quick, size_t full)
{
    return lab->quick ? quick : full;
}

bool lab_sabotaged(const struct lab *lab)
{
    return lab->sabotaged;
}

const char *lab_data(struct lab *lab)
{
    const char *folder = getenv("TEPAL_DATA");
    lab->used_data = folder != NULL && folder[0] != '\0';
    return lab->used_data ? folder : NULL;
}

/* A counter, mixed together with a second one that starts elsewhere. */
uint64_t lab_draw(struct lab *lab)
{
    lab->random[0] += RANDOM_STEP;
    lab->random[1] += UINT64_C(0xd1b54a32d192ed03);
    return random_mix(lab->random[0] + random_mix(lab->random[1]));
}

struct tepal_digest lab_digest(struct lab *lab)
{
    uint64_t lo = lab_draw(lab);
    return (struct tepal_digest){lo, lab_draw(lab)};
}

void lab_digests(struct lab *lab, struct tepal_digest *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = lab_digest(lab);
    }
}

double lab_unit(struct lab *lab)
{
    return random_unit(lab_draw(lab));
}

uint32_t lab_below(struct lab *lab, uint64_t limit)
{
    return (uint32_t)(lab_draw(lab) % limit);
}

int lab_status(enum tepal_status status)
{
    return say_status(NULL, "lab", status, NULL);
}

unsigned lab_number(const struct lab *lab)
{
    return (unsigned)strtoul(strrchr(lab->experiment->name, '-') + 1, NULL, 10);
}

/* ---- means and intervals --------------------------------------------------------------------- */

void lab_mean_add(struct lab_mean *mean, double value)
{
    mean->count += 1;
    double off = value - mean->mean;
    mean->mean += off / mean->count;
    mean->squares += off * (value - mean->mean);
}

double lab_mean_error(const struct lab_mean *mean)
{
    return mean->count < 2 ? 0 : sqrt(mean->squares / (mean->count - 1) / mean->count);
}

/*
 * Student's two-sided 99.9 % point: from its table for few degrees of freedom, else by the
 * expansion of Cornish and Fisher around the normal one, which is right to 0.1 % there.
 */
static double student(double degrees)
{
    static const double few[] = {636.62, 31.599, 12.924, 8.610, 6.869, 5.959, 5.408,
                                 5.041,  4.781,  4.587,  4.437, 4.318, 4.221, 4.140};
    if (degrees < 1) {
        return INFINITY;
    }
    if (degrees <= sizeof few / sizeof *few) {
        return few[(size_t)degrees - 1];
    }
    double z = LAB_Z;
    double z3 = z * z * z;
    double first = (z3 + z) / 4;
    double second = (5 * z3 * z * z + 16 * z3 + 3 * z) / 96;
    double third = (3 * z3 * z3 * z + 19 * z3 * z * z + 17 * z3 - 15 * z) / 384;
    return z + first / degrees + second / (degrees * degrees) +
           third / (degrees * degrees * degrees);
}

void lab_exact(struct lab_row *row, double value)
{
    row->ours = row->low = row->high = value;
}

void lab_measured(struct lab_row *row, const struct lab_mean *mean)
{
    double half = mean->squares > 0 ? student(mean->count - 1) * lab_mean_error(mean) : 0;
    row->ours = mean->mean;
    row->low = mean->mean - half;
    row->high = mean->mean + half;
}

void lab_counted(struct lab_row *row, uint64_t hits, uint64_t trials)
{
    double n = (double)trials;
    double p = (double)hits / n;
    double z2 = LAB_Z * LAB_Z / n;
    double middle = (p + z2 / 2) / (1 + z2);
    double half = LAB_Z / (1 + z2) * sqrt((p * (1 - p) + z2 / 4) / n);
    row->ours = p;
    row->low = fmax(0, fmin(p, middle - half));
    row->high = fmin(1, fmax(p, middle + half));
}

/* ---- rows ------------------------------------------------------------------------------------ */

const char *lab_source_name(enum lab_source source)
{
    static const char *const names[LAB_SOURCES] = {"printed", "formula",  "words",
                                                   "itself",  "misprint", "elsewhere"};
    return names[source];
}

const char *lab_verdict_name(enum lab_verdict verdict)
{
    static const char *const names[LAB_VERDICTS] = {"agrees", "differs", "erratum", "paper-only",
                                                    "ours-only"};
    return names[verdict];
}

/* What a row was judged by. */
struct judged {
    enum lab_verdict verdict;
    double low;
    double high;
    double spread;
    double open;
    const char *why_open;
};

/*
 * Is the value within our interval, joined with a spread of its own (two independent samples: their
 * half widths add as squares) and what is open about it? Sums of decimal numbers are not exact: an
 * amount that no printed digit shows is forgiven.
 */
static bool within(const struct lab_row *row, double value, struct judged *by)
{
    double slack = by->open + 1e-9 * fmin(fabs(value), fabs(row->ours));
    by->low = row->ours - hypot(row->ours - row->low, by->spread) - slack;
    by->high = row->ours + hypot(row->high - row->ours, by->spread) + slack;
    return by->low <= value && value <= by->high;
}

static struct judged judge(const struct lab_row *row)
{
    bool compared = !isnan(row->published) && row->source != LAB_ELSEWHERE;
    bool misprint = row->source == LAB_MISPRINT;
    struct judged alone = {.verdict = LAB_OURS_ONLY, .low = row->low, .high = row->high};
    struct judged theirs = {.spread = row->spread,
                            .open = row->rounding,
                            .why_open = row->source == LAB_WORDS ? "words" : "rounding"};
    struct judged right = {
        .spread = misprint ? row->spread : 0, .open = row->leeway, .why_open = "leeway"};
    bool is_theirs = within(row, row->published, &theirs);
    bool is_right = within(row, row->right, &right);
    theirs.verdict = !is_theirs                  ? LAB_DIFFERS
                     : row->source == LAB_ITSELF ? LAB_PAPER_ONLY
                                                 : LAB_AGREES;
    right.verdict = !is_right ? LAB_DIFFERS : compared ? LAB_ERRATUM : LAB_OURS_ONLY;
    if (!compared) {
        return isnan(row->right) ? alone : right;
    }
    return misprint || (!is_theirs && is_right) ? right : theirs;
}

/* Text at the end of the table. */
static void append(struct lab *lab, const char *text)
{
    size_t len = strlen(text);
    if (lab->room - lab->used <= len) {
        size_t room = 2 * lab->room + len + 4096;
        char *larger = realloc(lab->rows, room);
        if (larger == NULL) {
            lab->code = say_no_memory();
            return;
        }
        lab->rows = larger;
        lab->room = room;
    }
    memcpy(lab->rows + lab->used, text, len + 1);
    lab->used += len;
}

static void append_number(struct lab *lab, double value)
{
    char text[40] = "\t";
    if (isfinite(value)) {
        snprintf(text, sizeof text, "\t%.6g", value == 0 ? 0.0 : value); /* no -0 */
    }
    append(lab, text);
}

/* One reason for the width of an interval, if it is one. */
static void append_reason(struct lab *lab, const char *name, double half, const char **between)
{
    char text[60];
    if (half > 0) {
        snprintf(text, sizeof text, "%s%s %.3g", *between, name, half);
        append(lab, text);
        *between = ", ";
    }
}

/* What makes the interval as wide as it is; ours by its longer side. */
static void append_width(struct lab *lab, const struct lab_row *row, const struct judged *by)
{
    const char *between = "";
    append_reason(lab, "ours", fmax(row->high - row->ours, row->ours - row->low), &between);
    append_reason(lab, "sampling", by->spread, &between);
    append_reason(lab, by->why_open, by->open, &between);
    append(lab, between[0] == '\0' ? "exact" : "");
}

/* The row, named by the format and what stands behind it. */
static void write_row(struct lab *lab, const struct lab_row *row, const char *behind,
                      const char *format, va_list arguments)
{
    char item[160];
    struct judged by = judge(row);
    vsnprintf(item, sizeof item, format, arguments);
    for (char *c = item; *c != '\0'; c++) {
        *c = (unsigned char)*c < 0x20 ? ' ' : *c;
    }
    append(lab, lab->experiment->name);
    append(lab, "\t");
    append(lab, item);
    append(lab, behind);
    append_number(lab, row->published);
    append_number(lab, row->ours);
    append_number(lab, by.low);
    append_number(lab, by.high);
    append(lab, "\t");
    append(lab, lab_verdict_name(by.verdict));
    append_number(lab, row->right);
    append(lab, "\t");
    append(lab, isnan(row->published) ? "" : lab_source_name(row->source));
    append(lab, "\t");
    append_width(lab, row, &by);
    append(lab, "\n");
}

#define WRITE_ROW(lab, row, behind, format)                                                        \
    do {                                                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        write_row(lab, row, behind, format, arguments);                                            \
        va_end(arguments);                                                                         \
    } while (0)

void lab_row(struct lab *lab, const struct lab_row *row, const char *format, ...)
{
    WRITE_ROW(lab, row, "", format);
}

struct lab_row lab_printed(double published, double rounding, double right)
{
    return (struct lab_row){.published = published, .rounding = rounding, .right = right};
}

struct lab_row lab_formula(double published, double right)
{
    return (struct lab_row){.published = published, .source = LAB_FORMULA, .right = right};
}

struct lab_row lab_words(double published, double open, double right)
{
    return (struct lab_row){
        .published = published, .source = LAB_WORDS, .rounding = open, .right = right};
}

struct lab_row lab_itself(double published, double rounding, double right)
{
    return (struct lab_row){
        .published = published, .source = LAB_ITSELF, .rounding = rounding, .right = right};
}

struct lab_row lab_expected(double right, double leeway)
{
    return (struct lab_row){.published = NAN, .right = right, .leeway = leeway};
}

void lab_row_exact(struct lab *lab, struct lab_row row, double ours, const char *format, ...)
{
    lab_exact(&row, ours);
    WRITE_ROW(lab, &row, "", format);
}

void lab_row_mean(struct lab *lab, struct lab_row row, const struct lab_mean *mean,
                  const char *format, ...)
{
    lab_measured(&row, mean);
    WRITE_ROW(lab, &row, "", format);
}

void lab_row_count(struct lab *lab, struct lab_row row, uint64_t hits, uint64_t trials,
                   const char *format, ...)
{
    lab_counted(&row, hits, trials);
    WRITE_ROW(lab, &row, "", format);
}

#define YES_NO " (1 yes, 0 no)"

void lab_row_holds(struct lab *lab, bool so, const char *format, ...)
{
    struct lab_row row = lab_words(1, 0, NAN);
    lab_exact(&row, so);
    WRITE_ROW(lab, &row, YES_NO, format);
}

void lab_row_claim(struct lab *lab, bool says, bool right, bool ours, const char *format, ...)
{
    struct lab_row row = lab_words(says, 0, right);
    lab_exact(&row, ours);
    WRITE_ROW(lab, &row, YES_NO, format);
}

/* ---- pictures -------------------------------------------------------------------------------- */

struct svg_point lab_point(double x, double y)
{
    return (struct svg_point){.x = x, .y = y};
}

struct svg_point lab_point_mean(double x, const struct lab_mean *mean)
{
    double half = LAB_Z * lab_mean_error(mean);
    return (struct svg_point){x, mean->mean, fmax(0, mean->mean - half), mean->mean + half};
}

struct svg_point lab_point_row(double x, const struct lab_row *row)
{
    return (struct svg_point){x, row->ours, row->low, row->high};
}

static int print_chart(struct out *out, void *chart)
{
    svg_print(out, chart);
    return EXIT_YES;
}

int lab_chart(struct lab *lab, const struct svg_series *series, size_t count, const char *title,
              const char *x_label, const char *y_label, enum lab_axes axes)
{
    struct svg_chart chart = {.title = title,
                              .x_label = x_label,
                              .y_label = y_label,
                              .x_log = (axes & LAB_LOG_X) != 0,
                              .y_log = (axes & LAB_LOG_Y) != 0,
                              .series = series,
                              .count = count};
    char *path = lab_picture_path(lab->folder, lab->experiment->name, ++lab->charts);
    int code = path == NULL ? say_no_memory() : lab_write(lab->args, path, print_chart, &chart);
    free(path);
    lab->code = code == EXIT_YES ? lab->code : code;
    return code;
}

/* ---- the beginning --------------------------------------------------------------------------- */

void lab_begin(struct lab *lab, uint64_t seed)
{
    uint64_t name = UINT64_C(0xcbf29ce484222325);
    for (const char *c = lab->experiment->name; *c != '\0'; c++) {
        name = (name ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    }
    lab->random[0] = random_mix(seed + 1);
    lab->random[1] = random_mix(name);
    append(lab, LAB_COLUMNS "\n");
}

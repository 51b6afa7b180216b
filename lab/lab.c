/* lab.c: rows and their verdicts, means, intervals, charts. */
#define _POSIX_C_SOURCE 200809L
#include "lab.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inside.h"

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

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A counter, mixed together with a second one that starts elsewhere. */
uint64_t lab_draw(struct lab *lab)
{
    lab->random[0] += UINT64_C(0x9e3779b97f4a7c15);
    lab->random[1] += UINT64_C(0xd1b54a32d192ed03);
    return mix(lab->random[0] + mix(lab->random[1]));
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

/*
 * Is the value within our interval, joined with a spread of its own (two independent samples: their
 * half widths add as squares) and rounding? Sums of decimal numbers are not exact: an amount that
 * no printed digit shows is forgiven.
 */
static bool within(const struct lab_row *row, double value, double rounding, double spread)
{
    double side = value > row->ours ? row->high - row->ours : row->ours - row->low;
    return fabs(value - row->ours) <= hypot(side, spread) + rounding + 1e-9 * fabs(value);
}

enum lab_verdict lab_verdict_of(const struct lab_row *row)
{
    if (isnan(row->published) || row->elsewhere) {
        return LAB_OURS_ONLY;
    }
    if (within(row, row->published, row->rounding, row->spread)) {
        return LAB_AGREES;
    }
    return !isnan(row->right) && within(row, row->right, row->leeway, 0) ? LAB_ERRATUM
                                                                         : LAB_DIFFERS;
}

const char *lab_verdict_name(enum lab_verdict verdict)
{
    static const char *const names[LAB_VERDICTS] = {"agrees", "differs", "erratum", "ours-only"};
    return names[verdict];
}

/* Text at the end of the table. */
static void append(struct lab *lab, const char *text)
{
    size_t len = strlen(text);
    if (lab->room - lab->used <= len) {
        size_t room = 2 * lab->room + len + 4096;
        char *larger = realloc(lab->rows, room);
        if (larger == NULL) {
            lab->code = say_error(NULL, NULL, "out of memory");
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

void lab_row(struct lab *lab, const struct lab_row *row, const char *format, ...)
{
    char item[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(item, sizeof item, format, arguments);
    va_end(arguments);
    for (char *c = item; *c != '\0'; c++) {
        *c = (unsigned char)*c < 0x20 ? ' ' : *c;
    }
    append(lab, lab->experiment->name);
    append(lab, "\t");
    append(lab, item);
    append_number(lab, row->published);
    append_number(lab, row->ours);
    append_number(lab, row->low);
    append_number(lab, row->high);
    append(lab, "\t");
    append(lab, lab_verdict_name(lab_verdict_of(row)));
    append(lab, "\n");
}

/* ---- pictures -------------------------------------------------------------------------------- */

static int print_chart(struct out *out, void *chart)
{
    svg_print(out, chart);
    return EXIT_YES;
}

int lab_chart(struct lab *lab, const struct svg_chart *chart)
{
    char ending[24] = ".svg";
    struct svg_chart copy = *chart;
    lab->charts++;
    if (lab->charts > 1) {
        snprintf(ending, sizeof ending, "-%u.svg", lab->charts);
    }
    char *path = lab_path(lab->folder, lab->experiment->name, ending);
    int code = path == NULL ? say_error(NULL, NULL, "out of memory")
                            : lab_write(lab->args, path, print_chart, &copy);
    free(path);
    lab->code = code == EXIT_YES ? lab->code : code;
    return code;
}

/* ---- one experiment -------------------------------------------------------------------------- */

static void seed_from(struct lab *lab, uint64_t seed)
{
    uint64_t name = UINT64_C(0xcbf29ce484222325);
    for (const char *c = lab->experiment->name; *c != '\0'; c++) {
        name = (name ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    }
    lab->random[0] = mix(seed + 1);
    lab->random[1] = mix(name);
}

static int print_rows(struct out *out, void *what)
{
    const struct lab *lab = what;
    out_bytes(out, lab->rows, lab->used);
    return EXIT_YES;
}

/* Pictures of an earlier run that had more of them (with measured data, say) are not ours. */
static void remove_older(const struct lab *lab)
{
    for (unsigned number = lab->charts + 1; number > 0; number++) {
        char ending[24] = ".svg";
        if (number > 1) {
            snprintf(ending, sizeof ending, "-%u.svg", number);
        }
        char *path = lab_path(lab->folder, lab->experiment->name, ending);
        bool there = path != NULL && unlink(path) == 0;
        free(path);
        if (!there) {
            return;
        }
    }
}

int lab_do(const struct lab_settings *settings, const struct lab_experiment *experiment,
           bool *used_data)
{
    struct lab lab = {.args = settings->args,
                      .experiment = experiment,
                      .folder = settings->folder,
                      .quick = settings->quick,
                      .sabotaged = settings->sabotaged};
    char *path = lab_path(settings->folder, experiment->name, ".tsv");
    if (path == NULL) {
        return say_error(NULL, NULL, "out of memory");
    }
    seed_from(&lab, settings->seed);
    append(&lab, LAB_COLUMNS "\n");
    int code = lab.code == EXIT_YES ? experiment->run(&lab) : lab.code;
    code = code == EXIT_YES ? lab.code : code;
    code = code == EXIT_YES ? lab_write(settings->args, path, print_rows, &lab) : code;
    if (code == EXIT_YES) {
        remove_older(&lab);
    }
    *used_data = lab.used_data;
    free(lab.rows);
    free(path);
    return code;
}

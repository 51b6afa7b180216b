/*
 * lab.h: the experiments of the five papers, run through the library's public interface, with the
 * published numbers beside ours.
 *
 *     papers.c     what each paper claims, and where its experiments are listed
 *     paperNNN/    the experiments of one paper: list.c names them, a function each
 *     experiment/  what an experiment uses: rows with verdicts, means, intervals, pictures, files
 *     runner/      running them, several at once, one process each; settings.c notes how each table
 *                  was made, report.c makes one HTML page of what was run; command.c is `tepal lab`
 *
 * An experiment is a function of the seed, its own name and quick or full alone, so that the same
 * seed gives the same bytes on any number of cores.
 */
#ifndef LAB_EXPERIMENT_LAB_H
#define LAB_EXPERIMENT_LAB_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tepal/hash.h>

#include "cli/say.h"
#include "pictures/svg.h"

struct lab; /* an experiment under way */

struct lab_experiment {
    const char *name;    /* "000-table-1": of its files, and on the command line */
    const char *item;    /* "Table I": as the paper calls it */
    const char *shows;   /* a line: what it shows */
    const char *remark;  /* for the report: what does not reproduce, and why; NULL: all does */
    unsigned seconds[2]; /* about so long on one core: quick, full */
    int (*run)(struct lab *lab); /* EXIT_YES, or EXIT_TROUBLE after saying why */
};

/* An entry of a list. */
#define LAB_EXPERIMENT(name, item, quick_seconds, full_seconds, run, shows, remark)                \
    {                                                                                              \
        name, item, shows, remark, {quick_seconds, full_seconds}, run                              \
    }

struct lab_paper {
    const char *number; /* "000" */
    const char *title;
    const char *authors;
    const char *claims;                      /* paragraphs, divided by empty lines */
    const struct lab_experiment *experiment; /* ends with a NULL name */
};

extern const struct lab_paper lab_papers[];
extern const size_t lab_paper_count;

/* The lists of experiments, one a paper. */
extern const struct lab_experiment lab_000[];
extern const struct lab_experiment lab_001[];
extern const struct lab_experiment lab_002[];
extern const struct lab_experiment lab_003[];
extern const struct lab_experiment lab_004[];

/* ---- what an experiment may ask -------------------------------------------------------------- */

/* Only a share of the trials, for a first look. */
bool lab_quick(const struct lab *lab);

/* `full` trials, or `quick` ones. */
size_t lab_trials(const struct lab *lab, size_t quick, size_t full);

/* Use a wrong method on purpose: to see that verdicts notice (--sabotage). */
bool lab_sabotaged(const struct lab *lab);

/* The folder with measured data (the environment variable TEPAL_DATA), or NULL. */
const char *lab_data(struct lab *lab);

/* 64 random bits: drawn from the seed and the experiment's name. */
uint64_t lab_draw(struct lab *lab);

/* A random key, or many; a number from 0 to below 1; a whole number below `limit`. */
struct tepal_digest lab_digest(struct lab *lab);
void lab_digests(struct lab *lab, struct tepal_digest *out, size_t count);
double lab_unit(struct lab *lab);
uint32_t lab_below(struct lab *lab, uint64_t limit);

/* EXIT_YES, or EXIT_TROUBLE after having said what the status means. */
int lab_status(enum tepal_status status);

/* The number at the end of its name: of several tables or figures that one function makes. */
unsigned lab_number(const struct lab *lab);

/* How many elements an array has. */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- means and intervals --------------------------------------------------------------------- */

/* Two-sided 99.9 %. */
#define LAB_Z 3.290526731491926

/* Mean and variance of a growing sample (Welford). Starts as all zeros. */
struct lab_mean {
    double count;
    double mean;
    double squares;
};

void lab_mean_add(struct lab_mean *mean, double value);
double lab_mean_error(const struct lab_mean *mean); /* standard error of the mean */

/* ---- rows ------------------------------------------------------------------------------------ */

/* Where a published number comes from. */
enum lab_source {
    LAB_PRINTED,   /* the paper prints it */
    LAB_FORMULA,   /* a formula of the paper gives it */
    LAB_WORDS,     /* a sentence of the paper says it: 1 for yes, or what a word is read as */
    LAB_ITSELF,    /* the paper's own arithmetic: printed numbers or constants, and no library */
    LAB_MISPRINT,  /* printed, but its other numbers contradict it: `right` is judged instead */
    LAB_ELSEWHERE, /* of data that are not to be had: it stands beside ours and is not judged */
    LAB_SOURCES
};

const char *lab_source_name(enum lab_source source);

/*
 * One number. Start from LAB_ROW and set what is known. The verdict is computed from it, by an
 * interval around ours that the row prints, with what makes it as wide:
 *   agrees      the published value is within: our interval, joined with the paper's own sampling,
 *               and the rounding of what it prints or what its words leave open
 *   paper-only  the same, of the paper's own arithmetic: the library has no part in it
 *   erratum     it is not, but what we hold to be right instead is within ours, give or take
 *   ours-only   nothing was published, or it is not judged; what it should be (if known) is within
 *   differs     none of these
 */
struct lab_row {
    double published; /* NAN: none */
    enum lab_source source;
    double rounding; /* half a unit of the last digit printed, or what the words leave open */
    double spread;   /* what the paper's own sampling adds: half of its 99.9 % interval */
    double right;    /* what should have been printed, derived elsewhere; NAN: what was */
    double leeway;   /* give or take */
    double ours;
    double low; /* 99.9 % interval of ours; both equal to ours: exact */
    double high;
};

#define LAB_ROW                                                                                    \
    (struct lab_row)                                                                               \
    {                                                                                              \
        .published = NAN, .right = NAN                                                             \
    }

/* Rows of what was published, give or take, and of what should have been (NAN: just that). */
struct lab_row lab_printed(double published, double rounding, double right);
struct lab_row lab_formula(double published, double right);
struct lab_row lab_words(double published, double open, double right);
struct lab_row lab_itself(double published, double rounding, double right);

/* A row of ours alone, and what it should be by a derivation apart from the library. */
struct lab_row lab_expected(double right, double leeway);

enum lab_verdict {
    LAB_AGREES,
    LAB_DIFFERS,
    LAB_ERRATUM,
    LAB_PAPER_ONLY,
    LAB_OURS_ONLY,
    LAB_VERDICTS
};

const char *lab_verdict_name(enum lab_verdict verdict);

/* `ours` of a row: an exact number, a mean (Student's interval), a share of trials (Wilson's). */
void lab_exact(struct lab_row *row, double value);
void lab_measured(struct lab_row *row, const struct lab_mean *mean);
void lab_counted(struct lab_row *row, uint64_t hits, uint64_t trials);

/* Write the row, named by the format: a few words, without tabs. */
void lab_row(struct lab *lab, const struct lab_row *row, const char *format, ...) SAY_FORMAT(3, 4);

/* Rows in one call: what was published, beside an exact number, a mean, or a share of trials. */
void lab_row_exact(struct lab *lab, struct lab_row row, double ours, const char *format, ...)
    SAY_FORMAT(4, 5);
void lab_row_mean(struct lab *lab, struct lab_row row, const struct lab_mean *mean,
                  const char *format, ...) SAY_FORMAT(4, 5);
void lab_row_count(struct lab *lab, struct lab_row row, uint64_t hits, uint64_t trials,
                   const char *format, ...) SAY_FORMAT(5, 6);

/* A sentence of the paper that is so (1) or not (0). */
void lab_row_holds(struct lab *lab, bool so, const char *format, ...) SAY_FORMAT(3, 4);

/* The same of what the paper says, what is right, and what we see. */
void lab_row_claim(struct lab *lab, bool says, bool right, bool ours, const char *format, ...)
    SAY_FORMAT(5, 6);

/* ---- pictures -------------------------------------------------------------------------------- */

/* A point without an interval; a mean with its own; a row. */
struct svg_point lab_point(double x, double y);
struct svg_point lab_point_mean(double x, const struct lab_mean *mean);
struct svg_point lab_point_row(double x, const struct lab_row *row);

/* Which axes of a picture are logarithmic. */
enum lab_axes { LAB_LINEAR = 0, LAB_LOG_X = 1, LAB_LOG_Y = 2, LAB_LOG_BOTH = 3 };

/* The experiment's picture; a second one has "-2" in its name, and so on. */
int lab_chart(struct lab *lab, const struct svg_series *series, size_t count, const char *title,
              const char *x_label, const char *y_label, enum lab_axes axes);

#endif

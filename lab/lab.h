/*
 * lab.h: the experiments of the five papers, run through the library's public interface, with the
 * published numbers beside ours.
 *
 *     papers.c    what each paper claims, and where its experiments are listed
 *     paperNNN.c  the experiments of one paper: a table, and a function each
 *     lab.c       what an experiment uses: rows with verdicts, means, intervals, charts
 *     run.c       running them, several at once, one process each
 *     table.c     files: tables and pictures, written whole or not at all
 *     made.c      how each table was made: quick or full, and the seed
 *     report.c    one HTML page from what was run
 *     command.c   `tepal lab`
 *
 * An experiment is a function of the seed, its own name and quick or full alone, so that the same
 * seed gives the same bytes on any number of cores.
 */
#ifndef LAB_LAB_H
#define LAB_LAB_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

struct lab_paper {
    const char *number; /* "000" */
    const char *title;
    const char *authors;
    const char *claims;                      /* paragraphs, divided by empty lines */
    const struct lab_experiment *experiment; /* ends with a NULL name */
};

extern const struct lab_paper lab_papers[];
extern const size_t lab_paper_count;

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

/*
 * One number. Start from LAB_ROW and set what is known. The verdict is computed from it:
 *   ours-only  there is nothing to compare with: no number was published, or one that was measured
 *              on what nobody else has (elsewhere)
 *   agrees     the published value, give or take its rounding, is within low .. high, joined with
 *              the published spread
 *   erratum    it is not, but what we hold to be right instead is
 *   differs    neither
 */
struct lab_row {
    double published; /* NAN: none */
    bool elsewhere;   /* published, but of data that are not to be had: it stands beside ours */
    double rounding;  /* half a unit of the last digit that is printed */
    double spread;    /* what the paper's own sampling adds: half of its 99.9 % interval */
    double right;     /* what should have been printed, derived elsewhere; NAN: what was */
    double leeway;    /* give or take */
    double ours;
    double low; /* 99.9 % interval of ours; both equal to ours: exact */
    double high;
};

#define LAB_ROW                                                                                    \
    (struct lab_row)                                                                               \
    {                                                                                              \
        .published = NAN, .right = NAN                                                             \
    }

enum lab_verdict { LAB_AGREES, LAB_DIFFERS, LAB_ERRATUM, LAB_OURS_ONLY, LAB_VERDICTS };

enum lab_verdict lab_verdict_of(const struct lab_row *row);
const char *lab_verdict_name(enum lab_verdict verdict);

/* `ours` of a row: an exact number, a mean (Student's interval), a share of trials (Wilson's). */
void lab_exact(struct lab_row *row, double value);
void lab_measured(struct lab_row *row, const struct lab_mean *mean);
void lab_counted(struct lab_row *row, uint64_t hits, uint64_t trials);

/* Write the row, named by the format: a few words, without tabs. */
void lab_row(struct lab *lab, const struct lab_row *row, const char *format, ...) SAY_FORMAT(3, 4);

/* ---- pictures -------------------------------------------------------------------------------- */

/* The experiment's picture; a second one has "-2" in its name, and so on. */
int lab_chart(struct lab *lab, const struct svg_chart *chart);

#endif

/*
 * paper001.h: what the experiments on generalized Bloom filters share: filters that are filled and
 * asked, intervals that hold for rare events, and pictures of curves with measured points on them.
 */
#ifndef LAB_PAPER001_H
#define LAB_PAPER001_H

#include <tepal/tepal.h>

#include "lab.h"

#define GBF_KEYS   256 /* n of Tables 1 to 8; also the most that are measured */
#define GBF_CURVES 8
#define GBF_POINTS 64

/* A setting: m bits, n keys, hashes that reset and set, the share of zeros at first (p0). */
struct gbf {
    uint64_t bits;
    uint64_t keys;
    uint32_t k0;
    uint32_t k1;
    double zeros;
};

/* A share that was measured on several filters: by filter, and all together. */
struct gbf_share {
    struct lab_mean mean;
    uint64_t hits;
    uint64_t trials;
};

struct gbf_seen {
    struct gbf_share fp;               /* strangers that were found */
    struct gbf_share fn;               /* members that were not */
    struct gbf_share fn_age[GBF_KEYS]; /* the same by age; 0: the newest */
};

struct tepal_digest gbf_digest(struct lab *lab);

/* The filter of the setting with a seed of its own. Sabotaged, it forgives an inverted bit. */
int gbf_create(struct lab *lab, const struct gbf *at, struct tepal_generalized **out);

/* So many filters, each with its n keys, and so many strangers that are asked for. */
int gbf_measure(struct lab *lab, const struct gbf *at, size_t rounds, size_t strangers,
                struct gbf_seen *seen);

/* Keys that are asked for when exactly n others were added after them: F_n, of eq. (24). */
int gbf_oldest(struct lab *lab, const struct gbf *at, size_t rounds, size_t keys,
               struct gbf_share *lost);

/* What the library's model says of it, without approximation. */
int gbf_exact(const struct gbf *at, uint64_t age, struct tepal_generalized_errors *rates,
              double *fn_age);

void gbf_share_add(struct gbf_share *share, uint64_t hits, uint64_t trials);

/*
 * `ours` of a row: the wider of the interval of the filters' mean (filters differ) and of the one
 * of all trials (rare events may be seen in no filter at all).
 */
void gbf_row(struct lab_row *row, const struct gbf_share *share, double unit);

/* A picture: curves, and points measured on them. */
struct gbf_plot {
    const char *panel; /* "(a) ", of a figure with two; NULL: one */
    char name[GBF_CURVES][40];
    struct svg_point line[GBF_CURVES][GBF_POINTS];
    struct svg_point mark[GBF_CURVES][GBF_POINTS];
    size_t lines[GBF_CURVES];
    size_t marks[GBF_CURVES];
    size_t curves;
    uint64_t measured;
    uint64_t off;    /* points whose interval misses the true value */
    double furthest; /* the printed curve from the true value */
};

void gbf_curve(struct gbf_plot *plot, const char *format, ...) SAY_FORMAT(2, 3);
void gbf_line(struct gbf_plot *plot, double x, double y);

/* A measured point with a row of its own: `curve` is the paper's formula, `exact` the true rate. */
void gbf_mark(struct lab *lab, struct gbf_plot *plot, double x, const struct gbf_share *share,
              double curve, double exact);

/* The rows that sum up, and the picture. */
int gbf_draw(struct lab *lab, const struct gbf_plot *plot, const struct svg_chart *axes);

/* The parts of the list. */
int lab_001_fig_2(struct lab *lab);
int lab_001_fig_3(struct lab *lab);
int lab_001_fig_5(struct lab *lab);
int lab_001_fig_6(struct lab *lab);
int lab_001_fig_7(struct lab *lab);
int lab_001_fig_8(struct lab *lab);
int lab_001_fig_9(struct lab *lab);
int lab_001_fig_10(struct lab *lab);
int lab_001_fig_11(struct lab *lab);
int lab_001_fig_12(struct lab *lab);
int lab_001_web(struct lab *lab);
int lab_001_peers(struct lab *lab);
int lab_001_traceback(struct lab *lab);

#endif

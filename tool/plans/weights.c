/*
 * weights.c: weights sorted, and a point of their curve after 1, 2, ... of the lightest and before
 * 1, 2, ... of the heaviest, further and further apart towards the middle: both ends matter.
 */
#include "plans/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define APART 1.09 /* 2^31 keys: 2 x 240 points */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* A point after so many of the lightest, which have `sum` of `total`. */
static void add(struct weights *w, size_t at, size_t count, double sum, double total)
{
    size_t i = w->curve.count;
    if (i < WEIGHTS_POINTS) {
        w->points[i] = (double)at / (double)count;
        w->points[WEIGHTS_POINTS + i] = fmin(sum / total, 1);
        w->curve.count++;
    }
}

/* The next place after `at` of a point. */
static size_t next(size_t at, size_t count)
{
    size_t half = count / 2;
    if (at < half) {
        size_t further = (size_t)fmax((double)at + 1, (double)at * APART);
        return further < half ? further : half;
    }
    size_t left = count - at;
    size_t nearer = (size_t)fmin((double)left - 1, (double)left / APART);
    return count - nearer;
}

static void trace(struct weights *w, const double *sorted, size_t count, double total)
{
    double sum = 0;
    size_t due = next(0, count);
    for (size_t i = 0; i + 1 < count; i++) {
        sum += sorted[i];
        if (i + 1 == due) {
            add(w, due, count, sum, total);
            due = next(due, count);
        }
    }
    add(w, count, count, total, total);
}

const char *weights_curve(const double *weight, size_t count, struct weights *out)
{
    double *sorted = malloc((count + 1) * sizeof *sorted);
    double total = 0;
    *out = (struct weights){.points = malloc(2 * WEIGHTS_POINTS * sizeof *out->points)};
    if (sorted == NULL || out->points == NULL) {
        free(sorted);
        return "out of memory";
    }
    if (count > 0) {
        memcpy(sorted, weight, count * sizeof *sorted);
    }
    qsort(sorted, count, sizeof *sorted, ascending);
    for (size_t i = 0; i < count; i++) {
        total += sorted[i];
    }
    if (total > 0 && isfinite(total)) {
        trace(out, sorted, count, total);
        out->curve.share = out->points;
        out->curve.weight = out->points + WEIGHTS_POINTS;
    }
    free(sorted);
    return count > 0 && !(total > 0)   ? "all weights are 0: give at least one key a weight"
           : count > 0 && isinf(total) ? "the sum of the weights is too large"
                                       : NULL;
}

void weights_free(struct weights *w)
{
    free(w->points);
    *w = (struct weights){.points = NULL};
}

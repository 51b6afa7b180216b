/* ages.c: steps of equal width; what is older than the last is left out. */
#include "streams/ages.h"

#include <inttypes.h>
#include <string.h>

#include <tepal/papers.h>

#include "pictures/svg.h"

void ages_init(struct ages *a, const struct tepal_params *params)
{
    memset(a, 0, sizeof *a);
    a->phases = (uint32_t)params->recycling.phases;
    a->every = (double)params->recycling.limit;
    a->step = 1.5 * a->every * a->phases / AGES;
}

void ages_note(struct ages *a, uint64_t age, bool seen)
{
    double at = (double)age / a->step;
    if (at < AGES) {
        size_t i = (size_t)at;
        a->repeats[i]++;
        a->missed[i] += !seen;
        a->told[i] += tepal_recycling_fn_age(a->phases, a->every, (double)age, 0);
    }
}

/* Shares of a step's repeats; the middle of the step in seconds. */
static double middle(const struct ages *a, size_t i)
{
    return ((double)i + 0.5) * a->step / 1000;
}

static double measured(const struct ages *a, size_t i)
{
    return (double)a->missed[i] / (double)a->repeats[i];
}

static double told(const struct ages *a, size_t i)
{
    return (1 - a->fp) * a->told[i] / (double)a->repeats[i];
}

void ages_print(const void *context, struct out *out)
{
    const struct ages *a = context;
    out_format(out, "age\trepeats\tmissed\tshare\ttold\n");
    for (size_t i = 0; i < AGES; i++) {
        if (a->repeats[i] > 0) {
            out_format(out, "%.6g\t%" PRIu64 "\t%" PRIu64 "\t%.6g\t%.6g\n", middle(a, i),
                       a->repeats[i], a->missed[i], measured(a, i), told(a, i));
        }
    }
}

void ages_draw(const void *context, struct out *out)
{
    const struct ages *a = context;
    struct svg_point marks[AGES];
    struct svg_point line[AGES];
    size_t count = 0;
    memset(marks, 0, sizeof marks);
    memset(line, 0, sizeof line);
    for (size_t i = 0; i < AGES; i++) {
        if (a->repeats[i] > 0) {
            marks[count].x = line[count].x = middle(a, i);
            marks[count].y = 100 * measured(a, i);
            line[count].y = 100 * told(a, i);
            count++;
        }
    }
    struct svg_series series[] = {{"measured", SVG_MARKS, marks, count},
                                  {"told", SVG_DASHED, line, count}};
    struct svg_chart chart = {.title = "Repeats forgotten, by age",
                              .x_label = "seconds since the line came last",
                              .y_label = "forgotten, %",
                              .series = series,
                              .count = 2};
    svg_print(out, &chart);
}

/* figures.c: the paper's Figs. 16 to 18, as tables and as charts. */
#include "route/draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "pictures/svg.h"

/* Networks of the same number of members, together: the mean of their rates. */
struct length {
    uint32_t members;
    uint32_t networks;
    double rate[PACKET_KINDS];
};

static int compare_lengths(const void *a, const void *b)
{
    uint32_t x = ((const struct length *)a)->members;
    uint32_t y = ((const struct length *)b)->members;
    return x < y ? -1 : x > y;
}

static struct length *lengths_of(const struct draw_row *row, size_t count, size_t *lengths)
{
    struct length *list = calloc(count + 1, sizeof *list);
    *lengths = 0;
    if (list == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        list[i].members = row[i].members;
        list[i].networks = 1;
        for (size_t k = 0; k < PACKET_KINDS; k++) {
            list[i].rate[k] = row[i].others == 0 ? 0 : row[i].false_links[k] / row[i].others;
        }
    }
    qsort(list, count, sizeof *list, compare_lengths);
    for (size_t i = 0; i < count; i++) {
        struct length *last = *lengths == 0 ? NULL : &list[*lengths - 1];
        if (last == NULL || last->members != list[i].members) {
            list[(*lengths)++] = list[i];
            continue;
        }
        last->networks++;
        for (size_t k = 0; k < PACKET_KINDS; k++) {
            last->rate[k] += list[i].rate[k];
        }
    }
    for (size_t i = 0; i < *lengths; i++) {
        for (size_t k = 0; k < PACKET_KINDS; k++) {
            list[i].rate[k] /= list[i].networks;
        }
    }
    return list;
}

bool draw_table(struct out *out, int figure, const struct draw_row *row, size_t count)
{
    size_t lengths;
    struct length *list = lengths_of(row, count, &lengths);
    if (list == NULL) {
        return false;
    }
    out_text(out, figure == 16   ? "network\tn\tt\tbloom\tyesno\n"
                  : figure == 17 ? "n\tnetworks\tbloom_rate\tyesno_rate\n"
                                 : "n\tnetworks\tratio\n");
    for (size_t i = 0; i < count && figure == 16; i++) {
        out_format(out, "%s\t%" PRIu32 "\t%" PRIu32 "\t%.6g\t%.6g\n", row[i].network,
                   row[i].members, row[i].others, row[i].false_links[PACKET_BLOOM],
                   row[i].false_links[PACKET_YESNO]);
    }
    for (size_t i = 0; i < lengths && figure == 17; i++) {
        out_format(out, "%" PRIu32 "\t%" PRIu32 "\t%.6g\t%.6g\n", list[i].members, list[i].networks,
                   list[i].rate[PACKET_BLOOM], list[i].rate[PACKET_YESNO]);
    }
    for (size_t i = 0; i < lengths && figure == 18; i++) {
        if (list[i].rate[PACKET_BLOOM] > 0) {
            out_format(out, "%" PRIu32 "\t%" PRIu32 "\t%.6g\n", list[i].members, list[i].networks,
                       list[i].rate[PACKET_YESNO] / list[i].rate[PACKET_BLOOM]);
        }
    }
    free(list);
    return true;
}

static void chart_16(struct out *out, const struct draw_row *row, size_t count,
                     struct svg_point *point)
{
    double most = 0;
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        double x = row[i].false_links[PACKET_BLOOM];
        point[i] = (struct svg_point){x, row[i].false_links[PACKET_YESNO], 0, 0};
        most = fmax(most, x);
        least = x > 0 && point[i].y > 0 ? fmin(least, x) : least;
    }
    struct svg_point equal[2] = {{fmin(least, most), fmin(least, most), 0, 0}, {most, most, 0, 0}};
    struct svg_series series[2] = {{"a network", SVG_MARKS, point, count},
                                   {"as many as the Bloom header", SVG_DASHED, equal, 2}};
    struct svg_chart chart = {.title = "False links next to the path, for both kinds of header",
                              .x_label = "Bloom header",
                              .y_label = "yes-no header",
                              .x_log = true,
                              .y_log = true,
                              .series = series,
                              .count = 2};
    svg_print(out, &chart);
}

static void chart_lengths(struct out *out, int figure, const struct length *list, size_t lengths,
                          struct svg_point *point)
{
    size_t ratios = 0;
    struct svg_point *other = point + lengths;
    for (size_t i = 0; i < lengths; i++) {
        double n = list[i].members;
        double bloom = list[i].rate[PACKET_BLOOM];
        double yesno = list[i].rate[PACKET_YESNO];
        if (figure == 17) {
            point[i] = (struct svg_point){n, bloom, 0, 0};
            other[i] = (struct svg_point){n, yesno, 0, 0};
        } else if (bloom > 0) {
            point[ratios++] = (struct svg_point){n, yesno / bloom, 0, 0};
        }
    }
    struct svg_series rates[2] = {{"Bloom header", SVG_LINE, point, lengths},
                                  {"yes-no header", SVG_LINE, other, lengths}};
    struct svg_series ratio = {"yes-no to Bloom", SVG_LINE, point, ratios};
    struct svg_chart chart = {
        .title = figure == 17
                     ? "False-positive rate by the number of links in the header"
                     : "False-positive rate of the yes-no header, relative to the Bloom header",
        .x_label = "links in the header",
        .y_label = figure == 17 ? "false-positive rate" : "ratio",
        .y_unit = figure == 17 ? SVG_SHARE : SVG_NUMBER,
        .y_log = figure == 17,
        .y_zero = figure == 17,
        .series = figure == 17 ? rates : &ratio,
        .count = figure == 17 ? 2 : 1};
    svg_print(out, &chart);
}

bool draw_figure(struct out *out, int figure, const struct draw_row *row, size_t count)
{
    size_t lengths;
    struct length *list = lengths_of(row, count, &lengths);
    struct svg_point *point = malloc((count * 2 + 2) * sizeof *point);
    bool good = list != NULL && point != NULL;
    if (good && figure == 16) {
        chart_16(out, row, count, point);
    } else if (good) {
        chart_lengths(out, figure, list, lengths, point);
    }
    free(list);
    free(point);
    return good;
}

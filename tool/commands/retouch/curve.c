/* curve.c: what every budget would remove, without touching the filter. */
#include "commands/retouch/retouching.h"

#include <inttypes.h>
#include <stdio.h>

#include "files/atomic_file.h"
#include "output/progress.h"
#include "pictures/svg.h"

#define CURVE_POINTS 201

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* A curve of the library, and whose it is. */
struct curve {
    const struct retouching *w;
    struct tepal_retouch_point point[CURVE_POINTS];
    size_t count;
};

static double lost_share(const struct curve *c, size_t i)
{
    return share((double)c->point[i].false_negatives, (double)c->w->report.members);
}

static double removed_share(const struct curve *c, size_t i)
{
    return share(c->point[i].removed_weight, c->w->report.avoid_weight);
}

static void tell_point(struct report *r, const struct curve *c, size_t i)
{
    const struct tepal_retouch_point *point = &c->point[i];
    report_object(r, NULL);
    report_whole(r, "lost", point->false_negatives, NO_TEXT);
    report_real(r, "lost_share", lost_share(c, i), TSV_ONLY);
    report_real(r, "lost_weight", point->lost_weight, column_tsv(NO_TEXT, "%.10g"));
    report_whole(r, "removed", point->avoid_removed, NO_TEXT);
    report_real(r, "removed_weight", point->removed_weight, column_tsv(NO_TEXT, "%.10g"));
    report_real(r, "removed_share", removed_share(c, i), TSV_ONLY);
    report_end(r);
}

static void draw(const void *context, struct out *out)
{
    const struct curve *c = context;
    struct svg_point drawn[CURVE_POINTS];
    char title[160];
    for (size_t i = 0; i < c->count; i++) {
        drawn[i] = (struct svg_point){.x = lost_share(c, i), .y = removed_share(c, i)};
    }
    snprintf(title, sizeof title, "What each budget removes: %s, %" PRIu64 " false positives",
             tepal_retouch_method_name(c->w->how.method), c->w->report.avoid_positive);
    struct svg_series series = {.style = SVG_LINE, .point = drawn, .count = c->count};
    struct svg_chart chart = {.title = title,
                              .x_label = "members lost",
                              .y_label = arg(c->w->args, "weights")->given
                                             ? "weight of false positives removed"
                                             : "false positives removed",
                              .x_unit = SVG_SHARE,
                              .y_unit = SVG_SHARE,
                              .series = &series,
                              .count = 1};
    svg_print(out, &chart);
}

/*
 * Without a limit the aim is to lose as few as possible when all keys are gone, in any order. The
 * curve is about the order, so it is that of a budget of everything.
 */
static void budget_of_everything(struct retouching *w)
{
    bool heavy = arg(w->args, "member-weights")->given;
    if (w->how.limit == TEPAL_RETOUCH_LIMIT_ALL) {
        w->how.limit = heavy ? TEPAL_RETOUCH_LIMIT_WEIGHT : TEPAL_RETOUCH_LIMIT_SHARE;
        w->how.budget = heavy ? w->member_weight : 1;
    }
}

int retouch_curve(struct retouching *w)
{
    struct curve c = {.w = w};
    struct tepal_error error = {.why = NULL};
    budget_of_everything(w);
    double started = progress_clock();
    struct progress progress;
    w->how.progress = progress_of(&progress, !arg(w->args, "quiet")->given, "retouching");
    enum tepal_status status = tepal_retouch_curve(w->filter, &w->input, &w->how, NULL, c.point,
                                                   CURVE_POINTS, &c.count, &w->report, &error);
    w->seconds = progress_clock() - started;
    progress_end(&progress);
    if (status != TEPAL_OK) {
        return retouch_refused(w, status, error.why);
    }
    struct report r = report_open(w->args);
    retouch_tell_counts(&r, w);
    int code = atomic_file_write(w->args, "svg", draw, &c);
    if (code == EXIT_YES) {
        r.form = report_is(&r, REPORT_TEXT) ? REPORT_TSV : r.form; /* a curve is for machines */
        report_object(&r, NULL);
        retouch_tell_figures(&r, w);
        report_list(&r, "curve");
        for (size_t i = 0; i < c.count; i++) {
            tell_point(&r, &c, i);
        }
        report_end(&r);
        report_end(&r);
    }
    return report_close(&r, code);
}

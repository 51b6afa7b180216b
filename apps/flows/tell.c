/* tell.c: what `tepal app flows` found: rates and their drift, and a picture of it. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include "cli/say.h"
#include "files/atomic_file.h"
#include "flows/flows.h"
#include "output/report.h"
#include "pictures/svg.h"

static double share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

/* Packets of known flows that were not found; with states, not in their state and no other. */
static double missed(const struct counts *c)
{
    return share(c->false_negatives + c->several + c->wrong, c->present);
}

/* The bits of a fingerprint, or the number of hashes. */
static uint64_t shape(const struct contestant *c)
{
    const struct tepal_params *p = tepal_filter_params(c->filter);
    return p->kind == TEPAL_KIND_FINGERPRINT ? p->fingerprint.bits : p->hashes;
}

/* What there is with --states and --attack alone comes last. */
static void tell_more(const struct flows *f, struct report *r, const struct counts *c)
{
    if (f->states) {
        report_whole(r, "several", c->several, NO_TEXT);
        report_whole(r, "wrong_state", c->wrong, NO_TEXT);
    }
    if (f->attack > 0) {
        report_whole(r, "attacks", c->attacks, NO_TEXT);
        report_whole(r, "attack_tries", c->tries, NO_TEXT);
    }
}

static void tell_counts(struct report *r, const struct counts *c)
{
    report_whole(r, "packets_absent", c->absent, NO_TEXT);
    report_whole(r, "false_positives", c->false_positives, NO_TEXT);
    report_whole(r, "packets_present", c->present, NO_TEXT);
    report_whole(r, "false_negatives", c->false_negatives, NO_TEXT);
    report_whole(r, "wrong_removals", c->wrong_removals, NO_TEXT);
    report_whole(r, "not_removed", c->not_removed, NO_TEXT);
    report_whole(r, "not_added", c->not_added, NO_TEXT);
}

/* A row of TSV; in JSON part of its kind. */
static void tell_window(const struct flows *f, struct report *r, const struct contestant *c,
                        size_t n)
{
    const struct window *w = &c->window[n];
    report_object(r, NULL);
    report_text(r, "kind", c->name, TSV_ONLY);
    report_whole(r, "bits", flows_bits(tepal_filter_params(c->filter)), TSV_ONLY);
    report_whole(r, "window", n + 1, TSV_ONLY);
    report_real(r, "t", w->t, column_tsv(TSV_ONLY, "%.3f"));
    report_whole(r, "flows", w->flows, TSV_ONLY);
    tell_counts(r, &w->counts);
    report_real(r, "t", w->t, JSON_ONLY);
    report_whole(r, "flows", w->flows, JSON_ONLY);
    report_whole(r, "flows_missing", w->missing, NO_TEXT);
    report_real(r, "stranger_fp", w->stranger_fp, column_tsv(NO_TEXT, "%.4f"));
    tell_more(f, r, &w->counts);
    report_end(r);
}

/* Of the packets of known flows: several states, a wrong one. */
static void tell_states(struct report *r, const struct counts *c)
{
    report_real(r, "several_share", share(c->several, c->present), column("packets", 9, "%.4f%%"));
    report_real(r, "wrong_share", share(c->wrong, c->present), column("packets", 9, "%.4f%%"));
}

/* Rates, and their drift: in the first, the middle and the last window. In JSON all windows. */
static void tell_contestant(const struct flows *f, struct report *r, const struct contestant *c)
{
    const struct counts *total = &c->total;
    const struct window *first = c->window;
    const struct window *middle = &c->window[(f->windows - 1) / 2];
    const struct window *last = &c->window[f->windows - 1];
    report_object(r, NULL);
    tell_counts(r, total);
    report_text(r, "kind", c->name, column("kind", -20, NULL));
    report_whole(r, "bits", flows_bits(tepal_filter_params(c->filter)), column("", 8, NULL));
    report_whole(r, NULL, shape(c), text_column("", 3, NULL));
    report_real(r, "fp", share(total->false_positives, total->absent),
                column("packets", 9, "%.4f%%"));
    report_real(r, "fn", share(total->false_negatives, total->present),
                column("packets", 9, "%.4f%%"));
    if (f->states) {
        tell_states(r, total);
    }
    report_whole(r, NULL, total->wrong_removals, text_column("removed", 7, NULL));
    report_real(r, NULL, first->stranger_fp, text_column("first", 9, "%.2f%%"));
    report_real(r, NULL, middle->stranger_fp, text_column("middle", 7, "%.2f%%"));
    report_real(r, NULL, last->stranger_fp, text_column("last", 7, "%.2f%%"));
    report_real(r, NULL, missed(&first->counts), text_column("first", 9, "%.2f%%"));
    report_real(r, NULL, missed(&middle->counts), text_column("middle", 7, "%.2f%%"));
    report_real(r, NULL, missed(&last->counts), text_column("last", 7, "%.2f%%"));
    report_whole(r, "peak_flows", f->table.peak, JSON_ONLY);
    tell_more(f, r, total);
    if (report_is(r, REPORT_JSON)) {
        report_list(r, "windows");
        for (size_t n = 0; n < f->windows; n++) {
            tell_window(f, r, c, n);
        }
        report_end(r);
    }
    report_end(r);
}

static int tell(const struct flows *f)
{
    struct report r = report_open(f->args);
    report_line(&r, "%-20s %8s %3s %9s %9s %s%7s   %-23s   %-23s\n", "", "bits", "k|f", "fp", "fn",
                f->states ? "  several     wrong " : "", "wrong", "strangers found",
                f->states ? "not in their state" : "false negatives");
    for (size_t i = 0; i < f->sets; i++) {
        for (size_t n = 0; n < f->windows && report_is(&r, REPORT_TSV); n++) {
            tell_window(f, &r, &f->set[i], n);
        }
        if (!report_is(&r, REPORT_TSV)) {
            tell_contestant(f, &r, &f->set[i]);
        }
    }
    return report_close(&r, EXIT_YES);
}

/* Two curves a kind: false negatives, and, dashed, strangers found; of states the first alone. */
static int draw(const struct flows *f, struct atomic_file *file)
{
    struct svg_series series[2 * CONTESTANTS];
    struct svg_look look[2 * CONTESTANTS];
    char names[2 * CONTESTANTS][64];
    const size_t each = f->states ? 1 : 2;
    struct svg_point *point = calloc(2 * CONTESTANTS * f->windows, sizeof *point);
    int code = atomic_file_open(file, f->args, arg(f->args, "svg")->text);
    if (code != EXIT_YES || point == NULL) {
        free(point);
        return code != EXIT_YES ? code : say_no_memory();
    }
    for (size_t i = 0; i < each * f->sets; i++) {
        const struct contestant *c = &f->set[i / each];
        struct svg_point *to = point + i * f->windows;
        bool strangers = i % each != 0;
        for (size_t n = 0; n < f->windows; n++) {
            const struct window *w = &c->window[n];
            to[n].x = (double)(n + 1);
            to[n].y = strangers ? w->stranger_fp : missed(&w->counts);
        }
        snprintf(names[i], sizeof names[i], f->states ? "%s" : "%s: %s", c->name,
                 strangers ? "strangers found" : "false negatives");
        look[i] = (struct svg_look){.colour = i / each + 1};
        series[i] =
            (struct svg_series){names[i], strangers ? SVG_DASHED : SVG_LINE, to, f->windows};
    }
    struct svg_chart chart = {.title = f->states ? "Flows not found in exactly their state"
                                                 : "False negatives, and strangers found",
                              .x_label = "window",
                              .y_label = f->states ? "share of flows" : "share of packets",
                              .y_unit = SVG_SHARE,
                              .y_log = true,
                              .y_zero = true,
                              .series = series,
                              .look = look,
                              .count = each * f->sets};
    svg_print(file->out, &chart);
    free(point);
    return atomic_file_finish(file, f->args);
}

int flows_tell(const struct flows *f)
{
    struct atomic_file file = {.path = NULL};
    int code = arg(f->args, "svg")->given ? draw(f, &file) : EXIT_YES;
    code = code == EXIT_YES ? tell(f) : code;
    if (code == EXIT_YES && arg(f->args, "svg")->given) {
        code = atomic_file_commit(&file, f->args, NULL);
    }
    atomic_file_free(&file);
    return code;
}

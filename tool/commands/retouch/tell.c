/* tell.c: the trade that was made: what is no longer found, and what it cost. */
#include "commands/retouch/retouching.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <tepal/file.h>

#include "files/filter_file.h"
#include "output/render.h"

void retouch_tell_counts(struct report *r, const struct retouching *w)
{
    const struct tepal_retouch_report *t = &w->report;
    bool counts = tepal_filter_kind(w->filter)->id == TEPAL_KIND_COUNTING;
    const char *about = t->expected && !counts ? "about " : "";
    if (t->members_absent > 0) {
        report_say(r, "members    %s%" PRIu64 ", %" PRIu64 " of them lost before", about,
                   t->members, t->members_absent);
    } else {
        report_say(r, "members    %s%" PRIu64 "%s", about, t->members,
                   !t->expected ? ""
                   : counts     ? ", by the counters; they were not given"
                                : ", by the bits; they were not given");
    }
    report_say(r, "avoid      %" PRIu64 " key%s: %" PRIu64 " %s", t->avoid_given,
               SAY_S(t->avoid_given), t->avoid_positive,
               t->avoid_positive == 1 ? "is a false positive" : "are false positives");
    if (t->avoid_members > 0) {
        report_say(r, "           %" PRIu64 " %s: %s", t->avoid_members,
                   t->avoid_members == 1 ? "is a member" : "are members",
                   w->how.remove_members ? "removed as requested" : "left alone");
    }
}

/* The limit in words, in room. */
static const char *limit_text(const struct retouching *w, char *room, size_t size)
{
    char rate[64];
    const char *expected = w->blind ? ", expected" : "";
    switch (w->how.limit) {
    case TEPAL_RETOUCH_LIMIT_SHARE:
        snprintf(room, size, "at most %" PRIu64 " lost (%s of the members)%s",
                 (uint64_t)(w->how.budget * (double)w->report.members),
                 render_rate(w->how.budget, rate, sizeof rate), expected);
        break;
    case TEPAL_RETOUCH_LIMIT_COUNT:
        snprintf(room, size, "at most %.0f lost%s", w->how.budget, expected);
        break;
    case TEPAL_RETOUCH_LIMIT_WEIGHT:
        snprintf(room, size, "at most %s of the members' weight lost",
                 render_rate(arg(w->args, "max-fn")->real, rate, sizeof rate));
        break;
    default:
        snprintf(room, size, "no limit");
    }
    return room;
}

/* So many percent more or less, in room. */
static const char *change_text(double change, char *room, size_t size)
{
    if (isnan(change)) {
        snprintf(room, size, "-");
    } else if (change == 0) {
        snprintf(room, size, "0 %%");
    } else {
        snprintf(room, size, "%+.2f %%", change);
    }
    return room;
}

/* A part of a whole, in percent; NaN of nothing. */
static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : NAN;
}

static void say_row(struct report *r, const char *what, const char *before, const char *after,
                    double change)
{
    char room[64];
    report_say(r, "%-27s %14s %14s %10s", what, before, after,
               change_text(change, room, sizeof room));
}

static void say_wholes(struct report *r, const char *what, uint64_t before, uint64_t after,
                       double change)
{
    char room[2][24];
    snprintf(room[0], sizeof room[0], "%" PRIu64, before);
    snprintf(room[1], sizeof room[1], "%" PRIu64, after);
    say_row(r, what, room[0], room[1], change);
}

/* The members lost: counted, or expected. */
static void say_lost(struct report *r, const struct tepal_retouch_report *t)
{
    double lost = 100 * t->delta_fn;
    char room[2][64];
    if (!t->expected) {
        say_wholes(r, "members lost", t->members_absent, t->false_negatives, lost);
        return;
    }
    snprintf(room[0], sizeof room[0], "%" PRIu64, t->members_absent);
    snprintf(room[1], sizeof room[1], "%.1f", t->lost_expected);
    say_row(r, "members lost, expected", room[0], room[1], lost);
    snprintf(room[1], sizeof room[1], "%.0f .. %.0f", t->lost_low, t->lost_high);
    say_row(r, "    with probability 99 %", "", room[1], NAN);
}

static void say_trade(struct report *r, const struct retouching *w)
{
    const struct tepal_retouch_report *t = &w->report;
    double cleared = (double)t->ones_after - (double)t->ones_before;
    double rate[2] = {render_figure(w->filter, "fp_now", NAN),
                      render_figure(w->result, "fp_now", NAN)};
    char room[2][64];
    report_say(r, "%-27s %14s %14s %10s", "", "before", "after", "change");
    say_wholes(
        r, "false positives to avoid", t->avoid_positive, t->avoid_left,
        percent((double)t->avoid_left - (double)t->avoid_positive, (double)t->avoid_positive));
    if (arg(w->args, "weights")->given) {
        double left = t->avoid_left == 0 ? 0 : t->avoid_weight - t->removed_weight;
        snprintf(room[0], sizeof room[0], "%.6g", t->avoid_weight);
        snprintf(room[1], sizeof room[1], "%.6g", left);
        say_row(r, "their weight", room[0], room[1], percent(-t->removed_weight, t->avoid_weight));
    }
    say_lost(r, t);
    say_row(r, "false positives, any key", render_rate(rate[0], room[0], sizeof room[0]),
            render_rate(rate[1], room[1], sizeof room[1]), percent(rate[1] - rate[0], rate[0]));
    say_wholes(r, "bits set", t->ones_before, t->ones_after,
               percent(cleared, (double)t->ones_before));
}

void retouch_tell_trade(struct report *r, const struct retouching *w)
{
    char room[128];
    report_say(r, "method     %s, %s", tepal_retouch_method_name(w->how.method),
               limit_text(w, room, sizeof room));
    if (w->generalized) {
        report_say(r,
                   "inverted   %" PRIu64 " bit%s; of the false positives left, %" PRIu64 " %s new",
                   w->report.bits_changed, SAY_S(w->report.bits_changed), w->report.avoid_created,
                   w->report.avoid_created == 1 ? "is" : "are");
    }
    say_trade(r, w);
    if (isfinite(w->report.chi)) {
        report_say(r, "chi        %.4g (share of false positives removed / share of members lost)",
                   w->report.chi);
    }
    report_say(r, "wrote      %s, %s", filter_file_name(arg(w->args, "output")->text, true),
               render_bytes(filter_file_bytes(arg(w->args, "output")->text, w->result), room,
                            sizeof room));
}

/* How many fewer there are now; 0 if there are more. */
static uint64_t less(uint64_t before, uint64_t after)
{
    return before > after ? before - after : 0;
}

void retouch_tell_figures(struct report *r, const struct retouching *w)
{
    const struct tepal_retouch_report *t = &w->report;
    const struct option_value *count = arg(w->args, "max-fn-count");
    bool by_weight = w->how.order == TEPAL_RETOUCH_ORDER_WEIGHT;
    report_text(r, "file", w->path, JSON_ONLY);
    report_text(r, "method", tepal_retouch_method_name(w->how.method), JSON_ONLY);
    report_text(r, "order", by_weight ? "weight" : "given", JSON_ONLY);
    report_text(r, "basis", w->how.basis == TEPAL_RETOUCH_BASIS_ALL ? "all" : "b", JSON_ONLY);
    report_real(r, "max_fn", arg_real(w->args, "max-fn", NAN), JSON_ONLY);
    report_whole_if(r, "max_fn_count", count->given, count->whole, JSON_ONLY);
    report_whole(r, "members", t->members, JSON_ONLY);
    report_whole(r, "members_absent", t->members_absent, JSON_ONLY);
    report_whole(r, "avoid_given", t->avoid_given, JSON_ONLY);
    report_whole(r, "avoid_members", t->avoid_members, JSON_ONLY);
    report_whole(r, "avoid_positive", t->avoid_positive, JSON_ONLY);
    report_whole(r, "avoid_left", t->avoid_left, JSON_ONLY);
    report_whole(r, "removed_beyond",
                 w->generalized ? less(t->others_positive, t->others_left) : t->removed_beyond,
                 JSON_ONLY);
    report_real(r, "avoid_weight", t->avoid_weight, JSON_ONLY);
    report_real(r, "removed_weight", t->removed_weight, JSON_ONLY);
    report_whole(r, "false_negatives", t->false_negatives, JSON_ONLY);
    report_real(r, "lost_weight", t->lost_weight, JSON_ONLY);
    report_flag(r, "expected", t->expected, JSON_ONLY);
    report_real(r, "lost_expected", t->lost_expected, JSON_ONLY);
    report_real(r, "lost_low", t->lost_low, JSON_ONLY);
    report_real(r, "lost_high", t->lost_high, JSON_ONLY);
    report_whole(r, "lost_most", t->lost_most, JSON_ONLY);
    report_whole(r, "bits_cleared",
                 w->generalized ? less(t->ones_before, t->ones_after) : t->bits_changed, JSON_ONLY);
    report_whole(r, "ones_before", t->ones_before, JSON_ONLY);
    report_whole(r, "ones_after", t->ones_after, JSON_ONLY);
    if (w->generalized) {
        report_whole(r, "created", t->avoid_created, JSON_ONLY);
        report_whole(r, "bits_flipped", t->bits_changed, JSON_ONLY);
    }
    report_real(r, "delta_fp", t->delta_fp, JSON_ONLY);
    report_real(r, "delta_fn", t->delta_fn, JSON_ONLY);
    report_real(r, "chi", t->chi, JSON_ONLY);
    report_real(r, "seconds", w->seconds, JSON_ONLY);
}

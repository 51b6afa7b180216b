/* written.c: the summary of a filter, after it was written. */
#include "output/written.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <tepal/file.h>

#include "files/filter_file.h"
#include "output/render.h"

static void tell_rate(struct report *r, const struct tepal_report *report, const char *name,
                      const char *heading, const char *of)
{
    double rate = render_number(report, name, NAN);
    char room[96];
    if (!isnan(rate)) {
        report_say(r, "%-10s %s false positives%s", heading, render_rate(rate, room, sizeof room),
                   of);
    }
}

/* " with 103515 keys", if that is another number than the one above it. */
static const char *keys_in(const struct tepal_filter *filter, const struct tepal_report *report,
                           uint64_t keys, char *text, size_t size)
{
    char room[64];
    double now = render_number(report, "keys_now", (double)tepal_filter_keys_added(filter));
    bool told = now == (double)keys;
    snprintf(text, size, "%s%s", told ? "" : " with ",
             told ? "" : render_keys(now < 0x1p64 ? (uint64_t)now : UINT64_MAX, room, sizeof room));
    return text;
}

static void tell_summary(struct report *r, const char *path, const struct tepal_filter *filter,
                         const struct tepal_report *report, uint64_t keys)
{
    const struct tepal_params *params = tepal_filter_params(filter);
    char room[96];
    char per_key[48] = "";
    char with[80];
    /* What grows has the size for the keys that are in, not for those planned. */
    bool grows = params->kind == TEPAL_KIND_GROWING || params->kind == TEPAL_KIND_CHAIN;
    double sized_for = grows ? render_number(report, "keys_now", 0) : (double)params->capacity;
    if (sized_for > 0) {
        snprintf(per_key, sizeof per_key, " (%.2f per key)", (double)params->cells / sized_for);
    }
    const char *unit = tepal_report_find(report, "counters") == NULL ? "bit" : "counter";
    bool chain = params->kind == TEPAL_KIND_CHAIN;
    uint64_t pieces = chain ? params->chain.parts : params->hashes;
    report_say(r, "filter     %s, %s, %" PRIu64 " %s%s%s, %" PRIu64 " %s%s",
               tepal_filter_kind(filter)->name, tepal_layout_name(params->layout), params->cells,
               unit, SAY_S(params->cells), per_key, pieces, chain ? "part" : "hash",
               pieces == 1 ? ""
               : chain     ? "s"
                           : "es");
    snprintf(with, sizeof with, " with %s", render_keys(params->capacity, room, sizeof room));
    tell_rate(r, report, "fp_at_capacity", "predicted", with);
    tell_rate(r, report, "fp_now", "now", keys_in(filter, report, keys, with, sizeof with));
    double stuck = render_number(report, "stuck", 0);
    if (stuck > 0) {
        report_say(r, "stuck      %.0f counter%s at the limit of %d, never lowered again%s", stuck,
                   stuck > 1 ? "s" : "",
                   params->counting.form == TEPAL_FORM_WIDE_COUNTERS ? TEPAL_MAX_COUNTER
                                                                     : TEPAL_MAX_SMALL_COUNTER,
                   params->counting.form == TEPAL_FORM_WIDE_COUNTERS
                       ? ""
                       : "; build with --counter-bits 8 for a limit of 255");
    }
    report_say(r, "seed       %" PRIu64 "%s", params->seed,
               tepal_hash_is_keyed(params->hash) ? ", and a secret key" : "");
    report_say(r, "wrote      %s, %s", filter_file_name(path, true),
               render_bytes(filter_file_bytes(path, filter), room, sizeof room));
}

void written_tell(struct report *r, const char *path, const struct tepal_filter *filter,
                  uint64_t keys)
{
    struct tepal_report report = {.count = 0};
    if (r->quiet && !report_is(r, REPORT_JSON)) {
        return; /* what is told takes a look at every cell */
    }
    tepal_filter_info(filter, &report);
    report_text(r, "file", path, JSON_ONLY);
    if (report_is(r, REPORT_JSON)) {
        report_quantities(r, &report, false);
    }
    if (keys != UINT64_MAX) {
        report_whole(r, "keys_read", keys, JSON_ONLY);
        report_say(r, "keys       %" PRIu64, keys);
    }
    tell_summary(r, path, filter, &report, keys);
}

void written_left_out(struct report *r, const struct args *args, uint64_t comments,
                      uint64_t repeats)
{
    if (arg(args, "comments")->given) {
        report_say(r, "comments   %" PRIu64 " line%s left out", comments, SAY_S(comments));
        report_whole(r, "comments", comments, JSON_ONLY);
    }
    if (arg(args, "unique")->given) {
        report_say(r, "repeats    %" PRIu64 " key%s left out", repeats, SAY_S(repeats));
        report_whole(r, "repeats", repeats, JSON_ONLY);
    }
}

int written_close(struct report *r)
{
    return report_close_after(r, "the filter was written", EXIT_YES);
}

int written_print(const struct args *args, const char *path, const struct tepal_filter *filter,
                  uint64_t keys)
{
    struct report r = report_open(args);
    report_object(&r, NULL);
    written_tell(&r, path, filter, keys);
    report_end(&r);
    return written_close(&r);
}

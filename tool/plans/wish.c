/* wish.c: what the user can bear, from options, a gap file and lists of negatives. */
#define _POSIX_C_SOURCE 200809L
#include "plans/wish.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/digests.h"
#include "input/feed.h"
#include "input/slurp.h"
#include "cli/number.h"
#include "cli/options.h"
#include "output/render.h"

#define GAP_FILE_MOST ((size_t)1 << 24)
#define KEYS_ASSUMED  1000000

/* ---- files ----------------------------------------------------------------------------------- */

int wish_count(const struct args *args, const char **paths, size_t files, uint64_t *count)
{
    struct args these = *args;
    struct tepal_hasher hasher;
    these.operand = paths;
    these.operands = files;
    tepal_hasher_init(1, &hasher);
    struct feed *feed = feed_open(&these, 0, &hasher);
    ptrdiff_t got;
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    feed->notice = feed->notice && !arg(args, "auto")->given; /* it is read again, and told then */
    while ((got = feed_next(feed)) > 0) {
    }
    *count = feed->total;
    feed_close(feed);
    return got == 0 ? EXIT_YES : EXIT_TROUBLE;
}

/* ---- gaps ------------------------------------------------------------------------------------ */

/* A number from *at up to `end`; false if there is none. */
static bool number_at(const char **at, const char *end, double *out)
{
    char room[64];
    size_t len = 0;
    while (*at + len < end && strchr("0123456789.eE+-", (*at)[len]) != NULL && (*at)[len] != '\0') {
        len++;
    }
    if (len == 0 || len >= sizeof room) {
        return false;
    }
    memcpy(room, *at, len);
    room[len] = '\0';
    char *rest;
    *out = strtod(room, &rest);
    *at += len;
    return *rest == '\0' && isfinite(*out);
}

static bool tab(const char **at, const char *end)
{
    if (*at < end && **at == '\t') {
        (*at)++;
        return true;
    }
    return false;
}

static const char *gap_line(const char *at, const char *end, double *gap, double *survival)
{
    double repeats;
    if (!number_at(&at, end, gap) || !tab(&at, end) || !number_at(&at, end, &repeats) ||
        !tab(&at, end) || !number_at(&at, end, survival) || at != end) {
        return "not a gap file: lines must be gap, repeats and survival, separated by tabs";
    }
    return NULL;
}

const char *wish_gaps(const char *text, size_t len, double *gap, double *survival, size_t most,
                      struct tepal_gaps *out)
{
    static const char fresh_mark[] = "# fresh ";
    static const char head[] = "gap\trepeats\tsurvival";
    const char *end = text + len;
    double fresh = NAN;
    size_t count = 0;
    for (const char *at = text; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline == NULL ? end : newline;
        size_t here = (size_t)(stop - at);
        if (here > sizeof fresh_mark - 1 && memcmp(at, fresh_mark, sizeof fresh_mark - 1) == 0) {
            const char *value = at + sizeof fresh_mark - 1;
            if (!number_at(&value, stop, &fresh) || value != stop) {
                return "the share of new messages (# fresh) is not a number";
            }
        } else if (here > 0 && *at != '#' &&
                   !(here == sizeof head - 1 && memcmp(at, head, here) == 0)) {
            if (count == most) {
                return "too many gaps";
            }
            const char *why = gap_line(at, stop, &gap[count], &survival[count]);
            if (why != NULL) {
                return why;
            }
            count++;
        }
        at = newline == NULL ? end : newline + 1;
    }
    if (!(fresh >= 0 && fresh <= 1)) {
        return "not a gap file: the line \"# fresh SHARE\" is missing (tepal gaps --save writes "
               "it)";
    }
    if (count == 0) {
        return "it contains no gaps";
    }
    for (size_t i = 0; i < count; i++) {
        if (!(gap[i] > (i == 0 ? 0 : gap[i - 1])) || !(survival[i] >= 0) ||
            !(survival[i] <= (i == 0 ? 1 : survival[i - 1]))) {
            return "gaps must increase and survival must decrease from line to line";
        }
    }
    *out = (struct tepal_gaps){gap, survival, count, fresh};
    return NULL;
}

static int read_gaps(const struct args *args, struct wish *w)
{
    const char *path = arg(args, "gaps")->text;
    size_t len;
    char *text = slurp(args, path, GAP_FILE_MOST, &len);
    if (text == NULL) {
        return EXIT_TROUBLE;
    }
    w->steps = malloc(2 * WISH_GAPS * sizeof *w->steps);
    const char *why = w->steps == NULL ? "out of memory"
                                       : wish_gaps(text, len, w->steps, w->steps + WISH_GAPS,
                                                   WISH_GAPS, &w->wish.gaps);
    free(text);
    w->wish.stream = TEPAL_STREAM_GAPS;
    return why == NULL ? EXIT_YES : args_about(args, path, "%s", why);
}

/* ---- distributions --------------------------------------------------------------------------- */

/* Up to three numbers with commas between; how many, 0 if they are none. */
static size_t numbers(const char *text, double out[3])
{
    const char *end = text + strlen(text);
    size_t count = 0;
    while (count < 3 && number_at(&text, end, &out[count])) {
        count++;
        if (text == end) {
            return count;
        }
        if (*text++ != ',') {
            break;
        }
    }
    return 0;
}

/* EXPONENT,KEYS; the keys as sizes are written. */
static bool read_zipf(const char *text, struct tepal_wish *w)
{
    const char *comma = strchr(text, ',');
    return comma != NULL && number_at(&text, comma, &w->stream_a) && text == comma &&
           number_whole(comma + 1, &w->stream_keys) == NULL;
}

static int read_stream(const struct args *args, struct tepal_wish *w)
{
    const char *text = arg(args, "stream")->text;
    const char *colon = strchr(text, ':');
    size_t len = colon == NULL ? 0 : (size_t)(colon - text);
    double x[3] = {0, 0, 0};
    size_t count = colon == NULL ? 0 : numbers(colon + 1, x);
    if (len == 9 && memcmp(text, "geometric", len) == 0 && (count == 1 || count == 2)) {
        w->stream = TEPAL_STREAM_GEOMETRIC;
        w->stream_a = x[0];
        w->stream_fresh = x[1];
    } else if (len == 6 && memcmp(text, "pareto", len) == 0 && count >= 2) {
        w->stream = TEPAL_STREAM_PARETO;
        w->stream_a = x[0];
        w->stream_b = x[1];
        w->stream_fresh = x[2];
    } else if (len == 4 && memcmp(text, "zipf", len) == 0 && read_zipf(colon + 1, w)) {
        w->stream = TEPAL_STREAM_ZIPF;
    } else {
        return args_error(args,
                          "--stream %s: "
                          "not one of geometric:MEAN[,NEW], pareto:SHAPE,SCALE[,NEW], "
                          "zipf:EXPONENT,KEYS",
                          text);
    }
    return EXIT_YES;
}

int wish_stream(const struct args *args, struct wish *w)
{
    int code = arg(args, "stream")->given ? read_stream(args, &w->wish) : EXIT_YES;
    return code == EXIT_YES && arg(args, "gaps")->given ? read_gaps(args, w) : code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Known negatives with their weights; those of a repeated key are added, as when it is built. */
static int read_weights(const struct args *args, struct wish *w)
{
    struct digests set = {.count = 0};
    struct tepal_hasher hasher;
    tepal_hasher_init(1, &hasher);
    int code = feed_gather(feed_open_file(args, &w->negatives, &hasher, true), &set, NULL);
    if (code == EXIT_YES) {
        const char *why = weights_curve(set.weight, set.count, &w->weights);
        w->wish.known_negatives = set.count;
        w->wish.weights = w->weights.curve;
        code = why == NULL ? EXIT_YES : args_about(args, w->negatives, "%s", why);
    }
    digests_free(&set);
    return code;
}

static int read_negatives(const struct args *args, struct wish *w)
{
    const struct option_value *known = arg(args, "known-negatives");
    w->weighted = arg(args, "weights")->given;
    if (known->given && number_whole(known->text, &w->wish.known_negatives) != NULL) {
        w->negatives = known->text;
    }
    if (w->weighted && w->negatives == NULL) {
        return args_error(args, "--weights needs a file of negatives: give --%s FILE",
                          args_knows(args, "avoid") ? "avoid" : "known-negatives");
    }
    if ((arg(args, "fp-known")->given || w->wish.closed_world) && w->negatives == NULL &&
        !known->given) {
        return args_error(args, "--%s needs known negatives: give --%s",
                          arg(args, "fp-known")->given ? "fp-known" : "closed-world",
                          args_knows(args, "avoid") ? "avoid FILE" : "known-negatives N");
    }
    return w->negatives == NULL ? EXIT_YES
           : w->weighted        ? read_weights(args, w)
                                : wish_count(args, &w->negatives, 1, &w->wish.known_negatives);
}

static void read_rates(const struct args *args, struct tepal_wish *w)
{
    w->fp = arg_real(args, "fp", NAN);
    w->fp_known = arg_real(args, "fp-known", NAN);
    w->closed_world = arg(args, "closed-world")->given;
    w->fn = arg_real(args, "fn", NAN);
    w->max_fn = args_knows(args, "max-fn") ? arg_real(args, "max-fn", 0) : 0;
    w->fp_average = arg_real(args, "fp-average", NAN);
    w->wrong_deletes = arg_real(args, "wrong-deletes", 0);
    bool costs = arg(args, "cost-fp")->given || arg(args, "cost-fn")->given;
    w->cost_fp = arg_real(args, "cost-fp", costs ? 1 : 0);
    w->cost_fn = arg_real(args, "cost-fn", costs ? 1 : 0);
}

static int read_size(const struct args *args, struct wish *w)
{
    double each = arg_real(args, "bits-per-key", 0);
    w->wish.bits = arg_whole(args, "memory", 0) * 8;
    w->bits_per_key = each;
    if (each > 0 && w->wish.keys == 0) {
        w->wish.keys = KEYS_ASSUMED;
        w->assumed_keys = true;
    }
    if (each > 0) {
        double bits = floor(each * (double)w->wish.keys);
        if (!(bits >= 1 && bits <= 0x1p60)) {
            return args_error(args,
                              "the size must be from 1 to 2^60 bits: give another --bits-per-key");
        }
        w->wish.bits = (uint64_t)bits;
    }
    return EXIT_YES;
}

/* --grow: from the keys that were counted, or a thousandth of those planned, or --first. */
static int read_growth(const struct args *args, uint64_t counted, struct tepal_wish *w)
{
    const uint64_t growth = 1000;
    uint64_t from = arg(args, "keys")->from; /* --keys 1M..1G */
    if (!args_knows(args, "grow") || (!arg(args, "grow")->given && from == 0)) {
        return EXIT_YES;
    }
    if (from > 0 && arg(args, "first")->given) {
        return args_error(args, "--keys %s says where it begins: --first is one too many",
                          arg(args, "keys")->text);
    }
    if (counted > 0) {
        w->keys_first = arg_whole(args, "first", counted);
        w->keys = arg_whole(args, "capacity", growth * w->keys_first);
    } else if (arg(args, "keys")->given) {
        w->keys_first = from > 0 ? from : arg_whole(args, "first", w->keys / growth + 1);
    } else {
        return args_error(args, "--grow needs --keys N, the number that it grows to");
    }
    return w->keys_first <= w->keys
               ? EXIT_YES
               : args_error(args, "it cannot grow from %" PRIu64 " keys to %" PRIu64, w->keys_first,
                            w->keys);
}

uint32_t wish_counter_bits(const struct args *args)
{
    const struct option_value *bits = arg(args, "counter-bits");
    return !bits->given ? 0 : strcmp(bits->text, "8") == 0 ? 8 : 4;
}

int wish_read(const struct args *args, uint64_t keys, const char *negatives, struct wish *w)
{
    *w = (struct wish){.wish = TEPAL_WISH_INIT, .negatives = negatives};
    w->wish.keys = keys > 0 ? keys : arg(args, "keys")->whole;
    if (read_growth(args, keys, &w->wish) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    w->wish.deletes = arg(args, "deletes")->given;
    w->wish.untrusted = arg(args, "untrusted")->given;
    w->wish.endless = arg(args, "endless")->given;
    w->wish.header_bits = arg(args, "header-bits")->whole;
    w->wish.prefer = arg(args, "prefer")->given && strcmp(arg(args, "prefer")->text, "speed") == 0
                         ? TEPAL_PREFER_SPEED
                         : TEPAL_PREFER_SIZE;
    w->wish.counter_bits = wish_counter_bits(args);
    read_rates(args, &w->wish);
    int code = read_size(args, w);
    code = code == EXIT_YES ? arg_rate_kept(args, "fp", w->wish.keys) : code;
    code = code == EXIT_YES ? arg_rate_kept(args, "fp-average", w->wish.keys) : code;
    if (code == EXIT_YES && w->wish.fp_known > 0) {
        code = arg_rate_kept(args, "fp-known", w->wish.keys);
    }
    code = code == EXIT_YES ? wish_stream(args, w) : code;
    return code == EXIT_YES ? read_negatives(args, w) : code;
}

void wish_warn(const struct args *args, const struct wish *w, const struct tepal_plans *plans)
{
    char room[64];
    if (w->wish.known_negatives > 0 && isnan(plans->fp) && !w->wish.closed_world &&
        w->wish.header_bits == 0 && plans->plan[0].feasible && !arg(args, "quiet")->given) {
        say_warning(args->command->name,
                    "strangers (keys that are neither members nor known negatives) are not "
                    "bounded: %s of them pass; give --fp RATE, or --closed-world if there are none",
                    render_rate(plans->plan[0].fp, room, sizeof room));
    }
}

void wish_free(struct wish *w)
{
    free(w->steps);
    w->steps = NULL;
    weights_free(&w->weights);
}

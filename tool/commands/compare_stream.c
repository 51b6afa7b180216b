/*
 * compare_stream.c: the kinds that go on for ever, on the user's own stream. Each is asked for
 * every line whether it came before, and remembers it; an exact set knows the truth. A plan is by
 * costs, with the gaps of the stream itself; a second one must remember as many of the latest lines
 * as nine of ten repeats ask for: for kinds that need to know, and with two phases at least.
 */
#include <math.h>
#include <stdlib.h>

#include <tepal/filter.h>
#include <tepal/recycling.h>

#include "commands/compare.h"
#include "input/feed.h"
#include "streams/gap_counts.h"
#include "output/answers.h"
#include "output/progress.h"

#define MOST_REPEATS 0.9

struct stream {
    struct compare *c;
    struct gap_counts gaps;
    uint64_t *repeat; /* a bit a line: did it come before? */
    double step[2 * GAPCOUNT_BINS];
};

/* ---- the stream ------------------------------------------------------------------------------ */

static int read_stream(struct stream *s)
{
    struct compare *c = s->c;
    struct feed *feed = feed_open_file(c->args, &arg(c->args, "members")->text, &c->hasher, false);
    ptrdiff_t count = -1;
    bool room = true;
    while (feed != NULL && room && (count = feed_next(feed)) > 0) {
        room = gap_counts_note(&s->gaps, feed->digest, (size_t)count);
        for (ptrdiff_t i = 0; i < count && room; i++) {
            room = compare_keep(c, feed->digest[i]);
        }
    }
    feed_close(feed);
    return !room ? args_no_memory(c->args) : count == 0 ? EXIT_YES : EXIT_TROUBLE;
}

/* Which lines came before. */
static int find_repeats(struct stream *s)
{
    struct compare *c = s->c;
    size_t words = c->queries / 64 + 1;
    s->repeat = calloc(words, sizeof *s->repeat);
    c->answers = calloc(words, sizeof *c->answers);
    bool room = s->repeat != NULL && c->answers != NULL;
    for (size_t i = 0; i < c->queries && room; i++) {
        if (digests_has(&c->members, c->query[i])) {
            s->repeat[i / 64] |= UINT64_C(1) << (i % 64);
        } else {
            room = digests_add(&c->members, c->query[i], 1, NULL, 0);
        }
    }
    c->outsiders = c->members.count;
    if (!room) {
        return args_no_memory(c->args);
    }
    return gap_counts_repeats(&s->gaps) > 0
               ? EXIT_YES
               : args_error(c->args, "no line of the stream repeats: there is nothing to remember");
}

/* ---- plans ----------------------------------------------------------------------------------- */

static int plan_stream(struct stream *s)
{
    struct compare *c = s->c;
    struct tepal_error error = {.why = ""};
    struct tepal_wish w = TEPAL_WISH_INIT;
    if (compare_limit(c, c->members.count) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    w.endless = true;
    w.bits = c->limit;
    w.cost_fp = c->cost_fp;
    w.cost_fn = c->cost_fn;
    w.stream = TEPAL_STREAM_GAPS;
    w.gaps = gap_counts_steps(&s->gaps, s->step, s->step + GAPCOUNT_BINS);
    for (int i = 0; i < 2; i++) {
        w.keys = i == 0 ? 0 : (uint64_t)fmax(ceil(gap_counts_quantile(&s->gaps, MOST_REPEATS)), 1);
        if (tepal_plan(&w, &c->plans[i], &error) != TEPAL_OK) {
            return args_error(c->args, "%s", error.why);
        }
    }
    return EXIT_YES;
}

/* ---- measuring ------------------------------------------------------------------------------- */

static int measure(struct stream *s, const struct tepal_proposal *plan)
{
    struct compare *c = s->c;
    struct tepal_proposal as_it_is = *plan;
    struct tepal_filter *filter = NULL;
    as_it_is.feasible = true; /* whether it remembers enough is for the user to see */
    enum tepal_status status = tepal_plan_create(&as_it_is, c->seed, NULL, NULL, &filter, NULL);
    double from = progress_clock();
    if (status == TEPAL_OK) {
        status = tepal_filter_test_add_many(filter, c->query, c->queries, c->answers, NULL);
    }
    double took = progress_clock() - from;
    tepal_filter_free(filter);
    if (status != TEPAL_OK) {
        return args_status(c->args, status, NULL);
    }
    uint64_t wrong[2] = {0, 0}; /* new lines that were seen, repeats that were not */
    for (size_t i = 0; i < c->queries; i++) {
        bool repeat = answer_of(s->repeat, i);
        wrong[repeat] += answer_of(c->answers, i) != repeat;
    }
    struct compare_row *row = &c->row[c->rows++];
    *row = (struct compare_row){.plan = plan,
                                .fp = wilson_99(wrong[0], c->outsiders),
                                .fn = wilson_99(wrong[1], c->queries - c->outsiders),
                                .ns = took / (double)c->queries * 1e9,
                                .bytes = (plan->bits + 7) / 8};
    row->cost = c->cost_fp * row->fp.rate + c->cost_fn * row->fn.rate;
    return EXIT_YES;
}

uint32_t compare_phases(const struct tepal_proposal *plan)
{
    return plan->kind == TEPAL_KIND_RECYCLING ? (uint32_t)plan->params.recycling.phases : 0;
}

/* Is there a row of the same kind, layout and phases? */
static bool is_there(const struct compare *c, const struct tepal_proposal *plan)
{
    for (size_t i = 0; i < c->rows; i++) {
        const struct tepal_proposal *other = c->row[i].plan;
        if (other->kind == plan->kind && other->params.layout == plan->params.layout &&
            compare_phases(other) == compare_phases(plan)) {
            return true;
        }
    }
    return false;
}

/* All that are in the limit, also those of the second plans that remember less than they should. */
static int measure_all(struct stream *s)
{
    struct compare *c = s->c;
    int code = EXIT_YES;
    progress_start(&c->progress, !arg(c->args, "quiet")->given);
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < c->plans[i].count && code == EXIT_YES; j++) {
            double all = (double)(c->plans[0].count + c->plans[1].count);
            progress_share(&c->progress, (double)c->done++ / all, "comparing");
            const struct tepal_proposal *plan = &c->plans[i].plan[j];
            if (plan->params.cells > 0 && plan->bits <= c->limit && !is_there(c, plan)) {
                code = measure(s, plan);
            }
        }
    }
    progress_end(&c->progress);
    return code != EXIT_YES || c->rows > 0
               ? code
               : args_error(c->args, "no kind of filter fits into so little memory");
}

int compare_stream(struct compare *c)
{
    struct stream *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return args_no_memory(c->args);
    }
    s->c = c;
    gap_counts_init(&s->gaps, 1);
    int code = read_stream(s);
    code = code == EXIT_YES ? find_repeats(s) : code;
    code = code == EXIT_YES ? plan_stream(s) : code;
    code = code == EXIT_YES ? measure_all(s) : code;
    gap_counts_free(&s->gaps);
    free(s->repeat);
    free(s);
    return code;
}

/*
 * best.c: the search for the best beta and size. For each size, the share beta of the false
 * positives to remove that brings the most success in the next cycle, of 0, 1, 2, ... 100 %; then
 * the smallest size at which that is at least the share --enough of the list's success. The later
 * cycles did not take part in the choice: their rows tell what it is worth.
 */
#include <inttypes.h>

#include "cli/say.h"
#include "stopset/stopset.h"

#define STEPS 100

static uint64_t next_cycle(const struct stopset *s)
{
    size_t c = 0;
    while (s->cycle[c] <= s->learn) {
        c++;
    }
    return s->cycle[c];
}

static double success_of(struct stopset *s, uint64_t cycle)
{
    struct trial t = stopset_try(s, cycle, 0);
    return t.outcome.routes == 0 ? 0 : (double)t.outcome.success / (double)t.outcome.routes;
}

/* The set of this wish into *v, and s->stops; beta 0 is the Bloom filter itself. */
static int make(struct stopset *s, const struct set_wish *wish, const struct tepal_filter *bloom,
                struct variant *v)
{
    tepal_filter_free(v->made.filter);
    v->made.filter = NULL;
    v->set = "retouched";
    v->beta = wish->beta;
    int code = set_retouch(s->args, &s->seen, s->digest, wish, bloom, true, &v->made);
    if (code == EXIT_YES) {
        stopset_stop_at(s, v->made.filter);
    }
    return code;
}

/* The best beta for the wish's size: rows of all cycles, and its success in the next one. */
static int best_beta(struct stopset *s, struct set_wish wish, double *success)
{
    struct tepal_filter *bloom = NULL;
    struct variant v;
    double best = 0;
    uint64_t cycle = next_cycle(s);
    int code = stopset_bloom(s, &wish, &bloom, &v);
    *success = -1;
    for (int i = 0; i <= STEPS && code == EXIT_YES; i++) {
        wish.beta = (double)i / STEPS;
        code = make(s, &wish, bloom, &v);
        double now = code == EXIT_YES ? success_of(s, cycle) : 0;
        if (code == EXIT_YES && now > *success) {
            *success = now;
            best = wish.beta;
        }
        if (v.made.before == 0) {
            break; /* there is nothing to remove */
        }
    }
    wish.beta = best;
    code = code == EXIT_YES ? make(s, &wish, bloom, &v) : code;
    if (code == EXIT_YES) {
        stopset_tell_all(s, &v);
    }
    tepal_filter_free(v.made.filter);
    tepal_filter_free(bloom);
    return code;
}

static void say_smallest(const struct stopset *s, uint64_t smallest, double enough)
{
    if (smallest != 0) {
        say_line("smallest   %" PRIu64
                 " bits (ratio %.2f) have %g %% of the list's success or more",
                 smallest, s->list_bits / (double)smallest, 100 * enough);
    } else {
        say_line("smallest   none of these sizes has %g %% of the list's success", 100 * enough);
    }
}

int stopset_best(struct stopset *s, const uint64_t *bits, size_t count)
{
    double enough = arg_real(s->args, "enough", 0.95);
    uint64_t smallest = 0;
    for (uint32_t node = 0; node < s->nodes; node++) {
        s->stops[node] = s->member[node];
    }
    double list = success_of(s, next_cycle(s));
    int code = EXIT_YES;
    for (size_t i = 0; i < count && code == EXIT_YES; i++) {
        struct set_wish wish = set_wish_of(s->args);
        double success;
        wish.bits = bits[i];
        code = best_beta(s, wish, &success);
        if (code == EXIT_YES && success >= enough * list && (smallest == 0 || bits[i] < smallest)) {
            smallest = bits[i];
        }
    }
    if (code == EXIT_YES && !arg(s->args, "quiet")->given) {
        say_smallest(s, smallest, enough);
    }
    return code;
}

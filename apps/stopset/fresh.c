/*
 * fresh.c: a stop set that is kept fresh. Later cycles bring nodes that nobody had seen when the
 * filter was made; some of them are false positives, and new penultimate nodes are missing. So in
 * every cycle a share of the routes is traced in full. What they show is fed back, each standing
 * for as many as were not traced, and the next cycle has a filter of all that is known by then:
 *
 *     learned ──> filter ──> cycle 2: 5 % in full ──> learned + fed back ──> filter ──> cycle 3 ...
 *
 * A newcomer among the penultimate nodes may be one of the core, at which a route happened to end:
 * it would stop all routes that pass it. So at least half of the routes through a node must end
 * there (unless --least-ends says otherwise).
 *
 * The budget is paced: the filter of each cycle may give up the share max_fn of the penultimate
 * nodes that are known by then, so that it grows with them.
 */
#include "stopset/stopset.h"

static void feed_back(struct stopset *s, uint64_t cycle, double share, struct sightings *known)
{
    for (size_t i = 0; i < s->kept_count; i++) {
        const struct route *r = &s->routes.route[s->kept[i]];
        if (r->cycle == cycle && stopset_in_full(s, r, share)) {
            sightings_route(known, &s->routes, r, 1 / share);
        }
    }
}

static int fresh_cycle(struct stopset *s, const struct set_wish *wish, double share, uint64_t cycle,
                       struct sightings *known)
{
    struct variant v = {.set = "fresh",
                        .bits = wish->bits,
                        .beta = wish->beta,
                        .max_fn = wish->max_fn,
                        .feedback = share};
    struct tepal_filter *bloom = NULL;
    int code = set_bloom(s->args, known, s->digest, wish, &bloom);
    code = code == EXIT_YES ? set_retouch(s->args, known, s->digest, wish, bloom, true, &v.made)
                            : code;
    if (code == EXIT_YES) {
        stopset_stop_at(s, v.made.filter);
        struct trial t = stopset_try(s, cycle, share);
        stopset_tell(s, &v, &t);
        feed_back(s, cycle, share, known);
    }
    tepal_filter_free(bloom);
    tepal_filter_free(v.made.filter);
    return code;
}

int stopset_fresh(struct stopset *s, const struct set_wish *wish, double share)
{
    struct sightings known;
    int code = sightings_copy(&known, &s->seen) ? EXIT_YES : args_no_memory(s->args);
    stopset_begin(s);
    known.least = arg_real(s->args, "least-ends", SIGHTINGS_HALF);
    for (size_t c = 0; c < s->cycles && code == EXIT_YES; c++) {
        if (s->cycle[c] > s->learn) {
            code = fresh_cycle(s, wish, share, s->cycle[c], &known);
        }
    }
    sightings_free(&known);
    return code;
}

/*
 * trial.c: a set against the routes of a cycle. Which node stops a route depends on the node alone,
 * so a set is asked once for each node, and the replay looks answers up.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "statistics/random.h"
#include "stopset/stopset.h"

void stopset_stop_at(struct stopset *s, const struct tepal_filter *filter)
{
    for (uint32_t node = 0; node < s->nodes; node++) {
        s->stops[node] = tepal_filter_query(filter, s->digest[node]);
    }
}

bool stopset_in_full(const struct stopset *s, const struct route *route, double share)
{
    uint64_t which = (uint64_t)route->monitor << 32 | route->target;
    uint64_t seed = random_mix(arg_whole(s->args, "seed", 1) + RANDOM_STEP * route->cycle);
    return random_unit(random_mix(which ^ seed)) < share;
}

/* Every selected route of a cycle against a set, but those that are traced in full. */
static struct trial replay(const struct stopset *s, uint64_t cycle, double in_full,
                           const bool *stops, bool *nodes, bool *links)
{
    struct trial t = {.cycle = cycle};
    struct replay_seen seen = {s->link, nodes, links};
    memset(nodes, 0, s->nodes * sizeof *nodes);
    memset(links, 0, s->links * sizeof *links);
    for (size_t i = 0; i < s->kept_count; i++) {
        const struct route *r = &s->routes.route[s->kept[i]];
        if (r->cycle != cycle) {
            continue;
        }
        t.destinations++; /* a monitor traces a destination once in a cycle */
        if (in_full > 0 && stopset_in_full(s, r, in_full)) {
            t.in_full++;
        } else {
            replay_route(&s->routes, r, stops, &t.outcome, &seen);
        }
    }
    return t;
}

static double hits_of(const struct trial *t)
{
    return t->destinations == 0
               ? 0
               : (double)(t->outcome.collision + t->in_full) / (double)t->destinations;
}

struct trial stopset_try(struct stopset *s, uint64_t cycle, double in_full)
{
    (void)replay(s, cycle, in_full, s->member, s->listed_nodes, s->listed_links);
    struct trial t = replay(s, cycle, in_full, s->stops, s->seen_nodes, s->seen_links);
    t.nodes_missed = replay_missed(s->listed_nodes, s->seen_nodes, s->nodes);
    t.links_missed = replay_missed(s->listed_links, s->seen_links, s->links);
    s->hits += hits_of(&t);
    t.probing = ++s->probing;
    /* the cycle learned hits every destination */
    t.hits_so_far = (1 + s->hits) / (1 + (double)s->probing);
    return t;
}

void stopset_begin(struct stopset *s)
{
    s->probing = 0;
    s->hits = 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The set, and how it was retouched, for people. */
static const char *set_name(const struct variant *v, char *room, size_t size)
{
    if (isfinite(v->beta)) {
        snprintf(room, size, "%s %g %%", v->set, v->beta * 100);
    } else if (isfinite(v->max_fn)) {
        snprintf(room, size, "%s fn %g %%", v->set, v->max_fn * 100);
    } else {
        snprintf(room, size, "%s", v->set);
    }
    return room;
}

static const char *method_of(const struct stopset *s, const struct variant *v)
{
    const char *method = arg(s->args, "method")->text;
    bool retouched = strcmp(v->set, "retouched") == 0 || strcmp(v->set, "fresh") == 0;
    return !retouched ? NULL : method != NULL ? method : "sacrifice";
}

static void tell_set(struct stopset *s, const struct variant *v, uint64_t cycle)
{
    struct report *r = &s->report;
    double bits = v->bits == 0 ? s->list_bits : (double)v->bits;
    char room[64];
    report_whole(r, "cycle", cycle, column("cycle", -5, NULL));
    report_text(r, "set", v->set, NO_TEXT);
    report_text(r, NULL, set_name(v, room, sizeof room), text_column("set", -17, NULL));
    report_whole(r, "addresses", s->members, JSON_ONLY);
    report_whole(r, "bits", (uint64_t)bits, column("bits", 7, NULL));
    report_whole(r, "hashes", v->made.hashes, NO_TEXT);
    report_real(r, "compression", s->list_bits / bits,
                column_tsv(column("ratio", 5, "%.2f"), "%.6g"));
    report_text(r, "method", method_of(s, v), JSON_ONLY);
    report_real(r, "beta", v->beta, column_tsv(NO_TEXT, "%.6g"));
    report_real(r, "max_fn", v->max_fn, column_tsv(NO_TEXT, "%.6g"));
    report_whole(r, "false_positives", v->made.false_positives, column("fp", 5, NULL));
    report_whole(r, "troublesome", v->made.troublesome, NO_TEXT);
    report_whole(r, "false_negatives", (uint64_t)v->made.false_negatives, column("fn", 6, NULL));
}

/* Bits that the monitors send to the server, as lists or as filters, and that it sends to them. */
static void tell_load(struct stopset *s, const struct variant *v)
{
    struct report *r = &s->report;
    double monitors = (double)s->routes.monitors.count;
    double bits = v->bits == 0 ? s->list_bits : (double)v->bits;
    report_real(r, "up_lists", s->lists_up, column_tsv(NO_TEXT, "%.0f"));
    report_real(r, "up_filters", v->bits == 0 ? NAN : monitors * bits, column_tsv(NO_TEXT, "%.0f"));
    report_real(r, "down", monitors * bits, column_tsv(NO_TEXT, "%.0f"));
}

void stopset_tell(struct stopset *s, const struct variant *v, const struct trial *t)
{
    struct report *r = &s->report;
    const struct replay_outcome *o = &t->outcome;
    double all = o->routes == 0 ? 1 : (double)o->routes;
    report_object(r, NULL);
    tell_set(s, v, t->cycle);
    report_whole(r, "routes", o->routes, NO_TEXT);
    report_real(r, "success", (double)o->success / all, column("success", 7, "%.4f"));
    report_real(r, "stopping_short", (double)o->stopped_short / all, column("short", 6, "%.4f"));
    report_real(r, "collision", (double)o->collision / all, column("coll.", 6, "%.4f"));
    report_real(r, "nodes_missed", t->nodes_missed, column("nodes-", 6, "%.4f"));
    report_real(r, "links_missed", t->links_missed, column("links-", 6, "%.4f"));
    report_whole(r, "aimed", v->made.aimed, NO_TEXT);
    report_real(r, "feedback", v->feedback, column_tsv(NO_TEXT, "%.6g"));
    report_whole(r, "in_full", t->in_full, NO_TEXT);
    report_whole(r, "probes", o->probes, NO_TEXT);
    report_whole(r, "probes_saved", o->probes_in_full - o->probes, NO_TEXT);
    report_real(r, "hits", hits_of(t), NO_TEXT);
    report_whole(r, "probing", t->probing, NO_TEXT);
    report_real(r, "hits_so_far", t->hits_so_far, NO_TEXT);
    tell_load(s, v);
    report_end(r);
}

void stopset_tell_all(struct stopset *s, const struct variant *v)
{
    stopset_begin(s);
    for (size_t c = 0; c < s->cycles; c++) {
        if (s->cycle[c] > s->learn) {
            struct trial t = stopset_try(s, s->cycle[c], 0);
            stopset_tell(s, v, &t);
        }
    }
}

int stopset_bloom(struct stopset *s, const struct set_wish *wish, struct tepal_filter **bloom,
                  struct variant *v)
{
    int code = set_bloom(s->args, &s->seen, s->digest, wish, bloom);
    *v = (struct variant){.set = "bloom", .bits = wish->bits, .beta = NAN, .max_fn = NAN};
    if (code == EXIT_YES) {
        v->made.hashes = tepal_filter_params(*bloom)->hashes;
        v->made.false_positives = set_false_positives(&s->seen, s->digest, *bloom, &v->made.cut);
        v->made.troublesome = 0;
    }
    return code;
}

/* aspects.c: Table V: the list, the Bloom filter and the retouched one beside each other. */
#include "stopset/aspects.h"

#include <math.h>

#include "stopset/stopset.h"

void aspects(const struct aspects_of *set, const struct aspects_of *list, bool aspect[ASPECTS])
{
    aspect[ASPECT_SUCCESS] = set->success >= 0.9 * list->success;
    aspect[ASPECT_DISCOVERY] = set->nodes_missed <= 0.1 && set->links_missed <= 0.1;
    aspect[ASPECT_COMPRESSION] = set->bits <= list->bits / 2;
    aspect[ASPECT_NO_COLLISION] = set->collision <= list->collision;
}

static struct aspects_of measure(struct stopset *s, uint64_t cycle, double bits)
{
    struct trial t = stopset_try(s, cycle, 0);
    double routes = t.outcome.routes == 0 ? 1 : (double)t.outcome.routes;
    return (struct aspects_of){(double)t.outcome.success / routes,
                               (double)t.outcome.collision / routes, t.nodes_missed, t.links_missed,
                               bits};
}

static void tell(struct report *r, const char *set, uint64_t bits, const bool aspect[ASPECTS])
{
    static const char *const names[] = {"success", "discovery", "compression", "no_collision"};
    static const char *const bad[] = {NULL, "missed", "load", "collision"};
    static const int width[] = {7, 9, 11, 12};
    report_object(r, NULL);
    report_text(r, "set", set, column("set", -10, NULL));
    report_whole(r, "bits", bits, column("bits", 7, NULL));
    for (int i = 0; i < ASPECTS; i++) {
        report_flag(r, names[i], aspect[i], NO_TEXT);
        report_text(r, NULL, aspect[i] ? "X" : "", text_column(names[i], width[i], NULL));
    }
    for (int i = 1; i < ASPECTS; i++) {
        report_flag(r, bad[i], !aspect[i], NO_TEXT);
        report_text(r, NULL, aspect[i] ? "" : "X", text_column(bad[i], 9, NULL));
    }
    report_end(r);
}

int stopset_table(struct stopset *s, const struct set_wish *wish)
{
    struct tepal_filter *bloom = NULL;
    struct variant v;
    struct aspects_of of[3];
    bool aspect[ASPECTS];
    uint64_t cycle = 0;
    for (size_t c = s->cycles; c-- > 0;) {
        cycle = s->cycle[c] > s->learn ? s->cycle[c] : cycle;
    }
    for (uint32_t node = 0; node < s->nodes; node++) {
        s->stops[node] = s->member[node];
    }
    of[0] = measure(s, cycle, s->list_bits);
    int code = stopset_bloom(s, wish, &bloom, &v);
    if (code == EXIT_YES) {
        stopset_stop_at(s, bloom);
        of[1] = measure(s, cycle, (double)wish->bits);
        code = set_retouch(s->args, &s->seen, s->digest, wish, bloom, true, &v.made);
    }
    if (code == EXIT_YES) {
        stopset_stop_at(s, v.made.filter);
        of[2] = measure(s, cycle, (double)wish->bits);
        static const char *const sets[] = {"list", "bloom", "retouched"};
        for (int i = 0; i < 3; i++) {
            aspects(&of[i], &of[0], aspect);
            tell(&s->report, sets[i], (uint64_t)of[i].bits, aspect);
        }
    }
    tepal_filter_free(v.made.filter);
    tepal_filter_free(bloom);
    return code;
}

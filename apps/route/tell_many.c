/*
 * tell_many.c: what came of many paths in one network: a row a path (TSV), totals and the worst
 * path (text, JSON).
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>

#include "route/route.h"

void route_tell_path(const struct route_job *job)
{
    struct report *r = &job->app->report;
    const struct graph *g = &job->graph;
    char room[GRAPH_NAME_ROOM];
    if (!report_is(r, REPORT_TSV)) {
        return;
    }
    report_object(r, NULL);
    report_text(r, "from", graph_name(g, job->plan.root, room), TSV_ONLY);
    report_text(r, "to", graph_name(g, job->plan.to[0], room), TSV_ONLY);
    report_whole(r, "receivers", job->plan.to_count, TSV_ONLY);
    report_whole(r, "n", job->plan.members, TSV_ONLY);
    report_whole(r, "t", job->plan.others, TSV_ONLY);
    report_real(r, "parts", route_mean(job, (double)job->path.parts), TSV_ONLY);
    route_tell_columns(r, job, &job->path);
    report_end(r);
}

/* The worst path for one kind of header. */
static void tell_worst(const struct route_job *job, enum packet_kind kind)
{
    struct report *r = &job->app->report;
    const struct graph *g = &job->graph;
    const struct route_path *worst = &job->worst[kind];
    const struct demand *d = &job->demands.list[worst->demand];
    const struct route_sums *s = &worst->sums[kind];
    char from[GRAPH_NAME_ROOM];
    char to[GRAPH_NAME_ROOM];
    graph_name(g, d->from, from);
    graph_name(g, job->demands.to[d->first], to);
    report_object(r, route_kind_name[kind]);
    report_text(r, "from", from, JSON_ONLY);
    report_text(r, "to", to, JSON_ONLY);
    report_whole(r, "receivers", d->count, JSON_ONLY);
    report_whole(r, "n", worst->members, JSON_ONLY);
    report_whole(r, "t", worst->others, JSON_ONLY);
    report_real(r, "parts", route_mean(job, (double)worst->parts), JSON_ONLY);
    report_real(r, "false", route_mean(job, s->false_links), JSON_ONLY);
    report_real(r, "wasted", route_mean(job, s->wasted), JSON_ONLY);
    report_end(r);
    report_line(r, "%-11s%" PRIu32 " link%s from %s to %s", route_kind_words[kind], worst->members,
                SAY_S(worst->members), from, to);
    if (d->count > 1) {
        report_line(r, " and %" PRIu32 " more", d->count - 1);
    }
    report_line(r, ": %.6g false, %.3g wasted\n", route_mean(job, s->false_links),
                route_mean(job, s->wasted));
}

void route_tell_many(const struct route_job *job)
{
    struct report *r = &job->app->report;
    const struct graph *g = &job->graph;
    uint64_t paths = job->demands.count;
    double packets = (double)job->app->allocations * (double)paths;
    if (report_is(r, REPORT_TSV)) {
        return;
    }
    report_object(r, NULL);
    route_tell_network(job);
    report_whole(r, "paths", paths, JSON_ONLY);
    report_whole(r, "headers", job->all_parts, JSON_ONLY);
    report_whole(r, "n", job->members, JSON_ONLY);
    report_whole(r, "t", job->others, JSON_ONLY);
    report_whole(r, "longest", job->longest, JSON_ONLY);
    report_whole(r, "seed", job->app->seed, JSON_ONLY);
    report_whole(r, "allocations", job->app->allocations, JSON_ONLY);
    report_whole(r, "ttl", job->setting.ttl, JSON_ONLY);
    if (report_is(r, REPORT_JSON)) {
        route_tell_kind(job, PACKET_BLOOM, false);
        route_tell_kind(job, PACKET_YESNO, false);
    } else {
        report_line(r, "%-11s%s: %" PRIu32 " nodes, %" PRIu32 " edge%s\n", "network", job->name,
                    g->nodes, g->edges, SAY_S(g->edges));
        report_line(r,
                    "%-11s%" PRIu64 ", of %.3g links on average, %" PRIu32 " at most; %" PRIu64
                    " header%s\n",
                    "paths", paths, (double)job->members / (double)paths, job->longest,
                    job->all_parts, SAY_S(job->all_parts));
        report_line(r, "%-11s%" PRIu64 " other link%s their nodes\n", "beside", job->others,
                    job->others == 1 ? " leaves" : "s leave");
        route_print_kinds(job);
        report_line(r, "\npaths without a false link\n");
        for (enum packet_kind k = 0; k < PACKET_KINDS; k++) {
            report_line(r, "%-11s%.4g %%\n", route_kind_words[k],
                        100 * job->sums[k].clean / packets);
        }
        report_line(r, "\nthe worst path\n");
    }
    report_object(r, "worst");
    tell_worst(job, PACKET_BLOOM);
    tell_worst(job, PACKET_YESNO);
    report_end(r);
    report_end(r);
}

/*
 * tell.c: what `tepal app route` found: an object a network (JSON), a row (TSV, and in text if
 * there are several), or one network in words.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tepal/papers.h>

#include "route/links.h"
#include "route/route.h"
#include "route/tables.h"

const char *const route_kind_name[PACKET_KINDS] = {"bloom", "yesno"};
const char *const route_kind_words[PACKET_KINDS] = {"Bloom", "yes-no"};

double route_mean(const struct route_job *job, double sum)
{
    return sum / (double)job->app->allocations;
}

/* The standard error of the mean number of false links; NaN if one header cannot tell. */
static double standard_error(const struct route_job *job, enum packet_kind kind)
{
    double n = (double)job->app->allocations;
    double m = job->sums[kind].false_links / n;
    return n < 2 ? (double)NAN : sqrt(fmax(job->sums[kind].squares / n - m * m, 0) / (n - 1));
}

/* The mean that the model predicts for the Bloom header of a path that is not split. */
static double expected(const struct route_job *job)
{
    const struct tepal_params *p = &job->setting.params[PACKET_BLOOM];
    return job->plan.others *
           tepal_bloom_fp(TEPAL_LAYOUT_FLAT, p->positions, p->cells, job->plan.members, p->hashes);
}

static double rate(const struct route_job *job, enum packet_kind kind)
{
    return job->others == 0 ? 0
                            : route_mean(job, job->sums[kind].false_links) / (double)job->others;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void tell_name(struct report *r, const char *name, const struct graph *g, uint32_t node)
{
    char room[GRAPH_NAME_ROOM];
    report_text(r, name, graph_name(g, node, room), JSON_ONLY);
}

/* [FROM, TO] */
static void tell_link(struct report *r, const struct graph *g, uint32_t link)
{
    report_list(r, NULL);
    tell_name(r, NULL, g, g->link[link].from);
    tell_name(r, NULL, g, g->link[link].to);
    report_end(r);
}

static uint64_t yes_bits(const struct tepal_params *p)
{
    return p->cells - p->yesno.no_filters * p->yesno.no_bits;
}

void route_tell_kind(const struct route_job *job, enum packet_kind kind, bool links)
{
    struct report *r = &job->app->report;
    const struct packet_setting *s = &job->setting;
    const struct tepal_params *p = &s->params[kind];
    const struct route_sums *sums = &job->sums[kind];
    double packets = (double)job->app->allocations * (double)job->demands.count;
    report_object(r, route_kind_name[kind]);
    report_whole(r, "bits", p->cells, JSON_ONLY);
    report_whole(r, "hashes", p->hashes, JSON_ONLY);
    if (kind == PACKET_YESNO) {
        report_whole(r, "yes_bits", yes_bits(p), JSON_ONLY);
        report_whole(r, "no_bits", p->yesno.no_bits, JSON_ONLY);
        report_whole(r, "no_filters", p->yesno.no_filters, JSON_ONLY);
        report_whole(r, "no_hashes", p->yesno.no_hashes, JSON_ONLY);
        report_flag(r, "own_seeds", p->yesno.own_seeds != 0, JSON_ONLY);
        report_whole(r, "salts", s->how.salts, JSON_ONLY);
        report_text(r, "method", tepal_yesno_method_name(s->how.method), JSON_ONLY);
    } else if (links) {
        report_real(r, "expected", expected(job), JSON_ONLY);
    }
    report_real(r, "false", route_mean(job, sums->false_links), JSON_ONLY);
    if (links) {
        report_real(r, "standard_error", standard_error(job, kind), JSON_ONLY);
    }
    report_real(r, "rate", rate(job, kind), JSON_ONLY);
    report_real(r, "taken", route_mean(job, sums->taken), JSON_ONLY);
    report_real(r, "wasted", route_mean(job, sums->wasted), JSON_ONLY);
    report_real(r, "expired", route_mean(job, sums->expired), JSON_ONLY);
    report_real(r, "loops", sums->loops / packets, JSON_ONLY);
    report_real(r, "clean", sums->clean / packets, JSON_ONLY);
    if (links) {
        report_list(r, "false_links");
        for (uint32_t l = 0; l < job->graph.links; l++) {
            if ((job->use[l] & draw_false(kind)) != 0) {
                tell_link(r, &job->graph, l);
            }
        }
        report_end(r);
    }
    report_end(r);
}

void route_tell_network(const struct route_job *job)
{
    struct report *r = &job->app->report;
    const struct graph *g = &job->graph;
    report_text(r, "network", job->name, JSON_ONLY);
    report_whole(r, "nodes", g->nodes, JSON_ONLY);
    report_whole(r, "edges", g->edges, JSON_ONLY);
    report_whole(r, "links", g->links, JSON_ONLY);
    report_whole(r, "left_out", g->loops, JSON_ONLY);
}

/* The parts of the path under the first seed, and their headers. */
static void tell_parts(const struct route_job *job)
{
    struct report *r = &job->app->report;
    struct tepal_header_layout layout;
    char hex[TABLES_HEX];
    (void)tepal_header_layout_init(&job->setting.params[PACKET_YESNO], &layout, NULL);
    report_list(r, "parts");
    for (size_t i = 0; i < job->parts.count; i++) {
        const struct route_part *part = &job->parts.part[i];
        report_object(r, NULL);
        tell_name(r, "from", &job->graph, job->graph.link[job->plan.member[part->first]].from);
        report_whole(r, "n", part->count, JSON_ONLY);
        report_whole(r, "false", part->left, JSON_ONLY);
        report_whole(r, "salt", part->salt, JSON_ONLY);
        report_text(r, "header", tables_hex(&layout, part->header, hex), JSON_ONLY);
        report_end(r);
    }
    report_end(r);
}

static void tell_json(const struct route_job *job)
{
    struct report *r = &job->app->report;
    const struct graph *g = &job->graph;
    const struct packet_plan *plan = &job->plan;
    report_object(r, NULL);
    route_tell_network(job);
    tell_name(r, "from", g, plan->root);
    report_list(r, "to");
    for (size_t i = 0; i < plan->to_count; i++) {
        tell_name(r, NULL, g, plan->to[i]);
    }
    report_end(r);
    report_whole(r, "n", plan->members, JSON_ONLY);
    report_whole(r, "t", plan->others, JSON_ONLY);
    report_list(r, "path");
    for (uint32_t i = 0; i < plan->members; i++) {
        tell_link(r, g, plan->member[i]);
    }
    report_end(r);
    tell_parts(job);
    report_whole(r, "seed", job->app->seed, JSON_ONLY);
    report_whole(r, "allocations", job->app->allocations, JSON_ONLY);
    report_whole(r, "ttl", job->setting.ttl, JSON_ONLY);
    route_tell_kind(job, PACKET_BLOOM, true);
    route_tell_kind(job, PACKET_YESNO, true);
    report_end(r);
}

/* ---- a row a network ------------------------------------------------------------------------- */

void route_tell_columns(struct report *r, const struct route_job *job,
                        const struct route_path *path)
{
    static const char *const names[PACKET_KINDS][5] = {
        {"bloom_false", "bloom_rate", "bloom_taken", "bloom_wasted", "bloom_loops"},
        {"yesno_false", "yesno_rate", "yesno_taken", "yesno_wasted", "yesno_loops"}};
    for (enum packet_kind k = 0; k < PACKET_KINDS; k++) {
        const struct route_sums *s = &path->sums[k];
        double false_links = route_mean(job, s->false_links);
        report_real(r, names[k][0], false_links,
                    column("false", k == PACKET_BLOOM ? 9 : 10, "%.4f"));
        report_real(r, names[k][1], path->others == 0 ? 0 : false_links / path->others, TSV_ONLY);
        report_real(r, names[k][2], route_mean(job, s->taken), TSV_ONLY);
        report_real(r, names[k][3], route_mean(job, s->wasted), column("wasted", 8, "%.3g"));
        report_real(r, names[k][4], route_mean(job, s->loops), column("loops", 9, "%.2f %%"));
    }
}

static void tell_row(const struct route_job *job)
{
    struct report *r = &job->app->report;
    if (job->app->rows == 0) {
        report_line(r, "%40s %28s %29s\n", "", "------- Bloom header -------",
                    "------- yes-no header -------");
    }
    report_object(r, NULL);
    report_text(r, "network", job->name, column("network", -24, NULL));
    report_whole(r, "nodes", job->graph.nodes, column("nodes", 5, NULL));
    report_whole(r, "edges", job->graph.edges, TSV_ONLY);
    report_whole(r, "n", job->plan.members, column("n", 4, NULL));
    report_whole(r, "t", job->plan.others, column("t", 4, NULL));
    report_real(r, "bloom_expected", expected(job), TSV_ONLY);
    route_tell_columns(r, job, &job->path);
    report_end(r);
}

/* ---- one network, in words ------------------------------------------------------------------- */

static void print_path(const struct route_job *job)
{
    struct out *out = job->app->report.out;
    const struct graph *g = &job->graph;
    const struct packet_plan *plan = &job->plan;
    char room[GRAPH_NAME_ROOM];
    char clean[GRAPH_NAME_ROOM];
    out_format(out, "%-11s%" PRIu32 " link%s from ", plan->to_count == 1 ? "path" : "tree",
               plan->members, SAY_S(plan->members));
    out_text(out, say_clean(graph_name(g, plan->root, room), clean, sizeof clean));
    for (size_t i = 0; i < plan->to_count; i++) {
        out_text(out, i == 0 ? " to " : ", ");
        out_text(out, say_clean(graph_name(g, plan->to[i], room), clean, sizeof clean));
    }
    out_format(out, "\n%-11s", "by");
    links_print(out, g, graph_name, plan->member, plan->members);
}

static void print_false(const struct route_job *job, enum packet_kind kind)
{
    struct report *r = &job->app->report;
    const struct graph *g = &job->graph;
    char from[GRAPH_NAME_ROOM];
    char to[GRAPH_NAME_ROOM];
    uint32_t count = 0;
    for (uint32_t l = 0; l < g->links; l++) {
        if ((job->use[l] & draw_false(kind)) != 0) {
            report_line(r, "%-11s%s > %s\n", count++ > 0 ? "" : route_kind_words[kind],
                        graph_name(g, g->link[l].from, from), graph_name(g, g->link[l].to, to));
        }
    }
    if (count == 0) {
        report_line(r, "%-11snone\n", route_kind_words[kind]);
    }
}

/* A row of the table of the two headers. */
static void print_kind(const struct route_job *job, enum packet_kind kind)
{
    struct report *r = &job->app->report;
    const struct packet_setting *s = &job->setting;
    const struct tepal_params *p = &s->params[kind];
    const struct route_sums *sums = &job->sums[kind];
    double packets = (double)job->app->allocations * (double)job->demands.count;
    char what[128];
    if (kind == PACKET_BLOOM) {
        snprintf(what, sizeof what, "%" PRIu32 " hash%s", p->hashes, p->hashes == 1 ? "" : "es");
    } else {
        snprintf(what, sizeof what,
                 "%" PRIu64 " bits, %" PRIu32 "; %" PRIu64 " of %" PRIu64 ", %" PRIu64 "; %s",
                 yes_bits(p), p->hashes, p->yesno.no_filters, p->yesno.no_bits, p->yesno.no_hashes,
                 tepal_yesno_method_name(s->how.method));
    }
    report_object(r, NULL);
    report_text(r, NULL, route_kind_words[kind], text_column("header", -7, NULL));
    report_text(r, NULL, what, text_column("", -38, NULL));
    report_real(r, NULL, route_mean(job, sums->false_links), text_column("false", 8, "%.4f"));
    report_real(r, NULL, rate(job, kind), text_column("rate", 9, "%.4f %%"));
    report_real(r, NULL, route_mean(job, sums->taken), text_column("taken", 8, "%.4f"));
    report_real(r, NULL, route_mean(job, sums->wasted), text_column("wasted", 8, "%.3g"));
    report_real(r, NULL, sums->loops / packets, text_column("loops", 8, "%.2f %%"));
    report_end(r);
}

void route_print_kinds(const struct route_job *job)
{
    const struct tepal_params *p = &job->setting.params[PACKET_YESNO];
    struct report *r = &job->app->report;
    report_line(r,
                "%-11s%" PRIu64 " of each kind%s, %" PRIu64 " bits; seeds from %" PRIu64
                ", time to live %" PRIu32 "\n",
                "headers", job->app->allocations, job->app->many ? " per path" : "", p->cells,
                job->app->seed, job->setting.ttl);
    if (p->yesno.own_seeds != 0 || job->setting.how.salts > 1) {
        report_line(r, "%-11s%s%s", "hashing", p->yesno.own_seeds != 0 ? "own seeds" : "",
                    p->yesno.own_seeds != 0 && job->setting.how.salts > 1 ? ", " : "");
        if (job->setting.how.salts > 1) {
            report_line(r, "the best of up to %" PRIu32 " salts", job->setting.how.salts);
        }
        report_line(r, "\n");
    }
    report_line(r, "\n");
    print_kind(job, PACKET_BLOOM);
    print_kind(job, PACKET_YESNO);
}

/* The headers of the first seed, and the nodes where one follows the other. */
static void print_parts(const struct route_job *job)
{
    struct report *r = &job->app->report;
    const struct graph *g = &job->graph;
    struct tepal_header_layout layout;
    char room[GRAPH_NAME_ROOM];
    char hex[TABLES_HEX];
    (void)tepal_header_layout_init(&job->setting.params[PACKET_YESNO], &layout, NULL);
    report_line(r, "\nyes-no header%s of seed %" PRIu64 "\n", SAY_S(job->parts.count),
                job->app->seed);
    for (size_t i = 0; i < job->parts.count; i++) {
        const struct route_part *part = &job->parts.part[i];
        const uint32_t *link = job->plan.member + part->first;
        report_line(r, "%-11zu%" PRIu32 " link%s from %s", i + 1, part->count, SAY_S(part->count),
                    graph_name(g, g->link[link[0]].from, room));
        if (job->plan.to_count == 1) {
            report_line(r, " to %s", graph_name(g, g->link[link[part->count - 1]].to, room));
        }
        if (job->setting.how.salts > 1) {
            report_line(r, ", salt %" PRIu32, part->salt);
        }
        report_line(r, "\n%-11s%s\n", "", tables_hex(&layout, part->header, hex));
    }
}

static void print_one(const struct route_job *job)
{
    struct report *r = &job->app->report;
    const struct graph *g = &job->graph;
    report_line(r, "%-11s%s: %" PRIu32 " nodes, %" PRIu32 " edge%s", "network", job->name, g->nodes,
                g->edges, SAY_S(g->edges));
    if (g->loops > 0) {
        report_line(r, ", %" PRIu32 " from a node to itself left out", g->loops);
    }
    report_line(r, "\n");
    print_path(job);
    report_line(r, "%-11s%" PRIu32 " other links leave its nodes\n", "beside", job->plan.others);
    route_print_kinds(job);
    report_line(r, "\nfalse links that the packets of seed %" PRIu64 " take\n", job->app->seed);
    print_false(job, PACKET_BLOOM);
    print_false(job, PACKET_YESNO);
    if (arg(job->app->args, "split")->given || arg(job->app->args, "headers")->given) {
        print_parts(job);
    }
}

void route_tell(const struct route_job *job)
{
    if (report_is(&job->app->report, REPORT_JSON)) {
        tell_json(job);
    } else if (report_is(&job->app->report, REPORT_TSV) || job->app->networks.count > 1) {
        tell_row(job);
    } else if (job->app->report.out != NULL) {
        print_one(job);
    }
}

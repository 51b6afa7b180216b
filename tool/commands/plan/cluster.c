/*
 * cluster.c: a filter in parts on many nodes (docs/redis.md). Servers move a part in one piece, so
 * parts are small; and their names choose their slots by a hash, so there are many for each node.
 *
 * Keys fall to P parts at random: a part has n/P of them with a deviation of sqrt(n/P), and is made
 * for six deviations more. Parts fall to N nodes in the same way: the number X on one node is
 * binomial, B(P, 1/N), and the fullest of N has at most x with probability P[X <= x]^N, nearly.
 */
#include "commands/plan/cluster.h"

#include <inttypes.h>
#include <math.h>

#include "cli/command.h"
#include "output/render.h"
#include "server/login.h"

#define PART_BYTES     ((uint64_t)1 << 27)
#define PARTS_PER_NODE 16
#define DEVIATIONS     6

static uint64_t round_up(double least)
{
    uint64_t parts = 1;
    while ((double)parts < least && parts <= LOGIN_PARTS) {
        parts *= 2; /* part i of P is the parts 2i and 2i + 1 of 2P */
    }
    return parts;
}

/* The median of the fullest node's parts: the least x with P[X <= x]^N >= 1/2. */
static uint64_t fullest(uint64_t parts, uint64_t nodes)
{
    double p = 1 / (double)nodes;
    double n = (double)parts;
    double below = 0;
    uint64_t x = 0;
    for (; x < parts && nodes > 1; x++) {
        double k = (double)x;
        double log_share =
            lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p);
        below += exp(log_share);
        if (below >= 1 || (double)nodes * log(below) >= -log(2)) {
            break;
        }
    }
    return nodes > 1 ? x : parts;
}

/* The wish for one part. */
static struct tepal_wish share(const struct tepal_wish *wish, uint64_t keys, uint64_t parts)
{
    struct tepal_wish one = *wish;
    one.keys = keys;
    one.bits = isnan(wish->fp) ? wish->bits / parts : 0; /* a stated rate decides */
    one.keys_first = wish->keys_first == 0 ? 0 : wish->keys_first / parts + 1;
    one.known_negatives = wish->known_negatives == 0 ? 0 : wish->known_negatives / parts + 1;
    return one;
}

int cluster_plan(const struct args *args, const struct tepal_wish *wish,
                 const struct tepal_plans *plans, uint64_t nodes, struct cluster *out)
{
    static struct tepal_plans each; /* large */
    struct tepal_error error = {.why = ""};
    double bytes = (double)plans->plan[0].bits / 8;
    *out = (struct cluster){.nodes = nodes};
    out->parts = round_up(fmax(bytes / (double)PART_BYTES, PARTS_PER_NODE * (double)nodes));
    for (;; out->parts *= 2) {
        out->keys = (double)plans->keys / (double)out->parts;
        out->deviation = sqrt(out->keys);
        out->reserve = (uint64_t)ceil(out->keys + DEVIATIONS * out->deviation);
        struct tepal_wish one = share(wish, out->reserve, out->parts);
        if (out->parts > LOGIN_PARTS) {
            return args_wrong(args, "--cluster: more than %d parts would be needed", LOGIN_PARTS);
        }
        if (tepal_plan(&one, &each, &error) != TEPAL_OK || !each.plan[0].feasible) {
            return args_wrong(args,
                              "--cluster: %" PRIu64 " parts cannot be planned as the whole%s%s",
                              out->parts, error.why[0] == 0 ? "" : ": ", error.why);
        }
        out->bytes = (each.plan[0].bits + 7) / 8;
        if (out->bytes <= PART_BYTES) {
            break;
        }
    }
    out->fullest = fullest(out->parts, nodes);
    out->evened = (out->parts + nodes - 1) / nodes;
    return EXIT_YES;
}

void cluster_tell(struct report *report, const struct cluster *c)
{
    char part[48];
    char all[48];
    char node[3][48];
    double mean = (double)c->parts / (double)c->nodes;
    report_object(report, "cluster");
    report_whole(report, "nodes", c->nodes, JSON_ONLY);
    report_whole(report, "parts", c->parts, JSON_ONLY);
    report_real(report, "part_keys", c->keys, JSON_ONLY);
    report_real(report, "part_keys_deviation", c->deviation, JSON_ONLY);
    report_whole(report, "part_reserve", c->reserve, JSON_ONLY);
    report_whole(report, "part_bytes", c->bytes, JSON_ONLY);
    report_whole(report, "bytes", c->bytes * c->parts, JSON_ONLY);
    report_real(report, "node_parts", mean, JSON_ONLY);
    report_whole(report, "fullest_parts", c->fullest, JSON_ONLY);
    report_whole(report, "evened_parts", c->evened, JSON_ONLY);
    report_end(report);
    report_line(report,
                "\ncluster    %" PRIu64 " parts (--parts %" PRIu64 ") on %" PRIu64 " node%s\n",
                c->parts, c->parts, c->nodes, SAY_S(c->nodes));
    report_line(report, "part       %.0f keys, give or take %.0f; made for %" PRIu64 ": %s\n",
                c->keys, c->deviation, c->reserve, render_bytes(c->bytes, part, sizeof part));
    report_line(report, "all parts  %s, and as much for every replica\n",
                render_bytes(c->bytes * c->parts, all, sizeof all));
    report_line(report, "node       %.3g parts, %s on average\n", mean,
                render_bytes((uint64_t)(mean * (double)c->bytes), node[0], sizeof node[0]));
    report_line(report,
                "fullest    about %" PRIu64 " parts, %s; %" PRIu64
                " parts, %s after moving slots\n",
                c->fullest, render_bytes(c->fullest * c->bytes, node[1], sizeof node[1]), c->evened,
                render_bytes(c->evened * c->bytes, node[2], sizeof node[2]));
    report_line(report,
                "lookups    ask one part: a node gets 1 in %" PRIu64
                ", the fullest 1 in %.3g, after moving slots 1 in %.3g\n",
                c->nodes, (double)c->parts / (double)c->fullest,
                (double)c->parts / (double)c->evened);
}

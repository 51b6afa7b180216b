/*
 * flows.c: which filter should keep the flows of a link? The packets are replayed against several
 * filters of equal memory and against an exact table, which is the truth:
 *
 *     packet ---> query                      found, and it should not be: a false positive
 *                                            not found, and it should be: a false negative
 *            ---> a flow begins              add it everywhere
 *            ---> FIN, RST, or idle          remove it everywhere
 *
 * A flow begins with a SYN (TCP) or its first packet (UDP; TCP too with --insert first). It ends
 * with a FIN or RST, or when it has been idle. A FIN or RST of a flow that is not in the table,
 * whose start was never seen or which has ended already, is a *wrong removal*: a device that has
 * only the filter cannot tell, and asks the filter to remove it. Where the filter finds the flow it
 * takes something from the others, and some of these are no longer found: that is the drift that
 * the report shows, window by window.
 *
 * The kinds: a counting filter; multichoice ones that remove, that keep, and that remove members by
 * receipt (strangers have none, and are removed as by `remove`); and a fingerprint filter.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tepal/tepal.h>

#include "cli/command.h"
#include "output/out.h"
#include "packets.h"
#include "output/render.h"
#include "files/atomic_file.h"
#include "pictures/svg.h"
#include "cli/options.h"

#define NOBODY  UINT32_MAX
#define PROBES  10000 /* strangers that are asked for at the end of a window */
#define WINDOWS 20

/* ---- the truth ------------------------------------------------------------------------------- */

/* A flow in the exact table. Those present are in a list, the longest idle first. */
struct flow {
    double last; /* its last packet */
    uint32_t before;
    uint32_t after;
    bool present;
};

struct table {
    struct flow *flow;
    size_t flows;
    uint32_t first;
    uint32_t last;
    size_t present;
    size_t peak;
};

static void unlink_flow(struct table *t, uint32_t id)
{
    struct flow *f = &t->flow[id];
    *(f->before == NOBODY ? &t->first : &t->flow[f->before].after) = f->after;
    *(f->after == NOBODY ? &t->last : &t->flow[f->after].before) = f->before;
}

static void link_flow(struct table *t, uint32_t id)
{
    struct flow *f = &t->flow[id];
    f->before = t->last;
    f->after = NOBODY;
    *(t->last == NOBODY ? &t->first : &t->flow[t->last].after) = id;
    t->last = id;
}

static void table_add(struct table *t, uint32_t id, double now)
{
    t->flow[id].present = true;
    t->flow[id].last = now;
    link_flow(t, id);
    t->present++;
    t->peak = t->present > t->peak ? t->present : t->peak;
}

static void table_touch(struct table *t, uint32_t id, double now)
{
    t->flow[id].last = now;
    unlink_flow(t, id);
    link_flow(t, id);
}

static void table_remove(struct table *t, uint32_t id)
{
    unlink_flow(t, id);
    t->flow[id].present = false;
    t->present--;
}

static void table_clear(struct table *t)
{
    memset(t->flow, 0, t->flows * sizeof *t->flow);
    t->first = NOBODY;
    t->last = NOBODY;
    t->present = 0;
    t->peak = 0;
}

/* ---- the contestants ------------------------------------------------------------------------- */

/* What is counted, of a window or of the whole run. */
struct counts {
    uint64_t absent; /* packets of flows that are not in the table ... */
    uint64_t false_positives;
    uint64_t present; /* ... and of those that are */
    uint64_t false_negatives;
    uint64_t wrong_removals; /* strangers that were removed */
    uint64_t not_removed;    /* flows of the table that could not be */
    uint64_t not_added;      /* the filter was full */
};

/* The end of a window. */
struct window {
    double t;
    struct counts counts;
    uint64_t flows;     /* in the table */
    uint64_t missing;   /* of these, not found */
    double stranger_fp; /* share of PROBES strangers that are found */
};

enum removal { BY_POLICY, BY_RECEIPT };

struct contestant {
    const char *name;
    struct tepal_filter *filter;
    struct tepal_counting *counting; /* NULL: another kind */
    enum removal removal;
    uint8_t *receipt; /* a flow's group */
    struct counts total;
    struct counts now;
    struct window *window;
};

#define CONTESTANTS 5

struct flows {
    const struct args *args;
    struct packets packets;
    struct table table;
    uint64_t repeat;
    double idle;
    bool first_packet; /* TCP flows too begin with any packet */
    double span;       /* of the packets, in seconds */
    double start;
    size_t windows;
    uint64_t bits;
    struct contestant set[CONTESTANTS];
    size_t sets;
    uint64_t never_begun; /* FIN or RST of flows that are not in the table */
};

static void contestant_add(struct contestant *c, struct tepal_digest d, uint32_t id)
{
    enum tepal_status status;
    if (c->counting != NULL) {
        uint32_t group = 0;
        status = tepal_counting_add(c->counting, d, &group);
        if (c->receipt != NULL) {
            c->receipt[id] = (uint8_t)group;
        }
    } else {
        status = tepal_filter_add(c->filter, d);
    }
    c->now.not_added += status != TEPAL_OK;
}

static void contestant_remove(struct contestant *c, struct tepal_digest d, uint32_t id, bool known)
{
    enum tepal_status status = known && c->removal == BY_RECEIPT
                                   ? tepal_counting_remove_group(c->counting, d, c->receipt[id])
                                   : tepal_filter_remove(c->filter, d);
    c->now.not_removed += known && status != TEPAL_OK;
    c->now.wrong_removals += !known && status == TEPAL_OK;
}

static void contestant_ask(struct contestant *c, struct tepal_digest d, bool present)
{
    bool found = tepal_filter_query(c->filter, d);
    if (present) {
        c->now.present++;
        c->now.false_negatives += !found;
    } else {
        c->now.absent++;
        c->now.false_positives += found;
    }
}

/* ---- replaying ------------------------------------------------------------------------------- */

/* Flow `id` of the `round`-th repetition: another flow than that of any other repetition. */
static struct tepal_digest digest_at(const struct flows *f, uint32_t id, uint64_t round)
{
    struct tepal_digest d = f->packets.flow[id];
    if (round == 0) {
        return d;
    }
    uint64_t words[3] = {d.lo, d.hi, round};
    return tepal_hash_bytes(&f->packets.hasher, words, sizeof words);
}

static struct tepal_digest digest_of(const struct flows *f, uint32_t flow)
{
    uint32_t flows = (uint32_t)f->packets.flows;
    return digest_at(f, flow % flows, flow / flows);
}

static void end_flow(struct flows *f, uint32_t flow)
{
    struct tepal_digest d = digest_of(f, flow);
    for (size_t i = 0; i < f->sets; i++) {
        contestant_remove(&f->set[i], d, flow, true);
    }
    table_remove(&f->table, flow);
}

static void expire(struct flows *f, double now)
{
    while (f->table.first != NOBODY && f->table.flow[f->table.first].last + f->idle < now) {
        end_flow(f, f->table.first);
    }
}

static bool begins(const struct flows *f, uint8_t flags)
{
    if (flags & (PACKET_FIN | PACKET_RST)) {
        return false;
    }
    return !(flags & PACKET_TCP) || f->first_packet ||
           ((flags & PACKET_SYN) && !(flags & PACKET_ACK));
}

static void take_packet(struct flows *f, uint32_t flow, uint8_t flags, double now)
{
    struct table *t = &f->table;
    struct tepal_digest d = digest_of(f, flow);
    expire(f, now);
    bool present = t->flow[flow].present;
    for (size_t i = 0; i < f->sets; i++) {
        contestant_ask(&f->set[i], d, present);
    }
    if (flags & (PACKET_FIN | PACKET_RST)) {
        if (present) {
            end_flow(f, flow);
            return;
        }
        f->never_begun++;
        for (size_t i = 0; i < f->sets; i++) {
            contestant_remove(&f->set[i], d, flow, false);
        }
    } else if (present) {
        table_touch(t, flow, now);
    } else if (begins(f, flags)) {
        table_add(t, flow, now);
        for (size_t i = 0; i < f->sets; i++) {
            contestant_add(&f->set[i], d, flow);
        }
    }
}

static void add_counts(struct counts *to, const struct counts *from)
{
    to->absent += from->absent;
    to->false_positives += from->false_positives;
    to->present += from->present;
    to->false_negatives += from->false_negatives;
    to->wrong_removals += from->wrong_removals;
    to->not_removed += from->not_removed;
    to->not_added += from->not_added;
}

/* Look at every flow of the table, and at strangers. */
static void end_window(struct flows *f, size_t number, double t)
{
    for (size_t i = 0; i < f->sets; i++) {
        struct contestant *c = &f->set[i];
        struct window *w = &c->window[number];
        uint64_t found = 0;
        *w = (struct window){.t = t, .counts = c->now, .flows = f->table.present};
        for (uint32_t id = f->table.first; id != NOBODY; id = f->table.flow[id].after) {
            w->missing += !tepal_filter_query(c->filter, digest_of(f, id));
        }
        for (uint64_t p = 0; p < PROBES; p++) {
            uint64_t stranger[2] = {number, p};
            found += tepal_filter_query(
                c->filter, tepal_hash_bytes(&f->packets.hasher, stranger, sizeof stranger));
        }
        w->stranger_fp = (double)found / PROBES;
        add_counts(&c->total, &c->now);
        memset(&c->now, 0, sizeof c->now);
    }
}

/* All packets, `repeat` times one after the other; windows are equal numbers of packets. */
static void replay(struct flows *f)
{
    const uint64_t all = f->packets.count * f->repeat;
    uint64_t taken = 0;
    size_t number = 0;
    table_clear(&f->table);
    f->never_begun = 0;
    for (uint64_t round = 0; round < f->repeat; round++) {
        for (size_t i = 0; i < f->packets.count; i++) {
            const struct packet *p = &f->packets.packet[i];
            double now = p->t - f->start + f->span * (double)round;
            take_packet(f, (uint32_t)(round * f->packets.flows + p->flow), p->flags, now);
            taken++;
            while (number < f->windows &&
                   (double)taken >= (double)all * (double)(number + 1) / (double)f->windows) {
                end_window(f, number++, now);
            }
        }
    }
}

/* ---- making the filters ---------------------------------------------------------------------- */

static int trouble(const struct flows *f, const char *what)
{
    return say_error(NULL, f->args->command->name, "%s", what);
}

static uint64_t payload_bits(const struct tepal_params *p)
{
    return tepal_params_payload_bytes(p) * 8;
}

/* As many counters as the memory holds, their bits for queries included. */
static struct tepal_params counting_params(const struct flows *f, uint32_t choices,
                                           enum tepal_counting_policy policy)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_COUNTING;
    p.hashes = 1;
    p.own[TEPAL_COUNTING_CHOICES] = choices;
    p.own[TEPAL_COUNTING_POLICY] = policy;
    p.capacity = f->table.peak;
    p.seed = f->packets.hasher.seed;
    for (p.cells = f->bits / 4; p.cells > 64 && payload_bits(&p) > f->bits; p.cells -= 16) {
    }
    p.hashes = tepal_bloom_best_hashes(p.layout, p.positions, p.cells, f->table.peak);
    return p;
}

static int add_contestant(struct flows *f, const char *name, const struct tepal_params *p,
                          enum removal removal)
{
    struct contestant *c = &f->set[f->sets];
    const char *why = "";
    c->name = name;
    c->removal = removal;
    if (tepal_params_check(p, &why) != TEPAL_OK) {
        return trouble(f, why);
    }
    if (tepal_filter_create(p, NULL, &c->filter, NULL) != TEPAL_OK) {
        return trouble(f, "out of memory");
    }
    f->sets++;
    c->counting = tepal_filter_counting(c->filter);
    c->window = calloc(f->windows, sizeof *c->window);
    c->receipt = removal == BY_RECEIPT ? calloc(f->table.flows, 1) : NULL;
    bool got = c->window != NULL && (removal != BY_RECEIPT || c->receipt != NULL);
    return got ? EXIT_YES : trouble(f, "out of memory");
}

static int add_fingerprint(struct flows *f)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    uint32_t bits = 0;
    uint64_t cells;
    double room = (double)f->bits - 128; /* for the last word and the one behind */
    p.kind = TEPAL_KIND_FINGERPRINT;
    p.hashes = 2;
    p.capacity = f->table.peak;
    p.seed = f->packets.hasher.seed;
    if (tepal_fingerprint_fit(f->table.peak, room / (double)f->table.peak, &cells, &bits) !=
        TEPAL_OK) {
        return say_error(NULL, f->args->command->name,
                         "%" PRIu64 " bits are too few for %zu flows: give more --bits-per-flow",
                         f->bits, f->table.peak);
    }
    p.cells = (uint64_t)(room / (8 * bits)) * (8 * bits);
    p.own[0] = bits;
    return add_contestant(f, "fingerprint", &p, BY_POLICY);
}

static int make_filters(struct flows *f)
{
    const struct option_value *o = arg(f->args, "choices");
    uint32_t choices = o->given ? (uint32_t)o->whole : 4;
    struct tepal_params one = counting_params(f, 1, TEPAL_POLICY_KEEP);
    struct tepal_params keep = counting_params(f, choices, TEPAL_POLICY_KEEP);
    struct tepal_params remove = counting_params(f, choices, TEPAL_POLICY_REMOVE);
    int code = add_contestant(f, "counting", &one, BY_POLICY);
    if (code == EXIT_YES) {
        code = add_contestant(f, "multichoice remove", &remove, BY_POLICY);
    }
    if (code == EXIT_YES) {
        code = add_contestant(f, "multichoice keep", &keep, BY_POLICY);
    }
    if (code == EXIT_YES) {
        code = add_contestant(f, "multichoice receipt", &remove, BY_RECEIPT);
    }
    return code == EXIT_YES ? add_fingerprint(f) : code;
}

/* ---- what came out --------------------------------------------------------------------------- */

static double share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

/* Packets of known flows in this window that were not found. */
static double missed(const struct window *w)
{
    return share(w->counts.false_negatives, w->counts.present);
}

/* The bits of a fingerprint, or the number of hashes. */
static uint64_t shape(const struct contestant *c)
{
    const struct tepal_params *p = tepal_filter_params(c->filter);
    return p->kind == TEPAL_KIND_FINGERPRINT ? p->own[0] : p->hashes;
}

static void print_tsv(const struct flows *f, struct out *out)
{
    out_text(out, "kind\tbits\twindow\tt\tflows\tpackets_absent\tfalse_positives\tpackets_present\t"
                  "false_negatives\twrong_removals\tnot_removed\tnot_added\tflows_missing\t"
                  "stranger_fp\n");
    for (size_t i = 0; i < f->sets; i++) {
        const struct contestant *c = &f->set[i];
        for (size_t n = 0; n < f->windows; n++) {
            const struct window *w = &c->window[n];
            out_format(out,
                       "%s\t%" PRIu64 "\t%zu\t%.3f\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
                       "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.4f\n",
                       c->name, payload_bits(tepal_filter_params(c->filter)), n + 1, w->t, w->flows,
                       w->counts.absent, w->counts.false_positives, w->counts.present,
                       w->counts.false_negatives, w->counts.wrong_removals, w->counts.not_removed,
                       w->counts.not_added, w->missing, w->stranger_fp);
        }
    }
}

static json_t *json_counts(const struct counts *c)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "packets_absent", (json_int_t)c->absent,
                     "false_positives", (json_int_t)c->false_positives, "packets_present",
                     (json_int_t)c->present, "false_negatives", (json_int_t)c->false_negatives,
                     "wrong_removals", (json_int_t)c->wrong_removals, "not_removed",
                     (json_int_t)c->not_removed, "not_added", (json_int_t)c->not_added);
}

/* An object a kind, with its windows. */
static int print_json(const struct flows *f, struct out *out)
{
    int code = EXIT_YES;
    for (size_t i = 0; i < f->sets && code == EXIT_YES; i++) {
        const struct contestant *c = &f->set[i];
        json_t *windows = json_array();
        for (size_t n = 0; n < f->windows; n++) {
            const struct window *w = &c->window[n];
            json_t *one = json_counts(&w->counts);
            json_object_set_new(one, "t", json_real(w->t));
            json_object_set_new(one, "flows", json_integer((json_int_t)w->flows));
            json_object_set_new(one, "flows_missing", json_integer((json_int_t)w->missing));
            json_object_set_new(one, "stranger_fp", json_real(w->stranger_fp));
            json_array_append_new(windows, one);
        }
        json_t *object = json_counts(&c->total);
        json_object_set_new(object, "kind", json_string(c->name));
        json_object_set_new(object, "bits",
                            json_integer((json_int_t)payload_bits(tepal_filter_params(c->filter))));
        json_object_set_new(object, "fp",
                            json_real(share(c->total.false_positives, c->total.absent)));
        json_object_set_new(object, "fn",
                            json_real(share(c->total.false_negatives, c->total.present)));
        json_object_set_new(object, "peak_flows", json_integer((json_int_t)f->table.peak));
        json_object_set_new(object, "windows", windows);
        code = render_json(out, object);
    }
    return code;
}

/* Rates, and their drift: in the first, the middle and the last window. */
static void print_text(const struct flows *f, struct out *out)
{
    const size_t middle = (f->windows - 1) / 2;
    const size_t last = f->windows - 1;
    out_format(out, "%-20s %8s %3s %9s %9s %7s   %-23s   %-23s\n", "", "bits", "k|f", "fp", "fn",
               "wrong", "strangers found", "false negatives");
    out_format(out, "%-20s %8s %3s %9s %9s %7s   %7s %7s %7s   %7s %7s %7s\n", "kind", "", "",
               "packets", "packets", "removed", "first", "middle", "last", "first", "middle",
               "last");
    for (size_t i = 0; i < f->sets; i++) {
        const struct contestant *c = &f->set[i];
        const struct window *w = c->window;
        out_format(out,
                   "%-20s %8" PRIu64 " %3" PRIu64 " %8.4f%% %8.4f%% %7" PRIu64
                   "   %6.2f%% %6.2f%% %6.2f%%   %6.2f%% %6.2f%% %6.2f%%\n",
                   c->name, payload_bits(tepal_filter_params(c->filter)), shape(c),
                   100 * share(c->total.false_positives, c->total.absent),
                   100 * share(c->total.false_negatives, c->total.present), c->total.wrong_removals,
                   100 * w[0].stranger_fp, 100 * w[middle].stranger_fp, 100 * w[last].stranger_fp,
                   100 * missed(&w[0]), 100 * missed(&w[middle]), 100 * missed(&w[last]));
    }
}

/* Two curves a kind: false negatives, and, dashed, strangers found. */
static int draw(const struct flows *f, struct atomic_file *side)
{
    struct svg_series series[2 * CONTESTANTS];
    char names[2 * CONTESTANTS][64];
    struct svg_point *point = calloc(2 * CONTESTANTS * f->windows, sizeof *point);
    int code = atomic_file_open(side, f->args, arg(f->args, "svg")->text);
    if (code != EXIT_YES || point == NULL) {
        free(point);
        return code != EXIT_YES ? code : trouble(f, "out of memory");
    }
    for (size_t i = 0; i < 2 * f->sets; i++) {
        const struct contestant *c = &f->set[i / 2];
        struct svg_point *to = point + i * f->windows;
        for (size_t n = 0; n < f->windows; n++) {
            const struct window *w = &c->window[n];
            to[n].x = (double)(n + 1);
            to[n].y = 100 * (i % 2 == 0 ? missed(w) : w->stranger_fp);
        }
        snprintf(names[i], sizeof names[i], "%s: %s", c->name,
                 i % 2 == 0 ? "false negatives" : "strangers found");
        series[i] =
            (struct svg_series){names[i], i % 2 == 0 ? SVG_LINE : SVG_DASHED, to, f->windows};
    }
    struct svg_chart chart = {.title = "False negatives, and strangers that are found",
                              .x_label = "window",
                              .y_label = "share, %",
                              .y_log = true,
                              .series = series,
                              .count = 2 * f->sets};
    svg_print(side->out, &chart);
    free(point);
    return atomic_file_finish(side, f->args);
}

static void say_read(const struct flows *f)
{
    const struct packets *p = &f->packets;
    say_line("packets    %zu of %zu flows in %.1f s; at most %zu flows at once", p->count, p->flows,
             f->span, f->table.peak);
    if (f->repeat > 1) {
        say_line("repeated   %" PRIu64 " times, each time with flows of its own", f->repeat);
    }
    say_line("ended      %" PRIu64 " FIN or RST of flows that are not in the table",
             f->never_begun);
    if (p->truncated + p->other > 0) {
        say_line("left out   %" PRIu64 " packets cut off in their headers, %" PRIu64
                 " neither TCP nor UDP, or later fragments",
                 p->truncated, p->other);
    }
}

static int report(const struct flows *f)
{
    struct atomic_file side = {.path = NULL};
    int code = arg(f->args, "svg")->given ? draw(f, &side) : EXIT_YES;
    struct out *out = code == EXIT_YES ? out_open(STDOUT_FILENO) : NULL;
    if (out == NULL) {
        atomic_file_free(&side);
        return EXIT_TROUBLE;
    }
    if (arg(f->args, "json")->given) {
        code = print_json(f, out);
    } else if (arg(f->args, "tsv")->given) {
        print_tsv(f, out);
    } else {
        print_text(f, out);
    }
    code = out_close(out, code);
    if (code == EXIT_YES && arg(f->args, "svg")->given) {
        code = atomic_file_commit(&side, f->args);
    }
    atomic_file_free(&side);
    return code;
}

/* ---- the run --------------------------------------------------------------------------------- */

static int prepare(struct flows *f)
{
    const struct packets *p = &f->packets;
    if (p->count == 0) {
        return trouble(f, "no packets that carry TCP or UDP");
    }
    f->start = p->packet[0].t;
    f->span = p->packet[p->count - 1].t - f->start;
    f->span = f->span > 0 ? f->span * (1 + 1e-9) : 1;
    if (f->repeat > NOBODY / p->flows || !isfinite(f->span * (double)f->repeat)) {
        return say_error(NULL, f->args->command->name,
                         "--repeat %s: too often: there would be 2^32 flows or more",
                         arg(f->args, "repeat")->text);
    }
    f->table.flows = p->flows * (size_t)f->repeat;
    f->table.flow = calloc(f->table.flows, sizeof *f->table.flow);
    if (f->table.flow == NULL) {
        return trouble(f, "out of memory");
    }
    size_t windows = f->windows;
    f->windows = 0; /* the table alone, to know its peak */
    replay(f);
    f->windows = windows;
    if (f->table.peak == 0) {
        return trouble(f, "no flow begins in these packets: take --insert first");
    }
    f->bits = arg(f->args, "bits")->whole;
    if (!arg(f->args, "bits")->given) {
        double each = arg_real(f->args, "bits-per-flow", 24);
        double all = ceil(each * (double)f->table.peak);
        f->bits = all < 0x1p40 ? (uint64_t)all : (uint64_t)1 << 40;
    }
    if (f->bits < 512) {
        f->bits = 512;
    }
    return EXIT_YES;
}

static void free_all(struct flows *f)
{
    packets_free(&f->packets);
    free(f->table.flow);
    for (size_t i = 0; i < CONTESTANTS; i++) {
        tepal_filter_free(f->set[i].filter);
        free(f->set[i].receipt);
        free(f->set[i].window);
    }
}

static int flows_run(const struct args *args)
{
    struct flows f = {.args = args};
    f.repeat = arg_whole(args, "repeat", 1);
    f.idle = arg_real(args, "idle", 60);
    f.windows = arg(args, "windows")->given ? (size_t)arg(args, "windows")->whole
                : f.repeat > 1              ? (size_t)f.repeat
                                            : WINDOWS;
    f.first_packet = arg(args, "insert")->given && strcmp(arg(args, "insert")->text, "first") == 0;
    packets_init(&f.packets, arg_whole(args, "seed", 1), arg(args, "one-way")->given);
    int code = arg(args, "svg")->given ? atomic_file_check(args, arg(args, "svg")->text) : EXIT_YES;
    if (code == EXIT_YES) {
        code = packets_read(&f.packets, args->operand, args->operands);
    }
    if (code == EXIT_YES) {
        code = prepare(&f);
    }
    if (code == EXIT_YES) {
        code = make_filters(&f);
    }
    if (code == EXIT_YES) {
        replay(&f);
        if (!arg(args, "quiet")->given) {
            say_read(&f);
        }
        code = report(&f);
    }
    free_all(&f);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option option_flow_each = {
    .name = "bits-per-flow",
    .value = "B",
    .type = TAKES_POSITIVE,
    .about = "B bits for each of the most flows that there are at once (default 24)."};

static const struct option option_flow_bits = {
    .letter = 'm',
    .name = "bits",
    .value = "M",
    .type = TAKES_WHOLE,
    .least = 512,
    .most = (uint64_t)1 << 40,
    .about = "The memory of each filter, in bits, all in all."};

static const struct option option_flow_choices = {
    .name = "choices",
    .value = "C",
    .type = TAKES_WHOLE,
    .least = 2,
    .most = 64,
    .about = "The choices of the multichoice filters (default 4)."};

static const struct option option_flow_idle = {
    .name = "idle",
    .value = "SECONDS",
    .type = TAKES_POSITIVE,
    .about = "A flow ends when it has been idle for so long (default 60)."};

static const struct option option_flow_insert = {
    .name = "insert",
    .value = "WHEN",
    .type = TAKES_CHOICE,
    .choices = "syn first",
    .about = "A TCP flow begins with a SYN (syn, the default), or with any packet "
             "that does not end it (first)."};

static const struct option option_flow_one_way = {
    .name = "one-way", .about = "The two directions of a connection are two flows."};

static const struct option option_flow_repeat = {
    .name = "repeat",
    .value = "N",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = 1000000,
    .about = "Replay the packets N times, each time with other flows: what a long run "
             "does (default 1)."};

static const struct option option_flow_windows = {
    .name = "windows",
    .value = "N",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = 10000,
    .about = "Look at the drift in N windows of as many packets each (default: one each "
             "time the packets are repeated, or 20)."};

static const struct option option_flow_svg = {.name = "svg",
                                              .value = "OUT",
                                              .type = TAKES_FILE,
                                              .about = "Also draw the drift, as SVG, to OUT."};

static const struct option *const options[] = {
    &option_flow_each,   &option_flow_bits,    &option_flow_choices, &option_flow_idle,
    &option_flow_insert, &option_flow_one_way, &option_flow_repeat,  &option_flow_windows,
    &option_flow_svg,    &option_force,        &option_demo_seed,    &option_rows_tsv,
    &option_json,        &option_quiet,        &option_help,         NULL};
static const char *const exclusive[][4] = {{"bits", "bits-per-flow"}, {"tsv", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal app flows capture.pcap", "Every kind of filter at 24 bits a flow."},
    {"tepal app flows packets.tsv.gz --repeat 50 --svg drift.svg",
     "A long run, and a picture of its drift."},
    {NULL, NULL}};

const struct command app_flows = {
    .name = "app flows",
    .synopsis = "[PACKETS...] [--bits-per-flow B | --bits M] [--repeat N] [--idle SECONDS]",
    .summary = "Flow tracking: what removals do to each kind of filter.",
    .about =
        "Replays the packets PACKETS against filters of equal memory (a counting filter, "
        "multichoice ones with three ways to remove, a fingerprint filter) and an exact table. A "
        "flow is added when it begins, asked for with every packet, and removed at FIN, RST or "
        "when it has been idle. A FIN or RST of a flow that never began is removed as well, "
        "since a device that has only the filter cannot tell: where the filter finds it, that "
        "damages others.\n\n"
        "PACKETS are pcap or pcapng captures, or tab-separated (capture, t, proto, src, sport, "
        "dst, dport, flags, len; a first line that starts with # may name other columns), and may "
        "be compressed. Printed are, for each kind, the false positives and false negatives of "
        "packets, the strangers that were removed, and, for the first, the middle and the last "
        "window of packets, the share of strangers found at its end and of false negatives in it.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .most_operands = SIZE_MAX,
    .examples = examples,
    .run = flows_run};

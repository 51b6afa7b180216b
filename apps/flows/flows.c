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

#include <tepal/papers.h>
#include <tepal/tepal.h>

#include "cli/options.h"
#include "flows/flows.h"
#include "files/atomic_file.h"

/* ---- the truth ------------------------------------------------------------------------------- */

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

static void contestant_add(struct contestant *c, struct tepal_digest d, uint32_t id)
{
    enum tepal_status status;
    if (c->receipt != NULL) {
        uint8_t group = 0;
        status = tepal_counting_add(c->filter, d, &group);
        c->receipt[id] = (uint8_t)group;
    } else {
        status = tepal_filter_add(c->filter, d);
    }
    c->now.not_added += status != TEPAL_OK;
}

static void contestant_remove(struct contestant *c, struct tepal_digest d, uint32_t id, bool known)
{
    enum tepal_status status = known && c->removal == BY_RECEIPT
                                   ? tepal_counting_remove_group(c->filter, d, c->receipt[id])
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

/* As many counters as the memory holds, their bits for queries included. */
static struct tepal_params counting_params(const struct flows *f, uint32_t choices,
                                           enum tepal_counting_policy policy)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_COUNTING;
    p.hashes = 1;
    p.counting.choices = choices;
    p.counting.policy = policy;
    p.capacity = f->table.peak;
    p.seed = f->packets.hasher.seed;
    for (p.cells = f->bits / 4; p.cells > 64 && flows_bits(&p) > f->bits; p.cells -= 16) {
    }
    p.hashes = tepal_bloom_best_hashes(p.layout, p.positions, p.cells, f->table.peak);
    return p;
}

static int add_contestant(struct flows *f, const char *name, const struct tepal_params *p,
                          enum removal removal)
{
    struct contestant *c = &f->set[f->sets];
    struct tepal_error error = {.why = ""};
    c->name = name;
    c->removal = removal;
    enum tepal_status status = tepal_filter_create(p, NULL, &c->filter, &error);
    if (status != TEPAL_OK) {
        return say_status(NULL, f->args->command->name, status, error.why);
    }
    f->sets++;
    c->window = calloc(f->windows, sizeof *c->window);
    c->receipt = removal == BY_RECEIPT ? calloc(f->table.flows, 1) : NULL;
    bool got = c->window != NULL && (removal != BY_RECEIPT || c->receipt != NULL);
    return got ? EXIT_YES : say_no_memory();
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
    p.fingerprint.bits = bits;
    return add_contestant(f, "fingerprint", &p, BY_POLICY);
}

static int make_filters(struct flows *f)
{
    uint32_t choices = (uint32_t)arg_whole(f->args, "choices", 4);
    struct tepal_params one = counting_params(f, 1, TEPAL_POLICY_KEEP);
    struct tepal_params keep = counting_params(f, choices, TEPAL_POLICY_KEEP);
    struct tepal_params remove = counting_params(f, choices, TEPAL_POLICY_REMOVE);
    int code = add_contestant(f, "counting", &one, BY_POLICY);
    code = code == EXIT_YES ? add_contestant(f, "multichoice remove", &remove, BY_POLICY) : code;
    code = code == EXIT_YES ? add_contestant(f, "multichoice keep", &keep, BY_POLICY) : code;
    code = code == EXIT_YES ? add_contestant(f, "multichoice receipt", &remove, BY_RECEIPT) : code;
    return code == EXIT_YES ? add_fingerprint(f) : code;
}

static void say_read(const struct flows *f)
{
    const struct packets *p = &f->packets;
    say_line("packets    %zu in %zu flows, over %.1f s; at most %zu flows at once", p->count,
             p->flows, f->span, f->table.peak);
    if (f->repeat > 1) {
        say_line("repeated   %" PRIu64 " times, each time as other flows", f->repeat);
    }
    say_line("unmatched  %" PRIu64 " FIN or RST of flows that are not in the table",
             f->never_begun);
    if (p->truncated + p->other > 0) {
        say_line("left out   %" PRIu64 " packets truncated in their headers, %" PRIu64 " that are "
                 "neither TCP nor UDP, or later fragments",
                 p->truncated, p->other);
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

static int prepare(struct flows *f)
{
    const struct packets *p = &f->packets;
    if (p->count == 0) {
        return trouble(f, "no TCP or UDP packets in the input");
    }
    f->start = p->packet[0].t;
    f->span = p->packet[p->count - 1].t - f->start;
    f->span = f->span > 0 ? f->span * (1 + 1e-9) : 1;
    if (f->repeat > NOBODY / p->flows || !isfinite(f->span * (double)f->repeat)) {
        return say_error(NULL, f->args->command->name,
                         "--repeat %s: too large: there would be 2^32 flows or more",
                         arg(f->args, "repeat")->text);
    }
    f->table.flows = p->flows * (size_t)f->repeat;
    f->table.flow = calloc(f->table.flows, sizeof *f->table.flow);
    if (f->table.flow == NULL) {
        return say_no_memory();
    }
    size_t windows = f->windows;
    f->windows = 0; /* the table alone, to know its peak */
    replay(f);
    f->windows = windows;
    if (f->table.peak == 0) {
        return trouble(f, "no flow begins in these packets: try --insert first");
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
    f.windows = (size_t)arg_whole(args, "windows", f.repeat > 1 ? f.repeat : WINDOWS);
    f.first_packet = arg(args, "insert")->given && strcmp(arg(args, "insert")->text, "first") == 0;
    packets_init(&f.packets, arg_whole(args, "seed", 1), arg(args, "one-way")->given);
    int code = arg(args, "svg")->given ? atomic_file_check(args, arg(args, "svg")->text) : EXIT_YES;
    code = code == EXIT_YES ? packets_read(&f.packets, args->operand, args->operands) : code;
    code = code == EXIT_YES ? prepare(&f) : code;
    code = code == EXIT_YES ? make_filters(&f) : code;
    if (code == EXIT_YES) {
        replay(&f);
        if (!arg(args, "quiet")->given) {
            say_read(&f);
        }
        code = flows_tell(&f);
    }
    free_all(&f);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "bits-per-flow", OF_VALUE(TAKES_POSITIVE, "B"),
           "Bits per flow, for the largest number of concurrent flows (default 24)."),
    OPTION('m', "bits", OF_WHOLE("M", 512, (uint64_t)1 << 40),
           "The total memory of each filter, in bits."),
    OPTION(0, "choices", OF_WHOLE("C", 2, 64),
           "The choices of the multichoice filters (default 4)."),
    OPTION(0, "idle", OF_VALUE(TAKES_POSITIVE, "SECONDS"),
           "A flow ends when it has been idle for this long (default 60)."),
    OPTION(0, "insert", OF_CHOICE("WHEN", "syn first"),
           "A TCP flow begins with a SYN (syn, the default), or with any packet that does not end "
           "it (first)."),
    FLAG(0, "one-way", "Treat the two directions of a connection as two flows."),
    OPTION(0, "repeat", OF_WHOLE("N", 1, 1000000),
           "Replay the packets N times, each time as other flows, to simulate a long run (default "
           "1)."),
    OPTION(0, "windows", OF_WHOLE("N", 1, 10000),
           "Measure the drift in N windows with equal numbers of packets (default: one per "
           "repetition, or 20)."),
    OPTION(0, "svg", OF_VALUE(TAKES_FILE, "OUT"), "Also draw the drift to OUT, as SVG."),
    OPTION_FORCE,
    OPTION_DEMO_SEED,
    OPTION_ROWS_TSV,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"bits", "bits-per-flow"}, {"tsv", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal app flows capture.pcap", "Every kind of filter at 24 bits per flow."},
    {"tepal app flows packets.tsv.gz --repeat 50 --svg drift.svg",
     "A long run, with a picture of its drift."},
    {NULL, NULL}};

const struct command app_flows = {
    .name = "app flows",
    .synopsis = "[PACKETS...] [--bits-per-flow B | --bits M] [--repeat N] [--idle SECONDS]",
    .summary = "Flow tracking: what removals do to each kind of filter.",
    .about =
        "Replays the packets PACKETS against filters of equal memory (a counting filter, "
        "multichoice filters with three ways to remove, a fingerprint filter) and an exact table. "
        "A flow is added when it begins, looked up with every packet, and removed at FIN, RST or "
        "when it has been idle. A FIN or RST of a flow that never began is removed as well, since "
        "a device that has only the filter cannot know better: if the filter finds that flow, the "
        "removal damages others.\n\n"
        "PACKETS are pcap or pcapng captures, or tab-separated (capture, t, proto, src, sport, "
        "dst, dport, flags, len; a first line that starts with # may name other columns), and may "
        "be compressed. Prints for each kind the false positives and false negatives among "
        "packets, the number of strangers (flows that are not in the table) that were removed, and "
        "for the first, middle and last window the share of strangers found at its end and of "
        "false negatives in it.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .most_operands = SIZE_MAX,
    .examples = examples,
    .run = flows_run};

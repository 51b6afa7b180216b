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
 *
 * With --states the filters hold pairs of a flow and its state (tepal/states.h):
 *
 *     opening ---> answered ---> established ---> closing ---> gone
 *       SYN        SYN, ACK       any other         FIN      FIN, RST, or idle
 *
 * Every change removes a pair and adds another. A flow that is found in several states has to be
 * removed from one of them, from none, or from all; or somebody must tell.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tepal/tepal.h>

#include "cli/options.h"
#include "flows/flows.h"
#include "files/atomic_file.h"
#include "output/progress.h"

/* ---- replaying ------------------------------------------------------------------------------- */

/* Repetitions have flows of their own: flow `id` of the round-th one is another than all others. */
struct tepal_digest flows_digest(const struct flows *f, uint32_t id)
{
    uint32_t flows = (uint32_t)f->packets.flows;
    struct tepal_digest d = f->packets.flow[id % flows];
    uint64_t words[3] = {d.lo, d.hi, id / flows};
    return id < flows ? d : tepal_hash_bytes(&f->packets.hasher, words, sizeof words);
}

static void move(struct flows *f, uint32_t flow, enum state to, double now)
{
    enum state from = f->table.flow[flow].state;
    if (from != to) {
        f->changes += from != ABSENT && to != ABSENT;
        contest_move(f, flow, from, to);
    }
    table_move(&f->table, flow, to, now);
    if (to == ABSENT && f->attack > 0) {
        contest_attack(f);
    }
}

static void expire(struct flows *f, double now)
{
    while (f->table.first != NOBODY && f->table.flow[f->table.first].last + f->idle < now) {
        move(f, f->table.first, ABSENT, now);
    }
}

/* Does a packet begin a flow? Not if it ends one. */
static bool begins(const struct flows *f, uint8_t flags)
{
    return !(flags & PACKET_TCP) || f->first_packet ||
           ((flags & PACKET_SYN) && !(flags & PACKET_ACK));
}

/* The state of a flow after a packet, as far as flags can tell. */
static enum state after(const struct flows *f, enum state before, uint8_t flags)
{
    if (flags & (PACKET_FIN | PACKET_RST)) {
        bool half = f->states && !(flags & PACKET_RST) && before != CLOSING && before != ABSENT;
        return half ? CLOSING : ABSENT;
    }
    if (before == ABSENT && !begins(f, flags)) {
        return ABSENT;
    }
    if (!f->states) {
        return ESTABLISHED;
    }
    bool starts = (flags & PACKET_SYN) || (before == ABSENT && !(flags & PACKET_TCP));
    enum state here = !starts ? ESTABLISHED : flags & PACKET_ACK ? ANSWERED : OPENING;
    return before == ABSENT || here > before ? here : before; /* they never go back */
}

static void take_packet(struct flows *f, uint32_t flow, uint8_t flags, double now)
{
    expire(f, now);
    enum state before = f->table.flow[flow].state;
    enum state to = after(f, before, flags);
    contest_ask(f, flow, before);
    if (before != ABSENT || to != ABSENT) {
        move(f, flow, to, now);
    } else if (flags & (PACKET_FIN | PACKET_RST)) {
        f->never_begun++;
        contest_move(f, flow, ABSENT, ABSENT);
    }
}

/* All packets, `repeat` times one after the other; windows are equal numbers of packets. */
static void replay(struct flows *f)
{
    const uint64_t all = f->packets.count * f->repeat;
    uint64_t taken = 0;
    size_t number = 0;
    struct progress progress;
    progress_start(&progress, !arg(f->args, "quiet")->given);
    table_clear(&f->table);
    f->never_begun = 0;
    f->changes = 0;
    f->due = 0;
    for (uint64_t round = 0; round < f->repeat; round++) {
        for (size_t i = 0; i < f->packets.count; i++) {
            const struct packet *p = &f->packets.packet[i];
            double now = p->t - f->start + f->span * (double)round;
            take_packet(f, (uint32_t)(round * f->packets.flows + p->flow), p->flags, now);
            if (taken++ % 1024 == 0) {
                progress_parts(&progress, taken, all, "packets");
            }
            while (number < f->windows &&
                   (double)taken >= (double)all * (double)(number + 1) / (double)f->windows) {
                contest_window(f, number++, now);
            }
        }
    }
    progress_end(&progress);
}

/* ---- the run --------------------------------------------------------------------------------- */

static int trouble(const struct flows *f, const char *what)
{
    return say_error(NULL, f->args->command->name, "%s", what);
}

static void say_read(const struct flows *f)
{
    const struct packets *p = &f->packets;
    say_line("packets    %zu in %zu flow%s, over %.1f s; at most %zu flow%s at once", p->count,
             p->flows, SAY_S(p->flows), f->span, f->table.peak, SAY_S(f->table.peak));
    if (f->repeat > 1) {
        say_line("repeated   %" PRIu64 " times, each time as other flows", f->repeat);
    }
    say_line("unmatched  %" PRIu64 " FIN or RST of flows that are not in the table",
             f->never_begun);
    if (f->states) {
        say_line("changes    %" PRIu64 " change%s of state, of flows that go on", f->changes,
                 SAY_S(f->changes));
    }
    if (p->truncated + p->other > 0) {
        say_line("left out   %" PRIu64 " packet%s truncated in their headers, %" PRIu64 " neither "
                 "TCP nor UDP, or later fragments",
                 p->truncated, SAY_S(p->truncated), p->other);
    }
    for (size_t i = 0; i < f->sets; i++) {
        if (f->set[i].total.not_added > 0) {
            say_line("full       %s: %" PRIu64 " addition%s refused", f->set[i].name,
                     f->set[i].total.not_added, f->set[i].total.not_added == 1 ? " was" : "s were");
        }
    }
}

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

static int flows_run(const struct args *args)
{
    struct flows f = {.args = args};
    f.repeat = arg_whole(args, "repeat", 1);
    f.idle = arg_real(args, "idle", 60);
    f.windows = (size_t)arg_whole(args, "windows", f.repeat > 1 ? f.repeat : WINDOWS);
    f.first_packet = arg(args, "insert")->given && strcmp(arg(args, "insert")->text, "first") == 0;
    f.states = arg(args, "states")->given;
    f.attack = arg_real(args, "attack", 0);
    packets_init(&f.packets, arg_whole(args, "seed", 1), arg(args, "one-way")->given);
    int code = arg(args, "svg")->given ? atomic_file_check(args, arg(args, "svg")->text) : EXIT_YES;
    code = code == EXIT_YES ? packets_read(&f.packets, args->operand, args->operands) : code;
    code = code == EXIT_YES ? prepare(&f) : code;
    code = code == EXIT_YES ? contest_make(&f) : code;
    if (code == EXIT_YES) {
        replay(&f);
        if (!arg(args, "quiet")->given) {
            say_read(&f);
        }
        code = flows_tell(&f);
    }
    if (code == EXIT_YES && f.packets.unread > 0) {
        code = say_error(NULL, args->command->name, "%zu of %zu files could not be read%s",
                         f.packets.unread, args->operands,
                         f.packets.unread == 1 ? ": its warning is above" : ": see the warnings");
    }
    packets_free(&f.packets);
    free(f.table.flow);
    contest_free(&f);
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
    OPTION('k', "hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),
           "The hash functions of the counting filters (default: the fewest false positives)."),
    FLAG(0, "states",
         "Store the state of each flow (opening, answered, established, closing) in counting and "
         "fingerprint filters, and compare the rules for flows that are found in several states."),
    OPTION(0, "attack", OF_VALUE(TAKES_SHARE, "SHARE"),
           "Somebody means harm: for every flow that ends, this many times, as 1% or 0.1, he draws "
           "strangers until the filter finds one and has it removed. After 10,000 in vain he rests "
           "for a while."),
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
    {"tepal app flows capture.pcap --states", "The states of flows, by each rule for removals."},
    {"tepal app flows capture.pcap --hashes 5 --attack 1%",
     "One false positive is removed on purpose for every hundred flows that end."},
    {NULL, NULL}};

const struct command app_flows = {
    .name = "app flows",
    .synopsis = "[PACKETS...] [--bits-per-flow B | --bits M] [--states] [--attack SHARE]",
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
        "be compressed. Of several files, those that cannot be read are skipped with a warning; "
        "the "
        "exit status is then 2. Prints for each kind the false positives and false negatives among "
        "packets, the number of strangers (flows that are not in the table) that were removed, and "
        "for the first, middle and last window the share of strangers found at its end and of "
        "false negatives in it.\n\n"
        "With --states, filters store pairs of a flow and its state. When a flow changes, its old "
        "pair is removed. If the flow is found in several states, keep removes none, one removes "
        "the first and all removes all of them; told is told the right one by somebody who "
        "remembers it. Prints for each rule how many packets of present flows found several "
        "states, a wrong one, or none.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .most_operands = SIZE_MAX,
    .examples = examples,
    .run = flows_run};

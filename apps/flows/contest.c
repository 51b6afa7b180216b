/*
 * contest.c: the filters of `tepal app flows`: how they are made, what they are asked, and what is
 * removed from them. A device that has only the filter cannot know better than it: it removes
 * what it finds. Only receipts (of groups) and somebody who tells the state that a flow leaves do.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tepal/papers.h>

#include "cli/options.h"
#include "cli/say.h"
#include "flows/flows.h"

#define TRIES 10000 /* strangers that the attacker draws in vain before he rests */

/* ---- how they are made ----------------------------------------------------------------------- */

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
    p.hashes = arg(f->args, "hashes")->given
                   ? (uint32_t)arg(f->args, "hashes")->whole
                   : tepal_bloom_best_hashes(p.layout, p.positions, p.cells, f->table.peak);
    return p;
}

static int fingerprint_params(const struct flows *f, struct tepal_params *p)
{
    uint32_t bits = 0;
    uint64_t cells;
    double room = (double)f->bits - 128; /* for the last word and the one behind */
    *p = (struct tepal_params)TEPAL_PARAMS_INIT;
    p->kind = TEPAL_KIND_FINGERPRINT;
    p->hashes = 2;
    p->capacity = f->table.peak;
    p->seed = f->packets.hasher.seed;
    if (tepal_fingerprint_fit(f->table.peak, room / (double)f->table.peak, &cells, &bits) !=
        TEPAL_OK) {
        return say_error(NULL, f->args->command->name,
                         "%" PRIu64 " bits are too few for %zu flows: give more --bits-per-flow",
                         f->bits, f->table.peak);
    }
    p->cells = (uint64_t)(room / (8 * bits)) * (8 * bits);
    p->fingerprint.bits = bits;
    return EXIT_YES;
}

static int add_contestant(struct flows *f, const char *name, const struct tepal_params *p,
                          enum removal removal)
{
    struct contestant *c = &f->set[f->sets];
    struct tepal_error error = {.why = ""};
    enum tepal_status status = tepal_filter_create(p, NULL, &c->filter, &error);
    if (status != TEPAL_OK) {
        return say_status(NULL, f->args->command->name, status, error.why);
    }
    f->sets++;
    snprintf(c->name, sizeof c->name, "%s", name);
    c->removal = removal;
    c->window = calloc(f->windows, sizeof *c->window);
    c->receipt = removal == BY_RECEIPT ? calloc(f->table.flows, 1) : NULL;
    bool got = c->window != NULL && (removal != BY_RECEIPT || c->receipt != NULL);
    return got ? EXIT_YES : say_no_memory();
}

/* One kind by each rule for several states, and told which state a flow leaves. */
static int add_rules(struct flows *f, const char *kind, const struct tepal_params *p)
{
    static const char *const rules[] = {"keep", "one", "all", "told"}; /* as the enum has them */
    int code = EXIT_YES;
    for (unsigned i = 0; i < 4 && code == EXIT_YES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s %s", kind, rules[i]);
        code = add_contestant(f, name, p, i == 3 ? TOLD : BY_POLICY);
        struct contestant *c = &f->set[f->sets - 1];
        c->states = (struct tepal_states){c->filter, STATES,
                                          i == 3 ? TEPAL_STATES_KEEP : (enum tepal_states_rule)i};
    }
    return code;
}

int contest_make(struct flows *f)
{
    uint32_t choices = (uint32_t)arg_whole(f->args, "choices", 4);
    struct tepal_params one = counting_params(f, 1, TEPAL_POLICY_KEEP);
    struct tepal_params keep = counting_params(f, choices, TEPAL_POLICY_KEEP);
    struct tepal_params remove = counting_params(f, choices, TEPAL_POLICY_REMOVE);
    struct tepal_params prints;
    int code = fingerprint_params(f, &prints);
    if (code != EXIT_YES) {
        return code;
    }
    if (f->states) {
        code = add_rules(f, "counting", &one);
        return code == EXIT_YES ? add_rules(f, "fingerprint", &prints) : code;
    }
    code = add_contestant(f, "counting", &one, BY_POLICY);
    code = code == EXIT_YES ? add_contestant(f, "multichoice remove", &remove, BY_POLICY) : code;
    code = code == EXIT_YES ? add_contestant(f, "multichoice keep", &keep, BY_POLICY) : code;
    code = code == EXIT_YES ? add_contestant(f, "multichoice receipt", &remove, BY_RECEIPT) : code;
    return code == EXIT_YES ? add_contestant(f, "fingerprint", &prints, BY_POLICY) : code;
}

void contest_free(struct flows *f)
{
    for (size_t i = 0; i < CONTESTANTS; i++) {
        tepal_filter_free(f->set[i].filter);
        free(f->set[i].receipt);
        free(f->set[i].window);
    }
}

/* ---- what they are asked --------------------------------------------------------------------- */

/* The states that a flow is found in; without --states, ESTABLISHED if it is found. */
static uint64_t found(const struct flows *f, const struct contestant *c, struct tepal_digest d)
{
    uint64_t states = 0;
    if (!f->states) {
        return (uint64_t)tepal_filter_query(c->filter, d) << ESTABLISHED;
    }
    (void)tepal_states_get(&c->states, d, &states);
    return states;
}

void contest_ask(struct flows *f, uint32_t id, enum state truth)
{
    struct tepal_digest d = flows_digest(f, id);
    for (size_t i = 0; i < f->sets; i++) {
        struct counts *now = &f->set[i].now;
        uint64_t states = found(f, &f->set[i], d);
        bool several = (states & (states - 1)) != 0;
        if (truth == ABSENT) {
            now->absent++;
            now->false_positives += states != 0;
        } else {
            now->present++;
            now->false_negatives += states == 0;
            now->several += several;
            now->wrong += states != 0 && !several && states >> truth != 1;
        }
    }
}

/* ---- what is added and removed --------------------------------------------------------------- */

/* Remove a flow. True: something was removed. */
static bool take(struct contestant *c, struct tepal_digest d, uint32_t id, bool known)
{
    return (known && c->removal == BY_RECEIPT
                ? tepal_counting_remove_group(c->filter, d, c->receipt[id])
                : tepal_filter_remove(c->filter, d)) == TEPAL_OK;
}

static void put(struct contestant *c, struct tepal_digest d, uint32_t id)
{
    enum tepal_status status = c->receipt != NULL
                                   ? tepal_counting_add(c->filter, d, &c->receipt[id])
                                   : tepal_filter_add(c->filter, d);
    c->now.not_added += status != TEPAL_OK;
}

/* Without states a flow comes or goes. */
static void move_flow(struct contestant *c, struct tepal_digest d, uint32_t id, enum state from,
                      enum state to)
{
    if (to != ABSENT) {
        put(c, d, id);
        return;
    }
    bool gone = take(c, d, id, from != ABSENT);
    c->now.not_removed += from != ABSENT && !gone;
    c->now.wrong_removals += from == ABSENT && gone;
}

static void move_state(struct contestant *c, struct tepal_digest d, enum state from, enum state to)
{
    uint64_t removed = 0;
    uint32_t leave = c->removal == TOLD && from != ABSENT ? (uint32_t)from : TEPAL_STATE_ANY;
    enum tepal_status status =
        from == ABSENT && to != ABSENT
            ? tepal_states_set(&c->states, d, (uint32_t)to)
            : tepal_states_update(&c->states, d, leave,
                                  to == ABSENT ? TEPAL_STATE_NONE : (uint32_t)to, &removed);
    uint64_t right = from == ABSENT ? 0 : (uint64_t)1 << from;
    c->now.not_added += status != TEPAL_OK;
    c->now.not_removed += status == TEPAL_OK && (removed & right) != right;
    c->now.wrong_removals += (uint64_t)__builtin_popcountll(removed & ~right);
}

void contest_move(struct flows *f, uint32_t id, enum state from, enum state to)
{
    struct tepal_digest d = flows_digest(f, id);
    for (size_t i = 0; i < f->sets; i++) {
        if (f->states) {
            move_state(&f->set[i], d, from, to);
        } else {
            move_flow(&f->set[i], d, id, from, to);
        }
    }
}

/* A stranger whom nobody else knows. */
static struct tepal_digest stranger(const struct flows *f, uint64_t group, uint64_t number)
{
    uint64_t words[2] = {group, number};
    return tepal_hash_bytes(&f->packets.hasher, words, sizeof words);
}

/*
 * Draw strangers until one is found, and have him removed: what the paper's adversary does. After
 * a search in vain he leaves out one delete, then two, four, and so on.
 */
static void attack(const struct flows *f, struct contestant *c)
{
    if (c->rests > 0) {
        c->rests--;
        return;
    }
    for (size_t i = 0; i < TRIES; i++) {
        struct tepal_digest d = stranger(f, UINT64_MAX, c->drawn++);
        c->now.tries++;
        if (found(f, c, d) == 0) {
            continue;
        }
        uint64_t before = c->now.wrong_removals;
        if (f->states) {
            move_state(c, d, ABSENT, ABSENT);
        } else {
            move_flow(c, d, 0, ABSENT, ABSENT);
        }
        c->now.attacks += c->now.wrong_removals - before;
        c->rest = 0;
        return;
    }
    c->rest = c->rest == 0 ? 1 : 2 * c->rest;
    c->rests = c->rest;
}

void contest_attack(struct flows *f)
{
    for (f->due += f->attack; f->due >= 1; f->due -= 1) {
        for (size_t i = 0; i < f->sets; i++) {
            attack(f, &f->set[i]);
        }
    }
}

/* ---- windows --------------------------------------------------------------------------------- */

static void add_counts(struct counts *to, const struct counts *from)
{
    to->absent += from->absent;
    to->false_positives += from->false_positives;
    to->present += from->present;
    to->false_negatives += from->false_negatives;
    to->several += from->several;
    to->wrong += from->wrong;
    to->wrong_removals += from->wrong_removals;
    to->not_removed += from->not_removed;
    to->not_added += from->not_added;
    to->attacks += from->attacks;
    to->tries += from->tries;
}

void contest_window(struct flows *f, size_t number, double t)
{
    for (size_t i = 0; i < f->sets; i++) {
        struct contestant *c = &f->set[i];
        struct window *w = &c->window[number];
        uint64_t strangers = 0;
        *w = (struct window){.t = t, .counts = c->now, .flows = f->table.present};
        for (uint32_t id = f->table.first; id != NOBODY; id = f->table.flow[id].after) {
            w->missing += !(found(f, c, flows_digest(f, id)) >> f->table.flow[id].state & 1);
        }
        for (uint64_t p = 0; p < PROBES; p++) {
            strangers += found(f, c, stranger(f, number, p)) != 0;
        }
        w->stranger_fp = (double)strangers / PROBES;
        add_counts(&c->total, &c->now);
        memset(&c->now, 0, sizeof c->now);
    }
}

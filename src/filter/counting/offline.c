/*
 * offline.c: groups for keys that are all known. Online, a key is added where it raises the fewest
 * new counters now; whoever knows all keys can move them afterwards.
 *
 *     online result ---> rounds that prefer counters many keys share ---> moves that help at once
 *                        (a counter that v others use costs q^v, q from    until there is none
 *                         3/4 down to 0: crowds gather, rare ones empty)
 *
 * What the moves of the last step raise is the number of counters at 0, and among equals lower that
 * at 1: fewer false positives, then fewer exposed members per wrong removal. In lines it is the sum
 * of occupied^e over the lines, e = min(k, POWER), that they lower: about the rate. The better of
 * this and the online result is taken, by the rate and then by the counters at 1. Integers
 * throughout: every machine chooses alike.
 */
#include "filter/counting/internal.h"

#include <string.h>

#include "base/arena.h"
#include "base/refuse.h"

#define ROUNDS 8   /* of crowding */
#define SWEEPS 100 /* of moves, at most */
#define USUAL  15  /* that suffice */
#define SHARED 64  /* counters that more keys share are alike */

#define MOST_USERS UINT16_MAX

/* What 63 bits hold of 128^e and of 512^e. */
#define POWER      8
#define LONG_POWER 6

struct offline {
    const struct tepal_counting *counting;
    const struct tepal_digest *digests;
    size_t count;
    struct work work;
    uint8_t *group;
    uint16_t *users;                     /* of each counter */
    uint16_t *occupied;                  /* of each line: counters with users; lines only */
    int64_t cost[SHARED];                /* of one more user, by those that there are */
    uint64_t power[TEPAL_LINE_BITS + 1]; /* occupied^e */
};

static uint32_t draw(const struct offline *o, size_t key, uint32_t group, uint64_t *positions)
{
    return tepal_counting_draw(o->counting, counting_group(o->digests[key], group), positions);
}

static void use(struct offline *o, const uint64_t *positions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint16_t *users = &o->users[positions[i]];
        if (*users == 0 && o->occupied != NULL) {
            o->occupied[positions[i] / o->counting->line]++;
        }
        *users = (uint16_t)(*users + (*users < MOST_USERS));
    }
}

static void leave(struct offline *o, const uint64_t *positions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint16_t *users = &o->users[positions[i]];
        *users = (uint16_t)(*users - (*users < MOST_USERS));
        if (*users == 0 && o->occupied != NULL) {
            o->occupied[positions[i] / o->counting->line]--;
        }
    }
}

static int64_t cost_of(const struct offline *o, const uint64_t *positions, uint32_t count)
{
    int64_t cost = 0;
    for (uint32_t i = 0; i < count && o->occupied == NULL; i++) {
        uint16_t users = o->users[positions[i]];
        cost += o->cost[users < SHARED ? users : SHARED - 1];
    }
    for (uint32_t i = 0; i < count && o->occupied != NULL;) { /* one line after the other */
        uint64_t line = positions[i] / o->counting->line;
        uint32_t fresh = 0;
        for (; i < count && positions[i] / o->counting->line == line; i++) {
            fresh += o->users[positions[i]] == 0;
        }
        cost += (int64_t)(o->power[o->occupied[line] + fresh] - o->power[o->occupied[line]]);
    }
    return cost;
}

/* Every key to its cheapest group; it stays among equals. How many moved. */
static size_t sweep(struct offline *o)
{
    size_t moved = 0;
    for (size_t key = 0; key < o->count && work_key(&o->work, key, o->count); key++) {
        uint64_t at[2][TEPAL_MAX_HASHES];
        uint32_t drawn[2];
        unsigned best = 0; /* of the two places */
        uint32_t group = o->group[key];
        drawn[best] = draw(o, key, group, at[best]);
        leave(o, at[best], drawn[best]);
        int64_t least = cost_of(o, at[best], drawn[best]);
        for (uint32_t g = 0; g < o->counting->choices; g++) {
            unsigned other = 1 - best;
            drawn[other] = draw(o, key, g, at[other]);
            int64_t cost = cost_of(o, at[other], drawn[other]);
            if (cost < least) {
                least = cost;
                best = other;
                group = g;
            }
        }
        moved += group != o->group[key];
        o->group[key] = (uint8_t)group;
        use(o, at[best], drawn[best]);
    }
    return moved;
}

/* q^v in 2^-16, q = 3 (ROUNDS - round) / (4 ROUNDS). */
static void prefer_crowds(struct offline *o, int round)
{
    int64_t power = 65536;
    for (int v = 0; v < SHARED; v++) {
        o->cost[v] = power;
        power = power * 3 * (ROUNDS - round) / (4 * ROUNDS);
    }
}

/* A zero is lost; then, a one is made, or lost. */
static void prefer_zeros(struct offline *o)
{
    for (int v = 0; v < SHARED; v++) {
        o->cost[v] = v == 0 ? 65536 + 64 : v == 1 ? -64 : 0;
    }
}

/* The next sweep over all keys; those beyond the usual number share what is left of the work. */
static bool next_sweep(struct offline *o, int number)
{
    double usual = USUAL + (o->occupied == NULL ? ROUNDS : 0);
    double done = number < usual ? 0.98 * number / usual : 1 - 0.02 / (number - usual + 1);
    return work_phase(&o->work, done) == TEPAL_OK;
}

/* False: it was stopped. */
static bool search(struct offline *o)
{
    int sweeps = 0;
    for (int round = 0; round < ROUNDS && o->occupied == NULL && next_sweep(o, ++sweeps); round++) {
        prefer_crowds(o, round);
        (void)sweep(o);
    }
    prefer_zeros(o);
    for (int i = 0; i < SWEEPS && next_sweep(o, ++sweeps) && sweep(o) > 0; i++) {
    }
    return !o->work.stopped;
}

/* The users that there are before, then the keys in the groups that they have. */
static void begin(struct offline *o)
{
    uint64_t cells = o->counting->head.params.cells;
    uint32_t most = o->counting->spread ? LONG_POWER : POWER;
    uint32_t e = o->counting->at.hashes < most ? o->counting->at.hashes : most;
    for (uint64_t i = 0; i <= o->counting->line; i++) {
        o->power[i] = 1;
        for (uint32_t j = 0; j < e; j++) {
            o->power[i] *= i;
        }
    }
    for (uint64_t i = 0; i < cells; i++) {
        uint32_t value = counting_value(o->counting, i);
        o->users[i] = value == o->counting->most ? MOST_USERS : (uint16_t)value; /* for good */
        if (value > 0 && o->occupied != NULL) {
            o->occupied[i / o->counting->line]++;
        }
    }
    for (size_t key = 0; key < o->count; key++) {
        uint64_t at[TEPAL_MAX_HASHES];
        use(o, at, draw(o, key, o->group[key], at));
    }
}

static void add_to(struct tepal_counting *counting, const struct offline *o)
{
    for (size_t key = 0; key < o->count; key++) {
        uint64_t at[TEPAL_MAX_HASHES];
        tepal_counting_raise(counting, at, draw(o, key, o->group[key], at));
    }
    filter_count_keys(&counting->head, o->count);
}

/* Fewer false positives, or as many and fewer counters at 1. */
static bool is_better(const struct tepal_filter *a, const struct tepal_filter *b)
{
    uint64_t ones_a[TEPAL_MAX_COUNTER + 1];
    uint64_t ones_b[TEPAL_MAX_COUNTER + 1];
    double rate_a = tepal_counting_op_fp_now(a);
    double rate_b = tepal_counting_op_fp_now(b);
    (void)tepal_counting_histogram(a, ones_a);
    (void)tepal_counting_histogram(b, ones_b);
    return rate_a < rate_b || (!(rate_a > rate_b) && ones_a[1] < ones_b[1]);
}

/* The search, and into `found`, a copy of the filter; *online has the keys already. */
static enum tepal_status improve(struct offline *o, struct arena *arena, struct tepal_filter *found,
                                 const struct tepal_filter *online, uint8_t *groups)
{
    const struct tepal_params *p = &found->params;
    o->users = tepal_arena_take(arena, p->cells, sizeof *o->users);
    o->group = tepal_arena_take(arena, o->count, 1);
    if (o->counting->lined) {
        o->occupied = tepal_arena_take(arena, p->cells / o->counting->line, sizeof *o->occupied);
    }
    if (o->users == NULL || o->group == NULL || (o->counting->lined && o->occupied == NULL)) {
        return TEPAL_NO_MEMORY;
    }
    memcpy(o->group, groups, o->count);
    begin(o);
    if (!search(o)) {
        return TEPAL_STOPPED;
    }
    add_to(counting_of(found), o);
    if (is_better(found, online)) {
        memcpy(groups, o->group, o->count);
    }
    return TEPAL_OK;
}

enum tepal_status tepal_counting_add_offline(struct tepal_filter *filter,
                                             const struct tepal_digest *digests, size_t count,
                                             const struct tepal_progress *progress,
                                             const struct tepal_allocator *allocator,
                                             uint8_t *groups, struct tepal_error *error)
{
    enum tepal_status status = counting_writable(filter);
    if (status != TEPAL_OK) {
        return refuse_if(error, status);
    }
    struct tepal_counting *counting = counting_of(filter);
    struct arena arena = tepal_arena_open(allocator);
    struct offline o = {
        .counting = counting, .digests = digests, .count = count, .work = work_for(progress)};
    struct tepal_filter *online = NULL;
    struct tepal_filter *found = NULL;
    uint8_t *chosen = tepal_arena_take(&arena, count, 1);
    status = chosen == NULL ? TEPAL_NO_MEMORY
                            : tepal_filter_clone(filter, &arena.allocator, &online, NULL);
    if (status == TEPAL_OK) {
        status = tepal_filter_clone(filter, &arena.allocator, &found, NULL);
    }
    if (status == TEPAL_OK) {
        (void)tepal_counting_add_many(online, digests, count, chosen);
        status = improve(&o, &arena, found, online, chosen);
    }
    if (status == TEPAL_OK) {
        o.group = chosen;
        add_to(counting, &o);
        if (groups != NULL && count > 0) {
            memcpy(groups, chosen, count);
        }
    }
    tepal_filter_free(online);
    tepal_filter_free(found);
    tepal_arena_release(&arena, NULL);
    return refuse_if(error, status);
}

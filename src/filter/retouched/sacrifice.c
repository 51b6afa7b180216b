/*
 * sacrifice.c: choose which members to give up, rather than which bits to clear.
 *
 * Once a member is a false negative, every bit that it alone owns can be cleared for nothing (the
 * sweep of retouch.c). So the retouched filter is the Bloom filter of A without the victims, and
 * all there is to choose is the victims.
 *
 *     member   x1      x2        give up x2: its bit 3 and bit 6 are freed, and all false
 *             /  \    / | \      positives that use one of them are gone; bit 2 stays, for
 *     bit    1    2    3  6      x1 owns it too. Give up x1 then, and bit 2 costs nothing more.
 *
 * Greedy. A candidate is a bit: to free it, all its owners that are left are given up. It is worth
 * the weight of the troublesome keys that go, those of its own users and those of every bit that
 * one of its owners alone has, for each unit of its owners' weight. The best candidate is taken,
 * until B is empty or nothing fits the budget.
 *
 * Priorities are kept in a queue (queue.h). They fall when keys go (very often; corrected only when
 * the bit is the first), and rise when owners go (rarely; corrected at once):
 *
 *     x is lost  -->  each bit of x:  no owner left: freed, its users are gone
 *                                     one owner y:   the bit is now worth something to y: all of
 *                                                    y's bits are looked at again
 *                                     more:          cheaper to free: looked at again
 *
 * What the bits that a member alone has are worth is kept for each member (`sole`), as an upper
 * bound in the same way: it is added to at once, and made right when a bit of it is the first.
 *
 * A key that two of the freed bits have is credited twice: it is rare, and only the order of
 * choices depends on it.
 *
 * Cost. Every question is a chain of random reads: bit, owner, its bits, their owners and users. So
 * what is asked of a bit as a member's is kept with it (`one`, `users`), and each read is requested
 * ahead: the queue tells which bits will be asked.
 *
 * Revival. Later victims make earlier ones superfluous: a victim all of whose keys are also kept
 * out by another freed bit is given back. What that saves of a budget is spent again.
 */
#include "filter/retouched/internal.h"

#include "filter/retouched/queue.h"

#define TIE 1e-3

/* ---- worth ----------------------------------------------------------------------------------- */

/* Instead of the one member that owns a bit: */
#define NOBODY  UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)

/* A member's `sole` is the credit of the users of the bits that it alone has. */

#define OUTSIDE (-1.0F) /* instead of a worth: not in the queue */

/* What is known of a touched bit. */
struct bit {
    double users; /* the credit of the false positives that use it and are not gone */
    uint32_t one; /* its owner that is left, or SEVERAL, or NOBODY */
    float worth;  /* it is in the queue with */
};

/* What the choices are made from, besides the index. */
struct scale {
    float *credit; /* of each troublesome key, for going */
    struct bit *bit;
    uint32_t *went; /* the troublesome keys that are gone, in their order */
    uint32_t going; /* how many */
    uint32_t told;  /* to their bits' `users` */
    struct queue queue;
};

/* The touched bits of a key, and how many: as tepal_retouch_bits has them. */
static uint32_t false_bits(const struct retouch *run, uint32_t key, const uint32_t **ids)
{
    const struct retouch_lists *bits = &run->false_bits;
    *ids = bits->item + bits->start[key];
    return bits->start[key + 1] - bits->start[key];
}

static uint32_t member_bits(const struct retouch *run, uint32_t member, const uint32_t **ids)
{
    *ids = run->member_bits + run->member[member].first;
    return run->member[member + 1].first - run->member[member].first;
}

static double users_left(const struct retouch *run, const struct scale *scale, uint32_t bit)
{
    double sum = 0;
    for (uint32_t i = retouch_users(run, bit); i < retouch_users_end(run, bit); i++) {
        if (!bits_test(run->gone, run->keys.item[i])) {
            sum += (double)scale->credit[run->keys.item[i]];
        }
    }
    return sum;
}

static uint32_t owner_left(const struct retouch *run, uint32_t bit)
{
    uint32_t one = NOBODY;
    for (uint32_t i = retouch_owners(run, bit); i < retouch_owners_end(run, bit); i++) {
        if (!bits_test(run->lost, run->keys.item[i])) {
            if (one != NOBODY) {
                return SEVERAL;
            }
            one = run->keys.item[i];
        }
    }
    return one;
}

/* What goes when the member does: the users of the bits that it alone has. */
static float sole_of(const struct retouch *run, const struct scale *scale, uint32_t member)
{
    const uint32_t *ids;
    uint32_t count = member_bits(run, member, &ids);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += scale->bit[ids[i]].one == member ? scale->bit[ids[i]].users : 0;
    }
    return (float)sum;
}

/* What giving up the owners of a bit costs and brings. */
struct trade {
    double cost;
    double gain;
    uint32_t owners;
    uint32_t alone;
};

static void trade_in(const struct retouch *run, uint32_t member, struct trade *trade)
{
    trade->cost += retouch_member_weight(run, member);
    trade->gain += (double)run->member[member].sole;
    trade->alone += run->member[member].alone;
    trade->owners++;
}

/* The worth of a bit, if `sole` is right about its owners (it may be too high: keys have gone). */
static float worth_of(const struct retouch *run, const struct scale *scale, uint32_t bit)
{
    struct trade trade = {0, 0, 0, 0};
    uint32_t one = scale->bit[bit].one;
    if (one < SEVERAL) {
        trade_in(run, one, &trade); /* its users are among what the owner alone has */
    } else if (one == SEVERAL) {
        for (uint32_t i = retouch_owners(run, bit); i < retouch_owners_end(run, bit); i++) {
            if (!bits_test(run->lost, run->keys.item[i])) {
                trade_in(run, run->keys.item[i], &trade);
            }
        }
        trade.gain += scale->bit[bit].users;
    }
    return trade.gain > 0 ? (float)(trade.gain / trade.cost *
                                    (1 + TIE * (double)trade.alone / (double)trade.owners))
                          : 0;
}

/* The same, once `sole` has been made right. */
static float worth_now(const struct retouch *run, struct scale *scale, uint32_t bit)
{
    uint32_t one = scale->bit[bit].one;
    if (one < SEVERAL) {
        run->member[one].sole = sole_of(run, scale, one);
    } else if (one == SEVERAL) {
        for (uint32_t i = retouch_owners(run, bit); i < retouch_owners_end(run, bit); i++) {
            uint32_t member = run->keys.item[i];
            if (!bits_test(run->lost, member)) {
                run->member[member].sole = sole_of(run, scale, member);
            }
        }
    }
    return worth_of(run, scale, bit);
}

/* Enter the bit, or move it to where its worth belongs. */
static void settle(struct scale *scale, uint32_t bit, float worth)
{
    uint64_t entry = queue_entry(worth, bit);
    if (queue_entry(scale->bit[bit].worth, bit) != entry) {
        scale->bit[bit].worth = worth;
        tepal_queue_push(&scale->queue, entry);
    }
}

static void look_again(const struct retouch *run, struct scale *scale, uint32_t bit)
{
    settle(scale, bit, worth_of(run, scale, bit));
}

/* ---- memory, requested before it is read ----------------------------------------------------- */

#define AHEAD 32 /* bits, in a pass over all of them */

static void fetch_keys(const struct retouch *run, const struct scale *scale, uint32_t bit)
{
    for (uint32_t i = retouch_owners(run, bit); i < retouch_owners_end(run, bit); i++) {
        bits_prefetch(run->lost, run->keys.item[i]);
    }
    for (uint32_t i = retouch_users(run, bit); i < retouch_users_end(run, bit); i++) {
        bits_prefetch(run->gone, run->keys.item[i]);
        __builtin_prefetch(&scale->credit[run->keys.item[i]]);
    }
}

static void fetch_owners(const struct retouch *run, const struct scale *scale, uint32_t bit)
{
    uint32_t one = scale->bit[bit].one;
    if (one < SEVERAL) {
        __builtin_prefetch(&run->member[one]);
    } else if (one == SEVERAL) {
        for (uint32_t i = retouch_owners(run, bit); i < retouch_owners_end(run, bit); i++) {
            __builtin_prefetch(&run->member[run->keys.item[i]]);
        }
    }
}

/* The chain of a bit's first owner, a link at a time. */
static void fetch_link(const struct retouch *run, const struct scale *scale, uint32_t bit, int link)
{
    const struct bit *state = &scale->bit[bit];
    if (link == 0) {
        __builtin_prefetch(state);
        __builtin_prefetch(&run->keys.start[2 * (size_t)bit]);
        return;
    }
    if (state->one == NOBODY || state->worth == OUTSIDE) {
        return;
    }
    bool several = state->one == SEVERAL;
    const uint32_t *owner = &run->keys.item[retouch_owners(run, bit)];
    if (link == 1) {
        __builtin_prefetch(several ? (const void *)owner : &run->member[state->one]);
        return;
    }
    uint32_t first = several ? *owner : state->one;
    if (link == 2) {
        if (several) {
            fetch_owners(run, scale, bit);
        } else {
            __builtin_prefetch(&run->member_bits[run->member[first].first]);
        }
        return;
    }
    const uint32_t *ids;
    uint32_t count = member_bits(run, first, &ids);
    for (uint32_t i = 0; i < count; i++) {
        __builtin_prefetch(&scale->bit[ids[i]]);
    }
}

#define LINKS 4
static const size_t links_ahead[LINKS] = {40, 28, 18, 9};

/* The entries of the run that come soon: all of them if it is new, else one for each link. */
static void fetch_run(const struct retouch *run, const struct scale *scale)
{
    const struct queue *queue = &scale->queue;
    for (int link = 0; link < LINKS; link++) {
        size_t last = queue->next + links_ahead[link];
        for (size_t i = queue->next == 0 ? 0 : last; i <= last && i < queue->run.count; i++) {
            fetch_link(run, scale, queue_bit(queue->run.entry[i]), link);
        }
    }
}

/* ---- giving up ------------------------------------------------------------------------------- */

/* All false positives that use the bit go; their other bits are told later. */
static void free_users(struct retouch *run, struct scale *scale, uint32_t bit)
{
    for (uint32_t i = retouch_users(run, bit); i < retouch_users_end(run, bit); i++) {
        uint32_t f = run->keys.item[i];
        if (!bits_test(run->gone, f)) {
            retouch_remove(run, f);
            scale->went[scale->going++] = f;
        }
    }
}

/* The bits of the keys that went have lost users. */
static void tell_bits(const struct retouch *run, struct scale *scale)
{
    const uint32_t *ids;
    for (uint32_t i = scale->told; i < scale->going; i++) {
        uint32_t count = false_bits(run, scale->went[i], &ids);
        for (uint32_t j = 0; j < count; j++) {
            __builtin_prefetch(&run->keys.start[2 * (size_t)ids[j] + 1]);
            __builtin_prefetch(&scale->bit[ids[j]]);
        }
    }
    for (uint32_t i = scale->told; i < scale->going; i++) {
        uint32_t count = false_bits(run, scale->went[i], &ids);
        for (uint32_t j = 0; j < count; j++) {
            __builtin_prefetch(&run->keys.item[retouch_users(run, ids[j])]);
        }
    }
    for (; scale->told < scale->going; scale->told++) {
        uint32_t count = false_bits(run, scale->went[scale->told], &ids);
        for (uint32_t j = 0; j < count; j++) {
            scale->bit[ids[j]].users = users_left(run, scale, ids[j]);
        }
    }
}

/* What will be looked at again since others own these bits alone now. */
static void fetch_others(const struct retouch *run, const struct scale *scale, const uint32_t *ids,
                         uint32_t count)
{
    for (int link = 0; link < 3; link++) {
        for (uint32_t i = 0; i < count; i++) {
            const struct bit *bit = &scale->bit[ids[i]];
            if (bit->one >= SEVERAL || !(bit->users > 0)) {
                continue;
            }
            const uint32_t *others;
            uint32_t more = member_bits(run, bit->one, &others);
            for (uint32_t j = 0; j < more; j++) {
                if (link == 0) {
                    __builtin_prefetch(others);
                    break;
                }
                if (link == 1) {
                    __builtin_prefetch(&scale->bit[others[j]]);
                    __builtin_prefetch(&run->keys.start[2 * (size_t)others[j]]);
                } else if (scale->bit[others[j]].one == SEVERAL) {
                    __builtin_prefetch(&run->keys.item[retouch_owners(run, others[j])]);
                }
            }
        }
    }
}

/* The member is lost already: see what that does to its bits. */
static void free_bits(struct retouch *run, struct scale *scale, uint32_t member)
{
    const uint32_t *ids;
    uint32_t count = member_bits(run, member, &ids);
    for (uint32_t i = 0; i < count; i++) {
        if (scale->bit[ids[i]].one == NOBODY) {
            free_users(run, scale, ids[i]);
            scale->bit[ids[i]].worth = OUTSIDE;
        }
    }
    tell_bits(run, scale);
    fetch_others(run, scale, ids, count);
    for (uint32_t i = 0; i < count; i++) {
        struct bit *bit = &scale->bit[ids[i]];
        if (bit->one == SEVERAL) {
            look_again(run, scale, ids[i]);
        } else if (bit->one != NOBODY && bit->users > 0) {
            run->member[bit->one].sole += (float)bit->users;
            const uint32_t *others;
            uint32_t more = member_bits(run, bit->one, &others);
            for (uint32_t j = 0; j < more; j++) {
                look_again(run, scale, others[j]);
            }
        }
    }
}

/* The member is lost, or back: who owns its bits now? */
static void own_again(const struct retouch *run, const struct scale *scale, uint32_t member)
{
    const uint32_t *ids;
    uint32_t count = member_bits(run, member, &ids);
    for (uint32_t i = 0; i < count; i++) {
        struct bit *bit = &scale->bit[ids[i]];
        bit->one = bit->one == member ? NOBODY : owner_left(run, ids[i]);
        __builtin_prefetch(&run->keys.start[2 * (size_t)ids[i] + 1]);
        fetch_owners(run, scale, ids[i]);
    }
}

static void give_up(struct retouch *run, struct scale *scale, uint32_t bit)
{
    uint32_t first = retouch_owners(run, bit);
    uint32_t end = retouch_owners_end(run, bit);
    scale->bit[bit].worth = OUTSIDE;
    /* Those who go now are moved to the front of the list: they are looked at once all are lost. */
    uint32_t going = first;
    for (uint32_t i = first; i < end; i++) {
        uint32_t member = run->keys.item[i];
        if (!bits_test(run->lost, member)) {
            retouch_lose(run, member);
            run->keys.item[i] = run->keys.item[going];
            run->keys.item[going++] = member;
        }
    }
    for (uint32_t i = first; i < going; i++) {
        own_again(run, scale, run->keys.item[i]);
    }
    for (uint32_t i = first; i < going; i++) {
        free_bits(run, scale, run->keys.item[i]);
    }
    tepal_retouch_note(run);
}

static void greedy(struct retouch *run, struct scale *scale)
{
    struct queue *queue = &scale->queue;
    /* Steps are many more than keys that go: the share is of these, the steps only say when. */
    for (uint64_t steps = 0; run->gone_targets < run->targets; steps++) {
        if (steps % WORK_KEYS == 0 &&
            !work_done(&run->work, (double)run->gone_targets / (double)run->targets)) {
            return;
        }
        uint64_t best = tepal_queue_best(queue);
        if (best == QUEUE_NONE || queue->failed) {
            break;
        }
        fetch_run(run, scale);
        tepal_queue_take(queue, best);
        uint32_t bit = queue_bit(best);
        if (queue_entry(scale->bit[bit].worth, bit) != best) {
            continue; /* it is elsewhere, or outside, by now */
        }
        float worth = worth_now(run, scale, bit);
        if (worth < queue_worth(best)) {
            if (worth > 0) {
                settle(scale, bit, worth);
            } else {
                scale->bit[bit].worth = OUTSIDE;
            }
        } else if (!retouch_affordable(run, retouch_cost_of(run, bit))) {
            scale->bit[bit].worth = OUTSIDE; /* comes back when it gets cheaper */
        } else {
            give_up(run, scale, bit);
        }
    }
}

/* ---- revival --------------------------------------------------------------------------------- */

static bool is_free(const struct retouch *run, const struct scale *scale, uint32_t bit)
{
    return scale->bit[bit].one == NOBODY && bits_test(run->owned, bit);
}

/* Would the key be found again if the bits `set` were set again? */
static bool comes_back(const struct retouch *run, const struct scale *scale, uint32_t key,
                       const uint32_t *set, uint32_t count)
{
    const uint32_t *ids;
    uint32_t k = false_bits(run, key, &ids);
    for (uint32_t i = 0; i < k; i++) {
        uint32_t j = 0;
        while (j < count && set[j] != ids[i]) {
            j++;
        }
        if (j == count && is_free(run, scale, ids[i])) {
            return false;
        }
    }
    return true;
}

static bool needed(const struct retouch *run, const struct scale *scale, uint32_t member)
{
    const uint32_t *ids;
    uint32_t count = member_bits(run, member, &ids);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_free(run, scale, ids[i])) {
            continue;
        }
        for (uint32_t u = retouch_users(run, ids[i]); u < retouch_users_end(run, ids[i]); u++) {
            if (comes_back(run, scale, run->keys.item[u], ids, count)) {
                return true;
            }
        }
    }
    return false;
}

#define SOME 64 /* victims whose memory is requested together */

static void fetch_needs(const struct retouch *run, const struct scale *scale,
                        const uint32_t *victim, uint32_t count)
{
    const struct retouch_lists *falses = &run->false_bits;
    for (int link = 0; link < 6; link++) {
        for (uint32_t v = 0; v < count; v++) {
            const uint32_t *ids;
            uint32_t bits = member_bits(run, victim[v], &ids);
            for (uint32_t i = 0; i < bits; i++) {
                if (link == 0) {
                    __builtin_prefetch(ids);
                    break; /* they lie side by side */
                }
                uint32_t bit = ids[i];
                if (link == 1) {
                    __builtin_prefetch(&run->keys.start[2 * (size_t)bit + 1]);
                    __builtin_prefetch(&scale->bit[bit]);
                    continue;
                }
                if (scale->bit[bit].one != NOBODY) {
                    continue;
                }
                if (link == 2) {
                    __builtin_prefetch(&run->keys.item[retouch_users(run, bit)]);
                    continue;
                }
                for (uint32_t u = retouch_users(run, bit); u < retouch_users_end(run, bit); u++) {
                    uint32_t key = run->keys.item[u];
                    if (link == 3) {
                        __builtin_prefetch(&falses->start[key]);
                        continue;
                    }
                    if (link == 4) {
                        __builtin_prefetch(&falses->item[falses->start[key]]);
                        continue;
                    }
                    for (uint32_t j = falses->start[key]; j < falses->start[key + 1]; j++) {
                        __builtin_prefetch(&scale->bit[falses->item[j]]);
                    }
                }
            }
        }
    }
}

static uint64_t revive_some(struct retouch *run, const struct scale *scale, const uint32_t *victim,
                            uint32_t count)
{
    uint64_t revived = 0;
    fetch_needs(run, scale, victim, count);
    for (uint32_t v = 0; v < count; v++) {
        if (!needed(run, scale, victim[v])) {
            bits_clear(run->lost, victim[v]);
            run->lost_count--;
            run->lost_weight -= retouch_member_weight(run, victim[v]);
            own_again(run, scale, victim[v]);
            revived++;
        }
    }
    return revived;
}

static uint64_t revive(struct retouch *run, const struct scale *scale, const uint64_t *earlier)
{
    uint32_t victim[SOME];
    uint32_t count = 0;
    uint64_t revived = 0;
    for (size_t w = 0; w < (run->in->member_count + 63) / 64; w++) {
        for (uint64_t rest = run->lost[w] & ~earlier[w]; rest != 0; rest &= rest - 1) {
            victim[count++] = (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(rest);
            if (count == SOME) {
                revived += revive_some(run, scale, victim, count);
                count = 0;
            }
        }
    }
    return revived + revive_some(run, scale, victim, count);
}

/* ---- what the choices are made from ---------------------------------------------------------- */

/*
 * The credit of a key is its weight, if a budget limits what can be had. If all of B must go, the
 * keys that are hard to get at count more: one that has many bits with few owners will go by the
 * way, one whose bits are all shared must be paid for. (1 % fewer victims.)
 */
static void set_credits(const struct retouch *run, struct scale *scale)
{
    for (uint32_t f = 0; f < run->targets; f++) {
        double credit = retouch_false_weight(run, f);
        if (run->how->limit == TEPAL_RETOUCH_LIMIT_ALL) {
            const uint32_t *ids;
            uint32_t count = false_bits(run, f, &ids);
            double ways = 0;
            for (uint32_t i = 0; i < count; i++) {
                uint32_t owners = retouch_owners_end(run, ids[i]) - retouch_owners(run, ids[i]);
                ways += owners == 0 ? 0 : 1 / (double)owners;
            }
            credit = ways > 0 ? 1 / ways : 0;
        }
        scale->credit[f] = (float)credit;
    }
}

/* What is known of all bits, and from it all members' `sole`. */
static void set_bits(const struct retouch *run, struct scale *scale)
{
    for (size_t a = 0; a < run->in->member_count; a++) {
        run->member[a].sole = 0;
    }
    for (uint32_t bit = 0; bit < run->bits; bit++) {
        if (bit + AHEAD < run->bits) {
            fetch_keys(run, scale, bit + AHEAD);
        }
        scale->bit[bit] = (struct bit){users_left(run, scale, bit), owner_left(run, bit), OUTSIDE};
    }
    for (uint32_t bit = 0; bit < run->bits; bit++) {
        if (bit + AHEAD < run->bits && scale->bit[bit + AHEAD].one < SEVERAL) {
            __builtin_prefetch(&run->member[scale->bit[bit + AHEAD].one], 1);
        }
        if (scale->bit[bit].one < SEVERAL) {
            run->member[scale->bit[bit].one].sole += (float)scale->bit[bit].users;
        }
    }
}

static void fill(const struct retouch *run, struct scale *scale)
{
    tepal_queue_clear(&scale->queue);
    for (uint32_t bit = 0; bit < run->bits; bit++) {
        if (bit + AHEAD < run->bits) {
            fetch_owners(run, scale, bit + AHEAD);
        }
        float worth = scale->bit[bit].one != NOBODY ? worth_of(run, scale, bit) : 0;
        if (worth > 0) {
            settle(scale, bit, worth);
        }
    }
}

/* ---- the method ------------------------------------------------------------------------------ */

enum tepal_status tepal_retouch_sacrifice(struct retouch *run)
{
    size_t words = (run->in->member_count + 63) / 64;
    struct scale scale = {.going = 0};
    scale.credit = tepal_arena_raw(&run->arena, run->targets, sizeof *scale.credit);
    scale.bit = tepal_arena_raw(&run->arena, run->bits, sizeof *scale.bit);
    scale.went = tepal_arena_raw(&run->arena, run->targets, sizeof *scale.went);
    uint64_t *earlier = tepal_arena_raw(&run->arena, words, 8);
    if (scale.credit == NULL || scale.bit == NULL || scale.went == NULL || earlier == NULL ||
        !tepal_queue_open(&scale.queue, &run->arena)) {
        return TEPAL_NO_MEMORY;
    }
    set_credits(run, &scale);
    memcpy(earlier, run->lost, words * 8);
    /* What only earlier victims own is freed first: the sweep will clear it. */
    for (uint32_t bit = 0; bit < run->bits; bit++) {
        if (bits_test(run->owned, bit) && owner_left(run, bit) == NOBODY) {
            retouch_free_users(run, bit);
        }
    }
    for (int round = 0; round < 4; round++) {
        set_bits(run, &scale);
        fill(run, &scale);
        greedy(run, &scale);
        if (scale.queue.failed) {
            return TEPAL_NO_MEMORY;
        }
        run->curve = NULL; /* what is saved and spent again is the curve's end, not its course */
        if (run->work.stopped || revive(run, &scale, earlier) == 0 ||
            run->gone_targets == run->targets) {
            break;
        }
    }
    return TEPAL_OK;
}

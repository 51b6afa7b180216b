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
 * Priorities are kept in a heap, one entry a bit. They fall when keys go (very often; corrected
 * only when the entry comes to the top), and rise when owners go (rarely; corrected at once):
 *
 *     x is lost  -->  each bit of x:  no owner left: freed, its users are gone
 *                                     one owner y:   the bit is now worth something to y: all of
 *                                                    y's bits are looked at again
 *                                     more:          cheaper to free: looked at again
 *
 * What the bits that a member alone has are worth is kept for each member (`sole`), as an upper
 * bound in the same way: it is added to at once, and made right when a bit of it comes to the top.
 *
 * A key that two of the freed bits have is credited twice: it is rare, and only the order of
 * choices depends on it.
 *
 * Revival. Later victims make earlier ones superfluous: a victim all of whose keys are also kept
 * out by another freed bit is given back. What that saves of a budget is spent again.
 */
#include "filter/retouched/internal.h"

#include "address/address.h"
#include "filter/retouched/heap.h"

#define TIE   1e-3
#define AHEAD 16

/* ---- worth ----------------------------------------------------------------------------------- */

/* What the choices are made from, besides the index. */
struct scale {
    float *credit;  /* of each troublesome key, for going */
    float *sole;    /* of each member: the credit of the users of the bits that it alone has */
    uint8_t *alone; /* of each member: how many of its bits (touched or not) nobody else has */
};

/* The touched bits of a key, and how many: as tepal_retouch_bits has them. */
static uint32_t bits_of(const struct retouch_lists *bits, uint32_t key, const uint32_t **ids)
{
    *ids = bits->item + bits->start[key];
    return bits->start[key + 1] - bits->start[key];
}

/* The credit of the false positives that use the bit and are not gone. */
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

/* How many owners are left, up to two; *one is the last of them that was seen. */
static uint32_t owners_left(const struct retouch *run, uint32_t bit, uint32_t *one)
{
    uint32_t count = 0;
    for (uint32_t i = retouch_owners(run, bit); i < retouch_owners_end(run, bit) && count < 2;
         i++) {
        if (!bits_test(run->lost, run->keys.item[i])) {
            *one = run->keys.item[i];
            count++;
        }
    }
    return count;
}

/* What goes when the member does: the users of the bits that it alone has. */
static float sole_of(const struct retouch *run, const struct scale *scale, uint32_t member)
{
    const uint32_t *ids;
    uint32_t count = bits_of(&run->member_bits, member, &ids);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t one;
        if (owners_left(run, ids[i], &one) == 1) {
            sum += users_left(run, scale, ids[i]);
        }
    }
    return (float)sum;
}

/* The worth of a bit, if `sole` is right about its owners (it may be too high: keys have gone). */
static float worth_of(const struct retouch *run, const struct scale *scale, uint32_t bit)
{
    double cost = 0;
    double gain = 0;
    uint32_t owners = 0;
    uint32_t alone = 0;
    for (uint32_t i = retouch_owners(run, bit); i < retouch_owners_end(run, bit); i++) {
        uint32_t member = run->keys.item[i];
        if (!bits_test(run->lost, member)) {
            cost += retouch_member_weight(run, member);
            gain += (double)scale->sole[member];
            alone += scale->alone[member];
            owners++;
        }
    }
    if (owners > 1) {
        gain += users_left(run, scale, bit); /* of one owner, they are among what it alone has */
    }
    return gain > 0 ? (float)(gain / cost * (1 + TIE * (double)alone / (double)owners)) : 0;
}

/* The same, once `sole` has been made right. */
static float worth_now(const struct retouch *run, struct scale *scale, uint32_t bit)
{
    for (uint32_t i = retouch_owners(run, bit); i < retouch_owners_end(run, bit); i++) {
        uint32_t member = run->keys.item[i];
        if (!bits_test(run->lost, member)) {
            scale->sole[member] = sole_of(run, scale, member);
        }
    }
    return worth_of(run, scale, bit);
}

/* All members' at once, from the lists: no digest is looked at. */
static void set_soles(const struct retouch *run, struct scale *scale)
{
    for (size_t a = 0; a < run->in->member_count; a++) {
        scale->sole[a] = 0;
    }
    for (uint32_t bit = 0; bit < run->bits; bit++) {
        uint32_t one;
        if (owners_left(run, bit, &one) == 1) {
            scale->sole[one] += (float)users_left(run, scale, bit);
        }
    }
}

static void look_again(const struct retouch *run, const struct scale *scale, struct heap *heap,
                       uint32_t bit)
{
    settle(heap, bit, worth_of(run, scale, bit));
}

/* ---- giving up ------------------------------------------------------------------------------- */

/* The member is lost already: see what that does to its bits. */
static void free_bits(struct retouch *run, struct scale *scale, struct heap *heap, uint32_t member)
{
    const uint32_t *ids;
    uint32_t count = bits_of(&run->member_bits, member, &ids);
    uint32_t one;
    for (uint32_t i = 0; i < count; i++) {
        if (owners_left(run, ids[i], &one) == 0) {
            retouch_free_users(run, ids[i]);
            if (heap->place[ids[i]] != OUTSIDE) {
                leave(heap, ids[i]);
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t left = owners_left(run, ids[i], &one);
        double users = left == 1 ? users_left(run, scale, ids[i]) : 0;
        if (users > 0) {
            scale->sole[one] += (float)users;
            const uint32_t *others;
            uint32_t more = bits_of(&run->member_bits, one, &others);
            for (uint32_t j = 0; j < more; j++) {
                look_again(run, scale, heap, others[j]);
            }
        } else if (left > 1) {
            look_again(run, scale, heap, ids[i]);
        }
    }
}

static void give_up(struct retouch *run, struct scale *scale, struct heap *heap, uint32_t bit)
{
    uint32_t first = retouch_owners(run, bit);
    uint32_t end = retouch_owners_end(run, bit);
    leave(heap, bit);
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
        free_bits(run, scale, heap, run->keys.item[i]);
    }
    tepal_retouch_note(run);
}

static void greedy(struct retouch *run, struct scale *scale, struct heap *heap)
{
    while (run->gone_targets < run->targets && find_top(heap)) {
        uint32_t bit = heap->node[0].bit;
        float worth = worth_now(run, scale, bit);
        if (worth < heap->node[0].worth) {
            if (worth > 0) {
                settle(heap, bit, worth);
            } else {
                leave(heap, bit);
            }
        } else if (!retouch_affordable(run, retouch_cost_of(run, bit))) {
            leave(heap, bit); /* comes back when it gets cheaper */
        } else {
            give_up(run, scale, heap, bit);
        }
    }
}

/* ---- revival --------------------------------------------------------------------------------- */

static bool is_free(const struct retouch *run, uint32_t bit)
{
    uint32_t one;
    return bits_test(run->owned, bit) && owners_left(run, bit, &one) == 0;
}

/* Would the key be found again if the bits `set` were set again? */
static bool comes_back(const struct retouch *run, uint32_t key, const uint32_t *set, uint32_t count)
{
    const uint32_t *ids;
    uint32_t k = bits_of(&run->false_bits, key, &ids);
    for (uint32_t i = 0; i < k; i++) {
        uint32_t j = 0;
        while (j < count && set[j] != ids[i]) {
            j++;
        }
        if (j == count && is_free(run, ids[i])) {
            return false;
        }
    }
    return true;
}

static bool needed(const struct retouch *run, uint32_t member)
{
    const uint32_t *ids;
    uint32_t count = bits_of(&run->member_bits, member, &ids);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_free(run, ids[i])) {
            continue;
        }
        for (uint32_t u = retouch_users(run, ids[i]); u < retouch_users_end(run, ids[i]); u++) {
            if (comes_back(run, run->keys.item[u], ids, count)) {
                return true;
            }
        }
    }
    return false;
}

static uint64_t revive(struct retouch *run, const uint64_t *earlier)
{
    uint64_t revived = 0;
    for (uint32_t a = 0; a < run->in->member_count; a++) {
        if (bits_test(run->lost, a) && !bits_test(earlier, a) && !needed(run, a)) {
            run->lost[a / 64] &= ~((uint64_t)1 << a % 64);
            run->lost_count--;
            run->lost_weight -= retouch_member_weight(run, a);
            revived++;
        }
    }
    return revived;
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
            uint32_t count = bits_of(&run->false_bits, f, &ids);
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

/*
 * Which positions have one owner only; then, for each member, how many of those are its own. Two
 * bitmaps: bits seen once, bits seen again. (A key that hits a bit twice makes it seen again: it is
 * a matter of ties.) As in the index, several members' words are asked for before they are used.
 */
static void count_pass(const struct retouch *run, uint64_t *once, uint64_t *again, uint8_t *alone)
{
    uint64_t at[AHEAD][TEPAL_MAX_HASHES];
    size_t n = run->in->member_count;
    for (size_t first = 0; first < n; first += AHEAD) {
        size_t here = n - first < AHEAD ? n - first : AHEAD;
        uint32_t k = 0;
        for (size_t i = 0; i < here; i++) {
            k = tepal_address_positions(&run->from->at, run->in->members[first + i], at[i]);
            for (uint32_t j = 0; j < k; j++) {
                bits_prefetch(again, at[i][j]);
                if (alone == NULL) {
                    bits_prefetch(once, at[i][j]);
                }
            }
        }
        for (size_t i = 0; i < here; i++) {
            if (bits_test(run->lost, first + i)) {
                continue;
            }
            uint8_t count = 0;
            for (uint32_t j = 0; j < k; j++) {
                uint64_t bit = (uint64_t)1 << (at[i][j] & 63);
                size_t word = (size_t)(at[i][j] >> 6);
                if (alone == NULL) {
                    again[word] |= once[word] & bit;
                    once[word] |= bit;
                } else {
                    count = (uint8_t)(count + ((again[word] & bit) == 0));
                }
            }
            if (alone != NULL) {
                alone[first + i] = count;
            }
        }
    }
}

static enum tepal_status count_alone(struct retouch *run, struct scale *scale)
{
    size_t words = run->from->head.word_count;
    struct arena_piece *last = run->arena.last;
    uint64_t *once = tepal_arena_take(&run->arena, words, 8);
    uint64_t *again = tepal_arena_take(&run->arena, words, 8);
    if (once == NULL || again == NULL) {
        return TEPAL_NO_MEMORY;
    }
    count_pass(run, once, again, NULL);
    count_pass(run, once, again, scale->alone);
    tepal_arena_release(&run->arena, last);
    return TEPAL_OK;
}

/* ---- the method ------------------------------------------------------------------------------ */

enum tepal_status tepal_retouch_sacrifice(struct retouch *run)
{
    size_t words = (run->in->member_count + 63) / 64;
    struct scale scale;
    struct heap heap = {.count = 0, .run = run};
    scale.alone = tepal_arena_take(&run->arena, run->in->member_count, sizeof *scale.alone);
    /* Counting needs two bitmaps of its own, which are gone before the rest is taken. */
    if (scale.alone == NULL || count_alone(run, &scale) != TEPAL_OK) {
        return TEPAL_NO_MEMORY;
    }
    scale.credit = tepal_arena_take(&run->arena, run->targets, sizeof *scale.credit);
    scale.sole = tepal_arena_take(&run->arena, run->in->member_count, sizeof *scale.sole);
    heap.node = tepal_arena_take(&run->arena, (uint64_t)run->bits + NODES, sizeof *heap.node);
    heap.place = tepal_arena_take(&run->arena, run->bits, sizeof *heap.place);
    heap.worth = tepal_arena_take(&run->arena, run->bits, sizeof *heap.worth);
    uint64_t *earlier = tepal_arena_take(&run->arena, words, 8);
    if (scale.credit == NULL || scale.sole == NULL || heap.node == NULL || heap.place == NULL ||
        heap.worth == NULL || earlier == NULL) {
        return TEPAL_NO_MEMORY;
    }
    heap.node += NODES - 1 - ((uintptr_t)heap.node / sizeof *heap.node) % NODES;
    set_credits(run, &scale);
    for (size_t i = 0; i < words; i++) {
        earlier[i] = run->lost[i];
    }
    /* What only earlier victims own is freed first: the sweep will clear it. */
    heap_empty(&heap);
    for (uint32_t bit = 0; bit < run->bits; bit++) {
        if (is_free(run, bit)) {
            retouch_free_users(run, bit);
        }
    }
    for (int round = 0; round < 4; round++) {
        set_soles(run, &scale);
        for (uint32_t bit = 0; bit < run->bits; bit++) {
            float worth =
                bits_test(run->owned, bit) && !is_free(run, bit) ? worth_of(run, &scale, bit) : 0;
            if (worth > 0) {
                settle(&heap, bit, worth);
            }
        }
        greedy(run, &scale, &heap);
        run->curve = NULL; /* what is saved and spent again is the curve's end, not its course */
        heap_empty(&heap);
        if (revive(run, earlier) == 0 || run->gone_targets == run->targets) {
            break;
        }
    }
    return TEPAL_OK;
}

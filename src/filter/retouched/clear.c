/*
 * clear.c: the paper's methods. Randomised bit clearing (Sec. III-B) clears set bits as
 * they come; selective clearing (Algorithms 1 to 7) goes through the troublesome keys and clears
 * one bit of each that is still found:
 *
 *     b in B, still found?  --> which of its k bits?  --> clear it: its owners are lost,
 *                                                         its users are gone
 *
 *     v_A(i) = members that own bit i       v_B(i) = false positives that use it
 *     min-fn: least v_A     max-fp: most v_B     ratio: least v_A / v_B
 *
 * Algorithms 1 to 4 count once, at the start; 5 to 7 count those that are left. As Algorithm 7 is
 * printed it computes all m ratios anew after each reset, which is O(m) a reset, whatever its Lemma
 * 11 says. Only the bits of the key at hand are ever compared, and their counts are read off the
 * lists: the same decisions for O(k) lists a cleared bit. A bit is cleared once, so that over the
 * whole run no more than k |B| lists of B are read.
 *
 * Without the members (blind.c) v_A is a counter, or not known at all, and a budget limits the
 * members that are expected to be lost.
 *
 * Ties go to the lowest bit. A bit that no given member owns is left alone (it must be the bit of a
 * member that was not given). With a budget, bits that would exceed it are not among the choices; a
 * key without any is passed over.
 */
#include "filter/retouched/internal.h"

#include "address/address.h"
#include "base/random.h"

static void lose_owners(struct retouch *run, uint32_t bit)
{
    for (uint32_t i = retouch_owners(run, bit); i < retouch_owners_end(run, bit); i++) {
        if (!bits_test(run->lost, run->keys.item[i])) {
            retouch_lose(run, run->keys.item[i]);
        }
    }
}

static void clear_bit(struct retouch *run, uint32_t bit)
{
    bits_set(run->cleared, bit);
    if (run->blind) {
        tepal_retouch_blind_clear(run, bit);
    } else {
        lose_owners(run, bit);
    }
    retouch_free_users(run, bit);
    tepal_retouch_note(run);
}

/* Is it a member's, and within the budget? */
static bool may_clear(const struct retouch *run, uint32_t bit)
{
    if (run->blind) {
        return tepal_retouch_blind_affordable(run, bit);
    }
    return bits_test(run->owned, bit) && retouch_affordable(run, retouch_cost_of(run, bit));
}

/* ---- bits at random -------------------------------------------------------------------------- */

void tepal_retouch_choose_bits(struct retouch *run)
{
    const struct tepal_filter *head = &run->from->head;
    uint64_t left = tepal_bits_count(head->words, head->word_count);
    uint64_t wanted = run->how->bits == 0 || run->how->bits > left ? left : run->how->bits;
    uint64_t state = run->how->seed;
    for (size_t w = 0; w < head->word_count && wanted > 0; w++) {
        for (uint64_t rest = head->words[w]; rest != 0; rest &= rest - 1) {
            /* Each of the `left` ones that remain is taken with chance wanted / left. */
            if (wide_scale(random_word(&state), left) < wanted) {
                run->touched[w] |= rest & -rest;
                wanted--;
            }
            left--;
        }
    }
}

/* The chosen bits, in random order: it decides which of them the budget reaches. */
static enum tepal_status clear_chosen(struct retouch *run)
{
    uint32_t *order = tepal_arena_take(&run->arena, run->bits, sizeof *order);
    if (order == NULL) {
        return TEPAL_NO_MEMORY;
    }
    uint64_t state = ~run->how->seed;
    for (uint32_t i = 0; i < run->bits; i++) {
        uint32_t j = (uint32_t)wide_scale(random_word(&state), (uint64_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (uint32_t i = 0; i < run->bits; i++) {
        if (may_clear(run, order[i])) {
            clear_bit(run, order[i]);
        }
    }
    return TEPAL_OK;
}

/* ---- a bit of each key ----------------------------------------------------------------------- */

/* v_A(i): the weight of the bit's owners; `now`: of those that are left. */
static double owners_weight(const struct retouch *run, uint32_t bit, bool now)
{
    double sum = 0;
    if (run->blind) {
        return tepal_retouch_blind_owners(run, bit);
    }
    for (uint32_t i = retouch_owners(run, bit); i < retouch_owners_end(run, bit); i++) {
        if (!now || !bits_test(run->lost, run->keys.item[i])) {
            sum += retouch_member_weight(run, run->keys.item[i]);
        }
    }
    return sum;
}

/* v_B(i): the weight of the false positives that use the bit; `now`: of those that are left. */
static double users_weight(const struct retouch *run, uint32_t bit, bool now)
{
    double sum = 0;
    for (uint32_t i = retouch_users(run, bit); i < retouch_users_end(run, bit); i++) {
        if (!now || !bits_test(run->gone, run->keys.item[i])) {
            sum += retouch_false_weight(run, run->keys.item[i]);
        }
    }
    return sum;
}

/* What a method holds against a bit: the least is cleared. */
static double reluctance(const struct retouch *run, uint32_t bit)
{
    switch (run->how->method) {
    case TEPAL_RETOUCH_MIN_FN:
        return owners_weight(run, bit, false);
    case TEPAL_RETOUCH_IMPROVED_MIN_FN:
        return owners_weight(run, bit, true);
    case TEPAL_RETOUCH_MAX_FP:
        return -users_weight(run, bit, false);
    case TEPAL_RETOUCH_IMPROVED_MAX_FP:
        return -users_weight(run, bit, true);
    case TEPAL_RETOUCH_RATIO:
        return owners_weight(run, bit, false) / users_weight(run, bit, false);
    default:
        return owners_weight(run, bit, true) / users_weight(run, bit, true);
    }
}

#define NO_BIT UINT32_MAX

/* The bit of the key to clear, or NO_BIT if none may be. */
static uint32_t choose(const struct retouch *run, struct tepal_digest key)
{
    uint32_t ids[TEPAL_MAX_HASHES];
    uint32_t count = tepal_retouch_bits(run, key, ids);
    uint32_t best = NO_BIT;
    double least = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!may_clear(run, ids[i])) {
            continue;
        }
        double value = reluctance(run, ids[i]);
        if (best == NO_BIT || value < least || (!(value > least) && ids[i] < best)) {
            best = ids[i];
            least = value;
        }
    }
    return best;
}

/* Algorithm 1: RANDOM(h_1(b), ..., h_k(b)), each of the k positions alike. */
static uint32_t choose_random(const struct retouch *run, struct tepal_digest key, uint64_t *state)
{
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(&run->from->at, key, positions);
    uint32_t bit = retouch_number(run, positions[wide_scale(random_word(state), k)]);
    return may_clear(run, bit) ? bit : NO_BIT;
}

enum tepal_status tepal_retouch_clear(struct retouch *run)
{
    if (run->how->method == TEPAL_RETOUCH_RANDOM_BITS) {
        return clear_chosen(run);
    }
    uint64_t state = run->how->seed;
    bool random = run->how->method == TEPAL_RETOUCH_RANDOM;
    for (uint32_t f = 0; f < run->targets && work_key(&run->work, f, run->targets); f++) {
        if (bits_test(run->gone, f)) {
            continue;
        }
        struct tepal_digest key = retouch_false(run, f);
        uint32_t bit = random ? choose_random(run, key, &state) : choose(run, key);
        if (bit != NO_BIT) {
            clear_bit(run, bit);
        }
    }
    return TEPAL_OK;
}

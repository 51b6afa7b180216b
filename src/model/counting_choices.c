/*
 * counting_choices.c: the rate of a counting filter with several choices, and its size for a rate.
 *
 * In slices of many counters (flat and partitioned) and in many lines (blocked) the shares of
 * counters follow differential equations (counting_shares.c, counting_lines.c). A filter of few
 * counters has a little more false positives than their limit. How much more is known for one
 * choice, whose rate is exact on each layout, and holds for several nearly as well:
 *
 *     fp(c) = fp(c, limit) * fp(1) / fp(1, limit)        fp(1, limit) = (1 - e^(-kn/m))^k
 *
 * Filters were found to have up to 1 % more than that; in lines up to 2 % more, and up to 11 % more
 * with 16 choices and more, which make lines uneven inside. Sizes have this margin, so that the
 * rate that was asked for is kept.
 */
#include <math.h>

#include "model/counting.h"
#include "model/model.h"
#include "model/numeric.h"

static double margin(const struct tepal_params *p)
{
    return !tepal_layout_in_lines(p->layout) ? 0.01 : p->counting.choices <= 8 ? 0.02 : 0.15;
}

static double in_slices(const struct tepal_params *p, uint64_t n)
{
    const uint32_t c = (uint32_t)p->counting.choices;
    struct counting_shares shares = {.values = 3};
    if (tepal_model_counting_shares(p->cells, n, p->hashes, c,
                                    p->counting.rule == TEPAL_RULE_IMPROVED_GREEDY,
                                    &shares) != TEPAL_OK) {
        return NAN;
    }
    double load = (double)p->hashes * (double)n / (double)p->cells;
    double limit = whole_power(-expm1(-load), p->hashes);
    double few = limit > 0 ? model_counting_rate(p, n) / limit : 1;
    return at_most_one(tepal_counting_fp(shares.of[0], p->hashes, c) * few);
}

double tepal_counting_choices_rate(const struct tepal_params *p, uint64_t n)
{
    if (p->counting.choices <= 1) {
        return model_counting_rate(p, n);
    }
    if (p->layout == TEPAL_LAYOUT_BLOCKED) {
        return tepal_counting_blocked_choices((enum tepal_counting_lines)p->counting.lines,
                                              p->positions, p->cells, n, p->hashes,
                                              (uint32_t)p->counting.choices, NULL);
    }
    return p->layout == TEPAL_LAYOUT_PAIRED ? NAN : n == 0 ? 0 : in_slices(p, n);
}

/* ---- the size for a rate --------------------------------------------------------------------- */

/*
 * Each rate solves the equations again, so few are asked for: the rate falls nearly as a power of
 * the counters, and is aimed at from the last one that was computed.
 */
#define CLOSE    0.004 /* kept, and by no more than this share below */
#define ATTEMPTS 40

struct bracket {
    uint64_t unit;
    uint64_t low;  /* too few */
    uint64_t high; /* enough; 0: not known yet */
};

/* So many counters, in whole units and inside the bracket. */
static uint64_t settle(const struct bracket *b, double cells)
{
    uint64_t most = b->high != 0 ? b->high - b->unit : PARAMS_MAX_CELLS;
    uint64_t up = whole_of(ceil(cells / (double)b->unit));
    up = up > most / b->unit ? most : up * b->unit;
    return up > b->low ? up : b->low + b->unit;
}

/* The fewest counters with these hashes, `guess` about so many; false: there is no such size. */
static bool fewest(struct tepal_params *p, uint64_t n, double fp, uint64_t guess)
{
    const double aim = log(fp / (1 + margin(p)));
    struct bracket b = {.unit = params_unit(p->layout, params_placed_bits(p, 4)), .low = 0};
    double cells = (double)guess;
    for (int i = 0; i < ATTEMPTS; i++) {
        p->cells = settle(&b, cells);
        double over = log(tepal_counting_choices_rate(p, n)) - aim;
        if (!(over > 0)) {
            b.high = p->cells;
        } else {
            b.low = p->cells;
        }
        if (b.high != 0 && (b.high - b.low <= b.unit || (over <= 0 && over >= -CLOSE))) {
            break;
        }
        if (b.high == 0 && b.low >= PARAMS_MAX_CELLS) {
            return false;
        }
        cells = (double)p->cells * (1 + fmax(-0.5, (over + CLOSE / 2) / -aim));
    }
    p->cells = b.high;
    return b.high != 0 && p->hashes <= p->cells;
}

/* From the best for one choice on, up or down, as long as it takes fewer counters. */
static bool climb(const struct tepal_params *start, uint64_t n, double fp, struct tepal_params *p)
{
    const uint32_t most = tepal_params_max_hashes(p->layout);
    bool found = fewest(p, n, fp, start->cells);
    for (int by = 1; by >= -1; by -= 2) {
        uint32_t begun = p->hashes;
        struct tepal_params next = *p;
        for (;;) {
            next.hashes += (uint32_t)by;
            if (next.hashes == 0 || next.hashes > most ||
                !fewest(&next, n, fp, found ? p->cells : start->cells) ||
                (found && next.cells >= p->cells)) {
                break;
            }
            *p = next;
            found = true;
        }
        if (p->hashes != begun) {
            break;
        }
    }
    return found;
}

enum tepal_status tepal_counting_choices_size(struct tepal_params *params, uint64_t n, double fp)
{
    struct tepal_params one = *params; /* and with one choice */
    one.counting.choices = 1;
    if (params->counting.choices > TEPAL_MAX_CHOICES) {
        return TEPAL_BAD_ARGUMENT;
    }
    enum tepal_status status = model_counting_size(&one, n, fp);
    if (status != TEPAL_OK || params->counting.choices <= 1) {
        params->cells = status == TEPAL_OK ? one.cells : params->cells;
        params->hashes = status == TEPAL_OK ? one.hashes : params->hashes;
        return status;
    }
    if (params->layout == TEPAL_LAYOUT_PAIRED) {
        return TEPAL_UNSUPPORTED;
    }
    struct tepal_params p = *params;
    p.hashes = one.hashes;
    bool found = params->hashes != 0 ? fewest(&p, n, fp, one.cells) : climb(&one, n, fp, &p);
    if (!found) {
        return TEPAL_TOO_LARGE;
    }
    params->cells = p.cells;
    params->hashes = p.hashes;
    return TEPAL_OK;
}

/*
 * search.c: bracket the zero from a guess, then close in by false position on log x, with the
 * Illinois rule (Dowell and Jarratt 1971): an end that stays has its value halved, so that the
 * next step falls on its side. Both ends close in, which a whole-number answer needs. If three
 * steps do not shrink the bracket to a quarter, the next one halves it: so the worst case is
 * bounded whatever the function.
 */
#include "model/search.h"

#include <math.h>

static uint64_t wider(uint64_t step)
{
    return step > UINT64_MAX / 8 ? UINT64_MAX : step * 8;
}

/* Where between lo and hi the values say that the zero is. */
static uint64_t between(uint64_t lo, uint64_t hi, double at_lo, double at_hi)
{
    double width = (double)(hi - lo);
    double part = at_lo / (at_lo - at_hi);
    /* As an offset from lo: log x itself has not the digits to tell neighbours apart. */
    double offset = (double)lo * expm1(part * log1p(width / (double)lo));
    if (!(offset >= 1)) {
        return lo + 1;
    }
    return offset >= width - 1 ? hi - 1 : lo + (uint64_t)offset;
}

bool tepal_model_search(model_search_function *f, const void *context, uint64_t low, uint64_t high,
                        uint64_t guess, uint64_t *first)
{
    uint64_t lo = low;
    double at_lo = f(context, lo);
    if (at_lo <= 0) {
        *first = lo;
        return true;
    }
    if (low == high) {
        return false;
    }
    uint64_t hi = guess <= low ? low + 1 : guess > high ? high : guess;
    double at_hi = f(context, hi);
    uint64_t step = hi / 256 + 1;
    if (at_hi <= 0) {
        while (hi - lo > step) {
            double at = f(context, hi - step);
            if (!(at <= 0)) {
                lo = hi - step;
                at_lo = at;
                break;
            }
            hi -= step;
            at_hi = at;
            step = wider(step);
        }
    }
    while (!(at_hi <= 0)) {
        if (hi == high) {
            return false;
        }
        lo = hi;
        at_lo = at_hi;
        hi = high - lo > step ? lo + step : high;
        at_hi = f(context, hi);
        step = wider(step);
    }

    uint64_t before = hi - lo;
    int turns = 0;
    int stayed = 0; /* -1: lo did not move last time, 1: hi did not */
    while (hi - lo > 1) {
        bool slow = turns >= 3;
        uint64_t x = slow || isnan(at_lo) ? lo + (hi - lo) / 2 : between(lo, hi, at_lo, at_hi);
        double at = f(context, x);
        if (at <= 0) {
            hi = x;
            at_hi = at;
            at_lo /= stayed == -1 ? 2 : 1;
            stayed = -1;
        } else {
            lo = x;
            at_lo = at;
            at_hi /= stayed == 1 ? 2 : 1;
            stayed = 1;
        }
        turns++;
        if (slow || hi - lo <= before / 4) {
            before = hi - lo;
            turns = 0;
        }
    }
    *first = hi;
    return true;
}

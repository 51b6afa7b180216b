/*
 * search.c: bracket the zero from a guess, then close in by false position on log x, with the
 * Illinois rule (Dowell and Jarratt 1971): an end that stays has its value halved, so that the
 * next step falls on its side. Both ends close in, which a whole-number answer needs. If three
 * steps do not shrink the bracket to a quarter, the next one halves it: so the worst case is
 * bounded whatever the function.
 */
#include "model/search.h"

#include <math.h>

/* What is searched, and where. */
struct search {
    model_search_function *f;
    const void *context;
    uint64_t low;
    uint64_t high;
};

/* A number that was asked about, and what the function is there. */
struct end {
    uint64_t x;
    double value;
};

/* The zero is above lo, where f is positive, and at or below hi, where it is not. */
struct bracket {
    struct end lo;
    struct end hi;
};

static struct end ask(const struct search *s, uint64_t x)
{
    return (struct end){x, s->f(s->context, x)};
}

static bool is_past(struct end end)
{
    return end.value <= 0; /* NaN is not */
}

static uint64_t wider(uint64_t step)
{
    return step > UINT64_MAX / 8 ? UINT64_MAX : step * 8;
}

/* ---- a bracket around the zero --------------------------------------------------------------- */

static uint64_t first_step(struct end guess)
{
    return guess.x / 256 + 1;
}

/* hi is past the zero: lower it in ever wider steps as long as it is, and bring lo behind it. */
static void step_down(const struct search *s, struct bracket *b)
{
    for (uint64_t step = first_step(b->hi); b->hi.x - b->lo.x > step; step = wider(step)) {
        struct end next = ask(s, b->hi.x - step);
        if (!is_past(next)) {
            b->lo = next;
            return;
        }
        b->hi = next;
    }
}

/* hi is not past the zero: raise both ends until it is. False if it is not at the very end. */
static bool step_up(const struct search *s, struct bracket *b)
{
    for (uint64_t step = first_step(b->hi); !is_past(b->hi); step = wider(step)) {
        if (b->hi.x == s->high) {
            return false;
        }
        b->lo = b->hi;
        b->hi = ask(s, s->high - b->lo.x > step ? b->lo.x + step : s->high);
    }
    return true;
}

/* ---- closing in ------------------------------------------------------------------------------ */

/* Where in the bracket the values say that the zero is. */
static uint64_t false_position(const struct bracket *b)
{
    double width = (double)(b->hi.x - b->lo.x);
    double part = b->lo.value / (b->lo.value - b->hi.value);
    /* As an offset from lo: log x itself has not the digits to tell neighbours apart. */
    double offset = (double)b->lo.x * expm1(part * log1p(width / (double)b->lo.x));
    if (!(offset >= 1)) {
        return b->lo.x + 1;
    }
    return offset >= width - 1 ? b->hi.x - 1 : b->lo.x + (uint64_t)offset;
}

static void close_in(const struct search *s, struct bracket *b)
{
    uint64_t before = b->hi.x - b->lo.x; /* the width when the turns began */
    int turns = 0;
    enum { NEITHER, LO, HI } stayed = NEITHER; /* which end did not move last time */
    while (b->hi.x - b->lo.x > 1) {
        uint64_t middle = b->lo.x + (b->hi.x - b->lo.x) / 2;
        bool slow = turns >= 3;
        struct end next = ask(s, slow || isnan(b->lo.value) ? middle : false_position(b));
        if (is_past(next)) {
            b->hi = next;
            b->lo.value /= stayed == LO ? 2 : 1;
            stayed = LO;
        } else {
            b->lo = next;
            b->hi.value /= stayed == HI ? 2 : 1;
            stayed = HI;
        }
        turns++;
        if (slow || b->hi.x - b->lo.x <= before / 4) {
            before = b->hi.x - b->lo.x;
            turns = 0;
        }
    }
}

bool tepal_model_search(model_search_function *f, const void *context, uint64_t low, uint64_t high,
                        uint64_t guess, uint64_t *first)
{
    const struct search s = {f, context, low, high};
    struct bracket b = {.lo = ask(&s, low)};
    if (is_past(b.lo)) {
        *first = low;
        return true;
    }
    if (low == high) {
        return false;
    }
    b.hi = ask(&s, guess <= low ? low + 1 : guess > high ? high : guess);
    if (is_past(b.hi)) {
        step_down(&s, &b);
    } else if (!step_up(&s, &b)) {
        return false;
    }
    close_in(&s, &b);
    *first = b.hi.x;
    return true;
}

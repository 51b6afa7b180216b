/*
 * names.c: curves become rows of dots, places beside the dots are tried, and the one furthest from
 * everything else is taken. The name with the fewest places left goes first.
 *
 * Every place is compared with every dot, so that there are few dots however many points a curve
 * has; where few do not suffice the curves fill the picture, and leave no place for a name.
 */
#include "pictures/names.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define STEP    5.0  /* between two dots of a curve */
#define TRIED   3    /* places are tried beside every third of them */
#define ASIDE   6.0  /* from a dot to the name beside it */
#define CLEAR   6.0  /* from a name to other curves */
#define NEARER  4.0  /* by so much is its own curve nearer than any other */
#define ENOUGH  40.0 /* nothing is gained by more distance */
#define AT_END  8.0  /* what a place at the end of the curve is worth, in points of distance */
#define LEAD    14.0 /* length of a line to a name */
#define LED     0.5  /* what such a place is worth: less than any other */
#define BETWEEN 6.0  /* two names in a row */
#define MOST    16   /* names */
#define CROWD   2.5  /* a dot so near to the one before is left out */
#define MANY    8000 /* dots */

struct dot {
    struct spot at;
    size_t curve;
};

struct place {
    struct box box;
    double worth; /* 0: there is none */
};

struct field {
    const struct trail *trail;
    size_t count;
    const struct frame *frame;
    struct dot *dot;
    size_t dots;
};

static double length(struct spot a, struct spot b)
{
    return hypot(b.x - a.x, b.y - a.y);
}

/*
 * Dots along the curve, to its very end, or only their number if there is no room for them; of more
 * than MANY the first ones.
 */
static size_t dots_of(const struct trail *t, size_t curve, struct dot *dot)
{
    size_t made = 0;
    struct spot before = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < t->count && made <= MANY; i++) {
        bool on = t->joined && i + 1 < t->count;
        struct spot from = t->at[i];
        struct spot to = on ? t->at[i + 1] : from;
        size_t parts = on ? (size_t)ceil(length(from, to) / STEP) : 1;
        for (size_t p = 0; p < parts && made <= MANY; p++) {
            double share = (double)p / (double)parts;
            struct spot at = {from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)};
            if (i + 1 < t->count && length(before, at) < CROWD) {
                continue;
            }
            if (dot != NULL) {
                dot[made] = (struct dot){at, curve};
            }
            before = at;
            made++;
        }
    }
    return made;
}

static double gap(const struct box *b, struct spot s)
{
    double aside = fmax(fmax(b->x - s.x, s.x - b->x - b->width), 0);
    double over = fmax(fmax(b->y - BOX_ABOVE - s.y, s.y - b->y - BOX_BELOW), 0);
    return hypot(aside, over);
}

/* Does the line to the name touch this dot? */
static bool crosses(const struct box *b, struct spot s)
{
    double end = b->lead > 0 ? b->y - BOX_ABOVE : b->y + BOX_BELOW;
    double begin = end - b->lead;
    return b->lead != 0 && fabs(s.x - b->x - b->width / 2) < STEP / 2 &&
           s.y > fmin(begin, end) - STEP / 2 && s.y < fmax(begin, end) + STEP / 2;
}

/*
 * How much further a name of this curve would be from all other curves than from its own; 0: not a
 * place for it.
 */
static double worth(const struct field *f, size_t curve, const struct box *b)
{
    const struct frame *e = f->frame;
    if (b->x < e->left + 2 || b->x + b->width > e->right || b->y - BOX_ABOVE < e->top ||
        b->y + BOX_BELOW > e->bottom) {
        return 0;
    }
    double own = INFINITY;
    double other = ENOUGH;
    for (size_t i = 0; i < f->dots; i++) {
        if (f->dot[i].curve != curve && crosses(b, f->dot[i].at)) {
            return 0;
        }
        double *nearest = f->dot[i].curve == curve ? &own : &other;
        *nearest = fmin(*nearest, gap(b, f->dot[i].at));
        if (own < ASIDE / 2 || other < CLEAR) {
            return 0;
        }
    }
    if (b->lead != 0) {
        return LED;
    }
    return other < own + NEARER ? 0 : other - own;
}

static bool is_taken(const struct place *place, size_t count, const struct box *b)
{
    for (size_t i = 0; i < count; i++) {
        const struct box *t = &place[i].box;
        if (place[i].worth > 0 && b->x < t->x + t->width + BETWEEN &&
            t->x < b->x + b->width + BETWEEN && fabs(b->y - t->y) < BOX_ABOVE + BOX_BELOW) {
            return true;
        }
    }
    return false;
}

/* Takes the place if it is better than the best so far. Returns 1 if it is one at all. */
static size_t try(const struct field *f, size_t curve, const struct place *place, struct box b,
                  double more, struct place *best)
{
    double is = is_taken(place, f->count, &b) ? 0 : worth(f, curve, &b);
    if (is > 0 && is + more > best->worth) {
        *best = (struct place){b, is + more};
    }
    return is > 0;
}

/* The best place that a curve has beside those that are taken, and how many it has. */
static size_t find(const struct field *f, size_t curve, const struct place *place,
                   struct place *best)
{
    size_t found = 0;
    double width = f->trail[curve].width;
    *best = (struct place){.worth = 0};
    for (size_t i = 0; i < f->dots; i++) {
        bool end = i + 1 == f->dots || f->dot[i + 1].curve != curve;
        if (f->dot[i].curve != curve || (i % TRIED != 0 && !end)) {
            continue;
        }
        double x = f->dot[i].at.x;
        double y = f->dot[i].at.y;
        double middle = y + (BOX_ABOVE - BOX_BELOW) / 2;
        for (int aside = -1; aside <= 1; aside++) {
            double more = end ? AT_END : 0;
            double left = aside < 0   ? x - ASIDE / 2 - width
                          : aside > 0 ? x + ASIDE / 2
                                      : x - width / 2;
            double over = y - ASIDE - BOX_BELOW;
            double under = y + ASIDE + BOX_ABOVE;
            found += try(f, curve, place, (struct box){left, over, width, 0}, more, best);
            found += try(f, curve, place, (struct box){left, under, width, 0}, more, best);
            if (aside != 0) {
                struct box level = {left + aside * ASIDE / 2, middle, width, 0};
                found += try(f, curve, place, level, more, best);
            } else if (end) {
                struct box below = {left, y + LEAD + 2 + BOX_ABOVE, width, LEAD};
                struct box above = {left, y - LEAD - 2 - BOX_BELOW, width, -LEAD};
                found += try(f, curve, place, below, 0, best);
                found += try(f, curve, place, above, 0, best);
            }
        }
    }
    return found;
}

/* Places one name: of the curve that has fewest places left. False: one has none. */
static bool place_next(const struct field *f, struct place *place)
{
    size_t fewest = SIZE_MAX;
    size_t next = 0;
    struct place its = {.worth = 0};
    for (size_t i = 0; i < f->count; i++) {
        struct place best;
        if (f->trail[i].width > 0 && !(place[i].worth > 0)) {
            size_t found = find(f, i, place, &best);
            if (found < fewest) {
                fewest = found;
                next = i;
                its = best;
            }
        }
    }
    place[next] = its;
    return its.worth > 0;
}

bool names_place(const struct trail *trail, size_t count, const struct frame *frame,
                 struct box *box)
{
    struct field f = {.trail = trail, .count = count, .frame = frame};
    size_t names = 0;
    for (size_t i = 0; i < count && f.dots <= MANY; i++) {
        f.dots += dots_of(&trail[i], i, NULL);
        names += trail[i].width > 0;
    }
    f.dot = malloc((f.dots + 1) * sizeof *f.dot);
    struct place *place = calloc(count + 1, sizeof *place);
    bool all = names > 0 && names <= MOST && f.dots <= MANY && f.dot != NULL && place != NULL;
    for (size_t i = 0, used = 0; all && i < count; i++) {
        used += dots_of(&trail[i], i, f.dot + used);
    }
    for (size_t i = 0; all && i < names; i++) {
        all = place_next(&f, place);
    }
    for (size_t i = 0; all && i < count; i++) {
        box[i] = place[i].box;
    }
    free(place);
    free(f.dot);
    return all;
}

/*
 * search.c: pairs and local-search: those that have a home make room for one that has none.
 *
 *     f wants into no-filter j, but member a would then be vetoed:
 *
 *         bits of a    2  5  9 11          f brings 5 and 9;  2 is there because of g, 11 of h, i
 *
 *     evict the users of a's cheapest bit that is not f's own (g), put f in, find g a new home.
 *
 * A move that leaves less weight is kept, and so is one that leaves as much: the search walks among
 * distributions of equal worth until one can be improved. One that leaves more by w is kept with
 * probability exp(-w / heat) and else taken back: a walk that never climbs ends in the next hollow
 * (n = 90 in the paper's setting: 30.1 left without, 26 with). The best one seen counts. `pairs` is
 * the first step of this alone: one moves over for one that comes, and nothing is left out for it.
 *
 * What is drawn at random is drawn from a fixed seed: the result is a function of the input.
 */
#include "filter/yesno/internal.h"

#include <math.h>
#include <string.h>

#include "base/random.h"

/* In mean weights of a false positive. From 0.5 to 1.2 it makes little difference. */
#define HEAT 0.7

/* The heat is for instances up to this: in larger ones some place is always less tight. */
#define SMALL 4096

/* A change of one home, to be taken back. */
struct change {
    uint32_t f;
    uint8_t before;
};

struct search {
    struct yesno_run *run;
    struct change *log; /* of the move under way; a false positive is in it at most twice */
    uint32_t changes;
    uint32_t *homeless; /* those that a no-filter might take, and that have no home; a list */
    uint32_t *place;    /* f -> its place in that list, plus one; 0: not in it */
    uint32_t count;
    uint8_t *hopeless; /* no empty no-filter takes it */
    uint8_t *best;     /* the homes of the best so far */
    double heat;
    double left;
    double best_left;
    uint64_t random;
};

static uint64_t draw(struct search *s)
{
    return random_word(&s->random);
}

static uint32_t draw_below(struct search *s, uint32_t range)
{
    return (uint32_t)wide_scale(draw(s), range);
}

/* ---- the list of the homeless ---------------------------------------------------------------- */

static void list_in(struct search *s, uint32_t f)
{
    if (!s->hopeless[f]) {
        s->homeless[s->count++] = f;
        s->place[f] = s->count;
    }
    s->left += s->run->weight[f];
}

static void list_out(struct search *s, uint32_t f)
{
    if (!s->hopeless[f]) {
        uint32_t last = s->homeless[--s->count];
        s->homeless[s->place[f] - 1] = last;
        s->place[last] = s->place[f];
        s->place[f] = 0;
    }
    s->left -= s->run->weight[f];
}

static void list_all(struct search *s)
{
    s->count = 0;
    s->left = 0;
    memset(s->place, 0, s->run->falses * sizeof *s->place);
    for (uint32_t f = 0; f < s->run->falses; f++) {
        if (s->run->home[f] == YESNO_HOMELESS) {
            list_in(s, f);
        }
    }
}

/* ---- one move -------------------------------------------------------------------------------- */

static void note(struct search *s, uint32_t f)
{
    s->log[s->changes++] = (struct change){f, s->run->home[f]};
}

static void evict(struct search *s, uint32_t f)
{
    note(s, f);
    tepal_yesno_displace(s->run, f);
    list_in(s, f);
}

static bool settle(struct search *s, uint32_t f, uint32_t j, uint64_t most)
{
    note(s, f);
    if (!tepal_yesno_place(s->run, f, j, most)) {
        s->changes--;
        return false;
    }
    list_out(s, f);
    return true;
}

static void take_back(struct search *s)
{
    struct yesno_run *run = s->run;
    while (s->changes > 0) {
        struct change *c = &s->log[--s->changes];
        if (run->home[c->f] != YESNO_HOMELESS) {
            tepal_yesno_displace(run, c->f);
            list_in(s, c->f);
        }
        if (c->before != YESNO_HOMELESS) {
            (void)tepal_yesno_place(run, c->f, c->before, UINT64_MAX);
            list_out(s, c->f);
        }
    }
}

/* What those who use the bit in no-filter j weigh, and how many they are. */
static double users_weight(struct search *s, uint32_t j, uint32_t bit, uint32_t *count)
{
    const struct yesno_owners *users = &s->run->veto[j].family->users;
    const uint32_t end = users->start[bit + 1];
    double weight = 0;
    *count = 0;
    s->run->work += end - users->start[bit];
    for (uint32_t i = users->start[bit]; i < end; i++) {
        if (s->run->home[users->key[i]] == j) {
            weight += s->run->weight[users->key[i]];
            ++*count;
        }
    }
    return weight;
}

/*
 * Give member `a` back a bit that it misses, other than those of f and those held: the one whose
 * users weigh least, any of them among equals. False if there is none, or more than `most` had to
 * go.
 */
static bool free_member(struct search *s, uint32_t f, uint32_t j, uint32_t a, uint32_t most)
{
    const struct yesno_family *family = s->run->veto[j].family;
    const struct yesno_owners *users = &family->users;
    uint32_t chosen = 0;
    uint32_t ties = 0;
    uint32_t least_count = 0;
    double least = 0;
    const uint32_t *end = yesno_bits_end(family->risk_has, a);
    for (const uint32_t *at = yesno_bits_of(family->risk_has, a); at < end; at++) {
        uint32_t bit = *at;
        if (yesno_bits_have(family->has, f, bit) || yesno_held(s->run, j, bit)) {
            continue;
        }
        uint32_t count;
        double weight = users_weight(s, j, bit, &count);
        if (ties == 0 || weight < least) {
            ties = 0;
        } else if (weight > least) {
            continue;
        }
        if (draw_below(s, ++ties) == 0) {
            chosen = bit;
            least = weight;
            least_count = count;
        }
    }
    if (ties == 0 || least_count > most) {
        return false;
    }
    for (uint32_t i = users->start[chosen]; i < users->start[chosen + 1]; i++) {
        if (s->run->home[users->key[i]] == j) {
            evict(s, users->key[i]);
        }
    }
    return true;
}

/* f, which is nowhere, goes into no-filter j; whoever is in the way goes. */
static bool force(struct search *s, uint32_t f, uint32_t j, uint32_t most)
{
    const struct yesno_veto *veto = &s->run->veto[j];
    const struct yesno_family *family = veto->family;
    (void)settle(s, f, j, UINT64_MAX);
    const uint32_t *end = yesno_bits_end(family->has, f);
    for (const uint32_t *bit = yesno_bits_of(family->has, f); bit < end; bit++) {
        const uint32_t past = family->risk.start[*bit + 1];
        s->run->work += past - family->risk.start[*bit];
        for (uint32_t x = family->risk.start[*bit]; x < past; x++) {
            uint32_t a = family->risk.key[x];
            if (veto->missing[a] == 0 && !tepal_yesno_given_up(s->run, j, a)) {
                uint32_t gone = s->changes - 1;
                if (gone > most || tepal_yesno_stopped(s->run) ||
                    !free_member(s, f, j, a, most - gone)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* A home for f: from a no-filter drawn at random on. */
static bool house(struct search *s, uint32_t f)
{
    uint32_t r = s->run->vetoes;
    uint32_t first = draw_below(s, r);
    for (uint32_t i = 0; i < r; i++) {
        if (settle(s, f, (first + i) % r, 0)) {
            return true;
        }
    }
    return false;
}

/* Is it worth keeping to have `more` weight left than before? Sums may differ by a rounding. */
static bool acceptable(struct search *s, double more, bool even)
{
    double slack = 1e-9 * s->left;
    if (more < -slack || !even) {
        return more < -slack;
    }
    return more <= slack ||
           (s->heat > 0 && (double)(draw(s) >> 11) * 0x1p-53 < exp(-more / s->heat));
}

/* f into j, at most `most` evicted, those elsewhere; kept if acceptable. */
static bool move(struct search *s, uint32_t f, uint32_t j, uint32_t most, bool even)
{
    double before = s->left;
    s->changes = 0;
    bool done = force(s, f, j, most);
    if (done) {
        uint32_t evicted = s->changes;
        for (uint32_t i = 1; i < evicted; i++) {
            (void)house(s, s->log[i].f);
        }
        done = acceptable(s, s->left - before, even);
    }
    if (!done) {
        take_back(s);
        s->left = before;
    }
    return done;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void keep_best(struct search *s)
{
    s->best_left = s->left;
    memcpy(s->best, s->run->home, s->run->falses);
}

static bool perfect(const struct search *s)
{
    return s->count == 0;
}

/* Moves of one at random of the homeless, until so many in a row have brought nothing better. */
static void walk(struct search *s, uint64_t patience)
{
    uint64_t idle = 0;
    while (!perfect(s) && idle < patience && !tepal_yesno_ended(s->run)) {
        uint32_t f = s->homeless[draw_below(s, s->count)];
        s->changes = 0;
        if (!house(s, f)) {
            (void)move(s, f, draw_below(s, s->run->vetoes), UINT32_MAX, true);
        }
        idle++;
        if (s->left < s->best_left) {
            idle = 0;
            if (s->heat > 0) {
                keep_best(s);
            } else {
                s->best_left = s->left; /* it never gets worse than that */
            }
        }
    }
}

/* Adopt homes, as one has saved them. */
static void restore(struct search *s, const uint8_t *homes)
{
    tepal_yesno_empty(s->run);
    for (uint32_t f = 0; f < s->run->falses; f++) {
        if (homes[f] != YESNO_HOMELESS) {
            (void)tepal_yesno_place(s->run, f, homes[f], UINT64_MAX);
        }
    }
    list_all(s);
}

/* ---- what is hopeless ------------------------------------------------------------ */

/*
 * Does false positive f have all bits of some member? Then no no-filter of the family takes it.
 * Such a member's first bit is one of f's, where it is looked for.
 */
static bool covers_member(struct yesno_run *run, const struct yesno_family *family, uint32_t f)
{
    const uint32_t *end = yesno_bits_end(family->has, f);
    for (const uint32_t *bit = yesno_bits_of(family->has, f); bit < end; bit++) {
        const uint32_t past = family->risk.start[*bit + 1];
        for (uint32_t x = family->risk.start[*bit]; x < past; x++) {
            uint32_t a = family->risk.key[x];
            const uint32_t *first = yesno_bits_of(family->risk_has, a);
            if (*first != *bit) {
                continue;
            }
            const uint32_t *last = yesno_bits_end(family->risk_has, a);
            const uint32_t *at = first;
            while (at < last && yesno_bits_have(family->has, f, *at)) {
                at++;
            }
            run->work += 1 + (uint64_t)(at - first);
            if (at == last) {
                return true;
            }
        }
    }
    return false;
}

/*
 * Among the homeless: what has a home is not hopeless, wherever it may be later. Those for which
 * there is no time are taken for hopeful, which costs the search some moves and proves nothing.
 */
static void find_hopeless(struct yesno_run *run, uint8_t *hopeless)
{
    for (uint32_t f = 0; f < run->falses; f++) {
        hopeless[f] = run->home[f] == YESNO_HOMELESS;
    }
    for (uint32_t i = 0; i < run->families; i++) {
        for (uint32_t f = 0; f < run->falses; f++) {
            hopeless[f] =
                hopeless[f] && !tepal_yesno_stopped(run) && covers_member(run, &run->family[i], f);
        }
    }
}

/*
 * As much as seems right, if the caller has not said: linear in what there is to place. The work is
 * more than that many steps take where no-filters are of any use.
 */
static void limit(struct yesno_run *run, uint64_t said)
{
    uint64_t falses = run->falses;
    uint64_t steps = falses <= 256 ? 1000 * falses : 256000 + 32 * (falses - 256);
    tepal_yesno_limit(run, said != 0 ? said : steps);
    if (said == 0) {
        run->most_work = run->work + ((uint64_t)1 << 27) + 1024 * falses;
    }
}

/* The no-filters are filled by first fit. */
static enum tepal_status start(struct search *s, struct yesno_run *run)
{
    uint32_t count = run->falses;
    *s = (struct search){.run = run};
    s->log = tepal_arena_raw(&run->arena, 2 * (uint64_t)count + 2, sizeof *s->log);
    s->homeless = tepal_arena_raw(&run->arena, count, sizeof *s->homeless);
    s->place = tepal_arena_raw(&run->arena, count, sizeof *s->place);
    s->hopeless = tepal_arena_raw(&run->arena, count, 1);
    s->best = tepal_arena_raw(&run->arena, count, 1);
    if (s->log == NULL || s->homeless == NULL || s->place == NULL || s->hopeless == NULL ||
        s->best == NULL) {
        return TEPAL_NO_MEMORY;
    }
    enum tepal_status status = tepal_yesno_index_users(run);
    if (status != TEPAL_OK) {
        return status;
    }
    memcpy(s->best, run->home, count);
    limit(run, 0);
    find_hopeless(run, s->hopeless);
    tepal_yesno_limit(run, YESNO_UNLIMITED);
    list_all(s);
    s->best_left = s->left;
    return TEPAL_OK;
}

/* ---- the methods ----------------------------------------------------------------------------- */

enum tepal_status tepal_yesno_pairs(struct yesno_run *run)
{
    struct search s;
    tepal_yesno_first_fit(run);
    if (tepal_yesno_left(run) == 0) {
        return TEPAL_OK;
    }
    enum tepal_status status = start(&s, run);
    limit(run, 0); /* of which the work alone counts */
    for (uint32_t f = 0; f < run->falses && status == TEPAL_OK && !tepal_yesno_stopped(run); f++) {
        for (uint32_t j = 0; j < run->vetoes && run->home[f] == YESNO_HOMELESS; j++) {
            if (!s.hopeless[f]) {
                (void)move(&s, f, j, 1, false);
            }
        }
    }
    tepal_yesno_limit(run, YESNO_UNLIMITED);
    if (status == TEPAL_OK) {
        tepal_yesno_first_fit(run); /* what the last moves have made room for */
    }
    return status;
}

static double mean_weight(const struct yesno_run *run)
{
    double sum = 0;
    for (uint32_t f = 0; f < run->falses; f++) {
        sum += run->weight[f];
    }
    return sum / run->falses;
}

/* With weights: is first fit better if the heaviest come first? Then start from there. */
static enum tepal_status start_by_weight(struct search *s)
{
    tepal_yesno_empty(s->run);
    enum tepal_status status = tepal_yesno_heavy_fit(s->run);
    if (status == TEPAL_OK) {
        list_all(s);
        if (s->left < s->best_left) {
            keep_best(s);
        } else {
            restore(s, s->best);
        }
    }
    return status;
}

/* Of `parts` walks the next one, from where the search is; it ends at the best that it saw. */
static void go(struct search *s, uint64_t parts)
{
    uint64_t said = s->run->how->steps;
    limit(s->run, said == 0 ? 0 : (said + parts - 1) / parts);
    s->heat = s->run->falses <= SMALL ? HEAT * mean_weight(s->run) : 0;
    keep_best(s);
    walk(s, s->heat > 0 ? UINT64_MAX : 8 * (uint64_t)s->count);
    if (s->heat > 0) {
        restore(s, s->best);
    }
}

/*
 * With weights. Much is solved by steps among equals, of which unequal weights leave few: the walk
 * stops with many left that need not be. So another one begins as if all weighed the same, and goes
 * on by weight from there. The better counts.
 */
static enum tepal_status go_twice(struct search *s)
{
    struct yesno_run *run = s->run;
    double *weight = run->weight;
    double *alike = tepal_arena_take(&run->arena, run->falses, sizeof *alike);
    uint8_t *first = tepal_arena_take(&run->arena, run->falses, 1);
    if (alike == NULL || first == NULL) {
        return TEPAL_NO_MEMORY;
    }
    go(s, 3);
    double left = s->left;
    memcpy(first, run->home, run->falses);
    for (uint32_t f = 0; f < run->falses; f++) {
        alike[f] = 1;
    }
    tepal_yesno_empty(run);
    tepal_yesno_first_fit(run);
    run->weight = alike;
    list_all(s);
    go(s, 3);
    run->weight = weight;
    list_all(s);
    go(s, 3);
    if (s->left >= left) {
        restore(s, first);
    }
    return TEPAL_OK;
}

/* First fit, then the walk. What is kept is never worse than first fit's. */
enum tepal_status tepal_yesno_local_search(struct yesno_run *run)
{
    struct search s;
    tepal_yesno_first_fit(run);
    if (tepal_yesno_left(run) == 0) {
        return TEPAL_OK;
    }
    enum tepal_status status = start(&s, run);
    if (status == TEPAL_OK && run->in->avoid_weights != NULL) {
        status = start_by_weight(&s);
    }
    if (status != TEPAL_OK) {
        return status;
    }
    if (run->in->avoid_weights != NULL) {
        status = go_twice(&s);
    } else {
        go(&s, 1);
    }
    run->proved = perfect(&s);
    tepal_yesno_limit(run, YESNO_UNLIMITED);
    tepal_yesno_first_fit(run); /* what the last moves have made room for */
    return status;
}

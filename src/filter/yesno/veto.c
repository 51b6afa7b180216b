/*
 * veto.c: the no-filters under construction (internal.h).
 *
 *     false positive f      bits  3  9 17            no-filter j:  uses of each bit
 *                                 |  |  |                          missing of each member at risk
 *     members at risk     bit 9: a, c   bit 17: a
 *
 * A bit is 1 in a no-filter while somebody there uses it. When a bit becomes 1, each member at risk
 * that has it misses one bit less; a member that misses none is vetoed. So to put a false positive
 * somewhere costs the lists of the bits that it brings, not a look at all members, and to take it
 * away again is the same walk back.
 *
 * At risk are the members all of whose bits are bits of false positives: no other can ever be
 * vetoed. With half the bits used and k' = 13 that is one in 8192.
 *
 * In a filter that exists, bits of the no-filters are set for false positives that nobody
 * remembers. These bits are held: used once more than is known, so that they are never cleared.
 */
#include "filter/yesno/internal.h"

#include <string.h>

#include "base/checked.h"

/* ---- who has which bits ---------------------------------------------------------------------- */

#define AHEAD 24 /* entries, or keys, whose memory is requested */

/* The bits of a key in the no-filters of family `number`, each once. */
static uint32_t bits_of(const struct yesno_run *run, uint32_t number, struct tepal_digest digest,
                        uint32_t *bits)
{
    const struct tepal_yesno *filter = run->filter;
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(
        &filter->no, yesno_no_digest(filter->salt, filter->own_seeds, number, digest), positions);
    uint32_t count = 0;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t bit = (uint32_t)positions[i];
        uint32_t j = 0;
        while (j < count && bits[j] != bit) {
            j++;
        }
        if (j == count) {
            bits[count++] = bit;
        }
    }
    return count;
}

/* Room for `count` lists of at most k' bits. */
static bool take_has(struct yesno_run *run, struct yesno_lists *has, uint32_t count)
{
    has->start = tepal_arena_take(&run->arena, (uint64_t)count + 1, sizeof *has->start);
    has->item =
        tepal_arena_raw(&run->arena, (uint64_t)count * run->filter->no.hashes, sizeof *has->item);
    return has->start != NULL && has->item != NULL;
}

/* `to` := the lists the other way round: bit -> owners, in their order. */
static bool invert(struct yesno_run *run, const struct yesno_lists *has, uint32_t count,
                   struct yesno_lists *to)
{
    uint64_t bits = run->filter->no.cells;
    to->start = tepal_arena_take(&run->arena, bits + 2, sizeof *to->start);
    to->item = tepal_arena_raw(&run->arena, has->start[count], sizeof *to->item);
    if (to->start == NULL || to->item == NULL) {
        return false;
    }
    const uint64_t entries = has->start[count];
    for (uint64_t i = 0; i < entries; i++) {
        if (i + AHEAD < entries) {
            __builtin_prefetch(&to->start[has->item[i + AHEAD] + (uint64_t)2], 1);
        }
        to->start[has->item[i] + (uint64_t)2]++;
    }
    for (uint64_t bit = 2; bit < bits + 2; bit++) {
        to->start[bit] += to->start[bit - 1];
    }
    /* start[bit + 1] is where the next owner goes, and in the end where the next list starts. */
    for (uint32_t owner = 0; owner < count; owner++) {
        for (uint64_t i = has->start[owner]; i < has->start[owner + 1]; i++) {
            if (i + 2 * AHEAD < entries) {
                __builtin_prefetch(&to->start[has->item[i + 2 * AHEAD] + (uint64_t)1], 1);
                uint64_t next = to->start[has->item[i + AHEAD] + (uint64_t)1];
                __builtin_prefetch(&to->item[next], 1);
            }
            to->item[to->start[has->item[i] + (uint64_t)1]++] = owner;
        }
    }
    return true;
}

static enum tepal_status index_falses(struct yesno_run *run, uint32_t number, uint64_t *used)
{
    struct yesno_lists *has = &run->family[number].has;
    if (!take_has(run, has, run->falses)) {
        return TEPAL_NO_MEMORY;
    }
    for (uint32_t f = 0; f < run->falses; f++) {
        uint32_t *bits = has->item + has->start[f];
        uint32_t count = bits_of(run, number, run->in->avoid[run->avoid[f]], bits);
        for (uint32_t i = 0; i < count; i++) {
            bits_set(used, bits[i]);
        }
        has->start[f + 1] = has->start[f] + count;
    }
    return TEPAL_OK;
}

static enum tepal_status index_members(struct yesno_run *run, uint32_t number, const uint64_t *used)
{
    struct yesno_family *family = &run->family[number];
    const struct tepal_yesno *filter = run->filter;
    const struct tepal_digest *members = run->in->members;
    uint32_t count = (uint32_t)run->in->member_count;
    uint64_t *risky = tepal_arena_bitmap(&run->arena, (uint64_t)count);
    if (risky == NULL) {
        return TEPAL_NO_MEMORY;
    }
    for (uint32_t first = 0; first < count; first += AHEAD) {
        uint32_t end = count - first < AHEAD ? count : first + AHEAD;
        uint64_t at[AHEAD][TEPAL_MAX_HASHES];
        uint32_t k = filter->no.hashes;
        for (uint32_t i = first; i < end; i++) {
            (void)tepal_address_positions(
                &filter->no, yesno_no_digest(filter->salt, filter->own_seeds, number, members[i]),
                at[i - first]);
            for (uint32_t j = 0; j < k && j < 4; j++) { /* most are refused by the first few */
                bits_prefetch(used, at[i - first][j]);
            }
        }
        for (uint32_t i = first; i < end; i++) {
            uint32_t j = 0;
            while (j < k && bits_test(used, at[i - first][j])) {
                j++;
            }
            if (j == k) {
                bits_set(risky, i);
                family->risks++;
            }
        }
    }
    family->member = tepal_arena_take(&run->arena, family->risks, sizeof *family->member);
    struct yesno_lists *has = &family->risk_has;
    if (family->member == NULL || !take_has(run, has, family->risks)) {
        return TEPAL_NO_MEMORY;
    }
    uint32_t found = 0;
    for (uint32_t i = 0; i < count && found < family->risks; i++) {
        if (bits_test(risky, i)) {
            uint32_t bits = bits_of(run, number, members[i], has->item + has->start[found]);
            has->start[found + 1] = has->start[found] + bits;
            family->member[found++] = i;
        }
    }
    return invert(run, has, family->risks, &family->risk) ? TEPAL_OK : TEPAL_NO_MEMORY;
}

enum tepal_status tepal_yesno_index_users(struct yesno_run *run)
{
    for (uint32_t i = 0; i < run->families; i++) {
        if (!invert(run, &run->family[i].has, run->falses, &run->family[i].users)) {
            return TEPAL_NO_MEMORY;
        }
    }
    return TEPAL_OK;
}

static void mark_held(struct yesno_run *run, uint32_t j, uint64_t *used)
{
    run->veto[j].held = false;
    for (uint32_t bit = 0; bit < run->filter->no.cells; bit++) {
        if (yesno_held(run, j, bit)) {
            bits_set(used, bit);
            run->veto[j].held = true;
        }
    }
}

enum tepal_status tepal_yesno_index(struct yesno_run *run)
{
    uint64_t words = (run->filter->no.cells + 63) / 64;
    run->vetoes = run->filter->filters;
    run->families = run->vetoes == 0 ? 0 : run->filter->own_seeds ? run->vetoes : 1;
    uint64_t *used = tepal_arena_take(&run->arena, words, 8);
    enum tepal_status status = used == NULL ? TEPAL_NO_MEMORY : TEPAL_OK;
    for (uint32_t j = 0; j < run->vetoes; j++) {
        run->veto[j].first = run->filter->yes.cells + j * run->filter->no.cells;
    }
    for (uint32_t i = 0; i < run->families && status == TEPAL_OK; i++) {
        run->family[i] = (struct yesno_family){0};
        memset(used, 0, (size_t)words * 8);
        for (uint32_t j = 0; j < run->vetoes; j++) {
            if (run->families == 1 || j == i) {
                mark_held(run, j, used);
            }
        }
        status = index_falses(run, i, used);
        if (status == TEPAL_OK) {
            status = index_members(run, i, used);
        }
    }
    for (uint32_t j = 0; j < run->vetoes && status == TEPAL_OK; j++) {
        struct yesno_veto *veto = &run->veto[j];
        veto->family = &run->family[run->families == 1 ? 0 : j];
        veto->uses = tepal_arena_take(&run->arena, run->filter->no.cells, sizeof *veto->uses);
        veto->missing = tepal_arena_take(&run->arena, veto->family->risks, 1);
        status = veto->uses == NULL || veto->missing == NULL ? TEPAL_NO_MEMORY : TEPAL_OK;
    }
    if (status == TEPAL_OK) {
        tepal_yesno_empty(run);
    }
    return status;
}

/* ---- in and out ------------------------------------------------------------------------------ */

/*
 * One use of a bit more, and one less. As soon as more than `most` members are vetoed the walk
 * ends: a no-filter that is full refuses after a few members, not after all. Returned is where it
 * ended, and the walk back goes as far.
 */
static uint64_t use(struct yesno_run *run, struct yesno_veto *veto, uint32_t bit, uint64_t most)
{
    const struct yesno_lists *risk = &veto->family->risk;
    uint64_t i = risk->start[bit];
    if (veto->uses[bit]++ == 0) {
        for (; i < risk->start[bit + 1] && veto->vetoed <= most; i++) {
            veto->vetoed += --veto->missing[risk->item[i]] == 0;
        }
        run->work += i - risk->start[bit];
    }
    return i;
}

void tepal_yesno_empty(struct yesno_run *run)
{
    memset(run->home, YESNO_HOMELESS, run->falses);
    for (uint32_t j = 0; j < run->vetoes; j++) {
        struct yesno_veto *veto = &run->veto[j];
        const uint64_t *start = veto->family->risk_has.start;
        memset(veto->uses, 0, (size_t)run->filter->no.cells * sizeof *veto->uses);
        veto->vetoed = 0;
        for (uint32_t a = 0; a < veto->family->risks; a++) {
            veto->missing[a] = (uint8_t)(start[a + 1] - start[a]);
        }
        for (uint32_t bit = 0; veto->held && bit < run->filter->no.cells; bit++) {
            if (yesno_held(run, j, bit)) {
                (void)use(run, veto, bit, UINT64_MAX);
            }
        }
    }
}

bool tepal_yesno_given_up(const struct yesno_run *run, uint32_t j, uint32_t a)
{
    const struct yesno_lists *has = &run->veto[j].family->risk_has;
    uint64_t i = has->start[a];
    while (i < has->start[a + 1] && yesno_held(run, j, has->item[i])) {
        i++;
    }
    return i == has->start[a + 1];
}

static void unuse(struct yesno_run *run, struct yesno_veto *veto, uint32_t bit, uint64_t end)
{
    const struct yesno_lists *risk = &veto->family->risk;
    if (--veto->uses[bit] == 0) {
        for (uint64_t i = risk->start[bit]; i < end; i++) {
            veto->vetoed -= veto->missing[risk->item[i]]++ == 0;
        }
        run->work += end - risk->start[bit];
    }
}

void tepal_yesno_fetch(const struct yesno_run *run, uint32_t f, uint32_t j)
{
    const struct yesno_veto *veto = &run->veto[j];
    const struct yesno_lists *has = &veto->family->has;
    for (uint64_t i = has->start[f]; i < has->start[f + 1]; i++) {
        __builtin_prefetch(&veto->uses[has->item[i]], 1);
        __builtin_prefetch(&veto->family->risk.start[has->item[i]]);
    }
}

bool tepal_yesno_place(struct yesno_run *run, uint32_t f, uint32_t j, uint64_t most)
{
    struct yesno_veto *veto = &run->veto[j];
    const struct yesno_lists *has = &veto->family->has;
    const uint64_t *risk_start = veto->family->risk.start;
    uint64_t limit = saturating_add(veto->vetoed, most);
    uint64_t i = has->start[f];
    uint64_t end = 0;
    run->steps++;
    /* All are requested at once: the walk is full of branches that keep the next from beginning. */
    tepal_yesno_fetch(run, f, j);
    for (uint64_t ahead = i; ahead < has->start[f + 1]; ahead++) {
        __builtin_prefetch(&veto->family->risk.item[risk_start[has->item[ahead]]]);
    }
    for (; i < has->start[f + 1] && veto->vetoed <= limit; i++) {
        end = use(run, veto, has->item[i], limit);
    }
    if (veto->vetoed <= limit) {
        run->home[f] = (uint8_t)j;
        return true;
    }
    while (i-- > has->start[f]) {
        unuse(run, veto, has->item[i], end);
        end = i > has->start[f] ? risk_start[has->item[i - 1] + (uint64_t)1] : 0;
    }
    return false;
}

void tepal_yesno_displace(struct yesno_run *run, uint32_t f)
{
    struct yesno_veto *veto = &run->veto[run->home[f]];
    const struct yesno_lists *has = &veto->family->has;
    for (uint64_t i = has->start[f]; i < has->start[f + 1]; i++) {
        uint32_t bit = has->item[i];
        unuse(run, veto, bit, veto->family->risk.start[bit + (uint64_t)1]);
    }
    run->home[f] = YESNO_HOMELESS;
}

uint32_t tepal_yesno_gain(const struct yesno_run *run, uint32_t f, uint32_t j)
{
    const struct yesno_veto *veto = &run->veto[j];
    const struct yesno_lists *has = &veto->family->has;
    uint32_t gain = 0;
    for (uint64_t i = has->start[f]; i < has->start[f + 1]; i++) {
        gain += veto->uses[has->item[i]] == 0;
    }
    return gain;
}

double tepal_yesno_left(const struct yesno_run *run)
{
    double left = 0;
    for (uint32_t f = 0; f < run->falses; f++) {
        left += run->home[f] == YESNO_HOMELESS ? run->weight[f] : 0;
    }
    return left;
}

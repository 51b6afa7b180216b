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

/* The bits of a key in the no-filters of family `number`, each once, as a row of `bits`. */
static void bits_of(const struct yesno_run *run, uint32_t number, struct tepal_digest digest,
                    struct yesno_bits bits, uint32_t key)
{
    const struct tepal_yesno *filter = run->filter;
    uint32_t *row = bits.row + (uint64_t)key * bits.width;
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t count = 0;
    (void)tepal_address_positions(
        &filter->no, yesno_no_digest(filter->salt, filter->own_seeds, number, digest), positions);
    for (uint32_t i = 0; i < bits.width; i++) {
        uint32_t bit = (uint32_t)positions[i];
        bool again = false;
        for (uint32_t j = 0; j < count; j++) {
            again |= row[j] == bit;
        }
        row[count] = bit;
        count += !again;
    }
    while (count < bits.width) {
        row[count++] = YESNO_NO_BIT;
    }
}

/* Room for the bits of `count` keys. */
static enum tepal_status take_bits(struct yesno_run *run, uint32_t count, struct yesno_bits *bits)
{
    bits->width = run->filter->no.hashes;
    uint64_t places = (uint64_t)count * bits->width;
    bits->row = tepal_arena_raw(&run->arena, places, sizeof *bits->row);
    return places > UINT32_MAX ? TEPAL_TOO_LARGE : bits->row == NULL ? TEPAL_NO_MEMORY : TEPAL_OK;
}

/*
 * Bits and owners are ordered in two steps, by block and then within it: all that belongs to a
 * block of 2^15 bits stays in the cache.
 */
#define BLOCK 15

struct sorting {
    uint32_t *end;    /* of each block among the entries, in end[b + 1]; end[0] is 0 */
    uint16_t *within; /* of each entry: the bit, in its block */
    uint32_t *owner;  /* the owners of one block */
};

static uint32_t blocks_of(const struct yesno_run *run)
{
    return (uint32_t)(run->filter->no.cells >> BLOCK) + 1;
}

/* The owners by block, to `key`. */
static void sort_blocks(const struct sorting *s, struct yesno_bits bits, uint32_t count,
                        uint32_t *key)
{
    for (uint32_t owner = 0; owner < count; owner++) {
        const uint32_t *end = yesno_bits_end(bits, owner);
        for (const uint32_t *bit = yesno_bits_of(bits, owner); bit < end; bit++) {
            uint32_t at = s->end[*bit >> BLOCK]++;
            key[at] = owner;
            s->within[at] = (uint16_t)(*bit % (1 << BLOCK));
        }
    }
}

/*
 * The owners of a block, its entries from `first` to `end`, by bit. Of its `bits` bits, the list of
 * bit i will begin at start[i]; now start[1] is where the first one does, and what follows is 0.
 */
static void sort_block(const struct sorting *s, uint32_t first, uint32_t end, uint32_t bits,
                       uint32_t *start, uint32_t *key)
{
    memcpy(s->owner, key + first, (size_t)(end - first) * sizeof *key);
    for (uint32_t i = first; i < end; i++) {
        start[s->within[i] + 2]++;
    }
    for (uint32_t bit = 0; bit < bits; bit++) {
        start[bit + 2] += start[bit + 1];
    }
    /* start[bit + 1] is where the next owner goes, and in the end where the next list starts. */
    for (uint32_t i = first; i < end; i++) {
        key[start[s->within[i] + 1]++] = s->owner[i - first];
    }
}

/* `to` := the bits the other way round: bit -> owners, in their order. */
static enum tepal_status invert(struct yesno_run *run, struct yesno_bits bits, uint32_t count,
                                struct yesno_owners *to)
{
    const uint64_t cells = run->filter->no.cells;
    const uint32_t blocks = blocks_of(run);
    const uint64_t places = (uint64_t)count * bits.width;
    to->start = tepal_arena_take(&run->arena, cells + 2, sizeof *to->start);
    to->key = tepal_arena_raw(&run->arena, places, sizeof *to->key);
    struct arena_piece *last = run->arena.last;
    struct sorting s = {
        .end = tepal_arena_take(&run->arena, (uint64_t)blocks + 1, sizeof *s.end),
        .within = tepal_arena_raw(&run->arena, places, sizeof *s.within),
    };
    if (to->start == NULL || to->key == NULL || s.end == NULL || s.within == NULL) {
        return TEPAL_NO_MEMORY;
    }
    for (uint32_t owner = 0; owner < count; owner++) {
        const uint32_t *end = yesno_bits_end(bits, owner);
        for (const uint32_t *bit = yesno_bits_of(bits, owner); bit < end; bit++) {
            s.end[(*bit >> BLOCK) + 1]++;
        }
    }
    uint32_t most = 0;
    for (uint32_t b = 1; b <= blocks; b++) {
        most = s.end[b] > most ? s.end[b] : most;
        s.end[b] += s.end[b - 1];
    }
    s.owner = tepal_arena_raw(&run->arena, most, sizeof *s.owner);
    if (s.owner == NULL) {
        return TEPAL_NO_MEMORY;
    }
    sort_blocks(&s, bits, count, to->key);
    for (uint32_t b = 0; b < blocks; b++) { /* where each began, its end is now */
        const uint64_t bit = (uint64_t)b << BLOCK;
        const uint64_t left = cells - bit;
        sort_block(&s, b == 0 ? 0 : s.end[b - 1], s.end[b],
                   left < 1 << BLOCK ? (uint32_t)left : 1 << BLOCK, to->start + bit, to->key);
    }
    tepal_arena_release(&run->arena, last);
    return TEPAL_OK;
}

static enum tepal_status index_falses(struct yesno_run *run, uint32_t number, uint64_t *used)
{
    struct yesno_bits *has = &run->family[number].has;
    enum tepal_status status = take_bits(run, run->falses, has);
    for (uint32_t f = 0; f < run->falses && status == TEPAL_OK; f++) {
        bits_of(run, number, run->key[f], *has, f);
        const uint32_t *end = yesno_bits_end(*has, f);
        for (const uint32_t *bit = yesno_bits_of(*has, f); bit < end; bit++) {
            bits_set(used, *bit);
        }
    }
    return status;
}

/* The members all of whose bits are used, as bits of `risky`. Returns how many. */
static uint32_t find_risky(const struct yesno_run *run, uint32_t number, const uint64_t *used,
                           uint64_t *risky)
{
    uint16_t all[BLOOM_PART_KEYS];
    uint32_t found = 0;
    for (uint32_t i = 0; i < BLOOM_PART_KEYS; i++) {
        all[i] = (uint16_t)i;
    }
    for (size_t first = 0; first < run->in->member_count; first += BLOOM_PART_KEYS) {
        size_t left = run->in->member_count - first;
        uint32_t count = left < BLOOM_PART_KEYS ? (uint32_t)left : BLOOM_PART_KEYS;
        uint16_t stay[BLOOM_PART_KEYS];
        uint32_t in = tepal_yesno_inside(run->filter, used, 0, number, run->in->members + first,
                                         all, count, stay);
        for (uint32_t n = 0; n < in; n++) {
            bits_set(risky, first + stay[n]);
        }
        found += in;
    }
    return found;
}

static enum tepal_status index_members(struct yesno_run *run, uint32_t number, const uint64_t *used)
{
    struct yesno_family *family = &run->family[number];
    const size_t words = (run->in->member_count + 63) / 64;
    uint64_t *risky = tepal_arena_bitmap(&run->arena, run->in->member_count);
    if (risky == NULL) {
        return TEPAL_NO_MEMORY;
    }
    family->risks = find_risky(run, number, used, risky);
    family->member = tepal_arena_raw(&run->arena, family->risks, sizeof *family->member);
    if (family->member == NULL) {
        return TEPAL_NO_MEMORY;
    }
    enum tepal_status status = take_bits(run, family->risks, &family->risk_has);
    if (status != TEPAL_OK) {
        return status;
    }
    uint32_t a = 0;
    for (size_t w = 0; w < words; w++) {
        for (uint64_t word = risky[w]; word != 0; word &= word - 1) {
            uint32_t i = (uint32_t)(64 * w + (size_t)__builtin_ctzll(word));
            bits_of(run, number, run->in->members[i], family->risk_has, a);
            family->member[a++] = i;
        }
    }
    return invert(run, family->risk_has, family->risks, &family->risk);
}

enum tepal_status tepal_yesno_index_users(struct yesno_run *run)
{
    enum tepal_status status = TEPAL_OK;
    for (uint32_t i = 0; i < run->families && status == TEPAL_OK; i++) {
        status = invert(run, run->family[i].has, run->falses, &run->family[i].users);
    }
    return status;
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
        veto->uses = tepal_arena_raw(&run->arena, run->filter->no.cells, sizeof *veto->uses);
        veto->missing = tepal_arena_raw(&run->arena, veto->family->risks, 1);
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
static uint32_t use(struct yesno_run *run, struct yesno_veto *veto, uint32_t bit, uint64_t most)
{
    const struct yesno_owners *risk = &veto->family->risk;
    uint32_t i = risk->start[bit];
    if (veto->uses[bit]++ == 0) {
        for (; i < risk->start[bit + 1] && veto->vetoed <= most; i++) {
            veto->vetoed += --veto->missing[risk->key[i]] == 0;
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
        const struct yesno_bits has = veto->family->risk_has;
        memset(veto->uses, 0, (size_t)run->filter->no.cells * sizeof *veto->uses);
        veto->vetoed = 0;
        for (uint32_t a = 0; a < veto->family->risks; a++) {
            veto->missing[a] = (uint8_t)(yesno_bits_end(has, a) - yesno_bits_of(has, a));
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
    const struct yesno_bits has = run->veto[j].family->risk_has;
    const uint32_t *end = yesno_bits_end(has, a);
    const uint32_t *bit = yesno_bits_of(has, a);
    while (bit < end && yesno_held(run, j, *bit)) {
        bit++;
    }
    return bit == end;
}

/* One use less; the bit is 0 then for its members up to `end` in the list. */
static void unuse(struct yesno_run *run, struct yesno_veto *veto, uint32_t bit, uint32_t end)
{
    const struct yesno_owners *risk = &veto->family->risk;
    if (--veto->uses[bit] == 0) {
        for (uint32_t i = risk->start[bit]; i < end; i++) {
            veto->vetoed -= veto->missing[risk->key[i]]++ == 0;
        }
        run->work += end - risk->start[bit];
    }
}

/* Request what placing f reads first ... */
static void fetch(const struct yesno_veto *veto, uint32_t f)
{
    const uint32_t *bit = yesno_bits_of(veto->family->has, f);
    const uint32_t *end = yesno_bits_end(veto->family->has, f);
    for (; bit < end; bit++) {
        __builtin_prefetch(&veto->uses[*bit], 1);
        __builtin_prefetch(&veto->family->risk.start[*bit]);
    }
}

/* ... and the lists that this leads to. */
static void fetch_lists(const struct yesno_veto *veto, uint32_t f)
{
    const struct yesno_owners *risk = &veto->family->risk;
    const uint32_t *bit = yesno_bits_of(veto->family->has, f);
    const uint32_t *end = yesno_bits_end(veto->family->has, f);
    for (; bit < end; bit++) {
        __builtin_prefetch(&risk->key[risk->start[*bit]]);
    }
}

static bool place(struct yesno_run *run, uint32_t f, uint32_t j, uint64_t most)
{
    struct yesno_veto *veto = &run->veto[j];
    const uint32_t *bit = yesno_bits_of(veto->family->has, f);
    const uint32_t *last = yesno_bits_end(veto->family->has, f);
    const uint64_t limit = saturating_add(veto->vetoed, most);
    uint32_t end = 0;
    run->steps++;
    for (; bit < last && veto->vetoed <= limit; bit++) {
        end = use(run, veto, *bit, limit);
    }
    if (veto->vetoed <= limit) {
        run->home[f] = (uint8_t)j;
        return true;
    }
    const uint32_t *first = yesno_bits_of(veto->family->has, f);
    while (bit-- > first) {
        unuse(run, veto, *bit, end);
        end = bit > first ? veto->family->risk.start[bit[-1] + 1] : 0;
    }
    return false;
}

bool tepal_yesno_place(struct yesno_run *run, uint32_t f, uint32_t j, uint64_t most)
{
    /* All are requested at once: the walk is full of branches that keep the next from beginning. */
    fetch(&run->veto[j], f);
    fetch_lists(&run->veto[j], f);
    return place(run, f, j, most);
}

/* False positives ahead: those whose lists are requested, and those whose bits are. */
#define LISTS_AHEAD 4
#define AHEAD       8

void tepal_yesno_place_all(struct yesno_run *run, uint32_t j)
{
    const uint32_t count = run->falses;
    for (uint32_t f = 0; f < count && !tepal_yesno_stopped(run); f++) {
        if (f + AHEAD < count && run->home[f + AHEAD] == YESNO_HOMELESS) {
            fetch(&run->veto[j], f + AHEAD);
        }
        if (f + LISTS_AHEAD < count && run->home[f + LISTS_AHEAD] == YESNO_HOMELESS) {
            fetch_lists(&run->veto[j], f + LISTS_AHEAD);
        }
        if (run->home[f] == YESNO_HOMELESS) {
            (void)place(run, f, j, 0);
        }
    }
}

void tepal_yesno_displace(struct yesno_run *run, uint32_t f)
{
    struct yesno_veto *veto = &run->veto[run->home[f]];
    const uint32_t *end = yesno_bits_end(veto->family->has, f);
    for (const uint32_t *bit = yesno_bits_of(veto->family->has, f); bit < end; bit++) {
        unuse(run, veto, *bit, veto->family->risk.start[*bit + 1]);
    }
    run->home[f] = YESNO_HOMELESS;
}

uint32_t tepal_yesno_gain(const struct yesno_run *run, uint32_t f, uint32_t j)
{
    const struct yesno_veto *veto = &run->veto[j];
    const uint32_t *end = yesno_bits_end(veto->family->has, f);
    uint32_t gain = 0;
    for (const uint32_t *bit = yesno_bits_of(veto->family->has, f); bit < end; bit++) {
        gain += veto->uses[*bit] == 0;
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

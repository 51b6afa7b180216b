/*
 * mend.c: see mend.h. The header is read into a draft, mended there and written back. Two small
 * functions for each kind: one makes its own parameters plausible, one its cells and its state.
 * What is in order already stays as it is, so that files of tests/golden go through unchanged.
 */
#include "mend.h"

#include <tepal/tepal.h>

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/little.h"
#include "base/random.h"

#define BLOCK  65536
#define STATES 8

#define FEW_HASHES 9

enum {
    AT_VERSION = 8,
    AT_KIND = 12,
    AT_LAYOUT = 16,
    AT_POSITIONS = 20,
    AT_HASH = 24,
    AT_HASHES = 28,
    AT_CELLS = 32,
    AT_CAPACITY = 40,
    AT_SEED = 48,
    AT_KEY_CHECK = 56,
    AT_KEYS_ADDED = 64,
    AT_OWN = 72,
    AT_STATE = 136,
    AT_PAYLOAD = 200,
    AT_FILE = 208,
    AT_BLOCK_LOG = 216,
    AT_CELL_BITS = 220,
    AT_RESERVED = 224,
    AT_SUM = 248
};

struct draft {
    uint8_t *payload;
    uint64_t words; /* that there is room for */
    struct tepal_params params;
    uint64_t keys;
    uint64_t state[STATES];
    unsigned leave;
    uint64_t lot; /* another for every input: for what may happen only now and then */
};

/* ---- numbers and words ----------------------------------------------------------------------- */

/* The value if it is within its limits, else another that is. */
static uint64_t within(uint64_t value, uint64_t low, uint64_t high)
{
    if (value >= low && value <= high) {
        return value;
    }
    return high <= low ? low : low + value % (high - low + 1);
}

static uint64_t get(const struct draft *d, uint64_t word)
{
    return little_get64(d->payload + 8 * word);
}

static void put(struct draft *d, uint64_t word, uint64_t value)
{
    little_put64(d->payload + 8 * word, value);
}

static bool lined(const struct draft *d)
{
    return d->params.layout == TEPAL_LAYOUT_BLOCKED || d->params.layout == TEPAL_LAYOUT_PAIRED;
}

/* Nothing beyond the last of `bits` bits that begin at a word. */
static void cut_tail(struct draft *d, uint64_t first, uint64_t bits)
{
    uint64_t used = bits % 64;
    if (used != 0 && (d->leave & MEND_LEAVE_TAILS) == 0) {
        uint64_t last = first + bits / 64;
        put(d, last, get(d, last) & ((UINT64_C(1) << used) - 1));
    }
}

static uint64_t count_ones(const struct draft *d, uint64_t first, uint64_t words)
{
    uint64_t ones = 0;
    for (uint64_t i = first; i < first + words; i++) {
        ones += (uint64_t)__builtin_popcountll(get(d, i));
    }
    return ones;
}

static void zero_from(uint64_t *list, size_t from)
{
    memset(list + from, 0, (STATES - from) * sizeof *list);
}

/* As many cells as `most`, less what the input has unused in its last word; whole lines. */
static void set_cells(struct draft *d, uint64_t most, uint64_t line)
{
    struct tepal_params *p = &d->params;
    if (lined(d) && most < line) {
        p->layout = TEPAL_LAYOUT_FLAT;
    }
    if (lined(d)) {
        p->cells = most / line * line;
    } else {
        uint64_t spare = -p->cells % 64;
        p->cells = most > spare ? most - spare : most;
    }
    if (p->layout == TEPAL_LAYOUT_PAIRED && p->cells < 2 * line) {
        p->positions = TEPAL_POSITIONS_COLLIDING;
    }
}

/*
 * The most hashes of so many cells: few for most inputs, for their price grows with their square
 * where they must be distinct; and then those of half of the cells, for the last few take
 * thousands of words to find.
 */
static uint64_t most_hashes(const struct draft *d, uint64_t cells)
{
    uint64_t limit = d->lot % 16 == 0 ? TEPAL_MAX_HASHES : FEW_HASHES;
    uint64_t most = d->params.positions == TEPAL_POSITIONS_DISTINCT ? cells / 2 + 1 : cells;
    return most < limit ? most : limit;
}

static void limit_hashes(struct draft *d, uint64_t cells)
{
    struct tepal_params *p = &d->params;
    uint64_t limit = p->layout == TEPAL_LAYOUT_BLOCKED  ? TEPAL_MAX_HASHES_BLOCKED
                     : p->layout == TEPAL_LAYOUT_PAIRED ? TEPAL_MAX_HASHES_PAIRED
                                                        : most_hashes(d, cells);
    p->hashes = (uint32_t)within(p->hashes, 1, limit);
}

/* ---- sizes and own parameters, kind by kind -------------------------------------------------- */

static void own_bloom(struct draft *d)
{
    set_cells(d, d->words * 64, TEPAL_LINE_BITS);
    limit_hashes(d, d->params.cells);
    zero_from(d->params.own, 0);
}

static void own_generalized(struct draft *d)
{
    struct tepal_params *p = &d->params;
    p->layout = (enum tepal_layout)((unsigned)p->layout & 2);
    set_cells(d, d->words * 64, TEPAL_LINE_BITS);
    limit_hashes(d, p->cells);
    p->generalized.reset_hashes = within(p->generalized.reset_hashes, 0, p->hashes);
    p->generalized.tolerance = within(p->generalized.tolerance, 0, p->hashes - 1);
    p->generalized.ones = within(p->generalized.ones, 0, TEPAL_GENERALIZED_UNIT);
    zero_from(p->own, 3);
}

/* 64 cells take four words of counters (eight if they are wide) and one of bits. */
static void own_counting(struct draft *d)
{
    struct tepal_params *p = &d->params;
    struct tepal_counting_params *own = &p->counting;
    own->form = d->words < 9 ? TEPAL_FORM_BITS : own->form % 3;
    uint64_t words = own->form == TEPAL_FORM_BITS ? 1 : own->form == TEPAL_FORM_COUNTERS ? 5 : 9;
    uint64_t cells = d->words / words * 64;
    own->lines = lined(d) && cells >= 2 * TEPAL_LINE_BITS ? own->lines % 2 : TEPAL_LINES_SHORT;
    set_cells(d, cells, own->lines == TEPAL_LINES_LONG ? TEPAL_LINE_BITS : TEPAL_LINE_BITS / 4);
    limit_hashes(d, p->cells);
    own->choices = within(own->choices, 1, 6);
    bool choice = own->choices > 1;
    own->policy = choice ? own->policy % 2 : 0;
    own->rule = !choice ? 0 : lined(d) ? TEPAL_RULE_LEAST_INCREASE : own->rule % 2;
    zero_from(p->own, 6); /* any budget may be */
}

/* One word more than the slots need. */
static void own_fingerprint(struct draft *d)
{
    struct tepal_params *p = &d->params;
    uint64_t bits = (d->words - 1) * 64;
    uint64_t f = within(p->fingerprint.bits, TEPAL_MIN_FINGERPRINT_BITS,
                        bits < 256 ? bits / 8 : TEPAL_MAX_FINGERPRINT_BITS);
    p->layout = TEPAL_LAYOUT_FLAT;
    p->positions = TEPAL_POSITIONS_COLLIDING;
    p->hashes = 2;
    p->fingerprint.bits = f;
    p->cells = bits / (8 * f) * (8 * f);
    zero_from(p->own, 1);
}

static void own_yesno(struct draft *d)
{
    struct tepal_params *p = &d->params;
    struct tepal_yesno_params *own = &p->yesno;
    set_cells(d, d->words * 64, TEPAL_LINE_BITS);
    uint64_t line = lined(d) ? TEPAL_LINE_BITS : 1;
    uint64_t lines = p->cells / line;
    uint64_t r = within(own->no_filters, 0, TEPAL_MAX_NO_FILTERS);
    uint64_t q = own->no_bits;
    if (lined(d) && r > 0) { /* together whole lines */
        r = UINT64_C(1) << r % 6;
        q = lines < 2 ? 0 : line / r * within(q * r / line, 1, lines - 1);
    } else if (r > 0) {
        q = (p->cells - 1) / r == 0 ? 0 : within(q, 1, (p->cells - 1) / r);
    }
    if (r == 0 || q == 0) {
        zero_from(p->own, 0);
        limit_hashes(d, p->cells);
        return;
    }
    own->no_filters = r;
    own->no_bits = q;
    own->no_hashes = within(own->no_hashes, 1, most_hashes(d, q));
    own->own_seeds %= 2;
    own->salt %= 1u << 20;
    zero_from(p->own, 5);
    limit_hashes(d, p->cells - r * q);
}

#define AVERAGE_WORDS 5

static void own_recycling(struct draft *d)
{
    struct tepal_params *p = &d->params;
    struct tepal_recycling_params *own = &p->recycling;
    /* By average: five words behind the phases, and one option alone. */
    own->rule %= d->words > AVERAGE_WORDS ? 4 : 3;
    bool average = own->rule == TEPAL_RECYCLING_AVERAGE;
    uint64_t words = average ? d->words - AVERAGE_WORDS : d->words;
    uint64_t most = words < TEPAL_MAX_PHASES ? words : TEPAL_MAX_PHASES;
    own->phases = within(own->phases, 1, most);
    own->flags = average ? TEPAL_RECYCLING_RETAIN : own->flags % 8;
    if (d->lot % 32 != 0) { /* the rates of the other layouts cost as much as many flat filters */
        p->layout = TEPAL_LAYOUT_FLAT;
    }
    set_cells(d, words / own->phases * 64, TEPAL_LINE_BITS);
    limit_hashes(d, p->cells - 1);
    own->limit = own->rule == TEPAL_RECYCLING_SIGMA ? within(own->limit, p->hashes, p->cells - 1)
                                                    : within(own->limit, 1, UINT64_MAX);
    zero_from(p->own, 4);
}

static void own_cascade(struct draft *d)
{
    struct tepal_params *p = &d->params;
    uint64_t beyond = within(p->cascade.rest_levels, 0, TEPAL_MAX_LEVELS - 1);
    beyond = within(beyond, 0, (d->words - 1) / 2);
    set_cells(d, (d->words - beyond) * 64, TEPAL_LINE_BITS);
    uint64_t line = lined(d) ? TEPAL_LINE_BITS : 1;
    uint64_t lines = p->cells / line;
    uint64_t rest = p->cascade.rest_bits;
    uint64_t least = beyond / line + (beyond % line != 0);
    if (beyond == 0 || lines <= least) {
        beyond = 0;
        rest = 0;
        set_cells(d, d->words * 64, TEPAL_LINE_BITS);
    } else {
        rest = line * within(rest / line, least, lines - 1);
    }
    zero_from(p->own, 0);
    p->cascade.rest_bits = rest;
    p->cascade.rest_levels = beyond;
    limit_hashes(d, p->cells - rest);
}

/* The lines that a part of a chain has at least. */
static uint64_t chain_least(const struct draft *d)
{
    return d->params.layout == TEPAL_LAYOUT_PAIRED && d->params.positions != 0 ? 2 : 1;
}

/*
 * Parts of whole lines and four words for each; where there is no room for one, a Bloom filter
 * instead. What it grows by is little, so that the parts that are to come stay small.
 */
#define CHAIN_KEYS 500

static void own_chain(struct draft *d)
{
    struct tepal_params *p = &d->params;
    struct tepal_chain_params own = p->chain;
    uint64_t least = chain_least(d);
    uint64_t most = d->words / (8 * least + 4);
    if (most == 0) {
        p->kind = TEPAL_KIND_BLOOM;
        own_bloom(d);
        return;
    }
    own.parts = within(own.parts, 1, most < TEPAL_MAX_PARTS ? most : TEPAL_MAX_PARTS);
    uint64_t lines = (d->words - 4 * own.parts) / 8;
    uint64_t first = own.parts == 1 ? lines
                                    : within(own.first_bits / TEPAL_LINE_BITS, least,
                                             lines - least * (own.parts - 1));
    own.first_keys = within(own.first_keys, 1, CHAIN_KEYS);
    own.rate = within(own.rate, UINT64_C(1) << 40, UINT64_MAX);
    own.series %= 2;
    own.growth = own.growth % 8 == 0 ? 0 : within(own.growth, 257 - own.series, 280);
    own.planned = own.series == 1 ? 0 : within(own.planned, 1, TEPAL_MAX_PARTS);
    own.first_bits = first * TEPAL_LINE_BITS;
    zero_from(p->own, 0);
    p->chain = own;
    p->cells = lines * TEPAL_LINE_BITS;
    limit_hashes(d, own.first_bits);
}

/*
 * A word more than the slots need, and the exact table. Where there is no room for the smallest
 * filter, it is one of fingerprints instead.
 */
static void own_growing(struct draft *d)
{
    struct tepal_params *p = &d->params;
    struct tepal_growing_params *own = &p->growing;
    const uint64_t least = 4 * TEPAL_GROWING_MIN_BUCKETS;
    own->tag_bits = within(own->tag_bits, TEPAL_MIN_TAG_BITS, TEPAL_MAX_TAG_BITS);
    own->extension_bits = within(own->extension_bits, 1, TEPAL_MAX_EXTENSION_BITS);
    if (least * (own->tag_bits + own->extension_bits + 1) > (d->words - 1) * 64) {
        own->tag_bits = TEPAL_MIN_TAG_BITS;
        own->extension_bits = 1;
    }
    uint64_t slot_bits = own->tag_bits + own->extension_bits + 1;
    if (least * slot_bits > (d->words - 1) * 64) {
        p->kind = TEPAL_KIND_FINGERPRINT;
        own_fingerprint(d);
        return;
    }
    uint64_t spare = d->words - 1 - least * slot_bits / 64;
    own->overflow = own->overflow == 0 || spare < 12
                        ? 0
                        : UINT64_C(4) << within(own->overflow / 8, 0, spare < 24 ? 0 : 1);
    uint64_t most = (d->words - 1 - 3 * own->overflow) * 64 / (4 * slot_bits);
    uint64_t buckets = within(p->cells / (4 * slot_bits), most - most / 8, most);
    p->layout = TEPAL_LAYOUT_FLAT;
    p->positions = TEPAL_POSITIONS_COLLIDING;
    p->hashes = 2;
    p->cells = 4 * slot_bits * buckets;
    own->first =
        4 * slot_bits * within(own->first / (4 * slot_bits), TEPAL_GROWING_MIN_BUCKETS, buckets);
    zero_from(p->own, 4);
}

/* ---- cells and state, kind by kind ----------------------------------------------------------- */

static void cells_bloom(struct draft *d)
{
    cut_tail(d, 0, d->params.cells);
    zero_from(d->state, 0);
}

static void cells_retouched(struct draft *d)
{
    cut_tail(d, 0, d->params.cells);
    d->state[1] = within(d->state[1], 0, d->state[0]);
    d->state[2] = within(d->state[2], 0, d->params.cells);
    d->state[3] = within(d->state[3], 0, 1);
    d->state[5] = within(d->state[5], 0, d->state[3] == 0 ? 0 : UINT32_MAX);
    zero_from(d->state, 6);
}

/* Bits and counts as the counters have them, nothing beyond the last. */
static void cells_counting(struct draft *d)
{
    uint64_t cells = d->params.cells;
    bool form = d->params.counting.form == TEPAL_FORM_BITS;
    uint64_t width = d->params.counting.form == TEPAL_FORM_COUNTERS ? 4 : 8;
    uint64_t most = ((uint64_t)1 << width) - 1;
    uint64_t each = 64 / width;
    uint64_t counters = form ? 0 : (cells + each - 1) / each;
    uint64_t bits = (cells + 63) / 64;
    uint64_t sum = 0;
    uint64_t stuck = 0;
    uint64_t ones = 0;
    uint64_t lost = 0; /* counters whose bits are cleared: only if there is a budget */
    bool learns = d->params.counting.most_lost > 0;
    cut_tail(d, 0, form ? 0 : cells * width);
    cut_tail(d, counters, cells);
    for (uint64_t i = 0; i < counters; i++) {
        uint64_t set = 0;
        uint64_t at = counters + i * each / 64;
        uint64_t shift = i * each % 64;
        if (d->params.counting.lines == TEPAL_LINES_LONG) { /* a word of each sector in turn */
            at = counters + i / (8 * width) * 8 + i % 8;
            shift = i / 8 % width * each;
        }
        for (uint64_t c = 0; c < each; c++) {
            uint64_t value = get(d, i) >> (width * c) & most;
            bool cleared = learns && value < most && (get(d, at) >> (shift + c) & 1) == 0;
            set |= (uint64_t)(value > 0 && !cleared) << c;
            sum += value;
            stuck += value == most;
            ones += value > 0;
            lost += cleared ? value : 0;
        }
        uint64_t flags = (((uint64_t)1 << each) - 1) << shift;
        put(d, at, (get(d, at) & ~flags) | set << shift);
    }
    d->state[4] = form ? count_ones(d, counters, bits) : ones;
    d->state[5] = sum;
    d->state[6] = stuck;
    d->state[7] = !form ? lost : learns ? d->state[7] : 0;
}

static uint64_t slot(const struct draft *d, uint64_t i, uint64_t f)
{
    uint64_t at = i * f;
    uint64_t value = get(d, at / 64) >> at % 64;
    if (at % 64 + f > 64) {
        value |= get(d, at / 64 + 1) << (64 - at % 64);
    }
    return value & ((UINT64_C(1) << f) - 1);
}

static void cells_fingerprint(struct draft *d)
{
    uint64_t f = d->params.fingerprint.bits;
    uint64_t held = 0;
    cut_tail(d, 0, d->params.cells);
    put(d, (d->params.cells + 63) / 64, 0);
    for (uint64_t i = 0; i < d->params.cells / f; i++) {
        held += slot(d, i, f) != 0;
    }
    d->state[0] = held;
    zero_from(d->state, 2);
    if (d->keys != UINT64_MAX) {
        d->keys = held > UINT64_MAX - d->state[1] ? UINT64_MAX : held + d->state[1];
    }
}

static void put_slot(struct draft *d, uint64_t i, uint64_t f, uint64_t value)
{
    for (uint64_t bit = 0; bit < f; bit++) {
        uint64_t at = i * f + bit;
        uint64_t word = get(d, at / 64) & ~(UINT64_C(1) << at % 64);
        put(d, at / 64, word | (value >> bit & 1) << at % 64);
    }
}

/* What an entry knows; shortened until it knows no more than it may. 0: it is empty. */
static uint64_t mend_entry(struct draft *d, uint64_t i)
{
    const struct tepal_growing_params *own = &d->params.growing;
    uint64_t f = own->tag_bits + own->extension_bits + 1;
    uint64_t buckets = d->params.cells / (4 * f);
    uint64_t level = 63 - (uint64_t)__builtin_clzll(buckets);
    uint64_t low = (UINT64_C(1) << level) - 1;
    uint64_t entry = slot(d, i, f);
    uint64_t tag = entry & ((UINT64_C(1) << own->tag_bits) - 1);
    uint64_t marked = entry >> own->tag_bits;
    uint64_t state = tag * RANDOM_GOLDEN;
    uint64_t here = level + ((i / 4 & low) < buckets - low - 1);
    uint64_t other = level + (((i / 4 ^ (random_word(&state) | 1)) & low) < buckets - low - 1);
    uint64_t most = own->extension_bits + (other < here ? other : here) - here;
    if (marked == 0) {
        put_slot(d, i, f, 0);
        return 0;
    }
    while (marked >> (most + 1) != 0) {
        marked = marked >> 1;
    }
    put_slot(d, i, f, tag | marked << own->tag_bits);
    return here + 63 - (uint64_t)__builtin_clzll(marked);
}

/* At most half of the slots of the exact table; whoever is cut off from his home gets another. */
static void mend_exact(struct draft *d, uint64_t first)
{
    uint64_t slots = d->params.growing.overflow;
    uint64_t start = 0;
    uint64_t run = 0;
    d->state[4] = 0;
    d->state[5] = 0;
    while (start + 1 < slots && get(d, first + 3 * start + 2) != 0) {
        start++;
    }
    for (uint64_t i = 0; i < slots; i++) {
        uint64_t here = (start + i) & (slots - 1);
        uint64_t at = first + 3 * here;
        if (i == 0 || get(d, at + 2) == 0 || d->state[5] == slots / 2) {
            memset(d->payload + 8 * at, 0, 24);
            run = 0;
            continue;
        }
        if (((here - get(d, at)) & (slots - 1)) > run) {
            put(d, at, (get(d, at) & -slots) | here);
        }
        put(d, at + 2, within(get(d, at + 2), 1, UINT64_C(1) << 50));
        d->state[4] += get(d, at + 2);
        d->state[5]++;
        run++;
    }
}

static void cells_growing(struct draft *d)
{
    const struct tepal_growing_params *own = &d->params.growing;
    uint64_t gap = (d->params.cells + 63) / 64;
    cut_tail(d, 0, d->params.cells);
    d->state[0] = 0;
    d->state[2] = 0;
    for (uint64_t i = 0; i < d->params.cells / (own->tag_bits + own->extension_bits + 1); i++) {
        uint64_t known = mend_entry(d, i);
        d->state[0] += known != 0;
        d->state[2] += known == 0 ? 0 : UINT64_C(1) << (60 - known);
    }
    d->state[3] %= UINT64_C(1) << 62;
    if ((d->leave & MEND_LEAVE_TAILS) == 0) {
        put(d, gap, 0);
        mend_exact(d, gap + 1);
    }
    zero_from(d->state, 6);
}

/* members, known negatives, of these positive, of these left; the rest is anybody's */
static void cells_yesno(struct draft *d)
{
    cut_tail(d, 0, d->params.cells);
    d->state[2] = within(d->state[2], 0, d->state[1]);
    d->state[3] = within(d->state[3], 0, d->state[2]);
    d->state[4] = within(d->state[4], 0, d->state[0]);
    zero_from(d->state, 6);
}

/* Entries that add up. */
static void mend_directory(struct draft *d)
{
    const struct tepal_params *p = &d->params;
    uint64_t levels = p->cascade.rest_levels;
    uint64_t left = p->cascade.rest_bits;
    uint64_t first = (p->cells + 63) / 64;
    for (uint64_t i = 0; i < levels; i++) {
        uint64_t entry = get(d, first + i);
        uint64_t after = levels - 1 - i;
        uint64_t bits = after == 0 ? left : within(entry >> 8, 1, left - after);
        uint64_t hashes = within(entry & 255, 1, most_hashes(d, bits));
        put(d, first + i, bits << 8 | hashes);
        left -= bits;
    }
}

static void cells_cascade(struct draft *d)
{
    cut_tail(d, 0, d->params.cells);
    if ((d->leave & MEND_LEAVE_TAILS) == 0) {
        mend_directory(d);
    }
    d->state[2] = within(d->state[2], 0, d->state[1]);
    d->state[3] = within(d->state[3], 0, d->state[2]);
    zero_from(d->state, 5);
}

/* The entries of the parts: whole lines that add up, the first as the header has it. */
static void cells_chain(struct draft *d)
{
    const struct tepal_params *p = &d->params;
    if (p->kind != TEPAL_KIND_CHAIN) {
        cells_bloom(d);
        return;
    }
    zero_from(d->state, 0);
    if ((d->leave & MEND_LEAVE_TAILS) != 0) {
        return;
    }
    uint64_t least = chain_least(d);
    uint64_t left = p->cells / TEPAL_LINE_BITS;
    for (uint64_t i = 0; i < p->chain.parts; i++) {
        uint64_t at = p->cells / 64 + 4 * i;
        uint64_t after = least * (p->chain.parts - 1 - i);
        uint64_t lines = i == 0       ? p->chain.first_bits / TEPAL_LINE_BITS
                         : after == 0 ? left
                                      : within(get(d, at), least, left - after);
        put(d, at, lines * TEPAL_LINE_BITS);
        put(d, at + 1,
            i == 0 ? p->hashes
                   : within(get(d, at + 1), 1, most_hashes(d, lines * TEPAL_LINE_BITS)));
        put(d, at + 2, i == 0 ? p->chain.first_keys : within(get(d, at + 2), 1, CHAIN_KEYS));
        left -= lines;
    }
}

/* The first bits of the active phase go until no more are left than sigma allows. */
static uint64_t thin_out(struct draft *d, uint64_t first, uint64_t words)
{
    uint64_t most =
        d->params.recycling.rule == TEPAL_RECYCLING_SIGMA ? d->params.recycling.limit : UINT64_MAX;
    uint64_t ones = count_ones(d, first, words);
    for (uint64_t i = first; i < first + words && ones > most;) {
        uint64_t word = get(d, i);
        if (word == 0) {
            i++;
        } else {
            put(d, i, word & (word - 1));
            ones--;
        }
    }
    return ones;
}

enum { CYCLES, ONES, MESSAGES, FRESH, EXPECTED, CLOCKED, CLOCK, BEGAN };

static void mend_clock(struct draft *d)
{
    uint64_t *s = d->state;
    uint64_t limit =
        d->params.recycling.rule == TEPAL_RECYCLING_TIME ? d->params.recycling.limit : UINT64_MAX;
    s[CLOCKED] %= 2;
    s[CLOCK] = s[CLOCKED] == 0 ? 0 : s[CLOCK];
    s[BEGAN] = within(s[BEGAN], s[CLOCK] > limit - 1 ? s[CLOCK] - (limit - 1) : 0, s[CLOCK]);
}

/* The words behind the cells: each sum at most as many rates as there were arrivals. */
static void mend_sums(struct draft *d, uint64_t first)
{
    uint64_t *s = d->state;
    uint64_t least = s[MESSAGES] > 0 ? s[MESSAGES] - 1 : 0;
    d->keys = within(d->keys, least, (UINT64_C(1) << 62) - 1);
    uint64_t arrivals = within(get(d, first + 4), least, d->keys);
    put(d, first + 4, arrivals);
    for (uint64_t i = 0; i < 2; i++) { /* below n 2^64 - n, or 0 */
        uint64_t n = i == 0 ? d->keys : arrivals;
        put(d, first + 2 * i + 1, n == 0 ? 0 : within(get(d, first + 2 * i + 1), 0, n - 1));
        put(d, first + 2 * i, n == 0 ? 0 : within(get(d, first + 2 * i), 0, -n));
    }
    s[EXPECTED] = 0;
}

static void cells_recycling(struct draft *d)
{
    uint64_t *s = d->state;
    uint64_t phases = d->params.recycling.phases;
    uint64_t words = (d->params.cells + 63) / 64;
    d->keys %= UINT64_C(1) << 62;
    s[CYCLES] %= UINT64_C(1) << 62;
    for (uint64_t phase = 0; phase < phases; phase++) {
        cut_tail(d, phase * words, d->params.cells);
        if (phase > s[CYCLES]) {
            memset(d->payload + 8 * phase * words, 0, 8 * words);
        }
    }
    s[ONES] = thin_out(d, s[CYCLES] % phases * words, words);
    s[MESSAGES] = within(s[MESSAGES], 0, s[ONES]);
    if (d->params.recycling.rule == TEPAL_RECYCLING_COUNT) {
        s[MESSAGES] = within(s[MESSAGES], 0, d->params.recycling.limit);
    }
    if (d->params.recycling.rule == TEPAL_RECYCLING_AVERAGE) {
        mend_sums(d, phases * words);
    }
    s[FRESH] = within(s[FRESH], 0, d->keys);
    double expected;
    memcpy(&expected, &s[EXPECTED], sizeof expected);
    if (!(expected >= 0 && expected <= 0x1p82)) {
        expected = 0x1p82;
        memcpy(&s[EXPECTED], &expected, sizeof expected);
    }
    mend_clock(d);
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct mender {
    void (*own)(struct draft *d);
    void (*cells)(struct draft *d);
};

static const struct mender menders[] = {
    [TEPAL_KIND_BLOOM] = {own_bloom, cells_bloom},
    [TEPAL_KIND_RETOUCHED] = {own_bloom, cells_retouched},
    [TEPAL_KIND_GENERALIZED] = {own_generalized, cells_bloom},
    [TEPAL_KIND_COUNTING] = {own_counting, cells_counting},
    [TEPAL_KIND_FINGERPRINT] = {own_fingerprint, cells_fingerprint},
    [TEPAL_KIND_YESNO] = {own_yesno, cells_yesno},
    [TEPAL_KIND_RECYCLING] = {own_recycling, cells_recycling},
    [TEPAL_KIND_CASCADE] = {own_cascade, cells_cascade},
    [TEPAL_KIND_GROWING] = {own_growing, cells_growing},
    [TEPAL_KIND_CHAIN] = {own_chain, cells_chain},
};

#define KINDS (sizeof menders / sizeof *menders - 1)

static void read_draft(struct draft *d, const uint8_t *bytes)
{
    struct tepal_params *p = &d->params;
    unsigned names = (d->leave & MEND_LEAVE_NAMES) != 0 ? UINT32_MAX : 3;
    p->kind =
        (enum tepal_kind_id)((d->leave & MEND_LEAVE_KIND) != 0 ? little_get32(bytes + AT_KIND)
                                                               : within(bytes[AT_KIND], 1, KINDS));
    p->layout = (enum tepal_layout)(little_get32(bytes + AT_LAYOUT) & names);
    p->positions = (enum tepal_positions)(little_get32(bytes + AT_POSITIONS) & (names - 2));
    p->hash = (enum tepal_hash)(little_get32(bytes + AT_HASH) & (names - 2));
    p->hashes = little_get32(bytes + AT_HASHES);
    p->cells = little_get64(bytes + AT_CELLS);
    p->capacity = little_get64(bytes + AT_CAPACITY);
    p->seed = little_get64(bytes + AT_SEED);
    p->key_check = little_get64(bytes + AT_KEY_CHECK);
    d->keys = little_get64(bytes + AT_KEYS_ADDED);
    for (size_t i = 0; i < STATES; i++) {
        p->own[i] = little_get64(bytes + AT_OWN + 8 * i);
        d->state[i] = little_get64(bytes + AT_STATE + 8 * i);
    }
}

static void write_draft(const struct draft *d, uint8_t *bytes)
{
    const struct tepal_params *p = &d->params;
    little_put32(bytes + AT_KIND, (uint32_t)p->kind);
    little_put32(bytes + AT_LAYOUT, (uint32_t)p->layout);
    little_put32(bytes + AT_POSITIONS, (uint32_t)p->positions);
    little_put32(bytes + AT_HASH, (uint32_t)p->hash);
    little_put32(bytes + AT_HASHES, p->hashes);
    little_put64(bytes + AT_CELLS, p->cells);
    little_put64(bytes + AT_KEY_CHECK, p->key_check);
    little_put64(bytes + AT_KEYS_ADDED, d->keys);
    for (size_t i = 0; i < STATES; i++) {
        little_put64(bytes + AT_OWN + 8 * i, p->own[i]);
        little_put64(bytes + AT_STATE + 8 * i, d->state[i]);
    }
}

static void mend_params(struct draft *d)
{
    const struct tepal_params old = d->params;
    if ((d->leave & MEND_LEAVE_NAMES) == 0) {
        bool keyed = tepal_hash_is_keyed(d->params.hash);
        d->params.key_check = !keyed ? 0 : within(d->params.key_check, 1, UINT64_MAX);
    }
    if ((uint32_t)d->params.kind - 1 < KINDS) {
        menders[d->params.kind].own(d);
    }
    if ((d->leave & MEND_LEAVE_OWN) != 0) {
        memcpy(d->params.own, old.own, sizeof old.own);
    }
    if ((d->leave & MEND_LEAVE_SIZE) != 0) {
        d->params.cells = old.cells;
    }
    if ((d->leave & MEND_LEAVE_NAMES) != 0) {
        d->params.layout = old.layout;
        d->params.positions = old.positions;
        d->params.hashes = old.hashes;
    }
}

static void mend_cells(struct draft *d)
{
    uint64_t keys = d->keys;
    uint64_t state[STATES];
    memcpy(state, d->state, sizeof state);
    menders[d->params.kind].cells(d);
    if ((d->leave & MEND_LEAVE_COUNTS) != 0) {
        d->keys = keys;
        memcpy(d->state, state, sizeof state);
    }
}

size_t mend(uint8_t *bytes, size_t len, unsigned leave)
{
    static const uint8_t magic[8] = {0x89, 'T', 'E', 'P', 'A', 'L', '\r', '\n'};
    if (len < MEND_HEADER + 16 || len > BLOCK) { /* one block of checksums will do */
        return len;
    }
    struct draft d = {.payload = bytes + MEND_HEADER,
                      .words = (len - MEND_HEADER - 8) / 8,
                      .leave = leave | bytes[AT_RESERVED],
                      .lot = XXH3_64bits(bytes, len)};
    read_draft(&d, bytes);
    mend_params(&d);
    size_t payload = (size_t)d.words * 8;
    if (tepal_params_check(&d.params, NULL) == TEPAL_OK &&
        tepal_params_cell_bytes(&d.params) <= payload) {
        payload = (size_t)tepal_params_cell_bytes(&d.params);
        mend_cells(&d);
    }
    write_draft(&d, bytes);
    memcpy(bytes, magic, sizeof magic);
    if ((d.leave & MEND_LEAVE_FIXED) == 0) {
        little_put32(bytes + AT_VERSION, 1);
        little_put64(bytes + AT_PAYLOAD, payload);
        little_put64(bytes + AT_FILE, MEND_HEADER + payload + 8);
        little_put32(bytes + AT_BLOCK_LOG, 16);
        little_put32(bytes + AT_CELL_BITS, d.params.kind == TEPAL_KIND_COUNTING ? 4 : 1);
    }
    if ((d.leave & MEND_LEAVE_RESERVED) == 0) {
        memset(bytes + AT_RESERVED, 0, AT_SUM - AT_RESERVED);
    }
    little_put64(d.payload + payload, XXH3_64bits_withSeed(d.payload, payload, 0));
    little_put64(bytes + AT_SUM, XXH3_64bits(bytes, AT_SUM));
    return MEND_HEADER + payload + 8;
}

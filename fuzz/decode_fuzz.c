/*
 * decode_fuzz.c: any bytes at all through the decoder. The first byte of an input chooses what is
 * done with the rest:
 *
 *     bit 0     the file is mended first (mend.h), so that the fuzzer gets past magic, lengths and
 *               checksums, and at the checks that must hold without them
 *     bit 1     ... except for the counts in its state
 *     bits 2-3  what is done with it, one thing at a time: what only its kind can do; additions;
 *               removals, unions and intersections; a view of it, and starting anew. The last
 *               maps lazily, too, whatever the decoder said
 *     bit 4     memory runs out at every request in turn
 *
 * Of the inputs one in 256, chosen by their hash, also does what takes long: the models in
 * tepal_filter_info, builders, whole batches.
 *
 * The bytes are also decoded in pieces, as they would arrive: with the same verdict.
 *
 * What is accepted must be sound: it validates, encodes to the very same bytes, keeps the promises
 * of its kind, and is still sound, and can be saved and loaded, after everything that can be done
 * with it was done.
 */
#include <tepal/tepal.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "filter/yesno/internal.h"
#include "mend.h"
#include "must.h"

#define FEW          6
#define MANY         70 /* more than one word of answers */
#define WORDS(count) (((count) + 63) / 64)

struct keys {
    struct tepal_digest digest[MANY];
    size_t count;
    bool at_length;
};

static bool answer_of(const uint64_t *answers, size_t i)
{
    return answers[i / 64] >> (i % 64) & 1;
}

static bool promises(const struct tepal_filter *f, enum tepal_promise promise)
{
    return (tepal_filter_kind(f)->promises & (unsigned)promise) != 0;
}

static void must_be_sound(const struct tepal_filter *f)
{
    struct tepal_error error = {.why = ""};
    if (tepal_filter_validate(f, &error) != TEPAL_OK) {
        fprintf(stderr, "%s: %s\n", tepal_filter_kind(f)->name, error.why);
        abort();
    }
}

static struct tepal_filter *clone_of(const struct tepal_filter *f)
{
    struct tepal_filter *copy;
    MUST(tepal_filter_clone(f, NULL, &copy, NULL) == TEPAL_OK);
    MUST(tepal_filter_equal(f, copy));
    return copy;
}

/* ---- what every kind can do ------------------------------------------------------------------ */

static void query(const struct tepal_filter *f, const struct keys *keys, uint64_t *answers)
{
    size_t found = tepal_filter_query_many(f, keys->digest, keys->count, answers);
    for (size_t i = 0; i < keys->count; i++) {
        bool present = tepal_filter_query(f, keys->digest[i]);
        MUST(present == answer_of(answers, i));
        found -= present;
    }
    MUST(found == 0);
}

/* Bytes that were written by the library are read by it. */
static void must_survive_a_file(const struct tepal_filter *f)
{
    size_t len = (size_t)tepal_encoded_bytes(f);
    uint8_t *bytes = malloc(len);
    struct tepal_filter *again;
    MUST(bytes != NULL && tepal_encode(f, bytes, len, NULL) == TEPAL_OK);
    MUST(tepal_decode(bytes, len, NULL, &again, NULL) == TEPAL_OK);
    MUST(tepal_filter_equal(f, again));
    MUST(tepal_filter_keys_added(f) == tepal_filter_keys_added(again));
    tepal_filter_free(again);
    free(bytes);
}

static void must_find(const struct tepal_filter *f, const struct keys *keys)
{
    uint64_t answers[WORDS(MANY)];
    switch (tepal_filter_params(f)->kind) {
    case TEPAL_KIND_GENERALIZED: /* it forgets, but not the newest */
        MUST(tepal_filter_query(f, keys->digest[keys->count - 1]));
        break;
    case TEPAL_KIND_RECYCLING:
        MUST((tepal_filter_params(f)->recycling.flags & TEPAL_RECYCLING_RETAIN) == 0 ||
             tepal_filter_query(f, keys->digest[keys->count - 1]));
        break;
    default:
        MUST(tepal_filter_query_many(f, keys->digest, keys->count, answers) == keys->count);
    }
}

/* May it refuse to add? For a documented reason, and then it is as it was. */
static void must_refuse_rightly(const struct tepal_filter *f, enum tepal_status status)
{
    const struct tepal_params *p = tepal_filter_params(f);
    if (status == TEPAL_UNSUPPORTED) {
        MUST(p->kind == TEPAL_KIND_COUNTING && p->counting.form == TEPAL_FORM_BITS);
    } else {
        MUST(status == TEPAL_FULL);
        MUST(p->kind == TEPAL_KIND_FINGERPRINT || p->kind == TEPAL_KIND_CASCADE ||
             p->kind == TEPAL_KIND_CHAIN);
    }
}

static void add_one_by_one(struct tepal_filter *f, const struct keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        enum tepal_status status = tepal_filter_add(f, keys->digest[i]);
        if (status != TEPAL_OK) {
            must_refuse_rightly(f, status);
        } else if (tepal_filter_params(f)->kind != TEPAL_KIND_RECYCLING) {
            MUST(tepal_filter_query(f, keys->digest[i]));
        }
    }
    must_be_sound(f);
}

/* True if they were added: all of them, then, in a batch as one by one. */
static bool add(struct tepal_filter *f, const struct keys *keys)
{
    uint64_t before[WORDS(MANY)];
    uint64_t after[WORDS(MANY)];
    struct tepal_filter *single = clone_of(f);
    uint64_t added = tepal_filter_keys_added(f);
    query(f, keys, before);
    enum tepal_status status = tepal_filter_add_many(f, keys->digest, keys->count);
    add_one_by_one(single, keys);
    must_be_sound(f);
    query(f, keys, after);
    if (status != TEPAL_OK) {
        must_refuse_rightly(f, status);
        MUST(memcmp(before, after, WORDS(keys->count) * 8) == 0);
        MUST(tepal_filter_keys_added(f) == added);
    } else {
        must_find(f, keys);
        if (tepal_filter_params(f)->kind != TEPAL_KIND_FINGERPRINT) { /* slots may differ */
            MUST(tepal_filter_equal(f, single));
        }
        MUST(tepal_filter_keys_added(f) == tepal_filter_keys_added(single));
    }
    tepal_filter_free(single);
    return status == TEPAL_OK;
}

static void take_away(struct tepal_filter *f, const struct keys *keys, bool added)
{
    size_t removed = 0;
    enum tepal_status status = tepal_filter_remove(f, keys->digest[0]);
    if (!promises(f, TEPAL_DELETABLE)) {
        MUST(status == TEPAL_UNSUPPORTED);
        return;
    }
    if (status == TEPAL_UNSUPPORTED) {
        must_refuse_rightly(f, status);
        return;
    }
    MUST(status == TEPAL_OK || status == TEPAL_NOT_PRESENT);
    must_be_sound(f);
    MUST(tepal_filter_remove_many(f, keys->digest + 1, keys->count - 1, &removed) == TEPAL_OK);
    MUST(removed < keys->count);
    if (added && promises(f, TEPAL_NO_FALSE_NEGATIVES)) {
        MUST(status == TEPAL_OK && removed == keys->count - 1);
    }
    must_be_sound(f);
}

static void combine(struct tepal_filter *into, const struct tepal_filter *f,
                    const struct keys *keys)
{
    uint64_t theirs[WORDS(MANY)];
    uint64_t united[WORDS(MANY)];
    bool merges = promises(f, TEPAL_MERGEABLE);
    bool meets = tepal_filter_params(f)->kind == TEPAL_KIND_BLOOM;
    query(f, keys, theirs);
    enum tepal_status status = tepal_filter_unite(into, f);
    if (status == TEPAL_FULL) { /* too many of one class, and no digests for the exact table */
        MUST(tepal_filter_params(f)->kind == TEPAL_KIND_GROWING);
        merges = false;
    } else {
        MUST(status == (merges ? TEPAL_OK : TEPAL_UNSUPPORTED));
    }
    query(into, keys, united);
    for (size_t i = 0; merges && i < keys->count; i++) {
        MUST(!answer_of(theirs, i) || answer_of(united, i));
    }
    must_be_sound(into);
    MUST(tepal_filter_intersect(into, f) == (meets ? TEPAL_OK : TEPAL_UNSUPPORTED));
    MUST(!meets || tepal_filter_equal(into, f));
    must_be_sound(into);
}

static void start_anew(struct tepal_filter *f)
{
    struct tepal_filter *fresh;
    MUST(tepal_filter_clear(f) == TEPAL_OK);
    MUST(tepal_filter_create(tepal_filter_params(f), NULL, &fresh, NULL) == TEPAL_OK);
    must_be_sound(f);
    MUST(tepal_filter_equal(f, fresh) && tepal_filter_keys_added(f) == 0);
    tepal_filter_free(fresh);
}

static void tell(const struct tepal_filter *f)
{
    struct tepal_report report;
    tepal_filter_info(f, &report);
    const struct tepal_quantity *rate = tepal_report_find(&report, "fp_now");
    MUST(rate != NULL);
    MUST(rate->type == TEPAL_QUANTITY_ABSENT ||
         (rate->value.real >= 0 && rate->value.real <= 1 + 1e-9));
    MUST(report.count < TEPAL_MAX_QUANTITIES && report.numbers <= TEPAL_MAX_NUMBERS);
}

/* The same bytes mapped: a view answers alike, and cannot be changed. */
static void look_from_outside(const struct tepal_filter *f, const struct keys *keys)
{
    size_t len = (size_t)tepal_encoded_bytes(f);
    uint8_t *bytes = malloc(len);
    char path[MUST_PATH];
    struct tepal_filter *view;
    uint64_t answers[2][WORDS(MANY)];
    MUST(bytes != NULL && tepal_encode(f, bytes, len, NULL) == TEPAL_OK);
    int fd = must_file(bytes, len, path);
    MUST(tepal_map(path, TEPAL_MAP_VERIFY, NULL, &view, NULL) == TEPAL_OK);
    MUST(tepal_filter_equal(f, view));
    query(f, keys, answers[0]);
    query(view, keys, answers[1]);
    MUST(memcmp(answers[0], answers[1], WORDS(keys->count) * 8) == 0);
    MUST(tepal_filter_add(view, keys->digest[0]) == TEPAL_READ_ONLY);
    MUST(tepal_filter_add_many(view, keys->digest, keys->count) == TEPAL_READ_ONLY);
    MUST(tepal_filter_remove(view, keys->digest[0]) == TEPAL_READ_ONLY);
    MUST(tepal_filter_unite(view, f) == TEPAL_READ_ONLY);
    MUST(tepal_filter_clear(view) == TEPAL_READ_ONLY);
    if (keys->at_length) {
        tell(view);
    }
    struct tepal_filter *copy = clone_of(view);
    (void)tepal_filter_add_many(copy, keys->digest, keys->count);
    must_be_sound(copy);
    tepal_filter_free(copy);
    tepal_filter_free(view);
    close(fd);
    free(bytes);
}

/* ---- what only some can do ------------------------------------------------------------------- */

#define LINKS 11

/* A small filter in a packet: the masks match where the filter finds the key. */
static void carry(const struct tepal_filter *f, const struct keys *keys)
{
    struct tepal_header_layout layout;
    if (tepal_header_layout_init(tepal_filter_params(f), &layout, NULL) != TEPAL_OK) {
        return;
    }
    uint64_t header[TEPAL_MAX_HEADER_WORDS];
    uint64_t mask[TEPAL_MAX_HEADER_WORDS];
    uint8_t packet[TEPAL_MAX_HEADER_BITS / 8];
    uint32_t table[2 * TEPAL_HEADER_LANES * TEPAL_MAX_HEADER_BITS / 32] = {0};
    uint64_t answers[1];
    struct tepal_filter *again;
    MUST(tepal_header_table_words(&layout, LINKS) <= sizeof table / sizeof *table);
    MUST(tepal_header_from_filter(&layout, f, header) == TEPAL_OK);
    tepal_header_pack(&layout, header, packet);
    tepal_header_unpack(&layout, packet, header);
    for (size_t i = 0; i < LINKS; i++) {
        tepal_header_mask(&layout, keys->digest[i % keys->count], mask);
        tepal_header_table_put(&layout, i, mask, table);
        MUST(tepal_header_match(&layout, header, mask) ==
             tepal_filter_query(f, keys->digest[i % keys->count]));
    }
    size_t found = tepal_header_match_many(&layout, header, table, LINKS, answers);
    for (size_t i = 0; i < LINKS; i++) {
        MUST(answer_of(answers, i) == tepal_filter_query(f, keys->digest[i % keys->count]));
        found -= answer_of(answers, i);
    }
    MUST(found == 0);
    MUST(tepal_header_to_filter(&layout, header, NULL, &again, NULL) == TEPAL_OK);
    MUST(tepal_filter_equal(f, again));
    must_be_sound(again);
    tepal_filter_free(again);
}

/* Some of the keys found are members, the others are to go. */
static void retouch(struct tepal_filter *f, const struct keys *keys)
{
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_known input = {.members = keys->digest,
                                .member_count = keys->count / 2,
                                .avoid = keys->digest + keys->count / 2,
                                .avoid_count = keys->count - keys->count / 2};
    struct tepal_retouch_report report;
    struct tepal_filter *out;
    uint64_t victims[WORDS(MANY)] = {0};
    options.method =
        (enum tepal_retouch_method)(tepal_filter_params(f)->seed % (TEPAL_RETOUCH_SACRIFICE + 1));
    options.sweep = tepal_filter_params(f)->capacity % 2;
    enum tepal_status status =
        tepal_retouch(f, &input, &options, NULL, &out, &report, victims, NULL);
    MUST(status == TEPAL_OK || status == TEPAL_MISMATCH);
    if (status != TEPAL_OK) {
        return;
    }
    must_be_sound(out);
    must_survive_a_file(out);
    struct tepal_exceptions *list;
    struct tepal_exceptions *copy;
    MUST(tepal_exceptions_create(out, input.members, input.member_count, victims, NULL, &list,
                                 NULL) == TEPAL_OK);
    for (size_t i = 0; i < input.member_count; i++) {
        MUST(answer_of(victims, i) == !tepal_filter_query(out, input.members[i]));
        MUST(answer_of(victims, i) == tepal_exceptions_query(list, input.members[i]));
    }
    uint8_t bytes[48 + 16 * MANY];
    size_t len = (size_t)tepal_exceptions_encoded_bytes(list);
    MUST(tepal_exceptions_encode(list, bytes, sizeof bytes, NULL) == TEPAL_OK);
    MUST(tepal_exceptions_decode(bytes, len, NULL, &copy, NULL) == TEPAL_OK);
    MUST(tepal_exceptions_count(copy) == tepal_exceptions_count(list));
    MUST(tepal_exceptions_belong(copy, out));
    tepal_exceptions_free(copy);
    tepal_exceptions_free(list);
    tepal_filter_free(out);
}

static void use_bloom(struct tepal_filter *f, const struct keys *keys)
{
    for (uint64_t divisor = 0; divisor < 6; divisor++) {
        struct tepal_filter *folded;
        if (tepal_bloom_fold(f, divisor, NULL, &folded, NULL) == TEPAL_OK) {
            must_be_sound(folded);
            for (size_t i = 0; i < keys->count; i++) {
                MUST(!tepal_filter_query(f, keys->digest[i]) ||
                     tepal_filter_query(folded, keys->digest[i]));
            }
            tepal_filter_free(folded);
        }
    }
    carry(f, keys);
    if (keys->at_length) {
        retouch(f, keys);
    }
}

/* What a filter tells of itself by this name: a whole number. */
static uint64_t told(const struct tepal_filter *f, const char *name)
{
    struct tepal_report report;
    tepal_filter_info(f, &report);
    const struct tepal_quantity *q = tepal_report_find(&report, name);
    MUST(q != NULL && q->type == TEPAL_QUANTITY_INTEGER);
    return q->value.integer;
}

/* Keys that must not be found: they are not, or they are refused; a copy learns it. */
static void learn(const struct tepal_filter *from, const struct keys *keys)
{
    struct tepal_filter *f = clone_of(from);
    struct tepal_avoided done;
    uint64_t refused[WORDS(MANY)];
    uint64_t budget = 1 + keys->digest[0].lo % 1000;
    if (tepal_avoid_budget(f, budget, NULL) == TEPAL_OK &&
        tepal_avoid(f, keys->digest, keys->count, refused, &done, NULL) == TEPAL_OK) {
        MUST(done.absent + done.avoided + done.refused == keys->count);
        MUST(done.lost_all <= (double)budget * (1 + 1e-9));
        for (size_t i = 0; i < keys->count; i++) {
            MUST(!tepal_filter_query(f, keys->digest[i]) || answer_of(refused, i));
        }
        must_be_sound(f);
        must_survive_a_file(f);
    }
    tepal_filter_free(f);
}

static void use_retouched(struct tepal_filter *f, const struct keys *keys)
{
    MUST(told(f, "false_negatives") <= told(f, "members"));
    MUST(told(f, "bits_cleared") <= tepal_filter_params(f)->cells);
    carry(f, keys);
    learn(f, keys);
    if (keys->at_length) {
        retouch(f, keys);
    }
}

static void use_generalized(struct tepal_filter *f, const struct keys *keys)
{
    struct tepal_generalized_trace trace;
    MUST(tepal_generalized_age(f, keys->digest[3], tepal_filter_ones(f), &trace) == TEPAL_OK);
    MUST(trace.present == tepal_filter_query(f, keys->digest[3]));
    MUST(trace.age_low <= trace.age_high);
    if (keys->at_length) {
        double rate = tepal_filter_fp_now(f);
        MUST(rate >= 0 && rate <= 1);
        MUST(tepal_params_fp_bound(tepal_filter_params(f)) >= rate * 0.98);
        struct tepal_known input = {.members = keys->digest,
                                    .member_count = keys->count / 2,
                                    .avoid = keys->digest + keys->count / 2,
                                    .avoid_count = keys->count - keys->count / 2};
        struct tepal_filter *out;
        struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
        enum tepal_status status = tepal_retouch(f, &input, &options, NULL, &out, NULL, NULL, NULL);
        MUST(status == TEPAL_OK || status == TEPAL_MISMATCH);
        if (status == TEPAL_OK) {
            must_be_sound(out);
            tepal_filter_free(out);
        }
    }
}

/* Groups, histogram and the bits alone tell the same story. */
static void look_at_counters(const struct tepal_filter *c, const struct keys *keys)
{
    const struct tepal_params *p = tepal_filter_params(c);
    uint64_t histogram[TEPAL_MAX_COUNTER + 1];
    uint64_t cells = 0;
    struct tepal_filter *bits;
    struct tepal_filter *bloom;
    MUST(tepal_counting_histogram(c, histogram) == TEPAL_OK);
    for (size_t i = 0; i <= TEPAL_MAX_COUNTER; i++) {
        cells += histogram[i];
    }
    MUST(cells == p->cells);
    MUST(tepal_counting_strip(c, NULL, &bits, NULL) == TEPAL_OK);
    must_be_sound(bits);
    enum tepal_status status = tepal_counting_to_bloom(c, NULL, &bloom, NULL);
    MUST(status == TEPAL_OK || status == TEPAL_UNSUPPORTED);
    for (size_t i = 0; i < keys->count; i++) {
        bool present = tepal_filter_query(c, keys->digest[i]);
        MUST(present == (tepal_counting_groups(c, keys->digest[i]) != 0));
        MUST(present == tepal_filter_query(bits, keys->digest[i]));
        MUST(status != TEPAL_OK || present == tepal_filter_query(bloom, keys->digest[i]));
    }
    if (status == TEPAL_OK) {
        must_be_sound(bloom);
        tepal_filter_free(bloom);
    }
    tepal_filter_free(bits);
}

static void use_counting(struct tepal_filter *f, const struct keys *keys)
{
    struct tepal_filter *gain;
    struct tepal_counting_change change;
    struct tepal_report report;
    uint8_t groups[MANY];
    uint64_t done[WORDS(MANY)];
    size_t removed = 0;
    look_at_counters(f, keys);
    learn(f, keys);
    struct tepal_filter *before = clone_of(f);
    if (tepal_counting_add_many(f, keys->digest, keys->count, groups) == TEPAL_OK) {
        MUST(tepal_counting_difference(f, before, NULL, &gain, &change, NULL) == TEPAL_OK);
        must_be_sound(gain);
        MUST(change.fell == 0);
        MUST(tepal_filter_query_many(gain, keys->digest, keys->count, done) == keys->count);
        tepal_filter_free(gain);
        MUST(tepal_counting_remove_many(f, keys->digest, groups, keys->count, done, &removed) ==
             TEPAL_OK);
        MUST(removed == keys->count);
        must_be_sound(f);
        uint8_t findings[MANY];
        const uint8_t *receipts = tepal_filter_keys_added(f) % 2 == 0 ? groups : NULL;
        MUST(tepal_counting_audit(f, keys->digest, receipts, keys->count, NULL, NULL, findings,
                                  &report, NULL) == TEPAL_OK);
        MUST(tepal_counting_repair(f, keys->digest, NULL, keys->count, NULL, NULL, NULL, NULL) ==
             TEPAL_OK);
        must_be_sound(f);
        for (size_t i = 0; i < keys->count; i++) {
            MUST(tepal_counting_removable(f, keys->digest[i]) != 0);
        }
        if (tepal_filter_params(f)->counting.most_lost == 0) {
            MUST(tepal_filter_query_many(f, keys->digest, keys->count, done) == keys->count);
        }
    } else {
        MUST(tepal_counting_difference(f, before, NULL, &gain, NULL, NULL) == TEPAL_UNSUPPORTED);
        MUST(tepal_counting_audit(f, keys->digest, NULL, keys->count, NULL, NULL, NULL, &report,
                                  NULL) == TEPAL_UNSUPPORTED);
    }
    tepal_filter_free(before);
}

static void use_fingerprint(struct tepal_filter *f, const struct keys *keys)
{
    uint64_t held = tepal_filter_ones(f);
    MUST(held <= told(f, "slots"));
    /* One key as often as it fits. */
    size_t copies = 0;
    while (tepal_filter_add(f, keys->digest[1]) == TEPAL_OK) {
        MUST(++copies <= TEPAL_MAX_COPIES);
    }
    must_be_sound(f);
    MUST(tepal_filter_ones(f) == held + copies);
    for (; copies > 0; copies--) {
        MUST(tepal_filter_remove(f, keys->digest[1]) == TEPAL_OK);
    }
    MUST(tepal_filter_ones(f) == held);
    must_be_sound(f);
}

/* The mask of a key holds the key, where the filter of the mask alone would. */
static void use_yesno(struct tepal_filter *f, const struct keys *keys)
{
    const struct tepal_params *p = tepal_filter_params(f);
    size_t words;
    const uint64_t *cells = tepal_filter_words(f, &words);
    uint64_t *mask = malloc(words * sizeof *mask);
    uint64_t yes = p->cells - p->yesno.no_filters * p->yesno.no_bits;
    MUST(mask != NULL);
    for (size_t i = 0; i < keys->count; i++) {
        bool all = true;
        tepal_yesno_mask(p, keys->digest[i], mask);
        for (uint64_t bit = 0; bit < yes; bit++) {
            all &= !(mask[bit / 64] >> (bit % 64) & 1) || (cells[bit / 64] >> (bit % 64) & 1);
        }
        MUST(all == tepal_yesno_query_yes(f, keys->digest[i]));
        MUST(all || !tepal_filter_query(f, keys->digest[i]));
        if (!keys->at_length && i == 1) {
            break;
        }
    }
    free(mask);
    carry(f, keys);
    if (keys->at_length) {
        struct tepal_known input = {.members = keys->digest,
                                    .member_count = keys->count / 2,
                                    .avoid = keys->digest + keys->count / 2,
                                    .avoid_count = keys->count - keys->count / 2};
        struct tepal_yesno_options options = TEPAL_YESNO_OPTIONS_INIT;
        struct tepal_known_report report;
        struct tepal_filter *out;
        uint64_t answers[WORDS(MANY)];
        options.method = (enum tepal_yesno_method)(p->seed % TEPAL_YESNO_METHODS);
        options.steps = 1000;
        MUST(tepal_yesno_build(p, &input, &options, NULL, &out, &report, NULL) == TEPAL_OK);
        must_be_sound(out);
        MUST(report.false_negatives == 0);
        MUST(tepal_filter_query_many(out, input.members, input.member_count, answers) ==
             input.member_count);
        MUST(tepal_filter_query_many(out, input.avoid, input.avoid_count, answers) ==
             report.avoid_left);
        tepal_filter_free(out);
    }
}

static struct tepal_recycling_figures figures_of(const struct tepal_filter *f)
{
    struct tepal_recycling_figures figures;
    MUST(tepal_recycling_get_figures(f, &figures) == TEPAL_OK);
    return figures;
}

static void use_recycling(struct tepal_filter *f, const struct keys *keys)
{
    struct tepal_filter *copy = clone_of(f);
    uint64_t answers[WORDS(MANY)];
    size_t count = 0;
    struct tepal_recycling_figures now = figures_of(f);
    MUST(now.fp_so_far >= 0 && now.fp_so_far <= 1 && now.fp_now >= 0 && now.fp_now <= 1);
    MUST(tepal_filter_test_add_many(f, keys->digest, keys->count, answers, &count) == TEPAL_OK);
    for (size_t i = 0; i < keys->count; i++) {
        bool seen;
        bool would = tepal_filter_query(copy, keys->digest[i]);
        MUST(tepal_filter_test_add(copy, keys->digest[i], &seen) == TEPAL_OK);
        MUST(seen == would && seen == answer_of(answers, i));
        count -= seen;
    }
    MUST(count == 0 && tepal_filter_equal(f, copy));
    tepal_filter_free(copy);
    must_be_sound(f);
    now = figures_of(f);
    if (now.clock > 0) {
        MUST(tepal_recycling_set_clock(f, now.clock - 1) == TEPAL_CLOCK_BACK);
    }
    MUST(tepal_recycling_set_clock(f, now.clock) == TEPAL_OK);
    must_be_sound(f);
    MUST(tepal_recycling_set_clock(f, now.clock + (UINT64_MAX - now.clock) / 2) == TEPAL_OK);
    must_be_sound(f);
    MUST(tepal_recycling_recycle(f) == TEPAL_OK);
    must_be_sound(f);
    MUST(tepal_filter_ones(f) == 0);
    struct tepal_report report;
    tepal_filter_info(f, &report);
    const struct tepal_quantity *frozen = tepal_report_find(&report, "frozen_fill");
    MUST(frozen->value.list.count + 1 == tepal_filter_params(f)->recycling.phases);
    for (size_t i = 0; i < frozen->value.list.count; i++) {
        double fill = report.number[frozen->value.list.first + i];
        MUST(fill >= 0 && fill <= 1);
    }
}

static void use_cascade(struct tepal_filter *f, const struct keys *keys)
{
    uint64_t bits = 0;
    struct tepal_report report;
    tepal_filter_info(f, &report);
    const struct tepal_quantity *levels = tepal_report_find(&report, "level_bits");
    for (size_t i = 0; i < levels->value.list.count; i++) {
        bits += (uint64_t)report.number[levels->value.list.first + i];
    }
    MUST(bits == tepal_filter_params(f)->cells);
    if (keys->at_length) {
        struct tepal_known input = {.members = keys->digest,
                                    .member_count = keys->count / 2,
                                    .avoid = keys->digest + keys->count / 2,
                                    .avoid_count = keys->count - keys->count / 2};
        struct tepal_cascade_options options = {.bits = bits};
        struct tepal_filter *out;
        uint64_t answers[WORDS(MANY)];
        enum tepal_status status =
            tepal_cascade_build(tepal_filter_params(f), &input, &options, NULL, &out, NULL, NULL);
        MUST(status == TEPAL_OK || status == TEPAL_FULL);
        if (status == TEPAL_OK) {
            must_be_sound(out);
            MUST(tepal_filter_params(out)->cells <= bits);
            MUST(tepal_filter_query_many(out, input.members, input.member_count, answers) ==
                 input.member_count);
            MUST(tepal_filter_query_many(out, input.avoid, input.avoid_count, answers) == 0);
            tepal_filter_free(out);
        }
    }
}

/* Batches are single calls, byte for byte; what was added is found, and goes again. */
static void use_growing(struct tepal_filter *f, const struct keys *keys)
{
    struct tepal_filter *copy = clone_of(f);
    uint64_t answers[WORDS(MANY)];
    uint64_t buckets = tepal_filter_params(f)->cells;
    size_t found = 0;
    MUST(tepal_filter_test_add_many(f, keys->digest, keys->count, answers, &found) == TEPAL_OK);
    for (size_t i = 0; i < keys->count; i++) {
        bool there;
        MUST(tepal_filter_test_add(copy, keys->digest[i], &there) == TEPAL_OK);
        MUST(there == answer_of(answers, i));
    }
    MUST(tepal_filter_equal(f, copy));
    tepal_filter_free(copy);
    for (int i = 0; i < 20; i++) { /* more than two buckets hold */
        MUST(tepal_filter_add(f, keys->digest[1]) == TEPAL_OK);
    }
    MUST(tepal_filter_params(f)->cells >= buckets);
    must_survive_a_file(f);
    must_find(f, keys);
    for (int i = 0; i < 20; i++) {
        MUST(tepal_filter_remove(f, keys->digest[1]) == TEPAL_OK);
    }
    must_find(f, keys);
    must_be_sound(f);
}

/* Batches are single calls, byte for byte; what is found needs no room; one part, once cleared. */
static void use_chain(struct tepal_filter *f, const struct keys *keys)
{
    struct tepal_filter *copy = clone_of(f);
    uint64_t answers[WORDS(MANY)];
    size_t found = 0;
    enum tepal_status status =
        tepal_filter_test_add_many(f, keys->digest, keys->count, answers, &found);
    if (status != TEPAL_OK) {
        must_refuse_rightly(f, status);
        MUST(tepal_filter_equal(f, copy));
    } else {
        for (size_t i = 0; i < keys->count; i++) {
            bool there;
            MUST(tepal_filter_test_add(copy, keys->digest[i], &there) == TEPAL_OK);
            MUST(there == answer_of(answers, i));
        }
        MUST(tepal_filter_equal(f, copy));
        MUST(tepal_filter_add_many(f, keys->digest, keys->count) == TEPAL_OK);
        MUST(tepal_filter_equal(f, copy));
        must_find(f, keys);
    }
    tepal_filter_free(copy);
    must_survive_a_file(f);
    MUST(tepal_filter_clear(f) == TEPAL_OK && tepal_filter_params(f)->chain.parts == 1);
    must_be_sound(f);
}

typedef void use_kind(struct tepal_filter *f, const struct keys *keys);

static use_kind *const uses[] = {
    [TEPAL_KIND_BLOOM] = use_bloom,
    [TEPAL_KIND_RETOUCHED] = use_retouched,
    [TEPAL_KIND_GENERALIZED] = use_generalized,
    [TEPAL_KIND_COUNTING] = use_counting,
    [TEPAL_KIND_FINGERPRINT] = use_fingerprint,
    [TEPAL_KIND_YESNO] = use_yesno,
    [TEPAL_KIND_RECYCLING] = use_recycling,
    [TEPAL_KIND_CASCADE] = use_cascade,
    [TEPAL_KIND_GROWING] = use_growing,
    [TEPAL_KIND_CHAIN] = use_chain,
};

/* ---- the whole ------------------------------------------------------------------------------- */

static struct keys keys_for(const struct tepal_filter *f, bool at_length)
{
    struct keys keys = {.count = at_length ? MANY : FEW, .at_length = at_length};
    uint64_t seed = tepal_filter_params(f)->seed;
    for (size_t i = 0; i < keys.count; i++) {
        keys.digest[i] = (struct tepal_digest){XXH64(&i, sizeof i, seed), XXH64(&i, 8, ~seed)};
    }
    keys.digest[0] = (struct tepal_digest){0, 0};
    keys.digest[1] = (struct tepal_digest){UINT64_MAX, UINT64_MAX};
    keys.digest[2] = (struct tepal_digest){0, UINT64_MAX};
    return keys;
}

static void use(const struct tepal_filter *f, unsigned what, bool at_length)
{
    struct keys keys = keys_for(f, at_length);
    struct tepal_filter *copy = clone_of(f);
    if (at_length) {
        tell(f);
    }
    switch (what) {
    case 0:
        uses[tepal_filter_params(f)->kind](copy, &keys);
        break;
    case 1:
        (void)add(copy, &keys);
        must_survive_a_file(copy);
        break;
    case 2:
        take_away(copy, &keys, tepal_filter_add_many(copy, keys.digest, keys.count) == TEPAL_OK);
        combine(copy, f, &keys);
        must_survive_a_file(copy);
        break;
    default:
        look_from_outside(f, &keys);
        start_anew(copy);
        (void)tepal_filter_add_many(copy, keys.digest, keys.count);
        must_be_sound(copy);
    }
    if (at_length) {
        tell(copy);
    }
    tepal_filter_free(copy);
}

/*
 * Cells that nobody has looked at: a lazy view may answer anything, but it answers, tells figures
 * that can be, and whatever is made of it is sound or refused.
 */
static void glance(const uint8_t *bytes, size_t len, enum tepal_status decoded, bool at_length)
{
    char path[MUST_PATH];
    struct tepal_filter *view = NULL;
    struct tepal_filter *copy;
    uint64_t answers[WORDS(MANY)];
    int fd = must_file(bytes, len, path);
    enum tepal_status status = tepal_map(path, TEPAL_MAP_LAZY, NULL, &view, NULL);
    if (status != TEPAL_OK) {
        MUST(decoded != TEPAL_OK);
        close(fd);
        return;
    }
    struct keys keys = keys_for(view, at_length);
    query(view, &keys, answers);
    if (at_length) {
        tell(view);
    }
    MUST(decoded != TEPAL_OK || tepal_filter_validate(view, NULL) == TEPAL_OK);
    MUST(tepal_filter_clone(view, NULL, &copy, NULL) == tepal_filter_validate(view, NULL));
    if (tepal_filter_validate(view, NULL) == TEPAL_OK) {
        (void)tepal_filter_add_many(copy, keys.digest, keys.count);
        must_be_sound(copy);
        tepal_filter_free(copy);
    }
    struct tepal_filter *bits;
    if (tepal_counting_strip(view, NULL, &bits, NULL) == TEPAL_OK) {
        must_be_sound(bits);
        tepal_filter_free(bits);
    }
    tepal_filter_free(view);
    close(fd);
}

/* The same bytes in pieces, as they arrive: same verdict, same filter; and back in pieces. */
static void in_pieces(const uint8_t *bytes, size_t len, size_t piece, enum tepal_status expected,
                      const struct tepal_filter *f)
{
    struct tepal_decoder *decoder;
    struct tepal_filter *out = NULL;
    struct tepal_error error = {TEPAL_OK, -1, 0, NULL};
    MUST(tepal_decoder_create(0, NULL, &decoder, NULL) == TEPAL_OK);
    enum tepal_status status = TEPAL_OK;
    for (size_t at = 0; at < len && status == TEPAL_OK; at += piece) {
        size_t here = len - at < piece ? len - at : piece;
        status = tepal_decoder_feed(decoder, bytes + at, here, &error);
    }
    enum tepal_status last = tepal_decoder_finish(decoder, &out, &error);
    MUST(status == TEPAL_OK || last == status);
    /* A wrong length that is known from the start is seen first; otherwise, where it shows. */
    MUST(last == expected || (expected == TEPAL_BAD_LENGTH && last != TEPAL_OK));
    MUST((out != NULL) == (last == TEPAL_OK));
    tepal_decoder_free(decoder);
    if (out != NULL) {
        MUST(tepal_filter_equal(f, out) &&
             tepal_filter_keys_added(f) == tepal_filter_keys_added(out));
        uint8_t *range = must_copy(bytes, piece < len ? piece : len);
        for (size_t at = 0; at < len; at += piece) {
            size_t here = len - at < piece ? len - at : piece;
            MUST(tepal_encode_range(out, at, range, here, NULL) == TEPAL_OK);
            MUST(memcmp(range, bytes + at, here) == 0);
        }
        free(range);
        tepal_filter_free(out);
    }
}

/* ---- what must be refused -------------------------------------------------------------------- */

/* An allocator that says no at one request. */
struct rations {
    uint64_t left;
    bool refused;
};

static void *ration(void *context, size_t bytes, size_t align)
{
    struct rations *r = context;
    r->refused |= r->left == 0;
    return r->left-- == 0 ? NULL : aligned_alloc(align, (bytes + align - 1) / align * align);
}

static void give_back(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(memory);
}

/* Whenever memory runs out, that is what is said, and no filter; else all is as before. */
static void run_out(const uint8_t *bytes, size_t len, enum tepal_status expected)
{
    struct rations rations = {.refused = true};
    struct tepal_allocator allocator = {ration, give_back, &rations};
    for (uint64_t n = 0; rations.refused; n++) {
        struct tepal_filter *f = NULL;
        struct tepal_decoder *decoder = NULL;
        rations = (struct rations){.left = n};
        enum tepal_status status = tepal_decode(bytes, len, &allocator, &f, NULL);
        MUST(status == (rations.refused ? TEPAL_NO_MEMORY : expected));
        MUST((f != NULL) == (status == TEPAL_OK));
        tepal_filter_free(f);
        f = NULL;
        rations = (struct rations){.left = n};
        status = tepal_decoder_create(0, &allocator, &decoder, NULL);
        if (status == TEPAL_OK) {
            (void)tepal_decoder_feed(decoder, bytes, len, NULL);
            status = tepal_decoder_finish(decoder, &f, NULL);
            tepal_decoder_free(decoder);
        }
        MUST(!rations.refused || status == TEPAL_NO_MEMORY);
        MUST((f != NULL) == (status == TEPAL_OK));
        tepal_filter_free(f);
    }
}

/* Less room than it takes, a range beyond its end, a limit below its size, more after the end. */
static void overstep(const struct tepal_filter *f, uint8_t *bytes, size_t len)
{
    struct tepal_decoder *decoder;
    struct tepal_filter *none = NULL;
    uint8_t byte = 0;
    size_t held;
    MUST(tepal_params_encoded_bytes(tepal_filter_params(f)) == len);
    MUST(tepal_encode(f, bytes, len - 1, NULL) == TEPAL_BAD_LENGTH);
    MUST(tepal_encode_range(f, len, &byte, 1, NULL) == TEPAL_BAD_ARGUMENT);
    MUST(tepal_decoder_create(len - 1, NULL, &decoder, NULL) == TEPAL_OK);
    MUST(tepal_decoder_payload(decoder, &held) == NULL && held == 0);
    MUST(tepal_decoder_feed(decoder, bytes, len, NULL) == TEPAL_TOO_LARGE);
    MUST(tepal_decoder_finish(decoder, &none, NULL) == TEPAL_TOO_LARGE && none == NULL);
    tepal_decoder_free(decoder);
    MUST(tepal_decoder_create(len, NULL, &decoder, NULL) == TEPAL_OK);
    MUST(tepal_decoder_feed(decoder, bytes, len, NULL) == TEPAL_OK);
    const uint8_t *payload = tepal_decoder_payload(decoder, &held);
    MUST(held < len && memcmp(payload, bytes + MEND_HEADER, held) == 0);
    MUST(tepal_decoder_feed(decoder, &byte, 1, NULL) == TEPAL_BAD_LENGTH);
    tepal_decoder_free(decoder);
}

/* Every name that it tells is understood, and means what it told. */
static void check_names(const struct tepal_filter *f)
{
    const struct tepal_params *p = tepal_filter_params(f);
    const struct tepal_kind *kind = tepal_filter_kind(f);
    enum tepal_layout layout;
    enum tepal_positions positions;
    enum tepal_hash hash;
    enum tepal_counting_rule rule;
    enum tepal_counting_policy policy;
    enum tepal_chain_series series;
    unsigned known = 0;
    MUST(tepal_layout_parse(tepal_layout_name(p->layout), &layout) && layout == p->layout);
    MUST(tepal_hash_parse(tepal_hash_name(p->hash), &hash) && hash == p->hash);
    MUST(tepal_positions_parse(tepal_positions_name(p->positions), &positions) &&
         positions == p->positions);
    MUST(tepal_kind_by_name(kind->name) == kind && tepal_kind_by_name("") == NULL);
    for (size_t i = 0; i < tepal_kind_count(); i++) {
        known += tepal_kind_at(i) == kind;
    }
    MUST(known == 1 && tepal_kind_at(tepal_kind_count()) == NULL);
    for (unsigned promise = 1; promise != 0 && promise <= kind->promises; promise <<= 1) {
        MUST((kind->promises & promise) == 0 || tepal_promise_name(promise) != NULL);
    }
    MUST(tepal_promise_name(0) == NULL);
    if (p->kind == TEPAL_KIND_COUNTING) {
        rule = (enum tepal_counting_rule)p->counting.rule;
        policy = (enum tepal_counting_policy)p->counting.policy;
        MUST(tepal_counting_rule_parse(tepal_counting_rule_name(rule), &rule) &&
             rule == p->counting.rule);
        MUST(tepal_counting_policy_parse(tepal_counting_policy_name(policy), &policy) &&
             policy == p->counting.policy);
    }
    if (p->kind == TEPAL_KIND_CHAIN) {
        series = (enum tepal_chain_series)p->chain.series;
        MUST(tepal_chain_series_parse(tepal_chain_series_name(series), &series) &&
             series == p->chain.series);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    size_t len = size - 1;
    uint8_t *bytes = must_copy(data + 1, len);
    if (data[0] % 2 == 1) {
        len = mend(bytes, len, (data[0] & 2) != 0 ? MEND_LEAVE_COUNTS : 0);
    }
    struct tepal_filter *f = NULL;
    struct tepal_error error = {TEPAL_OK, -1, 0, NULL};
    enum tepal_status status = tepal_decode(bytes, len, NULL, &f, &error);
    uint64_t lot = XXH3_64bits(data, size);
    in_pieces(bytes, len, 1 + (size_t)(lot >> 8) % 400, status, f);
    if (status == TEPAL_OK) {
        MUST(f != NULL);
        must_be_sound(f);
        MUST(tepal_encoded_bytes(f) == len);
        uint8_t *again = malloc(len);
        MUST(again != NULL && tepal_encode(f, again, len, NULL) == TEPAL_OK);
        MUST(memcmp(again, bytes, len) == 0);
        overstep(f, again, len);
        free(again);
        check_names(f);
        use(f, data[0] >> 2 & 3, lot % 256 == 0);
        tepal_filter_free(f);
    } else {
        MUST(f == NULL && error.status == status && error.system == 0 && error.why != NULL);
    }
    if ((data[0] & 16) != 0) {
        run_out(bytes, len, status);
    }
    if ((data[0] >> 2 & 3) == 3) {
        glance(bytes, len, status, lot % 256 == 0);
    }
    free(bytes);
    return 0;
}

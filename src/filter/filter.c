/*
 * filter.c: the generic handle. Everything that is the same for all kinds lives here (construction,
 * copying, keys, comparison); the rest is passed on through the kind's table, once a call.
 */
#include <tepal/model.h>

#include "filter/kind.h"

#include <string.h>

#include "base/alloc.h"
#include "base/refuse.h"
#include "base/report.h"
#include "cells/bits.h"

/* ---- construction ---------------------------------------------------------------------------- */

static void make_hasher(struct tepal_filter *filter)
{
    filter->has_hasher = !tepal_hash_is_keyed(filter->params.hash);
    if (filter->has_hasher) {
        tepal_hasher_init(filter->params.seed, &filter->hasher);
    }
}

static enum tepal_status add_read_only(struct tepal_filter *filter, struct tepal_digest digest)
{
    (void)filter;
    (void)digest;
    return TEPAL_READ_ONLY;
}

static enum tepal_status add_unsupported(struct tepal_filter *filter, struct tepal_digest digest)
{
    (void)filter;
    (void)digest;
    return TEPAL_UNSUPPORTED;
}

void tepal_filter_open(struct tepal_filter *filter)
{
    const struct filter_ops *ops = filter->ops;
    filter->query = ops->query;
    filter->add = filter_read_only(filter) ? add_read_only
                  : ops->add == NULL       ? add_unsupported
                                           : ops->add;
    filter->query_u64 = tepal_filter_hash_query_u64;
    filter->add_u64 = tepal_filter_hash_add_u64;
    ops->open(filter);
}

enum tepal_status tepal_filter_adopt(const struct filter_parts *parts,
                                     const struct tepal_allocator *allocator,
                                     struct tepal_filter **out, struct tepal_error *error)
{
    const struct filter_ops *ops = tepal_filter_ops_by_id((uint32_t)parts->params->kind);
    struct tepal_allocator chosen = tepal_alloc_choose(allocator);
    uint64_t bytes = tepal_params_cell_bytes(parts->params);
    if (!checked_size(bytes)) {
        return refuse(error, TEPAL_TOO_LARGE, "the size is larger than this machine can address");
    }
    struct tepal_filter *filter = tepal_alloc_zeroed(&chosen, ops->struct_bytes);
    if (filter == NULL) {
        return refuse(error, TEPAL_NO_MEMORY, "out of memory");
    }
    uint64_t *words = parts->words;
    if (words == NULL) {
        words = tepal_alloc_zeroed(&chosen, (size_t)bytes);
    }
    if (words == NULL) {
        tepal_alloc_release(&chosen, filter, ops->struct_bytes);
        return refuse(error, TEPAL_NO_MEMORY, "out of memory for the cells");
    }
    filter->ops = ops;
    filter->allocator = chosen;
    filter->params = *parts->params;
    filter->state = parts->state == NULL ? (struct filter_state){0} : *parts->state;
    filter->words = words;
    filter->word_count = (size_t)(bytes / 8);
    filter->mapping = parts->mapping;
    make_hasher(filter);
    tepal_filter_open(filter);
    *out = filter;
    return TEPAL_OK;
}

enum tepal_status tepal_filter_create(const struct tepal_params *params,
                                      const struct tepal_allocator *allocator,
                                      struct tepal_filter **out, struct tepal_error *error)
{
    const struct filter_parts parts = {.params = params};
    struct tepal_filter *filter;
    enum tepal_status status = tepal_params_check(params, error);
    if (status == TEPAL_OK) {
        status = tepal_filter_adopt(&parts, allocator, &filter, error);
    }
    if (status != TEPAL_OK) {
        return status;
    }
    if (filter->ops->reset != NULL) {
        filter->ops->reset(filter);
    }
    *out = filter;
    return TEPAL_OK;
}

enum tepal_status tepal_filter_create_for_rate(enum tepal_kind_id kind, uint64_t keys, double fp,
                                               uint64_t seed, struct tepal_filter **out,
                                               struct tepal_error *error)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    if (kind == TEPAL_KIND_RECYCLING) {
        return refuse(error, TEPAL_UNSUPPORTED,
                      "a recycling filter needs its memory: set cells, then tepal_params_for_rate");
    }
    params.kind = kind;
    params.seed = seed;
    enum tepal_status status = tepal_params_for_rate(&params, keys, fp, error);
    return status == TEPAL_OK ? tepal_filter_create(&params, NULL, out, error) : status;
}

/* What a filter knows of its secret key does not stay in memory that is given back. */
static void wipe(struct tepal_hasher *hasher)
{
    volatile uint8_t *byte = (volatile uint8_t *)hasher; /* so that no compiler leaves it out */
    for (size_t i = 0; i < sizeof *hasher; i++) {
        byte[i] = 0;
    }
}

void tepal_filter_free(struct tepal_filter *filter)
{
    if (filter == NULL) {
        return;
    }
    struct tepal_allocator allocator = filter->allocator;
    if (filter->ops->close != NULL) {
        filter->ops->close(filter);
    }
    if (filter_read_only(filter)) {
        filter->mapping.unmap(filter->mapping.start, filter->mapping.bytes);
    } else {
        tepal_alloc_release(&allocator, filter->words, filter->word_count * 8);
    }
    wipe(&filter->hasher);
    tepal_alloc_release(&allocator, filter, filter->ops->struct_bytes);
}

void tepal_filter_copy_words(const struct tepal_filter *filter, uint64_t first, uint64_t count,
                             uint64_t *to)
{
    while (count > 0) {
        uint64_t here;
        const uint64_t *from = filter_run(filter, first, &here);
        here = here < count ? here : count;
        memcpy(to, from, (size_t)here * 8);
        to += here;
        first += here;
        count -= here;
    }
}

enum tepal_status tepal_filter_clone(const struct tepal_filter *filter,
                                     const struct tepal_allocator *allocator,
                                     struct tepal_filter **out, struct tepal_error *error)
{
    const struct filter_parts parts = {.params = &filter->params, .state = &filter->state};
    struct tepal_filter *copy;
    enum tepal_status status = tepal_filter_adopt(&parts, allocator, &copy, error);
    if (status != TEPAL_OK) {
        return status;
    }
    tepal_filter_copy_words(filter, 0, filter->word_count, copy->words);
    filter_inherit(copy, filter);
    copy->ops->open(copy);
    /* The cells of a view may never have been looked at; those of a writable filter are sound. */
    status = filter_read_only(filter) ? tepal_filter_validate(copy, error) : TEPAL_OK;
    if (status != TEPAL_OK) {
        tepal_filter_free(copy);
        return status;
    }
    *out = copy;
    return TEPAL_OK;
}

/* ---- what it is ------------------------------------------------------------------------------ */

const struct tepal_kind *tepal_filter_kind(const struct tepal_filter *filter)
{
    return &filter->ops->rules->kind;
}

const struct tepal_params *tepal_filter_params(const struct tepal_filter *filter)
{
    return &filter->params;
}

bool tepal_filter_read_only(const struct tepal_filter *filter)
{
    return filter_read_only(filter);
}

uint64_t tepal_filter_keys_added(const struct tepal_filter *filter)
{
    return filter->state.keys_added;
}

uint64_t tepal_filter_keys_now(const struct tepal_filter *filter)
{
    return filter->ops->keys_now != NULL ? filter->ops->keys_now(filter) : filter->state.keys_added;
}

const uint64_t *tepal_filter_words(const struct tepal_filter *filter, size_t *count)
{
    uint64_t here;
    const uint64_t *words = filter_run(filter, 0, &here);
    bool whole = here == filter->word_count;
    *count = whole ? filter->word_count : 0;
    return whole ? words : NULL;
}

uint64_t tepal_params_memory_bytes(const struct tepal_params *params)
{
    const struct filter_ops *ops = tepal_filter_ops_by_id((uint32_t)params->kind);
    return ops == NULL ? 0 : tepal_params_cell_bytes(params) + ops->struct_bytes;
}

uint64_t tepal_filter_memory_bytes(const struct tepal_filter *filter)
{
    uint64_t words = filter->ops->memory != NULL ? filter->ops->memory(filter)
                     : filter_read_only(filter)  ? 0
                                                 : (uint64_t)filter->word_count * 8;
    return filter->ops->struct_bytes + words;
}

bool tepal_filter_equal(const struct tepal_filter *a, const struct tepal_filter *b)
{
    if (!tepal_params_compatible(&a->params, &b->params) || a->word_count != b->word_count) {
        return false;
    }
    for (uint64_t at = 0; at < a->word_count;) {
        uint64_t here;
        uint64_t there;
        const uint64_t *x = filter_run(a, at, &here);
        const uint64_t *y = filter_run(b, at, &there);
        here = here < there ? here : there;
        if (memcmp(x, y, (size_t)here * 8) != 0) {
            return false;
        }
        at += here;
    }
    return true;
}

/* ---- the key of a keyed filter --------------------------------------------------------------- */

enum tepal_status tepal_filter_set_key(struct tepal_filter *filter,
                                       const uint8_t key[TEPAL_KEY_BYTES])
{
    if (!tepal_hash_is_keyed(filter->params.hash)) {
        return TEPAL_UNSUPPORTED;
    }
    struct tepal_hasher hasher;
    (void)tepal_hasher_init_by(filter->params.hash, filter->params.seed, key, &hasher);
    uint64_t check = tepal_hasher_check(&hasher);
    bool right = filter->params.key_check == 0 || filter->params.key_check == check;
    if (right) {
        filter->params.key_check = check;
        filter->hasher = hasher;
        filter->has_hasher = true;
    }
    wipe(&hasher);
    return right ? TEPAL_OK : TEPAL_WRONG_KEY;
}

bool tepal_filter_needs_key(const struct tepal_filter *filter)
{
    return !filter->has_hasher;
}

enum tepal_status tepal_filter_hasher(const struct tepal_filter *filter, struct tepal_hasher *out)
{
    if (!filter->has_hasher) {
        return TEPAL_KEY_NEEDED;
    }
    *out = filter->hasher;
    return TEPAL_OK;
}

/* ---- digests, passed on to the kind ---------------------------------------------------------- */

enum tepal_status tepal_filter_may(const struct tepal_filter *filter, bool has)
{
    if (filter_read_only(filter)) {
        return TEPAL_READ_ONLY;
    }
    return has ? TEPAL_OK : TEPAL_UNSUPPORTED;
}

enum tepal_status tepal_filter_add(struct tepal_filter *filter, struct tepal_digest digest)
{
    return filter->add(filter, digest);
}

enum tepal_status tepal_filter_add_many(struct tepal_filter *filter,
                                        const struct tepal_digest *digests, size_t count)
{
    enum tepal_status status = tepal_filter_may(filter, filter->ops->add_many != NULL);
    return status == TEPAL_OK ? filter->ops->add_many(filter, digests, count) : status;
}

enum tepal_status tepal_filter_test_add(struct tepal_filter *filter, struct tepal_digest digest,
                                        bool *was_present)
{
    enum tepal_status status = tepal_filter_may(filter, filter->ops->add != NULL);
    if (status != TEPAL_OK) {
        return status;
    }
    if (filter->ops->test_add != NULL) {
        return filter->ops->test_add(filter, digest, was_present);
    }
    bool present = filter->query(filter, digest);
    status = filter->add(filter, digest);
    if (status == TEPAL_OK) {
        *was_present = present;
    }
    return status;
}

enum tepal_status tepal_filter_test_add_many(struct tepal_filter *filter,
                                             const struct tepal_digest *digests, size_t count,
                                             uint64_t *answers, size_t *present)
{
    size_t ignored;
    size_t *seen = present == NULL ? &ignored : present;
    enum tepal_status status = tepal_filter_may(filter, filter->ops->add != NULL);
    if (status != TEPAL_OK) {
        return status;
    }
    if (count == 1 && filter->ops->test_add != NULL) { /* no batch: a shorter way */
        bool yes = false;
        status = filter->ops->test_add(filter, digests[0], &yes);
        if (status == TEPAL_OK) {
            answers[0] = *seen = yes;
        }
        return status;
    }
    if (filter->ops->test_add_many != NULL) {
        return filter->ops->test_add_many(filter, digests, count, answers, seen);
    }
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (i % 64 == 0) {
            answers[i / 64] = 0;
        }
        bool yes = false;
        status = tepal_filter_test_add(filter, digests[i], &yes);
        if (status != TEPAL_OK) {
            return status; /* before the first: kinds that can be full have their own way */
        }
        answers[i / 64] |= (uint64_t)yes << (i % 64);
        found += yes;
    }
    *seen = found;
    return TEPAL_OK;
}

uint64_t tepal_filter_copies(const struct tepal_filter *filter, struct tepal_digest digest)
{
    return filter->ops->copies != NULL ? filter->ops->copies(filter, digest)
                                       : tepal_filter_query(filter, digest);
}

enum tepal_status tepal_filter_remove(struct tepal_filter *filter, struct tepal_digest digest)
{
    enum tepal_status status = tepal_filter_may(filter, filter->ops->remove != NULL);
    return status == TEPAL_OK ? filter->ops->remove(filter, digest) : status;
}

enum tepal_status tepal_filter_remove_many(struct tepal_filter *filter,
                                           const struct tepal_digest *digests, size_t count,
                                           size_t *removed)
{
    size_t ignored;
    enum tepal_status status = tepal_filter_may(filter, filter->ops->remove_many != NULL);
    return status == TEPAL_OK ? filter->ops->remove_many(filter, digests, count,
                                                         removed == NULL ? &ignored : removed)
                              : status;
}

bool tepal_filter_query(const struct tepal_filter *filter, struct tepal_digest digest)
{
    return filter->query(filter, digest);
}

size_t tepal_filter_query_many(const struct tepal_filter *filter,
                               const struct tepal_digest *digests, size_t count, uint64_t *answers)
{
    return count == 0 ? 0 : filter->ops->query_many(filter, digests, count, answers);
}

enum tepal_status tepal_filter_clear(struct tepal_filter *filter)
{
    if (filter_read_only(filter)) {
        return TEPAL_READ_ONLY;
    }
    filter->state = (struct filter_state){0};
    for (uint64_t at = 0, here; at < filter->word_count; at += here) {
        uint64_t *words = filter_run(filter, at, &here);
        memset(words, 0, (size_t)here * 8);
    }
    if (filter->ops->reset != NULL) {
        filter->ops->reset(filter);
    }
    return TEPAL_OK;
}

/*
 * May the second be combined into the first? TEPAL_READ_ONLY, TEPAL_MISMATCH, or TEPAL_KEY_NEEDED
 * where nobody knows whether the keys of two keyed filters are the same.
 */
static enum tepal_status mates(const struct tepal_filter *into, const struct tepal_filter *other)
{
    if (filter_read_only(into)) {
        return TEPAL_READ_ONLY;
    }
    if (!tepal_params_compatible(&into->params, &other->params)) {
        return TEPAL_MISMATCH;
    }
    if (tepal_hash_is_keyed(into->params.hash) && into->params.key_check == 0) {
        return TEPAL_KEY_NEEDED;
    }
    return TEPAL_OK;
}

typedef enum tepal_status combine(struct tepal_filter *into, const struct tepal_filter *other);

static enum tepal_status combine_with(combine *operation, struct tepal_filter *into,
                                      const struct tepal_filter *other)
{
    enum tepal_status status = mates(into, other);
    if (operation == NULL && status != TEPAL_READ_ONLY) {
        return TEPAL_UNSUPPORTED;
    }
    return status == TEPAL_OK ? operation(into, other) : status;
}

enum tepal_status tepal_filter_unite(struct tepal_filter *into, const struct tepal_filter *other)
{
    return combine_with(into->ops->unite, into, other);
}

enum tepal_status tepal_filter_intersect(struct tepal_filter *into,
                                         const struct tepal_filter *other)
{
    return combine_with(into->ops->intersect, into, other);
}

uint64_t tepal_filter_ones(const struct tepal_filter *filter)
{
    struct tepal_report report;
    if (filter->ops->ones != NULL) {
        return filter->ops->ones(filter);
    }
    tepal_filter_info(filter, &report);
    return tepal_report_find(&report, "ones")->value.integer;
}

double tepal_filter_fp_now(const struct tepal_filter *filter)
{
    struct tepal_report report;
    if (filter->ops->fp_now != NULL) {
        return filter->ops->fp_now(filter);
    }
    tepal_filter_info(filter, &report);
    return tepal_report_find(&report, "fp_now")->value.real;
}

/* What costs nothing to know, around what the kind says of its cells (NULL: nothing). */
static void tell(const struct tepal_filter *filter, struct tepal_report *report,
                 void (*cells)(const struct tepal_filter *filter, struct tepal_report *report))
{
    const struct tepal_params *p = &filter->params;
    report->count = 0;
    report->numbers = 0;
    tepal_report_text(report, "kind", "the kind of filter", filter->ops->rules->kind.name);
    tepal_report_text(report, "layout", "where the cells of a key are",
                      tepal_layout_name(p->layout));
    tepal_report_text(report, "positions", "may two positions of a key be the same?",
                      tepal_positions_name(p->positions));
    tepal_report_integer(report, "bits", "size of the cells in bits",
                         p->cells * params_cell_bits(p, filter->ops->rules));
    tepal_report_integer(report, "hashes", "positions per key", p->hashes);
    if (p->capacity != 0) {
        tepal_report_integer(report, "capacity", "planned number of keys", p->capacity);
    } else {
        tepal_report_absent(report, "capacity", "planned number of keys: not given");
    }
    tepal_report_integer(report, "keys_added", "keys added, repeats included",
                         filter->state.keys_added);
    if (cells != NULL) {
        cells(filter, report);
    }
    tepal_report_text(report, "hash", "hash function from keys to digests",
                      tepal_hash_name(p->hash));
    tepal_report_integer(report, "seed", "seed of the hash functions", p->seed);
    tepal_report_flag(report, "keyed", "was it built with a secret key?",
                      tepal_hash_is_keyed(p->hash));
    tepal_report_integer(report, "bytes", "memory of the cells", (uint64_t)filter->word_count * 8);
    tepal_report_text(report, "version", "version of the library", TEPAL_VERSION);
}

void tepal_filter_summary(const struct tepal_filter *filter, struct tepal_report *report)
{
    tell(filter, report, NULL);
}

void tepal_filter_info(const struct tepal_filter *filter, struct tepal_report *report)
{
    tell(filter, report, filter->ops->info);
}

size_t tepal_filter_stray_state(const struct filter_ops *ops, const struct filter_state *state)
{
    size_t i = ops->states;
    while (i < FILTER_STATES && state->own[i] == 0) {
        i++;
    }
    return i;
}

const char *tepal_filter_flaw(const struct tepal_filter *filter, bool cells)
{
    const struct filter_ops *ops = filter->ops;
    const char *flaw = NULL;
    if (ops->rules->payload_bytes == NULL &&
        bits_beyond(filter->words, filter->params.cells * ops->rules->cell_bits)) {
        return FILTER_STRAY_CELLS;
    }
    if (ops->validate != NULL) {
        flaw = ops->validate(filter);
    }
    return flaw == NULL && cells && ops->validate_cells != NULL ? ops->validate_cells(filter)
                                                                : flaw;
}

enum tepal_status tepal_filter_validate(const struct tepal_filter *filter,
                                        struct tepal_error *error)
{
    /* A load has looked at the state already, where it stands in the file. */
    bool stray = tepal_filter_stray_state(filter->ops, &filter->state) < FILTER_STATES;
    const char *flaw = stray ? FILTER_STRAY_STATE : tepal_filter_flaw(filter, true);
    return flaw == NULL ? TEPAL_OK : refuse(error, TEPAL_CORRUPT, flaw);
}

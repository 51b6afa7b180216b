/*
 * exceptions.c: the members that a retouched filter gave up, as an exact set beside it.
 *
 *     0        8         12        16      24     32          40      48
 *     +--------+---------+---------+-------+------+-----------+-------+---------------- - -
 *     | magic  | version | hash    | count | seed | key check | check | digests, 16 bytes each
 *     +--------+---------+---------+-------+------+-----------+-------+---------------- - -
 *
 * The digests are sorted by (hi, lo) and differ from each other; `check` is XXH3-64 of all the
 * other bytes. Everything is little-endian. Digests, not keys, because digests are what every other
 * call takes, they have one size, and 128 bits do not collide. The list is as large as it must be
 * and no cleverer: victims are few, or retouching was the wrong thing to do.
 *
 * Invariant: strictly ascending. Cost: a query is a binary search.
 */
#include <tepal/retouched.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/little.h"
#include "base/refuse.h"
#include "cells/bits.h"
#include "filter/kind.h"
#include "hash/digest.h"

#define HEADER       48
#define ENTRY        16
#define VERSION      1
#define AT_VERSION   8
#define AT_HASH      12
#define AT_COUNT     16
#define AT_SEED      24
#define AT_KEY_CHECK 32
#define AT_CHECK     40

static const uint8_t magic[8] = {'t', 'e', 'p', 'a', 'l', 'e', 'x', '\n'};

struct tepal_exceptions {
    struct tepal_allocator allocator;
    enum tepal_hash hash;
    uint64_t seed;
    uint64_t key_check;
    size_t count;
    size_t room; /* bytes of the array as allocated */
    struct tepal_digest *digests;
};

static int compare(const void *left, const void *right)
{
    const struct tepal_digest *a = left;
    const struct tepal_digest *b = right;
    if (a->hi != b->hi) {
        return a->hi < b->hi ? -1 : 1;
    }
    return a->lo < b->lo ? -1 : a->lo > b->lo;
}

/* A list with room for `count` digests, all else 0. */
static struct tepal_exceptions *make(const struct tepal_allocator *allocator, size_t count)
{
    struct tepal_allocator chosen = tepal_alloc_choose(allocator);
    struct tepal_exceptions *list = tepal_alloc_zeroed(&chosen, sizeof *list);
    if (list == NULL) {
        return NULL;
    }
    list->allocator = chosen;
    list->room = (count + 1) * sizeof *list->digests;
    list->digests = tepal_alloc_zeroed(&chosen, list->room);
    if (list->digests == NULL) {
        tepal_alloc_release(&chosen, list, sizeof *list);
        return NULL;
    }
    return list;
}

enum tepal_status tepal_exceptions_create(const struct tepal_filter *filter,
                                          const struct tepal_digest *members, size_t member_count,
                                          const uint64_t *victims,
                                          const struct tepal_allocator *allocator,
                                          struct tepal_exceptions **out, struct tepal_error *error)
{
    size_t count = (size_t)tepal_bits_count(victims, (member_count + 63) / 64);
    struct tepal_exceptions *list = make(allocator, count);
    if (list == NULL) {
        return refuse_if(error, TEPAL_NO_MEMORY);
    }
    list->hash = filter->params.hash;
    list->seed = filter->params.seed;
    list->key_check = filter->params.key_check;
    size_t taken = 0;
    for (size_t i = 0; i < member_count && taken < count; i++) {
        if (bits_test(victims, i)) {
            list->digests[taken++] = members[i];
        }
    }
    qsort(list->digests, taken, sizeof *list->digests, compare);
    for (size_t i = 0; i < taken; i++) {
        if (list->count == 0 || compare(&list->digests[list->count - 1], &list->digests[i]) != 0) {
            list->digests[list->count++] = list->digests[i];
        }
    }
    *out = list;
    return TEPAL_OK;
}

void tepal_exceptions_free(struct tepal_exceptions *list)
{
    if (list != NULL) {
        struct tepal_allocator allocator = list->allocator;
        tepal_alloc_release(&allocator, list->digests, list->room);
        tepal_alloc_release(&allocator, list, sizeof *list);
    }
}

size_t tepal_exceptions_count(const struct tepal_exceptions *list)
{
    return list->count;
}

bool tepal_exceptions_query(const struct tepal_exceptions *list, struct tepal_digest digest)
{
    size_t low = 0;
    size_t high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(&list->digests[middle], &digest);
        if (order == 0) {
            return true;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

bool tepal_exceptions_belong(const struct tepal_exceptions *list, const struct tepal_filter *filter)
{
    const struct tepal_params *p = &filter->params;
    return list->hash == p->hash && list->seed == p->seed && list->key_check == p->key_check;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* All bytes but the check itself. */
static uint64_t check_of(const uint8_t *bytes, size_t len)
{
    uint64_t head = XXH3_64bits(bytes, AT_CHECK);
    return XXH3_64bits_withSeed(bytes + HEADER, len - HEADER, head);
}

uint64_t tepal_exceptions_encoded_bytes(const struct tepal_exceptions *list)
{
    return HEADER + (uint64_t)list->count * ENTRY;
}

enum tepal_status tepal_exceptions_encode(const struct tepal_exceptions *list, void *bytes,
                                          size_t room, struct tepal_error *error)
{
    uint8_t *to = bytes;
    if (room < tepal_exceptions_encoded_bytes(list)) {
        return refuse(error, TEPAL_BAD_LENGTH,
                      "the exception list does not fit into the given space");
    }
    memcpy(to, magic, sizeof magic);
    little_put32(to + AT_VERSION, VERSION);
    little_put32(to + AT_HASH, (uint32_t)list->hash);
    little_put64(to + AT_COUNT, list->count);
    little_put64(to + AT_SEED, list->seed);
    little_put64(to + AT_KEY_CHECK, list->key_check);
    for (size_t i = 0; i < list->count; i++) {
        little_put64(to + HEADER + i * ENTRY, list->digests[i].lo);
        little_put64(to + HEADER + i * ENTRY + 8, list->digests[i].hi);
    }
    little_put64(to + AT_CHECK, check_of(to, HEADER + list->count * ENTRY));
    return TEPAL_OK;
}

/* Refused because of the byte at `offset`. */
static enum tepal_status refuse_at(struct tepal_error *error, enum tepal_status status,
                                   uint64_t offset, const char *why)
{
    if (error != NULL) {
        *error = (struct tepal_error){.status = status, .offset = offset, .why = why};
    }
    return status;
}

static enum tepal_status check_header(const uint8_t *bytes, size_t len, struct tepal_error *error)
{
    if (len < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0) {
        return refuse(error, TEPAL_NOT_A_FILTER, "this is not an exception list");
    }
    if (len < HEADER) {
        return refuse_at(error, TEPAL_BAD_LENGTH, len, "the exception list ends in its header");
    }
    if (little_get32(bytes + AT_VERSION) != VERSION) {
        return refuse_at(error, TEPAL_BAD_VERSION, AT_VERSION,
                         "the exception list was written by another version of the format");
    }
    /* The count is compared with the length before anything is multiplied by it. */
    if ((len - HEADER) % ENTRY != 0 || (len - HEADER) / ENTRY != little_get64(bytes + AT_COUNT)) {
        return refuse_at(error, TEPAL_BAD_LENGTH, AT_COUNT,
                         "the length of the exception list does not match its count");
    }
    if (little_get64(bytes + AT_CHECK) != check_of(bytes, len)) {
        return refuse_at(error, TEPAL_BAD_CHECKSUM, AT_CHECK,
                         "the checksum does not match: the exception list is damaged");
    }
    uint32_t hash = little_get32(bytes + AT_HASH);
    if (hash != TEPAL_HASH_XXH3 && !tepal_hash_is_keyed((enum tepal_hash)hash)) {
        return refuse_at(error, TEPAL_CORRUPT, AT_HASH, "the exception list has an unknown hash");
    }
    return TEPAL_OK;
}

enum tepal_status tepal_exceptions_decode(const void *bytes, size_t len,
                                          const struct tepal_allocator *allocator,
                                          struct tepal_exceptions **out, struct tepal_error *error)
{
    const uint8_t *from = bytes;
    enum tepal_status status = check_header(from, len, error);
    if (status != TEPAL_OK) {
        return status;
    }
    size_t count = (len - HEADER) / ENTRY;
    struct tepal_exceptions *list = make(allocator, count);
    if (list == NULL) {
        return refuse_if(error, TEPAL_NO_MEMORY);
    }
    list->hash = (enum tepal_hash)little_get32(from + AT_HASH);
    list->seed = little_get64(from + AT_SEED);
    list->key_check = little_get64(from + AT_KEY_CHECK);
    list->count = count;
    for (size_t i = 0; i < count; i++) {
        size_t at = HEADER + i * ENTRY;
        list->digests[i].lo = little_get64(from + at);
        list->digests[i].hi = little_get64(from + at + 8);
        if (i > 0 && compare(&list->digests[i - 1], &list->digests[i]) >= 0) {
            tepal_exceptions_free(list);
            return refuse_at(error, TEPAL_CORRUPT, at, "the exception list is not sorted");
        }
    }
    *out = list;
    return TEPAL_OK;
}

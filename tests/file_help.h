/*
 * file_help.h: what the tests of the format, of files and of memory share: filters made from a
 * recipe, bytes with their checksums put right again, and an allocator that counts and fails.
 */
#ifndef TEPAL_TESTS_FILE_HELP_H
#define TEPAL_TESTS_FILE_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <tepal/tepal.h>

#include "base/little.h"

/* ---- recipes --------------------------------------------------------------------------------- */

/* A filter that anybody can make again: keys "golden-0" .. "golden-(keys-1)" under the rest. */
struct recipe {
    const char *name;
    enum tepal_layout layout;
    enum tepal_positions positions;
    enum tepal_hash hash;
    uint32_t hashes;
    uint64_t cells;
    uint64_t capacity;
    uint64_t seed;
    unsigned keys;
};

/* The secret key of the keyed recipes. */
static const uint8_t recipe_key[TEPAL_KEY_BYTES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                    8, 9, 10, 11, 12, 13, 14, 15};

static inline struct tepal_params recipe_params(const struct recipe *r)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.layout = r->layout;
    p.positions = r->positions;
    p.hash = r->hash;
    p.hashes = r->hashes;
    p.cells = r->cells;
    p.capacity = r->capacity;
    p.seed = r->seed;
    return p;
}

static inline struct tepal_digest recipe_digest(const struct tepal_filter *f, const char *word,
                                                unsigned i)
{
    char key[32];
    struct tepal_hasher hasher;
    assert_int_equal(tepal_filter_hasher(f, &hasher), TEPAL_OK);
    int len = snprintf(key, sizeof key, "%s-%u", word, i);
    return tepal_hash_bytes(&hasher, key, (size_t)len);
}

static inline struct tepal_filter *recipe_make(const struct recipe *r)
{
    struct tepal_params p = recipe_params(r);
    struct tepal_filter *f = NULL;
    assert_int_equal(tepal_filter_create(&p, NULL, &f, NULL), TEPAL_OK);
    if (r->hash == TEPAL_HASH_SIPHASH) {
        assert_int_equal(tepal_filter_set_key(f, recipe_key), TEPAL_OK);
    }
    for (unsigned i = 0; i < r->keys; i++) {
        assert_int_equal(tepal_filter_add(f, recipe_digest(f, "golden", i)), TEPAL_OK);
    }
    return f;
}

/* All keys of the recipe are there. */
static inline void recipe_check(const struct recipe *r, const struct tepal_filter *f)
{
    for (unsigned i = 0; i < r->keys; i++) {
        assert_true(tepal_filter_query(f, recipe_digest(f, "golden", i)));
    }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static inline uint8_t *encoded(const struct tepal_filter *f, size_t *len)
{
    *len = (size_t)tepal_encoded_bytes(f);
    uint8_t *bytes = malloc(*len);
    assert_non_null(bytes);
    assert_int_equal(tepal_encode(f, bytes, *len), TEPAL_OK);
    return bytes;
}

static inline uint8_t *copied(const uint8_t *bytes, size_t len)
{
    uint8_t *copy = malloc(len == 0 ? 1 : len); /* exactly as long, so that overruns are seen */
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    return copy;
}

/* The header's checksum made right: what somebody who means harm would do. */
static inline void header_resum(uint8_t *bytes)
{
    little_put64(bytes + 248, XXH3_64bits(bytes, 248));
}

/* The blocks' checksums made right, for a payload of that many bytes. */
static inline void blocks_resum(uint8_t *bytes, size_t payload)
{
    size_t block = 65536;
    uint8_t *sums = bytes + 256 + payload;
    for (size_t i = 0; i * block < payload; i++) {
        size_t len = payload - i * block < block ? payload - i * block : block;
        little_put64(sums + 8 * i, XXH3_64bits_withSeed(bytes + 256 + i * block, len, i));
    }
}

/* ---- an allocator that counts, remembers sizes, and fails when told -------------------------- */

#define MEMORY_LIVE 64

struct memory {
    unsigned calls;
    unsigned fail_at; /* the call that fails, from 1 on; 0: none */
    size_t largest;
    size_t live;
    struct {
        void *ptr;
        size_t size;
    } block[MEMORY_LIVE];
};

static inline void *memory_alloc(void *ctx, size_t size, size_t align)
{
    struct memory *m = ctx;
    assert_true(size > 0 && align >= 1 && (align & (align - 1)) == 0);
    m->calls++;
    if (size > m->largest) {
        m->largest = size;
    }
    if (m->calls == m->fail_at) {
        return NULL;
    }
    void *ptr = aligned_alloc(align, (size + align - 1) / align * align);
    assert_non_null(ptr);
    memset(ptr, 0xa5, size); /* nobody may count on cleared memory */
    for (size_t i = 0; i < MEMORY_LIVE; i++) {
        if (m->block[i].ptr == NULL) {
            m->block[i].ptr = ptr;
            m->block[i].size = size;
            m->live++;
            return ptr;
        }
    }
    fail_msg("more than %d blocks are live", MEMORY_LIVE);
    return NULL;
}

static inline void memory_free(void *ctx, void *ptr, size_t size)
{
    struct memory *m = ctx;
    for (size_t i = 0; i < MEMORY_LIVE; i++) {
        if (m->block[i].ptr == ptr) {
            assert_int_equal(m->block[i].size, size);
            m->block[i].ptr = NULL;
            m->live--;
            free(ptr);
            return;
        }
    }
    fail_msg("freed something that is not ours");
}

static inline struct tepal_allocator memory_allocator(struct memory *m)
{
    return (struct tepal_allocator){memory_alloc, memory_free, m};
}

#endif

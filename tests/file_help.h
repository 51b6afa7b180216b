/*
 * file_help.h: what the tests of the format, of files and of memory share: filters made from a
 * recipe, golden files, bytes with their checksums put right again, and an allocator that counts
 * and fails.
 */
#ifndef TEPAL_TESTS_FILE_HELP_H
#define TEPAL_TESTS_FILE_HELP_H

#include "check.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

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
    if (tepal_hash_is_keyed(r->hash)) {
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
    assert_int_equal(tepal_encode(f, bytes, *len, NULL), TEPAL_OK);
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

/* ---- golden files ---------------------------------------------------------------------------- */

/* In tests/golden, or in the folder that TEPAL_GOLDEN_DIR names. */
static inline void golden_path(char *path, size_t room, const char *name, const char *suffix)
{
    const char *directory = getenv("TEPAL_GOLDEN_DIR");
    if (directory != NULL) {
        (void)snprintf(path, room, "%s/%s%s", directory, name, suffix);
        return;
    }
    const char *slash = strrchr(__FILE__, '/');
    int len = slash == NULL ? 1 : (int)(slash - __FILE__);
    (void)snprintf(path, room, "%.*s/golden/%s%s", len, slash == NULL ? "." : __FILE__, name,
                   suffix);
}

static inline bool golden_write(void)
{
    return getenv("TEPAL_GOLDEN_WRITE") != NULL;
}

static inline uint8_t *golden_bytes(const char *name, const char *suffix, size_t *len)
{
    char path[4096];
    *len = 0;
    golden_path(path, sizeof path, name, suffix);
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        fail_msg("%s is not there", path);
        return NULL;
    }
    assert_int_equal(fseek(in, 0, SEEK_END), 0);
    *len = (size_t)ftell(in);
    assert_int_equal(fseek(in, 0, SEEK_SET), 0);
    uint8_t *bytes = malloc(*len + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *len, in), *len);
    bytes[*len] = 0;
    (void)fclose(in);
    return bytes;
}

static inline void golden_save(const struct tepal_filter *f, const char *name)
{
    char path[4096];
    golden_path(path, sizeof path, name, ".tepal");
    assert_ok(tepal_save(f, path, NULL));
}

/* The filter is, byte for byte, what the file holds. */
static inline void golden_same(const struct tepal_filter *f, const char *name)
{
    size_t len;
    size_t old_len;
    uint8_t *bytes = encoded(f, &len);
    uint8_t *old = golden_bytes(name, ".tepal", &old_len);
    assert_int_equal(old_len, len);
    assert_memory_equal(old, bytes, len);
    free(old);
    free(bytes);
}

/* The filter of the file, which is the file again when it is encoded. */
static inline struct tepal_filter *golden_read(const char *name)
{
    size_t len;
    struct tepal_filter *f = NULL;
    uint8_t *bytes = golden_bytes(name, ".tepal", &len);
    assert_ok(tepal_decode(bytes, len, NULL, &f, NULL));
    free(bytes);
    golden_same(f, name);
    return f;
}

/* A filter that was made anew is the one of the file. */
static inline void golden_check(const struct tepal_filter *f, const char *name)
{
    if (golden_write()) {
        golden_save(f, name);
    }
    golden_same(f, name);
    struct tepal_filter *old = golden_read(name);
    assert_true(tepal_filter_equal(f, old));
    tepal_filter_free(old);
}

/* ---- an allocator that counts, remembers sizes, and fails when told -------------------------- */

#define MEMORY_LIVE 512

struct memory {
    unsigned calls;
    unsigned fail_at; /* the call that fails, from 1 on; 0: none */
    size_t largest;
    size_t bytes; /* live now */
    size_t peak;  /* and at most */
    size_t live;
    struct {
        void *ptr;
        size_t size;
    } block[MEMORY_LIVE];
};

static inline void *memory_alloc(void *ctx, size_t size, size_t align)
{
    struct memory *m = ctx;
    assert_true(size > 0 && align >= 1 && align <= 64 && (align & (align - 1)) == 0);
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
            m->bytes += size;
            m->peak = m->bytes > m->peak ? m->bytes : m->peak;
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
            m->bytes -= size;
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

/*
 * An attempt with request `fail_at` refused: did it come through, because it needs fewer? If not it
 * says so and gives nothing; all memory is given back in the end. Frees what was made.
 */
static inline bool memory_sufficed(struct memory *m, enum tepal_status status,
                                   struct tepal_filter *made)
{
    bool enough = m->calls < m->fail_at;
    assert_int_equal(status, enough ? TEPAL_OK : TEPAL_NO_MEMORY);
    assert_true(enough == (made != NULL));
    tepal_filter_free(made);
    assert_int_equal(m->live, 0);
    return enough;
}

#endif

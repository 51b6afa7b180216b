/*
 * lru_unit.c: the cache of the applications against a plain list that is searched and shifted,
 * over random requests, by objects, by bytes and by both.
 */
#include "check.h"

#include "shared/lru.h"

#define MOST 400

/* The reference: the oldest first. */
struct plain {
    struct lru_object object[MOST];
    size_t count;
    uint64_t objects;
    uint64_t bytes;
    struct tepal_digest gone[MOST]; /* what the last insertion pushed out */
    size_t gone_count;
};

static struct tepal_digest key_of(uint64_t n)
{
    struct tepal_hasher hasher;
    tepal_hasher_init(1, &hasher);
    return tepal_hash_u64(&hasher, n);
}

static bool same(struct tepal_digest a, struct tepal_digest b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

static size_t plain_find(const struct plain *p, struct tepal_digest key)
{
    size_t i = 0;
    while (i < p->count && !same(p->object[i].key, key)) {
        i++;
    }
    return i;
}

static void plain_remove(struct plain *p, size_t i)
{
    memmove(&p->object[i], &p->object[i + 1], (p->count - i - 1) * sizeof *p->object);
    p->count--;
}

static bool plain_over(const struct plain *p)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < p->count; i++) {
        bytes += p->object[i].size;
    }
    return (p->objects != 0 && p->count > p->objects) || (p->bytes != 0 && bytes > p->bytes);
}

static void plain_insert(struct plain *p, struct tepal_digest key, uint64_t size)
{
    size_t i = plain_find(p, key);
    p->gone_count = 0;
    if (i < p->count) {
        plain_remove(p, i);
    } else if (p->bytes != 0 && size > p->bytes) {
        return;
    }
    p->object[p->count].key = key;
    p->object[p->count++].size = size;
    while (plain_over(p)) {
        p->gone[p->gone_count++] = p->object[0].key;
        plain_remove(p, 0);
    }
}

struct gone {
    struct tepal_digest key[MOST];
    size_t count;
};

static void note(void *context, const struct lru_object *object)
{
    struct gone *gone = context;
    gone->key[gone->count++] = object->key;
}

static void compare(const struct plain *p, const struct lru *cache)
{
    size_t i = 0;
    uint64_t bytes = 0;
    for (const struct lru_object *o = lru_first(cache); o != NULL; o = lru_next(cache, o)) {
        assert_true(i < p->count);
        assert_true(same(o->key, p->object[i].key));
        assert_int_equal(o->size, p->object[i].size);
        bytes += o->size;
        i++;
    }
    assert_int_equal(i, p->count);
    assert_int_equal(cache->count, p->count);
    assert_int_equal(cache->bytes, bytes);
}

static void against_list(uint64_t objects, uint64_t bytes)
{
    static struct plain p;
    static struct gone gone;
    struct lru cache;
    uint64_t random = 7;
    memset(&p, 0, sizeof p);
    p.objects = objects;
    p.bytes = bytes;
    lru_init(&cache, objects, bytes);
    for (int step = 0; step < 6000; step++) {
        struct tepal_digest key = key_of(check_random(&random) % 300);
        uint64_t size = check_random(&random) % 60;
        size_t at = plain_find(&p, key);
        switch (check_random(&random) % 8) {
        case 0:
        case 1:
            assert_int_equal(lru_has(&cache, key), at < p.count);
            assert_int_equal(lru_hit(&cache, key), at < p.count);
            if (at < p.count) {
                struct lru_object o = p.object[at];
                plain_remove(&p, at);
                p.object[p.count++] = o;
            }
            break;
        default:
            gone.count = 0;
            plain_insert(&p, key, size);
            assert_true(lru_insert(&cache, key, size, note, &gone));
            assert_int_equal(gone.count, p.gone_count);
            for (size_t i = 0; i < gone.count; i++) {
                assert_true(same(gone.key[i], p.gone[i]));
            }
        }
        compare(&p, &cache);
    }
    lru_free(&cache);
    assert_null(lru_first(&cache));
}

static void test_against_list(void **state)
{
    (void)state;
    against_list(1, 0);
    against_list(50, 0);
    against_list(0, 1000);
    against_list(30, 1000);
    against_list(0, 0);
}

static void test_large_objects(void **state)
{
    (void)state;
    struct lru cache;
    lru_init(&cache, 0, 100);
    assert_true(lru_insert(&cache, key_of(1), 100, NULL, NULL));
    assert_true(lru_insert(&cache, key_of(2), 101, NULL, NULL)); /* larger than the cache */
    assert_true(lru_has(&cache, key_of(1)) && !lru_has(&cache, key_of(2)));
    assert_true(lru_insert(&cache, key_of(1), 101, NULL, NULL)); /* grew beyond it */
    assert_int_equal(cache.count, 0);
    assert_int_equal(cache.bytes, 0);
    lru_free(&cache);
    lru_init(&cache, 0, 0); /* sizes whose sum would overflow */
    assert_true(lru_insert(&cache, key_of(1), UINT64_MAX, NULL, NULL));
    assert_true(lru_insert(&cache, key_of(2), 2, NULL, NULL));
    assert_true(!lru_has(&cache, key_of(1)) && lru_has(&cache, key_of(2)));
    assert_int_equal(cache.bytes, 2);
    lru_free(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_list),
        cmocka_unit_test(test_large_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * alloc_unit.c: memory runs out, at every place where it can. Each public call that allocates is
 * made again and again, with its first, second, ... request refused, until it needs no more. Each
 * time: TEPAL_NO_MEMORY, outputs untouched, the object that it worked on unchanged, and everything
 * given back, with the right sizes.
 */
#define _GNU_SOURCE
#include "file_help.h"

#include <unistd.h>

#include "base/alloc.h"

/* What a call works on and what it gives. */
struct stage {
    struct tepal_params params;
    struct tepal_filter *filter;
    const uint8_t *bytes;
    size_t len;
    char path[64];
    struct tepal_error *error;
    const struct tepal_allocator *allocator;
};

typedef enum tepal_status call(const struct stage *on, struct tepal_filter **out);

static enum tepal_status call_filter_create(const struct stage *on, struct tepal_filter **out)
{
    return tepal_filter_create(&on->params, on->allocator, out, on->error);
}

static enum tepal_status call_filter_clone(const struct stage *on, struct tepal_filter **out)
{
    return tepal_filter_clone(on->filter, on->allocator, out, on->error);
}

static enum tepal_status call_bloom_fold(const struct stage *on, struct tepal_filter **out)
{
    return tepal_bloom_fold(on->filter, 2, on->allocator, out, on->error);
}

static enum tepal_status call_bloom_fold_by_one(const struct stage *on, struct tepal_filter **out)
{
    return tepal_bloom_fold(on->filter, 1, on->allocator, out, on->error);
}

static enum tepal_status call_bloom_relayout(const struct stage *on, struct tepal_filter **out)
{
    enum tepal_layout same = tepal_filter_params(on->filter)->layout;
    return tepal_bloom_relayout(on->filter, same, on->allocator, out, on->error);
}

static enum tepal_status call_decode(const struct stage *on, struct tepal_filter **out)
{
    return tepal_decode(on->bytes, on->len, on->allocator, out, on->error);
}

static enum tepal_status call_load(const struct stage *on, struct tepal_filter **out)
{
    return tepal_load(on->path, on->allocator, out, on->error);
}

static enum tepal_status call_load_fd(const struct stage *on, struct tepal_filter **out)
{
    FILE *in = fopen(on->path, "rb");
    assert_non_null(in);
    enum tepal_status status = tepal_load_fd(fileno(in), on->allocator, out, on->error);
    (void)fclose(in);
    return status;
}

/* Through a pipe, where the memory grows in steps. */
static enum tepal_status call_load_pipe(const struct stage *on, struct tepal_filter **out)
{
    char command[128];
    (void)snprintf(command, sizeof command, "cat %s 2>/dev/null", on->path);
    FILE *in = popen(command, "r");
    assert_non_null(in);
    enum tepal_status status = tepal_load_fd(fileno(in), on->allocator, out, on->error);
    (void)pclose(in);
    return status;
}

static enum tepal_status call_map(const struct stage *on, struct tepal_filter **out)
{
    return tepal_map(on->path, TEPAL_MAP_VERIFY, on->allocator, out, on->error);
}

static enum tepal_status call_map_lazy(const struct stage *on, struct tepal_filter **out)
{
    return tepal_map(on->path, TEPAL_MAP_LAZY, on->allocator, out, on->error);
}

static const struct {
    const char *name;
    call *make;
    unsigned least; /* requests it needs at least */
} calls[] = {
    {"tepal_filter_create", call_filter_create, 2},
    {"tepal_filter_clone", call_filter_clone, 2},
    {"tepal_bloom_fold", call_bloom_fold, 2},
    {"tepal_bloom_fold by 1", call_bloom_fold_by_one, 2},
    {"tepal_bloom_relayout", call_bloom_relayout, 2},
    {"tepal_decode", call_decode, 2},
    {"tepal_load", call_load, 2},
    {"tepal_load_fd", call_load_fd, 2},
    {"tepal_load_fd, pipe", call_load_pipe, 2},
    /* on little-endian machines only, hence the last two */
    {"tepal_map", call_map, 1},
    {"tepal_map, lazy", call_map_lazy, 1},
};

static const struct recipe recipes[] = {
    {"", TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, TEPAL_HASH_XXH3, 7, 1000, 100, 1, 50},
    {"", TEPAL_LAYOUT_PARTITIONED, TEPAL_POSITIONS_DISTINCT, TEPAL_HASH_SIPHASH, 5, 1000, 0, 2, 50},
    {"", TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_DISTINCT, TEPAL_HASH_XXH3, 12, 512 * 8, 0, 3, 50},
    {"", TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_COLLIDING, TEPAL_HASH_XXH3, 8, 512 * 4096, 0, 4, 50},
};

static void assert_unchanged(const struct stage *on)
{
    size_t len;
    uint8_t *bytes = encoded(on->filter, &len);
    assert_int_equal(len, on->len);
    assert_memory_equal(bytes, on->bytes, len);
    free(bytes);
}

static void refuse_each(struct stage *on, size_t which)
{
    for (unsigned n = 1;; n++) {
        struct memory m = {.fail_at = n};
        struct tepal_allocator allocator = memory_allocator(&m);
        struct tepal_error error = {TEPAL_OK, -1, UINT64_MAX, NULL};
        struct tepal_filter *const untouched = on->filter;
        struct tepal_filter *out = untouched;
        on->allocator = &allocator;
        on->error = n % 2 == 0 ? NULL : &error;
        enum tepal_status status = calls[which].make(on, &out);
        if (m.calls < n) {
            assert_int_equal(status, TEPAL_OK);
            assert_ptr_not_equal(out, untouched);
            assert_int_equal(tepal_filter_validate(out, NULL), TEPAL_OK);
            assert_true(m.calls >= calls[which].least);
            tepal_filter_free(out);
            assert_int_equal(m.live, 0);
            return;
        }
        if (status != TEPAL_NO_MEMORY) {
            fail_msg("%s, request %u: %s", calls[which].name, n, tepal_status_name(status));
        }
        assert_ptr_equal(out, untouched);
        assert_int_equal(m.live, 0);
        assert_int_equal(m.calls, n); /* and it gave up at once */
        if (on->error != NULL) {
            check_error(&error, TEPAL_NO_MEMORY);
            assert_int_equal(error.system, 0);
            assert_true(error.offset != UINT64_MAX);
        }
        assert_unchanged(on);
    }
}

static void every_request(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(recipes); i++) {
        struct stage on = {.params = recipe_params(&recipes[i])};
        on.filter = recipe_make(&recipes[i]);
        on.bytes = encoded(on.filter, &on.len);
        (void)snprintf(on.path, sizeof on.path, "/tmp/tepal-alloc-%ld", (long)getpid());
        assert_int_equal(tepal_save(on.filter, on.path, NULL), TEPAL_OK);
        for (size_t j = 0; j < COUNT(calls) - (LITTLE_ENDIAN_HOST ? 0 : 2); j++) {
            refuse_each(&on, j);
        }
        assert_int_equal(unlink(on.path), 0);
        free((void *)(uintptr_t)on.bytes);
        tepal_filter_free(on.filter);
    }
}

/* Everything else that can be done with a filter asks for no memory: it works when there is none.
 */
static void nothing_else_allocates(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(recipes); i++) {
        struct memory m = {0};
        struct tepal_allocator allocator = memory_allocator(&m);
        struct tepal_params params = recipe_params(&recipes[i]);
        struct tepal_filter *f = NULL;
        struct tepal_filter *g = NULL;
        char path[64];
        assert_int_equal(tepal_filter_create(&params, &allocator, &f, NULL), TEPAL_OK);
        assert_int_equal(tepal_filter_clone(f, &allocator, &g, NULL), TEPAL_OK);
        unsigned before = m.calls;
        size_t live = m.live;
        if (params.hash == TEPAL_HASH_SIPHASH) {
            assert_int_equal(tepal_filter_set_key(f, recipe_key), TEPAL_OK);
            assert_int_equal(tepal_filter_set_key(g, recipe_key), TEPAL_OK);
        }
        struct tepal_digest d = recipe_digest(f, "golden", 0);
        struct tepal_digest many[100];
        uint64_t answers[2];
        struct tepal_report report;
        bool there;
        for (unsigned j = 0; j < COUNT(many); j++) {
            many[j] = recipe_digest(f, "golden", j);
        }
        assert_int_equal(tepal_filter_add(f, d), TEPAL_OK);
        assert_int_equal(tepal_filter_add_many(f, many, COUNT(many)), TEPAL_OK);
        assert_true(tepal_filter_query(f, d));
        assert_int_equal(tepal_filter_query_many(f, many, COUNT(many), answers), COUNT(many));
        assert_int_equal(tepal_filter_add_bytes(f, "x", 1), TEPAL_OK);
        assert_true(tepal_filter_query_bytes(f, "x", 1));
        assert_int_equal(tepal_filter_add_u64(f, 1), TEPAL_OK);
        assert_true(tepal_filter_query_u64(f, 1));
        assert_int_equal(tepal_filter_add_fixed_many(f, many, sizeof *many, COUNT(many)), TEPAL_OK);
        assert_int_equal(tepal_filter_query_fixed_many(f, many, sizeof *many, COUNT(many), answers),
                         COUNT(many));
        assert_int_equal(tepal_bloom_add_atomic(f, d, &there), TEPAL_OK);
        assert_int_equal(tepal_filter_unite(g, f), TEPAL_OK);
        assert_int_equal(tepal_filter_intersect(g, f), TEPAL_OK);
        assert_true(tepal_filter_equal(f, g));
        tepal_filter_info(f, &report);
        assert_int_equal(tepal_filter_validate(f, NULL), TEPAL_OK);
        size_t len = (size_t)tepal_encoded_bytes(f);
        uint8_t *bytes = malloc(len);
        assert_non_null(bytes);
        assert_int_equal(tepal_encode(f, bytes, len, NULL), TEPAL_OK);
        free(bytes);
        (void)snprintf(path, sizeof path, "/tmp/tepal-alloc-%ld", (long)getpid());
        assert_int_equal(tepal_save(f, path, NULL), TEPAL_OK);
        assert_int_equal(tepal_save(f, path, NULL), TEPAL_OK);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(tepal_filter_clear(f), TEPAL_OK);
        assert_int_equal(m.calls, before);
        assert_int_equal(m.live, live);
        tepal_filter_free(f);
        tepal_filter_free(g);
        assert_int_equal(m.live, 0);
    }
}

/* Parameters that no machine has the memory for are refused before anybody is asked. */
static void too_much_to_ask(void **unused)
{
    (void)unused;
    struct memory m = {.fail_at = 2};
    struct tepal_allocator allocator = memory_allocator(&m);
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_filter *out = NULL;
    params.hashes = 3;
    params.cells = (UINT64_C(1) << 60) + 1;
    assert_int_equal(tepal_filter_create(&params, &allocator, &out, NULL), TEPAL_BAD_PARAMETER);
    assert_int_equal(m.calls, 0);
    params.cells = UINT64_C(1) << 60;
    enum tepal_status status = tepal_filter_create(&params, &allocator, &out, NULL);
    assert_true(status == TEPAL_NO_MEMORY || status == TEPAL_TOO_LARGE);
    assert_int_equal(m.live, 0);
    assert_null(out);
}

/*
 * An allocator is asked for a cache line, however large the array (memory_alloc refuses more): huge
 * pages are the default allocator's own affair.
 */
static void large_arrays_ask_for_a_line(void **unused)
{
    (void)unused;
    static const struct recipe large = {
        "", TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_DISTINCT, TEPAL_HASH_XXH3, 5, 1 << 25, 0, 6, 50};
    struct stage on = {.params = recipe_params(&large)};
    on.filter = recipe_make(&large);
    on.bytes = encoded(on.filter, &on.len);
    (void)snprintf(on.path, sizeof on.path, "/tmp/tepal-alloc-%ld", (long)getpid());
    assert_int_equal(tepal_save(on.filter, on.path, NULL), TEPAL_OK);
    for (size_t i = 0; i < COUNT(calls); i++) {
        struct memory m = {0};
        struct tepal_allocator allocator = memory_allocator(&m);
        struct tepal_filter *out = NULL;
        bool mapped = calls[i].make == call_map || calls[i].make == call_map_lazy;
        on.allocator = &allocator;
        if (!mapped) {
            assert_int_equal(calls[i].make(&on, &out), TEPAL_OK);
            assert_true(m.largest >= (size_t)2 << 20);
        }
        tepal_filter_free(out);
        assert_int_equal(m.live, 0);
    }
    assert_int_equal(unlink(on.path), 0);
    free((void *)(uintptr_t)on.bytes);
    tepal_filter_free(on.filter);
}

static void the_default_aligns_large_arrays_to_huge_pages(void **unused)
{
    (void)unused;
    const struct tepal_allocator allocator = tepal_alloc_choose(NULL);
    const size_t huge = (size_t)2 << 20;
    const size_t sizes[] = {1, 64, 65, huge - 1, huge, huge + 1, 2 * huge + 100};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        uint8_t *bytes = tepal_alloc_zeroed(&allocator, sizes[i]);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % (sizes[i] < huge ? 64 : huge), 0);
        assert_true(bytes[0] == 0 && bytes[sizes[i] - 1] == 0);
        tepal_alloc_release(&allocator, bytes, sizes[i]);
    }
    assert_null(allocator.alloc(allocator.ctx, SIZE_MAX - 100, 64)); /* would wrap round */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request),
        cmocka_unit_test(nothing_else_allocates),
        cmocka_unit_test(too_much_to_ask),
        cmocka_unit_test(large_arrays_ask_for_a_line),
        cmocka_unit_test(the_default_aligns_large_arrays_to_huge_pages),
    };
    return cmocka_run_group_tests_name("alloc", tests, NULL, NULL);
}

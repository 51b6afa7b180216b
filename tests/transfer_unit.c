/*
 * transfer_unit.c: filters that are sent and received in pieces. tepal_encode_range gives the bytes
 * of tepal_encode, cut anywhere; tepal_decoder takes them, cut anywhere, and says of damaged ones
 * what tepal_decode says. Nobody makes it take memory before it has seen a sound header, nor more
 * than the filter needs.
 */
#include "kinds_help.h"

#define BLOCK  65536 /* bytes of the payload that share a checksum */
#define HEADER 256

static struct specimens all;

/* A Bloom filter whose cells take so many bytes (a multiple of 8), with some bits set. */
static struct tepal_filter *bloom_of(size_t payload, bool keyed)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *f = NULL;
    uint64_t state = payload;
    p.cells = payload * 8;
    p.hashes = 3;
    p.seed = 9;
    p.hash = keyed ? TEPAL_HASH_SIPHASH : TEPAL_HASH_XXH3;
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    if (keyed) {
        assert_ok(tepal_filter_set_key(f, recipe_key));
    }
    for (size_t i = 0; i < 200 + payload / 64; i++) {
        assert_ok(tepal_filter_add(f, check_digest(&state)));
    }
    return f;
}

/* Around the borders of blocks, of the header, and of what is compared at once. */
static const size_t payloads[] = {8, 64, BLOCK - 8, BLOCK, BLOCK + 8, 3 * BLOCK, 3 * BLOCK + 16};

/* The next piece: of a fixed size or, for 0, of a random one; never more than what is left. */
static size_t piece_of(size_t size, size_t left, uint64_t *state)
{
    size_t piece = size > 0 ? size : check_random(state) % (check_random(state) % 5000 + 1);
    return piece < left ? piece : left;
}

/* ---- sending --------------------------------------------------------------------------------- */

static void check_pieces(const struct tepal_filter *f, const uint8_t *bytes, size_t len,
                         size_t size)
{
    uint8_t *out = malloc(len + 8);
    uint64_t state = len + size;
    struct tepal_error error = {.system = 99};
    assert_non_null(out);
    memset(out, 0xa5, len + 8);
    for (size_t at = 0; at < len;) {
        size_t piece = piece_of(size, len - at, &state);
        assert_ok(tepal_encode_range(f, at, out + at, piece, &error));
        at += piece;
        assert_true(out[at] == 0xa5 && out[at + 7] == 0xa5);
        memset(out + at, 0xa5, 8);
    }
    assert_memory_equal(out, bytes, len);
    assert_int_equal(error.system, 99);
    free(out);
}

/* Pieces that begin and end anywhere, not one after the other. */
static void check_ranges(const struct tepal_filter *f, const uint8_t *bytes, size_t len)
{
    uint64_t state = len;
    for (int i = 0; i < 50; i++) {
        size_t at = check_random(&state) % (len + 1);
        size_t count = check_random(&state) % (len - at + 1);
        uint8_t *out = malloc(count + 1); /* exactly as long, so that overruns are seen */
        assert_non_null(out);
        assert_ok(tepal_encode_range(f, at, out, count, NULL));
        assert_memory_equal(out, bytes + at, count);
        free(out);
    }
    assert_ok(tepal_encode_range(f, len, NULL, 0, NULL));
}

static void check_beyond(const struct tepal_filter *f, size_t len)
{
    static const struct {
        uint64_t past;
        size_t count;
    } beyond[] = {{1, 0}, {0, 1}, {UINT64_MAX / 2, 1}};
    uint8_t out[4] = {1, 2, 3, 4};
    struct tepal_error error;
    for (size_t i = 0; i < COUNT(beyond); i++) {
        error = (struct tepal_error){TEPAL_OK, 99, 99, NULL};
        assert_int_equal(tepal_encode_range(f, len + beyond[i].past, out, beyond[i].count, &error),
                         TEPAL_BAD_ARGUMENT);
        assert_int_equal(error.status, TEPAL_BAD_ARGUMENT);
        assert_true(error.system == 0 && error.why != NULL);
    }
    assert_int_equal(tepal_encode_range(f, len - 1, out, 2, NULL), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_encode_range(f, 1, out, SIZE_MAX, NULL), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_encode_range(f, UINT64_MAX, out, 1, NULL), TEPAL_BAD_ARGUMENT);
    assert_true(out[0] == 1 && out[3] == 4);
}

static void pieces_are_the_whole(void **unused)
{
    static const size_t sizes[] = {1, 7, 4096, BLOCK, 0};
    (void)unused;
    for (size_t i = 0; i < COUNT(payloads); i++) {
        struct tepal_filter *f = bloom_of(payloads[i], i % 2 == 0);
        size_t len;
        uint8_t *bytes = encoded(f, &len);
        for (size_t j = payloads[i] > 100 ? 1 : 0; j < COUNT(sizes); j++) {
            check_pieces(f, bytes, len, sizes[j]);
        }
        check_ranges(f, bytes, len);
        check_beyond(f, len);
        free(bytes);
        tepal_filter_free(f);
    }
    for (size_t i = 0; i < all.count; i++) {
        struct tepal_filter *f = specimen_make(&all.at[i], i % 2 == 0);
        size_t len;
        assert_ok(tepal_filter_add_many(f, all.at[i].known, KINDS_KNOWN));
        uint8_t *bytes = encoded(f, &len);
        check_pieces(f, bytes, len, i % 3 == 0 ? 1 : i % 3 == 1 ? 7 : 0);
        check_ranges(f, bytes, len);
        free(bytes);
        tepal_filter_free(f);
    }
}

static void without_a_key_nothing_is_sent(void **unused)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *f = NULL;
    struct tepal_error error;
    uint8_t out[8];
    (void)unused;
    p.cells = 512;
    p.hashes = 2;
    p.hash = TEPAL_HASH_SIPHASH;
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    assert_int_equal(tepal_encode_range(f, 0, out, 8, &error), TEPAL_KEY_NEEDED);
    assert_int_equal(error.status, TEPAL_KEY_NEEDED);
    assert_non_null(error.why);
    tepal_filter_free(f);
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* What a decoder makes of the bytes in pieces of this size (0: random ones). */
static enum tepal_status received(const uint8_t *bytes, size_t len, size_t size, uint64_t max_bytes,
                                  struct tepal_filter **out, struct tepal_error *error)
{
    struct tepal_decoder *d = NULL;
    uint64_t state = len ^ size;
    enum tepal_status status = TEPAL_OK;
    assert_ok(tepal_decoder_create(max_bytes, NULL, &d, error));
    for (size_t at = 0; at < len && status == TEPAL_OK;) {
        size_t piece = piece_of(size, len - at, &state);
        uint8_t *copy = copied(bytes + at, piece); /* gone after the call */
        status = tepal_decoder_feed(d, copy, piece, error);
        free(copy);
        at += piece;
    }
    enum tepal_status end = tepal_decoder_finish(d, out, error);
    assert_true(status == TEPAL_OK || end == status); /* once failed, failed for good */
    tepal_decoder_free(d);
    return end;
}

static void check_received(const struct tepal_filter *f, const uint8_t *bytes, size_t len,
                           size_t size)
{
    struct tepal_filter *decoded = NULL;
    struct tepal_filter *got = NULL;
    struct tepal_error error = {.system = 99};
    assert_ok(tepal_decode(bytes, len, NULL, &decoded, NULL));
    assert_ok(received(bytes, len, size, len, &got, &error));
    assert_int_equal(error.system, 99);
    assert_false(tepal_filter_read_only(got));
    assert_true(specimen_same(got, decoded) && specimen_same(got, f));
    assert_ok(tepal_filter_validate(got, NULL));
    tepal_filter_free(got);
    tepal_filter_free(decoded);
}

static void any_split_gives_the_filter(void **unused)
{
    static const size_t sizes[] = {1,          7,    8,     HEADER - 1, HEADER,
                                   HEADER + 1, 4096, BLOCK, 0,          SIZE_MAX};
    (void)unused;
    for (size_t i = 0; i < COUNT(payloads); i++) {
        struct tepal_filter *f = bloom_of(payloads[i], i % 2 == 0);
        size_t len;
        uint8_t *bytes = encoded(f, &len);
        for (size_t j = payloads[i] > 100 ? 1 : 0; j < COUNT(sizes); j++) {
            check_received(f, bytes, len, sizes[j]);
        }
        free(bytes);
        tepal_filter_free(f);
    }
    for (size_t i = 0; i < all.count; i++) {
        struct tepal_filter *f = specimen_make(&all.at[i], i % 2 == 0);
        size_t len;
        assert_ok(tepal_filter_add_many(f, all.at[i].known, KINDS_KNOWN));
        uint8_t *bytes = encoded(f, &len);
        check_received(f, bytes, len, 1);
        check_received(f, bytes, len, 0);
        free(bytes);
        tepal_filter_free(f);
    }
}

/* A small filter cut in two at every byte, and then ended at every byte. */
static void every_cut(void **unused)
{
    struct tepal_filter *f = bloom_of(64, false);
    size_t len;
    uint8_t *bytes = encoded(f, &len);
    (void)unused;
    for (size_t cut = 0; cut <= len; cut++) {
        struct tepal_filter *got = NULL;
        struct tepal_filter *decoded = NULL;
        struct tepal_decoder *d = NULL;
        struct tepal_error error = {TEPAL_OK, 99, 99, NULL};
        struct tepal_error other = {TEPAL_OK, 99, 99, NULL};
        uint8_t *first = copied(bytes, cut);
        assert_ok(tepal_decoder_create(0, NULL, &d, NULL));
        assert_ok(tepal_decoder_feed(d, first, cut, NULL));
        assert_ok(tepal_decoder_feed(d, NULL, 0, NULL));
        size_t cells = 99;
        const void *payload = tepal_decoder_payload(d, &cells);
        assert_true((payload == NULL) == (cut < 256)); /* the length of the header */
        size_t most = len - 256 - 8;                   /* and one sum */
        assert_int_equal(cells, cut < 256 ? 0 : cut - 256 < most ? cut - 256 : most);
        assert_true(cells == 0 || memcmp(payload, bytes + 256, cells) == 0);
        assert_ok(tepal_decoder_feed(d, bytes + cut, len - cut, NULL));
        assert_ok(tepal_decoder_finish(d, &got, NULL));
        assert_null(tepal_decoder_payload(d, &cells));
        assert_int_equal(cells, 0);
        assert_true(specimen_same(got, f));
        tepal_decoder_free(d);
        tepal_filter_free(got);
        got = NULL;
        if (cut < len) {
            enum tepal_status expected = cut < 8 ? TEPAL_NOT_A_FILTER : TEPAL_BAD_LENGTH;
            assert_int_equal(tepal_decode(first, cut, NULL, &decoded, &other), expected);
            assert_int_equal(received(first, cut, 11, 0, &got, &error), expected);
            assert_int_equal(error.status, expected);
            assert_true(error.system == 0 && error.why != NULL && error.offset <= len);
            assert_true(got == NULL && decoded == NULL);
        }
        free(first);
    }
    free(bytes);
    tepal_filter_free(f);
}

static void surplus_is_refused(void **unused)
{
    struct tepal_filter *f = bloom_of(64, false);
    size_t len;
    uint8_t *bytes = encoded(f, &len);
    uint8_t *longer = malloc(len + 500);
    (void)unused;
    assert_non_null(longer);
    memset(longer, 0, len + 500);
    memcpy(longer, bytes, len);
    for (size_t more = 1; more <= 500; more += more < 10 ? 1 : 49) {
        for (size_t size = 1; size < 2000; size = size * 3 + 1) {
            struct tepal_filter *got = NULL;
            struct tepal_error error = {TEPAL_OK, 99, 99, NULL};
            assert_int_equal(received(longer, len + more, size, 0, &got, &error), TEPAL_BAD_LENGTH);
            assert_true(got == NULL && error.status == TEPAL_BAD_LENGTH && error.why != NULL);
        }
    }
    free(longer);
    free(bytes);
    tepal_filter_free(f);
}

/* Every byte damaged in turn; the same status as from tepal_decode, and about the same byte. */
static void check_flips(const struct tepal_filter *f, bool mended)
{
    size_t len;
    uint8_t *bytes = encoded(f, &len);
    for (size_t at = 0; at < len; at++) {
        struct tepal_filter *got = NULL;
        struct tepal_filter *decoded = NULL;
        struct tepal_error error = {TEPAL_OK, 99, 99, NULL};
        struct tepal_error other = {TEPAL_OK, 99, 99, NULL};
        uint8_t *bad = copied(bytes, len);
        bad[at] ^= (uint8_t)(1u << at % 8);
        if (mended && at < HEADER - 8) {
            header_resum(bad);
        }
        enum tepal_status expected = tepal_decode(bad, len, NULL, &decoded, &other);
        enum tepal_status status = received(bad, len, 1 + at % 300, 0, &got, &error);
        if (status != expected) {
            fail_msg("byte %zu: %s, but decode says %s", at, tepal_status_name(status),
                     tepal_status_name(expected));
        }
        assert_true(mended || status != TEPAL_OK);
        if (status == TEPAL_OK) { /* another seed, say */
            assert_true(specimen_same(got, decoded));
        } else {
            assert_true(got == NULL && decoded == NULL);
            assert_true(error.status == status && error.system == 0 && error.why != NULL);
            assert_true(status == TEPAL_BAD_LENGTH || error.offset == other.offset);
        }
        tepal_filter_free(decoded);
        tepal_filter_free(got);
        free(bad);
    }
    free(bytes);
}

static void damage_is_refused_as_by_decode(void **unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++) {
        struct tepal_filter *f = bloom_of(64, i % 2 == 0);
        check_flips(f, i / 2 != 0);
        tepal_filter_free(f);
    }
    for (size_t i = 0; i < all.count; i += 5) {
        struct tepal_filter *f = specimen_make(&all.at[i], false);
        assert_ok(tepal_filter_add_many(f, all.at[i].known, KINDS_KNOWN));
        check_flips(f, true);
        tepal_filter_free(f);
    }
}

static void limits_are_kept(void **unused)
{
    struct tepal_filter *f = bloom_of(1024, false);
    size_t len;
    uint8_t *bytes = encoded(f, &len);
    struct tepal_filter *got = NULL;
    struct tepal_error error = {TEPAL_OK, 99, 99, NULL};
    (void)unused;
    assert_ok(received(bytes, len, 100, len, &got, NULL));
    tepal_filter_free(got);
    got = NULL;
    assert_int_equal(received(bytes, len, 100, len - 1, &got, &error), TEPAL_TOO_LARGE);
    assert_true(got == NULL && error.status == TEPAL_TOO_LARGE && error.why != NULL);
    assert_int_equal(received(bytes, len, 100, 1, &got, NULL), TEPAL_TOO_LARGE);
    free(bytes);
    tepal_filter_free(f);
}

/* A failure is for good: the same words again, whatever comes. */
static void failure_is_sticky(void **unused)
{
    struct tepal_filter *f = bloom_of(1024, false);
    size_t len;
    uint8_t *bytes = encoded(f, &len);
    struct tepal_filter *got = NULL;
    struct tepal_decoder *d = NULL;
    struct tepal_error first = {TEPAL_OK, 99, 99, NULL};
    (void)unused;
    assert_ok(tepal_decoder_create(0, NULL, &d, NULL));
    bytes[3] ^= 1;
    assert_ok(tepal_decoder_feed(d, bytes, HEADER - 1, NULL));
    assert_int_equal(tepal_decoder_feed(d, bytes + HEADER - 1, 1, &first), TEPAL_NOT_A_FILTER);
    bytes[3] ^= 1;
    for (int i = 0; i < 3; i++) {
        struct tepal_error again = {TEPAL_OK, 98, 98, NULL};
        assert_int_equal(tepal_decoder_feed(d, bytes, len, &again), TEPAL_NOT_A_FILTER);
        assert_memory_equal(&again, &first, sizeof first);
        again.why = NULL;
        assert_int_equal(tepal_decoder_finish(d, &got, &again), TEPAL_NOT_A_FILTER);
        assert_memory_equal(&again, &first, sizeof first);
        assert_int_equal(tepal_decoder_finish(d, &got, NULL), TEPAL_NOT_A_FILTER);
        assert_null(got);
    }
    tepal_decoder_free(d);
    tepal_decoder_free(NULL);
    assert_ok(tepal_decoder_create(0, NULL, &d, NULL));
    assert_ok(tepal_decoder_feed(d, bytes, len, NULL));
    assert_ok(tepal_decoder_finish(d, &got, NULL));
    struct tepal_filter *second = NULL;
    assert_int_equal(tepal_decoder_finish(d, &second, &first), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_decoder_feed(d, bytes, len, &first), TEPAL_BAD_ARGUMENT);
    assert_null(second);
    tepal_decoder_free(d); /* the filter is the caller's */
    assert_true(specimen_same(got, f));
    tepal_filter_free(got);
    free(bytes);
    tepal_filter_free(f);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t bytes_live(const struct memory *m)
{
    size_t sum = 0;
    for (size_t i = 0; i < MEMORY_LIVE; i++) {
        sum += m->block[i].ptr == NULL ? 0 : m->block[i].size;
    }
    return sum;
}

/* One attempt; the first failure ends it. Never more memory than the filter, and a little. */
static enum tepal_status attempt(struct memory *m, const uint8_t *bytes, size_t len, size_t filter,
                                 struct tepal_filter **out)
{
    struct tepal_allocator allocator = memory_allocator(m);
    struct tepal_decoder *d = NULL;
    struct tepal_error error = {.status = TEPAL_OK};
    enum tepal_status status = tepal_decoder_create(0, &allocator, &d, &error);
    size_t own = bytes_live(m);
    assert_true(own <= 16384);
    for (size_t at = 0; at < len && status == TEPAL_OK; at += 100) {
        status = tepal_decoder_feed(d, bytes + at, len - at < 100 ? len - at : 100, &error);
        assert_true(bytes_live(m) <= (at + 100 < HEADER ? own : own + filter));
    }
    if (status == TEPAL_OK) {
        status = tepal_decoder_finish(d, out, &error);
        assert_true(bytes_live(m) <= own + filter);
    }
    tepal_decoder_free(d);
    assert_int_equal(error.status, status);
    assert_true(status == TEPAL_OK || error.why != NULL);
    return status;
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < all.count; i++) {
        struct tepal_filter *f = specimen_make(&all.at[i], i % 2 == 0);
        size_t filter = (size_t)tepal_filter_memory_bytes(f);
        size_t len;
        uint8_t *bytes = encoded(f, &len);
        unsigned fail_at = 1;
        bool enough = false;
        for (; !enough; fail_at++) {
            struct memory m = {.fail_at = fail_at};
            struct tepal_filter *got = NULL;
            enum tepal_status status = attempt(&m, bytes, len, filter, &got);
            assert_true(m.largest <= filter + 16384);
            enough = memory_sufficed(&m, status, got);
        }
        assert_true(fail_at > 3 && fail_at < 10); /* decoder, cells, filter */
        free(bytes);
        tepal_filter_free(f);
    }
}

/* A header that is not sound, or asks for more than is allowed, gets no memory at all. */
static void no_memory_before_a_sound_header(void **unused)
{
    struct tepal_filter *f = bloom_of(BLOCK, false);
    size_t len;
    uint8_t *bytes = encoded(f, &len);
    (void)unused;
    for (size_t at = 0; at < HEADER; at++) {
        struct memory m = {0};
        struct tepal_allocator allocator = memory_allocator(&m);
        struct tepal_decoder *d = NULL;
        assert_ok(tepal_decoder_create(0, &allocator, &d, NULL));
        bytes[at] ^= 0x10;
        assert_int_not_equal(tepal_decoder_feed(d, bytes, len, NULL), TEPAL_OK);
        bytes[at] ^= 0x10;
        assert_int_equal(m.calls, 1);
        tepal_decoder_free(d);
        assert_int_equal(m.live, 0);
    }
    struct memory m = {0};
    struct tepal_allocator allocator = memory_allocator(&m);
    struct tepal_decoder *d = NULL;
    assert_ok(tepal_decoder_create(len - 1, &allocator, &d, NULL));
    assert_int_equal(tepal_decoder_feed(d, bytes, HEADER, NULL), TEPAL_TOO_LARGE);
    assert_int_equal(m.calls, 1);
    tepal_decoder_free(d);
    free(bytes);
    tepal_filter_free(f);
}

static int make_all(void **unused)
{
    (void)unused;
    specimens_init(&all);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_the_whole),
        cmocka_unit_test(without_a_key_nothing_is_sent),
        cmocka_unit_test(any_split_gives_the_filter),
        cmocka_unit_test(every_cut),
        cmocka_unit_test(surplus_is_refused),
        cmocka_unit_test(damage_is_refused_as_by_decode),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(failure_is_sticky),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(no_memory_before_a_sound_header),
    };
    return cmocka_run_group_tests(tests, make_all, NULL);
}

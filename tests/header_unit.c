/*
 * header_unit.c: filters in packets. Headers against the filters they came from, against a naive
 * reading of the paper's Sec. III-C, the plain way against AVX2, for all sizes and for layouts
 * whose parts end anywhere; into a packet and back.
 */
#include "check.h"
#include "yesno_help.h"

#include "filter/packet/internal.h"

#define LINKS 150

/* A random layout: Bloom or yes-no, of any size that a header may have. */
static void random_params(struct tepal_params *params, uint64_t *state, bool yesno, bool aligned)
{
    static const uint32_t sizes[] = {128, 256, 512, 32, 64, 100, 200, 248, 500, 1000, 2047, 2048};
    uint32_t bits = aligned ? sizes[check_random(state) % 3]
                            : sizes[check_random(state) % (sizeof sizes / sizeof *sizes)];
    struct tepal_params made = TEPAL_PARAMS_INIT;
    *params = made;
    params->seed = check_random(state);
    params->positions = (enum tepal_positions)(check_random(state) % 2);
    params->cells = bits;
    params->hashes = 1 + (uint32_t)(check_random(state) % 6);
    if (!yesno) {
        params->kind = check_random(state) % 2 == 0 ? TEPAL_KIND_BLOOM : TEPAL_KIND_RETOUCHED;
        params->layout = (enum tepal_layout)(check_random(state) % (bits % 512 == 0 ? 3 : 2));
        return;
    }
    uint64_t r = 1 + check_random(state) % (aligned ? bits / 64 : bits < 64 ? 2 : 5);
    uint64_t q = aligned ? 32 : 5 + check_random(state) % (bits / 2 / r - 5);
    set_yesno(bits - q * r, params->hashes, q, r, 1 + (uint32_t)(check_random(state) % 4), params);
    params->yesno.own_seeds = check_random(state) % 2;
    params->yesno.salt = check_random(state) % 3;
}

struct scene {
    struct tepal_header_layout layout;
    struct tepal_digest digest[LINKS];
    uint64_t mask[LINKS][TEPAL_MAX_HEADER_WORDS];
    uint32_t table[(LINKS + 7) / 8 * 8 * TEPAL_MAX_HEADER_BITS / 32]; /* for the largest header */
    struct tepal_filter *filter;
    uint64_t header[TEPAL_MAX_HEADER_WORDS];
};

/* Members are the first links; the others are known to come. */
static void make_scene(struct scene *s, const struct tepal_params *params, uint64_t *state)
{
    size_t members = params->cells / 16 < 60 ? params->cells / 16 : 60;
    struct tepal_error error = {.why = ""};
    memset(s, 0, sizeof *s);
    assert_ok(tepal_header_layout_init(params, &s->layout, &error));
    assert_true(tepal_header_table_words(&s->layout, LINKS) <= COUNT(s->table));
    for (size_t i = 0; i < LINKS; i++) {
        s->digest[i] = check_digest(state);
        tepal_header_mask(&s->layout, s->digest[i], s->mask[i]);
        tepal_header_table_put(&s->layout, i, s->mask[i], s->table);
    }
    if (params->kind == TEPAL_KIND_YESNO) {
        struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
        struct tepal_known input = {.members = s->digest,
                                    .member_count = members,
                                    .avoid = s->digest + members,
                                    .avoid_count = LINKS - members};
        how.method = TEPAL_YESNO_GREEDY;
        assert_ok(tepal_yesno_build(params, &input, &how, NULL, &s->filter, NULL, &error));
    } else {
        assert_ok(tepal_filter_create(params, NULL, &s->filter, NULL));
        for (size_t i = 0; i < members; i++) {
            enum tepal_status status = tepal_filter_add(s->filter, s->digest[i]);
            assert_true(status == TEPAL_OK || params->kind == TEPAL_KIND_RETOUCHED);
        }
    }
    assert_ok(tepal_header_from_filter(&s->layout, s->filter, s->header));
}

/* Bit by bit, as the paper tells it: the yes-filter has all, and no no-filter has all. */
static bool naive_part(const uint64_t *header, const uint64_t *mask, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        bool wanted = (mask[i / 64] >> (i % 64) & 1) != 0;
        if (wanted && (header[i / 64] >> (i % 64) & 1) == 0) {
            return false;
        }
    }
    return true;
}

static bool naive(const struct tepal_params *p, const uint64_t *header, const uint64_t *mask)
{
    bool yesno = p->kind == TEPAL_KIND_YESNO;
    uint64_t yes = yesno ? yes_bits(p) : p->cells;
    if (!naive_part(header, mask, 0, yes)) {
        return false;
    }
    for (uint64_t at = yes; at < p->cells; at += p->yesno.no_bits) {
        if (naive_part(header, mask, at, at + p->yesno.no_bits)) {
            return false;
        }
    }
    return true;
}

/* Every way to ask, and every number of links; nothing is written beyond the answers. */
static void check_scene(struct scene *s, uint64_t *matched)
{
    const struct tepal_params *params = &s->layout.params;
    for (size_t links = 0; links <= LINKS; links += links < 80 ? 1 : 7) {
        uint64_t answers[4] = {7, 7, 7, 7};
        uint64_t plain[4] = {0};
        uint64_t vectors[4] = {0};
        size_t words = (links + 63) / 64;
        size_t count = tepal_header_match_many(&s->layout, s->header, s->table, links, answers);
        tepal_packet_match_portable(&s->layout, s->header, s->table, links, plain);
        if (s->layout.kernel > 0) { /* the one for any layout, where it was not taken */
            tepal_packet_kernels[1](&s->layout, s->header, s->table, links, vectors);
        } else {
            memcpy(vectors, plain, sizeof plain);
        }
        for (size_t i = 0; i < links; i++) {
            bool wanted = naive(params, s->header, s->mask[i]);
            assert_int_equal(answers[i / 64] >> (i % 64) & 1, wanted);
            assert_int_equal(plain[i / 64] >> (i % 64) & 1, wanted);
            assert_int_equal(vectors[i / 64] >> (i % 64) & 1, wanted);
            count -= wanted;
        }
        assert_int_equal(count, 0);
        assert_int_equal(links % 64 == 0 ? 0 : answers[links / 64] >> (links % 64), 0);
        for (size_t i = words; i < 4; i++) {
            assert_int_equal(answers[i], 7);
        }
    }
    for (size_t i = 0; i < LINKS; i++) {
        bool found = tepal_header_match(&s->layout, s->header, s->mask[i]);
        assert_int_equal(found, tepal_filter_query(s->filter, s->digest[i]));
        assert_int_equal(found, naive(params, s->header, s->mask[i]));
        *matched += found;
    }
}

static void every_way_gives_the_filters_answers(void **state)
{
    uint64_t seed = 21;
    uint64_t bloom = 0;
    uint64_t aligned = 0;
    uint64_t crooked = 0;
    uint64_t unaligned_layouts = 0;
    uint64_t kernels = 0;
    static struct scene s;
    (void)state;
    for (int round = 0; round < 120; round++) {
        struct tepal_params params;
        uint64_t *matched = round % 3 == 0 ? &bloom : round % 3 == 1 ? &aligned : &crooked;
        random_params(&params, &seed, round % 3 != 0, round % 3 == 1);
        make_scene(&s, &params, &seed);
        assert_true(s.layout.plain || round % 3 != 1);
        unaligned_layouts += !s.layout.plain;
        kernels |= (uint64_t)1 << s.layout.kernel >> 1;
        check_scene(&s, matched);
        tepal_filter_free(s.filter);
    }
    /* The tests are about something: many match, many do not, and parts do end anywhere. */
    assert_true(bloom > 200 && bloom < (uint64_t)40 * LINKS);
    assert_true(aligned > 200 && aligned < (uint64_t)40 * LINKS);
    assert_true(crooked > 200 && crooked < (uint64_t)40 * LINKS);
    assert_true(unaligned_layouts > 30);
    assert_true(kernels == 0 || (kernels & (kernels - 1)) != 0); /* and several loops ran */
}

static void random_headers_and_masks_agree(void **state)
{
    uint64_t seed = 22;
    static struct scene s;
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct tepal_params params;
        random_params(&params, &seed, round % 3 != 0, round % 3 == 1);
        make_scene(&s, &params, &seed);
        tepal_filter_free(s.filter);
        /* Any header, masks with empty and full parts too. */
        for (uint32_t w = 0; w < s.layout.words; w++) {
            s.header[w] = check_random(&seed) | check_random(&seed) | check_random(&seed);
            for (size_t i = 0; i < LINKS; i++) {
                s.mask[i][w] = check_random(&seed) & check_random(&seed) & check_random(&seed) &
                               check_random(&seed) & check_random(&seed);
                s.mask[i][w] = i % 5 == 0 ? 0 : i % 11 == 0 ? s.header[w] : s.mask[i][w];
            }
        }
        for (size_t i = 0; i < LINKS; i++) {
            tepal_header_table_put(&s.layout, i, s.mask[i], s.table);
        }
        assert_ok(tepal_header_to_filter(&s.layout, s.header, NULL, &s.filter, NULL));
        for (size_t i = 0; i < LINKS; i++) {
            uint64_t answers[3];
            tepal_header_match_many(&s.layout, s.header, s.table, LINKS, answers);
            bool wanted = naive(&params, s.header, s.mask[i]);
            assert_int_equal(answers[i / 64] >> (i % 64) & 1, wanted);
            assert_int_equal(tepal_header_match(&s.layout, s.header, s.mask[i]), wanted);
        }
        tepal_filter_free(s.filter);
    }
}

static void a_filter_goes_into_a_packet_and_back(void **state)
{
    uint64_t seed = 23;
    static struct scene s;
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct tepal_params params;
        uint8_t packet[TEPAL_MAX_HEADER_BITS / 8];
        uint64_t header[TEPAL_MAX_HEADER_WORDS];
        struct tepal_filter *back = NULL;
        struct tepal_error error = {.why = ""};
        size_t count;
        random_params(&params, &seed, round % 2 == 0, false);
        make_scene(&s, &params, &seed);
        memset(packet, 0xaa, sizeof packet);
        tepal_header_pack(&s.layout, s.header, packet);
        for (uint32_t i = 0; i < s.layout.bits; i++) {
            assert_int_equal(packet[i / 8] >> (i % 8) & 1, s.header[i / 64] >> (i % 64) & 1);
        }
        uint32_t bytes = (s.layout.bits + 7) / 8;
        assert_true(bytes == sizeof packet || packet[bytes] == 0xaa);
        /* bits beyond the header are written as 0, and not read */
        if (s.layout.bits % 8 != 0) {
            assert_int_equal(packet[bytes - 1] >> s.layout.bits % 8, 0);
            packet[bytes - 1] = (uint8_t)(packet[bytes - 1] | 0x80);
        }
        tepal_header_unpack(&s.layout, packet, header);
        assert_ok(tepal_header_to_filter(&s.layout, header, NULL, &back, NULL));
        assert_ok(tepal_filter_validate(back, &error));
        assert_true(tepal_filter_equal(back, s.filter));
        const uint64_t *words = tepal_filter_words(back, &count);
        assert_int_equal(count, s.layout.words);
        assert_memory_equal(words, s.header, count * sizeof *words);
        for (size_t i = 0; i < LINKS; i++) {
            assert_int_equal(tepal_filter_query(back, s.digest[i]),
                             tepal_filter_query(s.filter, s.digest[i]));
        }
        tepal_filter_free(back);
        tepal_filter_free(s.filter);
    }
}

/* r = 0 is the Bloom filter: the same masks, the same headers. */
static void without_no_filters_it_is_the_bloom_header(void **state)
{
    struct tepal_params bloom = TEPAL_PARAMS_INIT;
    struct tepal_params yesno = TEPAL_PARAMS_INIT;
    struct tepal_header_layout a;
    struct tepal_header_layout b;
    uint64_t seed = 24;
    (void)state;
    bloom.cells = 256;
    bloom.hashes = 6;
    set_yesno(256, 6, 0, 0, 0, &yesno);
    assert_ok(tepal_header_layout_init(&bloom, &a, NULL));
    assert_ok(tepal_header_layout_init(&yesno, &b, NULL));
    assert_int_equal(b.regions, 1);
    for (int i = 0; i < 100; i++) {
        uint64_t x[4];
        uint64_t y[4];
        struct tepal_digest d = check_digest(&seed);
        tepal_header_mask(&a, d, x);
        tepal_header_mask(&b, d, y);
        assert_memory_equal(x, y, sizeof x);
    }
}

static void wrong_parameters_are_refused(void **state)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_header_layout layout;
    struct tepal_header_layout before;
    struct tepal_filter *filter = NULL;
    uint64_t header[8];
    struct tepal_error error = {.why = ""};
    (void)state;
    memset(&layout, 0x5a, sizeof layout);
    before = layout;
    params.hashes = 4;
    params.cells = TEPAL_MAX_HEADER_BITS + 1;
    assert_int_equal(tepal_header_layout_init(&params, &layout, &error), TEPAL_BAD_PARAMETER);
    assert_non_null(strstr(error.why, "at most 2048 bits"));
    params.cells = 0;
    assert_int_equal(tepal_header_layout_init(&params, &layout, NULL), TEPAL_BAD_PARAMETER);
    params.cells = 256;
    params.hashes = 0;
    assert_int_equal(tepal_header_layout_init(&params, &layout, &error), TEPAL_BAD_PARAMETER);
    assert_int_equal(tepal_header_layout_init(NULL, &layout, &error), TEPAL_BAD_ARGUMENT);
    set_yesno(0, 4, 64, 4, 3, &params);
    assert_int_equal(tepal_header_layout_init(&params, &layout, &error), TEPAL_BAD_PARAMETER);
    assert_memory_equal(&layout, &before, sizeof layout);
    set_yesno(192, 4, 32, 2, 3, &params);
    assert_ok(tepal_header_layout_init(&params, &layout, &error));
    params.seed = 1;
    assert_ok(tepal_filter_create(&params, NULL, &filter, NULL));
    assert_int_equal(tepal_header_from_filter(&layout, filter, header), TEPAL_MISMATCH);
    tepal_filter_free(filter);
}

static void *nothing(void *ctx, size_t size, size_t align)
{
    (void)size;
    (void)align;
    ++*(int *)ctx;
    return NULL;
}

static void free_nothing(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)size;
    assert_null(ptr);
}

static void no_memory_is_told(void **state)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_header_layout layout;
    struct tepal_filter *filter = NULL;
    uint64_t header[4] = {1, 2, 3, 4};
    int asked = 0;
    struct tepal_allocator allocator = {nothing, free_nothing, &asked};
    (void)state;
    params.cells = 256;
    params.hashes = 6;
    assert_ok(tepal_header_layout_init(&params, &layout, NULL));
    assert_int_equal(tepal_header_to_filter(&layout, header, &allocator, &filter, NULL),
                     TEPAL_NO_MEMORY);
    assert_null(filter);
    assert_int_equal(asked, 1);
}

/* 64 no-filters of a few bits: as many regions as there can be, most of them within columns. */
static void the_most_regions_fit(void **state)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    static struct scene s;
    uint64_t seed = 25;
    uint64_t matched = 0;
    (void)state;
    set_yesno(512 - 64 * 7, 2, 7, 64, 3, &params);
    make_scene(&s, &params, &seed);
    assert_int_equal(s.layout.regions, TEPAL_HEADER_REGIONS);
    assert_true(s.layout.first[s.layout.regions] <= TEPAL_HEADER_STEPS);
    check_scene(&s, &matched);
    tepal_filter_free(s.filter);
    /* The worst case for steps: every region crosses an edge that can be crossed. */
    for (uint64_t q = 1; q <= 7; q++) {
        for (uint64_t r = 0; r <= 64; r++) {
            set_yesno(512 - q * r, 2, q, r, 1, &params);
            assert_ok(tepal_header_layout_init(&params, &s.layout, NULL));
            assert_true(s.layout.first[s.layout.regions] <= TEPAL_HEADER_STEPS);
        }
    }
}

/* A table of just so many words takes every mask, and no fewer would do. */
static void a_table_has_just_enough_words(void **state)
{
    static const uint32_t sizes[] = {128, 256, 512};
    static const struct {
        size_t links, eights;
    } says[] = {{0, 0}, {1, 1}, {7, 1}, {8, 1}, {9, 2}, {64, 8}, {LINKS, 19}, {1000000, 125000}};
    (void)state;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        struct tepal_params params = TEPAL_PARAMS_INIT;
        struct tepal_header_layout layout;
        uint64_t mask[TEPAL_MAX_HEADER_WORDS];
        params.cells = sizes[s];
        params.hashes = 3;
        assert_ok(tepal_header_layout_init(&params, &layout, NULL));
        memset(mask, 0xff, sizeof mask);
        for (size_t i = 0; i < COUNT(says); i++) { /* eight masks a block */
            assert_int_equal(tepal_header_table_words(&layout, says[i].links),
                             says[i].eights * 8 * sizes[s] / 32);
        }
        for (size_t links = 1; links <= 40; links++) {
            size_t words = tepal_header_table_words(&layout, links);
            uint32_t *table = test_calloc(words, sizeof *table); /* notices what is beyond */
            size_t filled = 0;
            for (size_t i = 0; i < links; i++) {
                tepal_header_table_put(&layout, i, mask, table);
            }
            for (size_t i = 0; i < words; i++) {
                assert_true(table[i] == 0 || table[i] == UINT32_MAX);
                filled += table[i] != 0;
            }
            assert_int_equal(filled, links * sizes[s] / 32); /* no word is shared */
            assert_true(links % 8 != 0 || table[words - 1] != 0);
            uint64_t answer;
            assert_int_equal(tepal_header_match_many(&layout, mask, table, links, &answer), links);
            assert_true(answer == (UINT64_C(1) << links) - 1);
            test_free(table);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_gives_the_filters_answers),
        cmocka_unit_test(random_headers_and_masks_agree),
        cmocka_unit_test(a_filter_goes_into_a_packet_and_back),
        cmocka_unit_test(without_no_filters_it_is_the_bloom_header),
        cmocka_unit_test(wrong_parameters_are_refused),
        cmocka_unit_test(no_memory_is_told),
        cmocka_unit_test(the_most_regions_fit),
        cmocka_unit_test(a_table_has_just_enough_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

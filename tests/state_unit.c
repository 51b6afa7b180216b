/*
 * state_unit.c: numbers in the state that a kind does not have must be 0: for every kind, in memory
 * and in a file, whose fault names the place.
 */
#include "file_help.h"
#include "recycling_help.h"

#include "filter/kind.h"

#define AT_STATE 136 /* in the header of a file (docs/format.md) */

static struct tepal_filter *make(const struct tepal_kind *kind)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_filter *filter = NULL;
    params.kind = kind->id;
    params.hashes = 2;
    params.cells = 512 * 8;
    params.own[0] = kind->id == TEPAL_KIND_COUNTING      ? 1
                    : kind->id == TEPAL_KIND_FINGERPRINT ? 8 /* bits */
                                                         : 0;
    if (kind->id == TEPAL_KIND_RECYCLING) {
        struct recycling_options options = RECYCLING_OPTIONS_INIT;
        options.limit = params.cells / 8;
        set_recycling(&params, &options);
    }
    if (kind->id == TEPAL_KIND_GROWING) {
        params.growing = (struct tepal_growing_params){4, 3, 0, 0};
        params.cells = 4 * 8 * 256;
    }
    if (kind->id == TEPAL_KIND_CHAIN) {
        params.chain =
            (struct tepal_chain_params){.first_keys = 100, .rate = (uint64_t)1 << 57, .planned = 1};
        params.cells = 2048;
    }
    assert_int_equal(tepal_filter_create(&params, NULL, &filter, NULL), TEPAL_OK);
    return filter;
}

static void check_memory(struct tepal_filter *filter, size_t i)
{
    struct tepal_error error = {.why = NULL};
    filter->state.own[i] = 1;
    assert_int_equal(tepal_filter_validate(filter, &error), TEPAL_CORRUPT);
    assert_string_equal(error.why, FILTER_STRAY_STATE);
    filter->state.own[i] = 0;
    assert_int_equal(tepal_filter_validate(filter, &error), TEPAL_OK);
}

static void check_file(const struct tepal_filter *filter, size_t i)
{
    size_t len = (size_t)tepal_encoded_bytes(filter);
    uint8_t *bytes = malloc(len);
    struct tepal_filter *read = NULL;
    struct tepal_error error = {TEPAL_OK, 0, 0, NULL};
    assert_non_null(bytes);
    assert_int_equal(tepal_encode(filter, bytes, len, NULL), TEPAL_OK);
    little_put64(bytes + AT_STATE + 8 * i, 1);
    header_resum(bytes);
    assert_int_equal(tepal_decode(bytes, len, NULL, &read, &error), TEPAL_CORRUPT);
    assert_null(read);
    assert_int_equal(error.offset, AT_STATE + 8 * i);
    assert_string_equal(error.why, FILTER_STRAY_STATE);
    free(bytes);
}

static void test_stray_states(void **state)
{
    (void)state;
    size_t strays = 0;
    for (size_t k = 0; k < tepal_kind_count(); k++) {
        const struct tepal_kind *kind = tepal_kind_at(k);
        struct tepal_filter *filter = make(kind);
        for (size_t i = filter->ops->states; i < FILTER_STATES; i++) {
            check_memory(filter, i);
            check_file(filter, i);
            strays++;
        }
        tepal_filter_free(filter);
    }
    assert_true(strays >= 8 * tepal_kind_count() / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stray_states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

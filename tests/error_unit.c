/*
 * error_unit.c: the one channel for errors. Every call that has an error argument is made to fail
 * and to succeed: a failure sets all fields, and a success none; NULL may be given to either.
 */
#define _GNU_SOURCE
#include "file_help.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define KEYS 200

/* What the calls work on. */
struct stage {
    struct tepal_params params; /* of a Bloom filter */
    struct tepal_digest keys[2 * KEYS];
    struct tepal_known known;
    struct tepal_filter *bloom;
    struct tepal_filter *counting;
    struct tepal_filter *bare; /* keyed, without a key */
    struct tepal_proposal plan;
    uint8_t *bytes; /* of bloom */
    size_t len;
    char path[64]; /* a file of them */
};

/* Makes the call, in a way that goes well or not, and cleans up. */
typedef enum tepal_status call(const struct stage *on, bool well, struct tepal_error *error);

static void *no_memory(void *ctx, size_t size, size_t align)
{
    (void)ctx;
    (void)size;
    (void)align;
    return NULL;
}

static const struct tepal_allocator stingy = {no_memory, memory_free, NULL};

static const struct tepal_allocator *allocator_of(bool well)
{
    return well ? NULL : &stingy;
}

/* ---- parameters and models ------------------------------------------------------------------- */

static enum tepal_status params_check(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_params p = on->params;
    p.hashes = well ? 3 : 100;
    return tepal_params_check(&p, error);
}

static enum tepal_status for_rate(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_params p = on->params;
    return tepal_params_for_rate(&p, 10, well ? 0.5 : 2, error);
}

static enum tepal_status for_bits(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_params p = on->params;
    return tepal_params_for_bits(&p, well, 1000, error);
}

static enum tepal_status model(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_params p = on->params;
    struct tepal_use use = TEPAL_USE_INIT;
    struct tepal_report report;
    use.keys = 10;
    p.cells = well ? p.cells : 0;
    return tepal_model(&p, &use, &report, error);
}

/* ---- filters --------------------------------------------------------------------------------- */

static enum tepal_status create(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_filter *f = NULL;
    enum tepal_status status = tepal_filter_create(&on->params, allocator_of(well), &f, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status create_for_rate(const struct stage *on, bool well,
                                         struct tepal_error *error)
{
    struct tepal_filter *f = NULL;
    (void)on;
    enum tepal_status status =
        tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, well ? 10 : 0, 0.1, 1, &f, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status clone(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_filter *f = NULL;
    enum tepal_status status = tepal_filter_clone(on->bloom, allocator_of(well), &f, error);
    tepal_filter_free(f);
    return status;
}

/* A bit beyond the last cell. */
static enum tepal_status validate(const struct stage *on, bool well, struct tepal_error *error)
{
    size_t count;
    uint64_t *words = (uint64_t *)(uintptr_t)tepal_filter_words(on->bloom, &count);
    words[count - 1] ^= well ? 0 : (uint64_t)1 << 63;
    enum tepal_status status = tepal_filter_validate(on->bloom, error);
    words[count - 1] &= ~((uint64_t)1 << 63);
    return status;
}

static enum tepal_status fold(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_filter *f = NULL;
    enum tepal_status status = tepal_bloom_fold(on->bloom, well ? 2 : 7, NULL, &f, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status fold_other(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_filter *f = NULL;
    enum tepal_status status =
        tepal_bloom_fold(well ? on->bloom : on->counting, 1, NULL, &f, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status relayout(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_filter *f = NULL;
    enum tepal_status status = tepal_bloom_relayout(
        on->bloom, well ? TEPAL_LAYOUT_FLAT : TEPAL_LAYOUT_BLOCKED, NULL, &f, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status by_average(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_params p = on->params;
    struct tepal_filter *before = NULL;
    struct tepal_filter *f = NULL;
    p.kind = TEPAL_KIND_RECYCLING;
    p.recycling = (struct tepal_recycling_params){2, TEPAL_RECYCLING_COUNT, 5, 0};
    p.recycling.flags = well ? TEPAL_RECYCLING_RETAIN : 0;
    assert_ok(tepal_filter_create(&p, NULL, &before, NULL));
    enum tepal_status status = tepal_recycling_by_average(before, 0.01, NULL, &f, error);
    tepal_filter_free(f);
    tepal_filter_free(before);
    return status;
}

static enum tepal_status to_bloom(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_filter *f = NULL;
    enum tepal_status status =
        tepal_counting_to_bloom(well ? on->counting : on->bloom, NULL, &f, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status strip(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_filter *f = NULL;
    enum tepal_status status =
        tepal_counting_strip(well ? on->counting : on->bloom, NULL, &f, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status difference(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_filter *f = NULL;
    enum tepal_status status = tepal_counting_difference(
        on->counting, well ? on->counting : on->bloom, NULL, &f, NULL, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status audit(const struct stage *on, bool well, struct tepal_error *error)
{
    static const uint8_t judgements[1] = {200};
    struct tepal_report report;
    return tepal_counting_audit(on->counting, on->keys, well ? NULL : judgements, 1, NULL, NULL,
                                NULL, &report, error);
}

static enum tepal_status offline(const struct stage *on, bool well, struct tepal_error *error)
{
    return tepal_counting_add_offline(well ? on->counting : on->bloom, on->keys, 1, NULL, NULL,
                                      NULL, error);
}

static enum tepal_status repair(const struct stage *on, bool well, struct tepal_error *error)
{
    static const uint8_t judgements[1] = {200};
    return tepal_counting_repair(on->counting, on->keys, well ? NULL : judgements, 1, NULL, NULL,
                                 NULL, error);
}

/* ---- bytes and files ------------------------------------------------------------------------- */

static enum tepal_status encode(const struct stage *on, bool well, struct tepal_error *error)
{
    uint8_t *out = malloc(on->len);
    assert_non_null(out);
    enum tepal_status status = tepal_encode(on->bloom, out, on->len - !well, error);
    free(out);
    return status;
}

static enum tepal_status encode_bare(const struct stage *on, bool well, struct tepal_error *error)
{
    uint8_t *out = malloc(on->len);
    assert_non_null(out);
    enum tepal_status status = tepal_encode(well ? on->bloom : on->bare, out, on->len, error);
    free(out);
    return status;
}

static enum tepal_status encode_range(const struct stage *on, bool well, struct tepal_error *error)
{
    uint8_t out[2];
    return tepal_encode_range(on->bloom, on->len - 1, out, well ? 1 : 2, error);
}

static enum tepal_status decode(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_filter *f = NULL;
    enum tepal_status status = tepal_decode(on->bytes, on->len - !well, NULL, &f, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status decoder_create(const struct stage *on, bool well,
                                        struct tepal_error *error)
{
    struct tepal_decoder *d = NULL;
    (void)on;
    enum tepal_status status = tepal_decoder_create(0, allocator_of(well), &d, error);
    tepal_decoder_free(d);
    return status;
}

static enum tepal_status decoder_feed(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_decoder *d = NULL;
    assert_ok(tepal_decoder_create(0, NULL, &d, NULL));
    enum tepal_status status = tepal_decoder_feed(d, on->bytes + !well, on->len - !well, error);
    tepal_decoder_free(d);
    return status;
}

static enum tepal_status decoder_finish(const struct stage *on, bool well,
                                        struct tepal_error *error)
{
    struct tepal_decoder *d = NULL;
    struct tepal_filter *f = NULL;
    assert_ok(tepal_decoder_create(0, NULL, &d, NULL));
    assert_ok(tepal_decoder_feed(d, on->bytes, on->len - !well, NULL));
    enum tepal_status status = tepal_decoder_finish(d, &f, error);
    tepal_filter_free(f);
    tepal_decoder_free(d);
    return status;
}

static enum tepal_status save(const struct stage *on, bool well, struct tepal_error *error)
{
    return tepal_save(on->bloom, well ? on->path : "/nonexistent/tepal/file", error);
}

static enum tepal_status save_bare(const struct stage *on, bool well, struct tepal_error *error)
{
    return tepal_save(well ? on->bloom : on->bare, on->path, error);
}

static enum tepal_status save_fd(const struct stage *on, bool well, struct tepal_error *error)
{
    int fd = open(on->path, well ? O_WRONLY : O_RDONLY);
    assert_true(fd >= 0);
    enum tepal_status status = tepal_save_fd(on->bloom, fd, error);
    (void)close(fd);
    return status;
}

static enum tepal_status load(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_filter *f = NULL;
    enum tepal_status status = tepal_load(well ? on->path : "/nonexistent", NULL, &f, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status load_directory(const struct stage *on, bool well,
                                        struct tepal_error *error)
{
    struct tepal_filter *f = NULL;
    enum tepal_status status = tepal_load(well ? on->path : "/", NULL, &f, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status load_fd(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_filter *f = NULL;
    int fd = open(on->path, well ? O_RDONLY : O_WRONLY);
    assert_true(fd >= 0);
    enum tepal_status status = tepal_load_fd(fd, NULL, &f, error);
    (void)close(fd);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status map(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_filter *f = NULL;
    enum tepal_status status =
        tepal_map(well ? on->path : "/nonexistent", TEPAL_MAP_LAZY, NULL, &f, error);
    tepal_filter_free(f);
    return status;
}

/* ---- known keys ------------------------------------------------------------------------------ */

static enum tepal_status retouch(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_filter *f = NULL;
    options.method = well ? TEPAL_RETOUCH_BEST : TEPAL_RETOUCH_NET_EFFECT;
    enum tepal_status status =
        tepal_retouch(on->bloom, &on->known, &options, NULL, &f, NULL, NULL, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status retouch_options(const struct stage *on, bool well,
                                         struct tepal_error *error)
{
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_filter *f = NULL;
    options.limit = TEPAL_RETOUCH_LIMIT_SHARE;
    options.budget = well ? 0.5 : 2;
    enum tepal_status status =
        tepal_retouch(on->bloom, &on->known, &options, NULL, &f, NULL, NULL, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status curve(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_point points[5];
    size_t count;
    return tepal_retouch_curve(on->bloom, &on->known, &options, NULL, points, well ? 5 : 1, &count,
                               NULL, error);
}

static enum tepal_status exceptions(const struct stage *on, bool well, struct tepal_error *error)
{
    uint64_t victims[KEYS / 64 + 1] = {5};
    struct tepal_exceptions *list = NULL;
    enum tepal_status status = tepal_exceptions_create(on->bloom, on->keys, KEYS, victims,
                                                       allocator_of(well), &list, error);
    tepal_exceptions_free(list);
    return status;
}

static enum tepal_status exceptions_bytes(const struct stage *on, bool well,
                                          struct tepal_error *error, bool decoding)
{
    uint64_t victims[KEYS / 64 + 1] = {5};
    uint8_t bytes[48 + 2 * 16];
    struct tepal_exceptions *list = NULL;
    struct tepal_exceptions *again = NULL;
    assert_ok(tepal_exceptions_create(on->bloom, on->keys, KEYS, victims, NULL, &list, NULL));
    assert_int_equal(tepal_exceptions_encoded_bytes(list), sizeof bytes);
    size_t room = sizeof bytes - (well || decoding ? 0 : 1);
    enum tepal_status status = tepal_exceptions_encode(list, bytes, room, decoding ? NULL : error);
    if (decoding) {
        bytes[60] ^= well ? 0 : 1;
        status = tepal_exceptions_decode(bytes, sizeof bytes, NULL, &again, error);
    }
    tepal_exceptions_free(again);
    tepal_exceptions_free(list);
    return status;
}

static enum tepal_status exceptions_encode(const struct stage *on, bool well,
                                           struct tepal_error *error)
{
    return exceptions_bytes(on, well, error, false);
}

static enum tepal_status exceptions_decode(const struct stage *on, bool well,
                                           struct tepal_error *error)
{
    return exceptions_bytes(on, well, error, true);
}

static enum tepal_status yesno(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_yesno_options options = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_params p = on->params;
    struct tepal_filter *f = NULL;
    p.kind = well ? TEPAL_KIND_YESNO : TEPAL_KIND_BLOOM;
    enum tepal_status status = tepal_yesno_build(&p, &on->known, &options, NULL, &f, NULL, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status veto_later(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_yesno_options options = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_params p = on->params;
    struct tepal_known none = on->known;
    struct tepal_filter *f = NULL;
    p.kind = TEPAL_KIND_YESNO;
    assert_ok(tepal_yesno_build(&p, &on->known, &options, NULL, &f, NULL, NULL));
    none.member_count = 0;
    enum tepal_status status =
        tepal_yesno_veto_later(f, well ? &on->known : &none, &options, NULL, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status cascade(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_cascade_options options = {.bits = well ? 100000 : 10};
    struct tepal_params p = on->params;
    struct tepal_filter *f = NULL;
    p.kind = TEPAL_KIND_CASCADE;
    p.hashes = 0;
    enum tepal_status status = tepal_cascade_build(&p, &on->known, &options, NULL, &f, NULL, error);
    tepal_filter_free(f);
    return status;
}

/* ---- plans, headers, strangers --------------------------------------------------------------- */

static enum tepal_status plan(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_wish wish = TEPAL_WISH_INIT;
    static struct tepal_plans plans;
    (void)on;
    wish.keys = 100;
    wish.fp = well ? 0.1 : 2;
    return tepal_plan(&wish, &plans, error);
}

static enum tepal_status plan_check(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_proposal p = on->plan;
    p.feasible = well;
    return tepal_plan_check(&p, error);
}

static enum tepal_status plan_build(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_plan_input input = {.seed = 1, .known = on->known};
    struct tepal_proposal p = on->plan;
    struct tepal_filter *f = NULL;
    p.params.hashes = well ? p.params.hashes : 1000;
    enum tepal_status status = tepal_plan_build(&p, &input, NULL, &f, NULL, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status plan_begin(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_filter *f = NULL;
    enum tepal_status status = tepal_plan_create(&on->plan, 1, NULL, allocator_of(well), &f, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status header_layout(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_header_layout layout;
    struct tepal_params p = on->params;
    p.cells = well ? 256 : 3000;
    return tepal_header_layout_init(&p, &layout, error);
}

static enum tepal_status header_to_filter(const struct stage *on, bool well,
                                          struct tepal_error *error)
{
    struct tepal_header_layout layout;
    struct tepal_filter *f = NULL;
    struct tepal_params p = on->params;
    uint64_t header[TEPAL_MAX_HEADER_WORDS] = {3};
    p.cells = 256;
    assert_ok(tepal_header_layout_init(&p, &layout, NULL));
    enum tepal_status status =
        tepal_header_to_filter(&layout, header, allocator_of(well), &f, error);
    tepal_filter_free(f);
    return status;
}

static struct tepal_terms terms_of(bool well)
{
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    terms.max_fp = well ? 1 : 7;
    return terms;
}

static enum tepal_status receive(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_terms terms = terms_of(well);
    struct tepal_judgement judgement;
    struct tepal_filter *f = NULL;
    enum tepal_status status =
        tepal_receive(on->bytes, on->len, &terms, NULL, &f, &judgement, error);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status receive_fd(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_terms terms = terms_of(true);
    struct tepal_judgement judgement;
    struct tepal_filter *f = NULL;
    int fd = open(on->path, well ? O_RDONLY : O_WRONLY);
    assert_true(fd >= 0);
    enum tepal_status status = tepal_receive_fd(fd, &terms, NULL, &f, &judgement, error);
    (void)close(fd);
    tepal_filter_free(f);
    return status;
}

static enum tepal_status judge(const struct stage *on, bool well, struct tepal_error *error)
{
    struct tepal_terms terms = terms_of(well);
    struct tepal_judgement judgement;
    return tepal_judge(on->bloom, &terms, &judgement, error);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    call *make;
} calls[] = {
#define CALL(name)                                                                                 \
    {                                                                                              \
#name, name                                                                                \
    }
    CALL(params_check),
    CALL(for_rate),
    CALL(for_bits),
    CALL(model),
    CALL(create),
    CALL(create_for_rate),
    CALL(clone),
    CALL(validate),
    CALL(fold),
    CALL(fold_other),
    CALL(relayout),
    CALL(by_average),
    CALL(to_bloom),
    CALL(strip),
    CALL(difference),
    CALL(audit),
    CALL(repair),
    CALL(offline),
    CALL(encode),
    CALL(encode_bare),
    CALL(encode_range),
    CALL(decode),
    CALL(decoder_create),
    CALL(decoder_feed),
    CALL(decoder_finish),
    CALL(save),
    CALL(save_bare),
    CALL(save_fd),
    CALL(load),
    CALL(load_directory),
    CALL(load_fd),
    CALL(map),
    CALL(retouch),
    CALL(retouch_options),
    CALL(curve),
    CALL(exceptions),
    CALL(exceptions_encode),
    CALL(exceptions_decode),
    CALL(yesno),
    CALL(veto_later),
    CALL(cascade),
    CALL(plan),
    CALL(plan_check),
    CALL(plan_build),
    CALL(plan_begin),
    CALL(header_layout),
    CALL(header_to_filter),
    CALL(receive),
    CALL(receive_fd),
    CALL(judge),
#undef CALL
};

static int set_stage(void **state)
{
    static struct stage on;
    static struct tepal_plans plans;
    struct tepal_wish wish = TEPAL_WISH_INIT;
    uint64_t random = 1;
    *state = &on;
    on.params = (struct tepal_params)TEPAL_PARAMS_INIT;
    on.params.cells = 1500 + 2; /* not whole words, an even number */
    on.params.hashes = 3;
    check_digests(&random, on.keys, COUNT(on.keys));
    on.known = (struct tepal_known){.members = on.keys, .member_count = KEYS};
    on.known.avoid = on.keys + KEYS;
    on.known.avoid_count = KEYS;
    assert_ok(tepal_filter_create(&on.params, NULL, &on.bloom, NULL));
    assert_ok(tepal_filter_add_many(on.bloom, on.keys, KEYS));
    struct tepal_params p = on.params;
    p.hash = TEPAL_HASH_SIPHASH;
    assert_ok(tepal_filter_create(&p, NULL, &on.bare, NULL));
    p = on.params;
    p.kind = TEPAL_KIND_COUNTING;
    p.counting.choices = 1;
    assert_ok(tepal_filter_create(&p, NULL, &on.counting, NULL));
    assert_ok(tepal_filter_add_many(on.counting, on.keys, KEYS));
    wish.keys = KEYS;
    wish.fp = 0.05;
    assert_ok(tepal_plan(&wish, &plans, NULL));
    on.plan = plans.plan[0];
    assert_true(on.plan.feasible && tepal_plan_streams(&on.plan));
    on.bytes = encoded(on.bloom, &on.len);
    (void)snprintf(on.path, sizeof on.path, "/tmp/tepal-error-XXXXXX");
    int fd = mkstemp(on.path);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_ok(tepal_save(on.bloom, on.path, NULL));
    return 0;
}

static int clear_stage(void **state)
{
    struct stage *on = *state;
    (void)unlink(on->path);
    free(on->bytes);
    tepal_filter_free(on->bloom);
    tepal_filter_free(on->bare);
    tepal_filter_free(on->counting);
    return 0;
}

static void success_sets_nothing(void **state)
{
    static const char before[] = "as it was";
    for (size_t i = 0; i < COUNT(calls); i++) {
        struct tepal_error error = {TEPAL_CLOCK_BACK, -7, 1234567, before};
        enum tepal_status status = calls[i].make(*state, true, &error);
        if (status != TEPAL_OK) {
            fail_msg("%s says %s: %s", calls[i].name, tepal_status_name(status), error.why);
        }
        if (error.status != TEPAL_CLOCK_BACK || error.system != -7 || error.offset != 1234567 ||
            error.why != before) {
            fail_msg("%s went well, and the error is changed", calls[i].name);
        }
        assert_ok(calls[i].make(*state, true, NULL));
    }
}

static void failure_sets_everything(void **state)
{
    for (size_t i = 0; i < COUNT(calls); i++) {
        struct tepal_error error = {TEPAL_OK, -7, UINT64_MAX, NULL};
        enum tepal_status status = calls[i].make(*state, false, &error);
        if (status == TEPAL_OK) {
            fail_msg("%s does not fail", calls[i].name);
        }
        if (error.status != status || error.offset == UINT64_MAX || error.why == NULL ||
            error.why[0] == '\0' || (status == TEPAL_IO ? error.system <= 0 : error.system != 0)) {
            fail_msg("%s says %s, the error %s, %d, %s", calls[i].name, tepal_status_name(status),
                     tepal_status_name(error.status), error.system,
                     error.why == NULL ? "nothing" : error.why);
        }
        assert_int_equal(calls[i].make(*state, false, NULL), status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(success_sets_nothing),
        cmocka_unit_test(failure_sets_everything),
    };
    return cmocka_run_group_tests(tests, set_stage, clear_stage);
}

/*
 * alloc_calls_unit.c: memory runs out in every public call. The list of calls is read from the
 * headers: one that has no line in the table below fails the test. Each call is made on filters of
 * the kinds that it is for, with its first, second, ... request for memory refused, until it needs
 * no more. Each time it says TEPAL_NO_MEMORY, and filter and outputs are what they were; in the end
 * everything is given back. Calls that are said to take no memory must not ask for any.
 *
 * Headers whose calls see no filter and no allocator (numbers and names) are left out: that their
 * code calls nothing that allocates is checked by shape.sh, from the symbols.
 */
#define _GNU_SOURCE
#include "kinds_help.h"

#include <tepal/inline.h>

#include <dirent.h>
#include <unistd.h>

#define KEYS 300 /* more than are hashed at once */

/* What a call works on, and what it gives. */
struct stage {
    const struct specimen *s;
    struct tepal_filter *filter;
    struct tepal_filter *other; /* of the same parameters, with other keys */
    const struct tepal_allocator *allocator;
    struct tepal_error *error;
    const uint8_t *bytes; /* the encoded filter */
    size_t len;
    char path[64];
    struct tepal_filter *out;
    struct tepal_exceptions *list;
};

static struct specimens all;
static struct tepal_digest members[KEYS]; /* of every filter */
static struct tepal_digest news[KEYS];
static uint64_t numbers[KEYS];
static const void *pointers[KEYS];
static size_t lens[KEYS];
static uint64_t offsets[KEYS + 1];
static uint64_t answers[KEYS / 64 + 1];
static uint8_t groups[KEYS];
static struct tepal_known known = {
    .members = members, .member_count = KEYS, .avoid = news, .avoid_count = KEYS};

typedef enum tepal_status call(struct stage *on);

/* A case whose answer does not matter. */
#define CASE(name, ...)                                                                            \
    static enum tepal_status case_##name(struct stage *on)                                         \
    {                                                                                              \
        (void)on;                                                                                  \
        __VA_ARGS__;                                                                               \
        return TEPAL_OK;                                                                           \
    }
/* A case that may fail. */
#define TRY(name, expression)                                                                      \
    static enum tepal_status case_##name(struct stage *on)                                         \
    {                                                                                              \
        return expression;                                                                         \
    }

/* ---- avoid.h, bloom.h ------------------------------------------------------------------------ */

TRY(avoid_budget, tepal_avoid_budget(on->filter, 50, on->error))

static enum tepal_status case_avoid(struct stage *on)
{
    return tepal_avoid(on->filter, news, 20, NULL, NULL, on->error);
}

static enum tepal_status case_add_atomic(struct stage *on)
{
    bool was;
    return tepal_bloom_add_atomic(on->filter, news[0], &was);
}
CASE(query_atomic, (void)tepal_bloom_query_atomic(on->filter, news[0]))
TRY(fold, tepal_bloom_fold(on->filter, 2, on->allocator, &on->out, on->error))
TRY(relayout,
    tepal_bloom_relayout(on->filter, on->s->params.layout, on->allocator, &on->out, on->error))

/* ---- cascade.h, yesno.h, retouched.h --------------------------------------------------------- */

static enum tepal_status case_cascade_build(struct stage *on)
{
    struct tepal_cascade_options options = {.bits = KINDS_CELLS};
    return tepal_cascade_build(&on->s->params, &known, &options, on->allocator, &on->out, NULL,
                               on->error);
}

static enum tepal_status case_yesno_build(struct stage *on)
{
    struct tepal_yesno_options options = TEPAL_YESNO_OPTIONS_INIT;
    return tepal_yesno_build(&on->s->params, &known, &options, on->allocator, &on->out, NULL,
                             on->error);
}

static enum tepal_status case_veto_later(struct stage *on)
{
    struct tepal_yesno_options options = TEPAL_YESNO_OPTIONS_INIT;
    return tepal_yesno_veto_later(on->filter, &known, &options, NULL, on->error);
}
CASE(query_yes, (void)tepal_yesno_query_yes(on->filter, news[0]))
CASE(yesno_names, enum tepal_yesno_method m = TEPAL_YESNO_LOCAL_SEARCH;
     (void)tepal_yesno_method_parse(tepal_yesno_method_name(m), &m))

static enum tepal_status case_retouch(struct stage *on)
{
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    return tepal_retouch(on->filter, &known, &options, on->allocator, &on->out, NULL, NULL,
                         on->error);
}

static enum tepal_status case_curve(struct stage *on)
{
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_point points[8];
    size_t count;
    return tepal_retouch_curve(on->filter, &known, &options, on->allocator, points, COUNT(points),
                               &count, NULL, on->error);
}
CASE(retouch_names, enum tepal_retouch_method m = TEPAL_RETOUCH_BEST;
     (void)tepal_retouch_method_parse(tepal_retouch_method_name(m), &m))

static enum tepal_status case_exceptions(struct stage *on)
{
    memset(answers, 0xff, sizeof answers);
    return tepal_exceptions_create(on->filter, members, KEYS, answers, on->allocator, &on->list,
                                   on->error);
}

/* A list of its own, from the default allocator; then all that is done with one. */
static enum tepal_status case_exceptions_use(struct stage *on)
{
    struct tepal_exceptions *list = NULL;
    uint8_t bytes[48 + 16 * KEYS];
    memset(answers, 0xff, sizeof answers);
    assert_ok(tepal_exceptions_create(on->filter, members, KEYS, answers, NULL, &list, NULL));
    assert_int_equal(tepal_exceptions_count(list), KEYS);
    assert_true(tepal_exceptions_query(list, members[0]));
    assert_true(tepal_exceptions_belong(list, on->filter));
    assert_true(tepal_exceptions_encoded_bytes(list) == sizeof bytes);
    assert_ok(tepal_exceptions_encode(list, bytes, sizeof bytes, NULL));
    tepal_exceptions_free(list);
    return tepal_exceptions_decode(bytes, sizeof bytes, on->allocator, &on->list, on->error);
}

/* ---- counting.h ------------------------------------------------------------------------------ */

TRY(counting_add, tepal_counting_add(on->filter, news[0], groups))
TRY(counting_add_many, tepal_counting_add_many(on->filter, news, KEYS, groups))
TRY(counting_add_offline,
    tepal_counting_add_offline(on->filter, news, KEYS, NULL, on->allocator, groups, on->error))
CASE(counting_groups, (void)tepal_counting_groups(on->filter, members[0]))
CASE(counting_removable, (void)tepal_counting_removable(on->filter, members[0]))
CASE(counting_remove_group, (void)tepal_counting_remove_group(on->filter, members[0], 0))
TRY(counting_remove_many,
    tepal_counting_remove_many(on->filter, members, NULL, KEYS, answers, NULL))
CASE(counting_positions, uint64_t at[TEPAL_MAX_HASHES];
     (void)tepal_counting_positions(on->filter, members[0], 0, at))
CASE(counting_at, (void)tepal_counting_at(on->filter, 1))
CASE(counting_histogram, uint64_t histogram[TEPAL_MAX_COUNTER + 1];
     (void)tepal_counting_histogram(on->filter, histogram))
TRY(counting_to_bloom, tepal_counting_to_bloom(on->filter, on->allocator, &on->out, on->error))
TRY(counting_strip, tepal_counting_strip(on->filter, on->allocator, &on->out, on->error))
TRY(counting_difference,
    tepal_counting_difference(on->filter, on->other, on->allocator, &on->out, NULL, on->error))

static enum tepal_status case_counting_audit(struct stage *on)
{
    struct tepal_report report;
    return tepal_counting_audit(on->filter, members, NULL, KEYS, NULL, on->allocator, NULL, &report,
                                on->error);
}
TRY(counting_repair,
    tepal_counting_repair(on->filter, members, NULL, KEYS, NULL, on->allocator, NULL, on->error))

/* ---- file.h, receive.h ----------------------------------------------------------------------- */

static enum tepal_status case_encode(struct stage *on)
{
    size_t len = (size_t)tepal_encoded_bytes(on->filter);
    uint8_t *bytes = malloc(len);
    assert_non_null(bytes);
    assert_ok(tepal_encode(on->filter, bytes, len, on->error));
    assert_ok(tepal_encode_range(on->filter, len / 2, bytes, len / 4, on->error));
    free(bytes);
    return TEPAL_OK;
}
TRY(decode, tepal_decode(on->bytes, on->len, on->allocator, &on->out, on->error))

static enum tepal_status case_decoder(struct stage *on)
{
    struct tepal_decoder *decoder = NULL;
    enum tepal_status status = tepal_decoder_create(0, on->allocator, &decoder, on->error);
    for (size_t at = 0; status == TEPAL_OK && at < on->len; at += 100) {
        size_t piece = on->len - at < 100 ? on->len - at : 100;
        status = tepal_decoder_feed(decoder, on->bytes + at, piece, on->error);
        (void)tepal_decoder_payload(decoder, &piece);
    }
    if (status == TEPAL_OK) {
        status = tepal_decoder_finish(decoder, &on->out, on->error);
    }
    tepal_decoder_free(decoder);
    return status;
}

static enum tepal_status case_save(struct stage *on)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    bool fits = on->len < 60000; /* what a pipe takes without a reader */
    enum tepal_status status = fits ? tepal_save_fd(on->filter, ends[1], on->error) : TEPAL_OK;
    (void)close(ends[0]);
    (void)close(ends[1]);
    assert_ok(status);
    return tepal_save(on->filter, on->path, on->error);
}
TRY(load, tepal_load(on->path, on->allocator, &on->out, on->error))

/* From a pipe, where the memory grows in steps; the judged one too. */
static enum tepal_status from_pipe(struct stage *on, const struct tepal_terms *terms)
{
    struct tepal_judgement judgement;
    char command[128];
    (void)snprintf(command, sizeof command, "cat %s 2>/dev/null", on->path);
    FILE *in = popen(command, "r");
    assert_non_null(in);
    enum tepal_status status =
        terms == NULL
            ? tepal_load_fd(fileno(in), on->allocator, &on->out, on->error)
            : tepal_receive_fd(fileno(in), terms, on->allocator, &on->out, &judgement, on->error);
    (void)pclose(in);
    return status;
}
TRY(load_fd, from_pipe(on, NULL))
TRY(map, tepal_map(on->path, TEPAL_MAP_VERIFY, on->allocator, &on->out, on->error))

static enum tepal_status case_receive(struct stage *on)
{
    struct tepal_judgement judgement;
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    terms.max_fp = 1;
    return tepal_receive(on->bytes, on->len, &terms, on->allocator, &on->out, &judgement,
                         on->error);
}

static enum tepal_status case_receive_fd(struct stage *on)
{
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    terms.max_fp = 1;
    return from_pipe(on, &terms);
}

static enum tepal_status case_judge(struct stage *on)
{
    struct tepal_judgement judgement;
    struct tepal_report report;
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    enum tepal_status status = tepal_judge(on->filter, &terms, &judgement, on->error);
    tepal_judgement_report(&judgement, &report);
    assert_true(strlen(tepal_verdict_name(judgement.verdict)) > 0);
    return status;
}

/* ---- filter.h -------------------------------------------------------------------------------- */

TRY(create, tepal_filter_create(&on->s->params, on->allocator, &on->out, on->error))
/* Its memory is the default allocator's, which cannot be made to fail; else it is the same call. */
TRY(create_for_rate,
    tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 100, 0.01, 1, &on->out, on->error))
CASE(free, tepal_filter_free(NULL))
TRY(clone, tepal_filter_clone(on->filter, on->allocator, &on->out, on->error))
CASE(set_key, (void)tepal_filter_set_key(on->filter, recipe_key))
CASE(hasher, struct tepal_hasher hasher; (void)tepal_filter_hasher(on->filter, &hasher))
TRY(add, tepal_filter_add(on->filter, news[0]))
TRY(add_bytes, tepal_filter_add_bytes(on->filter, "x", 1))
TRY(add_u64, tepal_filter_add_u64(on->filter, 1))
TRY(add_many, tepal_filter_add_many(on->filter, news, KEYS))
TRY(add_bytes_many, tepal_filter_add_bytes_many(on->filter, pointers, lens, KEYS))
TRY(add_packed_many, tepal_filter_add_packed_many(on->filter, news, offsets, KEYS))
TRY(add_u64_many, tepal_filter_add_u64_many(on->filter, numbers, KEYS))
TRY(add_fixed_many, tepal_filter_add_fixed_many(on->filter, numbers, 8, KEYS))

static enum tepal_status case_test_add(struct stage *on)
{
    bool was;
    return tepal_filter_test_add(on->filter, news[0], &was);
}

static enum tepal_status case_test_add_bytes(struct stage *on)
{
    bool was;
    return tepal_filter_test_add_bytes(on->filter, "x", 1, &was);
}

static enum tepal_status case_test_add_u64(struct stage *on)
{
    bool was;
    return tepal_filter_test_add_u64(on->filter, 1, &was);
}
TRY(test_add_many, tepal_filter_test_add_many(on->filter, news, KEYS, answers, NULL))
CASE(query, (void)tepal_filter_query(on->filter, news[0]);
     (void)tepal_filter_query_bytes(on->filter, "x", 1);
     (void)tepal_filter_query_u64(on->filter, 1))
CASE(query_many, (void)tepal_filter_query_many(on->filter, news, KEYS, answers))
CASE(query_bytes_many,
     (void)tepal_filter_query_bytes_many(on->filter, pointers, lens, KEYS, answers))
CASE(query_packed_many,
     (void)tepal_filter_query_packed_many(on->filter, news, offsets, KEYS, answers))
CASE(query_u64_many, (void)tepal_filter_query_u64_many(on->filter, numbers, KEYS, answers))
CASE(query_fixed_many, (void)tepal_filter_query_fixed_many(on->filter, numbers, 8, KEYS, answers))
CASE(remove, (void)tepal_filter_remove(on->filter, members[0]);
     (void)tepal_filter_remove_bytes(on->filter, "x", 1);
     (void)tepal_filter_remove_u64(on->filter, 1))
CASE(remove_many, (void)tepal_filter_remove_many(on->filter, members, KEYS, NULL))
TRY(clear, tepal_filter_clear(on->filter))
TRY(unite, tepal_filter_unite(on->filter, on->other))
TRY(intersect, tepal_filter_intersect(on->filter, on->other))
CASE(equal, (void)tepal_filter_equal(on->filter, on->other))

static enum tepal_status case_tell(struct stage *on)
{
    const struct tepal_filter *f = on->filter;
    struct tepal_report report;
    size_t words;
    assert_non_null(tepal_filter_kind(f));
    assert_non_null(tepal_filter_params(f));
    assert_false(tepal_filter_read_only(f) || tepal_filter_needs_key(f));
    assert_true(tepal_filter_keys_added(f) > 0 && tepal_filter_memory_bytes(f) > 0);
    assert_true(tepal_filter_keys_now(f) <= tepal_filter_keys_added(f));
    (void)tepal_filter_copies(f, news[0]);
    (void)tepal_filter_words(f, &words);
    (void)tepal_filter_ones(f);
    (void)tepal_filter_fp_now(f);
    tepal_filter_summary(f, &report);
    tepal_filter_info(f, &report);
    return tepal_filter_validate(f, on->error);
}

/* ---- generalized.h, recycling.h, states.h, header.h, inline.h -------------------------------- */

static enum tepal_status case_generalized(struct stage *on)
{
    struct tepal_generalized_trace trace;
    static uint64_t mask[KINDS_CELLS / 64];
    bool found;
    (void)tepal_generalized_age(on->filter, members[0], 100, &trace);
    assert_ok(tepal_generalized_touch(on->filter, members[0], mask));
    return tepal_generalized_query_wild(on->filter, members[1], mask, &found);
}

CASE(recycling, struct tepal_recycling_figures figures; uint64_t left;
     assert_ok(tepal_recycling_on_recycle(on->filter, NULL, NULL));
     (void)tepal_recycling_clear_ahead(on->filter, 64, &left);
     assert_ok(tepal_recycling_recycle(on->filter));
     assert_ok(tepal_recycling_set_clock(on->filter, 100000));
     assert_ok(tepal_recycling_get_figures(on->filter, &figures)))

static enum tepal_status case_by_average(struct stage *on)
{
    enum tepal_status status =
        tepal_recycling_by_average(on->filter, 0.01, on->allocator, &on->out, on->error);
    return status == TEPAL_UNSUPPORTED ? TEPAL_OK : status; /* by its flags */
}

static struct tepal_states table_of(const struct stage *on)
{
    return (struct tepal_states){on->filter, 4, TEPAL_STATES_ONE};
}

static enum tepal_status case_states_set(struct stage *on)
{
    struct tepal_states table = table_of(on);
    (void)tepal_states_get(&table, news[0], NULL);
    return tepal_states_set(&table, news[0], 1);
}

static enum tepal_status case_states_update(struct stage *on)
{
    struct tepal_states table = table_of(on);
    return tepal_states_update(&table, news[0], TEPAL_STATE_ANY, 2, NULL);
}

static struct tepal_header_layout small_header(void)
{
    struct tepal_header_layout layout;
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.cells = 256;
    params.hashes = 4;
    assert_ok(tepal_header_layout_init(&params, &layout, NULL));
    return layout;
}

static enum tepal_status case_header(struct stage *on)
{
    struct tepal_header_layout layout = small_header();
    uint64_t mask[4];
    uint64_t header[4] = {0};
    uint32_t table[8 * 8];
    uint8_t bytes[32];
    (void)on;
    assert_int_equal(tepal_header_table_words(&layout, 8), COUNT(table));
    memset(table, 0, sizeof table);
    tepal_header_mask(&layout, news[0], mask);
    (void)tepal_header_match(&layout, header, mask);
    tepal_header_table_put(&layout, 3, mask, table);
    (void)tepal_header_match_many(&layout, header, table, 8, answers);
    tepal_header_pack(&layout, header, bytes);
    tepal_header_unpack(&layout, bytes, header);
    (void)tepal_header_from_filter(&layout, on->filter, header);
    return TEPAL_OK;
}

static enum tepal_status case_to_filter(struct stage *on)
{
    struct tepal_header_layout layout = small_header();
    uint64_t header[4] = {7, 7, 7, 7};
    return tepal_header_to_filter(&layout, header, on->allocator, &on->out, on->error);
}
CASE(direct, struct tepal_direct direct; assert_ok(tepal_direct_of(on->filter, &direct)))

/* ---- plan.h ---------------------------------------------------------------------------------- */

/* Plans that have a feasible one of the specimen's kind: that one, or NULL. */
static const struct tepal_proposal *plan_for(const struct stage *on)
{
    static struct tepal_plans plans;
    struct tepal_wish wish = TEPAL_WISH_INIT;
    wish.keys = KEYS;
    wish.fp = 0.05;
    enum tepal_kind_id kind = on->s->params.kind;
    bool vetoes = kind == TEPAL_KIND_YESNO || kind == TEPAL_KIND_CASCADE;
    wish.known_negatives = vetoes || kind == TEPAL_KIND_RETOUCHED ? KEYS : 0;
    wish.fn = kind == TEPAL_KIND_RETOUCHED ? 0.1 : NAN;
    wish.endless = kind == TEPAL_KIND_RECYCLING;
    wish.keys_first = kind == TEPAL_KIND_GROWING || kind == TEPAL_KIND_CHAIN ? KEYS / 4 : 0;
    assert_ok(tepal_plan(&wish, &plans, NULL));
    for (size_t i = 0; i < plans.count; i++) {
        if (plans.plan[i].feasible && plans.plan[i].kind == kind) {
            (void)tepal_plans_json(&plans, NULL, 0);
            return &plans.plan[i];
        }
    }
    return NULL;
}

static enum tepal_status case_plan(struct stage *on)
{
    const struct tepal_proposal *plan = plan_for(on);
    char text[100];
    if (plan != NULL) {
        (void)tepal_plan_json(plan, text, sizeof text);
        (void)tepal_plan_streams(plan);
        assert_ok(tepal_plan_check(plan, on->error));
    }
    return TEPAL_OK;
}

static enum tepal_status case_plan_build(struct stage *on)
{
    const struct tepal_proposal *plan = plan_for(on);
    struct tepal_plan_input input = {.seed = 3, .known = known};
    return plan == NULL ? TEPAL_OK
                        : tepal_plan_build(plan, &input, on->allocator, &on->out, NULL, on->error);
}

static enum tepal_status case_plan_create(struct stage *on)
{
    const struct tepal_proposal *plan = plan_for(on);
    return plan == NULL || !tepal_plan_streams(plan)
               ? TEPAL_OK
               : tepal_plan_create(plan, 3, NULL, on->allocator, &on->out, on->error);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The kinds that a call is for, as bits; ANY: all. */
#define OF(kind) (1u << TEPAL_KIND_##kind)
#define ANY      UINT32_MAX
#define COUNTED  (OF(COUNTING))
#define REMOVES  (OF(COUNTING) | OF(FINGERPRINT) | OF(GROWING))

static const struct {
    const char *names; /* that the case calls, without "tepal_", separated by blanks */
    call *make;
    unsigned kinds;
    unsigned least; /* requests that it makes at least for some filter; 0: it makes none for any */
    bool crowded;   /* what grows is about to */
} calls[] = {
    {"avoid_budget", case_avoid_budget, OF(BLOOM) | OF(RETOUCHED) | OF(COUNTING), 0, false},
    {"avoid", case_avoid, OF(RETOUCHED) | OF(COUNTING), 1, false},
    {"bloom_add_atomic", case_add_atomic, OF(BLOOM), 0, false},
    {"bloom_query_atomic", case_query_atomic, OF(BLOOM), 0, false},
    {"bloom_fold", case_fold, OF(BLOOM), 2, false},
    {"bloom_relayout", case_relayout, OF(BLOOM), 2, false},
    {"cascade_build", case_cascade_build, OF(CASCADE), 4, false},
    {"yesno_build", case_yesno_build, OF(YESNO), 4, false},
    {"yesno_veto_later", case_veto_later, OF(YESNO), 1, false},
    {"yesno_query_yes", case_query_yes, OF(YESNO), 0, false},
    {"yesno_method_name yesno_method_parse", case_yesno_names, OF(YESNO), 0, false},
    {"retouch", case_retouch, OF(BLOOM) | OF(RETOUCHED) | OF(GENERALIZED), 4, false},
    {"retouch_curve", case_curve, OF(BLOOM) | OF(RETOUCHED) | OF(GENERALIZED), 4, false},
    {"retouch_method_name retouch_method_parse", case_retouch_names, OF(BLOOM), 0, false},
    {"exceptions_create exceptions_free", case_exceptions, OF(RETOUCHED), 1, false},
    {"exceptions_decode exceptions_count exceptions_query exceptions_belong "
     "exceptions_encoded_bytes exceptions_encode",
     case_exceptions_use, OF(RETOUCHED), 1, false},
    {"counting_add", case_counting_add, COUNTED, 0, false},
    {"counting_add_many", case_counting_add_many, COUNTED, 0, false},
    {"counting_add_offline", case_counting_add_offline, COUNTED, 1, false},
    {"counting_groups", case_counting_groups, COUNTED, 0, false},
    {"counting_removable", case_counting_removable, COUNTED, 0, false},
    {"counting_remove_group", case_counting_remove_group, COUNTED, 0, false},
    {"counting_remove_many", case_counting_remove_many, COUNTED, 0, false},
    {"counting_positions", case_counting_positions, COUNTED, 0, false},
    {"counting_at", case_counting_at, COUNTED, 0, false},
    {"counting_histogram", case_counting_histogram, COUNTED, 0, false},
    {"counting_to_bloom", case_counting_to_bloom, COUNTED, 2, false},
    {"counting_strip", case_counting_strip, COUNTED, 2, false},
    {"counting_difference", case_counting_difference, COUNTED, 2, false},
    {"counting_audit", case_counting_audit, COUNTED, 1, false},
    {"counting_repair", case_counting_repair, COUNTED, 1, false},
    {"encode encode_range encoded_bytes", case_encode, ANY, 0, false},
    {"decode", case_decode, ANY, 2, false},
    {"decoder_create decoder_feed decoder_payload decoder_finish decoder_free", case_decoder, ANY,
     3, false},
    {"save save_fd", case_save, ANY, 0, false},
    {"load", case_load, ANY, 2, false},
    {"load_fd", case_load_fd, OF(BLOOM) | OF(CHAIN), 2, false},
    {"map", case_map, ANY, LITTLE_ENDIAN_HOST, false},
    {"receive", case_receive, OF(BLOOM) | OF(GENERALIZED) | OF(FINGERPRINT), 2, false},
    {"receive_fd", case_receive_fd, OF(BLOOM), 2, false},
    {"judge judgement_report verdict_name", case_judge, ANY, 0, false},
    {"filter_create", case_create, ANY, 2, false},
    {"filter_create_for_rate", case_create_for_rate, OF(BLOOM), 0, false},
    {"filter_free", case_free, OF(BLOOM), 0, false},
    {"filter_clone", case_clone, ANY, 2, false},
    {"filter_set_key", case_set_key, ANY, 0, false},
    {"filter_hasher", case_hasher, ANY, 0, false},
    {"filter_add", case_add, ANY, 1, true},
    {"filter_add_bytes", case_add_bytes, ANY, 1, true},
    {"filter_add_u64", case_add_u64, ANY, 1, true},
    {"filter_add_many", case_add_many, ANY, 1, false}, /* what grows */
    {"filter_add_bytes_many", case_add_bytes_many, ANY, 1, false},
    {"filter_add_packed_many", case_add_packed_many, ANY, 1, false},
    {"filter_add_u64_many", case_add_u64_many, ANY, 1, false},
    {"filter_add_fixed_many", case_add_fixed_many, ANY, 1, false},
    {"filter_test_add", case_test_add, ANY, 1, true},
    {"filter_test_add_bytes", case_test_add_bytes, ANY, 1, true},
    {"filter_test_add_u64", case_test_add_u64, ANY, 1, true},
    {"filter_test_add_many", case_test_add_many, ANY, 1, false},
    {"filter_query filter_query_bytes filter_query_u64", case_query, ANY, 0, false},
    {"filter_query_many", case_query_many, ANY, 0, false},
    {"filter_query_bytes_many", case_query_bytes_many, ANY, 0, false},
    {"filter_query_packed_many", case_query_packed_many, ANY, 0, false},
    {"filter_query_u64_many", case_query_u64_many, ANY, 0, false},
    {"filter_query_fixed_many", case_query_fixed_many, ANY, 0, false},
    {"filter_remove filter_remove_bytes filter_remove_u64", case_remove, ANY, 0, false},
    {"filter_remove_many", case_remove_many, ANY, 0, false},
    {"filter_clear", case_clear, ANY, 0, false},
    {"filter_unite", case_unite, OF(BLOOM) | OF(COUNTING) | OF(GROWING) | OF(CHAIN), 1, false},
    {"filter_intersect", case_intersect, OF(BLOOM), 0, false},
    {"filter_equal", case_equal, ANY, 0, false},
    {"filter_kind filter_params filter_read_only filter_needs_key filter_keys_added "
     "filter_keys_now filter_copies filter_memory_bytes filter_words filter_ones filter_fp_now "
     "filter_summary filter_info "
     "filter_validate",
     case_tell, ANY, 0, false},
    {"generalized_age generalized_touch generalized_query_wild", case_generalized, OF(GENERALIZED),
     0, false},
    {"recycling_set_clock recycling_recycle recycling_clear_ahead recycling_on_recycle "
     "recycling_get_figures",
     case_recycling, OF(RECYCLING), 0, false},
    {"recycling_by_average", case_by_average, OF(RECYCLING), 2, false},
    {"states_get states_set", case_states_set, REMOVES, 1, true},
    {"states_update", case_states_update, REMOVES, 1, true},
    {"header_layout_init header_mask header_match header_table_words header_table_put "
     "header_match_many header_pack header_unpack header_from_filter",
     case_header, OF(BLOOM), 0, false},
    {"header_to_filter", case_to_filter, OF(BLOOM), 2, false},
    {"direct_of", case_direct, ANY, 0, false},
    {"plan plan_json plans_json plan_check plan_streams", case_plan, ANY, 0, false},
    {"plan_build", case_plan_build, ANY, 2, false},
    {"plan_create", case_plan_create, ANY, 2, false},
};

/* ---- every request refused ------------------------------------------------------------------- */

static struct tepal_filter *filled(const struct specimen *s, const struct tepal_digest *keys,
                                   size_t count, const struct tepal_allocator *allocator)
{
    struct tepal_filter *f = specimen_with(s, false, allocator);
    specimen_assert(s, tepal_filter_add_many(f, keys, count) == TEPAL_OK);
    return f;
}

/* More keys, so many or, if that is 0, until a key has asked for memory. Returns how many. */
static size_t crowd(struct tepal_filter *f, const struct memory *m, size_t count)
{
    uint64_t state = 5;
    unsigned before = m->calls;
    size_t i = 0;
    while (count > 0 ? i < count : m->calls == before) {
        assert_ok(tepal_filter_add(f, check_digest(&state)));
        i++;
    }
    return i;
}

/* A filter that grows asks with the next key. */
static void crowd_to_the_brim(const struct specimen *s, struct tepal_filter *f, struct memory *m)
{
    struct memory own = {0};
    struct tepal_allocator allocator = memory_allocator(&own);
    if (s->params.kind == TEPAL_KIND_GROWING ||
        (s->params.kind == TEPAL_KIND_CHAIN && s->params.chain.growth > 0)) {
        struct tepal_filter *probe = filled(s, members, KEYS, &allocator);
        size_t enough = crowd(probe, &own, 0);
        if (enough > 1) {
            (void)crowd(f, m, enough - 1);
        }
        tepal_filter_free(probe);
        assert_int_equal(own.live, 0);
    }
}

/* May a filter make do without the memory that it asked for? It gets more crowded instead. */
static bool makes_do(const struct specimen *s)
{
    return s->params.kind == TEPAL_KIND_GROWING;
}

/* Is it for this filter? Plans depend on the kind alone: one of each will do. */
static bool is_for(size_t which, size_t i)
{
    const struct specimen *s = &all.at[i];
    bool plans = strncmp(calls[which].names, "plan", 4) == 0;
    for (size_t j = 0; plans && j < i; j++) {
        plans = all.at[j].params.kind != s->params.kind;
        if (!plans) {
            return false;
        }
    }
    return (calls[which].kinds >> s->params.kind & 1) != 0 &&
           !(s->built && calls[which].make == case_create);
}

/* The call with request n refused. Returns whether it asked so often. */
static bool refuse(size_t which, const struct specimen *s, unsigned n)
{
    struct memory m = {0};
    struct tepal_allocator allocator = memory_allocator(&m);
    struct tepal_error error = {TEPAL_OK, -1, UINT64_MAX, NULL};
    struct stage on = {.s = s, .allocator = &allocator, .error = n % 2 == 0 ? NULL : &error};
    size_t len;
    on.filter = filled(s, members, KEYS, &allocator);
    on.other = filled(s, news, KEYS / 2, NULL);
    if (calls[which].make == case_avoid) {
        assert_ok(tepal_avoid_budget(on.filter, 50, NULL));
    }
    if (calls[which].crowded) {
        crowd_to_the_brim(s, on.filter, &m);
    }
    on.bytes = encoded(on.filter, &on.len);
    (void)snprintf(on.path, sizeof on.path, "/tmp/tepal-alloc-calls-%ld", (long)getpid());
    if (strstr(calls[which].names, "load") || strstr(calls[which].names, "map") ||
        strstr(calls[which].names, "_fd")) {
        assert_ok(tepal_save(on.filter, on.path, NULL));
    }
    uint64_t keys = tepal_filter_keys_added(on.filter);
    unsigned before = m.calls;
    m.fail_at = before + n;
    enum tepal_status status = calls[which].make(&on);
    bool refused = m.calls >= m.fail_at;
    if (!refused) {
        if (status == TEPAL_NO_MEMORY) {
            fail_msg("%s, %s: out of memory, though there was some", calls[which].names, s->name);
        }
    } else if (status != TEPAL_OK || !makes_do(s)) {
        if (status != TEPAL_NO_MEMORY || on.out != NULL || on.list != NULL) {
            fail_msg("%s, %s, request %u: %s", calls[which].names, s->name, n,
                     tepal_status_name(status));
        }
        assert_true(on.error == NULL || error.status == TEPAL_OK ||
                    error.status == TEPAL_NO_MEMORY);
        uint8_t *now = encoded(on.filter, &len);
        bool same = len == on.len && memcmp(now, on.bytes, len) == 0;
        free(now);
        if (makes_do(s)) { /* a batch that was taken back leaves the new size */
            same = tepal_filter_keys_added(on.filter) == keys;
            for (size_t i = 0; i < KEYS; i++) {
                same = same && tepal_filter_query(on.filter, members[i]);
            }
        }
        if (!same) {
            fail_msg("%s, %s, request %u: the filter has changed", calls[which].names, s->name, n);
        }
    }
    assert_ok(tepal_filter_validate(on.filter, NULL));
    m.fail_at = 0;
    tepal_filter_free(on.out);
    tepal_exceptions_free(on.list);
    tepal_filter_free(on.filter);
    tepal_filter_free(on.other);
    assert_int_equal(m.live, 0);
    (void)unlink(on.path);
    free((void *)(uintptr_t)on.bytes);
    return refused;
}

static void every_request_of_every_call(void **unused)
{
    (void)unused;
    for (size_t which = 0; which < COUNT(calls); which++) {
        unsigned most = 0;
        unsigned made = 0;
        for (size_t i = 0; i < all.count; i++) {
            const struct specimen *s = &all.at[i];
            if (!is_for(which, i)) {
                continue;
            }
            unsigned n = 1;
            while (refuse(which, s, n)) {
                n += n < 20 ? 1 : n / 8; /* growth in many small steps: not each of them */
            }
            most = n - 1 > most ? n - 1 : most;
            made++;
        }
        assert_true(made > 0);
        if (calls[which].least == 0 ? most > 0 : most < calls[which].least) {
            fail_msg("%s asks %u times", calls[which].names, most);
        }
    }
}

/* ---- the list of calls ----------------------------------------------------------------------- */

static bool is_listed(const char *name, size_t len)
{
    for (size_t i = 0; i < COUNT(calls); i++) {
        for (const char *at = calls[i].names; at != NULL;) {
            at = at[0] == ' ' ? at + 1 : at;
            if (strcspn(at, " ") == len && strncmp(at, name, len) == 0) {
                return true;
            }
            at = strchr(at, ' ');
        }
    }
    return false;
}

/* The names of functions in a header, by the macro that every one begins with. */
static unsigned check_header(const char *path, unsigned *missing)
{
    static char text[200000];
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    size_t len = fread(text, 1, sizeof text - 1, in);
    assert_true(len < sizeof text - 1);
    text[len] = 0;
    (void)fclose(in);
    unsigned count = 0;
    for (const char *at = strstr(text, "\nTEPAL_API "); at != NULL;
         at = strstr(at, "\nTEPAL_API ")) {
        const char *end = strchr(at, '(');
        assert_non_null(end);
        const char *name = end;
        while (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z') ||
               (name[-1] >= '0' && name[-1] <= '9')) {
            name--;
        }
        assert_true(strncmp(name, "tepal_", 6) == 0);
        if (!is_listed(name + 6, (size_t)(end - name) - 6)) {
            print_error("%.*s of %s is not in the table\n", (int)(end - name), name, path);
            (*missing)++;
        }
        count++;
        at = end;
    }
    return count;
}

static void no_call_is_missing(void **unused)
{
    (void)unused;
    /* shape.sh: what these are made of calls nothing that allocates */
    static const char *const numbers_alone[] = {"papers.h", "hash.h", "model.h", "params.h",
                                                "base.h"};
    char folder[4000];
    const char *slash = strrchr(__FILE__, '/');
    (void)snprintf(folder, sizeof folder, "%.*s/../include/tepal",
                   slash == NULL ? 1 : (int)(slash - __FILE__), slash == NULL ? "." : __FILE__);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    unsigned missing = 0;
    unsigned count = 0;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char path[4300];
        bool skip = strchr(entry->d_name, '.') == NULL || entry->d_name[0] == '.';
        for (size_t i = 0; i < COUNT(numbers_alone); i++) {
            skip = skip || strcmp(entry->d_name, numbers_alone[i]) == 0;
        }
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        count += skip ? 0 : check_header(path, &missing);
    }
    (void)closedir(dir);
    assert_int_equal(missing, 0);
    assert_true(count > 100);
}

int main(void)
{
    uint64_t state = 99;
    specimens_init(&all);
    check_digests(&state, members, KEYS);
    check_digests(&state, news, KEYS);
    for (size_t i = 0; i < KEYS; i++) {
        numbers[i] = check_random(&state);
        pointers[i] = &news[i];
        lens[i] = 1 + i % sizeof news[i];
        offsets[i + 1] = offsets[i] + lens[i];
    }
    for (size_t i = 0; i < all.count; i++) { /* built ones: of the same members */
        memcpy(all.at[i].known, members, sizeof members);
        memcpy(all.at[i].known + KINDS_KNOWN, news, sizeof news);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_call_is_missing),
        cmocka_unit_test(every_request_of_every_call),
    };
    return cmocka_run_group_tests_name("alloc_calls", tests, NULL, NULL);
}

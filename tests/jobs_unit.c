/*
 * jobs_unit.c: work on several threads (tool/input): the lanes by themselves, in every mode and
 * ended at any point; the feed against a naive split, for 1, 2 and 7 jobs; filters filled by
 * several threads against one thread. Runs with the thread sanitizer, too.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "cli/options.h"
#include "input/adder.h"

static const unsigned job_numbers[] = {1, 2, 7};
#define EACH_JOBS(jobs)                                                                            \
    for (size_t nth_ = 0; nth_ < 3 && ((jobs) = job_numbers[nth_], true); nth_++)

/* ---- lanes ----------------------------------------------------------------------------------- */

struct piece {
    uint64_t number;
    unsigned worked;
};

struct pieces {
    struct piece piece[2 * LANES_MOST + 2];
    void *slot[2 * LANES_MOST + 2];
    uint64_t taken; /* by one at a time: a race here is one that the sanitizer finds */
    uint64_t all;   /* UINT64_MAX: after 20, `take` waits for `wake` */
    unsigned jobs;
    int wake[2];
};

static bool take_piece(void *context, void *slot)
{
    struct pieces *p = context;
    struct piece *piece = slot;
    char byte;
    if (p->all == UINT64_MAX && p->taken == 20) {
        return read(p->wake[0], &byte, 1) != 1;
    }
    piece->number = p->taken;
    piece->worked = 0;
    return p->taken < p->all && ++p->taken > 0;
}

static void work_on_piece(void *context, void *slot, unsigned lane)
{
    const struct pieces *p = context;
    struct piece *piece = slot;
    assert_true(lane < p->jobs);
    for (uint64_t i = piece->number * 7919 % 5; i > 0; i--) {
        sched_yield(); /* pieces end in another order than they began */
    }
    piece->worked++;
}

static void interrupt_taking(void *context)
{
    const struct pieces *p = context;
    assert_int_equal(write(p->wake[1], "", 1), 1);
}

/* Takes `wanted` pieces (or all), checks their order, and closes. */
static void run_lanes(unsigned jobs, uint64_t all, uint64_t wanted, bool live, bool own)
{
    struct pieces p = {.all = all, .jobs = jobs, .wake = {-1, -1}};
    struct lanes_job job = {.context = &p,
                            .take = take_piece,
                            .work = work_on_piece,
                            .jobs = jobs,
                            .live = live,
                            .own = own};
    for (size_t i = 0; i < lanes_slots(jobs); i++) {
        p.slot[i] = &p.piece[i];
    }
    if (all == UINT64_MAX) {
        assert_int_equal(pipe(p.wake), 0);
        job.interrupt = interrupt_taking;
    }
    struct lanes *lanes = lanes_open(&job, p.slot);
    assert_non_null(lanes);
    uint64_t got = 0;
    struct piece *piece = NULL;
    while (got < wanted && (piece = lanes_next(lanes)) != NULL) {
        assert_int_equal(piece->number, got++);
        assert_int_equal(piece->worked, 1);
    }
    if (wanted > all) {
        assert_int_equal(got, all);
        assert_null(lanes_next(lanes));
    }
    lanes_close(lanes);
    for (size_t i = 0; i < 2 && p.wake[i] >= 0; i++) {
        close(p.wake[i]);
    }
}

static void pieces_come_in_order(void **state)
{
    static const uint64_t sizes[] = {0, 1, 2, 3, 15, 500};
    unsigned jobs;
    (void)state;
    EACH_JOBS(jobs)
    {
        for (size_t i = 0; i < COUNT(sizes); i++) {
            run_lanes(jobs, sizes[i], UINT64_MAX, false, false);
            run_lanes(jobs, sizes[i], UINT64_MAX, true, false);
            run_lanes(jobs, sizes[i], UINT64_MAX, false, true);
        }
    }
}

static void lanes_end_at_any_point(void **state)
{
    unsigned jobs;
    (void)state;
    EACH_JOBS(jobs)
    {
        for (uint64_t wanted = 0; wanted <= 20; wanted += 1 + wanted / 4) {
            run_lanes(jobs, 1000, wanted, false, false);
            run_lanes(jobs, 1000, wanted, false, true);
            /* Another thread waits for the 21st: what is done is handed out, then it is woken. */
            if (jobs > 1) {
                run_lanes(jobs, UINT64_MAX, wanted, true, false);
            }
        }
    }
}

/* ---- the feed -------------------------------------------------------------------------------- */

static const struct option options[] = {KEY_OPTIONS, OPTION_FIELD, OPTION_DELIMITER, OPTION_QUIET,
                                        OPTIONS_END};
static const struct command command = {
    .name = "jobs", .options = options, .files = true, .most_operands = SIZE_MAX};

struct line {
    struct args args;
    char jobs[16];
    struct tepal_hasher hasher;
};

static void parse(struct line *line, unsigned jobs, const char *option, const char *path,
                  const char *other)
{
    snprintf(line->jobs, sizeof line->jobs, "%u", jobs);
    char *words[] = {(char *)(uintptr_t) "--jobs", line->jobs, (char *)(uintptr_t)option,
                     (char *)(uintptr_t)path, (char *)(uintptr_t)other};
    assert_int_equal(args_parse(&line->args, NULL, &command, other == NULL ? 4 : 5, words), 0);
    tepal_hasher_init(7, &line->hasher);
}

static void write_file(const char *path, const char *text, size_t len)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* Keys of 0 to 40 bytes, some of thousands, and a last one without a separator. */
static char *odd_text(size_t keys, size_t *len)
{
    char *text = malloc(keys * 60 + 400000);
    size_t at = 0;
    assert_non_null(text);
    for (size_t i = 0; i < keys; i++) {
        size_t long_one = i % 1000 == 999 ? 3000 : i == keys / 2 ? 200000 : i * i % 41;
        memset(text + at, 'a' + (int)(i % 26), long_one);
        at += long_one;
        text[at++] = i % 3 == 0 ? '\r' : 'x';
        text[at++] = '\n';
    }
    text[at++] = 'z';
    *len = at;
    return text;
}

/* The keys of a feed, in whole blocks or not, against a naive split. */
static void expect_keys(unsigned jobs, const char *path, const char *text, size_t len, size_t most)
{
    struct line line;
    parse(&line, jobs, "-q", path, NULL);
    struct feed *feed = feed_open(&line.args, 0, &line.hasher);
    uint64_t counted;
    assert_non_null(feed);
    assert_true(feed_count(feed, &counted));
    feed->most = most;
    size_t at = 0;
    uint64_t number = 1;
    ptrdiff_t count;
    while ((count = feed_next(feed)) > 0) {
        assert_true((size_t)count <= most);
        assert_int_equal(feed_number(feed, 0), number);
        assert_string_equal(feed_subject(feed), path);
        for (ptrdiff_t i = 0; i < count; i++) {
            const char *stop = memchr(text + at, '\n', len - at);
            size_t want = (stop == NULL ? len : (size_t)(stop - text)) - at;
            assert_int_equal(feed->len[i], want);
            assert_memory_equal(feed->key[i], text + at, want);
            struct tepal_digest d = tepal_hash_bytes(&line.hasher, text + at, want);
            assert_memory_equal(&feed->digest[i], &d, sizeof d);
            at += want + 1;
        }
        number += (uint64_t)count;
    }
    assert_int_equal(count, 0);
    assert_true(at >= len);
    assert_int_equal(counted, number - 1);
    assert_int_equal(feed->total, number - 1);
    feed_close(feed);
    args_free(&line.args);
}

static void keys_are_those_of_a_naive_split(void **state)
{
    unsigned jobs;
    size_t len;
    (void)state;
    char *text = odd_text(30000, &len);
    write_file("odd", text, len);
    write_file("even", text, len - 1);
    write_file("none", "", 0);
    EACH_JOBS(jobs)
    {
        expect_keys(jobs, "odd", text, len, FEED_BATCH);
        expect_keys(jobs, "odd", text, len, SIZE_MAX);
        expect_keys(jobs, "even", text, len - 1, 3);
        expect_keys(jobs, "none", text, 0, FEED_BATCH);
    }
    free(text);
}

/* A wrong key after many: all before it come, and its number is right; then the feed is closed. */
static void wrong_keys_are_told_in_order(void **state)
{
    unsigned jobs;
    (void)state;
    FILE *file = fopen("hex", "w");
    for (int i = 0; i < 50000; i++) {
        fprintf(file, "%08x\n", i);
    }
    fputs("12x4\n", file);
    for (int i = 0; i < 50000; i++) {
        fprintf(file, "%08x\nbad\n", i);
    }
    assert_int_equal(fclose(file), 0);
    int hidden = dup(STDERR_FILENO);
    EACH_JOBS(jobs)
    {
        struct line line;
        char said[256] = "";
        int err = open("said", O_CREAT | O_TRUNC | O_RDWR, 0600);
        parse(&line, jobs, "--hex", "none", "hex");
        struct feed *feed = feed_open(&line.args, 0, &line.hasher);
        ptrdiff_t count;
        dup2(err, STDERR_FILENO);
        while ((count = feed_next(feed)) > 0) {
        }
        uint64_t total = feed->total;
        feed_close(feed);
        dup2(hidden, STDERR_FILENO);
        assert_int_equal(count, -1);
        assert_int_equal(total, 50000);
        assert_true(pread(err, said, sizeof said - 1, 0) > 0);
        assert_string_equal(said, "tepal: hex: line 50001, character 3: not a hexadecimal digit\n");
        close(err);
        args_free(&line.args);
    }
    close(hidden);
}

static void early_ends_leave_no_thread(void **state)
{
    unsigned jobs;
    (void)state;
    EACH_JOBS(jobs)
    {
        for (int batches = 0; batches < 12; batches++) {
            struct line line;
            parse(&line, jobs, "-q", "odd", "hex");
            struct feed *feed = feed_open(&line.args, 0, &line.hasher);
            for (int i = 0; i < batches; i++) {
                assert_true(feed_next(feed) > 0);
            }
            feed_close(feed);
            args_free(&line.args);
        }
    }
}

/* A pipe: what was written is handed out although nobody knows what comes; then it is closed. */
static void a_pipe_is_answered_at_once(void **state)
{
    unsigned jobs;
    (void)state;
    int before = dup(STDIN_FILENO);
    EACH_JOBS(jobs)
    {
        int ends[2];
        struct line line;
        assert_int_equal(pipe(ends), 0);
        dup2(ends[0], STDIN_FILENO);
        parse(&line, jobs, "-q", "-", NULL);
        struct feed *feed = feed_open(&line.args, 0, &line.hasher);
        for (int i = 0; i < 40; i++) {
            assert_int_equal(write(ends[1], "a\nb\nc", 5), 5);
            assert_int_equal(feed_next(feed), 2);
            assert_true(feed_live(feed));
            assert_memory_equal(feed->key[1], "b", 1);
        }
        feed_close(feed); /* and the writing end is open */
        close(ends[0]);
        close(ends[1]);
        args_free(&line.args);
    }
    dup2(before, STDIN_FILENO);
    close(before);
}

/* ---- additions ------------------------------------------------------------------------------- */

/* With `digests` the feed hashes, else the filter if it can. */
static struct tepal_filter *filled(unsigned jobs, const struct tepal_params *params, bool digests,
                                   size_t *divided)
{
    struct line line;
    struct tepal_filter *filter;
    struct adder adder;
    ptrdiff_t count;
    assert_int_equal(tepal_filter_create(params, NULL, &filter, NULL), TEPAL_OK);
    parse(&line, jobs, "-q", "many", "none");
    struct feed *feed = feed_open(&line.args, 0, &line.hasher);
    adder_open(&adder, filter, feed, digests);
    assert_int_equal(adder.bare, !digests && params->kind == TEPAL_KIND_BLOOM);
    while ((count = feed_next(feed)) > 0) {
        assert_int_equal(adder_add(&adder, (size_t)count), TEPAL_OK);
    }
    feed_close(feed);
    assert_int_equal(adder_finish(&adder), TEPAL_OK);
    *divided += adder.divided;
    adder_close(&adder);
    args_free(&line.args);
    return filter;
}

static void filters_are_the_same_for_any_number_of_jobs(void **state)
{
    static const struct {
        enum tepal_kind_id kind;
        enum tepal_layout layout;
    } each[] = {
        {TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT},         {TEPAL_KIND_BLOOM, TEPAL_LAYOUT_BLOCKED},
        {TEPAL_KIND_BLOOM, TEPAL_LAYOUT_PAIRED},       {TEPAL_KIND_COUNTING, TEPAL_LAYOUT_FLAT},
        {TEPAL_KIND_COUNTING, TEPAL_LAYOUT_BLOCKED},   {TEPAL_KIND_GENERALIZED, TEPAL_LAYOUT_FLAT},
        {TEPAL_KIND_GENERALIZED, TEPAL_LAYOUT_BLOCKED}};
    size_t divided = 0;
    (void)state;
    FILE *file = fopen("many", "w");
    for (int i = 0; i < 60000; i++) {
        fprintf(file, "key %d\n", i);
    }
    assert_int_equal(fclose(file), 0);
    for (size_t i = 0; i < COUNT(each); i++) {
        struct tepal_params params = TEPAL_PARAMS_INIT;
        params.kind = each[i].kind;
        params.layout = each[i].layout;
        params.cells = 512 * 2048;
        params.hashes = 5;
        params.seed = 7;
        if (params.kind == TEPAL_KIND_COUNTING) {
            params.counting.choices = 1;
        }
        if (params.kind == TEPAL_KIND_GENERALIZED) {
            params.generalized.reset_hashes = 2;
        }
        struct tepal_filter *one = filled(1, &params, true, &divided);
        for (size_t j = 0; j < 3; j++) {
            struct tepal_filter *other = filled(job_numbers[j], &params, false, &divided);
            size_t len = (size_t)tepal_encoded_bytes(one);
            uint8_t *a = malloc(len);
            uint8_t *b = malloc(len);
            assert_int_equal(tepal_encode(one, a, len, NULL), TEPAL_OK);
            assert_int_equal(tepal_encoded_bytes(other), len);
            assert_int_equal(tepal_encode(other, b, len, NULL), TEPAL_OK);
            assert_memory_equal(a, b, len);
            free(a);
            free(b);
            tepal_filter_free(other);
        }
        tepal_filter_free(one);
    }
    assert_int_equal(divided, 6); /* the Bloom filters of two and seven jobs */
}

static int into_folder(void **state)
{
    static char folder[] = "/tmp/tepal-jobs.XXXXXX";
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int out_of_folder(void **state)
{
    static const char *const names[] = {"odd", "even", "none", "hex", "said", "many"};
    char here[64];
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        unlink(names[i]);
    }
    return getcwd(here, sizeof here) == NULL || chdir("/") != 0 || rmdir(here) != 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_come_in_order),
        cmocka_unit_test(lanes_end_at_any_point),
        cmocka_unit_test(keys_are_those_of_a_naive_split),
        cmocka_unit_test(wrong_keys_are_told_in_order),
        cmocka_unit_test(early_ends_leave_no_thread),
        cmocka_unit_test(a_pipe_is_answered_at_once),
        cmocka_unit_test(filters_are_the_same_for_any_number_of_jobs),
    };
    return cmocka_run_group_tests(tests, into_folder, out_of_folder);
}

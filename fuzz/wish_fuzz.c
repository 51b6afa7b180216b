/*
 * wish_fuzz.c: wishes for the planner: as the words of `tepal plan`, and as numbers that a program
 * may put into them.
 *
 *     byte 0   even: words, one on each line; odd: the numbers of struct tepal_wish
 *     rest     of them; words after the line "FILE" are a file, which the word FILE names
 *
 * What must hold: a wish is refused with a reason, or gives plans. Whatever is feasible can be
 * built as far as its numbers go, keeps the limits of the wish, and the same wish gives the same
 * plans.
 */
#include <math.h>

#include <tepal/plan.h>

#include "commands.h"
#include "fail.h"
#include "must.h"
#include "plans/wish.h"

#define WORDS 24

static int is_share(double x)
{
    return isnan(x) || (x >= 0 && x <= 1);
}

static void check_plan(const struct tepal_wish *w, const struct tepal_proposal *p)
{
    MUST(memchr(p->reason, '\0', sizeof p->reason) != NULL);
    MUST(p->feasible == (p->blocked_by[0] == '\0'));
    if (p->feasible) {
        MUST(tepal_plan_check(p, NULL) == TEPAL_OK);
        MUST(is_share(p->fp) && is_share(p->fp_known) && is_share(p->fn));
        MUST(w->bits == 0 || p->bits <= w->bits);
        MUST(!(p->fn > w->fn * (1 + 1e-9)));
    }
}

static void check_wish(const struct tepal_wish *w)
{
    static struct tepal_plans plans;
    static struct tepal_plans again;
    static char text[1 << 17];
    struct tepal_error error = {.why = NULL};
    memset(&plans, 0, sizeof plans);
    memset(&again, 0, sizeof again);
    enum tepal_status status = tepal_plan(w, &plans, &error);
    MUST(status == TEPAL_OK || (status == TEPAL_BAD_ARGUMENT && strlen(error.why) > 10));
    if (status != TEPAL_OK) {
        return;
    }
    MUST(plans.count > 0 && plans.count <= TEPAL_MAX_PLANS);
    for (size_t i = 0; i < plans.count; i++) {
        check_plan(w, &plans.plan[i]);
    }
    MUST(plans.plan[0].feasible == (plans.blocked_by[0] == '\0'));
    size_t len = tepal_plans_json(&plans, text, sizeof text);
    MUST(len < sizeof text && strlen(text) == len);
    MUST(tepal_plan(w, &again, NULL) == TEPAL_OK && again.count == plans.count);
    MUST(again.plan[0].kind == plans.plan[0].kind && again.plan[0].bits == plans.plan[0].bits);
}

/* The rest of the text behind the line "FILE"; the text ends before it. */
static const char *cut_file(const char *text, size_t *len, size_t *rest)
{
    const char *found = memmem(text, *len, "\nFILE\n", 6);
    *rest = 0;
    while (found != NULL && memmem(found + 1, *len - (size_t)(found + 1 - text), "\nFILE\n", 6)) {
        found = memmem(found + 1, *len - (size_t)(found + 1 - text), "\nFILE\n", 6);
    }
    if (found == NULL) {
        return text;
    }
    const char *file = found + 6;
    *rest = *len - (size_t)(file - text);
    *len = (size_t)(found + 1 - text);
    return file;
}

/* The words of the text, cut where its lines end; those that name files are left out. */
static int cut(char *text, size_t len, char *word[WORDS])
{
    int count = 0;
    char *end = text + len;
    while (text < end && count < WORDS) {
        char *line_end = memchr(text, '\n', (size_t)(end - text));
        if (line_end == NULL) {
            break;
        }
        *line_end = '\0';
        if (strpbrk(text, "/.-") == NULL || strncmp(text, "--", 2) == 0 ||
            strpbrk(text, "0123456789")) {
            word[count++] = strcmp(text, "-") == 0 ? line_end : text;
        }
        text = line_end + 1;
    }
    return count;
}

struct words {
    int count;
    char **word;
};

static void read_failing(void *context)
{
    const struct words *words = context;
    struct args args = {.operands = 0};
    struct wish w;
    const struct command *plan = command_find(tepal_program.commands, "plan");
    if (args_parse(&args, &tepal_program, plan, words->count, words->word) == EXIT_YES) {
        (void)wish_read(&args, 0, NULL, &w);
        wish_free(&w);
    }
    args_free(&args);
}

static void try_words(char *text, size_t len)
{
    struct args args = {.operands = 0};
    char *word[WORDS];
    char path[MUST_PATH];
    size_t rest;
    const char *bytes = cut_file(text, &len, &rest);
    int fd = must_file(bytes, rest, path);
    int count = cut(text, len, word);
    for (int i = 0; i < count; i++) {
        word[i] = strcmp(word[i], "FILE") == 0 ? path : word[i];
    }
    const struct command *plan = command_find(tepal_program.commands, "plan");
    if (args_parse(&args, &tepal_program, plan, count, word) == EXIT_YES) {
        struct wish w;
        if (wish_read(&args, 0, NULL, &w) == EXIT_YES) {
            check_wish(&w.wish);
        }
        wish_free(&w);
    }
    args_free(&args);
    if ((len + rest) % 8 == 0) {
        struct words words = {count, word};
        fail_each(read_failing, &words);
    }
    close(fd);
}

struct numbers {
    const uint8_t *at;
    const uint8_t *end;
};

static uint64_t next(struct numbers *n, size_t bytes)
{
    uint64_t x = 0;
    for (size_t i = 0; i < bytes && n->at < n->end; i++) {
        x |= (uint64_t)*n->at++ << (8 * i);
    }
    return x;
}

/* Any double: a byte chooses what of it is taken. */
static double next_real(struct numbers *n)
{
    uint64_t how = next(n, 1);
    uint64_t x = next(n, how < 64 ? 8 : 2);
    double any;
    memcpy(&any, &x, sizeof any);
    return how < 64    ? any
           : how < 128 ? (double)x / 65536
           : how < 192 ? exp(-(double)x / 2000)
                       : NAN;
}

static uint64_t next_whole(struct numbers *n)
{
    uint64_t how = next(n, 1);
    return how < 64 ? next(n, 8) : how < 192 ? next(n, 2) << (how & 31) : 0;
}

static void try_numbers(const uint8_t *data, size_t len)
{
    struct numbers n = {data, data + len};
    struct tepal_wish w = TEPAL_WISH_INIT;
    uint64_t flags = next(&n, 2);
    static double curve[2][4];
    w.keys = next_whole(&n);
    w.bits = next_whole(&n);
    w.fp = next_real(&n);
    w.fp_known = next_real(&n);
    w.fp_average = next_real(&n);
    w.fn = next_real(&n);
    w.deletes = flags & 1;
    w.wrong_deletes = (flags & 2) != 0 ? next_real(&n) : 0;
    w.untrusted = (flags & 4) != 0;
    w.closed_world = (flags & 8) != 0;
    w.endless = (flags & 16) != 0;
    w.known_negatives = (flags & 32) != 0 ? next_whole(&n) : 0;
    w.header_bits = (flags & 64) != 0 ? next_whole(&n) : 0;
    w.prefer = (enum tepal_prefer)((flags & 128) != 0 ? next(&n, 1) : 0);
    w.keys_first = (flags & 256) != 0 ? next_whole(&n) : 0;
    w.counter_bits = (flags & 512) != 0 ? (uint32_t)next(&n, 1) : 0;
    if ((flags & 1024) != 0) {
        w.stream = (enum tepal_stream)next(&n, 1);
        w.stream_a = next_real(&n);
        w.stream_b = next_real(&n);
        w.stream_fresh = next_real(&n);
        w.stream_keys = next_whole(&n);
    }
    if ((flags & 2048) != 0) {
        w.cost_fp = next_real(&n);
        w.cost_fn = next_real(&n);
    }
    for (size_t i = 0; i < 8 && (flags & 4096) != 0; i++) {
        curve[i / 4][i % 4] = next_real(&n);
        w.weights = (struct tepal_plan_weights){curve[0], curve[1], 4};
    }
    check_wish(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] % 2 == 0) {
        char *text = must_copy(data + 1, size - 1);
        try_words(text, size - 1);
        free(text);
    } else if (size > 0) {
        try_numbers(data + 1, size - 1);
    }
    return 0;
}

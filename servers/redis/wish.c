/*
 * wish.c: RESERVE and PLAN. A wish in words becomes a plan, by the library's planner, and the plan
 * a filter. What is told to replicas and written to the append-only file is the filter itself, in
 * numbers: another version's planner may decide otherwise.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server.h"

struct asked {
    struct tepal_wish wish;
    const struct tepal_kind *kind; /* NULL: any */
    bool layout_given;
    enum tepal_layout layout;
    enum tepal_hash hash;
    bool seed_given;
    uint64_t seed;
    uint64_t window; /* seconds; 0: none */
};

/* A word that is followed by a value, or stands alone. */
static const char *read_kind(struct asked *a, const struct redis_string *word)
{
    char text[32];
    a->kind = word_text(word, text, sizeof text) ? tepal_kind_by_name(text) : NULL;
    return a->kind != NULL ? NULL : "KIND is one of those that TEPAL.KINDS lists";
}

static const char *read_layout(struct asked *a, const struct redis_string *word)
{
    char text[32];
    a->layout_given = word_text(word, text, sizeof text) && tepal_layout_parse(text, &a->layout);
    return a->layout_given ? NULL : "LAYOUT is flat, partitioned, blocked or paired";
}

/* One option. NULL, or what is wrong. */
static const char *read_option(struct words *w, struct asked *a)
{
    struct tepal_wish *wish = &a->wish;
    if (words_take(w, "DELETES")) {
        wish->deletes = true;
    } else if (words_take(w, "ENDLESS")) {
        wish->endless = true;
    } else if (words_take(w, "UNTRUSTED")) {
        wish->untrusted = true;
    } else if (words_take(w, "GROW")) {
        wish->keys_first = 1; /* the share is known when KEYS is */
    } else if (words_take(w, "KEYED")) {
        a->hash = TEPAL_HASH_SIPHASH;
    } else if (words_take(w, "KEYED13")) {
        a->hash = TEPAL_HASH_SIPHASH13;
    } else if (w->argc - w->at < 2) {
        return "an option is unknown, or its value is missing";
    } else {
        const struct redis_string *value = w->argv[w->at + 1];
        const char *wrong = NULL;
        if (words_take(w, "KEYS")) {
            wrong =
                word_u64(value, &wish->keys) && wish->keys > 0 ? NULL : "KEYS is a positive number";
        } else if (words_take(w, "FP")) {
            wrong = word_real(value, &wish->fp) && wish->fp > 0 && wish->fp < 1
                        ? NULL
                        : "FP is a number between 0 and 1";
        } else if (words_take(w, "FN")) {
            wrong = word_real(value, &wish->max_fn) && wish->max_fn > 0 && wish->max_fn < 1
                        ? NULL
                        : "FN is a number between 0 and 1";
        } else if (words_take(w, "MEMORY")) {
            uint64_t bytes;
            wrong = word_u64(value, &bytes) && bytes > 0 && bytes <= UINT64_MAX / 8
                        ? NULL
                        : "MEMORY is a number of bytes";
            wish->bits = wrong == NULL ? bytes * 8 : 0;
        } else if (words_take(w, "SEED")) {
            a->seed_given = word_u64(value, &a->seed);
            wrong = a->seed_given ? NULL : "SEED is a number from 0 to 2^64 - 1";
        } else if (words_take(w, "WINDOW")) {
            wrong = word_u64(value, &a->window) && a->window > 0 && a->window <= UINT32_MAX
                        ? NULL
                        : "WINDOW is a number of seconds";
            wish->endless = true;
        } else if (words_take(w, "KIND")) {
            wrong = read_kind(a, value);
        } else if (words_take(w, "LAYOUT")) {
            wrong = read_layout(a, value);
        } else {
            return "an option is unknown; there are KEYS, FP, FN, MEMORY, KIND, LAYOUT, DELETES, "
                   "ENDLESS, WINDOW, UNTRUSTED, GROW, KEYED, KEYED13, SEED";
        }
        w->at++;
        return wrong;
    }
    return NULL;
}

static const char *read_wish(struct words *w, struct asked *a)
{
    memset(a, 0, sizeof *a);
    a->wish = (struct tepal_wish)TEPAL_WISH_INIT;
    a->wish.prefer = TEPAL_PREFER_SPEED;
    while (w->at < w->argc) {
        const char *wrong = read_option(w, a);
        if (wrong != NULL) {
            return wrong;
        }
    }
    if (a->wish.keys == 0 && a->wish.bits == 0) {
        return "say how many KEYS there will be";
    }
    if (a->wish.keys_first != 0 || (a->kind != NULL && (a->kind->id == TEPAL_KIND_GROWING ||
                                                        a->kind->id == TEPAL_KIND_CHAIN))) {
        if (a->wish.keys == 0) {
            return "a filter that grows needs KEYS: how many are planned for";
        }
        a->wish.keys_first = a->wish.keys / 1000 + 1;
    }
    if (a->window != 0 && (a->wish.keys == 0 || isnan(a->wish.fp))) {
        return "WINDOW needs KEYS, the most that come in that time, and FP";
    }
    return NULL;
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* Is it one that was asked for? */
static bool suits(const struct tepal_proposal *plan, const struct asked *a)
{
    bool kind = a->kind == NULL || plan->kind == a->kind->id ||
                (a->kind->id == TEPAL_KIND_RETOUCHED && plan->kind == TEPAL_KIND_BLOOM);
    bool layout = !a->layout_given || plan->all_layouts || plan->params.layout == a->layout;
    return kind && layout;
}

/* The best feasible plan that suits and can be filled key by key, or NULL and why there is none. */
static const struct tepal_proposal *choose(const struct tepal_plans *plans, const struct asked *a,
                                           char *why, size_t room)
{
    const struct tepal_proposal *near = NULL;
    for (size_t i = 0; i < plans->count; i++) {
        const struct tepal_proposal *plan = &plans->plan[i];
        if (suits(plan, a)) {
            if (plan->feasible && tepal_plan_streams(plan)) {
                return plan;
            }
            near = near == NULL ? plan : near;
        }
    }
    if (near == NULL) {
        (void)snprintf(why, room, "no kind of filter does all of that");
    } else if (near->feasible || !tepal_plan_streams(near)) {
        (void)snprintf(why, room,
                       "a filter of the kind %s is built from all of its keys: make it "
                       "with `tepal build` and bring it with TEPAL.SET",
                       tepal_kind_by_id(near->kind)->name);
    } else {
        (void)snprintf(why, room, "%s: %s", tepal_kind_by_id(near->kind)->name, near->reason);
    }
    return NULL;
}

/* A filter that remembers each key for a window of time, and forgets it after two. */
static enum tepal_status window_params(const struct asked *a, struct tepal_params *p,
                                       struct tepal_error *error)
{
    struct tepal_params phase = TEPAL_PARAMS_INIT;
    phase.layout = a->layout_given ? a->layout : TEPAL_LAYOUT_BLOCKED;
    enum tepal_status status =
        tepal_params_for_rate(&phase, a->wish.keys, a->wish.fp / 2, error); /* two phases */
    *p = phase;
    p->kind = TEPAL_KIND_RECYCLING;
    p->recycling.phases = 2;
    p->recycling.rule = TEPAL_RECYCLING_TIME;
    p->recycling.limit = a->window;
    return status;
}

/* The parameters of what was asked for. False: an error was replied. */
static bool decide(struct redis_ctx *ctx, const struct asked *a, struct tepal_params *p)
{
    static struct tepal_plans plans; /* large; commands run one after the other */
    char why[320];
    struct tepal_error error;
    enum tepal_status status;
    if (a->window != 0) {
        status = window_params(a, p, &error);
        if (status != TEPAL_OK) {
            (void)reply_status(ctx, status, error.why);
        }
        return status == TEPAL_OK;
    }
    status = tepal_plan(&a->wish, &plans, &error);
    if (status != TEPAL_OK) {
        (void)reply_status(ctx, status, error.why);
        return false;
    }
    const struct tepal_proposal *plan = choose(&plans, a, why, sizeof why);
    if (plan == NULL) {
        (void)reply_error(ctx, "INFEASIBLE %s", why);
        return false;
    }
    *p = plan->params;
    if (p->capacity == 0) {
        p->capacity = plans.keys;
    }
    return true;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* The empty filter, and its budget (0: none). NULL: an error was replied. */
static struct held *make(struct redis_ctx *ctx, const struct tepal_params *p, uint64_t budget)
{
    struct tepal_error error;
    struct held *held = NULL;
    enum tepal_status status = tepal_params_check(p, &error);
    const char *why = error.why;
    if (status == TEPAL_OK && !limits_allow(tepal_params_memory_bytes(p))) {
        status = TEPAL_NO_MEMORY;
    }
    if (status == TEPAL_OK) {
        held = held_new();
        struct tepal_allocator allocator = held_allocator(held);
        status = tepal_filter_create(p, &allocator, &held->filter, &error);
        why = error.why;
    }
    if (status == TEPAL_OK) {
        atomic_fetch_add(&counts.filters, 1);
        if (tepal_hash_is_keyed(p->hash)) {
            const uint8_t *secret = settings_secret();
            why = "a keyed filter needs a key in the file that the setting tepal.key-file names";
            status = p->key_check != 0 ? settings_unlock(held->filter)
                     : secret == NULL  ? TEPAL_KEY_NEEDED
                                       : tepal_filter_set_key(held->filter, secret);
        }
    }
    if (status == TEPAL_OK && budget > 0) {
        status = tepal_avoid_budget(held->filter, budget, &error);
        why = error.why;
    }
    if (status != TEPAL_OK) {
        held_free(held);
        (void)reply_status(ctx, status, why);
        return NULL;
    }
    return held;
}

/* Puts it at the key, which must be free, and tells everybody. */
static int keep(struct redis_ctx *ctx, struct redis_string *key, struct opened *opened,
                struct held *held, uint64_t budget)
{
    value_put(opened, held);
    replicate_create(ctx, key, held, budget);
    value_close(opened);
    (void)redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, "tepal.reserve", key);
    return redis.ReplyWithSimpleString(ctx, "OK");
}

/* ---- RESERVE in numbers ---------------------------------------------------------------------- */

enum {
    AT_KIND,
    AT_LAYOUT,
    AT_POSITIONS,
    AT_HASH,
    AT_HASHES,
    AT_CELLS,
    AT_CAPACITY,
    AT_SEED,
    AT_KEY_CHECK,
    AT_OWN,
    AT_BUDGET = AT_OWN + TEPAL_OWN_PARAMS,
    AT_DIALECT,
    AT_NOTES,
    NUMBERS = AT_NOTES + NOTES
};

void replicate_create(struct redis_ctx *ctx, struct redis_string *key, const struct held *held,
                      uint64_t budget)
{
    const struct tepal_params *p = tepal_filter_params(held->filter);
    uint64_t number[NUMBERS];
    struct redis_string *word[NUMBERS];
    number[AT_KIND] = p->kind == TEPAL_KIND_RETOUCHED ? TEPAL_KIND_BLOOM : p->kind;
    number[AT_LAYOUT] = p->layout;
    number[AT_POSITIONS] = p->positions;
    number[AT_HASH] = p->hash;
    number[AT_HASHES] = p->hashes;
    number[AT_CELLS] = p->cells;
    number[AT_CAPACITY] = p->capacity;
    number[AT_SEED] = p->seed;
    number[AT_KEY_CHECK] = p->key_check;
    memcpy(number + AT_OWN, p->own, sizeof p->own);
    number[AT_BUDGET] = budget;
    number[AT_DIALECT] = held->dialect;
    memcpy(number + AT_NOTES, held->notes, sizeof held->notes);
    for (size_t i = 0; i < NUMBERS; i++) {
        char text[24];
        int len = snprintf(text, sizeof text, "%llu", (unsigned long long)number[i]);
        word[i] = redis.CreateString(NULL, text, (size_t)len);
    }
    (void)redis.Replicate(ctx, "TEPAL.RESERVE", "scv", key, "PARAMS", word, (size_t)NUMBERS);
    for (size_t i = 0; i < NUMBERS; i++) {
        redis.FreeString(NULL, word[i]);
    }
}

static int reserve_params(struct redis_ctx *ctx, struct redis_string **argv, int argc,
                          struct opened *opened)
{
    uint64_t number[NUMBERS];
    bool right = argc == 3 + NUMBERS;
    for (int i = 0; i < NUMBERS && right; i++) {
        right = word_u64(argv[3 + i], &number[i]) && (i != AT_HASHES || number[i] <= UINT32_MAX) &&
                (i > AT_HASH || number[i] < 256);
    }
    if (!right) {
        return reply_error(ctx, "ERR PARAMS is followed by %d numbers", NUMBERS);
    }
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = (enum tepal_kind_id)number[AT_KIND];
    p.layout = (enum tepal_layout)number[AT_LAYOUT];
    p.positions = (enum tepal_positions)number[AT_POSITIONS];
    p.hash = (enum tepal_hash)number[AT_HASH];
    p.hashes = (uint32_t)number[AT_HASHES];
    p.cells = number[AT_CELLS];
    p.capacity = number[AT_CAPACITY];
    p.seed = number[AT_SEED];
    p.key_check = number[AT_KEY_CHECK];
    memcpy(p.own, number + AT_OWN, sizeof p.own);
    struct held *held = make(ctx, &p, number[AT_BUDGET]);
    if (held == NULL) {
        return REDIS_OK;
    }
    held->dialect = number[AT_DIALECT];
    memcpy(held->notes, number + AT_NOTES, sizeof held->notes);
    const char *flaw = held_flaw(held);
    if (flaw != NULL) {
        held_free(held);
        return reply_error(ctx, "ERR %s", flaw);
    }
    return keep(ctx, argv[1], opened, held, number[AT_BUDGET]);
}

/* ---- the commands ---------------------------------------------------------------------------- */

static int reserve_wish(struct redis_ctx *ctx, struct redis_string **argv, int argc,
                        struct opened *opened)
{
    struct words words = {ctx, argv, argc, 2};
    struct asked asked;
    struct tepal_params p;
    uint64_t budget = 0;
    const char *wrong = read_wish(&words, &asked);
    if (wrong != NULL) {
        return reply_error(ctx, "ERR %s", wrong);
    }
    if (!decide(ctx, &asked, &p)) {
        return REDIS_OK;
    }
    if (asked.wish.max_fn > 0) {
        budget = (uint64_t)(asked.wish.max_fn * (double)p.capacity);
        if (budget == 0) {
            return reply_error(ctx, "ERR FN allows less than one of the keys to be lost");
        }
    }
    p.seed = asked.seed;
    if (!asked.seed_given) {
        redis.GetRandomBytes((unsigned char *)&p.seed, sizeof p.seed);
        p.seed >>= 1; /* an integer for every client */
    }
    p.hash = asked.hash;
    struct held *held = make(ctx, &p, budget);
    return held == NULL ? REDIS_OK : keep(ctx, argv[1], opened, held, budget);
}

int run_reserve(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct opened opened;
    if (argc < 4) {
        return redis.WrongArity(ctx);
    }
    if (!value_open(ctx, argv[1], ACCESS_ANY, &opened)) {
        return REDIS_OK;
    }
    if (opened.value != NULL) {
        value_close(&opened);
        return reply_error(ctx, "ERR there is a filter at this key already");
    }
    int done = word_is(argv[2], "PARAMS") ? reserve_params(ctx, argv, argc, &opened)
                                          : reserve_wish(ctx, argv, argc, &opened);
    value_close(&opened);
    return done;
}

static void reply_plan(struct redis_ctx *ctx, const struct tepal_proposal *plan)
{
    long fields = 2;
    (void)redis.ReplyWithMap(ctx, REDIS_POSTPONED);
    (void)redis.ReplyWithCString(ctx, "kind");
    (void)redis.ReplyWithCString(ctx, tepal_kind_by_id(plan->kind)->name);
    (void)redis.ReplyWithCString(ctx, "feasible");
    (void)redis.ReplyWithBool(ctx, plan->feasible);
    if (!plan->all_layouts) {
        (void)redis.ReplyWithCString(ctx, "layout");
        (void)redis.ReplyWithCString(ctx, tepal_layout_name(plan->params.layout));
        fields++;
    }
    if (plan->feasible) {
        const struct {
            const char *name;
            double value;
        } reals[] = {{"bits_per_key", plan->bits_per_key},
                     {"fp", plan->fp},
                     {"fn", plan->fn},
                     {"probes", plan->probes}};
        (void)redis.ReplyWithCString(ctx, "bytes");
        reply_number(ctx, plan->bits / 8 + (plan->bits % 8 != 0));
        (void)redis.ReplyWithCString(ctx, "hashes");
        (void)redis.ReplyWithLongLong(ctx, plan->params.hashes);
        fields += 2;
        for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
            if (!isnan(reals[i].value)) {
                (void)redis.ReplyWithCString(ctx, reals[i].name);
                (void)redis.ReplyWithDouble(ctx, reals[i].value);
                fields++;
            }
        }
        (void)redis.ReplyWithCString(ctx, "reserve");
        (void)redis.ReplyWithBool(ctx, tepal_plan_streams(plan));
        fields++;
    }
    (void)redis.ReplyWithCString(ctx, "reason");
    (void)redis.ReplyWithCString(ctx, plan->reason);
    redis.ReplySetMapLength(ctx, fields + 1);
}

int run_plan(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    static struct tepal_plans plans;
    struct words words = {ctx, argv, argc, 1};
    struct asked asked;
    struct tepal_error error;
    long count = 0;
    if (argc < 3) {
        return redis.WrongArity(ctx);
    }
    const char *wrong = read_wish(&words, &asked);
    if (wrong != NULL) {
        return reply_error(ctx, "ERR %s", wrong);
    }
    if (asked.window != 0) {
        return reply_error(ctx, "ERR filters of a time WINDOW are not planned, but reserved");
    }
    enum tepal_status status = tepal_plan(&asked.wish, &plans, &error);
    if (status != TEPAL_OK) {
        return reply_status(ctx, status, error.why);
    }
    (void)redis.ReplyWithArray(ctx, REDIS_POSTPONED);
    for (size_t i = 0; i < plans.count; i++) {
        if (suits(&plans.plan[i], &asked)) {
            reply_plan(ctx, &plans.plan[i]);
            count++;
        }
    }
    redis.ReplySetArrayLength(ctx, count);
    return REDIS_OK;
}

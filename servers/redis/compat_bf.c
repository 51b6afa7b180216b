/*
 * compat_bf.c: BF.* over a chain of Bloom filters. Sizes and rates are those of the usual scalable
 * filter (the series `halving`): the first part has half of the rate, so that all parts together
 * keep it; a filter that does not scale has the whole rate. Small ones that scale get some more.
 */
#include <math.h>
#include <stdio.h>

#include "compat.h"

#define FULL  "ERR non scaling filter is full"
#define GROUP 64

struct wanted {
    double rate;
    long long capacity;
    long long expansion;
    bool scales;
    bool creates;
};

static const struct wanted DEFAULTS = {0.01, 100, 2, true, true};

/* P(X > k) for X of Poisson's distribution. */
static double more_than(unsigned k, double mean)
{
    double term = exp(-mean);
    double sum = term;
    for (unsigned i = 1; i <= k; i++) {
        term *= mean / i;
        sum += term;
    }
    return 1 - sum;
}

/*
 * The rate to size a filter that scales by. Whoever measures it at its capacity n with ten times as
 * many strangers finds a number of Poisson's distribution with the mean 10 n p/2, since the first
 * part has half of the rate p, and expects at most k = 10 n p. If k is large, that hardly ever
 * fails; where it is small, the rate is lowered until it fails once in ten thousand times.
 */
static double careful(double rate, long long capacity)
{
    const double fails = 1e-4;
    double asked = 10 * (double)capacity;
    double most = asked * rate;
    if (most >= 100 || more_than((unsigned)most, most / 2) <= fails) {
        return rate;
    }
    double low = 0;
    double high = most / 2;
    for (int i = 0; i < 50; i++) {
        double mean = (low + high) / 2;
        *(more_than((unsigned)most, mean) <= fails ? &low : &high) = mean;
    }
    return 2 * low / asked;
}

static bool create(struct redis_ctx *ctx, struct redis_string *name, struct opened *opened,
                   const struct wanted *w)
{
    double rate = w->scales ? careful(w->rate, w->capacity) : w->rate;
    const uint64_t notes[NOTES] = {0};
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_error error;
    p.kind = TEPAL_KIND_CHAIN;
    p.layout = TEPAL_LAYOUT_BLOCKED;
    p.chain.first_keys = (uint64_t)w->capacity;
    p.chain.series = TEPAL_CHAIN_HALVING;
    p.chain.growth = w->scales ? (uint64_t)w->expansion * TEPAL_CHAIN_UNIT : 0;
    if (tepal_params_for_rate(&p, (uint64_t)w->capacity, rate, &error) != TEPAL_OK) {
        p.layout = TEPAL_LAYOUT_FLAT; /* which keeps any rate */
        if (tepal_params_for_rate(&p, (uint64_t)w->capacity, rate, &error) != TEPAL_OK) {
            (void)redis.ReplyWithError(ctx, error.status == TEPAL_TOO_LARGE
                                                ? "ERR Insufficient memory to create filter"
                                                : "ERR could not create filter");
            return false;
        }
    }
    return compat_create(ctx, name, opened, &p, DIALECT_BF, notes);
}

int run_bf_reserve(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct wanted w = DEFAULTS;
    struct words words = {ctx, argv, argc, 4};
    struct opened opened;
    bool expands = false;
    if (argc < 4 || argc > 7) {
        return redis.WrongArity(ctx);
    }
    if (!word_real(argv[2], &w.rate)) {
        return redis.ReplyWithError(ctx, "ERR bad error rate");
    }
    if (w.rate <= 0 || w.rate >= 1) {
        return redis.ReplyWithError(ctx, "ERR (0 < error rate range < 1) ");
    }
    if (!compat_integer(argv[3], &w.capacity)) {
        return redis.ReplyWithError(ctx, "ERR bad capacity");
    }
    if (w.capacity <= 0) {
        return redis.ReplyWithError(ctx, "ERR (capacity should be larger than 0)");
    }
    while (words.at < argc) {
        if (words_take(&words, "NONSCALING")) {
            w.scales = false;
        } else if (words_take(&words, "EXPANSION")) {
            if (words.at == argc) {
                return redis.ReplyWithError(ctx, "ERR no expansion");
            }
            if (!compat_integer(argv[words.at++], &w.expansion) || w.expansion < 1 ||
                w.expansion > 32768) {
                return redis.ReplyWithError(ctx, "ERR bad expansion");
            }
            expands = true;
        } else {
            return redis.ReplyWithError(ctx, "ERR Unknown argument received");
        }
    }
    if (expands && !w.scales) {
        return redis.ReplyWithError(ctx, "Nonscaling filters cannot expand");
    }
    if (!compat_open(ctx, argv[1], ACCESS_ANY, DIALECT_BF, &opened)) {
        return REDIS_OK;
    }
    if (opened.value != NULL) {
        (void)redis.ReplyWithError(ctx, ITEM_EXISTS);
    } else if (create(ctx, argv[1], &opened, &w)) {
        (void)redis.ReplyWithSimpleString(ctx, "OK");
    }
    value_close(&opened);
    return REDIS_OK;
}

/* ---- adding and asking ----------------------------------------------------------------------- */

/*
 * Adds items in groups, for which memory is fetched ahead. A group that cannot be added as a whole
 * goes item by item, up to the first that cannot be. Returns how many were added: each has a reply,
 * and behind them is the error, if there was one.
 */
static size_t insert_items(struct redis_ctx *ctx, struct tepal_filter *filter,
                           struct redis_string **items, size_t count, bool *changed)
{
    struct tepal_digest digests[GROUP];
    size_t most = GROUP;
    for (size_t done = 0; done < count;) {
        size_t here = count - done < most ? count - done : most;
        uint64_t answers = 0;
        size_t present = 0;
        for (size_t i = 0; i < here; i++) {
            digests[i] = compat_digest(filter, items[done + i]);
        }
        enum tepal_status status =
            tepal_filter_test_add_many(filter, digests, here, &answers, &present);
        if (status == TEPAL_OK) {
            for (size_t i = 0; i < here; i++) {
                (void)redis.ReplyWithBool(ctx, (answers >> i & 1) == 0);
            }
            *changed = *changed || present < here;
            done += here;
        } else if (here > 1) {
            most = 1; /* nothing was added */
        } else {
            (void)redis.ReplyWithError(
                ctx, status == TEPAL_FULL ? FULL : "ERR Insufficient memory to expand filter");
            return done;
        }
    }
    return count;
}

static int insert(struct redis_ctx *ctx, struct redis_string *key, struct redis_string **items,
                  size_t count, bool many, const struct wanted *w)
{
    struct opened opened;
    if (!(w->creates ? compat_open : compat_open_existing)(ctx, key, ACCESS_WRITE, DIALECT_BF,
                                                           &opened)) {
        return REDIS_OK;
    }
    if (opened.value == NULL && !create(ctx, key, &opened, w)) {
        value_close(&opened);
        return REDIS_OK;
    }
    bool changed = false;
    if (many) {
        (void)redis.ReplyWithArray(ctx, REDIS_POSTPONED);
    }
    size_t done = insert_items(ctx, opened.value->held->filter, items, count, &changed);
    if (many) {
        redis.ReplySetArrayLength(ctx, (long)(done < count ? done + 1 : done));
    }
    if (done > 0) { /* counts change with items that were there, too */
        value_changed(opened.value);
    }
    value_close(&opened);
    if (done == count) {
        (void)redis.ReplicateVerbatim(ctx);
    } else if (done > 0) { /* what was refused here is nothing that a replica would refuse */
        (void)redis.Replicate(ctx, "BF.MADD", "sv", key, items, done);
    }
    if (changed) {
        (void)redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, "bf.add", key);
    }
    return REDIS_OK;
}

int run_bf_add(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return argc != 3 ? redis.WrongArity(ctx) : insert(ctx, argv[1], argv + 2, 1, false, &DEFAULTS);
}

int run_bf_madd(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return argc < 3 ? redis.WrongArity(ctx)
                    : insert(ctx, argv[1], argv + 2, (size_t)argc - 2, true, &DEFAULTS);
}

int run_bf_insert(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct wanted w = DEFAULTS;
    struct words words = {ctx, argv, argc, 2};
    bool items = false;
    if (argc < 4) {
        return redis.WrongArity(ctx);
    }
    while (words.at < argc && !items) {
        bool valued = words.at + 1 < argc;
        if (words_take(&words, "ITEMS")) {
            items = true;
        } else if (words_take(&words, "NOCREATE")) {
            w.creates = false;
        } else if (words_take(&words, "NONSCALING")) {
            w.scales = false;
        } else if (words_take(&words, "ERROR")) {
            if (!valued || !word_real(argv[words.at++], &w.rate)) {
                return redis.ReplyWithError(ctx, "ERR Bad error rate");
            }
        } else if (words_take(&words, "CAPACITY")) {
            if (!valued || !compat_integer(argv[words.at++], &w.capacity)) {
                return redis.ReplyWithError(ctx, "ERR Bad capacity");
            }
        } else if (words_take(&words, "EXPANSION")) {
            if (!valued || !compat_integer(argv[words.at++], &w.expansion)) {
                return redis.ReplyWithError(ctx, "ERR Bad expansion");
            }
        } else {
            return redis.ReplyWithError(ctx, "ERR Unknown argument received");
        }
    }
    if (!items || words.at == argc) {
        return redis.WrongArity(ctx);
    }
    if (w.rate <= 0 || w.rate >= 1 || w.capacity < 1 || w.expansion < 1 || w.expansion > 32768) {
        return redis.ReplyWithError(ctx, "ERR Bad argument received");
    }
    return insert(ctx, argv[1], argv + words.at, (size_t)(argc - words.at), true, &w);
}

int run_bf_exists(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return answer_exists(ctx, argv, argc, DIALECT_BF);
}

int run_bf_mexists(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return answer_mexists(ctx, argv, argc, DIALECT_BF);
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* The keys that part i has room for, and all parts up to it. */
static double room(const struct tepal_params *p, uint64_t part)
{
    return (double)p->chain.first_keys *
           pow((double)p->chain.growth / TEPAL_CHAIN_UNIT, (double)part);
}

static uint64_t capacity(const struct tepal_params *p)
{
    double sum = 0;
    for (uint64_t i = 0; i < p->chain.parts || i == 0; i++) {
        sum += i == 0 ? (double)p->chain.first_keys : room(p, i);
    }
    return sum < 0x1p63 ? (uint64_t)sum : INT64_MAX;
}

static void reply_fact(struct redis_ctx *ctx, const struct held *held, unsigned fact)
{
    const struct tepal_params *p = tepal_filter_params(held->filter);
    switch (fact) {
    case 0:
        reply_number(ctx, capacity(p));
        break;
    case 1:
        reply_number(ctx, tepal_filter_memory_bytes(held->filter));
        break;
    case 2:
        reply_number(ctx, p->chain.parts > 0 ? p->chain.parts : 1);
        break;
    case 3:
        reply_number(ctx, tepal_filter_keys_now(held->filter));
        break;
    default:
        if (p->chain.growth == 0) {
            (void)redis.ReplyWithNull(ctx);
        } else {
            reply_number(ctx, p->chain.growth / TEPAL_CHAIN_UNIT);
        }
    }
}

int run_bf_info(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    static const char *const names[] = {"Capacity", "Size", "Number of filters",
                                        "Number of items inserted", "Expansion rate"};
    static const char *const words[] = {"CAPACITY", "SIZE", "FILTERS", "ITEMS", "EXPANSION"};
    const unsigned all = sizeof names / sizeof *names;
    struct opened opened;
    unsigned only = all;
    if (argc != 2 && argc != 3) {
        return redis.WrongArity(ctx);
    }
    if (!compat_open_existing(ctx, argv[1], ACCESS_READ, DIALECT_BF, &opened)) {
        return REDIS_OK;
    }
    for (unsigned i = 0; i < all && argc == 3; i++) {
        only = word_is(argv[2], words[i]) ? i : only;
    }
    if (argc == 3 && only == all) {
        value_close(&opened);
        return redis.ReplyWithError(ctx, "ERR Invalid information value");
    }
    bool map = argc == 2 || (redis.GetContextFlags(ctx) & REDIS_IN_RESP3) != 0;
    (void)(map ? redis.ReplyWithMap : redis.ReplyWithArray)(ctx, argc == 2 ? (long)all : 1);
    for (unsigned i = 0; i < all; i++) {
        if (argc == 2 || i == only) {
            if (map) {
                (void)redis.ReplyWithSimpleString(ctx, names[i]);
            }
            reply_fact(ctx, opened.value->held, i);
        }
    }
    value_close(&opened);
    return REDIS_OK;
}

int run_bf_card(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct opened opened;
    if (argc != 2) {
        return redis.WrongArity(ctx);
    }
    if (!compat_open(ctx, argv[1], ACCESS_READ, DIALECT_BF, &opened)) {
        return REDIS_OK;
    }
    reply_number(ctx, opened.value == NULL ? 0 : tepal_filter_keys_now(opened.value->held->filter));
    value_close(&opened);
    return REDIS_OK;
}

int run_bf_debug(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct opened opened;
    char line[160];
    if (argc != 2) {
        return redis.WrongArity(ctx);
    }
    if (!compat_open_existing(ctx, argv[1], ACCESS_READ, DIALECT_BF, &opened)) {
        return REDIS_OK;
    }
    const struct tepal_filter *filter = opened.value->held->filter;
    const struct tepal_params *p = tepal_filter_params(filter);
    uint64_t parts = p->chain.parts > 0 ? p->chain.parts : 1;
    double left = (double)tepal_filter_keys_now(filter);
    (void)redis.ReplyWithArray(ctx, 1 + (long)parts);
    (void)snprintf(line, sizeof line, "size:%.0f", left);
    (void)redis.ReplyWithCString(ctx, line);
    for (uint64_t i = 0; i < parts; i++) {
        double most = i == 0 ? (double)p->chain.first_keys : room(p, i);
        double here = left < most || i + 1 == parts ? left : most;
        double rate = ldexp((double)p->chain.rate, -64);
        (void)snprintf(line, sizeof line, "hashwidth:64 capacity:%.0f size:%.0f ratio:%g", most,
                       here, p->chain.growth == 0 ? rate : ldexp(rate, -(int)i - 1));
        (void)redis.ReplyWithCString(ctx, line);
        left -= here;
    }
    value_close(&opened);
    return REDIS_OK;
}

/* ---- dumps ----------------------------------------------------------------------------------- */

static int empty(struct redis_ctx *ctx)
{
    return redis.ReplyWithStringBuffer(ctx, "", 0);
}

int run_bf_scandump(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct opened opened;
    long long iterator;
    if (argc != 3) {
        return redis.WrongArity(ctx);
    }
    if (!compat_integer(argv[2], &iterator) || iterator < 0) {
        return redis.ReplyWithError(ctx, "ERR Second argument must be numeric");
    }
    if (!compat_open_existing(ctx, argv[1], ACCESS_READ, DIALECT_BF, &opened)) {
        return REDIS_OK;
    }
    (void)compat_scandump(ctx, opened.value->held, (uint64_t)iterator, empty);
    value_close(&opened);
    return REDIS_OK;
}

int run_bf_loadchunk(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    long long iterator;
    if (argc != 4) {
        return redis.WrongArity(ctx);
    }
    if (!compat_integer(argv[2], &iterator)) {
        return redis.ReplyWithError(ctx, "ERR Second argument must be numeric");
    }
    if (iterator < 1) {
        return redis.ReplyWithError(ctx, "ERR invalid offset - no link found");
    }
    return compat_loadchunk(ctx, argv, (uint64_t)iterator, DIALECT_BF);
}

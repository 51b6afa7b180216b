/*
 * combine.c: MERGE and INTERSECT. The filter at the first key, if there is one, takes part, as in
 * PFMERGE. All sources are combined or none: the work is done on a copy, unless there is only one
 * step, which the library does completely or not at all. The answer is the new rate of false
 * positives, from the cells.
 */
#include "server.h"

typedef enum tepal_status combine(struct tepal_filter *into, const struct tepal_filter *other);

/* The filters of the sources; nothing is freed meanwhile. False: an error was replied. */
static bool find_sources(struct redis_ctx *ctx, struct redis_string **argv, int argc,
                         const struct held **sources)
{
    for (int i = 0; i < argc; i++) {
        struct opened opened;
        if (!value_open_existing(ctx, argv[i], ACCESS_READ, &opened)) {
            return false;
        }
        sources[i] = opened.value->held;
        value_close(&opened);
    }
    return true;
}

/*
 * What tells whether a filter has changed: a union of Bloom filters sets bits and an intersection
 * clears some, so if none more and none less are set they are the same; with other kinds the number
 * of keys changes. If that alone does, a Bloom filter has the same cells.
 */
struct tally {
    uint64_t ones, added, now;
};

static struct tally tally_of(const struct tepal_filter *filter)
{
    return (struct tally){tepal_filter_ones(filter), tepal_filter_keys_added(filter),
                          tepal_filter_keys_now(filter)};
}

static int combine_all(struct redis_ctx *ctx, struct redis_string **argv, int argc, combine *step,
                       const char *event)
{
    struct opened into;
    struct tepal_error error = {.why = NULL};
    if (argc < 3) {
        return redis.WrongArity(ctx);
    }
    int count = argc - 2;
    const struct held **sources = redis.Alloc((size_t)count * sizeof *sources);
    if (!find_sources(ctx, argv + 2, count, sources)) {
        redis.Free(sources);
        return REDIS_OK;
    }
    if (!value_open(ctx, argv[1], ACCESS_WRITE, &into)) {
        redis.Free(sources);
        return REDIS_OK;
    }
    bool fresh = into.value == NULL;
    /* A filter united with itself stays as it is; only its count of keys would not. */
    int steps = 0;
    for (int i = 0; i < count; i++) {
        steps += fresh ? i > 0 : sources[i] != into.value->held;
    }
    bool in_place = !fresh && steps <= 1;
    struct tally before = {0, 0, 0};
    if (!fresh) {
        before = tally_of(into.value->held->filter);
    }
    struct held *held =
        in_place ? into.value->held : held_clone(fresh ? sources[0] : into.value->held, &error);
    enum tepal_status status = held == NULL ? error.status : TEPAL_OK;
    for (int i = fresh ? 1 : 0; i < count && status == TEPAL_OK; i++) {
        if (fresh || sources[i] != into.value->held) {
            status = step(held->filter, sources[i]->filter);
        }
    }
    redis.Free(sources);
    if (status != TEPAL_OK) {
        if (!in_place) {
            held_free(held);
        }
        value_close(&into);
        return reply_status(ctx, status, error.why);
    }
    struct tally after = tally_of(held->filter);
    double fp = tepal_filter_fp_now(held->filter);
    bool keys = after.added != before.added || after.now != before.now;
    bool changed =
        fresh || after.ones != before.ones || (keys && filter_counts_repeats(held->filter));
    if (!in_place) {
        value_put(&into, held);
    } else if (steps > 0) {
        value_changed(into.value);
    }
    value_close(&into);
    if (fresh || steps > 0) {
        (void)redis.ReplicateVerbatim(ctx);
    }
    if (changed) {
        (void)redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, event, argv[1]);
    }
    return redis.ReplyWithDouble(ctx, fp);
}

int run_merge(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return combine_all(ctx, argv, argc, tepal_filter_unite, "tepal.merge");
}

int run_intersect(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return combine_all(ctx, argv, argc, tepal_filter_intersect, "tepal.intersect");
}

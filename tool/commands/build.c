/*
 * build.c: keys to a filter. If the size can be known beforehand the keys stream through; if they
 * must be counted first, their digests wait in a spill.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include <tepal/filter.h>

#include "commands/build/auto.h"
#include "cli/command.h"
#include "input/feed.h"
#include "input/receipts.h"
#include "commands/build/recipe.h"
#include "output/render.h"
#include "cli/say.h"
#include "input/secret.h"
#include "files/filter_file.h"
#include "input/spill.h"
#include "commands/build/negatives.h"

struct builder {
    const struct args *args;
    const struct recipe *recipe;
    const char *stays;
    const char *output;
    struct tepal_params params;
    uint8_t key[TEPAL_KEY_BYTES];
    struct tepal_hasher hasher;
    struct tepal_filter *filter;
    struct receipts receipts;
    uint64_t keys;
};

static int draw_seed(struct builder *b)
{
    const struct option_value *seed = &b->args->option[OPT_SEED];
    if (seed->given) {
        b->params.seed = seed->whole;
        return EXIT_YES;
    }
    if (sodium_init() < 0) {
        return say_error(b->stays, "random seed", "the system gives no randomness: take --seed");
    }
    randombytes_buf(&b->params.seed, sizeof b->params.seed);
    return EXIT_YES;
}

static int make_hasher(struct builder *b)
{
    const struct option_value *file = &b->args->option[OPT_KEY_FILE];
    if (!file->given) {
        tepal_hasher_init(&b->hasher, b->params.seed);
        return EXIT_YES;
    }
    if (secret_read(b->stays, file->text, b->key) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    b->params.hash = TEPAL_HASH_SIPHASH;
    tepal_hasher_init_keyed(&b->hasher, b->params.seed, b->key);
    return EXIT_YES;
}

/* An empty filter for `keys` keys (0: not known). */
static int make_filter(struct builder *b, uint64_t keys)
{
    char room[96];
    if (b->recipe->params(b->args, keys, &b->params) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    enum tepal_status status = tepal_filter_create(&b->params, NULL, &b->filter);
    if (status == TEPAL_OK && b->params.hash == TEPAL_HASH_SIPHASH) {
        status = tepal_filter_set_key(b->filter, b->key);
    }
    if (status == TEPAL_NO_MEMORY) {
        return say_error(b->stays, b->args->command->name,
                         "out of memory: the filter would take %s",
                         render_bytes(tepal_params_payload_bytes(&b->params), room, sizeof room));
    }
    return status == TEPAL_OK
               ? EXIT_YES
               : say_error(b->stays, b->args->command->name, "%s", tepal_status_message(status));
}

static int add(struct builder *b, const struct tepal_digest *digests, size_t count)
{
    enum tepal_status status = tepal_filter_add_many(b->filter, digests, count);
    return status == TEPAL_OK
               ? EXIT_YES
               : say_error(b->stays, b->args->command->name, "%s", tepal_status_message(status));
}

static int stream(struct builder *b, struct feed *feed)
{
    if (make_filter(b, b->args->option[OPT_CAPACITY].whole) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (receipts_open(&b->receipts, b->args, b->filter) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    ptrdiff_t count;
    while ((count = feed_next(feed)) > 0) {
        if (receipts_add(&b->receipts, b->args, b->filter, feed, (size_t)count) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
    }
    return count == 0 ? receipts_finish(&b->receipts, b->args) : EXIT_TROUBLE;
}

static int spill_failed(const struct builder *b, const struct spill *spill)
{
    return say_error(b->stays, spill_subject(spill), "temporary file: %s", spill_why(spill));
}

static int collect(struct builder *b, struct feed *feed, struct spill *spill)
{
    ptrdiff_t count;
    while ((count = feed_next(feed)) > 0) {
        if (spill_add(spill, feed->digest, (size_t)count) != 0) {
            return spill_failed(b, spill);
        }
    }
    return count == 0 ? EXIT_YES : EXIT_TROUBLE;
}

static int replay(struct builder *b, struct spill *spill)
{
    const struct tepal_digest *digests;
    uint64_t keys = spill_count(spill);
    if (make_filter(b, keys > 0 ? keys : 1) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    ptrdiff_t count;
    while ((count = spill_next(spill, &digests)) > 0) {
        if (add(b, digests, (size_t)count) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
    }
    return count == 0 ? EXIT_YES : spill_failed(b, spill);
}

static int count_first(struct builder *b, struct feed *feed)
{
    struct spill *spill = spill_open(SPILL_DIGESTS);
    if (spill == NULL) {
        return say_error(b->stays, NULL, "out of memory");
    }
    int code = collect(b, feed, spill);
    if (code == EXIT_YES) {
        code = replay(b, spill);
    }
    spill_close(spill);
    return code;
}

static int read_keys(struct builder *b)
{
    struct feed *feed = feed_open(b->args, 0, &b->hasher, b->args->option[OPT_QUIET].given);
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    int code = b->recipe->counts(b->args) ? count_first(b, feed) : stream(b, feed);
    b->keys = feed->total;
    feed_close(feed);
    return code;
}

static void warn(const struct builder *b)
{
    const struct option_value *capacity = &b->args->option[OPT_CAPACITY];
    if (b->args->option[OPT_QUIET].given) {
        return;
    }
    if (b->keys == 0) {
        say_warning(filter_file_name(b->output, true), "no keys came: the filter is empty");
    } else if (capacity->given && b->keys > capacity->whole) {
        bool endless = (tepal_filter_kind(b->filter)->promises & TEPAL_ENDLESS) != 0;
        say_warning(filter_file_name(b->output, true),
                    "%" PRIu64 " keys came and %" PRIu64 " were planned: %s than predicted",
                    b->keys, capacity->whole,
                    endless ? "older keys are forgotten more often"
                            : "there are more false positives");
    }
}

static int prepare(struct builder *b)
{
    const struct args *a = b->args;
    b->recipe = recipe_find(a);
    if (b->recipe == NULL) {
        return EXIT_TROUBLE;
    }
    b->params.kind = b->recipe->kind;
    /* Keys first: over a key file, "not a filter" would be the lesser reason. */
    int code = filter_file_check_inputs(b->stays, b->output, a->operand, a->operands,
                                        "the keys would be overwritten by the filter");
    if (code == EXIT_YES) {
        code = filter_file_check_output(a, b->output);
    }
    if (code == EXIT_YES) {
        code = receipts_check(a, NULL, b->output, a->operand, a->operands);
    }
    if (code == EXIT_YES && a->option[OPT_RECEIPTS_OUT].given && b->recipe->counts(a)) {
        return say_error(b->stays, a->command->name,
                         "--receipts needs the size beforehand: give --cells M or --capacity N");
    }
    if (code == EXIT_YES) {
        code = draw_seed(b);
    }
    return code == EXIT_YES ? make_hasher(b) : code;
}

/* The kinds that take all keys at once, and negatives besides. */
static int build_veto(struct builder *b)
{
    struct negatives_build v = {
        .args = b->args, .hasher = &b->hasher, .key = b->key, .params = b->params};
    int code = negatives_check(b->args, b->recipe->kind);
    if (code == EXIT_YES) {
        code = negatives_build(&v);
    }
    if (code == EXIT_YES) {
        code = filter_file_save(b->stays, v.filter, b->output);
    }
    if (code == EXIT_YES) {
        code = negatives_written(&v, b->output);
    }
    tepal_filter_free(v.filter);
    sodium_memzero(b->key, sizeof b->key);
    sodium_memzero(&b->hasher, sizeof b->hasher);
    return code;
}

int build_run(const struct args *args)
{
    if (args->option[OPT_AUTO].given || args->option[OPT_PLAN_FILE].given) {
        return auto_build(args);
    }
    if (auto_check(args) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    struct builder b = {.args = args,
                        .stays = args->command->stays,
                        .output = args->option[OPT_OUTPUT].text,
                        .params = TEPAL_PARAMS_INIT};
    int code = prepare(&b);
    if (code == EXIT_YES && negatives_builds(b.recipe->kind)) {
        return build_veto(&b);
    }
    if (code == EXIT_YES) {
        code = read_keys(&b);
    }
    sodium_memzero(b.key, sizeof b.key);
    sodium_memzero(&b.hasher, sizeof b.hasher);
    if (code == EXIT_YES) {
        warn(&b);
        code = filter_file_save(b.stays, b.filter, b.output);
    }
    if (code == EXIT_YES) {
        code = receipts_commit(&b.receipts, args);
    }
    if (code == EXIT_YES) {
        code = render_written(args, b.output, b.filter, b.keys);
    }
    receipts_free(&b.receipts);
    tepal_filter_free(b.filter);
    return code;
}

/*
 * build.c: keys to a filter. If the size can be known beforehand the keys stream through; if they
 * must be counted first, their digests wait in a spill.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <tepal/avoid.h>
#include <tepal/filter.h>

#include "commands/avoid_budget.h"
#include "commands/build/auto.h"
#include "cli/command.h"
#include "input/feed.h"
#include "input/adder.h"
#include "input/look.h"
#include "input/receipts.h"
#include "commands/build/recipe.h"
#include "output/progress.h"
#include "output/render.h"
#include "output/written.h"
#include "input/secret.h"
#include "files/filter_file.h"
#include "files/packed.h"
#include "input/members.h"
#include "input/spill.h"
#include "input/spool.h"
#include "commands/build/negatives.h"
#include "cli/options.h"
#include "plans/wish.h"
#include "system/bytes.h"
#include "commands/build/kind_options.h"

struct builder {
    const struct args *args;
    const struct recipe *recipe;       /* what the options make ... */
    const struct tepal_proposal *plan; /* ... or if this is not NULL, what it says */
    const char *avoid;                 /* the file of known negatives, or NULL */
    const char *output;
    struct tepal_params params;
    uint8_t key[TEPAL_KEY_BYTES];
    struct tepal_hasher hasher;
    struct tepal_filter *filter;
    struct receipts receipts;
    uint64_t keys;
    struct feed_left left;
    bool told_repeats;
    uint64_t attempt; /* with another seed each, from 0 on ... */
    uint64_t tries;   /* ... so many */
    bool full;        /* this seed has no room for the keys */
};

/* Another seed may do, or none of them did. */
static int is_full(struct builder *b)
{
    b->full = true;
    if (b->attempt + 1 < b->tries) {
        return EXIT_TROUBLE;
    }
    return args_error(b->args, "%" PRIu64 " seeds were tried: none has room for the keys",
                      b->tries);
}

static int draw_seed(struct builder *b)
{
    int code = arg_seed(b->args, &b->params.seed);
    b->params.seed += b->attempt;
    return code;
}

static int make_hasher(struct builder *b)
{
    const struct option_value *file = arg(b->args, "key-file");
    if (arg_hash(b->args, &b->params.hash) != EXIT_YES ||
        (file->given && secret_read(b->args, file->text, b->key) != EXIT_YES)) {
        return EXIT_TROUBLE;
    }
    return args_status(
        b->args, tepal_hasher_init_by(b->params.hash, b->params.seed, b->key, &b->hasher), NULL);
}

/* An empty filter for `keys` keys (0: not known), or the plan's. */
static int make_filter(struct builder *b, uint64_t keys)
{
    char room[96];
    bool keyed = tepal_hash_is_keyed(b->params.hash);
    enum tepal_status status;
    if (b->plan != NULL) {
        status = tepal_plan_create(b->plan, b->params.seed, keyed ? b->key : NULL, NULL, &b->filter,
                                   NULL);
    } else {
        if (arg_rate_kept(b->args, "fp", keys) != EXIT_YES ||
            b->recipe->params(b->args, keys, &b->params) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        status = tepal_filter_create(&b->params, NULL, &b->filter, NULL);
        if (status == TEPAL_OK && keyed) {
            status = tepal_filter_set_key(b->filter, b->key);
        }
    }
    if (status == TEPAL_NO_MEMORY) {
        return args_error(b->args, "out of memory: the filter would take %s",
                          render_bytes(tepal_params_cell_bytes(&b->params), room, sizeof room));
    }
    return args_status(b->args, status, NULL);
}

/* A plan has no receipts, but may find no room; with another seed it may. */
static int add_batch(struct builder *b, struct adder *adder, size_t count)
{
    if (b->plan == NULL || b->tries == 1) {
        return receipts_add(&b->receipts, b->args, adder, count);
    }
    enum tepal_status status = adder_add(adder, count);
    return status == TEPAL_FULL ? is_full(b) : args_status(b->args, status, NULL);
}

static int add_all(struct builder *b, struct feed *feed)
{
    struct adder adder;
    ptrdiff_t count;
    int code = EXIT_YES;
    adder_open(&adder, b->filter, feed, arg(b->args, "receipts")->given);
    while (code == EXIT_YES && (count = feed_next(feed)) > 0) {
        code = add_batch(b, &adder, (size_t)count);
    }
    code = code == EXIT_YES && count < 0 ? EXIT_TROUBLE : code;
    feed_stop(feed);
    code = code == EXIT_YES ? args_status(b->args, adder_finish(&adder), NULL) : code;
    adder_close(&adder);
    return code;
}

static int stream(struct builder *b, struct feed *feed, uint64_t keys)
{
    int code = make_filter(b, keys);
    code = code == EXIT_YES ? receipts_open(&b->receipts, b->args, b->filter) : code;
    code = code == EXIT_YES ? add_all(b, feed) : code;
    return code == EXIT_YES ? receipts_finish(&b->receipts, b->args) : code;
}

static int spill_failed(const struct builder *b, const struct spill *spill)
{
    return args_about(b->args, spill_subject(spill), "temporary file: %s", spill_why(spill));
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
    uint64_t before = 0;
    while ((count = spill_next(spill, &digests)) > 0) {
        enum tepal_status status = tepal_filter_add_many(b->filter, digests, (size_t)count);
        bool often = false;
        size_t at =
            status == TEPAL_FULL ? adder_full_at(b->filter, digests, (size_t)count, &often) : 0;
        if (often) {
            return args_error(b->args, "key %" PRIu64 " of the input: " ADDER_OFTEN,
                              before + at + 1);
        }
        if (status != TEPAL_OK) {
            return args_status(b->args, status, NULL);
        }
        before += (uint64_t)count;
    }
    return count == 0 ? EXIT_YES : spill_failed(b, spill);
}

static int count_first(struct builder *b, struct feed *feed)
{
    struct spill *spill = spill_open(SPILL_DIGESTS);
    if (spill == NULL) {
        return args_no_memory(b->args);
    }
    int code = collect(b, feed, spill);
    code = code == EXIT_YES ? replay(b, spill) : code;
    spill_close(spill);
    return code;
}

/*
 * Files that can be read twice are: keeping the digests costs more. *again: they have changed
 * meanwhile, and were another number of keys the second time.
 */
static int count_in_files(struct builder *b, struct feed *feed, uint64_t keys, bool *again)
{
    int code = stream(b, feed, keys > 0 ? keys : 1);
    *again = code == EXIT_YES && feed->total != keys;
    if (*again) {
        tepal_filter_free(b->filter);
        b->filter = NULL;
    }
    return code;
}

/* ---- all keys at once ------------------------------------------------------------------------ */

static int add_offline(struct builder *b, struct members *all)
{
    struct tepal_error error = {.why = NULL};
    if (make_filter(b, all->count > 0 ? all->count : 1) != EXIT_YES ||
        receipts_open(&b->receipts, b->args, b->filter) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    struct progress shown;
    struct tepal_progress progress =
        progress_of(&shown, !arg(b->args, "quiet")->given, "choosing groups");
    enum tepal_status status = tepal_counting_add_offline(b->filter, all->digest, all->count,
                                                          &progress, NULL, all->group, &error);
    progress_end(&shown);
    for (size_t i = 0; i < all->count && all->texts && status == TEPAL_OK; i++) {
        size_t len;
        const char *text = members_text(all, i, &len);
        receipts_write(&b->receipts, text, len, all->group[i]);
    }
    return status == TEPAL_OK ? receipts_finish(&b->receipts, b->args)
                              : args_status(b->args, status, error.why);
}

static int offline(struct builder *b, struct feed *feed)
{
    struct members all = {.texts = arg(b->args, "receipts")->given};
    ptrdiff_t count;
    int code = EXIT_YES;
    while (code == EXIT_YES && (count = feed_next(feed)) > 0) {
        code = members_keep(&all, feed, (size_t)count) ? EXIT_YES : args_no_memory(b->args);
    }
    code = code == EXIT_YES && count < 0 ? EXIT_TROUBLE : code;
    code = code == EXIT_YES ? add_offline(b, &all) : code;
    members_free(&all);
    return code;
}

/* Does a key that comes again take room, or is room planned for it? */
static bool counts_repeats(const struct builder *b)
{
    return !arg(b->args, "quiet")->given && !arg(b->args, "unique")->given &&
           b->params.kind != TEPAL_KIND_RECYCLING && b->params.kind != TEPAL_KIND_CHAIN;
}

/* Once; *again: once more, and then with the digests kept. */
static int read_once(struct builder *b, bool keep, bool *again)
{
    struct feed *feed = feed_open(b->args, 0, &b->hasher);
    uint64_t keys;
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    bool counts = b->plan == NULL && b->recipe->counts(b->args);
    feed->notice_repeats = counts_repeats(b);
    int code = arg(b->args, "offline")->given     ? offline(b, feed)
               : !counts                          ? stream(b, feed, arg(b->args, "capacity")->whole)
               : !keep && feed_count(feed, &keys) ? count_in_files(b, feed, keys, again)
                                                  : count_first(b, feed);
    b->keys = feed->total;
    b->left = feed->left;
    b->told_repeats = feed->told_repeats;
    feed_close(feed);
    return code;
}

static int read_keys(struct builder *b)
{
    bool again = false;
    int code = read_once(b, false, &again);
    return again ? read_once(b, true, &again) : code;
}

/* Repeats beyond the first keys: a Bloom filter has fewer bits set than its keys explain. */
static void warn_repeats(const struct builder *b)
{
    double keys = (double)b->keys;
    double held = render_figure(b->filter, "keys_estimated", keys);
    if (b->params.kind == TEPAL_KIND_BLOOM && !b->told_repeats &&
        keys - held > keys / 20 + 6 * sqrt(keys)) {
        say_warning(
            filter_file_name(b->output, true),
            "about %.2g %% of the keys came before, as far as the filter tells: " LOOK_UNIQUE,
            100 * (keys - held) / keys);
    }
}

static void warn(const struct builder *b)
{
    uint64_t planned = b->plan != NULL ? b->plan->params.capacity : arg(b->args, "capacity")->whole;
    if (arg(b->args, "quiet")->given) {
        return;
    }
    warn_repeats(b);
    if (b->keys == 0) {
        say_warning(filter_file_name(b->output, true), "no keys in the input: the filter is empty");
    } else if (planned > 0 && b->keys > planned) {
        bool endless = (tepal_filter_kind(b->filter)->promises & TEPAL_ENDLESS) != 0;
        say_warning(filter_file_name(b->output, true),
                    "%" PRIu64 " keys were added, but %" PRIu64 " %s planned: %s than predicted",
                    b->keys, planned, planned == 1 ? "was" : "were",
                    endless                              ? "older keys are forgotten more often"
                    : b->params.kind == TEPAL_KIND_CHAIN ? "the rate holds, with more memory"
                                                         : "there are more false positives");
    }
}

/* The kind, and the seed of the keys. Nothing is read yet that cannot be read twice. */
static int prepare(struct builder *b)
{
    const struct args *a = b->args;
    b->recipe = b->plan != NULL ? NULL : recipe_find(a);
    if (b->recipe == NULL && b->plan == NULL) {
        return EXIT_TROUBLE;
    }
    b->params.kind = b->plan != NULL ? b->plan->kind : b->recipe->kind;
    /* Keys first: over a key file, "not a filter" would be the lesser reason. */
    int code = filter_file_check_inputs(b->args, b->output, a->operand, a->operands,
                                        "the filter would overwrite the keys");
    code = code == EXIT_YES ? filter_file_check_output(a, b->output) : code;
    code = code == EXIT_YES ? receipts_check(a) : code;
    if (code == EXIT_YES && arg(a, "receipts")->given && b->recipe->counts(a)) {
        return args_error(
            a, "--receipts needs to know the size in advance: give --cells M or --capacity N");
    }
    code = code == EXIT_YES ? draw_seed(b) : code;
    return code == EXIT_YES ? make_hasher(b) : code;
}

static void forget_key(struct builder *b)
{
    bytes_wipe(b->key, sizeof b->key);
    bytes_wipe(&b->hasher, sizeof b->hasher);
}

/* The kinds that take all keys at once, and negatives besides. */
static int build_veto(struct builder *b)
{
    struct negatives_build v = {.args = b->args,
                                .plan = b->plan,
                                .avoid = b->avoid,
                                .weighted = arg(b->args, "weights")->given ||
                                            (b->plan != NULL && b->plan->weighted),
                                .hasher = &b->hasher,
                                .key = b->key,
                                .params = b->params,
                                .more = b->attempt + 1 < b->tries};
    int code = negatives_check(&v);
    code = code == EXIT_YES ? negatives_build(&v) : code;
    forget_key(b);
    b->full = v.full;
    b->filter = v.filter;
    b->keys = v.keys;
    if (code == EXIT_YES) {
        warn(b);
        code = filter_file_replace(b->args, b->filter, b->output, NULL, 0);
    }
    code = code == EXIT_YES ? negatives_written(&v, b->output) : code;
    tepal_filter_free(b->filter);
    return code;
}

/* A filter that may learn: so many of its members (or of those planned) may be lost. */
static int set_budget(struct builder *b)
{
    double planned = (double)tepal_filter_params(b->filter)->capacity;
    uint64_t most = avoid_budget(b->args, b->plan == NULL ? 0 : b->plan->max_fn,
                                 fmax((double)b->keys, planned));
    struct tepal_error error = {.why = ""};
    enum tepal_status status = most == 0 ? TEPAL_OK : tepal_avoid_budget(b->filter, most, &error);
    return status == TEPAL_OK ? EXIT_YES : args_status(b->args, status, error.why);
}

static int tell(const struct builder *b)
{
    struct report r = report_open(b->args);
    report_object(&r, NULL);
    written_tell(&r, b->output, b->filter, b->keys);
    written_left_out(&r, b->args, b->left.comments, b->left.repeats);
    report_end(&r);
    return written_close(&r);
}

/* The kinds to which keys are added one by one. */
static int build_stream(struct builder *b)
{
    int code = read_keys(b);
    forget_key(b);
    code = code == EXIT_YES ? set_budget(b) : code;
    if (code == EXIT_YES) {
        warn(b);
        struct atomic_file *const beside[] = {&b->receipts.file};
        code = filter_file_replace(b->args, b->filter, b->output, beside, 1);
    }
    code = code == EXIT_YES ? tell(b) : code;
    receipts_free(&b->receipts);
    tepal_filter_free(b->filter);
    return code;
}

static int build_once(struct builder *b)
{
    int code = prepare(b);
    if (code != EXIT_YES) {
        forget_key(b);
        return code;
    }
    return negatives_builds(b->params.kind) ? build_veto(b) : build_stream(b);
}

/* By the options, or (not NULL) by a plan; with one seed after the other until the keys fit. */
static int build(const struct args *args, const struct tepal_proposal *plan, const char *avoid)
{
    const struct option_value *tries = arg(args, "try");
    int code = EXIT_TROUBLE;
    bool again = true;
    for (uint64_t i = 0; again; i++) {
        struct builder b = {.args = args,
                            .plan = plan,
                            .avoid = avoid,
                            .output = arg(args, "output")->text,
                            .params = plan != NULL ? plan->params
                                                   : (struct tepal_params)TEPAL_PARAMS_INIT,
                            .attempt = i,
                            .tries = tries->given ? tries->whole : 1};
        code = build_once(&b);
        again = b.full && i + 1 < b.tries;
        if (code == EXIT_YES && tries->given && !arg(args, "quiet")->given) {
            say_line("try %" PRIu64 " of %" PRIu64 ": seed %" PRIu64 " has room for the keys",
                     i + 1, b.tries, b.params.seed);
        }
    }
    return code;
}

/* The keys are read twice: to be counted and planned for, and to build the filter. */
static int build_planned(const struct args *args)
{
    struct spool spool = {.count = 0};
    struct tepal_proposal plan;
    enum tepal_hash hash;
    int code = filter_file_check_inputs(args, arg(args, "output")->text, args->operand,
                                        args->operands, "the filter would overwrite the keys");
    code = code == EXIT_YES ? arg_hash(args, &hash) : code;
    code = code == EXIT_YES ? spool_open(args, &spool) : code;
    code = code == EXIT_YES ? auto_plan(args, &spool, &plan) : code;
    if (code == EXIT_YES) {
        plan.params.hash = hash;
        struct args again = *args;
        again.operand = spool.path;
        again.operands = spool.count;
        code = build(&again, &plan, spool.avoid);
    }
    spool_close(&spool);
    return code;
}

static int build_run(const struct args *args)
{
    int code = auto_check(args);
    if (code == EXIT_YES && (arg(args, "auto")->given || arg(args, "plan")->given)) {
        return build_planned(args);
    }
    return code == EXIT_YES ? build(args, NULL, arg(args, "avoid")->text) : code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION_OUTPUT,
    OPTION_COMPRESS,
    OPTION_FP,
    OPTION(0, "bits-per-key", OF_VALUE(TAKES_POSITIVE, "B"),
           "Use B bits per key instead; the error rate follows from it."),
    OPTION_BITS,
    OPTION_HASHES,
    OPTION('n', "capacity", OF_WHOLE("N", 1, UINT64_MAX),
           "The number of keys to plan for. Without it (and without --bits) the keys are counted "
           "first, with their digests kept in memory or in a temporary file."),
    OPTION('l', "layout", OF_CHOICE("LAYOUT", LAYOUT_WORDS),
           "Where the bits of a key are (default flat): flat is the textbook filter; blocked needs "
           "one cache line per lookup, for a slightly higher error rate or size; paired needs at "
           "most two, and is nearly as small as flat; partitioned gives each hash function its own "
           "slice."),
    OPTION_POSITIONS,
    OPTION(0, "kind", OF_VALUE(TAKES_KIND, "KIND"),
           "The kind of filter (default bloom); `tepal kinds` lists them."),
    OPTION_SEED,
    KEY_OPTIONS,
    OPTION_UNIQUE,
    OPTION_KEY_FILE,
    OPTION_HASH,
    GENERALIZED_BUILD,
    COUNTING_BUILD,
    OPTION_PRINT_BITS,
    OPTION_GROW,
    OPTION_FIRST,
    OPTION_GROWTH,
    OPTION_SERIES,
    YESNO_BUILD,
    RECYCLING_BUILD,
    FLAG(0, "auto",
         "Count the keys, plan as tepal plan does from the given constraints (--fp, --fn, "
         "--memory, --deletes, ...; --avoid for known negatives), and build the best plan."),
    OPTION(0, "plan", OF_VALUE(TAKES_FILE, "PLAN"),
           "Build the best plan in the file PLAN, written by tepal plan --json."),
    OPTION(0, "try", OF_WHOLE("N", 1, 1000000),
           "With --auto or --plan: if the keys do not fit with one seed, try another, N in all "
           "(with --seed S: S, S + 1, ...). Builds plans that are likely, not sure."),
    WISH_OPTIONS,
    OPTION_FORCE,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const struct example examples[] = {
    {"tepal build domains.txt -o domains.tepal", "A filter with 1 % false positives."},
    {"zcat log.gz | cut -f1 | tepal build -o seen.tepal --capacity 10M --fp 1/1000",
     "From a stream, with memory for the filter only."},
    {"tepal build ids.zst -o ids.tepal --layout blocked --seed 7",
     "Fast lookups, and a seed to share with other machines."},
    {"tepal build cached.txt -o digest.tepal --kind generalized --fp 1% --fn 1%",
     "Both error rates bounded, even if an attacker fills the filter."},
    {"tepal build flows.txt -o flows.tepal --kind counting",
     "A filter from which keys can be removed."},
    {"tepal build today.txt -o seen.tepal --grow", "A filter that may grow a thousandfold at 1 %."},
    {"tepal build today.txt -o seen.tepal --grow --kind chain --layout blocked",
     "The same with Bloom filters in a row, which can be merged bit by bit."},
    {"tepal build bad.txt -o bad.tepal --kind yesno --bits-per-key 10 --avoid popular.tsv -w",
     "Veto known negatives without losing a member."},
    {"tepal build revoked.txt -o revoked.tepal --kind cascade --avoid valid.txt",
     "No errors at all on the keys of both files."},
    {NULL, NULL}};

const struct command command_build = {
    .name = "build",
    .synopsis = "[KEYS...] -o FILE [--fp RATE | --bits-per-key B | --bits M | --auto]",
    .summary = "Build a filter from keys.",
    .about = "Reads keys from the files KEYS (standard input if there are none, or for -), one per "
             "line, and writes a filter. Key files may be compressed with gzip, zstd or xz. A key "
             "is exactly the bytes of its line: spaces and carriage returns count.\n\n"
             "Prints a summary with the seed on standard error. With --capacity or --bits no keys "
             "are kept in memory, however many there are: only the filter, and a copy of it for "
             "each further core (--jobs 1: none).",
    .options = options,
    .needed = "output",
    .files = true,
    .most_operands = SIZE_MAX,
    .stays = "nothing was written",
    .examples = examples,
    .run = build_run};

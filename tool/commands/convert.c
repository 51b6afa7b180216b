/* convert.c: the same keys in another file: the current format version, or a smaller filter. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tepal/bloom.h>
#include <tepal/counting.h>
#include <tepal/file.h>

#include "cli/command.h"
#include "commands/convert/settle.h"
#include "output/written.h"
#include "files/file_lock.h"
#include "files/filter_file.h"
#include "files/packed.h"
#include "cli/options.h"

static bool is_bloom(const struct tepal_filter *filter)
{
    return tepal_filter_kind(filter)->id == TEPAL_KIND_BLOOM;
}

/* What a divisor must divide (tepal_bloom_fold); 0: nothing can be folded. */
static uint64_t foldable(const struct tepal_params *p)
{
    bool distinct = p->positions == TEPAL_POSITIONS_DISTINCT && p->hashes > 1;
    switch (p->layout) {
    case TEPAL_LAYOUT_FLAT:
        return distinct ? 0 : p->cells;
    case TEPAL_LAYOUT_PARTITIONED:
        return p->cells % p->hashes == 0 ? p->cells / p->hashes : 0;
    case TEPAL_LAYOUT_BLOCKED:
        return p->cells / TEPAL_LINE_BITS;
    case TEPAL_LAYOUT_PAIRED:
        return distinct ? 0 : p->cells / TEPAL_LINE_BITS;
    }
    return 0;
}

#define FOLDS_LISTED 8
#define FOLDS_TRIED  ((uint64_t)1 << 20)

/* " by 2, 4, 8, ...", or as sizes; "" if there are none. */
static const char *list_folds(const struct tepal_params *p, bool sizes, char *room, size_t len)
{
    uint64_t whole = foldable(p);
    size_t at = 0;
    int listed = 0;
    room[0] = '\0';
    for (uint64_t d = 2; d <= whole && d <= FOLDS_TRIED && listed <= FOLDS_LISTED; d++) {
        struct tepal_params smaller = *p;
        smaller.cells /= d;
        if (whole % d != 0 || smaller.cells < p->hashes || /* a single bit helps nobody */
            tepal_params_check(&smaller, NULL) != TEPAL_OK) {
            continue;
        }
        if (listed++ == FOLDS_LISTED) {
            (void)snprintf(room + at, len - at, ", ...");
        } else {
            at += (size_t)snprintf(room + at, len - at, "%s%" PRIu64,
                                   listed > 1 ? ", "
                                   : sizes    ? " to "
                                              : " by ",
                                   sizes ? smaller.cells : d);
        }
    }
    return room;
}

static int refuse_fold(const struct args *args, const char *name, const struct tepal_params *p,
                       const char *cannot, bool sizes)
{
    char room[(FOLDS_LISTED + 1) * 24];
    const char *folds = list_folds(p, sizes, room, sizeof room);
    if (*folds == '\0') {
        return args_about(args, name,
                          "%s, nor by any other divisor: it has %" PRIu64 " bits, %s layout, %s "
                          "positions",
                          cannot, p->cells, tepal_layout_name(p->layout),
                          tepal_positions_name(p->positions));
    }
    return args_about(args, name, "%s; it can be%s", cannot, folds);
}

static int fold(const struct args *args, const char *name, uint64_t divisor,
                struct tepal_filter **filter)
{
    struct tepal_filter *small;
    if (!is_bloom(*filter)) {
        return args_about(args, name, "a filter of the kind %s cannot be folded",
                          tepal_filter_kind(*filter)->name);
    }
    const struct tepal_params *p = tepal_filter_params(*filter);
    enum tepal_status status = tepal_bloom_fold(*filter, divisor, NULL, &small, NULL);
    if (status == TEPAL_UNSUPPORTED) {
        char cannot[64];
        (void)snprintf(cannot, sizeof cannot, "cannot be folded by %" PRIu64, divisor);
        return refuse_fold(args, name, p, cannot, false);
    }
    if (status != TEPAL_OK) {
        return say_status(args->command->stays, name, status, NULL);
    }
    tepal_filter_free(*filter);
    *filter = small;
    return EXIT_YES;
}

static int shrink(const struct args *args, const char *name, struct tepal_filter **filter)
{
    uint64_t now = tepal_filter_params(*filter)->cells;
    uint64_t bits = arg(args, "bits")->whole;
    if (now % bits != 0 && is_bloom(*filter)) {
        char cannot[96];
        (void)snprintf(cannot, sizeof cannot,
                       "cannot be shrunk to %" PRIu64 " bits, which does not divide its %" PRIu64,
                       bits, now);
        return refuse_fold(args, name, tepal_filter_params(*filter), cannot, true);
    }
    return fold(args, name, now / bits, filter);
}

static int relayout(const struct args *args, const char *name, struct tepal_filter **filter)
{
    enum tepal_layout now = tepal_filter_params(*filter)->layout;
    enum tepal_layout wanted = now;
    struct tepal_filter *other;
    tepal_layout_parse(arg(args, "layout")->text, &wanted);
    if (wanted == now) {
        return EXIT_YES;
    }
    enum tepal_status status = tepal_bloom_relayout(*filter, wanted, NULL, &other, NULL);
    if (status == TEPAL_UNSUPPORTED) {
        return args_about(
            args, name,
            "%s to %s: these layouts put the bits of a key at different positions; rebuild the "
            "filter from its keys",
            tepal_layout_name(now), tepal_layout_name(wanted));
    }
    if (status != TEPAL_OK) {
        return say_status(args->command->stays, name, status, NULL);
    }
    tepal_filter_free(*filter);
    *filter = other;
    return EXIT_YES;
}

/* Without its counters: as a Bloom filter, or as it is. */
static int drop_counters(const struct args *args, const char *name, struct tepal_filter **filter)
{
    struct tepal_filter *bits = NULL;
    bool to_bloom = strcmp(arg(args, "to")->text, "bloom") == 0;
    if (tepal_filter_kind(*filter)->id != TEPAL_KIND_COUNTING) {
        return args_about(args, name,
                          "only counting filters have counters to drop, and this one is %s",
                          tepal_filter_kind(*filter)->name);
    }
    enum tepal_status status = to_bloom ? tepal_counting_to_bloom(*filter, NULL, &bits, NULL)
                                        : tepal_counting_strip(*filter, NULL, &bits, NULL);
    if (status == TEPAL_UNSUPPORTED) {
        return args_about(args, name,
                          "a Bloom filter needs one choice and no lines of 128 counters; "
                          "--to bits works with any");
    }
    if (status != TEPAL_OK) {
        return say_status(args->command->stays, name, status, NULL);
    }
    tepal_filter_free(*filter);
    *filter = bits;
    return EXIT_YES;
}

static int change(const struct args *args, const char *name, struct tepal_filter **filter)
{
    if (arg(args, "fold")->given) {
        return fold(args, name, arg(args, "fold")->whole, filter);
    }
    if (arg(args, "bits")->given) {
        return shrink(args, name, filter);
    }
    if (arg(args, "to")->given) {
        return drop_counters(args, name, filter);
    }
    if (arg(args, "settle")->given) {
        return settle(args, name, filter);
    }
    return arg(args, "layout")->given ? relayout(args, name, filter) : EXIT_YES;
}

/* Options of --settle alone; and inputs that the output would overwrite. */
static int check_settle(const struct args *args, const char *output)
{
    static const char *const own[] = {"members", "fp", NULL};
    for (size_t i = 0; own[i] != NULL; i++) {
        if (arg(args, own[i])->given && !arg(args, "settle")->given) {
            return args_error(args, "--%s belongs to --settle", own[i]);
        }
    }
    const char *members = arg(args, "members")->text;
    return arg(args, "members")->given
               ? filter_file_check_inputs(args, output, &members, 1,
                                          "the filter would overwrite the keys")
               : EXIT_YES;
}

static int tell(const struct args *args, const char *output, const struct tepal_filter *filter,
                uint64_t before)
{
    struct report r = report_open(args);
    report_object(&r, NULL);
    written_tell(&r, output, filter, UINT64_MAX);
    if (arg(args, "settle")->given) {
        settle_tell(&r, before, tepal_encoded_bytes(filter));
    }
    report_end(&r);
    return written_close(&r);
}

static int convert_run(const struct args *args)
{
    const char *output = arg(args, "output")->text;
    struct tepal_filter *filter;
    struct file_lock lock = {.path = NULL};
    int code =
        filter_file_check_inputs(args, arg(args, "force")->given ? NULL : output, args->operand, 1,
                                 "the output is the input filter; use --force to replace it");
    code = code == EXIT_YES ? check_settle(args, output) : code;
    code = code == EXIT_YES ? filter_file_check_output(args, output) : code;
    code = code == EXIT_YES ? file_lock_take(&lock, args, output, FILE_LOCK_WAIT) : code;
    if (code != EXIT_YES ||
        filter_file_open(args, args->operand[0], FILTER_FILE_LOAD, &filter) != EXIT_YES) {
        file_lock_drop(&lock);
        return EXIT_TROUBLE;
    }
    uint64_t before = tepal_encoded_bytes(filter);
    code = change(args, filter_file_name(args->operand[0], false), &filter);
    code = code == EXIT_YES ? filter_file_save(args, filter, output) : code;
    file_lock_drop(&lock);
    code = code == EXIT_YES ? tell(args, output, filter, before) : code;
    tepal_filter_free(filter);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION_OUTPUT,
    OPTION_COMPRESS,
    OPTION(0, "fold", OF_WHOLE("D", 1, (uint64_t)1 << 60),
           "Shrink to 1/D of the size; the result is as if built at that size."),
    OPTION('m', "bits", OF_WHOLE("M", 1, (uint64_t)1 << 60),
           "Shrink to M bits, which must divide the current size."),
    OPTION('l', "layout", OF_CHOICE("LAYOUT", LAYOUT_WORDS),
           "Change the layout. Possible only if both layouts put the bits of every key at the same "
           "positions; otherwise rebuild from the keys."),
    OPTION(0, "to", OF_CHOICE("KIND", "bloom bits"),
           "Drop the counters of a counting filter, to send it. bloom: make a Bloom filter; needs "
           "one choice and no lines of 128 counters. bits: the same filter without its "
           "counters, for any layout; it gives the same answers, but keys can no longer be added "
           "or removed."),
    FLAG(0, "settle",
         "Build a filter that grew again as one of fixed size, from its keys (--members): a chain "
         "as a Bloom filter, a growing filter as a fingerprint filter, each key once."),
    OPTION(0, "members", OF_VALUE(TAKES_FILE, "KEYS"),
           "With --settle: all keys of the filter, one per line (- is standard input)."),
    OPTION('p', "fp", OF_VALUE(TAKES_RATE, "RATE"),
           "With --settle: the false-positive rate (default: the one planned)."),
    KEY_OPTIONS,
    OPTION_KEY_FILE,
    WRITER_OPTIONS};
static const char *const exclusive[][4] = {{"fold", "bits", "layout", "to"},
                                           {"settle", "fold", "bits"},
                                           {"settle", "layout", "to"},
                                           {NULL}};
static const struct example examples[] = {
    {"tepal convert old.tepal -o new.tepal", "Rewrite it in the current format version."},
    {"tepal convert big.tepal -o small.tepal --fold 4",
     "A quarter of the size, with a higher error rate."},
    {"tepal convert flows.tepal -o send.tepal --to bloom",
     "A counting filter at a fifth of its size."},
    {"tepal convert seen.tepal -o last.tepal --settle --members keys.txt",
     "A filter that has grown enough, in fewer bits."},
    {NULL, NULL}};

const struct command command_convert = {
    .name = "convert",
    .synopsis = "FILE -o OUT [--fold D | --bits M | --layout LAYOUT | --to KIND | --settle]",
    .summary = "Rewrite or shrink a filter.",
    .about = "Folding is exact: the result is the filter that the same keys would give at the "
             "smaller size.",
    .options = options,
    .exclusive = exclusive,
    .needed = "output",
    .files = true,
    .least_operands = 1,
    .most_operands = 1,
    .operand_name = "a filter is",
    .stays = "nothing was written",
    .examples = examples,
    .run = convert_run};

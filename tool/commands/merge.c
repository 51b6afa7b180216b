/* merge.c: the union (or intersection) of filters; the first is loaded, the others are viewed. */
#include <stdio.h>
#include <stdlib.h>

#include <tepal/filter.h>

#include "cli/command.h"
#include "output/progress.h"
#include "output/written.h"
#include "files/file_lock.h"
#include "files/filter_file.h"
#include "files/packed.h"
#include "cli/options.h"
#include "input/lanes.h"

/* Which parameter keeps two filters apart. */
static const char *difference(const struct tepal_params *a, const struct tepal_params *b)
{
    const struct {
        bool differs;
        const char *why;
    } parts[] = {{a->kind != b->kind, "the kinds differ"},
                 {a->layout != b->layout, "the layouts differ"},
                 {a->positions != b->positions, "the positions (colliding, distinct) differ"},
                 {a->cells != b->cells, "the numbers of bits differ (convert --fold may help)"},
                 {a->hashes != b->hashes, "the numbers of hashes differ"},
                 {tepal_hash_is_keyed(a->hash) != tepal_hash_is_keyed(b->hash),
                  "one has a secret key and the other does not"},
                 {a->hash != b->hash, "their keyed hashes differ"},
                 {a->seed != b->seed, "the seeds differ (build with the same --seed)"},
                 {a->key_check != b->key_check, "the secret keys differ"},
                 {true, "other parameters differ"}};
    size_t i = 0;
    while (!parts[i].differs) {
        i++;
    }
    return parts[i].why;
}

/* A filter, opened and checked by any thread. */
struct part {
    struct tepal_filter *filter; /* NULL: it could not be opened */
    struct tepal_error error;
};

struct merge {
    const struct args *args;
    struct part *part;
    struct progress progress;
    int code;
};

static void open_part(void *context, size_t i)
{
    const struct merge *m = context;
    struct part *p = &m->part[i];
    if (filter_file_try(m->args->operand[i], i == 0 ? FILTER_FILE_LOAD : FILTER_FILE_VIEW,
                        &p->filter, &p->error) != TEPAL_OK) {
        p->filter = NULL;
    }
}

static int merge_one(const struct args *args, struct tepal_filter *into, struct tepal_filter *other,
                     const char *path)
{
    enum tepal_status status = arg(args, "intersect")->given ? tepal_filter_intersect(into, other)
                                                             : tepal_filter_unite(into, other);
    int code = EXIT_YES;
    if (status == TEPAL_MISMATCH) {
        code = args_about(args, filter_file_name(path, false), "cannot be merged with %s: %s",
                          filter_file_name(args->operand[0], false),
                          difference(tepal_filter_params(into), tepal_filter_params(other)));
    } else if (status == TEPAL_UNSUPPORTED) {
        bool order = (tepal_filter_kind(into)->promises & TEPAL_ENDLESS) != 0; /* old ones fade */
        code = args_about(args, filter_file_name(path, false),
                          "%s filters cannot be %s%s; build one filter from all the keys",
                          tepal_filter_kind(into)->name,
                          arg(args, "intersect")->given ? "intersected" : "merged",
                          order ? ": the order in which keys were added matters" : "");
    } else if (status != TEPAL_OK) {
        code = say_status(args->command->stays, filter_file_name(path, false), status, NULL);
    }
    return code;
}

/* In the order of the files: the first is what the others are merged into. */
static bool take_part(void *context, size_t i)
{
    struct merge *m = context;
    struct part *p = &m->part[i];
    const char *path = m->args->operand[i];
    progress_parts(&m->progress, i, m->args->operands, "filters merged");
    if (p->filter == NULL) {
        progress_end(&m->progress);
    }
    m->code = p->filter == NULL ? filter_file_fault(m->args->command->stays,
                                                    filter_file_name(path, false), &p->error)
              : i == 0          ? EXIT_YES
                                : merge_one(m->args, m->part[0].filter, p->filter, path);
    if (i > 0) {
        tepal_filter_free(p->filter);
        p->filter = NULL;
    }
    return m->code == EXIT_YES;
}

/* *into is the first filter with all others, or NULL if it could not be opened. */
static int merge_all(const struct args *args, struct tepal_filter **into)
{
    struct merge m = {.args = args, .part = calloc(args->operands, sizeof *m.part)};
    *into = NULL;
    progress_start(&m.progress, !arg(args, "quiet")->given);
    if (m.part == NULL || !lanes_each(arg_jobs(args), args->operands, open_part, take_part, &m)) {
        m.code = args_no_memory(args);
    }
    progress_end(&m.progress);
    for (size_t i = 1; i < args->operands && m.part != NULL; i++) {
        tepal_filter_free(m.part[i].filter); /* opened, but no longer wanted */
    }
    *into = m.part == NULL ? NULL : m.part[0].filter;
    free(m.part);
    return m.code;
}

static int check(const struct args *args)
{
    const char *output = arg(args, "output")->text;
    const char *compare = arg(args, "force")->given ? NULL : output;
    if (filter_file_check_inputs(
            args, compare, args->operand, args->operands,
            "the output is one of the input filters; use --force to replace it") != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    return filter_file_check_output(args, output);
}

static int merge_run(const struct args *args)
{
    const char *output = arg(args, "output")->text;
    struct tepal_filter *into;
    struct file_lock lock = {.path = NULL};
    if (check(args) != EXIT_YES ||
        file_lock_take(&lock, args, output, FILE_LOCK_WAIT) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = merge_all(args, &into);
    code = code == EXIT_YES ? filter_file_save(args, into, output) : code;
    file_lock_drop(&lock);
    code = code == EXIT_YES ? written_print(args, output, into, UINT64_MAX) : code;
    tepal_filter_free(into);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION_OUTPUT, OPTION_COMPRESS,
    FLAG(0, "intersect",
         "Intersect the filters instead. Every common key is found; the error rate is higher than "
         "that of a filter built from the common keys."),
    OPTION_JOBS, WRITER_OPTIONS};
static const struct example examples[] = {
    {"tepal merge monday.tepal tuesday.tepal -o week.tepal", "One filter for both days."},
    {"tepal merge total.tepal new.tepal -o total.tepal --force", "Replace one of the inputs."},
    {NULL, NULL}};

const struct command command_merge = {
    .name = "merge",
    .synopsis = "FILE FILE... -o OUT [--intersect]",
    .summary = "Merge filters: union or intersection.",
    .about = "The union finds every key that any of the filters finds. It is exactly the filter "
             "that all keys together would give, except for counting filters with --choices: these "
             "keep their receipts, but have more false positives than one filter built from all "
             "keys. `tepal kinds` shows which kinds are mergeable. The filters must have the same "
             "kind, sizes, layout, seed and secret key.",
    .options = options,
    .needed = "output",
    .files = true,
    .least_operands = 2,
    .most_operands = SIZE_MAX,
    .operand_name = "two filters or more are",
    .stays = "nothing was written",
    .examples = examples,
    .run = merge_run};

/* add.c: more keys into a filter that exists; in place, or to another file. */
#include <inttypes.h>
#include <string.h>

#include <tepal/filter.h>

#include "command.h"
#include "feed.h"
#include "render.h"
#include "say.h"
#include "shelf.h"

/* Is the filter written back to where it came from? */
static bool in_place(const char *from, const char *to)
{
    return strcmp(to, "-") != 0 && (strcmp(from, to) == 0 || shelf_same(from, to));
}

static int check(const struct args *args, const char *from, const char *to)
{
    const char *stays = args->command->stays;
    const char *const *keys = args->operand + 1;
    size_t count = args->operands - 1;
    static const char why[] = "the keys would be overwritten by the filter";
    if (strcmp(from, "-") == 0) {
        if (!args->option[OPT_IN_PLACE_OUTPUT].given) {
            return say_error(stays, "standard input",
                             "a filter from there cannot be changed in place: give --output");
        }
        bool reads_standard = count == 0;
        for (size_t i = 0; i < count; i++) {
            reads_standard = reads_standard || strcmp(keys[i], "-") == 0;
        }
        if (reads_standard) {
            return say_error(stays, "standard input",
                             "the filter is read from there, so the keys must come from files");
        }
    }
    if (shelf_check_inputs(stays, from, keys, count, why) != EXIT_YES ||
        shelf_check_inputs(stays, to, keys, count, why) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    return in_place(from, to) ? shelf_check_in_place(stays, to) : shelf_check_output(args, to);
}

static int add_keys(const struct args *args, struct tepal_filter *filter,
                    const struct tepal_hasher *hasher, uint64_t *total)
{
    struct feed *feed = feed_open(args, 1, hasher, args->option[OPT_QUIET].given);
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    ptrdiff_t count;
    enum tepal_status status = TEPAL_OK;
    while (status == TEPAL_OK && (count = feed_next(feed)) > 0) {
        status = tepal_filter_add_many(filter, feed->digest, (size_t)count);
    }
    *total = feed->total;
    feed_close(feed);
    if (status != TEPAL_OK) {
        return say_error(args->command->stays, args->operand[0], "%s",
                         tepal_status_message(status));
    }
    return count == 0 ? EXIT_YES : EXIT_TROUBLE;
}

static void warn(const struct args *args, const char *to, const struct tepal_filter *filter,
                 uint64_t total)
{
    uint64_t capacity = tepal_filter_params(filter)->capacity;
    uint64_t added = tepal_filter_keys_added(filter);
    if (args->option[OPT_QUIET].given) {
        return;
    }
    if (total == 0) {
        say_warning(shelf_name(to, true), "no keys came: the filter stays as it was");
    } else if (capacity > 0 && added > capacity) {
        say_warning(shelf_name(to, true),
                    "%" PRIu64 " keys have been added and %" PRIu64
                    " were planned: there may be more false positives than predicted",
                    added, capacity);
    }
}

static int work(const struct args *args, const char *from, const char *to,
                struct tepal_filter *filter)
{
    struct tepal_hasher hasher;
    uint64_t total = 0;
    int code = shelf_hasher(args, shelf_name(from, false), filter, &hasher);
    if (code == EXIT_YES) {
        code = add_keys(args, filter, &hasher, &total);
    }
    if (code == EXIT_YES) {
        warn(args, to, filter, total);
        if (total == 0 && in_place(from, to)) {
            return args->option[OPT_JSON].given ? render_written(args, to, filter, total) : code;
        }
        code = shelf_save(args->command->stays, filter, to);
    }
    return code == EXIT_YES ? render_written(args, to, filter, total) : code;
}

int add_run(const struct args *args)
{
    const struct option_value *output = &args->option[OPT_IN_PLACE_OUTPUT];
    const char *from = args->operand[0];
    const char *to = output->given ? output->text : from;
    struct tepal_filter *filter;
    int lock;
    if (check(args, from, to) != EXIT_YES ||
        shelf_lock(args, to, args->operand, 1, &lock) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = shelf_open(args->command->stays, from, SHELF_LOAD, &filter);
    if (code == EXIT_YES) {
        code = work(args, from, to, filter);
        tepal_filter_free(filter);
    }
    shelf_unlock(lock);
    return code;
}

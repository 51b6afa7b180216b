/* receipts.c: keys with their groups, written beside the filter and read back. */
#include "input/receipts.h"

#include <inttypes.h>

#include "files/filter_file.h"

int receipts_check(const struct args *args)
{
    const struct option_value *file = arg(args, "receipts");
    return file->given ? atomic_file_check(args, file->text) : EXIT_YES;
}

int receipts_open(struct receipts *receipts, const struct args *args, struct tepal_filter *filter)
{
    if (!arg(args, "receipts")->given) {
        return EXIT_YES;
    }
    if (tepal_filter_kind(filter)->id != TEPAL_KIND_COUNTING) {
        return args_about(args, "--receipts",
                          "only filters of the kind counting have receipts, and this one is %s",
                          tepal_filter_kind(filter)->name);
    }
    receipts->separator = arg(args, "null")->given ? '\0' : '\n';
    return atomic_file_open(&receipts->file, args, arg(args, "receipts")->text);
}

void receipts_write(struct receipts *receipts, const char *text, size_t len, uint8_t group)
{
    out_bytes(receipts->file.out, text, len);
    out_format(receipts->file.out, "\t%u", group);
    out_bytes(receipts->file.out, &receipts->separator, 1);
}

static void write_batch(struct receipts *receipts, const struct feed *feed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        receipts_write(receipts, feed->key[i], feed->len[i], receipts->group[i]);
    }
}

int receipts_add(struct receipts *receipts, const struct args *args, struct adder *adder,
                 size_t count)
{
    const struct feed *feed = adder->feed;
    bool wanted = arg(args, "receipts")->given;
    enum tepal_status status =
        wanted ? tepal_counting_add_many(adder->filter, feed->digest, count, receipts->group)
               : adder_add(adder, count);
    if (status == TEPAL_FULL) {
        return adder_say_full(adder, args, count);
    }
    if (status != TEPAL_OK) {
        return args_status(args, status, NULL);
    }
    if (wanted) {
        write_batch(receipts, feed, count);
    }
    return EXIT_YES;
}

int receipts_finish(struct receipts *receipts, const struct args *args)
{
    return arg(args, "receipts")->given ? atomic_file_finish(&receipts->file, args) : EXIT_YES;
}

void receipts_free(struct receipts *receipts)
{
    atomic_file_free(&receipts->file);
}

int receipts_groups(const struct args *args, const struct feed *feed, size_t count,
                    uint32_t choices, uint8_t *groups)
{
    for (size_t i = 0; i < count; i++) {
        double group = feed->weight[i];
        if (!(group < choices) || group != (double)(uint32_t)group) {
            return args_about(args, feed_subject(feed),
                              "%s %" PRIu64 ": no such group: this filter has %" PRIu32 ", "
                              "numbered from 0",
                              feed->unit, feed_number(feed, i), choices);
        }
        groups[i] = (uint8_t)group;
    }
    return EXIT_YES;
}

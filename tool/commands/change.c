/* change.c: check, lock, load, work. */
#include "commands/change.h"

#include <string.h>

#include "files/file_lock.h"
#include "files/filter_file.h"

bool change_in_place(const char *from, const char *to)
{
    return filter_file_same(from, to);
}

static int check(const struct args *args, const char *from, const char *to, const char *const *keys,
                 size_t count)
{
    static const char why[] = "the filter would overwrite the keys";
    if (strcmp(from, "-") == 0) {
        if (!arg(args, "output")->given) {
            return args_about(args, "standard input",
                              "a filter read from there cannot be changed in place: give --output");
        }
        bool reads_standard = count == 0;
        for (size_t i = 0; i < count; i++) {
            reads_standard = reads_standard || strcmp(keys[i], "-") == 0;
        }
        if (reads_standard) {
            return args_about(args, "standard input",
                              "the filter is read from there, so the keys must come from files");
        }
    }
    if (filter_file_check_inputs(args, from, keys, count, why) != EXIT_YES ||
        filter_file_check_inputs(args, to, keys, count, why) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    return change_in_place(from, to) ? filter_file_check_in_place(args, to)
                                     : filter_file_check_output(args, to);
}

int change_run(const struct args *args, const char *keys, change_work *work)
{
    const struct option_value *output = arg(args, "output");
    const struct option_value *file = keys == NULL ? NULL : arg(args, keys);
    bool given = file != NULL && file->given;
    const char *from = args->operand[0];
    const char *to = output->given ? output->text : from;
    struct tepal_filter *filter;
    struct file_lock lock = {.path = NULL};
    if (given && args->operands > 1) {
        return args_error(args, "--%s names the keys: do not give KEYS as well", keys);
    }
    if (check(args, from, to, given ? &file->text : args->operand + 1,
              given ? 1 : args->operands - 1) != EXIT_YES ||
        file_lock_take(&lock, args, to, FILE_LOCK_WAIT) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = filter_file_open(args, from, FILTER_FILE_LOAD, &filter);
    if (code == EXIT_YES) {
        code = work(args, from, to, filter);
        tepal_filter_free(filter);
    }
    file_lock_drop(&lock);
    return code;
}

/* sides.c: may a command write its two side files? Then it does. */
#include "files/sides.h"

#include "files/filter_file.h"

static int check_side(const struct args *args, const char *id)
{
    const struct option_value *file = arg(args, id);
    if (!file->given) {
        return EXIT_YES;
    }
    int code = filter_file_check_inputs(args, file->text, args->operand, args->operands,
                                        "the output would overwrite the lines");
    return code == EXIT_YES ? atomic_file_check(args, file->text) : code;
}

int sides_check(const struct args *args, const char *a, const char *b)
{
    const struct option_value *one = arg(args, a);
    const struct option_value *two = arg(args, b);
    if (check_side(args, a) != EXIT_YES || check_side(args, b) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (one->given && two->given && filter_file_same(one->text, two->text)) {
        return args_about(args, two->text, "--%s and --%s name the same file", a, b);
    }
    return EXIT_YES;
}

int sides_prepare(const struct args *args, const struct side *side, struct atomic_file *file)
{
    if (!arg(args, side->option)->given) {
        return EXIT_YES;
    }
    int code = atomic_file_open(file, args, arg(args, side->option)->text);
    if (code == EXIT_YES) {
        side->write(side->context, file->out);
        code = atomic_file_finish(file, args);
    }
    return code;
}

int sides_write(const struct args *args, const struct side *a, const struct side *b)
{
    struct atomic_file one = {.path = NULL};
    struct atomic_file two = {.path = NULL};
    struct atomic_file *const both[] = {&one, &two};
    int code = sides_prepare(args, a, &one);
    code = code == EXIT_YES ? sides_prepare(args, b, &two) : code;
    code = code == EXIT_YES ? filter_file_save_with(args, NULL, NULL, both, 2) : code;
    atomic_file_free(&one);
    atomic_file_free(&two);
    return code;
}

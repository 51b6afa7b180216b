/* sides.c: may a command write its two side files? Then it does. */
#include "files/sides.h"

#include "files/filter_file.h"

int sides_check(const struct args *args, const char *a, const char *b)
{
    const struct option_value *one = arg(args, a);
    const struct option_value *two = arg(args, b);
    int code = one->given ? atomic_file_check(args, one->text) : EXIT_YES;
    return code == EXIT_YES && two->given ? atomic_file_check(args, two->text) : code;
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

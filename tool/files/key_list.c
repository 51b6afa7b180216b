/* key_list.c: lists of keys, each an atomic file. */
#include "files/key_list.h"

#include <string.h>

#include "files/filter_file.h"

static int check(const struct args *args, const char *path, bool update, const char *const *others,
                 size_t count)
{
    if (strcmp(path, "-") == 0) {
        return args_about(args, path, "a list of keys needs a file of its own");
    }
    for (size_t i = 0; i < count; i++) {
        if (others[i] != NULL && filter_file_same(others[i], path)) {
            return args_about(args, path, "the list would overwrite another file of this command");
        }
    }
    return update ? EXIT_YES : atomic_file_check(args, path);
}

int key_lists_check(const struct args *args, const char *const *options, const char *update,
                    const char *const *others, size_t count)
{
    int code = EXIT_YES;
    for (size_t i = 0; options[i] != NULL && code == EXIT_YES; i++) {
        const struct option_value *list = arg(args, options[i]);
        if (!list->given) {
            continue;
        }
        bool updated = update != NULL && strcmp(options[i], update) == 0;
        code = check(args, list->text, updated, others, count);
        for (size_t j = 0; j < i && code == EXIT_YES; j++) {
            const struct option_value *other = arg(args, options[j]);
            code = other->given ? check(args, list->text, true, &other->text, 1) : code;
        }
    }
    return code;
}

int key_list_open(struct key_list *list, const struct args *args, const char *option)
{
    list->separator = arg(args, "null")->given ? '\0' : '\n';
    return arg(args, option)->given ? atomic_file_open(&list->file, args, arg(args, option)->text)
                                    : EXIT_YES;
}

void key_list_add(struct key_list *list, const char *text, size_t len)
{
    if (list->file.out != NULL) {
        out_bytes(list->file.out, text, len);
        out_bytes(list->file.out, &list->separator, 1);
    }
}

int key_list_finish(struct key_list *list, const struct args *args)
{
    return list->file.out != NULL ? atomic_file_finish(&list->file, args) : EXIT_YES;
}

void key_list_free(struct key_list *list)
{
    atomic_file_free(&list->file);
}

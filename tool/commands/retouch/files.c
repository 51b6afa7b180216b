/* files.c: the filter, the list of lost members and the exceptions, written together. */
#include "commands/retouch/retouching.h"

#include <stdlib.h>

#include "files/atomic_file.h"
#include "files/filter_file.h"

static int write_victims(const struct retouching *w, struct atomic_file *file)
{
    char end = arg(w->args, "null")->given ? '\0' : '\n';
    if (atomic_file_open(file, w->args, arg(w->args, "victims")->text) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    for (size_t i = 0; i < w->members.count; i++) {
        if ((w->victims[i / 64] >> (i % 64) & 1) != 0) {
            size_t len;
            const char *text = digests_text(&w->members, i, &len);
            out_bytes(file->out, text, len);
            out_bytes(file->out, &end, 1);
        }
    }
    return atomic_file_finish(file, w->args);
}

static int write_exceptions(const struct retouching *w, struct atomic_file *file)
{
    struct tepal_exceptions *list = NULL;
    uint8_t *bytes = NULL;
    int code = EXIT_TROUBLE;
    if (tepal_exceptions_create(w->filter, w->members.digest, w->members.count, w->victims, NULL,
                                &list, NULL) != TEPAL_OK ||
        (bytes = malloc((size_t)tepal_exceptions_encoded_bytes(list))) == NULL) {
        args_no_memory(w->args);
    } else if (atomic_file_open(file, w->args, arg(w->args, "exceptions")->text) == EXIT_YES) {
        size_t len = (size_t)tepal_exceptions_encoded_bytes(list);
        (void)tepal_exceptions_encode(list, bytes, len, NULL);
        out_bytes(file->out, bytes, len);
        code = atomic_file_finish(file, w->args);
    }
    free(bytes);
    tepal_exceptions_free(list);
    return code;
}

int retouch_write(const struct retouching *w)
{
    struct atomic_file victims = {.path = NULL};
    struct atomic_file exceptions = {.path = NULL};
    int code = EXIT_YES;
    if (arg(w->args, "victims")->given) {
        code = write_victims(w, &victims);
    }
    if (code == EXIT_YES && arg(w->args, "exceptions")->given) {
        code = write_exceptions(w, &exceptions);
    }
    struct atomic_file *const beside[] = {&victims, &exceptions};
    if (code == EXIT_YES) {
        code = filter_file_save_with(w->args, w->result, arg(w->args, "output")->text, beside, 2);
    }
    atomic_file_free(&victims);
    atomic_file_free(&exceptions);
    return code;
}

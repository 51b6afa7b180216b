/* lines.c: the command's reader of keys, taken for a reader of lines. */
#include "lines.h"

#include <inttypes.h>

#include "input/keys.h"
#include "cli/say.h"

#define AT_ONCE 256

int lines_read(const char *path, lines_reader *reader, void *ctx)
{
    struct keys_options how = {.separator = '\n', .plain = false};
    struct key line[AT_ONCE];
    uint64_t number = 0;
    ptrdiff_t count;
    int code = EXIT_YES;
    struct keys *keys = keys_open(&path, 1, &how);
    if (keys == NULL) {
        return say_error(NULL, NULL, "out of memory");
    }
    while (code == EXIT_YES && (count = keys_next(keys, line, AT_ONCE)) != 0) {
        if (count < 0) {
            code = say_error(NULL, keys_subject(keys), "%s", keys_why(keys));
        }
        for (ptrdiff_t i = 0; i < count && code == EXIT_YES; i++) {
            const char *why = reader(ctx, line[i].text, line[i].len);
            number++;
            if (why != NULL) {
                code = say_error(NULL, keys_subject(keys), "line %" PRIu64 ": %s", number, why);
            }
        }
    }
    keys_close(keys);
    return code;
}

uint64_t lines_draw(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/*
 * requests_fuzz.c: the reader of request logs, fed with any lines and any names of fields. What it
 * accepts must keep the promises of requests.h, and a line that is refused must leave the requests
 * as they were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readers/requests.h"
#include "fail.h"
#include "must.h"

static void check(const struct requests *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct request *q = &r->request[i];
        MUST(q->key < r->keys.count);
        MUST(q->who == NAMES_NONE || q->who < r->who.count);
    }
    for (uint32_t i = 0; i < r->keys.count; i++) {
        const char *text = names_text(&r->keys, i);
        MUST(text[0] != '\0' && names_find(&r->keys, text, strlen(text)) == i);
    }
}

struct again {
    const struct requests *requests;
    const struct requests_form *form;
    const char *path;
    bool refused;
    bool plain;
};

/* The same lines from a file: if none was refused, the same requests. */
static bool read_again(const struct again *a)
{
    struct requests again = {.count = 0};
    int code = requests_read(&again, a->form, &a->path, 1);
    MUST(code != 0 || !a->plain || (!a->refused && again.count == a->requests->count));
    requests_free(&again);
    return code == 0;
}

static void read_failing(void *context)
{
    (void)read_again(context);
}

static void check_file(const struct requests *r, const struct requests_form *form, bool refused,
                       const uint8_t *data, size_t size)
{
    char path[MUST_PATH];
    int fd = must_file(data, size, path);
    struct again again = {r, form, path, refused, must_be_plain(data, size)};
    MUST(read_again(&again) || refused || !again.plain);
    if (size % 8 == 0) {
        fail_each(read_failing, &again);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const words[] = {
        NULL, "1", "2", "7", "64", "65", "0", "url", "bytes", "x y", "99999999999999999999", "-1"};
    const size_t count = sizeof words / sizeof *words;
    struct requests r = {.count = 0};
    struct requests_file file;
    if (size < 3) {
        return 0;
    }
    struct requests_form form = {words[data[0] % count], words[data[1] % count],
                                 words[data[2] % count]};
    data += 3;
    size -= 3;
    requests_begin(&file, &form);
    const uint8_t *const begin = data;
    const size_t whole = size;
    bool refused = false;
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t len = end == NULL ? size : (size_t)(end - data);
        size_t before = r.count;
        /* A copy of its own, so that reading past the line is noticed. */
        char *line = must_copy(data, len);
        const char *why = requests_line(&r, &file, line, len);
        free(line);
        refused |= why != NULL;
        if (why != NULL) {
            MUST(why[0] != '\0' && strlen(why) < sizeof file.why);
            MUST(r.count == before);
        }
        MUST(r.count <= before + 1);
        size -= len + (end != NULL);
        data += len + (end != NULL);
    }
    check(&r);
    check_file(&r, &form, refused, begin, whole);
    requests_free(&r);
    return 0;
}

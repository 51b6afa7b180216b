/*
 * keys.c: one buffer, scanned with memchr.
 *
 *     buffer  |.....handed out.....|..a key that is not complete yet..|......free......|
 *             0                    begin                    scanned    end              room
 *
 * Keys point into the buffer. What is not complete is moved to the front before more is read; the
 * buffer doubles when a key fills it. Bytes before `scanned` are known to hold no separator, so a
 * long key is scanned once however small the pieces in which it arrives.
 */
#include "input/keys.h"

#include <stdlib.h>
#include <string.h>

#include "input/source.h"

#define FIRST_ROOM ((size_t)1 << 18)

struct keys {
    struct keys_options options;
    const char *const *paths;
    size_t path_count;
    size_t next_path;
    const char *subject;
    const char *why;
    bool (*wait)(void *context, int fd);
    void *wait_context;
    struct source *source;
    bool source_ended;
    bool live;
    uint64_t number; /* of the first key of the last batch */
    uint64_t next_number;
    char *buffer;
    size_t begin;
    size_t scanned;
    size_t end;
    size_t room;
};

static const char *const standard_input[] = {"-"};

struct keys *keys_open(const char *const *paths, size_t count, const struct keys_options *options)
{
    struct keys *k = calloc(1, sizeof *k);
    if (k == NULL) {
        return NULL;
    }
    k->buffer = malloc(FIRST_ROOM);
    if (k->buffer == NULL) {
        free(k);
        return NULL;
    }
    k->room = FIRST_ROOM;
    k->options = *options;
    k->paths = count > 0 ? paths : standard_input;
    k->path_count = count > 0 ? count : 1;
    k->subject = "";
    k->why = "";
    return k;
}

struct keys *keys_open_fd(int fd, const struct keys_options *options)
{
    struct keys *k = keys_open(NULL, 0, options);
    if (k == NULL) {
        return NULL;
    }
    k->next_path = k->path_count;
    k->next_number = 1;
    k->source = source_open_fd(fd, options->plain, &k->why);
    if (k->source == NULL) {
        keys_close(k);
        return NULL;
    }
    return k;
}

void keys_close(struct keys *k)
{
    if (k == NULL) {
        return;
    }
    source_close(k->source);
    free(k->buffer);
    free(k);
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool open_next(struct keys *k)
{
    const char *path = k->paths[k->next_path++];
    k->subject = strcmp(path, "-") == 0 ? "standard input" : path;
    k->source = source_open(path, k->options.plain, &k->why);
    k->source_ended = false;
    k->next_number = 1;
    if (k->source != NULL) {
        source_set_wait(k->source, k->wait, k->wait_context);
    }
    return k->source != NULL;
}

void keys_set_wait(struct keys *k, bool (*wait)(void *context, int fd), void *context)
{
    k->wait = wait;
    k->wait_context = context;
    if (k->source != NULL) {
        source_set_wait(k->source, wait, context);
    }
}

static void close_current(struct keys *k)
{
    source_close(k->source);
    k->source = NULL;
}

/* Room for more bytes behind `end`, and one for a separator. */
static bool make_room(struct keys *k)
{
    if (k->begin > 0) {
        memmove(k->buffer, k->buffer + k->begin, k->end - k->begin);
        k->end -= k->begin;
        k->scanned -= k->begin;
        k->begin = 0;
    }
    if (k->end < k->room / 2) {
        return true;
    }
    if (k->end >= KEYS_LONGEST) {
        k->why = "a key is longer than 1 GiB";
        return false;
    }
    char *larger = realloc(k->buffer, k->room * 2);
    if (larger == NULL) {
        k->why = "out of memory for a long key";
        return false;
    }
    k->buffer = larger;
    k->room *= 2;
    return true;
}

static bool read_more(struct keys *k)
{
    if (!make_room(k)) {
        return false;
    }
    ssize_t n = source_read(k->source, k->buffer + k->end, k->room - k->end - 1);
    if (n < 0) {
        k->why = source_why(k->source);
        return false;
    }
    k->end += (size_t)n;
    k->source_ended = n == 0;
    k->live = source_live(k->source);
    return true;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static size_t scan(struct keys *k, struct key *batch, size_t max)
{
    const char *begin = k->buffer + k->begin;
    const char *from = k->buffer + k->scanned;
    const char *end = k->buffer + k->end;
    size_t count = 0;
    while (count < max && from < end) {
        const char *stop = memchr(from, k->options.separator, (size_t)(end - from));
        if (stop == NULL) {
            from = end;
            break;
        }
        batch[count].text = begin;
        batch[count].len = (size_t)(stop - begin);
        count++;
        begin = from = stop + 1;
    }
    k->begin = (size_t)(begin - k->buffer);
    k->scanned = (size_t)(from - k->buffer);
    return count;
}

/* The file has ended: what is left, if anything, is its last key. */
static size_t last_key(struct keys *k, struct key *batch)
{
    if (k->begin == k->end) {
        return 0;
    }
    k->buffer[k->end] = k->options.separator;
    batch[0].text = k->buffer + k->begin;
    batch[0].len = k->end - k->begin;
    k->begin = k->scanned = k->end;
    return 1;
}

static ptrdiff_t hand_out(struct keys *k, size_t count)
{
    k->number = k->next_number;
    k->next_number += count;
    return (ptrdiff_t)count;
}

ptrdiff_t keys_next(struct keys *k, struct key *batch, size_t max)
{
    for (;;) {
        size_t count = scan(k, batch, max);
        if (count > 0) {
            return hand_out(k, count);
        }
        if (k->source == NULL) {
            if (k->next_path == k->path_count) {
                return 0;
            }
            if (!open_next(k)) {
                return -1;
            }
        }
        if (!k->source_ended) {
            if (!read_more(k)) {
                return -1;
            }
            if (source_stopped(k->source)) {
                k->begin = k->scanned = k->end;
                k->next_path = k->path_count;
            }
            continue;
        }
        count = last_key(k, batch);
        close_current(k);
        if (count > 0) {
            return hand_out(k, count);
        }
    }
}

const char *keys_subject(const struct keys *k)
{
    return k->subject;
}

const char *keys_why(const struct keys *k)
{
    return k->why;
}

uint64_t keys_number(const struct keys *k)
{
    return k->number;
}

bool keys_live(const struct keys *k)
{
    return k->live;
}

/* ---- hexadecimal ----------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

const char *keys_unhex(const struct key *key, unsigned char *bytes, size_t *place)
{
    for (size_t i = 0; i < key->len; i++) {
        int digit = hex_digit(key->text[i]);
        if (digit < 0) {
            *place = i + 1;
            return "not a hexadecimal digit";
        }
        if (i % 2 == 0 && i + 1 == key->len) {
            *place = i + 1;
            return "an odd number of hexadecimal digits";
        }
        bytes[i / 2] = (unsigned char)(i % 2 == 0 ? digit << 4 : bytes[i / 2] | digit);
    }
    return NULL;
}

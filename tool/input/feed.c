/* feed.c: read, take the weight off, decode, hash. */
#include "input/feed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "cli/number.h"

static struct feed *open_paths(const struct args *args, const char *const *paths, size_t count,
                               const struct tepal_hasher *hasher)
{
    struct keys_options how = {.separator = arg(args, "null")->given ? '\0' : '\n',
                               .plain = arg(args, "plain")->given};
    struct feed *f = calloc(1, sizeof *f);
    if (f != NULL) {
        f->keys = keys_open(paths, count, &how);
    }
    if (f == NULL || f->keys == NULL) {
        free(f);
        args_no_memory(args);
        return NULL;
    }
    f->hasher = *hasher;
    f->hex = arg(args, "hex")->given;
    f->field = (size_t)arg(args, "field")->whole;
    f->delimiter = arg(args, "delimiter")->given ? (int)arg(args, "delimiter")->whole : -1;
    f->stays = args->command->stays;
    f->unit = arg(args, "null")->given ? "key" : "line";
    progress_start(&f->progress, !arg(args, "quiet")->given);
    return f;
}

struct feed *feed_open(const struct args *args, size_t first, const struct tepal_hasher *hasher)
{
    return open_paths(args, args->operand + first, args->operands - first, hasher);
}

struct feed *feed_open_file(const struct args *args, const char *const *path,
                            const struct tepal_hasher *hasher, bool weighted)
{
    struct feed *f = open_paths(args, path, 1, hasher);
    if (f != NULL) {
        f->weighted = weighted;
    }
    return f;
}

void feed_close(struct feed *f)
{
    if (f == NULL) {
        return;
    }
    progress_end(&f->progress);
    keys_close(f->keys);
    free(f->bytes);
    sodium_memzero(&f->hasher, sizeof f->hasher);
    free(f);
}

static ptrdiff_t fail(struct feed *f, const char *why)
{
    progress_end(&f->progress);
    say_error(f->stays, keys_subject(f->keys), "%s", why);
    return -1;
}

static ptrdiff_t tell_bad(struct feed *f)
{
    progress_end(&f->progress);
    say_error(f->stays, keys_subject(f->keys), "%s %" PRIu64 ", character %zu: %s", f->unit,
              f->bad.number, f->bad.place, f->bad.why);
    return -1;
}

/* Takes tab and weight off every key. */
static bool split_weights(struct feed *f, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct key *key = &f->key[i];
        size_t tab = key->len;
        while (tab > 0 && key->text[tab - 1] != '\t') {
            tab--;
        }
        const char *why = tab == 0 ? "no weight: a key, a tab and a weight are needed"
                                   : number_weight(key->text + tab, key->len - tab, &f->weight[i]);
        if (why != NULL) {
            progress_end(&f->progress);
            say_error(f->stays, keys_subject(f->keys), "%s %" PRIu64 ": %s", f->unit,
                      keys_number(f->keys) + i,
                      !f->receipts ? why
                      : tab == 0   ? "not a receipt: a key, a tab and its group are needed"
                                   : "the group after the tab is missing or not a number");
            return false;
        }
        key->len = tab - 1;
    }
    return true;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct key blank_field(const char *at, const char *end, size_t n)
{
    for (;;) {
        while (at < end && is_blank(*at)) {
            at++;
        }
        const char *from = at;
        while (at < end && !is_blank(*at)) {
            at++;
        }
        if (--n == 0 || at == end) {
            return (struct key){from, n == 0 ? (size_t)(at - from) : 0};
        }
    }
}

static struct key delimited_field(const char *at, const char *end, size_t n, int delimiter)
{
    for (;;) {
        const char *stop = memchr(at, delimiter, (size_t)(end - at));
        if (--n == 0) {
            return (struct key){at, (size_t)((stop == NULL ? end : stop) - at)};
        }
        if (stop == NULL) {
            return (struct key){end, 0};
        }
        at = stop + 1;
    }
}

struct key feed_field(const struct key *line, size_t n, int delimiter)
{
    const char *end = line->text + line->len;
    return delimiter < 0 ? blank_field(line->text, end, n)
                         : delimited_field(line->text, end, n, delimiter);
}

/* What is hashed of a line. */
static struct key key_of(const struct feed *f, size_t i)
{
    return f->field == 0 ? f->key[i] : feed_field(&f->key[i], f->field, f->delimiter);
}

/* ---- hashing --------------------------------------------------------------------------------- */

static bool make_room(struct feed *f, size_t need)
{
    if (need <= f->room) {
        return true;
    }
    unsigned char *larger = realloc(f->bytes, need * 2);
    if (larger == NULL) {
        return false;
    }
    f->bytes = larger;
    f->room = need * 2;
    return true;
}

static ptrdiff_t hash_hex(struct feed *f, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t place = 0;
        struct key key = key_of(f, i);
        if (!make_room(f, key.len / 2 + 1)) {
            return fail(f, "out of memory for a long key");
        }
        const char *why = keys_unhex(&key, f->bytes, &place);
        if (why != NULL) {
            f->bad.why = why;
            f->bad.number = keys_number(f->keys) + i;
            f->bad.place = place + (size_t)(key.text - f->key[i].text);
            f->total -= count - i;
            return i > 0 ? (ptrdiff_t)i : tell_bad(f);
        }
        f->digest[i] = tepal_hash_bytes(&f->hasher, f->bytes, key.len / 2);
    }
    return (ptrdiff_t)count;
}

ptrdiff_t feed_next(struct feed *f)
{
    if (f->bad.why != NULL) {
        return tell_bad(f);
    }
    ptrdiff_t count = keys_next(f->keys, f->key, FEED_BATCH);
    if (count < 0) {
        return fail(f, keys_why(f->keys));
    }
    f->total += (uint64_t)count;
    progress_tick(&f->progress, f->total);
    if (f->weighted && !split_weights(f, (size_t)count)) {
        return -1;
    }
    if (f->hex) {
        return hash_hex(f, (size_t)count);
    }
    for (size_t i = 0; i < (size_t)count; i++) {
        struct key key = key_of(f, i);
        f->digest[i] = tepal_hash_bytes(&f->hasher, key.text, key.len);
    }
    return count;
}

int feed_gather(struct feed *feed, struct digests *set, uint64_t *total)
{
    ptrdiff_t count = -1;
    bool room = true;
    while (feed != NULL && room && (count = feed_next(feed)) > 0) {
        for (ptrdiff_t i = 0; i < count && room; i++) {
            room = digests_add(set, feed->digest[i], feed->weighted ? feed->weight[i] : 1,
                               feed->key[i].text, feed->key[i].len);
        }
    }
    const char *stays = feed == NULL ? NULL : feed->stays;
    if (count == 0 && total != NULL) {
        *total = feed->total;
    }
    feed_close(feed);
    return !room ? say_error(stays, NULL, "out of memory") : count == 0 ? EXIT_YES : EXIT_TROUBLE;
}

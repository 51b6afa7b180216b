/* feed.c: read, take the weight off, decode, hash. */
#define _GNU_SOURCE /* pipe2 */
#include "input/feed.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/number.h"
#include "cli/options.h"
#include "input/look.h"
#include "system/bytes.h"

#define AT_ONCE ((size_t)64) /* keys hashed by one call */

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
    f->separator = how.separator;
    f->hex = arg(args, "hex")->given;
    f->crlf = arg(args, "crlf")->given;
    f->comments = arg(args, "comments")->given;
    f->unique = arg(args, "unique")->given;
    f->notice = args_knows(args, "crlf") && !arg(args, "quiet")->given && how.separator == '\n';
    f->field = (size_t)arg(args, "field")->whole;
    f->delimiter = arg(args, "delimiter")->given ? (int)arg(args, "delimiter")->whole : -1;
    f->stays = args->command->stays;
    f->unit = arg(args, "null")->given ? "key" : "line";
    f->most = FEED_BATCH;
    f->jobs = arg_jobs(args);
    f->wake[0] = f->wake[1] = -1;
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

bool feed_count(const struct feed *f, uint64_t *count)
{
    /* Files that stay in memory once they have been read; others had better be read once. */
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 && !f->comments && !f->unique &&
           keys_count(f->keys, (uint64_t)pages / 2 * (uint64_t)page, f->jobs, count);
}

void feed_stop(struct feed *f)
{
    progress_end(&f->progress);
    lanes_close(f->lanes);
    f->lanes = NULL;
}

void feed_close(struct feed *f)
{
    if (f == NULL) {
        return;
    }
    feed_stop(f);
    for (size_t i = 0; i < f->slots; i++) {
        struct feed_block *b = &f->blocks[i];
        keys_block_free(&b->text);
        free(b->key);
        free(b->len);
        free(b->digest);
        free(b->weight);
        free(b->answers);
        free(b->bytes);
    }
    free(f->blocks);
    free(f->slot);
    digests_free(&f->seen);
    keys_close(f->keys);
    for (size_t i = 0; i < 2 && f->wake[i] >= 0; i++) {
        close(f->wake[i]);
    }
    bytes_wipe(&f->hasher, sizeof f->hasher);
    free(f);
}

bool feed_bare(struct feed *f)
{
    f->bare = !f->hex && f->field == 0 && !f->crlf && !f->unique;
    return f->bare;
}

void feed_set_wait(struct feed *f, bool (*wait)(void *context, int fd), void *context)
{
    f->waits = true;
    keys_set_wait(f->keys, wait, context);
}

const char *feed_subject(const struct feed *f)
{
    return f->block == NULL ? keys_subject(f->keys) : f->block->text.subject;
}

/* Lines are counted where they are asked for: in what is wrong. */
uint64_t feed_number(const struct feed *f, size_t i)
{
    uint64_t number = f->number;
    const char *at = f->block->text.text;
    while ((at = memchr(at, f->separator, (size_t)((const char *)f->key[i] - at))) != NULL) {
        at++;
        number++;
    }
    return number;
}

bool feed_live(const struct feed *f)
{
    return f->block != NULL && f->block->text.live && f->next == f->block->count;
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

static struct key without_return(struct key line)
{
    bool has = line.len > 0 && line.text[line.len - 1] == '\r';
    return (struct key){line.text, line.len - has};
}

/* What is hashed of a line. */
static struct key key_of(const struct feed *f, const struct feed_block *b, size_t i)
{
    struct key line = {b->key[i], b->len[i]};
    line = f->crlf ? without_return(line) : line;
    return f->field == 0 ? line : feed_field(&line, f->field, f->delimiter);
}

/* ---- work, by any thread --------------------------------------------------------------------- */

static void spoil(struct feed_block *b, size_t count, size_t place, const char *why)
{
    b->count = count;
    b->bad.why = why;
    b->bad.place = place;
}

static void fail_whole(struct feed_block *b, const char *why)
{
    spoil(b, 0, 0, why);
    b->bad.whole = true;
}

static bool grow(void **array, size_t room, size_t size)
{
    void *larger = realloc(*array, room * size);
    if (larger != NULL) {
        *array = larger;
    }
    return larger != NULL;
}

/* Room for twice as many keys; a multiple of 64. */
static bool make_room(const struct feed *f, struct feed_block *b)
{
    size_t room = b->room == 0 ? 8192 : b->room * 2;
    bool got = grow((void **)&b->key, room, sizeof *b->key) &&
               grow((void **)&b->len, room, sizeof *b->len) &&
               (f->bare || grow((void **)&b->digest, room, sizeof *b->digest)) &&
               (!f->weighted || grow((void **)&b->weight, room, sizeof *b->weight)) &&
               (f->then == NULL || grow((void **)&b->answers, room / 64, sizeof *b->answers));
    b->room = got ? room : b->room;
    return got;
}

static bool split(const struct feed *f, struct feed_block *b)
{
    size_t at = 0;
    b->count = 0;
    while (at < b->text.len) {
        size_t used;
        if (b->room - b->count < 64 && !make_room(f, b)) {
            return false;
        }
        b->count += keys_split(b->text.text + at, b->text.len - at, f->separator, b->key + b->count,
                               b->len + b->count, b->room - b->count, &used);
        at += used;
    }
    return true;
}

/* Leaves out what is no key. */
static void drop_comments(const struct feed *f, struct feed_block *b)
{
    size_t left = 0;
    for (size_t i = 0; i < b->count; i++) {
        struct key line = {b->key[i], b->len[i]};
        line = f->crlf ? without_return(line) : line;
        if (line.len > 0 && line.text[0] != '#') {
            b->key[left] = b->key[i];
            b->len[left++] = b->len[i];
        }
    }
    b->count = left;
}

/* Takes tab and weight off every key. */
static void split_weights(const struct feed *f, struct feed_block *b)
{
    for (size_t i = 0; i < b->count; i++) {
        const char *text = b->key[i];
        size_t len = f->crlf ? without_return((struct key){text, b->len[i]}).len : b->len[i];
        size_t tab = len;
        while (tab > 0 && text[tab - 1] != '\t') {
            tab--;
        }
        const char *why = tab == 0 ? "no weight: a key, a tab and a weight are needed"
                                   : number_weight(text + tab, len - tab, &b->weight[i]);
        if (why != NULL) {
            why = !f->receipts ? why
                  : tab == 0   ? "not a receipt: a key, a tab and its group are needed"
                               : "the group after the tab is missing or not a number";
            spoil(b, i, 0, why);
            return;
        }
        b->len[i] = tab - 1;
    }
}

static void hash_hex(const struct feed *f, struct feed_block *b)
{
    for (size_t i = 0; i < b->count; i++) {
        size_t place = 0;
        struct key key = key_of(f, b, i);
        size_t need = key.len / 2 + 1;
        if (need > b->bytes_room && !grow((void **)&b->bytes, need * 2, 1)) {
            fail_whole(b, "out of memory for a long key");
            return;
        }
        b->bytes_room = need > b->bytes_room ? need * 2 : b->bytes_room;
        const char *why = keys_unhex(&key, b->bytes, &place);
        if (why != NULL) {
            spoil(b, i, place + (size_t)(key.text - (const char *)b->key[i]), why);
            return;
        }
        b->digest[i] = tepal_hash_bytes(&f->hasher, b->bytes, key.len / 2);
    }
}

static void hash_fields(const struct feed *f, struct feed_block *b)
{
    const void *text[AT_ONCE];
    size_t len[AT_ONCE];
    for (size_t at = 0; at < b->count; at += AT_ONCE) {
        size_t n = b->count - at < AT_ONCE ? b->count - at : AT_ONCE;
        for (size_t i = 0; i < n; i++) {
            struct key key = key_of(f, b, at + i);
            text[i] = key.text;
            len[i] = key.len;
        }
        tepal_hash_bytes_many(&f->hasher, text, len, n, b->digest + at);
    }
}

static void work_on(void *context, void *slot, unsigned lane)
{
    const struct feed *f = context;
    struct feed_block *b = slot;
    if (b->bad.why != NULL) {
        return;
    }
    if (!split(f, b)) {
        fail_whole(b, "out of memory for many keys");
        return;
    }
    b->lines = b->count;
    if (f->comments) {
        drop_comments(f, b);
    }
    if (f->weighted) {
        split_weights(f, b);
    }
    if (f->hex) {
        hash_hex(f, b);
    } else if (f->field != 0 || f->crlf) {
        hash_fields(f, b);
    } else if (!f->bare) {
        tepal_hash_bytes_many(&f->hasher, b->key, b->len, b->count, b->digest);
    }
    if (f->then != NULL && b->count > 0) {
        f->then(f->then_context, lane, b);
    }
}

/* ---- reading, by any thread, but one at a time ----------------------------------------------- */

static bool take_block(void *context, void *slot)
{
    struct feed *f = context;
    struct feed_block *b = slot;
    b->bad.why = NULL;
    b->bad.whole = false;
    int got = f->ended ? 0 : keys_fill(f->keys, &b->text);
    if (got < 0) {
        fail_whole(b, b->text.why);
    }
    f->ended = got <= 0;
    return got != 0;
}

/* For a read that may wait: it ends when the other end of the pipe is closed, or is written to. */
static bool wait_for_input(void *context, int fd)
{
    const struct feed *f = context;
    struct pollfd wait[2] = {{.fd = fd, .events = POLLIN}, {.fd = f->wake[0], .events = POLLIN}};
    while (poll(wait, 2, -1) < 0) {
    }
    return wait[1].revents == 0;
}

static void interrupt(void *context)
{
    const struct feed *f = context;
    if (f->wake[1] >= 0 && write(f->wake[1], "", 1) < 0) {
        /* It is full of such bytes: nothing is left to be done. */
    }
}

static bool open_lanes(struct feed *f)
{
    struct lanes_job job = {.context = f, .take = take_block, .work = work_on, .own = f->waits};
    job.live = !keys_regular(f->keys);
    if (job.live && (f->waits || f->jobs == 1 || pipe2(f->wake, O_CLOEXEC) != 0)) {
        f->jobs = 1; /* what waits must not be behind what is waited for */
        job.live = false;
    }
    if (job.live) {
        keys_set_wait(f->keys, wait_for_input, f);
        job.interrupt = interrupt;
    }
    job.jobs = f->jobs;
    f->slots = lanes_slots(job.jobs);
    f->blocks = calloc(f->slots, sizeof *f->blocks);
    f->slot = calloc(f->slots, sizeof *f->slot);
    if (f->blocks == NULL || f->slot == NULL) {
        f->slots = 0;
        return false;
    }
    for (size_t i = 0; i < f->slots; i++) {
        f->slot[i] = &f->blocks[i];
    }
    f->lanes = lanes_open(&job, f->slot);
    return f->lanes != NULL;
}

/* ---- in order -------------------------------------------------------------------------------- */

/* All keys before it were handed out. */
static ptrdiff_t tell_bad(struct feed *f)
{
    const struct feed_block *b = f->block;
    progress_end(&f->progress);
    if (b->bad.whole) {
        say_error(f->stays, b->text.subject, "%s", b->bad.why);
        return -1;
    }
    f->key = b->key;
    uint64_t number = feed_number(f, b->count);
    if (b->bad.place == 0) {
        say_error(f->stays, b->text.subject, "%s %" PRIu64 ": %s", f->unit, number, b->bad.why);
    } else {
        say_error(f->stays, b->text.subject, "%s %" PRIu64 ", character %zu: %s", f->unit, number,
                  b->bad.place, b->bad.why);
    }
    return -1;
}

/* The next block with keys into f->block: 1, 0 at the end, -1 after having said why. */
static ptrdiff_t next_block(struct feed *f)
{
    do {
        if (f->block != NULL && f->block->bad.why != NULL) {
            return tell_bad(f);
        }
        uint64_t before = f->block == NULL ? 0 : f->block->lines;
        struct feed_block *block = lanes_next(f->lanes);
        if (block == NULL) {
            feed_look_end(f);
            return 0;
        }
        f->block = block;
        f->next = 0;
        f->number = block->text.first ? 1 : f->number + before;
        f->left.comments += f->comments && block->bad.why == NULL ? block->lines - block->count : 0;
        if (f->notice && block->text.first) {
            feed_look(f);
        }
    } while (f->block->count == 0);
    return 1;
}

/* --unique: leaves out of the batch what was there before; false: no memory. */
static bool drop_repeats(struct feed *f, size_t *count)
{
    size_t left = 0;
    for (size_t i = 0; i < *count; i++) {
        size_t before = f->seen.count;
        if (!digests_add(&f->seen, f->digest[i], 1, NULL, 0)) {
            return false;
        }
        if (f->seen.count > before) {
            f->digest[left] = f->digest[i];
            f->key[left] = f->key[i];
            f->len[left] = f->len[i];
            if (f->weighted) {
                f->weight[left] = f->weight[i];
            }
            left++;
        }
    }
    f->left.repeats += *count - left;
    *count = left;
    return true;
}

ptrdiff_t feed_next(struct feed *f)
{
    if (f->lanes == NULL && !open_lanes(f)) {
        say_error(f->stays, NULL, "out of memory");
        return -1;
    }
    size_t count = 0;
    while (count == 0) {
        ptrdiff_t got = f->block == NULL || f->next == f->block->count ? next_block(f) : 1;
        if (got <= 0) {
            return got;
        }
        size_t left = f->block->count - f->next;
        count = left < f->most ? left : f->most;
        f->key = f->block->key + f->next;
        f->len = f->block->len + f->next;
        f->digest = f->bare ? NULL : f->block->digest + f->next;
        f->weight = f->weighted ? f->block->weight + f->next : NULL;
        f->next += count;
        if (f->unique && !drop_repeats(f, &count)) {
            say_error(f->stays, NULL, "out of memory for --unique");
            return -1;
        }
    }
    if (f->notice_repeats) {
        feed_look_repeats(f, count);
    }
    f->total += count;
    if (progress_due(&f->progress)) {
        progress_tick(&f->progress, f->total, f->block->text.share);
    }
    return (ptrdiff_t)count;
}

int feed_gather(struct feed *feed, struct digests *set, uint64_t *total)
{
    ptrdiff_t count = -1;
    bool room = true;
    while (feed != NULL && room && (count = feed_next(feed)) > 0) {
        for (ptrdiff_t i = 0; i < count && room; i++) {
            room = digests_add(set, feed->digest[i], feed->weighted ? feed->weight[i] : 1,
                               feed->key[i], feed->len[i]);
        }
    }
    const char *stays = feed == NULL ? NULL : feed->stays;
    if (count == 0 && total != NULL) {
        *total = feed->total;
    }
    feed_close(feed);
    return !room ? say_error(stays, NULL, "out of memory") : count == 0 ? EXIT_YES : EXIT_TROUBLE;
}

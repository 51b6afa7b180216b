/*
 * keys.h: keys from files, one after the other. A key is what stands between two separators: any
 * bytes, any length (up to 1 GiB), the empty key too. A last key without a separator counts, and
 * never runs on into the next file.
 *
 * keys_next hands them out in batches. Who has several threads takes whole blocks (keys_fill) and
 * splits them where he likes (keys_split).
 */
#ifndef TOOL_INPUT_KEYS_H
#define TOOL_INPUT_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEYS_LONGEST ((size_t)1 << 30)

struct keys_options {
    char separator; /* '\n' or '\0' */
    bool plain;     /* never decompress */
};

/* A key as it stands in the file. text[len] is always readable and holds the separator. */
struct key {
    const char *text;
    size_t len;
};

struct keys;

/*
 * A reader of the files in `paths` ("-" is standard input; none: standard input), which must
 * outlive it. Opens nothing yet. NULL if there is no memory.
 */
struct keys *keys_open(const char *const *paths, size_t count, const struct keys_options *options);

/*
 * Ask `wait` before every read that may block (see source.h). When it ends the reading, a key that
 * is not complete yet is dropped, and the files that follow are not opened.
 */
void keys_set_wait(struct keys *keys, bool (*wait)(void *context, int fd), void *context);

/* A reader of one descriptor, which stays the caller's; for tests. */
struct keys *keys_open_fd(int fd, const struct keys_options *options);
void keys_close(struct keys *keys);

/*
 * The next keys, up to `max`, all of one file, valid until the next call. In memory each begins
 * right behind the separator of the one before. Returns how many, 0 at
 * the end of all files, -1 on failure: then keys_subject names the file and keys_why the cause.
 */
ptrdiff_t keys_next(struct keys *keys, struct key *batch, size_t max);

const char *keys_subject(const struct keys *keys);
const char *keys_why(const struct keys *keys);

/* ---- in blocks ------------------------------------------------------------------------------- */

/* Complete keys of one file, each with its separator. All zeros is an empty one. */
struct keys_block {
    char *text;
    size_t len;
    size_t room;
    const char *subject; /* the file */
    const char *why;     /* after a failure: the cause */
    bool first;          /* of its file: its first key has the number 1 */
    bool marked;         /* it began with a byte order mark, which was left out */
    bool live;           /* from a pipe or a terminal */
    bool whole;          /* it is all of its file, for certain */
    double share;        /* of all files' bytes, as they are stored, read so far; NAN: not known */
};

/* How long a byte order mark in UTF-8 at the beginning of the text is: 3 or 0. */
size_t keys_mark(const char *text, size_t len);

/*
 * The next block: at least one key, and no more reading than that takes. 1, 0 at the end of all
 * files, -1 on failure. Not together with keys_next on the same reader.
 */
int keys_fill(struct keys *keys, struct keys_block *block);
void keys_block_free(struct keys_block *block);

/*
 * Up to `max` keys of text that ends with a separator, as two arrays: where each begins and how
 * long it is. *used gets how many bytes they took. Behind the keys that are counted the arrays hold
 * anything.
 */
size_t keys_split(const char *text, size_t len, char separator, const void **keys, size_t *lens,
                  size_t max, size_t *used);

/*
 * The same in one of the ways that this processor has, for tests: 0 is the one that every processor
 * has, and the last is the one that keys_split takes.
 */
size_t keys_split_by(unsigned way, const char *text, size_t len, char separator, const void **keys,
                     size_t *lens, size_t max, size_t *used);
unsigned keys_split_ways(void);

/* Is every input a regular file, as far as can be seen? Then no read waits for anybody. */
bool keys_regular(const struct keys *keys);

/*
 * How many keys there are, if that can be known by counting separators: in regular files that are
 * not compressed and together have at most `most` bytes; by so many threads. False: it cannot (no
 * reason is told).
 */
bool keys_count(const struct keys *keys, uint64_t most, unsigned jobs, uint64_t *count);

/*
 * Hexadecimal text to bytes. `bytes` has room for key->len / 2. NULL, or what is wrong (*place is
 * then the character, from 1).
 */
const char *keys_unhex(const struct key *key, unsigned char *bytes, size_t *place);

#endif

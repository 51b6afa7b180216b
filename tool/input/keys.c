/*
 * keys.c: blocks of complete keys, and the search for separators.
 *
 *     block  |tail of the last one|..........read..........|
 *            |key.|key...|key.....|..|key......|key.|key...|..
 *                                                   last   new tail
 *
 * A block ends behind the last separator that was read; what is behind it is copied to the
 * beginning of the next one. A key that fills the block makes it grow; only new bytes are searched,
 * so a long key is searched once however small the pieces in which it arrives.
 */
#define _GNU_SOURCE /* memrchr */
#include "input/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __x86_64__
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "input/lanes.h"
#include "input/retry.h"
#include "input/source.h"
#include "system/processor.h"

#define AT_ONCE ((size_t)1 << 16) /* bytes read: a block, its keys and digests stay in the cache */
#define COUNTED ((uint64_t)1 << 22) /* bytes of a file that one thread counts */
#define PIECE   ((size_t)512)       /* keys that keys_next splits at once */

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
    double bytes;  /* of all files, as they are stored; NAN: one is no regular file */
    double before; /* of those that have been read */
    bool first;    /* nothing of this source was handed out */
    char *tail;    /* of the last block: the beginning of a key */
    size_t tail_len;
    size_t tail_room;
    struct keys_block block; /* of keys_next: from `at` on it is to be handed out */
    size_t at;
};

static const char *const standard_input[] = {"-"};

/* The length of a path's file as it is stored; NAN if it has none. */
static double length_of(const char *path)
{
    struct stat about;
    int failed = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &about) : stat(path, &about);
    return failed == 0 && S_ISREG(about.st_mode) ? (double)about.st_size : NAN;
}

struct keys *keys_open(const char *const *paths, size_t count, const struct keys_options *options)
{
    struct keys *k = calloc(1, sizeof *k);
    if (k == NULL) {
        return NULL;
    }
    k->options = *options;
    k->paths = count > 0 ? paths : standard_input;
    k->path_count = count > 0 ? count : 1;
    for (size_t i = 0; i < k->path_count; i++) {
        k->bytes += length_of(k->paths[i]);
    }
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
    k->first = true;
    k->source = source_open_fd(fd, options->plain, &k->why);
    if (k->source == NULL) {
        keys_close(k);
        return NULL;
    }
    return k;
}

void keys_block_free(struct keys_block *block)
{
    free(block->text);
    *block = (struct keys_block){.text = NULL};
}

void keys_close(struct keys *k)
{
    if (k == NULL) {
        return;
    }
    source_close(k->source);
    keys_block_free(&k->block);
    free(k->tail);
    free(k);
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool open_next(struct keys *k)
{
    const char *path = k->paths[k->next_path++];
    k->subject = strcmp(path, "-") == 0 ? "standard input" : path;
    k->source = source_open(path, k->options.plain, &k->why);
    k->first = true;
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
    k->before += (double)source_at(k->source);
    source_close(k->source);
    k->source = NULL;
    k->tail_len = 0;
}

bool keys_regular(const struct keys *k)
{
    return !isnan(k->bytes);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Room for `need` bytes in a buffer; what it holds stays. */
static bool make_room(char **text, size_t *room, size_t need)
{
    if (need <= *room) {
        return true;
    }
    char *larger = realloc(*text, need);
    if (larger != NULL) {
        *text = larger;
        *room = need;
    }
    return larger != NULL;
}

static int fail(struct keys *k, struct keys_block *block, const char *why)
{
    k->why = why;
    block->why = why;
    return -1;
}

/* A filter where keys belong; its first bytes hold no separator but the last. */
static bool is_filter(const struct keys *k, const struct keys_block *block, size_t len)
{
    static const char magic[] = "\x89TEPAL\r\n";
    return k->first && !k->options.plain && len >= sizeof magic - 1 &&
           memcmp(block->text, magic, sizeof magic - 1) == 0;
}

size_t keys_mark(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* What an editor wrote before the first key, unless any bytes are keys. */
static size_t mark_of(const struct keys *k, const struct keys_block *block, size_t len)
{
    return k->first && !k->options.plain ? keys_mark(block->text, len) : 0;
}

/* The block has `end` bytes, and complete keys up to `len`: the rest waits for the next block. */
static int cut(struct keys *k, struct keys_block *block, size_t len, size_t end)
{
    if (!make_room(&k->tail, &k->tail_room, end - len)) {
        return fail(k, block, "out of memory for a long key");
    }
    if (end > len) {
        memcpy(k->tail, block->text + len, end - len);
    }
    if (is_filter(k, block, len)) {
        return fail(k, block,
                    "a tepal filter, not a list of keys (--plain takes any bytes as keys)");
    }
    size_t mark = mark_of(k, block, len);
    if (mark > 0) {
        memmove(block->text, block->text + mark, len - mark);
    }
    k->tail_len = end - len;
    block->len = len - mark;
    block->marked = mark > 0;
    block->share = (k->before + (double)source_at(k->source)) / k->bytes;
    block->first = k->first;
    block->whole = k->first && len == end && source_ends(k->source);
    k->first = false;
    return 1;
}

/* Of one file: 1, 0 at its end, -1. */
static int fill_from_file(struct keys *k, struct keys_block *block)
{
    size_t end = k->tail_len;
    if (block->room > 16 * AT_ONCE && end < AT_ONCE) {
        keys_block_free(block); /* after a long key: blocks stay small */
        block->subject = k->subject;
    }
    for (;;) {
        if (end >= KEYS_LONGEST) {
            return fail(k, block, "a key is longer than 1 GiB");
        }
        if (end + AT_ONCE >= block->room &&
            !make_room(&block->text, &block->room, 2 * end + AT_ONCE + 1)) {
            return fail(k, block, "out of memory for a long key");
        }
        if (k->tail_len > 0) {
            memcpy(block->text, k->tail, k->tail_len);
            k->tail_len = 0;
        }
        ssize_t n = source_read(k->source, block->text + end, AT_ONCE);
        if (n < 0) {
            return fail(k, block, source_why(k->source));
        }
        block->live = source_live(k->source);
        if (n == 0 && (end == mark_of(k, block, end) || source_stopped(k->source))) {
            return 0;
        }
        if (n == 0) {
            block->text[end] = k->options.separator;
            return cut(k, block, end + 1, end + 1);
        }
        const char *last = memrchr(block->text + end, k->options.separator, (size_t)n);
        end += (size_t)n;
        if (last != NULL) {
            return cut(k, block, (size_t)(last + 1 - block->text), end);
        }
    }
}

int keys_fill(struct keys *k, struct keys_block *block)
{
    for (;;) {
        bool opened = k->source != NULL;
        if (!opened && k->next_path == k->path_count) {
            return 0;
        }
        opened = opened || open_next(k);
        block->subject = k->subject;
        if (!opened) {
            return fail(k, block, k->why);
        }
        int got = fill_from_file(k, block);
        if (got != 0) {
            return got;
        }
        if (source_stopped(k->source)) {
            k->next_path = k->path_count;
        }
        close_current(k);
    }
}

/* ---- separators ------------------------------------------------------------------------------ */

#ifdef __SSE2__
/* Which of 64 bytes are separators. */
static inline uint64_t separators(const char *text, __m128i separator)
{
    uint64_t found = 0;
    for (unsigned i = 0; i < 4; i++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text + 16 * i));
        unsigned mask = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, separator));
        found |= (uint64_t)mask << (16 * i);
    }
    return found;
}

/* How many separators: byte by byte in 16 sums that hold 255 each. */
static uint64_t count_separators(const char *text, size_t len, char separator)
{
    __m128i wanted = _mm_set1_epi8(separator);
    uint64_t count = 0;
    size_t at = 0;
    while (len - at >= 16) {
        __m128i sums = _mm_setzero_si128();
        size_t end = len - at < 255 * 16 ? len / 16 * 16 : at + 255 * 16;
        for (; at < end; at += 16) {
            __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text + at));
            sums = _mm_sub_epi8(sums, _mm_cmpeq_epi8(bytes, wanted));
        }
        sums = _mm_sad_epu8(sums, _mm_setzero_si128());
        count += (uint32_t)_mm_cvtsi128_si32(sums);
        count += (uint32_t)_mm_cvtsi128_si32(_mm_unpackhi_epi64(sums, sums));
    }
    for (; at < len; at++) {
        count += text[at] == separator;
    }
    return count;
}
#else
static uint64_t count_separators(const char *text, size_t len, char separator)
{
    uint64_t count = 0;
    for (size_t i = 0; i < len; i++) {
        count += text[i] == separator;
    }
    return count;
}
#endif

/* Keys that `keys` and `lens` have got, up to where the text was searched. */
struct split {
    const void **keys;
    size_t *lens;
    size_t count;
    size_t max;
    const char *begin; /* of the next key */
    const char *at;    /* before it there are no more separators */
    const char *end;
};

static inline void put(struct split *s, const char *stop)
{
    s->keys[s->count] = s->begin;
    s->lens[s->count++] = (size_t)(stop - s->begin);
    s->begin = stop + 1;
}

#ifdef __x86_64__
/* Eight numbers in a row, a byte each. */
#define NUMBERS(eight) ((eight)*8 * 0x0101010101010101 + 0x0706050403020100)

/*
 * 64 bytes at a time, and the keys that end in them by fours: how many there are is guessed right
 * much more often than whether there is another one. Behind the last of them up to three are
 * written that are none.
 */
__attribute__((target("avx2,bmi,popcnt"))) static void split_wide(struct split *s, char separator)
{
    const __m256i wanted = _mm256_set1_epi8(separator);
    const void **key = s->keys + s->count;
    size_t *len = s->lens + s->count;
    const char *begin = s->begin;
    const char *at = s->at;
    for (; s->end - at >= 64 && s->lens + s->max - len >= 64 + 4; at += 64) {
        __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)at);
        __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(at + 32));
        uint64_t found = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
        found |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)) << 32;
        size_t count = (size_t)__builtin_popcountll(found);
        const char *next = found == 0 ? begin : at + 64 - __builtin_clzll(found);
        for (size_t i = 0; i < count; i += 4) {
            for (size_t j = i; j < i + 4; j++) {
                const char *stop = at + __builtin_ctzll(found | (uint64_t)1 << 63);
                key[j] = begin;
                len[j] = (size_t)(stop - begin);
                begin = stop + 1;
                found &= found - 1;
            }
        }
        key += count;
        len += count;
        begin = next;
    }
    s->count = (size_t)(len - s->lens);
    s->begin = begin;
    s->at = at;
}

/* The same by vectors of eight: where keys end, out of the bytes that do, and where they begin. */
__attribute__((target("avx512f,avx512bw,avx512vbmi2,popcnt"))) static void
split_widest(struct split *s, char separator)
{
    const __m512i wanted = _mm512_set1_epi8(separator);
    const __m512i one = _mm512_set1_epi64(1);
    const __m512i numbers = _mm512_set_epi64(NUMBERS(7), NUMBERS(6), NUMBERS(5), NUMBERS(4),
                                             NUMBERS(3), NUMBERS(2), NUMBERS(1), NUMBERS(0));
    const void **key = s->keys + s->count;
    size_t *len = s->lens + s->count;
    const char *begin = s->begin;
    const char *at = s->at;
    for (; s->end - at >= 64 && s->lens + s->max - len >= 64; at += 64) {
        uint64_t found = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(at), wanted);
        size_t count = (size_t)__builtin_popcountll(found);
        __m512i places = _mm512_maskz_compress_epi8(found, numbers);
        __m512i before = _mm512_set1_epi64((long long)((uintptr_t)begin - 1));
        for (size_t i = 0; i < count; i += 8) {
            __m512i stop = _mm512_add_epi64(_mm512_cvtepu8_epi64(_mm512_castsi512_si128(places)),
                                            _mm512_set1_epi64((long long)(uintptr_t)at));
            __m512i start = _mm512_add_epi64(_mm512_alignr_epi64(stop, before, 7), one);
            _mm512_storeu_si512(key + i, start);
            _mm512_storeu_si512(len + i, _mm512_sub_epi64(stop, start));
            places = _mm512_alignr_epi64(places, places, 1);
            before = stop;
        }
        key += count;
        len += count;
        begin = found == 0 ? begin : at + 64 - __builtin_clzll(found);
    }
    s->count = (size_t)(len - s->lens);
    s->begin = begin;
    s->at = at;
}
#endif

unsigned keys_split_ways(void)
{
#ifdef __x86_64__
    if (!PROCESSOR_HAS(AVX2, "avx2") || !PROCESSOR_HAS(BMI1, "bmi") ||
        !PROCESSOR_HAS(POPCNT, "popcnt")) {
        return 1;
    }
    /* VBMI2 came with processors that need not lower their clock for such vectors. */
    bool widest = PROCESSOR_HAS(AVX512BW, "avx512bw") && PROCESSOR_HAS(AVX512_VBMI2, "avx512vbmi2");
    return widest ? 3 : 2;
#else
    return 1;
#endif
}

static void split_rest(struct split *s, char separator)
{
#ifdef __SSE2__
    __m128i wanted = _mm_set1_epi8(separator);
    for (; s->end - s->at >= 64 && s->max - s->count >= 64; s->at += 64) {
        for (uint64_t found = separators(s->at, wanted); found != 0; found &= found - 1) {
            put(s, s->at + __builtin_ctzll(found));
        }
    }
#endif
    while (s->count < s->max && s->at < s->end) {
        const char *stop = memchr(s->at, separator, (size_t)(s->end - s->at));
        if (stop == NULL) {
            break;
        }
        put(s, stop);
        s->at = s->begin;
    }
}

size_t keys_split_by(unsigned way, const char *text, size_t len, char separator, const void **keys,
                     size_t *lens, size_t max, size_t *used)
{
    struct split s = {keys, lens, 0, max, text, text, text + len};
#ifdef __x86_64__
    if (way == 1) {
        split_wide(&s, separator);
    } else if (way == 2) {
        split_widest(&s, separator);
    }
#else
    (void)way;
#endif
    split_rest(&s, separator);
    *used = (size_t)(s.begin - text);
    return s.count;
}

size_t keys_split(const char *text, size_t len, char separator, const void **keys, size_t *lens,
                  size_t max, size_t *used)
{
    return keys_split_by(keys_split_ways() - 1, text, len, separator, keys, lens, max, used);
}

/* A file, of which any thread counts a part. */
struct tally {
    int fd;
    char separator;
    uint64_t bytes;
    bool failed; /* it was cut short, or cannot be read */
    uint64_t count;
    uint64_t part[]; /* UINT64_MAX: failed */
};

static void count_part(void *context, size_t i)
{
    struct tally *t = context;
    char text[AT_ONCE];
    uint64_t at = (uint64_t)i * COUNTED;
    uint64_t end = t->bytes - at < COUNTED ? t->bytes : at + COUNTED;
    uint64_t count = 0;
    while (at < end) {
        size_t want = end - at < sizeof text ? (size_t)(end - at) : sizeof text;
        ssize_t n = pread(t->fd, text, want, (off_t)at);
        if (n == 0 || (n < 0 && !retry_io(t->fd, POLLIN))) {
            t->part[i] = UINT64_MAX;
            return;
        }
        at += n > 0 ? (uint64_t)n : 0;
        count += n > 0 ? count_separators(text, (size_t)n, t->separator) : 0;
        count += n > 0 && at == t->bytes && text[n - 1] != t->separator; /* the last has none */
    }
    t->part[i] = count;
}

static bool add_part(void *context, size_t i)
{
    struct tally *t = context;
    t->failed = t->part[i] == UINT64_MAX;
    t->count += t->part[i];
    return !t->failed;
}

/* The keys of one file, if it is not compressed. (A byte order mark alone is no key.) */
static bool count_file(const struct keys *k, const char *path, unsigned jobs, uint64_t *count)
{
    const char *why;
    char text[8];
    struct stat about;
    struct source *source = source_open(path, k->options.plain, &why);
    ssize_t n = source == NULL ? -1 : source_read(source, text, sizeof text);
    bool marked = n == 3 && !k->options.plain && keys_mark(text, 3) == 3;
    bool plain = n >= 0 && !marked && !source_packed(source);
    source_close(source);
    int fd = plain ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool known = fd >= 0 && fstat(fd, &about) == 0;
    size_t parts = known ? (size_t)((uint64_t)about.st_size / COUNTED + 1) : 0;
    struct tally *t = known ? calloc(1, sizeof *t + parts * sizeof t->part[0]) : NULL;
    known = t != NULL;
    if (known) {
        t->fd = fd;
        t->separator = k->options.separator;
        t->bytes = (uint64_t)about.st_size;
        known = lanes_each(jobs, parts, count_part, add_part, t) && !t->failed;
        *count += t->count;
    }
    free(t);
    if (fd >= 0) {
        close(fd);
    }
    return known;
}

bool keys_count(const struct keys *k, uint64_t most, unsigned jobs, uint64_t *count)
{
    uint64_t bytes = 0;
    *count = 0;
    for (size_t i = 0; i < k->path_count; i++) {
        struct stat about;
        if (stat(k->paths[i], &about) != 0 || !S_ISREG(about.st_mode) ||
            (uint64_t)about.st_size > most - bytes) {
            return false;
        }
        bytes += (uint64_t)about.st_size;
    }
    bool known = true;
    for (size_t i = 0; i < k->path_count && known; i++) {
        known = count_file(k, k->paths[i], jobs, count);
    }
    return known;
}

/* ---- batches --------------------------------------------------------------------------------- */

ptrdiff_t keys_next(struct keys *k, struct key *batch, size_t max)
{
    if (k->at == k->block.len) {
        int got = keys_fill(k, &k->block);
        k->at = 0;
        if (got <= 0) {
            k->block.len = 0;
            return got;
        }
    }
    const void *text[PIECE];
    size_t len[PIECE];
    size_t count = 0;
    while (count < max && k->at < k->block.len) {
        size_t used;
        size_t got = keys_split(k->block.text + k->at, k->block.len - k->at, k->options.separator,
                                text, len, max - count < PIECE ? max - count : PIECE, &used);
        for (size_t i = 0; i < got; i++) {
            batch[count + i] = (struct key){text[i], len[i]};
        }
        count += got;
        k->at += used;
    }
    return (ptrdiff_t)count;
}

const char *keys_subject(const struct keys *k)
{
    return k->subject;
}

const char *keys_why(const struct keys *k)
{
    return k->why;
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

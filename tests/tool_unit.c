/*
 * tool_unit.c: the parts of the command that can be tested without running it: numbers, the key
 * reader at every place where a piece can end, the spill, suggestions and option tables.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <zlib.h>
#include <zstd.h>

#include "check.h"
#include "cli/command.h"
#include "commands.h"
#include "input/digests.h"
#include "input/keys.h"
#include "cli/number.h"
#include "input/source.h"
#include "input/spill.h"
#include "cli/suggest.h"
#include "output/render.h"
#include "pictures/names.h"
#include "pictures/svg.h"

/* ---- what people read ------------------------------------------------------------------------ */

static void numbers_are_read_at_a_glance(void **state)
{
    (void)state;
    static const struct {
        double rate;
        const char *text;
    } rates[] = {{0, "0 %"},
                 {1, "100 %"},
                 {0.01, "1 %"},
                 {1e-4, "0.01 %"},
                 {7.095e-05, "0.007095 % (1 in 14100)"},
                 {1.0004e-6, "0.0001 % (1 in 1 million)"},
                 {9.9951e-07, "9.995e-07 (1 in 1 million)"},
                 {1.2e-07, "1.2e-07 (1 in 8.33 million)"},
                 {1.815e-12, "1.815e-12 (1 in 551 billion)"},
                 {1.069e-15, "1.069e-15 (1 in 935 trillion)"},
                 {1e-18, "1e-18 (1 in 1e+18)"}};
    static const struct {
        uint64_t keys;
        const char *text;
    } keys[] = {{0, "0 keys"},
                {1, "1 key"},
                {999999, "999999 keys"},
                {1000000, "1000000 keys (1 million)"},
                {93515000, "93515000 keys (93.5 million)"},
                {999999999, "999999999 keys (1 billion)"}};
    char room[96];
    for (size_t i = 0; i < COUNT(rates); i++) {
        assert_string_equal(render_rate(rates[i].rate, room, sizeof room), rates[i].text);
    }
    for (size_t i = 0; i < COUNT(keys); i++) {
        assert_string_equal(render_keys(keys[i].keys, room, sizeof room), keys[i].text);
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void whole_numbers_are_exact(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {
        {"0", 0},
        {"7", 7},
        {"007", 7},
        {"1000", 1000},
        {"1k", 1000},
        {"1K", 1000},
        {"1M", 1000000},
        {"2G", 2000000000},
        {"3T", 3000000000000},
        {"4P", 4000000000000000},
        {"1Ki", 1024},
        {"64Ki", 65536},
        {"1Mi", 1048576},
        {"1Gi", 1073741824},
        {"1Ti", UINT64_C(1) << 40},
        {"1Pi", UINT64_C(1) << 50},
        {"1.5M", 1500000},
        {"1.5Ki", 1536},
        {"0.5k", 500},
        {".5k", 500},
        {"5.", 5},
        {"1.000", 1},
        {"1.0000000000000000000000000000000", 1},
        {"1e6", 1000000},
        {"1E6", 1000000},
        {"1e+6", 1000000},
        {"1.25e2", 125},
        {"1200e-2", 12},
        {"1e3k", 1000000},
        {"0e99999", 0},
        {"9007199254740993", 9007199254740993},
        {"18446744073709551615", UINT64_MAX},
        {"18446744073709551615.0", UINT64_MAX},
        {"1844674407370955161.5e1", UINT64_MAX},
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t value = 12345;
        const char *why = number_whole(good[i].text, &value);
        if (why != NULL || value != good[i].value) {
            fail_msg("%s: %s, %llu", good[i].text, why == NULL ? "accepted" : why,
                     (unsigned long long)value);
        }
    }
}

static void wrong_whole_numbers_are_refused(void **state)
{
    static const struct {
        const char *text;
        const char *why; /* how the sentence begins */
    } bad[] = {
        {"", "not a number"},
        {" 1", "not a number"},
        {"1 ", "not a number"},
        {"abc", "not a number"},
        {"nan", "not a number"},
        {"inf", "not a number"},
        {"0x10", "not a number"},
        {"+1", "not a number"},
        {"-", "not a number"},
        {".", "not a number"},
        {"-1", "negative"},
        {"1e", "not a number"},
        {"1e+", "not a number"},
        {"1q", "not a number"},
        {"1kk", "not a number"},
        {"1Kib", "not a number"},
        {"1.2.3", "not a number"},
        {"1.5", "not a whole number"},
        {"1e-1", "not a whole number"},
        {"0.1Ki", "not a whole number"},
        {"1.00000000000000000000000000000001", "not a whole number"},
        {"18446744073709551616", "too large"},
        {"99999999999999999999", "too large"},
        {"1e20", "too large"},
        {"1e999999999999", "too large"},
        {"18447P", "too large"},
        {"16384Pi", "too large"},
        {"18446744073709551615k", "too large"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t value = 12345;
        const char *why = number_whole(bad[i].text, &value);
        if (why == NULL || strncmp(why, bad[i].why, strlen(bad[i].why)) != 0) {
            fail_msg("%s: %s", bad[i].text, why == NULL ? "accepted" : why);
        }
        assert_int_equal(value, 12345);
    }
}

static void sizes_may_end_with_bytes(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0},
                {"4096", 4096},
                {"4096B", 4096},
                {"10M", 10000000},
                {"10MB", 10000000},
                {"10MiB", 10485760},
                {"10Mi", 10485760},
                {"1.5kB", 1500},
                {"2GB", 2000000000},
                {"1PiB", (uint64_t)1 << 50}};
    static const struct {
        const char *text;
        const char *why;
    } bad[] = {{"", "not a number"},
               {"B", "not a number"},
               {"10m", "not a size: m means minutes"},
               {"10mB", "not a size"},
               {"10Mb", "not a size"},
               {"10MBB", "not a size"},
               {"10iB", "not a size"},
               {"10 MB", "not a size"},
               {"-1B", "negative"},
               {"1.5B", "not a whole number"},
               {"16384PiB", "too large"}};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t value = 12345;
        assert_null(number_size(good[i].text, &value));
        assert_int_equal(value, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t value = 12345;
        const char *why = number_size(bad[i].text, &value);
        if (why == NULL || strncmp(why, bad[i].why, strlen(bad[i].why)) != 0) {
            fail_msg("%s: %s", bad[i].text, why == NULL ? "accepted" : why);
        }
        assert_int_equal(value, 12345);
    }
}

static void seeds_are_decimal_or_hexadecimal(void **state)
{
    uint64_t seed = 0;
    (void)state;
    assert_null(number_seed("0", &seed));
    assert_int_equal(seed, 0);
    assert_null(number_seed("18446744073709551615", &seed));
    assert_int_equal(seed, UINT64_MAX);
    assert_null(number_seed("0xFFffFFffFFffFFfe", &seed));
    assert_int_equal(seed, UINT64_MAX - 1);
    static const char *const bad[] = {"",
                                      "-1",
                                      "1k",
                                      "0x",
                                      "0x1g",
                                      "1.0",
                                      " 1",
                                      "+1",
                                      "12 3",
                                      "18446744073709551616",
                                      "0x10000000000000000"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        seed = 99;
        assert_non_null(number_seed(bad[i], &seed));
        assert_int_equal(seed, 99);
    }
}

static void rates_in_four_spellings(void **state)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"1%", 0.01}, {"0.01", 0.01},   {"1e-2", 0.01},   {"1/100", 0.01},    {"0.5%", 0.005},
        {".5", 0.5},  {"99.9%", 0.999}, {"1/3", 1.0 / 3}, {"1e-300", 1e-300}, {"2.5/1e3", 0.0025},
    };
    static const char *const bad[] = {
        "0",   "1", "0%", "100%", "2",    "-0.1",   "-1%", "nan",  "inf",    "abc", "",   "%",
        "1/0", "/", "1/", "/2",   "1/-2", "0x1p-3", "1%%", "0.1 ", "1e-400", "1/1", "3/2"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double value = -1;
        assert_null(number_rate(good[i].text, &value));
        assert_true(value <= good[i].value * (1 + 1e-15));
        assert_true(value >= good[i].value * (1 - 1e-15));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value = -1;
        if (number_rate(bad[i], &value) == NULL) {
            fail_msg("the rate %s was accepted", bad[i]);
        }
        assert_true(value == -1);
    }
}

static void positive_numbers(void **state)
{
    static const char *const bad[] = {"0", "-1", "nan", "inf", "1e999", "", "9,6", "abc", "1e-400"};
    double value = -1;
    (void)state;
    assert_null(number_positive("9.6", &value));
    assert_true(value == 9.6);
    assert_null(number_positive("1e3", &value));
    assert_true(value == 1000);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        value = -1;
        assert_non_null(number_positive(bad[i], &value));
        assert_true(value == -1);
    }
}

/* ---- the key reader -------------------------------------------------------------------------- */

/* Writes data to a pipe from another process, in pieces; returns the end to read from. */
static int feed_pipe(const char *data, size_t len, size_t piece)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        for (size_t at = 0; at < len;) {
            size_t n = len - at < piece ? len - at : piece;
            ssize_t done = write(ends[1], data + at, n);
            if (done < 0) {
                _exit(1);
            }
            at += (size_t)done;
        }
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

static int as_file(const char *data, size_t len)
{
    int fd = memfd_create("keys", 0);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, len), len);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

/* Reads all keys of `fd` in batches of `batch` and compares them with a naive split of `data`. */
static void expect_split(int fd, const char *data, size_t len, char separator, size_t batch)
{
    struct keys_options how = {.separator = separator, .plain = false};
    struct keys *keys = keys_open_fd(fd, &how);
    struct key *got = calloc(batch, sizeof *got);
    size_t at = 0;
    ptrdiff_t count;
    assert_non_null(keys);
    while ((count = keys_next(keys, got, batch)) > 0) {
        assert_true((size_t)count <= batch);
        for (ptrdiff_t i = 0; i < count; i++) {
            assert_true(at < len);
            const char *stop = memchr(data + at, separator, len - at);
            size_t want = stop == NULL ? len - at : (size_t)(stop - (data + at));
            assert_int_equal(got[i].len, want);
            assert_memory_equal(got[i].text, data + at, want);
            assert_int_equal(got[i].text[want], separator);
            at += want + 1;
        }
    }
    assert_int_equal(count, 0);
    assert_true(at >= len);
    assert_int_equal(keys_next(keys, got, batch), 0);
    free(got);
    keys_close(keys);
}

static void expect_everywhere(const char *data, size_t len, char separator)
{
    static const size_t pieces[] = {1, 2, 3, 7, 4096};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        int fd = feed_pipe(data, len, pieces[i]);
        expect_split(fd, data, len, separator, i % 2 == 0 ? 1 : 64);
        close(fd);
        wait(NULL);
    }
    int fd = as_file(data, len);
    expect_split(fd, data, len, separator, 2);
    close(fd);
}

/* All of `block`, up to `max` keys a call, against memchr. */
static void expect_all_split(unsigned way, const char *block, size_t len, char separator,
                             size_t max)
{
    const void **keys = calloc(max, sizeof *keys);
    size_t *lens = calloc(max, sizeof *lens);
    size_t at = 0;
    assert_non_null(keys);
    assert_non_null(lens);
    while (at < len) {
        size_t used = 0;
        size_t began = at;
        size_t got = keys_split_by(way, block + at, len - at, separator, keys, lens, max, &used);
        assert_in_range(got, 1, max);
        for (size_t i = 0; i < got; i++) {
            const char *stop = memchr(block + at, separator, len - at);
            assert_non_null(stop);
            assert_ptr_equal(keys[i], block + at);
            assert_int_equal(lens[i], stop - (block + at));
            at += lens[i] + 1;
        }
        assert_int_equal(used, at - began);
        assert_true(got == max || at == len);
    }
    free(keys);
    free(lens);
}

/* Blocks whose keys have lengths of all sorts; every array is as long as it must be. */
static void blocks_are_split_alike(void **state)
{
    static const size_t longest[] = {1, 2, 5, 17, 40, 64, 65, 200};
    uint64_t random = 1;
    (void)state;
    for (size_t round = 0; round < 4000; round++) {
        size_t len = 1 + check_random(&random) % 700;
        size_t most = longest[round % 8];
        char separator = round % 3 == 0 ? '\0' : '\n';
        char *block = malloc(len);
        assert_non_null(block);
        for (size_t i = 0; i < len; i++) {
            uint64_t draw = check_random(&random);
            block[i] = draw % most == 0 ? separator : (char)(draw >> 32);
        }
        block[len - 1] = separator;
        size_t max =
            round % 5 == 0 ? 1 + check_random(&random) % 8 : 60 + check_random(&random) % 200;
        for (unsigned way = 0; way < keys_split_ways(); way++) {
            expect_all_split(way, block, len, separator, max);
        }
        free(block);
    }
}

static void keys_of_small_inputs(void **state)
{
    static const char *const inputs[] = {
        "", "\n", "\n\n", "a", "a\n", "a\nb", "a\nb\n", "\na\n\n", "a\r\n", "ab\ncd\nef", "  \n\t"};
    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        expect_everywhere(inputs[i], strlen(inputs[i]), '\n');
    }
}

static void nul_bytes_are_part_of_a_line_or_separate(void **state)
{
    static const char data[] = "a\0b\n\0\n\n\0c";
    (void)state;
    expect_everywhere(data, sizeof data - 1, '\n');
    expect_everywhere(data, sizeof data - 1, '\0');
}

/* First bytes that look like a compressed file and are none. */
static void almost_compressed_is_plain(void **state)
{
    static const char *const inputs[] = {
        "\x1f",           "\x1f\n", "\x1f\x8b\x07x\n", "\x28\n", "\x28\xb5\n",
        "\x28\xb5\x2f\n", "(abc\n", "P*x\n",           "\x50",   "P*M\n"};
    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        expect_everywhere(inputs[i], strlen(inputs[i]), '\n');
    }
}

/* Keys that end just before, at and just after the end of the buffer and of a pipe's piece. */
static void keys_at_the_end_of_the_buffer(void **state)
{
    const size_t edges[] = {4096, 65536, 131072, (size_t)1 << 18, (size_t)1 << 19};
    (void)state;
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
        for (size_t len = edges[e] - 3; len <= edges[e] + 3; len++) {
            char *data = malloc(len + 32);
            memset(data, 'x', len);
            for (size_t i = 0; i < len / 2; i += 997) {
                data[i] = '\n';
            }
            memcpy(data + len, "\nlast\n\nand more", 15);
            int fd = as_file(data, len + 15);
            expect_split(fd, data, len + 15, '\n', 2048);
            close(fd);
            fd = feed_pipe(data, len + 15, 65536);
            expect_split(fd, data, len + 15, '\n', 100);
            close(fd);
            wait(NULL);
            free(data);
        }
    }
}

static void a_key_of_five_mebibytes(void **state)
{
    size_t len = (size_t)5 << 20;
    char *data = malloc(len + 8);
    (void)state;
    memset(data, 'k', len);
    memcpy(data, "a\n", 2);
    memcpy(data + len, "\nb\n", 3);
    int fd = feed_pipe(data, len + 3, 100000);
    expect_split(fd, data, len + 3, '\n', 16);
    close(fd);
    wait(NULL);
    free(data);
}

/* ---- compressed keys ------------------------------------------------------------------------- */

struct buffer {
    char *bytes;
    size_t len;
};

static void append_gzip(struct buffer *to, const char *data, size_t len)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&z, len) + 64;
    to->bytes = realloc(to->bytes, to->len + room);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)len;
    z.next_out = (Bytef *)to->bytes + to->len;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    to->len += room - z.avail_out;
    deflateEnd(&z);
}

static void append_zstd(struct buffer *to, const char *data, size_t len)
{
    size_t room = ZSTD_compressBound(len);
    to->bytes = realloc(to->bytes, to->len + room);
    size_t n = ZSTD_compress(to->bytes + to->len, room, data, len, 3);
    assert_false(ZSTD_isError(n));
    to->len += n;
}

static void append_raw(struct buffer *to, const char *data, size_t len)
{
    to->bytes = realloc(to->bytes, to->len + len + 1);
    memcpy(to->bytes + to->len, data, len);
    to->len += len;
}

static char *many_lines(size_t lines, size_t *len)
{
    char *data = malloc(lines * 24);
    *len = 0;
    for (size_t i = 0; i < lines; i++) {
        *len += (size_t)sprintf(data + *len, "%zu\n", i * UINT64_C(0x9e3779b97f4a7c15));
    }
    return data;
}

static void expect_decompressed(const struct buffer *packed, const char *data, size_t len)
{
    int fd = as_file(packed->bytes, packed->len);
    expect_split(fd, data, len, '\n', 2048);
    close(fd);
    static const size_t pieces[] = {1, 5, 70000};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        if (pieces[i] == 1 && packed->len > 50000) {
            continue;
        }
        fd = feed_pipe(packed->bytes, packed->len, pieces[i]);
        expect_split(fd, data, len, '\n', 333);
        close(fd);
        wait(NULL);
    }
}

static void gzip_and_zstd_by_content(void **state)
{
    static const size_t sizes[] = {0, 1, 10, 1000, 100000};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t len;
        char *data = many_lines(sizes[i], &len);
        struct buffer gzip = {NULL, 0};
        struct buffer zstd = {NULL, 0};
        append_gzip(&gzip, data, len);
        append_zstd(&zstd, data, len);
        expect_decompressed(&gzip, data, len);
        expect_decompressed(&zstd, data, len);
        free(gzip.bytes);
        free(zstd.bytes);
        free(data);
    }
}

/* Members join in the middle of a key; padding and skippable frames do not show. */
static void members_and_frames_follow_one_another(void **state)
{
    static const char skippable[] = "\x51\x2a\x4d\x18\x03\0\0\0abc";
    struct buffer gzip = {NULL, 0};
    struct buffer zstd = {NULL, 0};
    (void)state;
    append_gzip(&gzip, "one\ntw", 6);
    append_gzip(&gzip, "", 0);
    append_gzip(&gzip, "o\nthree", 7);
    append_raw(&gzip, "\0\0\0\0", 4);
    expect_decompressed(&gzip, "one\ntwo\nthree", 13);
    append_raw(&zstd, skippable, sizeof skippable - 1);
    append_zstd(&zstd, "one\ntw", 6);
    append_raw(&zstd, skippable, sizeof skippable - 1);
    append_zstd(&zstd, "o\nthree", 7);
    expect_decompressed(&zstd, "one\ntwo\nthree", 13);
    free(gzip.bytes);
    free(zstd.bytes);
}

/* What the reader says of these bytes; NULL: it reads them. */
static const char *trouble_with(const char *bytes, size_t len, bool plain, char *room, size_t size)
{
    struct keys_options how = {.separator = '\n', .plain = plain};
    int fd = as_file(bytes, len);
    struct keys *keys = keys_open_fd(fd, &how);
    struct key batch[64];
    ptrdiff_t count;
    assert_non_null(keys);
    do {
        count = keys_next(keys, batch, 64);
    } while (count > 0);
    snprintf(room, size, "%s", keys_why(keys));
    keys_close(keys);
    close(fd);
    return count < 0 ? room : NULL;
}

static void damaged_streams_are_refused(void **state)
{
    struct buffer gzip = {NULL, 0};
    struct buffer zstd = {NULL, 0};
    char why[128];
    size_t len;
    char *data = many_lines(3000, &len);
    (void)state;
    append_gzip(&gzip, data, len);
    append_zstd(&zstd, data, len);
    /* Cut anywhere: truncated, never silently shorter. */
    for (size_t cut = 3; cut < gzip.len; cut += cut < 40 || gzip.len - cut < 40 ? 1 : 97) {
        assert_non_null(trouble_with(gzip.bytes, cut, false, why, sizeof why));
        assert_string_equal(why, "truncated gzip data: the file ends too early");
    }
    for (size_t cut = 4; cut < zstd.len; cut += cut < 40 || zstd.len - cut < 40 ? 1 : 97) {
        assert_non_null(trouble_with(zstd.bytes, cut, false, why, sizeof why));
        assert_string_equal(why, "truncated zstd data: the file ends too early");
    }
    assert_non_null(trouble_with("\x1f\x8b", 2, false, why, sizeof why));
    assert_string_equal(why, "truncated gzip data: the file ends too early");
    /* The checksum at the end of the gzip member. */
    gzip.bytes[gzip.len - 6] ^= 1;
    assert_non_null(trouble_with(gzip.bytes, gzip.len, false, why, sizeof why));
    assert_string_equal(why, "damaged gzip data");
    gzip.bytes[gzip.len - 6] ^= 1;
    assert_null(trouble_with(gzip.bytes, gzip.len, false, why, sizeof why));
    append_raw(&gzip, "x", 1);
    assert_non_null(trouble_with(gzip.bytes, gzip.len, false, why, sizeof why));
    assert_string_equal(why, "damaged gzip data: unexpected bytes after its end");
    append_raw(&zstd, "xxxxxxxx", 8);
    assert_non_null(trouble_with(zstd.bytes, zstd.len, false, why, sizeof why));
    assert_string_equal(why, "damaged zstd data: unexpected bytes after its end");
    /* --plain reads the very same bytes. */
    assert_null(trouble_with(zstd.bytes, zstd.len, true, why, sizeof why));
    free(gzip.bytes);
    free(zstd.bytes);
    free(data);
}

static void files_do_not_run_into_each_other(void **state)
{
    char folder[] = "/tmp/tepal-unit.XXXXXX";
    char first[64];
    char second[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(first, sizeof first, "%s/first", folder);
    snprintf(second, sizeof second, "%s/second", folder);
    FILE *f = fopen(first, "w");
    fputs("a\nb", f);
    fclose(f);
    f = fopen(second, "w");
    fputs("c\n", f);
    fclose(f);
    const char *const paths[] = {first, second, first};
    struct keys_options how = {.separator = '\n'};
    struct keys *keys = keys_open(paths, 3, &how);
    struct key batch[8];
    char all[16] = "";
    ptrdiff_t count;
    while ((count = keys_next(keys, batch, 8)) > 0) {
        for (ptrdiff_t i = 0; i < count; i++) {
            strncat(all, batch[i].text, batch[i].len);
            strcat(all, ".");
        }
    }
    assert_int_equal(count, 0);
    assert_string_equal(all, "a.b.c.a.b.");
    keys_close(keys);
    unlink(first);
    unlink(second);
    rmdir(folder);
}

static void a_missing_file_is_named(void **state)
{
    const char *const paths[] = {"/nonexistent/keys"};
    struct keys_options how = {.separator = '\n'};
    struct keys *keys = keys_open(paths, 1, &how);
    struct key batch[1];
    (void)state;
    assert_int_equal(keys_next(keys, batch, 1), -1);
    assert_string_equal(keys_subject(keys), "/nonexistent/keys");
    assert_string_equal(keys_why(keys), "No such file or directory");
    keys_close(keys);
}

static void hexadecimal_keys(void **state)
{
    unsigned char bytes[8];
    size_t place = 0;
    struct key good = {"00ffAb", 6};
    struct key empty = {"", 0};
    struct key odd = {"abc", 3};
    struct key wrong = {"ab0g", 4};
    (void)state;
    assert_null(keys_unhex(&good, bytes, &place));
    assert_memory_equal(bytes, "\x00\xff\xab", 3);
    assert_null(keys_unhex(&empty, bytes, &place));
    assert_string_equal(keys_unhex(&odd, bytes, &place), "an odd number of hexadecimal digits");
    assert_int_equal(place, 3);
    assert_string_equal(keys_unhex(&wrong, bytes, &place), "not a hexadecimal digit");
    assert_int_equal(place, 4);
}

/* ---- the spill ------------------------------------------------------------------------------- */

static void spilled_digests_come_back_in_order(void **state)
{
    static const size_t limits[] = {1, 7, 4096, 5000, 100000};
    static const size_t totals[] = {0, 1, 6, 7, 8, 4096, 40000};
    (void)state;
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        for (size_t t = 0; t < sizeof totals / sizeof *totals; t++) {
            struct spill *spill = spill_open(limits[l]);
            const struct tepal_digest *digests;
            uint64_t seen = 0;
            ptrdiff_t count;
            assert_non_null(spill);
            for (uint64_t i = 0; i < totals[t];) {
                struct tepal_digest some[13];
                size_t n = 0;
                for (; n < 13 && i < totals[t]; n++, i++) {
                    some[n] = (struct tepal_digest){i, ~i};
                }
                assert_int_equal(spill_add(spill, some, n), 0);
            }
            assert_int_equal(spill_count(spill), totals[t]);
            while ((count = spill_next(spill, &digests)) > 0) {
                for (ptrdiff_t i = 0; i < count; i++, seen++) {
                    assert_int_equal(digests[i].lo, seen);
                    assert_int_equal(digests[i].hi, ~seen);
                }
            }
            assert_int_equal(count, 0);
            assert_int_equal(seen, totals[t]);
            spill_close(spill);
        }
    }
}

static void a_spill_without_a_place_says_so(void **state)
{
    struct tepal_digest some[4] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}};
    (void)state;
    char *before = getenv("TMPDIR");
    char *saved = before == NULL ? NULL : strdup(before);
    setenv("TMPDIR", "/nonexistent", 1);
    struct spill *spill = spill_open(2);
    assert_int_equal(spill_add(spill, some, 4), -1);
    assert_string_equal(spill_subject(spill), "/nonexistent");
    assert_string_equal(spill_why(spill), "No such file or directory");
    spill_close(spill);
    if (saved == NULL) {
        unsetenv("TMPDIR");
    } else {
        setenv("TMPDIR", saved, 1);
        free(saved);
    }
}

/* ---- suggestions and tables ------------------------------------------------------------------ */

static void suggestions_are_near(void **state)
{
    static const struct {
        const char *word;
        const char *best;
    } cases[] = {{"buidl", "build"}, {"qurey", "query"}, {"ver", "verify"}, {"inof", "info"},
                 {"xyzzy", ""},      {"b", ""},          {"", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct suggest near = {.word = cases[i].word};
        for (const struct command *const *c = tepal_program.commands; *c != NULL; c++) {
            suggest_offer(&near, (*c)->name);
        }
        assert_string_equal(near.best, cases[i].best);
    }
}

static void every_command_is_complete(void **state)
{
    const struct command *c;
    (void)state;
    for (size_t i = 0; (c = command_at(&tepal_program, i)) != NULL; i++) {
        bool app = strncmp(c->name, "app ", 4) == 0;
        assert_ptr_equal(app ? command_find(tepal_program.apps, command_word(c))
                             : command_find(tepal_program.commands, c->name),
                         c);
        assert_non_null(c->summary);
        assert_non_null(c->about);
        assert_non_null(c->examples);
        assert_non_null(c->run);
        bool letters[256] = {false};
        for (const struct option *o = c->options; o->name != NULL; o++) {
            assert_non_null(o->about);
            assert_true((o->value != NULL) == (o->type != TAKES_NOTHING));
            assert_true((o->choices != NULL) == (o->type == TAKES_CHOICE));
            if (o->letter != 0) {
                assert_false(letters[(unsigned char)o->letter]);
                letters[(unsigned char)o->letter] = true;
            }
            for (const struct option *other = c->options; other != o; other++) {
                assert_string_not_equal(other->name, o->name);
            }
        }
    }
}

/* Names that may share a letter: each is the same thing, seen from another command. */
static bool kin(const char *a, const char *b)
{
    static const char *const families[][2] = {
        {"capacity", "keys"}, {"fp", "max-fp"}, {"output", "out"}, {"count", "count-only"}};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const char *const *f = families[i];
        if ((strcmp(a, f[0]) == 0 && strcmp(b, f[1]) == 0) ||
            (strcmp(a, f[1]) == 0 && strcmp(b, f[0]) == 0)) {
            return true;
        }
    }
    return strcmp(a, b) == 0;
}

/* A letter means one thing in all commands, and so does a name (a number apart, as --count N). */
static void means_the_same(const struct option *a, const struct option *b)
{
    if (a->letter != 0 && a->letter == b->letter && !kin(a->name, b->name)) {
        fail_msg("-%c is --%s and --%s", a->letter, a->name, b->name);
    }
    if (strcmp(a->name, b->name) == 0 && a->letter != b->letter && a->type == b->type) {
        fail_msg("--%s has a letter here and none there", a->name);
    }
}

static void options_mean_the_same_everywhere(void **state)
{
    const struct command *c;
    const struct command *d;
    (void)state;
    for (size_t i = 0; (c = command_at(&tepal_program, i)) != NULL; i++) {
        for (size_t j = 0; j <= i && (d = command_at(&tepal_program, j)) != NULL; j++) {
            for (const struct option *a = c->options; a->name != NULL; a++) {
                for (const struct option *b = d->options; b->name != NULL; b++) {
                    means_the_same(a, b);
                }
            }
        }
    }
}

/* ---- retouch: shares, weights, sets of digests, axes ----------------------------------------- */

static void shares_and_weights_are_numbers_within_limits(void **state)
{
    static const char *const good[] = {"1", "100%", "1/1", "0.5%", "1e-9"};
    static const char *const bad[] = {"0",    "0%",  "-1%", "1.01", "2/1",
                                      "101%", "nan", "inf", "",     "x"};
    static const char *const weights[] = {"0", "1", "-0", "2.5", "1e300", "1e-400"};
    static const char *const wrong[] = {"",      "-1", "-1e-9", "nan", "inf",
                                        "1e999", "1x", " 1",    "0x1"};
    double value;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        value = -1;
        assert_null(number_share(good[i], &value));
        assert_true(value > 0 && value <= 1);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        value = -1;
        assert_non_null(number_share(bad[i], &value));
        assert_true(value == -1);
    }
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        value = -1;
        assert_null(number_weight(weights[i], strlen(weights[i]), &value));
        assert_true(value >= 0);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        value = -1;
        assert_non_null(number_weight(wrong[i], strlen(wrong[i]), &value));
        assert_true(value == -1);
    }
    assert_null(number_weight("12345", 2, &value));
    assert_true(value == 12);
}

static void digests_are_kept_once_and_in_order(void **state)
{
    struct digests set = {.texts = true};
    char text[32];
    (void)state;
    for (uint64_t i = 0; i < 10000; i++) {
        /* Digests that agree in one half, and in the slot they would like. */
        struct tepal_digest d = {.lo = i / 2 * 1024, .hi = i % 2};
        int len = snprintf(text, sizeof text, "%d", (int)i);
        assert_true(digests_add(&set, d, 1, text, i % 100 == 0 ? 0 : (size_t)len));
        assert_true(digests_add(&set, d, 2, "other", 5));
        assert_true(digests_has(&set, d));
    }
    assert_false(digests_has(&set, (struct tepal_digest){.lo = 1, .hi = 0}));
    assert_int_equal(set.count, 10000);
    assert_int_equal(set.repeats, 10000);
    for (size_t i = 0; i < set.count; i++) {
        size_t len;
        const char *kept = digests_text(&set, i, &len);
        int want = snprintf(text, sizeof text, "%d", (int)i);
        assert_int_equal(len, i % 100 == 0 ? 0 : want);
        assert_memory_equal(kept, text, len);
        assert_int_equal(set.digest[i].lo, i / 2 * 1024);
        assert_true(set.weight[i] == 3);
    }
    digests_free(&set);
    assert_int_equal(set.count, 0);
}

static void axes_have_round_steps(void **state)
{
    static const double table[][2] = {{100, 20}, {1, 0.2},     {6, 1},     {7, 2},
                                      {0, 1},    {0.21, 0.05}, {1e9, 2e8}, {35, 10}};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        double step = svg_step(table[i][0]);
        assert_true(step > table[i][1] * 0.999 && step < table[i][1] * 1.001);
    }
}

static void marks_of_axes_read_well(void **state)
{
    static const struct {
        enum svg_unit unit;
        double value;
        const char *text;
    } marks[] = {{SVG_NUMBER, 0, "0"},
                 {SVG_NUMBER, 0.5, "0.5"},
                 {SVG_NUMBER, 2000, "2,000"},
                 {SVG_NUMBER, 250000, "250,000"},
                 {SVG_NUMBER, 1e6, "1 million"},
                 {SVG_NUMBER, 2.5e9, "2.5 billion"},
                 {SVG_NUMBER, 1e12, "1,000 billion"},
                 {SVG_NUMBER, 1e-7, "10\u207b\u2077"},
                 {SVG_SHARE, 0, "0 %"},
                 {SVG_SHARE, 1, "100 %"},
                 {SVG_SHARE, 0.01, "1 %"},
                 {SVG_SHARE, 1e-6, "0.0001 %"},
                 {SVG_SHARE, 1e-7, "10\u207b\u2075 %"},
                 {SVG_SHARE, 1e-12, "10\u207b\u00b9\u2070 %"},
                 {SVG_BYTES, 512, "512 B"},
                 {SVG_BYTES, 1e4, "10 kB"},
                 {SVG_BYTES, 1e7, "10 MB"},
                 {SVG_BYTES, 1e9, "1 GB"},
                 {SVG_NUMBER, 2e-5, "2\u00b710\u207b\u2075"}};
    char text[32];
    (void)state;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        assert_string_equal(svg_mark(marks[i].unit, marks[i].value, text), marks[i].text);
    }
}

static const struct frame square = {0, 0, 400, 300};

/* How near the box comes to the curve, looked at in 2000 places of it. */
static double distance_to(const struct trail *t, const struct box *b)
{
    double nearest = INFINITY;
    for (int i = 0; i <= 2000; i++) {
        double at = (double)(t->count - 1) * i / 2000;
        size_t part = at < (double)(t->count - 1) ? (size_t)at : t->count - 2;
        double share = at - (double)part;
        double x = t->at[part].x + share * (t->at[part + 1].x - t->at[part].x);
        double y = t->at[part].y + share * (t->at[part + 1].y - t->at[part].y);
        double aside = fmax(fmax(b->x - x, x - b->x - b->width), 0);
        double over = fmax(fmax(b->y - BOX_ABOVE - y, y - b->y - BOX_BELOW), 0);
        nearest = fmin(nearest, hypot(aside, over));
    }
    return nearest;
}

static void names_stand_clear_of_other_curves(void **state)
{
    uint64_t random = 7;
    size_t all = 0;
    size_t none = 0;
    (void)state;
    for (size_t round = 0; round < 400; round++) {
        struct spot at[5][6];
        struct trail trail[5];
        struct box box[5];
        size_t count = 1 + check_random(&random) % 5;
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j < 6; j++) {
                at[i][j] = (struct spot){20.0 + (double)(60 * j + check_random(&random) % 40),
                                         (double)(check_random(&random) % 300)};
            }
            trail[i] = (struct trail){at[i], 6, true, (double)(check_random(&random) % 4 * 40)};
        }
        trail[0].width = 60;
        if (!names_place(trail, count, &square, box)) {
            none++;
            continue;
        }
        all++;
        for (size_t i = 0; i < count; i++) {
            const struct box *b = &box[i];
            double own = trail[i].width > 0 ? distance_to(&trail[i], b) : 0;
            if (!(trail[i].width > 0)) {
                continue;
            }
            assert_true(b->lead == 0 || trail[i].at[5].x == b->x + b->width / 2);
            assert_true(b->width == trail[i].width);
            assert_true(b->x >= 0 && b->x + b->width <= 400 && b->y >= BOX_ABOVE &&
                        b->y <= 300 - BOX_BELOW);
            assert_true(own > 2 && own < 20);
            for (size_t j = 0; j < count; j++) {
                double other = j == i ? INFINITY : distance_to(&trail[j], b);
                assert_true(other > 4 && (b->lead != 0 || other > own + 2));
                assert_true(j == i || !(trail[j].width > 0) || b->x > box[j].x + box[j].width ||
                            box[j].x > b->x + b->width || fabs(b->y - box[j].y) >= 13);
            }
        }
    }
    assert_true(all > 100 && none > 20);
}

/* The middle one of three has no room beside it, only below its end, and a line leads there. */
static void a_line_leads_to_a_name_without_room(void **state)
{
    static const struct spot at[3][2] = {
        {{186, 5}, {186, 250}}, {{200, 5}, {200, 250}}, {{214, 5}, {214, 250}}};
    static const struct spot across[] = {{150, 258}, {250, 258}};
    const struct trail trail[] = {
        {at[0], 2, true, 60}, {at[1], 2, true, 60}, {at[2], 2, true, 60}, {across, 2, true, 0}};
    struct box box[4];
    (void)state;
    assert_true(names_place(trail, 3, &square, box));
    assert_true(box[0].lead == 0 && box[0].x + 60 < 186 && box[2].lead == 0 && box[2].x > 214);
    assert_true(box[1].lead > 10 && box[1].x == 170 && box[1].y - BOX_ABOVE >= 250 + box[1].lead &&
                box[1].y < 300);
    /* But not across another curve. */
    assert_false(names_place(trail, 4, &square, box));
}

static void one_curve_on_another_has_no_place_for_its_name(void **state)
{
    static const struct spot at[] = {{20, 250}, {200, 100}, {380, 80}};
    static const struct spot lower[] = {{20, 290}, {200, 140}, {380, 120}};
    const struct trail same[] = {{at, 3, true, 60}, {at, 3, true, 60}};
    const struct trail apart[] = {{at, 3, true, 60}, {lower, 3, true, 60}};
    const struct trail long_name[] = {{at, 3, true, 500}};
    struct box box[2];
    (void)state;
    assert_false(names_place(same, 2, &square, box));
    assert_true(names_place(apart, 2, &square, box));
    assert_false(names_place(long_name, 1, &square, box));
    assert_false(names_place(apart, 0, &square, box));
}

/* Curves of very many points take no longer than others: names stand beside them, or below. */
static void names_of_curves_with_many_points(void **state)
{
    enum { CURVES = 4, POINTS = 20000 };
    static struct spot at[CURVES][POINTS];
    uint64_t random = 8;
    (void)state;
    for (int noisy = 0; noisy < 2; noisy++) {
        struct trail trail[CURVES];
        struct box box[CURVES];
        for (size_t i = 0; i < CURVES; i++) {
            for (size_t j = 0; j < POINTS; j++) {
                double up = noisy ? (double)(check_random(&random) % 60) : (double)j / 1000;
                at[i][j] = (struct spot){10 + 0.019 * (double)j, 70 + 70 * (double)i - up};
            }
            trail[i] = (struct trail){at[i], POINTS, true, 60};
        }
        assert_true(names_place(trail, CURVES, &square, box) == (noisy == 0));
        for (size_t i = 0; i < CURVES && !noisy; i++) {
            assert_true(distance_to(&trail[i], &box[i]) > 2 &&
                        distance_to(&trail[i], &box[i]) < 20);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_exact),
        cmocka_unit_test(wrong_whole_numbers_are_refused),
        cmocka_unit_test(sizes_may_end_with_bytes),
        cmocka_unit_test(marks_of_axes_read_well),
        cmocka_unit_test(seeds_are_decimal_or_hexadecimal),
        cmocka_unit_test(rates_in_four_spellings),
        cmocka_unit_test(positive_numbers),
        cmocka_unit_test(blocks_are_split_alike),
        cmocka_unit_test(keys_of_small_inputs),
        cmocka_unit_test(nul_bytes_are_part_of_a_line_or_separate),
        cmocka_unit_test(almost_compressed_is_plain),
        cmocka_unit_test(keys_at_the_end_of_the_buffer),
        cmocka_unit_test(a_key_of_five_mebibytes),
        cmocka_unit_test(gzip_and_zstd_by_content),
        cmocka_unit_test(members_and_frames_follow_one_another),
        cmocka_unit_test(damaged_streams_are_refused),
        cmocka_unit_test(files_do_not_run_into_each_other),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(hexadecimal_keys),
        cmocka_unit_test(spilled_digests_come_back_in_order),
        cmocka_unit_test(a_spill_without_a_place_says_so),
        cmocka_unit_test(suggestions_are_near),
        cmocka_unit_test(every_command_is_complete),
        cmocka_unit_test(options_mean_the_same_everywhere),
        cmocka_unit_test(shares_and_weights_are_numbers_within_limits),
        cmocka_unit_test(digests_are_kept_once_and_in_order),
        cmocka_unit_test(axes_have_round_steps),
        cmocka_unit_test(names_stand_clear_of_other_curves),
        cmocka_unit_test(a_line_leads_to_a_name_without_room),
        cmocka_unit_test(one_curve_on_another_has_no_place_for_its_name),
        cmocka_unit_test(names_of_curves_with_many_points),
        cmocka_unit_test(numbers_are_read_at_a_glance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * keys_fuzz.c: the key reader against a naive split of the data. The first byte chooses:
 *
 *     bits 0-1  the rest is the file as it is | is packed with gzip | with zstd | follows a magic
 *     bit 2     keys end with NUL instead of newline
 *     bit 3     a batch of one key instead of seven, or with bit 6 of 300
 *     bit 4     the file arrives in pieces (a socket that keeps them apart) instead of at once
 *     bit 5     never decompress
 *     bit 7     the file is opened by its path, twice in a row, and its keys are counted, too
 *
 * If the data can be unpacked the reader must give exactly its keys, in order; if not, the reader
 * must fail, and what it gave before must be how the keys begin.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "input/keys.h"
#include "fail.h"
#include "must.h"

#define MOST ((size_t)1 << 18) /* of unpacked bytes: what is more proves nothing new */

struct bytes {
    uint8_t *at;
    size_t len;
};

static void append(struct bytes *to, const void *from, size_t len)
{
    to->at = realloc(to->at, to->len + len + 1);
    MUST(to->at != NULL);
    if (len > 0) {
        memcpy(to->at + to->len, from, len);
    }
    to->len += len;
}

/* ---- packing -------------------------------------------------------------------------------- */

static void pack_gzip(struct bytes *to, const uint8_t *data, size_t len)
{
    z_stream z;
    uint8_t room[4096];
    memset(&z, 0, sizeof z);
    MUST(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)len;
    int result;
    do {
        z.next_out = room;
        z.avail_out = sizeof room;
        result = deflate(&z, Z_FINISH);
        append(to, room, sizeof room - z.avail_out);
    } while (result == Z_OK);
    MUST(result == Z_STREAM_END);
    deflateEnd(&z);
}

static void pack_zstd(struct bytes *to, const uint8_t *data, size_t len)
{
    size_t room = ZSTD_compressBound(len);
    uint8_t *packed = malloc(room);
    size_t n = ZSTD_compress(packed, room, data, len, 1);
    MUST(!ZSTD_isError(n));
    append(to, packed, n);
    free(packed);
}

static void make_file(struct bytes *file, int form, const uint8_t *data, size_t len)
{
    size_t half = len / 2;
    switch (form) {
    case 1:
        pack_gzip(file, data, half);
        pack_gzip(file, data + half, len - half);
        break;
    case 2:
        pack_zstd(file, data, half);
        pack_zstd(file, data + half, len - half);
        break;
    case 3:
        append(file, len % 2 == 0 ? "\x1f\x8b\x08\0\0\0\0\0\0\x03" : "\x28\xb5\x2f\xfd",
               len % 2 == 0 ? 10 : 4);
        append(file, data, len);
        break;
    default:
        append(file, data, len);
    }
}

/* ---- unpacking, naively --------------------------------------------------------------------- */

enum verdict { SOUND, BROKEN, UNDECIDED };

static enum verdict unpack_gzip(const struct bytes *file, struct bytes *out)
{
    for (size_t at = 0; at < file->len;) {
        if (at > 0 && file->at[at] == 0) {
            at++; /* padding after a member */
            continue;
        }
        z_stream z;
        uint8_t room[16384];
        int result;
        memset(&z, 0, sizeof z);
        MUST(inflateInit2(&z, 15 + 16) == Z_OK);
        z.next_in = file->at + at;
        z.avail_in = (uInt)(file->len - at);
        do {
            z.next_out = room;
            z.avail_out = sizeof room;
            result = inflate(&z, Z_NO_FLUSH);
            append(out, room, sizeof room - z.avail_out);
        } while (result == Z_OK && out->len < MOST);
        at = file->len - z.avail_in;
        inflateEnd(&z);
        if (result != Z_STREAM_END) {
            return result == Z_OK ? UNDECIDED : BROKEN;
        }
    }
    return SOUND;
}

/* Given to libzstd in pieces of so many bytes. */
static enum verdict unpack_zstd_pieces(const struct bytes *file, size_t piece, struct bytes *out)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_inBuffer in = {file->at, 0, 0};
    size_t result = 0;
    bool produced = true;
    MUST(context != NULL);
    while (in.pos < file->len || (result != 0 && produced)) {
        uint8_t room[16384];
        ZSTD_outBuffer to = {room, sizeof room, 0};
        in.size = file->len - in.pos < piece ? file->len : in.pos + piece;
        result = ZSTD_decompressStream(context, &to, &in);
        append(out, room, to.pos);
        produced = to.pos > 0;
        if (ZSTD_isError(result) || out->len >= MOST) {
            break;
        }
    }
    /* How large a window is accepted depends on how the data arrives; both answers are right. */
    bool window =
        ZSTD_isError(result) &&
        strcmp(ZSTD_getErrorName(result), "Frame requires too much memory for decoding") == 0;
    ZSTD_freeDCtx(context);
    if (window || out->len >= MOST) {
        return UNDECIDED;
    }
    return result == 0 ? SOUND : BROKEN;
}

/*
 * So does what is found of a size in the header that is wrong: with an empty last block only a
 * frame that arrives at once is refused.
 */
static enum verdict unpack_zstd(const struct bytes *file, struct bytes *out)
{
    enum verdict verdict = unpack_zstd_pieces(file, SIZE_MAX, out);
    if (verdict == BROKEN) {
        struct bytes again = {NULL, 0};
        verdict = unpack_zstd_pieces(file, 1, &again) == BROKEN ? BROKEN : UNDECIDED;
        free(again.at);
    }
    return verdict;
}

static enum verdict unpack_xz(const struct bytes *file, struct bytes *out)
{
    lzma_stream xz = LZMA_STREAM_INIT;
    lzma_ret result = LZMA_OK;
    MUST(lzma_stream_decoder(&xz, (uint64_t)1 << 27, LZMA_CONCATENATED) == LZMA_OK);
    xz.next_in = file->at;
    xz.avail_in = file->len;
    while (result == LZMA_OK && out->len < MOST) {
        uint8_t room[16384];
        xz.next_out = room;
        xz.avail_out = sizeof room;
        result = lzma_code(&xz, LZMA_FINISH);
        append(out, room, sizeof room - xz.avail_out);
    }
    lzma_end(&xz);
    return result == LZMA_STREAM_END ? SOUND : result == LZMA_OK ? UNDECIDED : BROKEN;
}

/* Which is recognised, and refused. */
static bool is_bzip2(const struct bytes *file)
{
    return file->len >= 10 && memcmp(file->at, "BZh", 3) == 0 && file->at[3] >= '1' &&
           file->at[3] <= '9' &&
           (memcmp(file->at + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
            memcmp(file->at + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0);
}

static bool is_zstd(const struct bytes *file)
{
    return file->len >= 4 &&
           (memcmp(file->at, "\x28\xb5\x2f\xfd", 4) == 0 ||
            ((file->at[0] & 0xf0) == 0x50 && memcmp(file->at + 1, "\x2a\x4d\x18", 3) == 0));
}

static enum verdict unpack(const struct bytes *file, bool plain, struct bytes *out)
{
    if (!plain && file->len >= 2 && memcmp(file->at, "\x1f\x8b", 2) == 0 &&
        (file->len == 2 || file->at[2] == 8)) {
        return unpack_gzip(file, out);
    }
    if (!plain && is_zstd(file)) {
        return unpack_zstd(file, out);
    }
    if (!plain && file->len >= 6 && memcmp(file->at, "\3757zXZ", 6) == 0) {
        return unpack_xz(file, out);
    }
    if (!plain && is_bzip2(file)) {
        return BROKEN;
    }
    append(out, file->at, file->len);
    return SOUND;
}

/* ---- the reader ----------------------------------------------------------------------------- */

/* A read from this descriptor returns one piece, never two. */
static int open_pieces(const struct bytes *file)
{
    int ends[2];
    MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    size_t piece = file->len / 50 + 1;
    for (size_t at = 0; at < file->len; at += piece) {
        size_t len = file->len - at < piece ? file->len - at : piece;
        MUST(send(ends[0], file->at + at, len, MSG_DONTWAIT) == (ssize_t)len);
    }
    close(ends[0]);
    return ends[1];
}

/* Hexadecimal text and its bytes say the same. */
static void check_hex(const struct key *key)
{
    uint8_t *bytes = malloc(key->len / 2 + 1);
    size_t place = 0;
    const char *why = keys_unhex(key, bytes, &place);
    if (why != NULL) {
        MUST(place >= 1 && place <= key->len);
    } else {
        MUST(key->len % 2 == 0);
        for (size_t i = 0; i < key->len; i++) {
            char digit = "0123456789abcdef"[bytes[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15];
            MUST((key->text[i] | (key->text[i] > '9' ? 0x20 : 0)) == digit);
        }
    }
    free(bytes);
}

static void compare(struct keys *keys, size_t batch, char separator, const struct bytes *want,
                    enum verdict verdict)
{
    struct key got[300];
    size_t at = 0;
    ptrdiff_t count;
    while ((count = keys_next(keys, got, batch)) > 0) {
        for (ptrdiff_t i = 0; i < count && verdict != UNDECIDED; i++) {
            const uint8_t *stop =
                at < want->len ? memchr(want->at + at, separator, want->len - at) : NULL;
            if (verdict == BROKEN && stop == NULL) {
                break; /* where damage is noticed depends on how the data arrives */
            }
            MUST(at < want->len);
            size_t len = stop == NULL ? want->len - at : (size_t)(stop - (want->at + at));
            MUST(got[i].len == len);
            MUST(memcmp(got[i].text, want->at + at, len) == 0);
            MUST(got[i].text[len] == separator);
            check_hex(&got[i]);
            at += len + 1;
        }
    }
    if (verdict == SOUND && count < 0) {
        MUST(strcmp(keys_why(keys), "Frame requires too much memory for decoding") == 0);
    } else if (verdict == SOUND) {
        MUST(at >= want->len);
    } else if (verdict == BROKEN) {
        MUST(count == -1 && keys_why(keys)[0] != '\0');
    }
}

/* Every way to split a block on this processor, in arrays with room for `max` keys and no more. */
static void check_split(const struct bytes *text, char separator, size_t max)
{
    struct bytes block = {NULL, 0};
    append(&block, text->at, text->len);
    append(&block, &separator, 1);
    for (unsigned way = 0; way < keys_split_ways(); way++) {
        const void **keys = malloc(max * sizeof *keys);
        size_t *lens = malloc(max * sizeof *lens);
        size_t at = 0;
        MUST(keys != NULL && lens != NULL);
        while (at < block.len) {
            size_t used = 0;
            size_t got = keys_split_by(way, (char *)block.at + at, block.len - at, separator, keys,
                                       lens, max, &used);
            MUST(got > 0 && got <= max);
            for (size_t i = 0; i < got; i++) {
                const uint8_t *stop = memchr(block.at + at, separator, block.len - at);
                MUST(stop != NULL && keys[i] == block.at + at);
                MUST(lens[i] == (size_t)(stop - (block.at + at)));
                at += lens[i] + 1;
                used -= lens[i] + 1;
            }
            MUST(used == 0);
        }
        free(keys);
        free(lens);
    }
    free(block.at);
}

struct named {
    const char *path;
    const struct keys_options *how;
    uint64_t waited; /* how often it was asked whether to go on */
    uint64_t most;
};

static bool go_on(void *context, int fd)
{
    struct named *n = context;
    (void)fd;
    return n->waited++ < n->most;
}

/* By name: the same file twice has its keys twice, by whichever way they are counted. */
static void read_named(void *context)
{
    struct named *n = context;
    const char *const paths[] = {n->path, n->path};
    struct key batch[7];
    uint64_t single = UINT64_MAX;
    uint64_t counted = 0;
    ptrdiff_t got;
    n->waited = 0;
    for (size_t files = 1; files <= 2; files++) {
        struct keys *keys = keys_open(paths, files, n->how);
        uint64_t count = 0;
        if (keys == NULL) {
            return;
        }
        keys_set_wait(keys, go_on, n);
        bool known = keys_regular(keys) && keys_count(keys, UINT64_MAX, 1, &counted);
        while ((got = keys_next(keys, batch, 7)) > 0) {
            MUST(strcmp(keys_subject(keys), n->path) == 0);
            count += (uint64_t)got;
        }
        MUST(got == 0 || keys_why(keys)[0] != '\0');
        if (got == 0 && n->waited <= n->most) {
            MUST(!known || counted == count);
            MUST(files == 1 || single == UINT64_MAX || count == 2 * single);
            single = count;
        }
        keys_close(keys);
    }
}

static void check_paths(const struct bytes *file, const struct keys_options *how)
{
    char path[MUST_PATH];
    int fd = must_file(file->at, file->len, path);
    struct named named = {.path = path, .how = how, .most = UINT64_MAX};
    read_named(&named);
    named.most = file->len % 7;
    read_named(&named);
    named.most = UINT64_MAX;
    if (file->len % 8 == 0) {
        fail_each(read_named, &named);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 8192) {
        return 0;
    }
    uint8_t choice = data[0];
    struct keys_options how = {.separator = (choice & 4) != 0 ? '\0' : '\n',
                               .plain = (choice & 32) != 0};
    struct bytes file = {NULL, 0};
    struct bytes want = {NULL, 0};
    make_file(&file, choice & 3, data + 1, size - 1);
    enum verdict verdict = unpack(&file, how.plain, &want);
    if (!how.plain && want.len >= 8 && memcmp(want.at, "\x89TEPAL\r\n", 8) == 0) {
        verdict = verdict == SOUND ? BROKEN : verdict; /* a filter is refused */
    }
    struct bytes text = want;
    if (!how.plain && text.len >= 3 && text.at[0] == 0xef && text.at[1] == 0xbb &&
        text.at[2] == 0xbf) { /* an editor's mark is left out */
        text.at += 3;
        text.len -= 3;
    }
    if (want.len < MOST) {
        char path[MUST_PATH];
        int fd = (choice & 16) != 0 ? open_pieces(&file) : must_file(file.at, file.len, path);
        struct keys *keys = keys_open_fd(fd, &how);
        MUST(keys != NULL);
        compare(keys,
                (choice & 8) == 0    ? 7
                : (choice & 64) == 0 ? 1
                                     : 300,
                how.separator, &text, verdict);
        keys_close(keys);
        close(fd);
        if ((choice & 128) != 0) {
            check_paths(&file, &how);
        }
        check_split(&want, how.separator, 1 + (size_t)choice * 2);
    }
    free(file.at);
    free(want.at);
    return 0;
}

/*
 * exceptions_fuzz.c: any bytes as a list of exceptions. If the first byte of an input is odd,
 * magic, version, length and checksum of the rest are put right first, so that the fuzzer gets to
 * the checks behind them; the digests are counted up from the input's, so that they ascend, unless
 * the second bit is set. What is accepted encodes to the very same bytes and finds what it holds.
 */
#include <tepal/tepal.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/little.h"
#include "fail.h"
#include "must.h"

#define HEADER 48
#define ENTRY  16

static size_t put_right(uint8_t *bytes, size_t len, bool ascending)
{
    if (len < HEADER) {
        return len;
    }
    size_t count = (len - HEADER) / ENTRY;
    uint64_t last = 0;
    memcpy(bytes, "tepalex\n", 8);
    little_put32(bytes + 8, 1);
    little_put32(bytes + 12, bytes[12] < 250 ? bytes[12] & 1 : little_get32(bytes + 12));
    little_put64(bytes + 16, count);
    for (size_t i = 0; ascending && i < count; i++) {
        uint8_t *hi = bytes + HEADER + i * ENTRY + 8;
        last += little_get32(hi);
        little_put64(hi, last);
    }
    uint64_t head = XXH3_64bits(bytes, 40);
    little_put64(bytes + 40, XXH3_64bits_withSeed(bytes + HEADER, count * ENTRY, head));
    return HEADER + count * ENTRY;
}

static void check(const struct tepal_exceptions *list, const uint8_t *bytes, size_t len)
{
    MUST(tepal_exceptions_encoded_bytes(list) == len);
    MUST(tepal_exceptions_count(list) == (len - HEADER) / ENTRY);
    for (size_t at = HEADER; at < len; at += ENTRY) {
        struct tepal_digest d = {little_get64(bytes + at), little_get64(bytes + at + 8)};
        MUST(tepal_exceptions_query(list, d));
    }
    uint8_t *again = malloc(len);
    MUST(again != NULL);
    MUST(tepal_exceptions_encode(list, again, len, NULL) == TEPAL_OK);
    MUST(memcmp(again, bytes, len) == 0);
    MUST(tepal_exceptions_encode(list, again, len - 1, NULL) == TEPAL_BAD_LENGTH);
    free(again);
}

/* The digests as members of a filter, of which some are victims: they are found, and no others. */
static void create(const uint8_t *bytes, size_t len)
{
    struct tepal_digest members[64];
    uint64_t victims = len < 16 ? 0 : little_get64(bytes);
    size_t count = len / ENTRY < 64 ? len / ENTRY : 64;
    struct tepal_exceptions *list;
    struct tepal_filter *f;
    struct tepal_error error;
    MUST(tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 10, 0.1, 1, &f, &error) == TEPAL_OK);
    for (size_t i = 0; i < count; i++) {
        members[i].lo = little_get64(bytes + i * ENTRY);
        members[i].hi = little_get64(bytes + i * ENTRY + 8) % 4;
    }
    victims &= count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    fail_begin(len % 3, EIO);
    enum tepal_status status =
        tepal_exceptions_create(f, members, count, &victims, NULL, &list, NULL);
    bool failed = fail_end();
    MUST(status == (failed ? TEPAL_NO_MEMORY : TEPAL_OK));
    if (failed) {
        tepal_filter_free(f);
        return;
    }
    MUST(tepal_exceptions_belong(list, f));
    MUST(tepal_exceptions_count(list) <= count);
    for (size_t i = 0; i < count; i++) {
        MUST((victims >> i & 1) == 0 || tepal_exceptions_query(list, members[i]));
    }
    MUST(!tepal_exceptions_query(list, (struct tepal_digest){0, 9}));
    tepal_exceptions_free(list);
    tepal_filter_free(f);
}

struct input {
    const uint8_t *bytes;
    size_t len;
    enum tepal_status status; /* if no call fails */
};

static void decode_failing(void *context)
{
    const struct input *in = context;
    struct tepal_exceptions *list = NULL;
    enum tepal_status status = tepal_exceptions_decode(in->bytes, in->len, NULL, &list, NULL);
    MUST(status == in->status || (status == TEPAL_NO_MEMORY && list == NULL));
    tepal_exceptions_free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    size_t len = size - 1;
    uint8_t *bytes = must_copy(data + 1, len);
    if ((data[0] & 1) != 0) {
        len = put_right(bytes, len, (data[0] & 2) == 0);
    }
    struct tepal_exceptions *list = NULL;
    struct tepal_error error = {TEPAL_OK, -1, 0, NULL};
    enum tepal_status status = tepal_exceptions_decode(bytes, len, NULL, &list, &error);
    MUST((status == TEPAL_OK) == (list != NULL));
    MUST(status == TEPAL_OK || (error.status == status && error.system == 0 && error.why != NULL));
    if (list != NULL) {
        check(list, bytes, len);
        tepal_exceptions_free(list);
    }
    create(bytes, len);
    struct input input = {bytes, len, status};
    fail_each(decode_failing, &input);
    free(bytes);
    return 0;
}

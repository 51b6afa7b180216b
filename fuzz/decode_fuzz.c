/*
 * decode_fuzz.c: any bytes at all through the decoder. The first byte of an input chooses what is
 * done with the rest:
 *
 *     even  the bytes as they are
 *     odd   magic, version, lengths and checksums are put right first, so that the fuzzer gets past
 *           them and at the checks that must hold without them
 *
 *     0xf0 and above: also what takes long, the models in tepal_filter_info and whole batches
 *
 * What is accepted must be sound: it validates, encodes to the very same bytes, and everything that
 * can be asked of a filter can be asked of it.
 */
#include <tepal/tepal.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/little.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEADER 256
#define BLOCK  65536

static void must(int condition)
{
    if (!condition) {
        abort();
    }
}

/* As much as there can be of a payload in that many bytes, and the sums behind it. */
static size_t payload_of(size_t len)
{
    size_t rest = (len - HEADER) & ~(size_t)7;
    size_t payload = rest;
    while (payload > 0 && payload + 8 * ((payload + BLOCK - 1) / BLOCK) > rest) {
        payload -= 8;
    }
    return payload;
}

/* What somebody who knows the format would do to be believed. Returns the new length. */
static size_t put_right(uint8_t *bytes, size_t len)
{
    static const uint8_t magic[8] = {0x89, 'T', 'E', 'P', 'A', 'L', '\r', '\n'};
    if (len < HEADER + 16) {
        return len;
    }
    size_t payload = payload_of(len);
    memcpy(bytes, magic, sizeof magic);
    little_put32(bytes + 8, 1);
    /* Small numbers where anything else is refused at once; the rest of the word still tells. */
    bool generalized = bytes[12] == 3;
    little_put32(bytes + 12, generalized ? 3 : 1);
    for (size_t at = 16; at < 28; at += 4) {
        little_put32(bytes + at, bytes[at] < 250 ? bytes[at] & 3 : little_get32(bytes + at));
    }
    little_put32(bytes + 28, bytes[28] < 250 ? bytes[28] % 66 : little_get32(bytes + 28));
    uint64_t cells = little_get64(bytes + 32);
    if (bytes[39] != 0xff) {
        uint64_t spare = cells % 64;
        little_put64(bytes + 32, payload * 8 - (bytes[16] < 2 ? spare : 0));
        bytes[HEADER + payload - 1] &= bytes[38] == 0xff || spare == 0 ? 0xff : 0x7f >> (spare & 7);
    }
    if (bytes[24] == 0 && bytes[56] != 0xff) {
        memset(bytes + 56, 0, 8);
    }
    if (generalized) {
        little_put64(bytes + 72, bytes[72] % 18);
        little_put64(bytes + 80, bytes[80] < 250 ? bytes[80] % 8 : little_get64(bytes + 80));
        little_put64(bytes + 88, little_get64(bytes + 88) & ((UINT64_C(1) << 33) - 1));
        if (bytes[96] != 0xff) {
            memset(bytes + 96, 0, 40);
        }
    } else if (bytes[72] != 0xff) {
        memset(bytes + 72, 0, 64);
    }
    if (bytes[136] != 0xff) {
        memset(bytes + 136, 0, 64);
    }
    size_t blocks = (payload + BLOCK - 1) / BLOCK;
    size_t whole = HEADER + payload + 8 * blocks;
    little_put64(bytes + 200, payload);
    little_put64(bytes + 208, whole);
    little_put32(bytes + 216, 16);
    little_put32(bytes + 220, 1);
    if (bytes[224] != 0xff) {
        memset(bytes + 224, 0, 24);
    }
    for (size_t i = 0; i < blocks; i++) {
        size_t n = payload - i * BLOCK < BLOCK ? payload - i * BLOCK : BLOCK;
        little_put64(bytes + HEADER + payload + 8 * i,
                     XXH3_64bits_withSeed(bytes + HEADER + i * BLOCK, n, i));
    }
    little_put64(bytes + 248, XXH3_64bits(bytes, 248));
    return whole;
}

#define MANY 70 /* more than one word of answers */

static void ask_everything(struct tepal_filter *f, bool at_length)
{
    size_t count = at_length ? MANY : 5;
    struct tepal_report report;
    struct tepal_filter *copy;
    struct tepal_digest digests[MANY];
    uint64_t answers[2];
    if (at_length) {
        tepal_filter_info(f, &report);
        must(tepal_report_find(&report, "fp_now") != NULL);
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t seed = tepal_filter_params(f)->seed;
        digests[i] = (struct tepal_digest){XXH64(&i, sizeof i, seed), XXH64(&i, sizeof i, ~seed)};
    }
    digests[0] = (struct tepal_digest){0, 0};
    digests[1] = (struct tepal_digest){UINT64_MAX, UINT64_MAX};
    digests[2] = (struct tepal_digest){0, UINT64_MAX};
    size_t found = tepal_filter_query_many(f, digests, count, answers);
    for (size_t i = 0; i < count; i++) {
        bool present = tepal_filter_query(f, digests[i]);
        must(present == (answers[i / 64] >> (i % 64) & 1));
        found -= present;
    }
    must(found == 0);
    if (tepal_filter_clone(f, NULL, &copy) == TEPAL_OK) {
        must(tepal_filter_equal(f, copy));
        must(tepal_filter_add_many(copy, digests, count) == TEPAL_OK);
        must(tepal_filter_query(copy, digests[count - 1]));
        must(tepal_validate(copy, NULL) == TEPAL_OK);
        if ((tepal_filter_kind(f)->promises & TEPAL_MERGEABLE) != 0) {
            must(tepal_filter_query_many(copy, digests, count, answers) == count);
            must(tepal_filter_unite(copy, f) == TEPAL_OK);
            must(tepal_filter_intersect(f, copy) == TEPAL_OK);
        } else {
            must(tepal_filter_unite(copy, f) == TEPAL_UNSUPPORTED);
        }
        tepal_filter_free(copy);
    }
    const struct tepal_generalized *g = tepal_filter_generalized_const(f);
    if (g != NULL) {
        struct tepal_generalized_trace trace;
        tepal_generalized_age(g, digests[3], tepal_generalized_ones(g), &trace);
        must(trace.present == tepal_filter_query(f, digests[3]));
        must(trace.age_low <= trace.age_high);
        if (at_length) {
            double rate = tepal_generalized_fp_now(g);
            must(rate >= 0 && rate <= 1);
            must(tepal_generalized_fp_bound_of(tepal_filter_params(f)) >= rate * 0.98);
        }
    }
    struct tepal_bloom *bloom = tepal_filter_bloom(f);
    for (uint64_t divisor = 0; bloom != NULL && divisor < 6; divisor++) {
        struct tepal_bloom *folded;
        if (tepal_bloom_fold(bloom, divisor, NULL, &folded) == TEPAL_OK) {
            must(tepal_validate(tepal_bloom_filter(folded), NULL) == TEPAL_OK);
            for (size_t i = 0; i < count; i++) {
                must(!tepal_bloom_query(bloom, digests[i]) ||
                     tepal_bloom_query(folded, digests[i]));
            }
            tepal_bloom_free(folded);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    size_t len = size - 1;
    uint8_t *bytes = malloc(len == 0 ? 1 : len);
    must(bytes != NULL);
    memcpy(bytes, data + 1, len);
    if (data[0] % 2 == 1) {
        len = put_right(bytes, len);
    }
    struct tepal_filter *f = NULL;
    struct tepal_fault fault = {TEPAL_OK, -1, 0, NULL};
    enum tepal_status status = tepal_decode(bytes, len, NULL, &f, &fault);
    if (status == TEPAL_OK) {
        must(f != NULL && tepal_validate(f, NULL) == TEPAL_OK);
        must(tepal_encoded_bytes(f) == len);
        uint8_t *again = malloc(len);
        must(again != NULL && tepal_encode(f, again, len) == TEPAL_OK);
        must(memcmp(again, bytes, len) == 0);
        free(again);
        ask_everything(f, data[0] >= 0xf0);
        tepal_filter_free(f);
    } else {
        must(f == NULL && fault.status == status && fault.system == 0 && fault.why != NULL);
    }
    free(bytes);
    return 0;
}

/*
 * counting_fuzz.c: files of counting filters whose checksums are right, and whose parameters,
 * counters, bits and counts are the input's. What is accepted must be sound, and stay so whatever
 * is added to it and removed from it. Half of the inputs have their bits and counts made right, so
 * that what lies behind those checks is reached.
 *
 *     byte 0  flags   1: layout, positions   2: hashes   3: choices   4: rule, policy, form
 *     5: cells   6 ..: the payload, repeated
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <tepal/tepal.h>

#include "base/little.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEADER 256
#define FIRST  6
#define MOST   640 /* cells */
#define KEYS   24

static void must(int condition)
{
    if (!condition) {
        abort();
    }
}

struct file {
    uint8_t bytes[HEADER + MOST / 2 + MOST / 8 + 64];
    size_t counters; /* bytes of them */
    size_t payload;
    uint64_t cells;
};

static void write_header(struct file *f, const uint8_t *d)
{
    static const uint8_t magic[8] = {0x89, 'T', 'E', 'P', 'A', 'L', '\r', '\n'};
    uint32_t layout = d[1] & 3;
    bool bits_only = (d[4] >> 4 & 7) == 1;
    f->cells = layout < 2 ? 1 + (uint64_t)d[5] * 2 + (d[0] >> 5) : 128 * (1 + (uint64_t)d[5] % 4);
    f->counters = bits_only ? 0 : (size_t)(f->cells + 15) / 16 * 8;
    f->payload = f->counters + (size_t)(f->cells + 63) / 64 * 8;
    memset(f->bytes, 0, sizeof f->bytes);
    memcpy(f->bytes, magic, sizeof magic);
    little_put32(f->bytes + 8, 1);
    little_put32(f->bytes + 12, TEPAL_KIND_COUNTING);
    little_put32(f->bytes + 16, layout);
    little_put32(f->bytes + 20, d[1] >> 2 & 1);
    little_put32(f->bytes + 28, d[2] % 66);
    little_put64(f->bytes + 32, f->cells);
    little_put64(f->bytes + 72, d[3] < 250 ? d[3] % 9 : d[3] - 190u);
    little_put64(f->bytes + 80, d[4] & 3);
    little_put64(f->bytes + 88, d[4] >> 2 & 3);
    little_put64(f->bytes + 96, d[4] >> 4 & 7);
    little_put64(f->bytes + 200, f->payload);
    little_put64(f->bytes + 208, HEADER + f->payload + 8);
    little_put32(f->bytes + 216, 16);
    little_put32(f->bytes + 220, 4);
}

static unsigned counter_at(const struct file *f, uint64_t i)
{
    return f->bytes[HEADER + i / 2] >> (4 * (i & 1)) & 15;
}

/* Bits and counts as the counters have them, nothing beyond the last. */
static void make_agree(struct file *f)
{
    uint64_t ones = 0;
    uint64_t sum = 0;
    uint64_t stuck = 0;
    uint8_t *bits = f->bytes + HEADER + f->counters;
    for (uint64_t i = f->cells; i < f->counters * 2; i++) {
        f->bytes[HEADER + i / 2] &= (i & 1) != 0 ? 0x0f : 0xf0;
    }
    for (uint64_t i = 0; i < (f->payload - f->counters) * 8; i++) {
        unsigned value = i >= f->cells      ? 0
                         : f->counters == 0 ? bits[i / 8] >> (i % 8) & 1
                                            : counter_at(f, i);
        bits[i / 8] = (uint8_t)((bits[i / 8] & ~(1u << i % 8)) | (unsigned)(value > 0) << i % 8);
        ones += value > 0;
        sum += value;
        stuck += value == 15;
    }
    little_put64(f->bytes + 136 + 32, ones);
    little_put64(f->bytes + 136 + 40, f->counters == 0 ? 0 : sum);
    little_put64(f->bytes + 136 + 48, stuck);
}

/* `at_length`: the calls that cost most, too. */
static void use(struct tepal_filter *filter, bool at_length)
{
    struct tepal_counting *counting = tepal_filter_counting(filter);
    struct tepal_digest keys[KEYS];
    uint8_t groups[KEYS];
    uint64_t answers[1];
    struct tepal_report report;
    size_t removed = 0;
    for (uint64_t i = 0; i < KEYS; i++) {
        keys[i] = (struct tepal_digest){XXH64(&i, 8, 1), XXH64(&i, 8, 2)};
    }
    keys[0] = (struct tepal_digest){0, 0};
    keys[1] = (struct tepal_digest){UINT64_MAX, UINT64_MAX};
    size_t found = tepal_counting_query_many(counting, keys, KEYS, answers);
    for (size_t i = 0; i < KEYS; i++) {
        bool yes = tepal_counting_query(counting, keys[i]);
        must(yes == (answers[0] >> i & 1));
        must(yes == (tepal_counting_groups(counting, keys[i]) != 0));
        found -= yes;
    }
    must(found == 0);
    if (at_length) {
        tepal_filter_info(filter, &report);
    }
    if (tepal_counting_remove_many(counting, keys, NULL, KEYS / 2, answers, &removed) == TEPAL_OK) {
        must(tepal_validate(filter, NULL) == TEPAL_OK);
        must(tepal_counting_add_many(counting, keys, KEYS, groups) == TEPAL_OK);
        must(tepal_counting_query_many(counting, keys, KEYS, answers) == KEYS);
        must(tepal_validate(filter, NULL) == TEPAL_OK);
        must(tepal_counting_remove_many(counting, keys, groups, KEYS, NULL, &removed) == TEPAL_OK);
        must(removed == KEYS && tepal_validate(filter, NULL) == TEPAL_OK);
        must(!at_length ||
             tepal_counting_audit(counting, keys, NULL, KEYS, NULL, &report) == TEPAL_OK);
    }
    struct tepal_counting *bits;
    must(tepal_counting_strip(counting, NULL, &bits) == TEPAL_OK);
    must(tepal_validate(tepal_counting_filter(bits), NULL) == TEPAL_OK);
    tepal_counting_free(bits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct file f;
    if (size <= FIRST) {
        return 0;
    }
    write_header(&f, data);
    for (size_t i = 0; i < f.payload; i++) {
        f.bytes[HEADER + i] = data[FIRST + i % (size - FIRST)];
    }
    if ((data[0] & 1) != 0) {
        make_agree(&f);
    }
    little_put64(f.bytes + HEADER + f.payload,
                 XXH3_64bits_withSeed(f.bytes + HEADER, f.payload, 0));
    little_put64(f.bytes + 248, XXH3_64bits(f.bytes, 248));
    struct tepal_filter *filter = NULL;
    size_t len = HEADER + f.payload + 8;
    if (tepal_decode(f.bytes, len, NULL, &filter, NULL) == TEPAL_OK) {
        must(tepal_validate(filter, NULL) == TEPAL_OK);
        use(filter, data[0] >= 0xf0);
        tepal_filter_free(filter);
    }
    return 0;
}

/*
 * receive_fuzz.c: any bytes as a filter from a stranger, under any terms. The first 16 bytes of an
 * input are the terms, the rest is what the stranger sends; if the first bit is set, it is mended
 * first (mend.h), so that the fuzzer gets to the checks behind magic, lengths and checksums.
 *
 * What must hold: a verdict with a reason or a filter, never both; what is taken is sound, is as
 * agreed and within the limits; all numbers of the judgement are numbers; the length never exceeds
 * the limit; and the judge says the same of the filter in memory.
 */
#include <tepal/tepal.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/little.h"
#include "mend.h"
#include "must.h"

#define TERMS 16

/* The parameter that was agreed otherwise: one in eight of the last bytes of the terms. */
static void disagree(struct tepal_params *p, uint8_t which)
{
    switch (which) {
    case 1:
        p->kind = (enum tepal_kind_id)((uint32_t)p->kind + 1);
        break;
    case 2:
        p->layout = (enum tepal_layout)((unsigned)p->layout ^ 1);
        break;
    case 3:
        p->positions = (enum tepal_positions)((unsigned)p->positions ^ 1);
        break;
    case 4:
        p->hash = (enum tepal_hash)(((unsigned)p->hash + 1) % 3);
        break;
    case 5:
        p->hashes++;
        break;
    case 6:
        p->cells++;
        break;
    case 7:
        p->key_check++;
        break;
    default:
        break;
    }
}

static struct tepal_terms terms_of(const uint8_t *t, const uint8_t *bytes, size_t len)
{
    static const uint8_t key[TEPAL_KEY_BYTES] = {1};
    static const uint8_t golden[TEPAL_KEY_BYTES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                    8, 9, 10, 11, 12, 13, 14, 15};
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    terms.agreed = (unsigned)(t[1] | t[2] << 8) & TEPAL_AGREED_ALL;
    if (len >= MEND_HEADER) { /* agreed is what it says, up to a byte */
        terms.params.kind = (enum tepal_kind_id)little_get32(bytes + 12);
        terms.params.layout = (enum tepal_layout)(little_get32(bytes + 16) & 3);
        terms.params.positions = (enum tepal_positions)(little_get32(bytes + 20) & 1);
        terms.params.hash = (enum tepal_hash)(little_get32(bytes + 24) % 3);
        terms.params.hashes = little_get32(bytes + 28);
        terms.params.cells = little_get64(bytes + 32);
        terms.params.seed = little_get64(bytes + 48) ^ t[3];
        terms.params.key_check = little_get64(bytes + 56);
        for (size_t i = 0; i < TEPAL_OWN_PARAMS; i++) {
            terms.params.own[i] = little_get64(bytes + 72 + 8 * i) ^ (i == 0 ? t[4] : 0);
        }
        disagree(&terms.params, t[15]);
    }
    terms.key = t[5] == 0xff ? key : t[5] == 0xfe ? golden : NULL;
    terms.max_bytes = (uint64_t)t[6] << t[7] % 40;
    terms.max_keys = (uint64_t)t[8] << t[9] % 56;
    /* many keys take long: only now and then */
    terms.keys = t[0] >= 0xf8 ? (uint64_t)t[10] << t[11] % 57 : 1 + (uint64_t)t[10] % 8;
    terms.repeats = t[12] & 1;
    terms.max_fp = t[13] / 255.0;
    terms.min_probability = t[14] == 0 ? 0 : pow(10, -t[14] / 16.0);
    return terms;
}

static int is_share(double x)
{
    return x >= 0 && x <= 1;
}

static void check_receipt(const struct tepal_judgement *r)
{
    struct tepal_report report = {.count = 0};
    MUST(memchr(r->why, '\0', sizeof r->why) != NULL);
    MUST((r->verdict == TEPAL_ACCEPTED) == (r->why[0] == '\0'));
    if (r->judged) {
        MUST(is_share(r->fill) && is_share(r->fp_now) && is_share(r->fp_bound));
        MUST(isnan(r->fill_expected) || (is_share(r->fill_expected) && r->fill_deviation >= 0));
        MUST(isnan(r->fill_probability) || is_share(r->fill_probability));
        MUST(isnan(r->fullest_probability) || is_share(r->fullest_probability));
        MUST(r->fp_now <= r->fp_bound * (1 + 1e-9) + 1e-12);
    }
    tepal_judgement_report(r, &report);
    MUST(tepal_report_find(&report, "verdict") != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < TERMS) {
        return 0;
    }
    size_t len = size - TERMS;
    uint8_t *bytes = must_copy(data + TERMS, len);
    if ((data[0] & 1) != 0) {
        len = mend(bytes, len, (data[0] & 2) != 0 ? MEND_LEAVE_COUNTS : 0);
    }
    struct tepal_terms terms = terms_of(data, bytes, len);
    struct tepal_judgement r;
    struct tepal_filter *f = NULL;
    if (data[15] == 8) { /* terms that cannot be */
        terms.max_fp = 2;
        MUST(tepal_receive(bytes, len, &terms, NULL, &f, &r, NULL) == TEPAL_BAD_ARGUMENT);
        free(bytes);
        return 0;
    }
    MUST(tepal_receive(bytes, len, &terms, NULL, &f, &r, NULL) == TEPAL_OK);
    check_receipt(&r);
    MUST((f != NULL) == (r.verdict == TEPAL_ACCEPTED));
    if (f != NULL) {
        struct tepal_judgement again;
        MUST(tepal_filter_validate(f, NULL) == TEPAL_OK && tepal_encoded_bytes(f) == len);
        MUST(terms.max_bytes == 0 || len <= terms.max_bytes);
        MUST(terms.max_keys == 0 || tepal_filter_keys_added(f) <= terms.max_keys);
        MUST(r.fp_now <= terms.max_fp && !(r.fill_probability < terms.min_probability));
        MUST(tepal_judge(f, &terms, &again, NULL) == TEPAL_OK && again.verdict == TEPAL_ACCEPTED);
        MUST(again.ones == r.ones && again.keys == r.keys);
        tepal_filter_free(f);
    }
    free(bytes);
    return 0;
}

/*
 * decoder.c: an encoded filter becomes a filter, in the order of its bytes: the header is judged,
 * then memory is taken, the payload fills it, and the sums that follow are compared with it.
 *
 * The bytes of the payload stay as they came until all of them have been found right; machines that
 * are not little-endian turn them into words at the end.
 */
#include "file/decoder.h"

#include <string.h>

#include "base/alloc.h"
#include "base/refuse.h"

#define NO_MEMORY "out of memory for the cells"

/* Bytes that come between two looks at their sums: the cache has them. */
#define PIECE (4 * FORMAT_BLOCK)

void tepal_decoding_begin(struct decoding *d, const struct tepal_allocator *allocator,
                          const struct format_gate *gate)
{
    d->allocator = tepal_alloc_choose(allocator);
    d->gate = gate;
    d->length = 0;
    d->max_bytes = 0;
    d->cautious = false;
    d->taken = 0;
    d->payload = NULL;
    d->room = 0;
    d->sums = NULL;
    d->sums_room = 0;
    d->summed = 0;
}

void tepal_decoding_drop(struct decoding *d)
{
    tepal_alloc_release(&d->allocator, d->payload, d->room);
    d->payload = NULL;
}

/* Where the sums begin; the header has come. */
static uint64_t sums_at(const struct decoding *d)
{
    return FORMAT_HEADER + d->header.payload;
}

uint8_t *tepal_decoding_room(struct decoding *d, size_t *room)
{
    if (d->taken < FORMAT_HEADER) {
        *room = FORMAT_HEADER - (size_t)d->taken;
        return d->part + d->taken;
    }
    if (d->taken < sums_at(d)) {
        size_t have = (size_t)d->taken - FORMAT_HEADER;
        *room = d->room - have < PIECE ? d->room - have : PIECE;
        return d->payload + have;
    }
    if (d->taken >= d->header.file) {
        *room = 1;
        return d->part;
    }
    size_t have = (size_t)((d->taken - sums_at(d)) % sizeof d->part);
    uint64_t rest = d->header.file - d->taken;
    *room = rest < sizeof d->part - have ? (size_t)rest : sizeof d->part - have;
    return d->part + have;
}

/* Memory for the payload, or more of it: all, or if we are cautious twice as much as before. */
static enum tepal_status make_room(struct decoding *d, struct tepal_error *error)
{
    size_t total = (size_t)d->header.payload;
    size_t room = d->room == 0 ? FORMAT_BLOCK : d->room > total / 2 ? total : d->room * 2;
    if (!d->cautious || room > total) {
        room = total;
    }
    uint8_t *larger = tepal_alloc_raw(&d->allocator, room);
    if (larger == NULL) {
        return refuse(error, TEPAL_NO_MEMORY, NO_MEMORY);
    }
    if (d->payload != NULL) {
        memcpy(larger, d->payload, d->room);
    }
    tepal_decoding_drop(d);
    d->payload = larger;
    d->room = room;
    return TEPAL_OK;
}

/* The header has come: may the rest? */
static enum tepal_status judge_header(struct decoding *d, struct tepal_error *error)
{
    enum tepal_status status = tepal_format_read_header(d->part, FORMAT_HEADER, &d->header, error);
    if (status == TEPAL_OK && d->gate != NULL && !d->gate->ask(d->gate->context, &d->header)) {
        return TEPAL_MISMATCH;
    }
    if (status == TEPAL_OK && d->length != 0) {
        status = tepal_format_check_length(&d->header, d->length, error);
    }
    if (status == TEPAL_OK && d->max_bytes != 0 && d->header.file > d->max_bytes) {
        status = tepal_format_fault(error, TEPAL_TOO_LARGE, 0, FORMAT_AT_FILE_BYTES,
                                    "according to its header the filter is larger than the limit");
    }
    if (status == TEPAL_OK) {
        status = tepal_format_check_room(&d->header, error);
    }
    return status == TEPAL_OK ? make_room(d, error) : status;
}

/* Sum the blocks of the payload that have come, as far as there is room for sums. */
static void sum_blocks(struct decoding *d)
{
    uint64_t have = d->taken - FORMAT_HEADER;
    uint64_t whole = have == d->header.payload ? d->header.blocks : have / FORMAT_BLOCK;
    uint64_t end = whole < d->sums_room ? whole : d->sums_room;
    for (; d->summed < end; d->summed++) {
        d->sums[d->summed] =
            tepal_format_sum(d->payload + (size_t)d->summed * FORMAT_BLOCK,
                             tepal_format_block_bytes(d->header.payload, d->summed), d->summed);
    }
}

/* Sums have come up to `taken`: compare them once they fill `part`, or are the last. */
static enum tepal_status judge_sums(struct decoding *d, struct tepal_error *error)
{
    uint64_t have = d->taken - sums_at(d);
    size_t here = (size_t)(have % sizeof d->part);
    if (here != 0 && d->taken < d->header.file) {
        return TEPAL_OK;
    }
    here = here == 0 ? sizeof d->part : here;
    const struct format_known known = {d->sums, d->summed};
    return tepal_format_verify(&d->header, d->payload, (have - here) / 8, here / 8, d->part, known,
                               error);
}

enum tepal_status tepal_decoding_take(struct decoding *d, size_t count, struct tepal_error *error)
{
    uint64_t before = d->taken;
    if (count == 0) {
        return TEPAL_OK;
    }
    d->taken += count;
    if (before < FORMAT_HEADER) {
        return d->taken == FORMAT_HEADER ? judge_header(d, error) : TEPAL_OK;
    }
    if (before < sums_at(d)) {
        bool full = d->taken - FORMAT_HEADER == d->room && d->room < d->header.payload;
        sum_blocks(d);
        return full ? make_room(d, error) : TEPAL_OK;
    }
    return before < d->header.file ? judge_sums(d, error)
                                   : tepal_format_check_length(&d->header, d->taken, error);
}

enum tepal_status tepal_decoding_end(struct decoding *d, struct tepal_filter **out,
                                     struct tepal_error *error)
{
    struct format_header *h = &d->header;
    enum tepal_status status = d->taken < FORMAT_HEADER
                                   ? tepal_format_read_header(d->part, (size_t)d->taken, h, error)
                                   : tepal_format_check_length(h, d->taken, error);
    if (status != TEPAL_OK) {
        tepal_decoding_drop(d);
        return status;
    }
    uint64_t *words = (uint64_t *)(void *)d->payload;
#if !LITTLE_ENDIAN_HOST
    little_to_words(words, d->payload, d->room / 8);
#endif
    d->payload = NULL; /* taken over, whatever comes of it */
    return tepal_format_finish(h, &d->allocator, words, NULL, TEPAL_MAP_VERIFY, out, error);
}

/* ---- bytes in memory ------------------------------------------------------------------------- */

static enum tepal_status feed(struct decoding *d, const uint8_t *bytes, size_t len,
                              struct tepal_error *error)
{
    while (len > 0) {
        size_t room;
        uint8_t *to = tepal_decoding_room(d, &room);
        size_t here = len < room ? len : room;
        memcpy(to, bytes, here);
        enum tepal_status status = tepal_decoding_take(d, here, error);
        if (status != TEPAL_OK) {
            tepal_decoding_drop(d);
            return status;
        }
        bytes += here;
        len -= here;
    }
    return TEPAL_OK;
}

enum tepal_status tepal_format_decode_gated(const void *bytes, size_t len,
                                            const struct format_gate *gate,
                                            const struct tepal_allocator *allocator,
                                            struct tepal_filter **out, struct tepal_error *error)
{
    struct decoding d;
    uint64_t sums[FORMAT_SUMS_KEPT];
    tepal_decoding_begin(&d, allocator, gate);
    d.length = len;
    d.sums = sums;
    d.sums_room = FORMAT_SUMS_KEPT;
    enum tepal_status status = feed(&d, bytes, len, error);
    return status == TEPAL_OK ? tepal_decoding_end(&d, out, error) : status;
}

enum tepal_status tepal_decode(const void *bytes, size_t len,
                               const struct tepal_allocator *allocator, struct tepal_filter **out,
                               struct tepal_error *error)
{
    return tepal_format_decode_gated(bytes, len, NULL, allocator, out, error);
}

/* ---- bytes that arrive ----------------------------------------------------------------------- */

struct tepal_decoder {
    struct decoding decoding;
    struct tepal_error failed; /* status TEPAL_OK: not yet */
};

enum tepal_status tepal_decoder_create(uint64_t max_bytes, const struct tepal_allocator *allocator,
                                       struct tepal_decoder **out, struct tepal_error *error)
{
    struct tepal_allocator chosen = tepal_alloc_choose(allocator);
    struct tepal_decoder *decoder = tepal_alloc_zeroed(&chosen, sizeof *decoder);
    if (decoder == NULL) {
        return refuse_if(error, TEPAL_NO_MEMORY);
    }
    tepal_decoding_begin(&decoder->decoding, &chosen, NULL);
    decoder->decoding.max_bytes = max_bytes;
    *out = decoder;
    return TEPAL_OK;
}

/* What there is to say after a call that may have failed. */
static enum tepal_status tell(const struct tepal_decoder *decoder, struct tepal_error *error)
{
    if (decoder->failed.status != TEPAL_OK && error != NULL) {
        *error = decoder->failed;
    }
    return decoder->failed.status;
}

enum tepal_status tepal_decoder_feed(struct tepal_decoder *decoder, const void *bytes, size_t len,
                                     struct tepal_error *error)
{
    if (decoder->failed.status == TEPAL_OK) {
        (void)feed(&decoder->decoding, bytes, len, &decoder->failed);
    }
    return tell(decoder, error);
}

enum tepal_status tepal_decoder_finish(struct tepal_decoder *decoder, struct tepal_filter **out,
                                       struct tepal_error *error)
{
    if (decoder->failed.status == TEPAL_OK &&
        tepal_decoding_end(&decoder->decoding, out, &decoder->failed) == TEPAL_OK) {
        (void)refuse(&decoder->failed, TEPAL_BAD_ARGUMENT, "this decoder is already finished");
        return TEPAL_OK;
    }
    return tell(decoder, error);
}

const void *tepal_decoder_payload(const struct tepal_decoder *decoder, size_t *count)
{
    const struct decoding *d = &decoder->decoding;
    if (d->payload == NULL) {
        *count = 0;
        return NULL;
    }
    uint64_t have = d->taken - FORMAT_HEADER;
    *count = (size_t)(have < d->header.payload ? have : d->header.payload);
    return d->payload;
}

void tepal_decoder_free(struct tepal_decoder *decoder)
{
    if (decoder != NULL) {
        struct tepal_allocator allocator = decoder->decoding.allocator;
        tepal_decoding_drop(&decoder->decoding);
        tepal_alloc_release(&allocator, decoder, sizeof *decoder);
    }
}

/*
 * staged.c: a filter that arrives in parts. The bytes go straight into the decoder, whose memory
 * becomes the filter's: nothing is there twice. Since a server can be saved, and a replica can
 * come, between two parts, what has come can be read again: the header and the sums are kept here,
 * the cells are in the decoder.
 *
 *     |header 256|cells ...                     |sums ...|
 *      header[]   tepal_decoder_payload          sums[]
 */
#include <string.h>

#include "server.h"

#define AT_PAYLOAD_BYTES 200 /* docs/format.md */
#define AT_FILE_BYTES    208

void staged_free(struct staged *staged)
{
    if (staged != NULL) {
        tepal_decoder_free(staged->decoder);
        held_free(staged->held);
        redis.Free(staged->sums);
        redis.Free(staged);
        atomic_fetch_sub(&counts.transfers, 1);
    }
}

size_t staged_memory(const struct staged *staged)
{
    size_t sums =
        staged == NULL || staged->sums == NULL ? 0 : (size_t)(staged->total - staged->sums_at);
    return staged == NULL ? 0 : sizeof *staged + sizeof *staged->held + staged->held->taken + sums;
}

struct staged *staged_new(const char *id, size_t id_len, uint64_t total)
{
    static uint64_t latest;
    struct tepal_error error;
    struct staged *staged = redis.Alloc(sizeof *staged);
    memset(staged, 0, sizeof *staged);
    staged->serial = ++latest;
    atomic_fetch_add(&counts.transfers, 1);
    staged->held = held_new();
    struct tepal_allocator allocator = held_allocator(staged->held);
    if (tepal_decoder_create(limits_encoded(), &allocator, &staged->decoder, &error) != TEPAL_OK) {
        staged_free(staged);
        return NULL;
    }
    memcpy(staged->id, id, id_len);
    staged->id_len = id_len;
    staged->total = total;
    staged->latest = redis.Milliseconds();
    return staged;
}

static uint64_t little(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) {
        value = value << 8 | bytes[i];
    }
    return value;
}

/* The header has come, and the decoder has found it right: where are the sums? */
static const char *learn(struct staged *staged)
{
    if (little(staged->header + AT_FILE_BYTES) != staged->total) {
        return "it has not the length that its header tells";
    }
    staged->sums_at = sizeof staged->header + little(staged->header + AT_PAYLOAD_BYTES);
    staged->sums = redis.TryAlloc((size_t)(staged->total - staged->sums_at));
    return staged->sums == NULL ? "out of memory" : NULL;
}

const char *staged_feed(struct staged *staged, const char *bytes, size_t len)
{
    struct tepal_error error;
    uint64_t from = staged->have;
    if (len > staged->total - from) {
        return "the part goes beyond the total";
    }
    enum tepal_status status = tepal_decoder_feed(staged->decoder, bytes, len, &error);
    if (status != TEPAL_OK) {
        return status == TEPAL_NO_MEMORY ? limits_why() : error.why;
    }
    staged->have += len;
    if (from < sizeof staged->header) {
        size_t left = sizeof staged->header - (size_t)from;
        memcpy(staged->header + from, bytes, len < left ? len : left);
        if (staged->have >= sizeof staged->header) {
            const char *wrong = learn(staged);
            if (wrong != NULL) {
                return wrong;
            }
        }
    }
    if (staged->sums != NULL && staged->have > staged->sums_at) {
        uint64_t begin = from > staged->sums_at ? from : staged->sums_at;
        memcpy(staged->sums + (begin - staged->sums_at), bytes + (begin - from),
               (size_t)(staged->have - begin));
    }
    staged->latest = redis.Milliseconds();
    return NULL;
}

size_t staged_range(const struct staged *staged, uint64_t at, char *bytes, size_t room)
{
    const uint8_t *from;
    uint64_t end;
    if (staged->sums != NULL && at >= staged->sums_at) {
        from = staged->sums + (at - staged->sums_at);
        end = staged->total;
    } else if (at >= sizeof staged->header) {
        size_t count;
        from = tepal_decoder_payload(staged->decoder, &count);
        from += at - sizeof staged->header;
        end = staged->sums_at;
    } else {
        from = staged->header + at;
        end = sizeof staged->header;
    }
    end = end < staged->have ? end : staged->have;
    size_t len = end - at < room ? (size_t)(end - at) : room;
    memcpy(bytes, from, len);
    return len;
}

const char *held_finish(struct held *held, struct tepal_decoder *decoder)
{
    struct tepal_error error;
    enum tepal_status status = tepal_decoder_finish(decoder, &held->filter, &error);
    if (status != TEPAL_OK) {
        return status == TEPAL_NO_MEMORY ? limits_why() : error.why;
    }
    atomic_fetch_add(&counts.filters, 1);
    status = settings_unlock(held->filter);
    if (status != TEPAL_OK) {
        return status == TEPAL_KEY_NEEDED
                   ? "it was made with a secret key, and the setting tepal.key-file names none"
                   : "it was made with a secret key that is not in the file of tepal.key-file";
    }
    return held_flaw(held);
}

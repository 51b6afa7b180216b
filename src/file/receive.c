/*
 * receive.c: an encoded filter from a stranger, through the same reader as any other, with a gate
 * between its header and its cells.
 */
#include "file/receive.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "file/judge.h"

/* The gate: everything that a header tells. */
static bool check_header(void *context, const struct format_header *h)
{
    const struct reception *at = context;
    struct tepal_judgement *r = at->judgement;
    r->bytes = h->file;
    if (at->terms->max_bytes != 0 && h->file > at->terms->max_bytes) {
        r->verdict = TEPAL_REFUSED_SIZE;
        snprintf(r->why, sizeof r->why,
                 "according to its header it has %" PRIu64 " bytes; the limit is %" PRIu64, h->file,
                 at->terms->max_bytes);
        return false;
    }
    return tepal_judge_params(&h->params, h->state.keys_added, at->terms, r);
}

/* Is it the filter's fault? */
static bool unsound(enum tepal_status status)
{
    switch (status) {
    case TEPAL_NOT_A_FILTER:
    case TEPAL_BAD_VERSION:
    case TEPAL_UNKNOWN_KIND:
    case TEPAL_BAD_PARAMETER:
    case TEPAL_BAD_CHECKSUM:
    case TEPAL_BAD_LENGTH:
    case TEPAL_CORRUPT:
    case TEPAL_TOO_LARGE:
        return true;
    default:
        return false;
    }
}

enum tepal_status tepal_receive_begin(struct reception *at, const struct tepal_terms *terms,
                                      struct tepal_judgement *judgement, struct tepal_error *error)
{
    *at = (struct reception){.terms = terms, .judgement = judgement, .gate = {check_header, at}};
    return tepal_judge_begin(terms, judgement, error);
}

enum tepal_status tepal_receive_end(struct reception *at, enum tepal_status status,
                                    struct tepal_filter **out, struct tepal_error *error)
{
    struct tepal_judgement *r = at->judgement;
    struct tepal_filter *filter = at->read;
    if (r->verdict != TEPAL_ACCEPTED) { /* the gate was shut */
        *out = NULL;
        return TEPAL_OK;
    }
    if (status != TEPAL_OK) {
        r->error = at->error;
        if (!unsound(status)) {
            if (error != NULL) {
                *error = at->error;
            }
            return status;
        }
        r->verdict = TEPAL_REFUSED_UNSOUND;
        snprintf(r->why, sizeof r->why, "%s (byte %" PRIu64 ")", at->error.why, at->error.offset);
        *out = NULL;
        return TEPAL_OK;
    }
    tepal_judge_bits(filter, at->terms, r);
    if (r->verdict != TEPAL_ACCEPTED) {
        tepal_filter_free(filter);
        filter = NULL;
    } else if (at->terms->key != NULL) {
        (void)tepal_filter_set_key(filter, at->terms->key); /* its check was compared */
    }
    *out = filter;
    return TEPAL_OK;
}

enum tepal_status tepal_receive(const void *bytes, size_t len, const struct tepal_terms *terms,
                                const struct tepal_allocator *allocator, struct tepal_filter **out,
                                struct tepal_judgement *judgement, struct tepal_error *error)
{
    struct reception at;
    enum tepal_status status = tepal_receive_begin(&at, terms, judgement, error);
    if (status != TEPAL_OK) {
        return status;
    }
    status = tepal_format_decode_gated(bytes, len, &at.gate, allocator, &at.read, &at.error);
    return tepal_receive_end(&at, status, out, error);
}

/*
 * receive.c: a peer sends a filter; decide whether to use it. This one has all bits set, and would
 * answer "perhaps" to everything.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tepal/tepal.h>

int main(void)
{
    /* The peer: a tiny filter that got far too many keys. */
    struct tepal_filter *sent;
    struct tepal_error error;
    if (tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 100, 0.01, 42, &sent, &error)) {
        fprintf(stderr, "cannot create a filter: %s\n", error.why);
        return 1;
    }
    for (uint64_t key = 0; key < 100000; key++) {
        (void)tepal_filter_add_u64(sent, key);
    }
    size_t len = (size_t)tepal_encoded_bytes(sent);
    void *bytes = malloc(len);
    if (bytes == NULL || tepal_encode(sent, bytes, len, &error)) {
        fprintf(stderr, "cannot encode\n");
        return 1;
    }
    tepal_filter_free(sent);

    /* We: at most 1 % false positives, at most 1 MiB. */
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct tepal_judgement judgement;
    struct tepal_filter *filter;
    terms.max_fp = 0.01;
    terms.max_bytes = 1 << 20;
    if (tepal_receive(bytes, len, &terms, NULL, &filter, &judgement, &error)) {
        fprintf(stderr, "cannot decide: %s\n", error.why);
        return 1;
    }
    printf("%s: %s\n", tepal_verdict_name(judgement.verdict), judgement.why);
    tepal_filter_free(filter); /* NULL if refused */
    free(bytes);
    return 0;
}

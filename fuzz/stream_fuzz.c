/*
 * stream_fuzz.c: a filter from a stranger through a pipe, compressed or not (receive/stream.c). The
 * first byte chooses the terms, and whether the filter is mended first (mend.h); the rest is what
 * comes. What must hold: a verdict with a reason or a sound filter, never both; bytes that are not
 * compressed have the same verdict as from memory.
 */
#include <tepal/receive.h>

#include "commands/receive/stream.h"
#include "fail.h"
#include "mend.h"
#include "must.h"

struct arrival {
    const struct tepal_terms *terms;
    int fd;
};

/* Whatever fails: a filter that is whole, or none, and not the sender's fault. */
static void receive_again(void *context)
{
    const struct arrival *a = context;
    struct tepal_judgement judgement;
    struct tepal_filter *filter = NULL;
    struct tepal_error error = {.why = ""};
    MUST(lseek(a->fd, 0, SEEK_SET) == 0);
    enum tepal_status status = receive_stream(a->fd, a->terms, &filter, &judgement, &error);
    MUST(status == TEPAL_OK || (filter == NULL && error.status == status));
    MUST(filter == NULL || judgement.verdict == TEPAL_ACCEPTED);
    tepal_filter_free(filter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    size_t len = size - 1;
    uint8_t *bytes = must_copy(data + 1, len);
    if ((data[0] & 1) != 0) {
        len = mend(bytes, len, (data[0] & 2) != 0 ? MEND_LEAVE_COUNTS : 0);
    }
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct tepal_judgement judgement[2];
    struct tepal_filter *filter[2] = {NULL, NULL};
    struct tepal_error error = {.why = ""};
    terms.max_bytes = (data[0] & 4) != 0 ? (uint64_t)data[0] << 4 : 0;
    terms.min_probability = (data[0] & 8) != 0 ? 1e-6 : 0;
    terms.keys = 1;
    char path[MUST_PATH];
    int fd = must_file(bytes, len, path);
    MUST(receive_stream(fd, &terms, &filter[0], &judgement[0], &error) == TEPAL_OK);
    if (len % 8 == 0) {
        struct arrival arrival = {&terms, fd};
        fail_each(receive_again, &arrival);
    }
    close(fd);
    MUST((filter[0] != NULL) == (judgement[0].verdict == TEPAL_ACCEPTED));
    MUST((judgement[0].verdict == TEPAL_ACCEPTED) == (judgement[0].why[0] == '\0'));
    MUST(filter[0] == NULL || tepal_filter_validate(filter[0], NULL) == TEPAL_OK);
    if (len >= 4 && memcmp(bytes, "\x89TEP", 4) == 0) {
        MUST(tepal_receive(bytes, len, &terms, NULL, &filter[1], &judgement[1], NULL) == TEPAL_OK);
        MUST(judgement[0].verdict == judgement[1].verdict);
    }
    tepal_filter_free(filter[0]);
    tepal_filter_free(filter[1]);
    free(bytes);
    return 0;
}

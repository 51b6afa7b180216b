/* stream.c: first the header, then as much as it says. */
#include "commands/receive/stream.h"

#include <stdio.h>
#include <stdlib.h>

#include "input/source.h"

#define HEADER 4096 /* bytes that have any header */

struct heap {
    char *bytes;
    size_t len;
    size_t room;
};

/* Until there are `most` bytes, or the end. Memory grows as they come. */
static enum tepal_status read_to(struct source *source, uint64_t most, struct heap *heap,
                                 const char **why)
{
    ssize_t n = 1;
    while (heap->len < most && n > 0) {
        if (heap->len == heap->room) {
            size_t room = heap->room == 0 ? HEADER : 2 * heap->room;
            room = most < room ? (size_t)most : room;
            char *larger = realloc(heap->bytes, room);
            if (larger == NULL) {
                return TEPAL_NO_MEMORY;
            }
            heap->bytes = larger;
            heap->room = room;
        }
        n = source_read(source, heap->bytes + heap->len, heap->room - heap->len);
        heap->len += n > 0 ? (size_t)n : 0;
    }
    *why = n < 0 ? source_why(source) : NULL;
    return TEPAL_OK;
}

static enum tepal_status judge(struct source *source, const struct tepal_terms *terms,
                               struct heap *heap, struct tepal_filter **out,
                               struct tepal_judgement *judgement, struct tepal_error *error)
{
    const char *why = NULL;
    enum tepal_status status = read_to(source, HEADER, heap, &why);
    for (int i = 0; i < 2 && status == TEPAL_OK; i++) {
        status = tepal_receive(heap->bytes, heap->len, terms, NULL, out, judgement, error);
        if (status != TEPAL_OK || judgement->verdict != TEPAL_REFUSED_UNSOUND || why != NULL ||
            judgement->bytes <= heap->len || i == 1) {
            break;
        }
        /* cut short so far, but its header passes; a byte more shows that it is too long */
        status = read_to(source, judgement->bytes + 1, heap, &why);
    }
    if (status == TEPAL_NO_MEMORY && error->status != TEPAL_NO_MEMORY) {
        *error = (struct tepal_error){.status = TEPAL_NO_MEMORY, .why = "out of memory"};
    }
    bool otherwise = status == TEPAL_OK && (judgement->verdict == TEPAL_ACCEPTED ||
                                            judgement->verdict == TEPAL_REFUSED_UNSOUND);
    if (otherwise && why != NULL) { /* damaged before it was unpacked: that is the reason */
        tepal_filter_free(*out);
        *out = NULL;
        judgement->verdict = TEPAL_REFUSED_UNSOUND;
        snprintf(judgement->why, sizeof judgement->why, "%s (after %zu bytes)", why, heap->len);
    }
    return status;
}

enum tepal_status receive_stream(int fd, const struct tepal_terms *terms, struct tepal_filter **out,
                                 struct tepal_judgement *judgement, struct tepal_error *error)
{
    const char *why = NULL;
    struct heap heap = {NULL, 0, 0};
    struct source *source = source_open_fd(fd, false, &why);
    *error = (struct tepal_error){.status = TEPAL_NO_MEMORY, .why = why};
    if (source == NULL) { /* no memory, or fstat(2) failed */
        return TEPAL_NO_MEMORY;
    }
    error->status = TEPAL_OK;
    enum tepal_status status = judge(source, terms, &heap, out, judgement, error);
    if (status == TEPAL_OK && source_error(source) != 0) { /* nobody's filter is to blame */
        tepal_filter_free(*out);
        *out = NULL;
        *error = (struct tepal_error){.status = TEPAL_IO, .system = source_error(source)};
        status = TEPAL_IO;
    }
    free(heap.bytes);
    source_close(source);
    return status;
}

/*
 * sweep.c: the new filter, from what a method decided: the old one's bits without those that were
 * cleared, and without those that have lost their purpose.
 *
 * The sweep. Once the victims V are lost, a bit that only they own does nothing but let false
 * positives through. Without all such bits the filter is the Bloom filter of the survivors S:
 *
 *     bits := bits & ~(bloom(V) & ~bloom(S))
 *
 * (written so that the bits of members that were not given stay). No survivor has lost a bit, and
 * every victim was lost already: it cannot add a false negative.
 */
#include "filter/retouched/internal.h"

#include <string.h>

/* Take the bits that the method cleared out of `words`. */
static void clear_words(const struct retouch *run, uint64_t *words)
{
    uint32_t id = 0;
    for (size_t w = 0; w < run->from->head.word_count; w++) {
        for (uint64_t rest = run->touched[w]; rest != 0; rest &= rest - 1) {
            if (bits_test(run->cleared, id++)) {
                words[w] &= ~(rest & -rest);
            }
        }
    }
}

#define GATHER 256

/* The bits of the members that are lost, or of those that are not; foreign ones have none. */
static void add_members(const struct retouch *run, uint64_t *words, bool lost)
{
    struct tepal_digest some[GATHER];
    struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = some};
    size_t count = 0;
    for (size_t i = 0; i < run->in->member_count; i++) {
        if (bits_test(run->lost, i) == lost &&
            (run->foreign == NULL || !bits_test(run->foreign, i))) {
            some[count++] = run->in->members[i];
        }
        if (count == GATHER || (count > 0 && i + 1 == run->in->member_count)) {
            run->from->kernels->add(&run->from->at, words, &source, count);
            count = 0;
        }
    }
}

static enum tepal_status sweep(struct retouch *run, uint64_t *words)
{
    size_t count = run->from->head.word_count;
    uint64_t *victims = tepal_arena_take(&run->arena, count, 8);
    uint64_t *survivors = tepal_arena_take(&run->arena, count, 8);
    if (victims == NULL || survivors == NULL) {
        return TEPAL_NO_MEMORY;
    }
    add_members(run, victims, true);
    add_members(run, survivors, false);
    tepal_bits_remove(victims, survivors, count);
    tepal_bits_remove(words, victims, count);
    return TEPAL_OK;
}

enum tepal_status tepal_retouch_make(struct retouch *run, struct tepal_filter **out)
{
    const struct tepal_filter *head = &run->from->head;
    struct tepal_params params = head->params;
    params.kind = TEPAL_KIND_RETOUCHED;
    struct tepal_filter *made;
    enum tepal_status status = tepal_filter_create(&params, &run->arena.allocator, &made, NULL);
    if (status != TEPAL_OK) {
        return status;
    }
    memcpy(made->words, head->words, head->word_count * 8);
    filter_inherit(made, head);
    clear_words(run, made->words);
    if (run->how->sweep || run->how->method == TEPAL_RETOUCH_SACRIFICE) {
        status = sweep(run, made->words);
    }
    if (status != TEPAL_OK) {
        tepal_filter_free(made);
        return status;
    }
    *out = made;
    return TEPAL_OK;
}

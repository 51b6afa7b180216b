/*
 * first.c: the smallest useful program: remember some words, ask for others, save, load.
 *
 *     cc first.c $(pkg-config --cflags --libs tepal) && ./a.out
 */
#include <stdio.h>
#include <string.h>
#include <tepal/tepal.h>

static const char *const members[] = {"anemone", "begonia", "camellia", "dahlia"};
static const char *const asked[] = {"begonia", "basalt", "dahlia", "diorite"};

int main(void)
{
    struct tepal_bloom *seen;
    enum tepal_status status = tepal_bloom_create_for_rate(1000, 0.001, 42, &seen);
    if (status != TEPAL_OK) {
        fprintf(stderr, "cannot make a filter: %s\n", tepal_status_message(status));
        return 1;
    }
    for (size_t i = 0; i < 4; i++) {
        (void)tepal_bloom_add_bytes(seen, members[i], strlen(members[i]));
    }
    for (size_t i = 0; i < 4; i++) {
        bool present = false;
        (void)tepal_bloom_query_bytes(seen, asked[i], strlen(asked[i]), &present);
        printf("%-8s %s\n", asked[i], present ? "perhaps" : "certainly not");
    }
    printf("false positives now: %.2g\n", tepal_bloom_fp_now(seen));

    struct tepal_fault fault;
    status = tepal_save(tepal_bloom_filter(seen), "words.tepal", &fault);
    if (status != TEPAL_OK) {
        fprintf(stderr, "cannot save: %s\n", fault.why);
        tepal_bloom_free(seen);
        return 1;
    }
    struct tepal_filter *again = NULL;
    status = tepal_load("words.tepal", NULL, &again, &fault);
    bool same = status == TEPAL_OK && tepal_filter_equal(again, tepal_bloom_filter(seen));
    printf("loaded again: %s\n", same ? "the same" : "different");
    tepal_filter_free(again);
    tepal_bloom_free(seen);
    (void)remove("words.tepal");
    return same ? 0 : 1;
}

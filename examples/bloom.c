/*
 * bloom.c: the Bloom filter: remember some words, look up others, save the filter to a file.
 *
 *     cc bloom.c $(pkg-config --cflags --libs tepal) && ./a.out
 */
#include <stdio.h>
#include <string.h>
#include <tepal/tepal.h>

static const char *const members[] = {"anemone", "begonia", "camellia", "dahlia"};
static const char *const asked[] = {"begonia", "basalt", "dahlia", "diorite"};

int main(void)
{
    struct tepal_filter *filter;
    struct tepal_error error;
    /* 1000 keys, at most 0.1 % false positives, seed 42. */
    if (tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 1000, 0.001, 42, &filter, &error)) {
        fprintf(stderr, "cannot create a filter: %s\n", error.why);
        return 1;
    }
    for (size_t i = 0; i < 4; i++) {
        (void)tepal_filter_add_bytes(filter, members[i], strlen(members[i]));
    }
    for (size_t i = 0; i < 4; i++) {
        bool maybe = tepal_filter_query_bytes(filter, asked[i], strlen(asked[i]));
        printf("%-8s %s\n", asked[i], maybe ? "perhaps" : "certainly not");
    }
    if (tepal_save(filter, "words.tepal", &error)) {
        fprintf(stderr, "cannot save: %s\n", error.why);
        tepal_filter_free(filter);
        return 1;
    }
    tepal_filter_free(filter);
    return 0;
}

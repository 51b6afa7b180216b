/*
 * header.c: filters in packets: a 256-bit header names the links a packet takes; a node compares it
 * with the masks of its links.
 */
#include <stdio.h>
#include <tepal/tepal.h>

#define LINKS 40

int main(void)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.cells = 256;
    params.hashes = 5;
    params.seed = 42;

    struct tepal_header_layout layout;
    struct tepal_error error;
    if (tepal_header_layout_init(&params, &layout, &error)) {
        fprintf(stderr, "no such header: %s\n", error.why);
        return 1;
    }
    /* The sender: links 3, 14 and 15 in one header. */
    struct tepal_filter *route;
    uint64_t header[TEPAL_MAX_HEADER_WORDS];
    if (tepal_filter_create(&params, NULL, &route, &error)) {
        fprintf(stderr, "cannot create a filter: %s\n", error.why);
        return 1;
    }
    (void)tepal_filter_add_u64(route, 3);
    (void)tepal_filter_add_u64(route, 14);
    (void)tepal_filter_add_u64(route, 15);
    (void)tepal_header_from_filter(&layout, route, header);
    tepal_filter_free(route);

    /* A node with 40 links: which of them does the header name? */
    static uint32_t table[8 * 8 * (LINKS / 8)];
    struct tepal_hasher hasher;
    tepal_hasher_init(params.seed, &hasher);
    for (uint64_t link = 0; link < LINKS; link++) {
        uint64_t mask[TEPAL_MAX_HEADER_WORDS];
        tepal_header_mask(&layout, tepal_hash_u64(&hasher, link), mask);
        tepal_header_table_put(&layout, link, mask, table);
    }
    uint64_t answers[1];
    (void)tepal_header_match_many(&layout, header, table, LINKS, answers);
    printf("forward on links");
    for (unsigned link = 0; link < LINKS; link++) {
        if (answers[0] >> link & 1) {
            printf(" %u", link);
        }
    }
    printf("\n");
    return 0;
}

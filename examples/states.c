/*
 * states.c: a state for each key, in a filter that can remove. Connections open, are established
 * and close; the filter holds pairs of a connection and its state, and nothing else is stored.
 */
#include <stdio.h>
#include <tepal/tepal.h>

enum { OPENING, ESTABLISHED, CLOSING, STATES };

int main(void)
{
    struct tepal_states table = {NULL, STATES, TEPAL_STATES_KEEP};
    struct tepal_error error;
    if (tepal_filter_create_for_rate(TEPAL_KIND_FINGERPRINT, 1000, 0.001, 42, &table.filter,
                                     &error)) {
        fprintf(stderr, "cannot create a filter: %s\n", error.why);
        return 1;
    }
    struct tepal_hasher hasher;
    (void)tepal_filter_hasher(table.filter, &hasher);
    for (uint64_t flow = 0; flow < 1000; flow++) {
        (void)tepal_states_set(&table, tepal_hash_u64(&hasher, flow), OPENING);
    }
    for (uint64_t flow = 0; flow < 500; flow++) { /* we know what they were: say so */
        struct tepal_digest digest = tepal_hash_u64(&hasher, flow);
        (void)tepal_states_update(&table, digest, OPENING, ESTABLISHED, NULL);
    }
    unsigned found[STATES] = {0};
    unsigned several = 0;
    for (uint64_t flow = 0; flow < 1000; flow++) {
        uint32_t state = tepal_states_get(&table, tepal_hash_u64(&hasher, flow), NULL);
        if (state < STATES) {
            found[state]++;
        } else {
            several += state == TEPAL_STATE_SEVERAL;
        }
    }
    printf("of 1000 connections %u are opening, %u established, %u in several states\n",
           found[OPENING], found[ESTABLISHED], several);
    tepal_filter_free(table.filter);
    return found[OPENING] + found[ESTABLISHED] + several == 1000 ? 0 : 1;
}

/*
 * states.c: a state for each key. The pair (key, state) is a key of its own,
 *
 *     (key, s)  --->  another digest of the key, number 2^30 + s      (address_rehash)
 *
 * (far from the numbers that the groups of a counting filter have), so that a key is hashed once,
 * whatever the number of states, and the filter need not know of them. Additions come before
 * removals: the first of them is all that can fail.
 */
#include <tepal/states.h>

#include "address/address.h"
#include "filter/kind.h"

#define FIRST ((uint64_t)1 << 30)

static struct tepal_digest pair(struct tepal_digest key, uint32_t state)
{
    return address_rehash(key, FIRST + state);
}

static bool legal(const struct tepal_states *t)
{
    return t->count >= 1 && t->count <= TEPAL_MAX_STATES &&
           (unsigned)t->rule <= (unsigned)TEPAL_STATES_ALL;
}

/* A first state in a filter that cannot remove would be the last one. */
static enum tepal_status may_change(const struct tepal_filter *filter)
{
    return tepal_filter_may(filter, filter->ops->remove != NULL);
}

static uint64_t bit(uint32_t state)
{
    return (uint64_t)1 << state;
}

static uint64_t found_in(const struct tepal_states *t, struct tepal_digest key)
{
    uint64_t found = 0;
    for (uint32_t s = 0; s < t->count && s < TEPAL_MAX_STATES; s++) {
        found |= tepal_filter_query(t->filter, pair(key, s)) ? bit(s) : 0;
    }
    return found;
}

uint32_t tepal_states_get(const struct tepal_states *table, struct tepal_digest key,
                          uint64_t *found)
{
    uint64_t states = found_in(table, key);
    if (found != NULL) {
        *found = states;
    }
    if (states == 0) {
        return TEPAL_STATE_NONE;
    }
    return (states & (states - 1)) != 0 ? TEPAL_STATE_SEVERAL : (uint32_t)__builtin_ctzll(states);
}

enum tepal_status tepal_states_set(const struct tepal_states *table, struct tepal_digest key,
                                   uint32_t state)
{
    if (!legal(table) || state >= table->count) {
        return TEPAL_BAD_ARGUMENT;
    }
    enum tepal_status status = may_change(table->filter);
    return status == TEPAL_OK ? tepal_filter_add(table->filter, pair(key, state)) : status;
}

/* Those to remove, of the states that a key is found in, before anything is added. */
static uint64_t to_leave(const struct tepal_states *t, struct tepal_digest key, uint32_t from,
                         uint32_t to)
{
    if (from != TEPAL_STATE_ANY) {
        return tepal_filter_query(t->filter, pair(key, from)) ? bit(from) : 0;
    }
    uint64_t found = found_in(t, key) & ~(to < t->count ? bit(to) : 0);
    uint64_t lowest = found & (~found + 1);
    bool several = found != lowest;
    return several && t->rule == TEPAL_STATES_KEEP  ? 0
           : several && t->rule == TEPAL_STATES_ONE ? lowest
                                                    : found;
}

enum tepal_status tepal_states_update(const struct tepal_states *table, struct tepal_digest key,
                                      uint32_t from, uint32_t to, uint64_t *removed)
{
    struct tepal_filter *filter = table->filter;
    if (!legal(table) || from == to || (from >= table->count && from != TEPAL_STATE_ANY) ||
        (to >= table->count && to != TEPAL_STATE_NONE)) {
        return TEPAL_BAD_ARGUMENT;
    }
    enum tepal_status status = may_change(filter);
    if (status != TEPAL_OK) {
        return status;
    }
    uint64_t leave = to_leave(table, key, from, to);
    uint64_t left = 0;
    status = to == TEPAL_STATE_NONE ? TEPAL_OK : tepal_filter_add(filter, pair(key, to));
    for (; leave != 0 && status == TEPAL_OK; leave &= leave - 1) {
        uint32_t state = (uint32_t)__builtin_ctzll(leave);
        enum tepal_status gone = tepal_filter_remove(filter, pair(key, state));
        left |= gone == TEPAL_OK ? bit(state) : 0;
        status = gone == TEPAL_NOT_PRESENT ? TEPAL_OK : gone; /* kept, by the filter's policy */
    }
    if (status == TEPAL_OK && removed != NULL) {
        *removed = left;
    }
    return status;
}

/*
 * tepal/states.h: a state for each key, in a few bits per key: pairs (key, state) in a filter that
 * can remove. Connections are the paper's case: opening, established, closing (Bonomi et al. 2006;
 * Guo, Liu, Li and Yang 2010, Sec. 2.3).
 *
 *     struct tepal_states connections = {filter, 4, TEPAL_STATES_KEEP};
 *     tepal_states_set(&connections, digest, OPENING);                    a key that had no state
 *     tepal_states_update(&connections, digest, TEPAL_STATE_ANY, ESTABLISHED, NULL);
 *     switch (tepal_states_get(&connections, digest, NULL)) {
 *     case TEPAL_STATE_NONE:                  it has no state
 *     case TEPAL_STATE_SEVERAL:               one of several; which, the filter does not know
 *     case ESTABLISHED:                       ...
 *     }
 *     tepal_states_update(&connections, digest, ESTABLISHED, TEPAL_STATE_NONE, NULL);     it ends
 *
 * A lookup asks for every state, so a key with a state is found in a second one with probability
 * 1 - (1 - f)^(states - 1), where f is the filter's false-positive rate, and a key without a state
 * is found with 1 - (1 - f)^states. Then an update cannot know which state to remove, and if it
 * removes a wrong one, it takes what belongs to other keys: their states are lost. A caller who
 * knows the state that a key leaves should say so (`from`): nothing of another key is then ever
 * touched. One who does not know has three rules, and docs/flows.md has what each of them costs.
 */
#ifndef TEPAL_STATES_H
#define TEPAL_STATES_H

#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TEPAL_MAX_STATES 64

/* States are 0 to 63. These are none of them. */
#define TEPAL_STATE_NONE    UINT32_C(0xffffffff) /* the key has no state */
#define TEPAL_STATE_SEVERAL UINT32_C(0xfffffffe) /* an answer: several are found */
#define TEPAL_STATE_ANY     UINT32_C(0xfffffffd) /* to leave: whichever is found */

/* What an update removes that finds a key in several states and is not told which it leaves. */
enum tepal_states_rule {
    TEPAL_STATES_KEEP = 0, /* none of them: all stay */
    TEPAL_STATES_ONE = 1,  /* the lowest, right or not */
    TEPAL_STATES_ALL = 2   /* all of them */
};

/* A table is made by filling in this struct. The filter stays the caller's. */
struct tepal_states {
    struct tepal_filter *filter; /* counting, fingerprint or growing */
    uint32_t count;              /* of states, 1 to TEPAL_MAX_STATES */
    enum tepal_states_rule rule;
};

/*
 * The state of a key: below count, or TEPAL_STATE_NONE or TEPAL_STATE_SEVERAL. Bit s of *found (may
 * be NULL) is set if the key is found in state s. Costs `count` lookups of the filter.
 */
TEPAL_API uint32_t tepal_states_get(const struct tepal_states *table, struct tepal_digest key,
                                    uint64_t *found);

/*
 * Give a key that has no state its first one, by an addition. TEPAL_BAD_ARGUMENT if the table, or
 * the state, is not legal, TEPAL_UNSUPPORTED if the filter cannot remove; else fails as
 * tepal_filter_add does, and nothing has changed.
 */
TEPAL_API enum tepal_status tepal_states_set(const struct tepal_states *table,
                                             struct tepal_digest key, uint32_t state);

/*
 * A key goes from state `from` to another, `to`. The pair of the new state is added, then that of
 * the old one removed, so that there must be room for one more for a moment. `from` is a state,
 * which is removed if it is found, and nothing else is; or TEPAL_STATE_ANY: the one state other
 * than `to` in which the key is found is removed, and if there are several the rule decides. `to`
 * is a state, or TEPAL_STATE_NONE: nothing is added. Bit s of *removed (may be NULL) is set if
 * state s was removed: 0 says that the key was not found (or kept) in the state it leaves.
 *
 * TEPAL_BAD_ARGUMENT if the table or a state is not legal, or from and to are the same. Else fails
 * as tepal_filter_add and tepal_filter_remove do. Whenever it fails nothing has changed. Costs an
 * addition and a removal, with TEPAL_STATE_ANY also a lookup of every state.
 */
TEPAL_API enum tepal_status tepal_states_update(const struct tepal_states *table,
                                                struct tepal_digest key, uint32_t from, uint32_t to,
                                                uint64_t *removed);

#ifdef __cplusplus
}
#endif

#endif

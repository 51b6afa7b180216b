/*
 * kept.h: the keys that a counting filter kept although they were removed (--policy keep), as a
 * file that remove and add update (--kept): a filter cannot tell them from members. A kept key that
 * comes back is in the filter already: adding it changes nothing, and takes it off the list (Sec.
 * 4.3 of the paper). One that can be removed after all is taken off, too.
 */
#ifndef TOOL_INPUT_KEPT_H
#define TOOL_INPUT_KEPT_H

#include <tepal/filter.h>

#include "files/key_list.h"
#include "input/digests.h"
#include "input/keys.h"

/* All zeros: there is no list. A weight of 0: the key was taken off. */
struct kept {
    bool given;
    struct digests listed;
    struct key_list file;
};

/* The list of --kept, if that was given; a file that is not there is an empty list. */
int kept_open(struct kept *kept, const struct args *args, const struct tepal_filter *filter,
              const struct tepal_hasher *hasher);

/* Put a key on it; false: no memory. Take one off; false: it is not on it. */
bool kept_put(struct kept *kept, struct tepal_digest digest, const struct key *key);
bool kept_take(struct kept *kept, struct tepal_digest digest);

/* Write the list as it is now; give it its name. EXIT_YES, or EXIT_TROUBLE after saying why. */
int kept_finish(struct kept *kept, const struct args *args);

void kept_free(struct kept *kept);

#define OPTION_KEPT                                                                                \
    OPTION(0, "kept", OF_VALUE(TAKES_FILE, "LIST"),                                                \
           "counting: the list of keys that removals kept (policy keep), updated by remove and "   \
           "add. A key on it that is added again changes nothing.")

#endif

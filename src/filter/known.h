/* known.h: what the kinds that are built from members and known negatives share. */
#ifndef TEPAL_SRC_FILTER_KNOWN_H
#define TEPAL_SRC_FILTER_KNOWN_H

#include <tepal/hash.h>

#define KNOWN_MOST_KEYS ((size_t)1 << 31)

/*
 * Of the known negatives whose bit is set in `found`, which are members (the same digest)? Their
 * bits are cleared; *both gets how many they are. Every member's digest that is among `avoid` must
 * be found: filters find their members, so that those which were not found need no second look.
 * TEPAL_NO_MEMORY.
 */
enum tepal_status tepal_known_pass_members(const struct tepal_allocator *allocator,
                                           const struct tepal_digest *members, size_t member_count,
                                           const struct tepal_digest *avoid, size_t avoid_count,
                                           uint64_t *found, uint64_t *both);

#endif

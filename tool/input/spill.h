/*
 * spill.h: digests that wait until they have been counted. Up to 256 MiB stay in memory; what
 * is more goes to a temporary file in TMPDIR (or /tmp) that has no name, so nothing can be left
 * over.
 */
#ifndef TOOL_INPUT_SPILL_H
#define TOOL_INPUT_SPILL_H

#include <stddef.h>
#include <stdint.h>

#include <tepal/hash.h>

#define SPILL_DIGESTS ((size_t)1 << 24)

struct spill;

/* `limit`: how many digests may stay in memory (SPILL_DIGESTS). NULL if there is no memory. */
struct spill *spill_open(size_t limit);
void spill_close(struct spill *spill);

/* 0, or -1 and spill_why tells. */
int spill_add(struct spill *spill, const struct tepal_digest *digests, size_t count);
uint64_t spill_count(const struct spill *spill);

/*
 * After the last add: the digests in the order in which they came, piece by piece. *digests is
 * valid until the next call. Returns how many, 0 at the end, -1 on failure.
 */
ptrdiff_t spill_next(struct spill *spill, const struct tepal_digest **digests);

const char *spill_subject(const struct spill *spill);
const char *spill_why(const struct spill *spill);

#endif

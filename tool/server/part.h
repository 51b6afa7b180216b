/*
 * part.h: a filter in P parts. A key belongs to one of them, whatever kinds, sizes and seeds the
 * parts have:
 *
 *     part = floor(lo * P / 2^64)
 *
 * where lo is the lower half of the key's 128-bit digest (XXH3-128, unkeyed) under PART_SEED. No
 * filter should have that seed, or the keys of a part would also crowd in a part of its cells. So a
 * part takes an interval of digests, and part i of P is the parts 2i and 2i + 1 of 2P together.
 * Part i is an ordinary filter at the name {NAME:i}; the braces make NAME:i choose the slot.
 */
#ifndef TOOL_SERVER_PART_H
#define TOOL_SERVER_PART_H

#include <tepal/hash.h>

#define PART_SEED UINT64_C(0x7465706170617274)

/* Of a digest under PART_SEED. */
uint64_t part_of(struct tepal_digest digest, uint64_t parts);

/* Hashes keys to find their parts. */
void part_hasher(struct tepal_hasher *hasher);

/* The name of a part, or NAME itself if there are no parts (0). On the heap; NULL: no memory. */
char *part_name(const char *name, uint64_t part, uint64_t parts);

/* PATH.07 for part 7 of 16: as many digits as the last has, so that sorting keeps the order. */
char *part_path(const char *path, uint64_t part, uint64_t parts);

#endif

/*
 * notes.h: how lines.h notes a group of 64 messages, one by one; lines_avx512.c has its own, which
 * adds up all of a group at once.
 */
#ifndef TEPAL_SRC_FILTER_RECYCLING_NOTES_H
#define TEPAL_SRC_FILTER_RECYCLING_NOTES_H

#include "filter/recycling/average.h"

/* Nothing places eight messages at once. */
struct line_placer {
    bool can;
};

static inline struct line_placer placer_of(const struct address *at)
{
    (void)at;
    return (struct line_placer){false};
}

#define line_places(placer, digests, offsets, cells) ((placer)->can)
#define PLACE_EACH                                   static inline __attribute__((always_inline))

/* What a line lacks of a mask: 0 if nothing. Here the number of bits, or of a refusal, 1. */
typedef uint32_t line_lack;

static inline line_lack line_lacks(const void *line, struct line_mask mask, bool two)
{
    return line_missing(line, mask, two);
}

static inline line_lack line_refuses(const void *line, struct line_mask mask)
{
    return !line_holds(line, mask);
}

/* What comes out of a group. */
struct line_sums {
    uint64_t seen;     /* the answers */
    uint32_t messages; /* that set bits in the active phase ... */
    uint32_t ones;     /* ... and how many */
};

struct line_notes {
    struct line_sums sums;
    uint32_t both;
    struct average_group group;
};

static inline void notes_begin(struct line_notes *notes)
{
    notes->sums = (struct line_sums){0};
    notes->both = 0;
}

/* By average: message j, before anything else of it is noted and before its bits are set. */
static inline void note_shared(struct line_notes *notes, size_t j, const void *line,
                               struct line_mask mask, const void *newest, bool two)
{
    notes->group.ones[j] = notes->sums.ones;
    notes->group.both[j] = notes->both;
    notes->both += line_shared(line, mask, newest, two);
}

/* Message j: what the active phase lacks of it, and what all the others do. */
static inline void note(struct line_notes *notes, size_t j, line_lack lack, line_lack others)
{
    notes->sums.seen |= (uint64_t)((lack == 0) | (others == 0)) << j;
    notes->sums.messages += lack != 0;
    notes->sums.ones += lack;
}

static inline struct line_sums notes_end(const struct line_notes *notes)
{
    return notes->sums;
}

static inline void notes_group(const struct line_notes *notes, struct average_group *group)
{
    *group = notes->group;
    group->ones[64] = notes->sums.ones;
    group->both[64] = notes->both;
}

#endif

/* names.h: places for the names of curves, each beside its own curve and clear of all others. */
#ifndef TOOL_PICTURES_NAMES_H
#define TOOL_PICTURES_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct spot {
    double x;
    double y; /* downwards */
};

/* A text, from its left end, on its line; letters rise above it and hang below. */
struct box {
    double x, y, width;
    double lead; /* 0, or so long is the upright line to it that begins at the end of its curve */
};

#define BOX_ABOVE 10.0
#define BOX_BELOW 3.0

/* A curve as the picture has it. */
struct trail {
    const struct spot *at;
    size_t count;
    bool joined;  /* else the spots alone are drawn */
    double width; /* of its name; 0: it has none */
};

struct frame {
    double left, top, right, bottom;
};

/*
 * Finds a place for every name, in box[i] of trail[i]: inside the frame, touching nothing, and
 * nearer to its own curve than to any other, so that nobody takes it for that one's, or else below
 * or above the curve's end with a short line to it. False if one of them has none (or there is no
 * memory); then no box counts.
 */
bool names_place(const struct trail *trail, size_t count, const struct frame *frame,
                 struct box *box);

#endif

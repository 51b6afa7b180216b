/*
 * look.h: a look at the first keys of a feed, for what is a key to us and was perhaps not meant to
 * be: carriage returns, comments, repeats. What is found is said once, with its remedy.
 */
#ifndef TOOL_INPUT_LOOK_H
#define TOOL_INPUT_LOOK_H

#include <stddef.h>

#include "input/feed.h"

#define LOOK_LINES 4096 /* of each file; and keys of all of them together, for repeats */

#define LOOK_UNIQUE "a key counts as often as it comes; --unique takes each once"

/* At the first block of a file. */
void feed_look(struct feed *feed);

/* At every batch while feed->notice_repeats, and after the last. */
void feed_look_repeats(struct feed *feed, size_t count);
void feed_look_end(struct feed *feed);

#endif

/*
 * source.h: the bytes of one key file. Plain, gzip, zstd or xz is decided by the first bytes, not
 * by the name; members and frames that follow one another are read as one. Memory does not grow
 * with the file. bzip2 is recognised and refused.
 */
#ifndef TOOL_INPUT_SOURCE_H
#define TOOL_INPUT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct source;

/*
 * Open a path ("-" is standard input) or take a descriptor, which stays the caller's. `plain`: the
 * bytes as they are, whatever they look like. NULL on failure and then *why says what is wrong.
 */
struct source *source_open(const char *path, bool plain, const char **why);
struct source *source_open_fd(int fd, bool plain, const char **why);
void source_close(struct source *source);

/*
 * Up to `room` bytes: as many as are at hand, at least one. 0 at the end, -1 on failure; then
 * source_why says what is wrong. Blocks only if there is nothing to return.
 */
ssize_t source_read(struct source *source, char *bytes, size_t room);
const char *source_why(const struct source *source);

/* If it was the system that failed, the number of its error; 0: the data, or nothing, is wrong. */
int source_error(const struct source *source);

/*
 * Somebody to ask before every read(2), which may block: for a command that has to do something
 * meanwhile. He returns when there is something to read, or false to end it here: then source_read
 * returns 0, also in the middle of compressed data, and source_stopped tells.
 */
typedef bool source_wait(void *context, int fd);
void source_set_wait(struct source *source, source_wait *wait, void *context);
bool source_stopped(const struct source *source);

/* Is it compressed? Known once something was read. */
bool source_packed(const struct source *source);

/* How many bytes of the file were read, as they are stored; -1: not a regular file. */
off_t source_at(const struct source *source);

/* Has all of it been read, for certain? Never of what is compressed or no regular file. */
bool source_ends(const struct source *source);

/* Not a regular file: what was read should be answered before more is waited for. */
bool source_live(const struct source *source);

#endif

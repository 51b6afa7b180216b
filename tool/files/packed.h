/*
 * packed.h: filters that travel compressed, with gzip or zstd. What comes is told apart by its
 * first bytes, as with keys (input/source.h). A small file may unpack to a huge one: the limit is
 * on what it unpacks to, and its header is checked against it before memory is taken.
 */
#ifndef TOOL_FILES_PACKED_H
#define TOOL_FILES_PACKED_H

#include <tepal/file.h>

#include "cli/command.h"

#define PACKED_MOST ((uint64_t)1 << 30) /* bytes, unless --max-bytes says otherwise */

#define OPTION_COMPRESS                                                                            \
    OPTION(0, "compress", OF_CHOICE("FORM", "gzip zstd"),                                          \
           "Write the filter compressed with gzip or zstd. Commands that read filters recognize "  \
           "both.")

#define OPTION_PACKED_MOST                                                                         \
    OPTION(0, "max-bytes", OF_SIZE(1, UINT64_MAX),                                                 \
           "Refuse a compressed filter of more than SIZE bytes when decompressed (default 1Gi).")

/* Is it a regular file that begins as compressed ones do? It may be impossible to say. */
enum packed_look { PACKED_NOT, PACKED_SO, PACKED_UNKNOWN };

enum packed_look packed_look(const char *path);

/*
 * A filter from a path or a pipe ("-" is standard input), compressed or not. A compressed one may
 * have `most` bytes when decompressed.
 */
enum tepal_status packed_load(const char *path, uint64_t most, struct tepal_filter **out,
                              struct tepal_error *error);

/*
 * Write it as --compress says, atomically to a path. EXIT_YES, or EXIT_TROUBLE after saying why;
 * even then it may be in place.
 */
int packed_save(const struct args *args, const struct tepal_filter *filter, const char *path,
                bool *in_place);

#endif

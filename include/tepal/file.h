/*
 * tepal/file.h: filters as bytes and as files. docs/format.md describes the bytes. Encoded twice,
 * the same filter gives the same bytes on every platform.
 */
#ifndef TEPAL_FILE_H
#define TEPAL_FILE_H

#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why a call failed, beyond its status. All fields are set when a call with a fault argument fails.
 */
struct tepal_fault {
    enum tepal_status status;
    int system;      /* errno, for TEPAL_IO; 0 otherwise */
    uint64_t offset; /* of the byte where the trouble starts, if there is such a place; else 0 */
    const char *why; /* a static sentence */
};

/* The length of the encoded filter. */
TEPAL_API uint64_t tepal_encoded_bytes(const struct tepal_filter *filter);

/* Encode into `bytes`, which has room for tepal_encoded_bytes(filter): TEPAL_BAD_LENGTH if not. */
TEPAL_API enum tepal_status tepal_encode(const struct tepal_filter *filter, void *bytes,
                                         size_t room);

/*
 * Decode a copy. Trusts nothing: every length is checked before it is used and every checksum is
 * verified; safe on hostile bytes. `fault` may be NULL.
 */
TEPAL_API enum tepal_status tepal_decode(const void *bytes, size_t len,
                                         const struct tepal_allocator *allocator,
                                         struct tepal_filter **out, struct tepal_fault *fault);

/*
 * Save atomically: a temporary file in the same directory, synced, renamed over `path`, the
 * directory synced. Whatever goes wrong before the renaming, `path` keeps what it had and no
 * temporary file is left (a killed process may leave .tepal-*.tmp); if only the last sync fails,
 * the fault says that the new file is in place. An existing `path` must be a regular file
 * (TEPAL_NOT_REGULAR); a symbolic link is followed, and one that leads nowhere is refused. An
 * existing file keeps its permissions and, if allowed, its owner; hard links, access lists and
 * extended attributes are not kept.
 */
TEPAL_API enum tepal_status tepal_save(const struct tepal_filter *filter, const char *path,
                                       struct tepal_fault *fault);

/*
 * Write the encoded filter to a descriptor (a pipe, a socket), not atomically. A closed pipe raises
 * SIGPIPE unless the caller ignores it, and then gives TEPAL_IO. A non-blocking descriptor is
 * waited for.
 */
TEPAL_API enum tepal_status tepal_save_fd(const struct tepal_filter *filter, int fd,
                                          struct tepal_fault *fault);

/* Load a file into memory: writable, and independent of the file from then on. Only regular files.
 */
TEPAL_API enum tepal_status tepal_load(const char *path, const struct tepal_allocator *allocator,
                                       struct tepal_filter **out, struct tepal_fault *fault);

/* Load from a descriptor up to its end (a pipe is fine): memory grows only as data arrives. */
TEPAL_API enum tepal_status tepal_load_fd(int fd, const struct tepal_allocator *allocator,
                                          struct tepal_filter **out, struct tepal_fault *fault);

enum tepal_map_check {
    TEPAL_MAP_VERIFY = 0, /* read all and verify all checksums first */
    /*
     * Verify the header and the few words that memory safety needs: opens at once, whatever the
     * size and the kind. A damaged block then gives wrong answers, but no query leaves the cells;
     * counts that the header has of the cells (counting, fingerprint, recycling) are believed.
     * tepal_validate reads the rest and tells; tepal_filter_clone refuses (TEPAL_CORRUPT) what it
     * would refuse. Saving such a view writes checksums that fit the damage.
     */
    TEPAL_MAP_LAZY = 1
};

/*
 * Map a file: a read-only filter whose cells are the file's pages. The file must not be truncated
 * while it is mapped. Little-endian machines only (TEPAL_UNSUPPORTED elsewhere: load it instead).
 */
TEPAL_API enum tepal_status tepal_map(const char *path, enum tepal_map_check check,
                                      const struct tepal_allocator *allocator,
                                      struct tepal_filter **out, struct tepal_fault *fault);

#ifdef __cplusplus
}
#endif

#endif

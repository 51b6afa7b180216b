/*
 * tepal/file.h: filters as bytes and as files. docs/format.md describes the bytes. The same filter
 * is encoded as the same bytes on every platform.
 *
 *     struct tepal_filter *f;
 *     struct tepal_error error;
 *     if (tepal_load("blocklist.tepal", NULL, &f, &error) != TEPAL_OK)
 *         puts(error.why);
 *     else if (tepal_filter_query_bytes(f, "example.org", 11))
 *         puts("perhaps");
 */
#ifndef TEPAL_FILE_H
#define TEPAL_FILE_H

#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The length of the encoded filter. */
TEPAL_API uint64_t tepal_encoded_bytes(const struct tepal_filter *filter);

/*
 * Encode into `bytes`. TEPAL_BAD_LENGTH if there is no room for tepal_encoded_bytes(filter);
 * TEPAL_KEY_NEEDED if the filter is keyed and was not given its key.
 */
TEPAL_API enum tepal_status tepal_encode(const struct tepal_filter *filter, void *bytes,
                                         size_t room, struct tepal_error *error);

/*
 * The `count` bytes of the encoded filter from `offset` on, to send it in pieces of any size. The
 * pieces together are what tepal_encode gives, if the filter does not change in between. Costs no
 * more memory than the piece; a piece of the checksums, at the end, reads the cells that they
 * cover. TEPAL_BAD_ARGUMENT beyond the end; TEPAL_KEY_NEEDED.
 */
TEPAL_API enum tepal_status tepal_encode_range(const struct tepal_filter *filter, uint64_t offset,
                                               void *bytes, size_t count,
                                               struct tepal_error *error);

/*
 * Decode a copy. Trusts nothing: every length is checked before it is used and every checksum is
 * verified; safe on hostile bytes. TEPAL_NOT_A_FILTER, TEPAL_BAD_VERSION, TEPAL_UNKNOWN_KIND,
 * TEPAL_BAD_PARAMETER, TEPAL_BAD_CHECKSUM, TEPAL_BAD_LENGTH, TEPAL_CORRUPT, TEPAL_TOO_LARGE or
 * TEPAL_NO_MEMORY; the error says where. Loading fails in the same ways, and with TEPAL_IO.
 */
TEPAL_API enum tepal_status tepal_decode(const void *bytes, size_t len,
                                         const struct tepal_allocator *allocator,
                                         struct tepal_filter **out, struct tepal_error *error);

/*
 * Decode as bytes arrive, in pieces of any size, straight into the memory of the filter, which is
 * allocated once the header has been found sound, and not cleared first. TEPAL_TOO_LARGE if the
 * encoded filter would exceed max_bytes (0: no limit). Feed the pieces in order until all have
 * come, then finish; free the decoder in any case. Fails as tepal_decode does; once a call has
 * failed, all later ones fail alike.
 *
 *     struct tepal_decoder *d;
 *     tepal_decoder_create(0, NULL, &d, &error);
 *     while ((n = recv(fd, piece, sizeof piece, 0)) > 0)
 *         if (tepal_decoder_feed(d, piece, n, &error) != TEPAL_OK) ...
 *     tepal_decoder_finish(d, &filter, &error);
 *     tepal_decoder_free(d);
 */
struct tepal_decoder;
TEPAL_API enum tepal_status tepal_decoder_create(uint64_t max_bytes,
                                                 const struct tepal_allocator *allocator,
                                                 struct tepal_decoder **out,
                                                 struct tepal_error *error);
TEPAL_API enum tepal_status tepal_decoder_feed(struct tepal_decoder *decoder, const void *bytes,
                                               size_t len, struct tepal_error *error);
TEPAL_API enum tepal_status tepal_decoder_finish(struct tepal_decoder *decoder,
                                                 struct tepal_filter **out,
                                                 struct tepal_error *error);
TEPAL_API void tepal_decoder_free(struct tepal_decoder *decoder); /* NULL is allowed */

/*
 * The cells that have come so far, as they came (the bytes of the format from 256 on), to save a
 * transfer that is under way. They belong to the decoder, until it is finished or fails; *count is
 * 0 and the pointer NULL before the header has come, and then.
 */
TEPAL_API const void *tepal_decoder_payload(const struct tepal_decoder *decoder, size_t *count);

/* ---- files: absent from a library that was built without the operating system ---------------- */

/*
 * Save atomically: a temporary file in the same directory, synced, renamed over `path`, the
 * directory synced. If anything goes wrong before the rename, `path` is unchanged and no temporary
 * file is left (a killed process may leave .tepal-*.tmp); if only the last sync fails, the error
 * says that the new file is in place. An existing `path` must be a regular file
 * (TEPAL_NOT_REGULAR); a symbolic link is followed, and a dangling one is refused. An existing file
 * keeps its permissions and, if allowed, its owner; hard links, access lists and extended
 * attributes are not kept.
 */
TEPAL_API enum tepal_status tepal_save(const struct tepal_filter *filter, const char *path,
                                       struct tepal_error *error);

/*
 * Write the encoded filter to a descriptor (a pipe, a socket), not atomically. A closed pipe raises
 * SIGPIPE unless the caller ignores it, and then gives TEPAL_IO. A non-blocking descriptor is
 * waited for.
 */
TEPAL_API enum tepal_status tepal_save_fd(const struct tepal_filter *filter, int fd,
                                          struct tepal_error *error);

/* Load a file into memory: writable, and independent of the file from then on. Only regular files.
 */
TEPAL_API enum tepal_status tepal_load(const char *path, const struct tepal_allocator *allocator,
                                       struct tepal_filter **out, struct tepal_error *error);

/* Load from a descriptor up to its end (a pipe is fine): memory grows only as data arrives. */
TEPAL_API enum tepal_status tepal_load_fd(int fd, const struct tepal_allocator *allocator,
                                          struct tepal_filter **out, struct tepal_error *error);

enum tepal_map_check {
    TEPAL_MAP_VERIFY = 0, /* read all and verify all checksums first */
    /*
     * Verify the header and the few words that memory safety needs: opens instantly, at any size. A
     * damaged block then gives wrong answers, but no query reads outside the cells; the header's
     * counts of cells (counting, fingerprint, recycling) are trusted. tepal_filter_validate reads
     * the rest; tepal_filter_clone refuses (TEPAL_CORRUPT) what validation would refuse. Saving
     * such a view writes checksums that match the damaged cells.
     */
    TEPAL_MAP_LAZY = 1
};

/*
 * Map a file: a read-only filter whose cells are the file's pages. The file must not be truncated
 * while it is mapped. Little-endian machines only (TEPAL_UNSUPPORTED elsewhere: load it instead).
 */
TEPAL_API enum tepal_status tepal_map(const char *path, enum tepal_map_check check,
                                      const struct tepal_allocator *allocator,
                                      struct tepal_filter **out, struct tepal_error *error);

#ifdef __cplusplus
}
#endif

#endif

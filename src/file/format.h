/*
 * format.h: the encoded filter from the inside. Bytes become parameters, state and words, and
 * back; no I/O happens here. docs/format.md describes every byte.
 *
 *     0       256                                256 + payload
 *     +--------+----------+----------+--- ... ---+------+------+-----+
 *     | header | block 0  | block 1  |           | sum0 | sum1 | ... |
 *     +--------+----------+----------+--- ... ---+------+------+-----+
 *
 * The sums stand behind the payload so that a filter can be written to a pipe from front to back,
 * and so that the payload is one piece, aligned to a cache line, that can be mapped.
 *
 * Nothing here believes what it reads: checksums find damage, not malice, so every check holds
 * for bytes whose checksums are right.
 */
#ifndef TEPAL_SRC_FILE_FORMAT_H
#define TEPAL_SRC_FILE_FORMAT_H

#include <tepal/file.h>

#include "base/little.h"
#include "filter/kind.h"

#define FORMAT_VERSION   1
#define FORMAT_HEADER    256
#define FORMAT_BLOCK_LOG 16
#define FORMAT_BLOCK     ((size_t)1 << FORMAT_BLOCK_LOG)

/* How many sums readers and writers handle at a time: 4 KiB of them, for 32 MiB of payload. */
#define FORMAT_SUMS_AT_ONCE 512

/*
 * How many they keep at most: the first blocks, 256 MiB, are summed on their way, while the cache
 * has them. Those that follow are read a second time, since nothing is allocated for sums.
 */
#define FORMAT_SUMS_KEPT 4096

/* Where the fields of the header lie. */
enum format_offset {
    FORMAT_AT_MAGIC = 0,
    FORMAT_AT_VERSION = 8,
    FORMAT_AT_KIND = 12,
    FORMAT_AT_LAYOUT = 16,
    FORMAT_AT_POSITIONS = 20,
    FORMAT_AT_HASH = 24,
    FORMAT_AT_HASHES = 28,
    FORMAT_AT_CELLS = 32,
    FORMAT_AT_CAPACITY = 40,
    FORMAT_AT_SEED = 48,
    FORMAT_AT_KEY_CHECK = 56,
    FORMAT_AT_KEYS_ADDED = 64,
    FORMAT_AT_OWN_PARAMS = 72,
    FORMAT_AT_OWN_STATE = 136,
    FORMAT_AT_PAYLOAD_BYTES = 200,
    FORMAT_AT_FILE_BYTES = 208,
    FORMAT_AT_BLOCK_LOG = 216,
    FORMAT_AT_CELL_BITS = 220,
    FORMAT_AT_RESERVED = 224,
    FORMAT_AT_CHECKSUM = 248
};

/* What a header says, once it has been found to hold together. */
struct format_header {
    struct tepal_params params;
    struct filter_state state;
    uint64_t payload; /* bytes */
    uint64_t blocks;
    uint64_t file; /* bytes */
};

/* Fills *error unless it is NULL; returns status, so that a failure is one line. */
enum tepal_status tepal_format_fault(struct tepal_error *error, enum tepal_status status,
                                     int system, uint64_t offset, const char *why);

void tepal_format_write_header(const struct tepal_filter *filter, uint8_t bytes[FORMAT_HEADER]);

/* A keyed filter whose key was never given: it cannot be written, nor read. */
#define FORMAT_LACKS_KEY "a keyed filter cannot be saved before its key is given"
bool tepal_format_lacks_key(const struct tepal_filter *filter);

/*
 * The header from the first `len` bytes of the input; len < FORMAT_HEADER means that the input ends
 * there. On TEPAL_OK the parameters have passed the gate and all lengths agree with them. Nobody
 * checks them again on the way in.
 */
enum tepal_status tepal_format_read_header(const uint8_t *bytes, size_t len,
                                           struct format_header *out, struct tepal_error *error);

/* TEPAL_BAD_LENGTH unless the input is exactly as long as its header says. */
enum tepal_status tepal_format_check_length(const struct format_header *header, uint64_t real,
                                            struct tepal_error *error);

/* TEPAL_TOO_LARGE unless this machine can address so much: before memory is taken or mapped. */
enum tepal_status tepal_format_check_room(const struct format_header *header,
                                          struct tepal_error *error);

/* The number of blocks of a payload, and the bytes of one of them. */
uint64_t tepal_format_blocks(uint64_t payload);
size_t tepal_format_block_bytes(uint64_t payload, uint64_t index);

/* The sum of one block; the others only if tepal_processor_has_avx2(), ..._avx512() (sum_*.c). */
uint64_t tepal_format_sum(const uint8_t *block, size_t len, uint64_t index);
uint64_t tepal_format_sum_avx2(const uint8_t *block, size_t len, uint64_t index);
uint64_t tepal_format_sum_avx512(const uint8_t *block, size_t len, uint64_t index);

/*
 * The bytes of a filter's blocks from `index` on, up to *count of them: as many as lie together, at
 * least one. `scratch` is used if not even the words of one do, and on machines that are not
 * little-endian; otherwise the words are the bytes.
 */
union format_scratch {
    uint64_t words[FORMAT_BLOCK / 8];
    uint8_t bytes[FORMAT_BLOCK];
};
const uint8_t *tepal_format_run(const struct tepal_filter *filter, uint64_t index, uint64_t *count,
                                union format_scratch *scratch);

/* The sums of `count` blocks from block `first` on, as 8 bytes each. */
void tepal_format_sums(const struct tepal_filter *filter, uint64_t first, size_t count,
                       uint8_t *sums);

/* Sums that somebody has computed already: of the first blocks of a payload. */
struct format_known {
    const uint64_t *sums;
    uint64_t count;
};

/*
 * Compare the sums of `count` blocks from block `first` on with the bytes of the whole payload, or
 * with what is known of them.
 */
enum tepal_status tepal_format_verify(const struct format_header *header, const uint8_t *payload,
                                      uint64_t first, size_t count, const uint8_t *sums,
                                      struct format_known known, struct tepal_error *error);

/*
 * The last step of every way in: a filter around the words, validated, or with TEPAL_MAP_LAZY as
 * far as that goes without reading all of them. Takes the words (or the mapping that they are in)
 * over in any case: on failure they have been released. NULL: no mapping.
 */
enum tepal_status tepal_format_finish(const struct format_header *header,
                                      const struct tepal_allocator *allocator, uint64_t *words,
                                      const struct filter_mapping *mapping,
                                      enum tepal_map_check check, struct tepal_filter **out,
                                      struct tepal_error *error);

/*
 * tepal_decode (decoder.c) with a gate between header and cells: if it says no, nothing more is
 * read and TEPAL_MISMATCH is returned, without an error. NULL: no gate.
 */
struct format_gate {
    bool (*ask)(void *context, const struct format_header *header);
    void *context;
};
enum tepal_status tepal_format_decode_gated(const void *bytes, size_t len,
                                            const struct format_gate *gate,
                                            const struct tepal_allocator *allocator,
                                            struct tepal_filter **out, struct tepal_error *error);

#endif

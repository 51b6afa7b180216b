/*
 * format.c: an encoded filter, read and written in memory.
 *
 * The order of the checks is chosen for the message that somebody will read. Magic first (is this
 * one of ours at all?), then the version, before the checksum: a later format may have its
 * checksum elsewhere, and "newer version" helps more than "damaged". Then the checksum, so that
 * plain damage is called damage, and after it every field as if there were no checksum.
 */
#include "file/format.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/refuse.h"
#include "base/processor.h"

/* Not text, and broken by whatever changes line ends or drops the eighth bit. */
static const uint8_t magic[8] = {0x89, 'T', 'E', 'P', 'A', 'L', '\r', '\n'};

enum tepal_status tepal_format_fault(struct tepal_error *error, enum tepal_status status,
                                     int system, uint64_t offset, const char *why)
{
    if (error != NULL) {
        *error = (struct tepal_error){status, system, offset, why};
    }
    return status;
}

/* ---- blocks and sums ------------------------------------------------------------------------- */

uint64_t tepal_format_blocks(uint64_t payload)
{
    return payload / FORMAT_BLOCK + (payload % FORMAT_BLOCK != 0);
}

size_t tepal_format_block_bytes(uint64_t payload, uint64_t index)
{
    uint64_t rest = payload - index * FORMAT_BLOCK;
    return rest < FORMAT_BLOCK ? (size_t)rest : FORMAT_BLOCK;
}

/* The index is the seed, so that blocks that change places are noticed. */
uint64_t tepal_format_sum(const uint8_t *block, size_t len, uint64_t index)
{
    return tepal_processor_has_avx512() ? tepal_format_sum_avx512(block, len, index)
           : tepal_processor_has_avx2() ? tepal_format_sum_avx2(block, len, index)
                                        : XXH3_64bits_withSeed(block, len, index);
}

const uint8_t *tepal_format_run(const struct tepal_filter *filter, uint64_t index, uint64_t *count,
                                union format_scratch *scratch)
{
    size_t words = tepal_format_block_bytes((uint64_t)filter->word_count * 8, index) / 8;
    uint64_t first = index * (FORMAT_BLOCK / 8);
#if LITTLE_ENDIAN_HOST
    uint64_t together;
    const uint64_t *run = filter_run(filter, first, &together);
    if (together >= words) {
        uint64_t whole = together < filter->word_count - first ? together / (FORMAT_BLOCK / 8)
                                                               : tepal_format_blocks(together * 8);
        *count = whole < *count ? whole : *count;
        return (const uint8_t *)run;
    }
    tepal_filter_copy_words(filter, first, words, scratch->words);
#else
    uint64_t copy[FORMAT_BLOCK / 8];
    tepal_filter_copy_words(filter, first, words, copy);
    little_from_words(scratch->bytes, copy, words);
#endif
    *count = 1;
    return scratch->bytes;
}

void tepal_format_sums(const struct tepal_filter *filter, uint64_t first, size_t count,
                       uint8_t *sums)
{
    union format_scratch scratch;
    uint64_t payload = (uint64_t)filter->word_count * 8;
    for (size_t i = 0; i < count; i++) {
        uint64_t one = 1;
        const uint8_t *block = tepal_format_run(filter, first + i, &one, &scratch);
        size_t len = tepal_format_block_bytes(payload, first + i);
        little_put64(sums + 8 * i, tepal_format_sum(block, len, first + i));
    }
}

enum tepal_status tepal_format_verify(const struct format_header *header, const uint8_t *payload,
                                      uint64_t first, size_t count, const uint8_t *sums,
                                      struct format_known known, struct tepal_error *error)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t start = (first + i) * FORMAT_BLOCK;
        size_t len = tepal_format_block_bytes(header->payload, first + i);
        uint64_t sum = first + i < known.count ? known.sums[first + i]
                                               : tepal_format_sum(payload + start, len, first + i);
        if (sum != little_get64(sums + 8 * i)) {
            return tepal_format_fault(error, TEPAL_BAD_CHECKSUM, 0, FORMAT_HEADER + start,
                                      "a block's checksum does not match");
        }
    }
    return TEPAL_OK;
}

/* ---- the header, out ------------------------------------------------------------------------- */

/* Cannot overflow: the payload is in memory, or its parameters have passed the gate. */
static uint64_t file_bytes(uint64_t payload)
{
    return FORMAT_HEADER + payload + 8 * tepal_format_blocks(payload);
}

void tepal_format_write_header(const struct tepal_filter *filter, uint8_t bytes[FORMAT_HEADER])
{
    const struct tepal_params *p = &filter->params;
    const struct filter_state *s = &filter->state;
    uint64_t payload = (uint64_t)filter->word_count * 8;
    memset(bytes, 0, FORMAT_HEADER);
    memcpy(bytes + FORMAT_AT_MAGIC, magic, sizeof magic);
    little_put32(bytes + FORMAT_AT_VERSION, FORMAT_VERSION);
    little_put32(bytes + FORMAT_AT_KIND, (uint32_t)p->kind);
    little_put32(bytes + FORMAT_AT_LAYOUT, (uint32_t)p->layout);
    little_put32(bytes + FORMAT_AT_POSITIONS, (uint32_t)p->positions);
    little_put32(bytes + FORMAT_AT_HASH, (uint32_t)p->hash);
    little_put32(bytes + FORMAT_AT_HASHES, p->hashes);
    little_put64(bytes + FORMAT_AT_CELLS, p->cells);
    little_put64(bytes + FORMAT_AT_CAPACITY, p->capacity);
    little_put64(bytes + FORMAT_AT_SEED, p->seed);
    little_put64(bytes + FORMAT_AT_KEY_CHECK, p->key_check);
    little_put64(bytes + FORMAT_AT_KEYS_ADDED, s->keys_added);
    for (size_t i = 0; i < TEPAL_OWN_PARAMS; i++) {
        little_put64(bytes + FORMAT_AT_OWN_PARAMS + 8 * i, p->own[i]);
    }
    for (size_t i = 0; i < FILTER_STATES; i++) {
        little_put64(bytes + FORMAT_AT_OWN_STATE + 8 * i, s->own[i]);
    }
    little_put64(bytes + FORMAT_AT_PAYLOAD_BYTES, payload);
    little_put64(bytes + FORMAT_AT_FILE_BYTES, file_bytes(payload));
    little_put32(bytes + FORMAT_AT_BLOCK_LOG, FORMAT_BLOCK_LOG);
    little_put32(bytes + FORMAT_AT_CELL_BITS, filter->ops->rules->cell_bits);
    little_put64(bytes + FORMAT_AT_CHECKSUM, XXH3_64bits(bytes, FORMAT_AT_CHECKSUM));
}

/* ---- the header, in -------------------------------------------------------------------------- */

/* Is it ours, of a version we know, and undamaged? */
static enum tepal_status check_start(const uint8_t *bytes, size_t len, struct tepal_error *error)
{
    if (len == 0) {
        return tepal_format_fault(error, TEPAL_NOT_A_FILTER, 0, 0, "the file is empty");
    }
    if (len < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0) {
        return tepal_format_fault(error, TEPAL_NOT_A_FILTER, 0, FORMAT_AT_MAGIC,
                                  "the first bytes are not those of a tepal filter");
    }
    if (len >= FORMAT_AT_VERSION + 4) {
        uint32_t version = little_get32(bytes + FORMAT_AT_VERSION);
        if (version > FORMAT_VERSION) {
            return tepal_format_fault(
                error, TEPAL_BAD_VERSION, 0, FORMAT_AT_VERSION,
                "the format version in the header is newer than this library supports");
        }
        if (version == 0) {
            return tepal_format_fault(
                error, TEPAL_CORRUPT, 0, FORMAT_AT_VERSION,
                "the format version in the header is 0, which does not exist");
        }
    }
    if (len < FORMAT_HEADER) {
        return tepal_format_fault(error, TEPAL_BAD_LENGTH, 0, len,
                                  "the file ends within the header");
    }
    if (XXH3_64bits(bytes, FORMAT_AT_CHECKSUM) != little_get64(bytes + FORMAT_AT_CHECKSUM)) {
        return tepal_format_fault(error, TEPAL_BAD_CHECKSUM, 0, FORMAT_AT_CHECKSUM,
                                  "the header's checksum does not match");
    }
    return TEPAL_OK;
}

static void read_params(const uint8_t *bytes, struct tepal_params *p)
{
    p->kind = (enum tepal_kind_id)little_get32(bytes + FORMAT_AT_KIND);
    p->layout = (enum tepal_layout)little_get32(bytes + FORMAT_AT_LAYOUT);
    p->positions = (enum tepal_positions)little_get32(bytes + FORMAT_AT_POSITIONS);
    p->hash = (enum tepal_hash)little_get32(bytes + FORMAT_AT_HASH);
    p->hashes = little_get32(bytes + FORMAT_AT_HASHES);
    p->cells = little_get64(bytes + FORMAT_AT_CELLS);
    p->capacity = little_get64(bytes + FORMAT_AT_CAPACITY);
    p->seed = little_get64(bytes + FORMAT_AT_SEED);
    p->key_check = little_get64(bytes + FORMAT_AT_KEY_CHECK);
    for (size_t i = 0; i < TEPAL_OWN_PARAMS; i++) {
        p->own[i] = little_get64(bytes + FORMAT_AT_OWN_PARAMS + 8 * i);
    }
}

static void read_state(const uint8_t *bytes, struct filter_state *s)
{
    s->keys_added = little_get64(bytes + FORMAT_AT_KEYS_ADDED);
    for (size_t i = 0; i < FILTER_STATES; i++) {
        s->own[i] = little_get64(bytes + FORMAT_AT_OWN_STATE + 8 * i);
    }
}

/* The gate said no, and of what; this says where in the header that is. */
static uint64_t place_of(enum params_field field)
{
    static const enum format_offset places[] = {
        [PARAMS_KIND] = FORMAT_AT_KIND,           [PARAMS_LAYOUT] = FORMAT_AT_LAYOUT,
        [PARAMS_POSITIONS] = FORMAT_AT_POSITIONS, [PARAMS_HASH] = FORMAT_AT_HASH,
        [PARAMS_HASHES] = FORMAT_AT_HASHES,       [PARAMS_CELLS] = FORMAT_AT_CELLS,
        [PARAMS_KEY_CHECK] = FORMAT_AT_KEY_CHECK, [PARAMS_OWN] = FORMAT_AT_OWN_PARAMS,
    };
    return field < PARAMS_OWN ? places[field]
                              : places[PARAMS_OWN] + 8 * (uint64_t)(field - PARAMS_OWN);
}

/* The fields that have one right value each, whatever the filter. */
static enum tepal_status check_fixed(const uint8_t *bytes, const struct params_rules *rules,
                                     struct tepal_error *error)
{
    if (little_get32(bytes + FORMAT_AT_BLOCK_LOG) != FORMAT_BLOCK_LOG) {
        return tepal_format_fault(error, TEPAL_BAD_PARAMETER, 0, FORMAT_AT_BLOCK_LOG,
                                  "the checksum blocks in the header are not 64 KiB");
    }
    if (little_get32(bytes + FORMAT_AT_CELL_BITS) != rules->cell_bits) {
        return tepal_format_fault(error, TEPAL_BAD_PARAMETER, 0, FORMAT_AT_CELL_BITS,
                                  "the width of the cells in the header does not match the kind");
    }
    for (size_t i = FORMAT_AT_RESERVED; i < FORMAT_AT_CHECKSUM; i++) {
        if (bytes[i] != 0) {
            return tepal_format_fault(error, TEPAL_CORRUPT, 0, i,
                                      "a reserved byte of the header is not zero");
        }
    }
    return TEPAL_OK;
}

static enum tepal_status check_lengths(const uint8_t *bytes, struct format_header *h,
                                       struct tepal_error *error)
{
    h->payload = tepal_params_cell_bytes(&h->params);
    if (little_get64(bytes + FORMAT_AT_PAYLOAD_BYTES) != h->payload) {
        return tepal_format_fault(error, TEPAL_BAD_LENGTH, 0, FORMAT_AT_PAYLOAD_BYTES,
                                  "the header's payload length does not match its parameters");
    }
    h->blocks = tepal_format_blocks(h->payload);
    h->file = file_bytes(h->payload);
    if (little_get64(bytes + FORMAT_AT_FILE_BYTES) != h->file) {
        return tepal_format_fault(error, TEPAL_BAD_LENGTH, 0, FORMAT_AT_FILE_BYTES,
                                  "the header's file length does not match its payload");
    }
    return TEPAL_OK;
}

enum tepal_status tepal_format_read_header(const uint8_t *bytes, size_t len,
                                           struct format_header *out, struct tepal_error *error)
{
    enum tepal_status status = check_start(bytes, len, error);
    if (status != TEPAL_OK) {
        return status;
    }
    struct format_header h;
    const struct filter_ops *ops = tepal_filter_ops_by_id(little_get32(bytes + FORMAT_AT_KIND));
    if (ops == NULL) {
        return tepal_format_fault(error, TEPAL_UNKNOWN_KIND, 0, FORMAT_AT_KIND,
                                  "the kind of filter in the header is unknown to this version");
    }
    read_params(bytes, &h.params);
    read_state(bytes, &h.state);
    status = check_fixed(bytes, ops->rules, error);
    if (status != TEPAL_OK) {
        return status;
    }
    struct params_verdict verdict = tepal_params_gate(&h.params);
    if (verdict.status != TEPAL_OK) {
        return tepal_format_fault(error, verdict.status, 0, place_of(verdict.field), verdict.why);
    }
    if (tepal_hash_is_keyed(h.params.hash) && h.params.key_check == 0) {
        return tepal_format_fault(
            error, TEPAL_CORRUPT, 0, FORMAT_AT_KEY_CHECK,
            "a keyed filter has no key check: a wrong key would not be noticed");
    }
    size_t stray = tepal_filter_stray_state(ops, &h.state);
    if (stray < FILTER_STATES) {
        return tepal_format_fault(error, TEPAL_CORRUPT, 0, FORMAT_AT_OWN_STATE + 8 * stray,
                                  FILTER_STRAY_STATE);
    }
    status = check_lengths(bytes, &h, error);
    if (status == TEPAL_OK) {
        *out = h;
    }
    return status;
}

enum tepal_status tepal_format_check_length(const struct format_header *header, uint64_t real,
                                            struct tepal_error *error)
{
    if (real < header->file) {
        return tepal_format_fault(error, TEPAL_BAD_LENGTH, 0, real,
                                  "the file is shorter than its header says");
    }
    if (real > header->file) {
        return tepal_format_fault(error, TEPAL_BAD_LENGTH, 0, header->file,
                                  "the file is longer than its header says");
    }
    return TEPAL_OK;
}

enum tepal_status tepal_format_check_room(const struct format_header *header,
                                          struct tepal_error *error)
{
    return checked_size(header->file)
               ? TEPAL_OK
               : tepal_format_fault(error, TEPAL_TOO_LARGE, 0, FORMAT_AT_PAYLOAD_BYTES,
                                    "the payload is larger than this machine can address");
}

/* ---- whole filters --------------------------------------------------------------------------- */

enum tepal_status tepal_format_finish(const struct format_header *header,
                                      const struct tepal_allocator *allocator, uint64_t *words,
                                      const struct filter_mapping *mapping,
                                      enum tepal_map_check check, struct tepal_filter **out,
                                      struct tepal_error *error)
{
    struct filter_parts parts = {
        .params = &header->params, .state = &header->state, .words = words};
    if (mapping != NULL) {
        parts.mapping = *mapping;
    }
    struct tepal_filter *filter;
    enum tepal_status status = tepal_filter_adopt(&parts, allocator, &filter, error);
    if (status != TEPAL_OK) {
        if (mapping != NULL) {
            mapping->unmap(mapping->start, mapping->bytes);
        } else {
            struct tepal_allocator chosen = tepal_alloc_choose(allocator);
            tepal_alloc_release(&chosen, words, (size_t)header->payload);
        }
        return status;
    }
    const char *why = tepal_filter_flaw(filter, check != TEPAL_MAP_LAZY);
    if (why != NULL) {
        /* Without invariants of the kind's own, only the last word can be wrong. */
        uint64_t offset = filter->ops->validate == NULL ? FORMAT_HEADER + header->payload - 8 : 0;
        tepal_filter_free(filter);
        return tepal_format_fault(error, TEPAL_CORRUPT, 0, offset, why);
    }
    *out = filter;
    return TEPAL_OK;
}

uint64_t tepal_params_encoded_bytes(const struct tepal_params *params)
{
    uint64_t payload = tepal_params_cell_bytes(params);
    return payload == 0 ? 0 : file_bytes(payload);
}

uint64_t tepal_encoded_bytes(const struct tepal_filter *filter)
{
    return file_bytes((uint64_t)filter->word_count * 8);
}

/* A keyed filter without its check would take any key later on. */
bool tepal_format_lacks_key(const struct tepal_filter *filter)
{
    return tepal_hash_is_keyed(filter->params.hash) && filter->params.key_check == 0;
}

/* ---- pieces of the encoded filter: each writes what it has, and says how much ---------------- */

static size_t at_most(uint64_t have, size_t count)
{
    return have < count ? (size_t)have : count;
}

static size_t put_header(const struct tepal_filter *filter, size_t offset, uint8_t *to,
                         size_t count)
{
    uint8_t header[FORMAT_HEADER];
    size_t here = at_most(sizeof header - offset, count);
    tepal_format_write_header(filter, header);
    memcpy(to, header + offset, here);
    return here;
}

static size_t put_payload(const struct tepal_filter *filter, uint64_t offset, uint8_t *to,
                          size_t count)
{
    uint64_t words;
    const uint64_t *run = filter_run(filter, offset / 8, &words);
    size_t skip = (size_t)(offset % 8);
    size_t here = at_most(words * 8 - skip, count);
#if LITTLE_ENDIAN_HOST
    memcpy(to, (const uint8_t *)run + skip, here);
#else
    for (size_t i = 0; i < here; i++) {
        to[i] = (uint8_t)(run[(skip + i) / 8] >> (8 * ((skip + i) % 8)));
    }
#endif
    return here;
}

/* One sum, or what is wanted of it. */
static size_t put_sum(const struct tepal_filter *filter, uint64_t offset, uint8_t *to, size_t count)
{
    uint8_t sum[8];
    size_t skip = (size_t)(offset % 8);
    size_t here = at_most(8 - skip, count);
    tepal_format_sums(filter, offset / 8, 1, sum);
    memcpy(to, sum + skip, here);
    return here;
}

enum tepal_status tepal_encode_range(const struct tepal_filter *filter, uint64_t offset,
                                     void *bytes, size_t count, struct tepal_error *error)
{
    uint64_t total = tepal_encoded_bytes(filter);
    uint64_t sums = FORMAT_HEADER + (uint64_t)filter->word_count * 8;
    uint8_t *to = bytes;
    if (tepal_format_lacks_key(filter)) {
        return refuse(error, TEPAL_KEY_NEEDED, FORMAT_LACKS_KEY);
    }
    if (offset > total || count > total - offset) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the range goes beyond the encoded filter");
    }
    while (count > 0) {
        size_t here = offset < FORMAT_HEADER ? put_header(filter, (size_t)offset, to, count)
                      : offset < sums ? put_payload(filter, offset - FORMAT_HEADER, to, count)
                                      : put_sum(filter, offset - sums, to, count);
        offset += here;
        to += here;
        count -= here;
    }
    return TEPAL_OK;
}

enum tepal_status tepal_encode(const struct tepal_filter *filter, void *bytes, size_t room,
                               struct tepal_error *error)
{
    uint64_t total = tepal_encoded_bytes(filter);
    if (!tepal_format_lacks_key(filter) && room < total) {
        return refuse(error, TEPAL_BAD_LENGTH,
                      "the encoded filter does not fit into the given space");
    }
    return tepal_encode_range(filter, 0, bytes, (size_t)total, error);
}

/*
 * tepal/header.h: filters in packets. A header of up to 2048 bits names the links that a packet
 * is to take; a node holds one mask for each of its links and forwards where header AND mask
 * equals mask. The bits are those of a filter of the same parameters: one that the library built
 * can be put into a packet, and taken out of it.
 *
 *     struct tepal_header_layout layout;          once
 *     tepal_header_layout_init(&params, &layout, &error);
 *
 *     uint32_t table[8 * 8 * 5];                  once per node: 40 links of 256 bits
 *     tepal_header_mask(&layout, digest, mask);   for each link, by the digest of its name
 *     tepal_header_table_put(&layout, link, mask, table);
 *
 *     tepal_header_unpack(&layout, packet, header);      for each packet
 *     tepal_header_match_many(&layout, header, table, 40, answers);
 *
 * Parameters are those of a filter of kind bloom, retouched or yesno. In a yes-no header, a link
 * matches if all its bits of the yes-filter are set and no no-filter has all its bits set.
 *
 * Once the layout is made nothing here allocates or fails, except the two calls that convert from
 * and to filters; all of it may run concurrently on different outputs. A layout is a value without
 * pointers, for one machine: it records what the processor can do.
 */
#ifndef TEPAL_HEADER_H
#define TEPAL_HEADER_H

#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TEPAL_MAX_HEADER_BITS  2048
#define TEPAL_MAX_HEADER_WORDS (TEPAL_MAX_HEADER_BITS / 64)
#define TEPAL_HEADER_LANES     8   /* links that are tested at once */
#define TEPAL_HEADER_REGIONS   65  /* the yes-filter and up to 64 no-filters */
#define TEPAL_HEADER_STEPS     128 /* columns of 32 bits, twice where two regions share one */

/*
 * How a header is tested: region by region (the yes-filter, then each no-filter), and each by the
 * columns of 32 bits that it touches. Set by tepal_header_layout_init only.
 */
struct tepal_header_layout {
    uint32_t bits;
    uint32_t words;   /* bits / 64, rounded up */
    uint32_t columns; /* bits / 32, rounded up */
    uint32_t regions;
    bool plain;     /* the yes-filter fills columns, each no-filter one: step s is column s */
    uint8_t kernel; /* which loop tepal_header_match_many takes; 0: plain C */
    uint8_t first[TEPAL_HEADER_REGIONS + 1];
    uint8_t column[TEPAL_HEADER_STEPS];
    uint32_t outside[TEPAL_HEADER_STEPS]; /* the bits of the column that are another region's */
    struct tepal_params params;
};

/*
 * TEPAL_OK, or TEPAL_BAD_PARAMETER (more than TEPAL_MAX_HEADER_BITS), TEPAL_UNSUPPORTED (another
 * kind), or as tepal_params_check.
 */
TEPAL_API enum tepal_status tepal_header_layout_init(const struct tepal_params *params,
                                                     struct tepal_header_layout *layout,
                                                     struct tepal_error *error);

/* The mask of a link: layout->words words. Digests are those of a hasher of params.seed (and key).
 */
TEPAL_API void tepal_header_mask(const struct tepal_header_layout *layout,
                                 struct tepal_digest digest, uint64_t *mask);

/* Does the header match the link of this mask? The reference for what follows. */
TEPAL_API bool tepal_header_match(const struct tepal_header_layout *layout, const uint64_t *header,
                                  const uint64_t *mask);

/*
 * Masks of many links, transposed: for eight links at a time, the first 32 bits of each, the next
 * 32 bits of each, and so on. One register then tests eight links. The caller provides the table:
 * tepal_header_table_words words of 32 bits, initially 0, best aligned to 64 bytes.
 */
TEPAL_API size_t tepal_header_table_words(const struct tepal_header_layout *layout, size_t links);
TEPAL_API void tepal_header_table_put(const struct tepal_header_layout *layout, size_t link,
                                      const uint64_t *mask, uint32_t *table);

/*
 * Which of the first `links` links of the table match? Bit i of `answers` (word i / 64, bit i % 64)
 * is for link i, the rest of the last word is cleared; (links + 63) / 64 words. Returns how many
 * match. Costs one 32-byte load per link of 256 bits with AVX2; plain C elsewhere, same answers.
 */
TEPAL_API size_t tepal_header_match_many(const struct tepal_header_layout *layout,
                                         const uint64_t *header, const uint32_t *table,
                                         size_t links, uint64_t *answers);

/*
 * Between words and the bytes of a packet, (bits + 7) / 8 of them: bit i of the header is bit i % 8
 * of byte i / 8. Bits of the last byte beyond the header are written as 0 and not read.
 */
TEPAL_API void tepal_header_pack(const struct tepal_header_layout *layout, const uint64_t *header,
                                 uint8_t *bytes);
TEPAL_API void tepal_header_unpack(const struct tepal_header_layout *layout, const uint8_t *bytes,
                                   uint64_t *header);

/* The header of a filter. TEPAL_MISMATCH if its parameters are not the layout's. */
TEPAL_API enum tepal_status tepal_header_from_filter(const struct tepal_header_layout *layout,
                                                     const struct tepal_filter *filter,
                                                     uint64_t *header);

/*
 * The filter of a header, to be freed by tepal_filter_free. It answers as the one that the header
 * was made from, and has the same cells; a header does not store the number of keys: keys_added is
 * 0. TEPAL_NO_MEMORY.
 */
TEPAL_API enum tepal_status tepal_header_to_filter(const struct tepal_header_layout *layout,
                                                   const uint64_t *header,
                                                   const struct tepal_allocator *allocator,
                                                   struct tepal_filter **out,
                                                   struct tepal_error *error);

#ifdef __cplusplus
}
#endif

#endif

/*
 * internal.h: filters in the headers of packets, from the inside: who does what.
 *
 *   packet.c           layouts, masks, tables of links; from filters to headers and back
 *   match_portable.c   a header against many links, in plain C
 *   match_avx2.c       the same for AVX2 machines: the same answers bit for bit
 */
#ifndef TEPAL_SRC_FILTER_PACKET_INTERNAL_H
#define TEPAL_SRC_FILTER_PACKET_INTERNAL_H

#include <tepal/header.h>

/* As tepal_header_match_many. */
typedef size_t packet_match(const struct tepal_header_layout *layout, const uint64_t *header,
                            const uint32_t *table, size_t links, uint64_t *answers);

packet_match tepal_packet_match_portable;

/*
 * All kernels (match_avx2.c): the one above, then, if tepal_processor_has_avx2(), one
 * that takes any layout and others for one each. choose: which of these a layout takes.
 */
extern packet_match *const tepal_packet_kernels[];
uint8_t tepal_packet_choose_avx2(const struct tepal_header_layout *layout);

/* Column c of the header: its bits 32 c .. 32 c + 31. */
static inline uint32_t packet_column(const uint64_t *words, uint32_t c)
{
    return (uint32_t)(words[c / 2] >> (32 * (c % 2)));
}

/* The bits of the last word of answers that stand for links. */
static inline uint64_t packet_last(size_t links)
{
    return links % 64 == 0 ? UINT64_MAX : ((uint64_t)1 << links % 64) - 1;
}

/*
 * What step s compares with: the column, with the bits of other regions set so that nothing can
 * be missing there.
 */
static inline void packet_values(const struct tepal_header_layout *layout, const uint64_t *header,
                                 uint32_t *value)
{
    for (uint32_t s = 0; s < layout->first[layout->regions]; s++) {
        value[s] = packet_column(header, layout->column[s]) | layout->outside[s];
    }
}

#endif

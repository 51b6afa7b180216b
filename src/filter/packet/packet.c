/*
 * packet.c: in-packet filters (L. Carrea, A. Vernitski and M. Reed, Yes-no Bloom filter, 2016,
 * Sec. VII; after LIPSIN).
 *
 *     header  | yes-filter of the path's links      | no-filter | no-filter |    256 bits
 *     mask    | bits of one link                    | its bits  | the same  |
 *             |<-- region 0 ----------------------->|<- reg. 1->|<- reg. 2->|
 *             |  c0  |  c1  |  c2  |  c3  |  c4  |  c5  |  c6  |  c7  |    columns of 32 bits
 *
 * A region *holds* a link if mask AND NOT header is zero in it. The link matches if region 0 holds
 * it and no other region does. A test goes over the columns of each region; where regions do not
 * end on a column's edge, two regions share a column and each looks at its own bits alone.
 *
 * A header here is always a packet's, the words of a filter that travel in it; what a file begins
 * with is a struct format_header (file/format.h). Names inside this folder say packet_.
 *
 * Invariants of a layout: regions cover each bit once, in order; step s looks at column[s] without
 * the bits outside[s]; steps first[r] .. first[r + 1] - 1 are region r.
 */
#include "filter/packet/internal.h"

#include <string.h>

#include "address/address.h"
#include "base/little.h"
#include "base/refuse.h"
#include "base/processor.h"
#include "filter/kind.h"
#include "filter/yesno/internal.h"

/* ---- the layout ------------------------------------------------------------------------------ */

/* Bits from .. to - 1 of a column, both at most 32. */
static uint32_t column_bits(uint32_t from, uint32_t to)
{
    uint64_t below = ((uint64_t)1 << to) - 1;
    return (uint32_t)(below & ~(((uint64_t)1 << from) - 1));
}

/* One more region: bits start .. end - 1. */
static void add_region(struct tepal_header_layout *l, uint32_t start, uint32_t end)
{
    uint8_t step = l->first[l->regions];
    for (uint32_t c = start / 32; c * 32 < end; c++) {
        uint32_t from = start > c * 32 ? start - c * 32 : 0;
        uint32_t to = end < c * 32 + 32 ? end - c * 32 : 32;
        l->column[step] = (uint8_t)c;
        l->outside[step] = ~column_bits(from, to);
        l->plain = l->plain && l->outside[step] == 0 && (l->regions == 0 || end - start == 32);
        step++;
    }
    l->first[++l->regions] = step;
}

enum tepal_status tepal_header_layout_init(const struct tepal_params *params,
                                           struct tepal_header_layout *layout,
                                           struct tepal_error *error)
{
    if (params == NULL || layout == NULL) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "a pointer is NULL");
    }
    enum tepal_status status = tepal_params_check(params, error);
    if (status != TEPAL_OK) {
        return status;
    }
    bool yesno = params->kind == TEPAL_KIND_YESNO;
    if (!yesno && params->kind != TEPAL_KIND_BLOOM && params->kind != TEPAL_KIND_RETOUCHED) {
        return refuse(error, TEPAL_UNSUPPORTED,
                      "a header is a filter of kind bloom, retouched or yesno");
    }
    if (params->cells > TEPAL_MAX_HEADER_BITS) {
        return refuse(error, TEPAL_BAD_PARAMETER, "a header has at most 2048 bits");
    }
    uint32_t bits = (uint32_t)params->cells;
    uint32_t yes = yesno ? (uint32_t)params_yes_bits(params) : bits;
    struct tepal_header_layout made = {.bits = bits,
                                       .words = (bits + 63) / 64,
                                       .columns = (bits + 31) / 32,
                                       .plain = true,
                                       .params = *params};
    add_region(&made, 0, yes);
    for (uint32_t end = yes; end < bits;) {
        uint32_t start = end;
        end += (uint32_t)params->yesno.no_bits;
        add_region(&made, start, end);
    }
    made.kernel = tepal_processor_has_avx2() ? tepal_packet_choose_avx2(&made) : 0;
    *layout = made;
    return TEPAL_OK;
}

/* ---- one link -------------------------------------------------------------------------------- */

void tepal_header_mask(const struct tepal_header_layout *layout, struct tepal_digest digest,
                       uint64_t *mask)
{
    if (layout->params.kind == TEPAL_KIND_YESNO) {
        tepal_yesno_mask(&layout->params, digest, mask);
        return;
    }
    struct address at = tepal_address_of(&layout->params, 1);
    uint64_t position[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(&at, digest, position);
    memset(mask, 0, layout->words * sizeof *mask);
    for (uint32_t i = 0; i < k; i++) {
        mask[position[i] / 64] |= (uint64_t)1 << (position[i] % 64);
    }
}

bool tepal_header_match(const struct tepal_header_layout *layout, const uint64_t *header,
                        const uint64_t *mask)
{
    bool found = false;
    for (uint32_t r = 0; r < layout->regions; r++) {
        uint32_t missing = 0;
        for (uint32_t s = layout->first[r]; s < layout->first[r + 1]; s++) {
            uint32_t c = layout->column[s];
            missing |= packet_column(mask, c) & ~packet_column(header, c) & ~layout->outside[s];
        }
        if (r == 0) {
            found = missing == 0;
        } else if (missing == 0) {
            return false;
        }
    }
    return found;
}

/* ---- many links ------------------------------------------------------------------------------ */

size_t tepal_header_table_words(const struct tepal_header_layout *layout, size_t links)
{
    size_t blocks = links / TEPAL_HEADER_LANES + (links % TEPAL_HEADER_LANES != 0);
    return blocks * TEPAL_HEADER_LANES * layout->columns;
}

void tepal_header_table_put(const struct tepal_header_layout *layout, size_t link,
                            const uint64_t *mask, uint32_t *table)
{
    uint32_t *lane = table + link / TEPAL_HEADER_LANES * TEPAL_HEADER_LANES * layout->columns +
                     link % TEPAL_HEADER_LANES;
    for (uint32_t c = 0; c < layout->columns; c++) {
        lane[c * TEPAL_HEADER_LANES] = packet_column(mask, c);
    }
}

size_t tepal_header_match_many(const struct tepal_header_layout *layout, const uint64_t *header,
                               const uint32_t *table, size_t links, uint64_t *answers)
{
    return tepal_packet_kernels[layout->kernel](layout, header, table, links, answers);
}

/* ---- packets and filters --------------------------------------------------------------------- */

/* The bits of the last word that are the header's. */
static uint64_t last_bits(const struct tepal_header_layout *layout)
{
    return UINT64_MAX >> ((64 - layout->bits % 64) % 64);
}

void tepal_header_pack(const struct tepal_header_layout *layout, const uint64_t *header,
                       uint8_t *bytes)
{
    uint32_t whole = layout->bits / 64;
    little_from_words(bytes, header, whole);
    for (uint32_t i = 64 * whole; i < layout->bits; i += 8) {
        bytes[i / 8] = (uint8_t)((header[whole] & last_bits(layout)) >> (i % 64));
    }
}

void tepal_header_unpack(const struct tepal_header_layout *layout, const uint8_t *bytes,
                         uint64_t *header)
{
    uint32_t whole = layout->bits / 64;
    little_to_words(header, bytes, whole);
    if (whole < layout->words) {
        header[whole] = 0;
        for (uint32_t i = 64 * whole; i < layout->bits; i += 8) {
            header[whole] |= (uint64_t)bytes[i / 8] << (i % 64);
        }
        header[whole] &= last_bits(layout);
    }
}

enum tepal_status tepal_header_from_filter(const struct tepal_header_layout *layout,
                                           const struct tepal_filter *filter, uint64_t *header)
{
    if (!tepal_params_compatible(&layout->params, &filter->params)) {
        return TEPAL_MISMATCH;
    }
    memcpy(header, filter->words, layout->words * sizeof *header);
    return TEPAL_OK;
}

enum tepal_status tepal_header_to_filter(const struct tepal_header_layout *layout,
                                         const uint64_t *header,
                                         const struct tepal_allocator *allocator,
                                         struct tepal_filter **out, struct tepal_error *error)
{
    const struct filter_parts parts = {.params = &layout->params};
    struct tepal_filter *filter = NULL;
    enum tepal_status status = tepal_filter_adopt(&parts, allocator, &filter, error);
    if (status == TEPAL_OK) {
        memcpy(filter->words, header, layout->words * sizeof *header);
        filter->words[layout->words - 1] &= last_bits(layout);
        *out = filter;
    }
    return status;
}

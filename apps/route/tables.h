/*
 * tables.h: what a network needs to forward by headers, as text: the masks of every node's links,
 * and headers. `tepal app route` writes both, and the masks as C, too; `tepal app forward` reads
 * them.
 *
 *     #tepal-tables   bits=256   no_bits=32   no_filters=2   salts=1   seed=7 ...
 *     #node   to      mask
 *     Oslo    Rome    0040...            64 digits: byte 0 first, bit i is bit i % 8 of byte i / 8
 *
 *     #from   part    salt    header  to
 *     Oslo    1       0       4a51... Rome
 *
 * Columns are separated by tabs. A link has a mask for each salt (column mask is repeated), a tree
 * several receivers (column `to` is). Parallel links are lines with the same names.
 */
#ifndef APPS_ROUTE_TABLES_H
#define APPS_ROUTE_TABLES_H

#include "output/out.h"
#include "readers/graph_draft.h"
#include "route/packet.h"
#include "route/split.h"

#define TABLES_HEX (TEPAL_MAX_HEADER_BITS / 4 + 1)

/* The bytes of a header or mask in hexadecimal. Returns `hex`, which has room for TABLES_HEX. */
const char *tables_hex(const struct tepal_header_layout *layout, const uint64_t *words, char *hex);

/* ---- writing --------------------------------------------------------------------------------- */

/* The masks of all links under the parameters (of a yes-no header) and salts 0 .. salts - 1. */
void tables_print(struct out *out, const struct packet_walker *walker, const struct graph *graph,
                  const struct tepal_params *params, uint32_t salts);
void tables_print_c(struct out *out, const struct packet_walker *walker, const struct graph *graph,
                    const struct tepal_params *params, uint32_t salts);

/* The first line of a file of headers, and the lines of one path. */
void tables_print_head(struct out *out);
void tables_print_headers(struct out *out, const struct packet_plan *plan,
                          const struct route_parts *parts,
                          const struct tepal_header_layout *layout);

/* ---- reading --------------------------------------------------------------------------------- */

/* All zeros, and nothing read. */
struct tables {
    struct graph graph; /* once finished: ids and labels are the names, link.edge the mask */
    struct tepal_header_layout layout;
    uint32_t salts;
    uint64_t *mask; /* of each line, of each salt: layout.words words */
    size_t masks;   /* words */
    size_t mask_room;
    struct draft draft;
    struct graph_trouble trouble;
    uint64_t line;
};

/* A line of the file (a lines_reader; ctx: struct tables), and the end of it. NULL, or what is
 * wrong. */
const char *tables_line(void *tables, const char *text, size_t len);
const char *tables_finish(struct tables *tables);
void tables_free(struct tables *tables);

/* Hexadecimal digits as a header or a mask. NULL, or what is wrong. */
const char *tables_words(const struct tepal_header_layout *layout, const char *hex, size_t len,
                         uint64_t *words);

/* The mask of a link for headers of that salt. */
const uint64_t *tables_mask(const struct tables *tables, uint32_t link, uint32_t salt);

#endif

/* tables_print.c: masks and headers, written. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "route/tables.h"

const char *tables_hex(const struct tepal_header_layout *layout, const uint64_t *words, char *hex)
{
    static const char digit[] = "0123456789abcdef";
    uint8_t bytes[TEPAL_MAX_HEADER_BITS / 8];
    size_t count = (layout->bits + 7) / 8;
    tepal_header_pack(layout, words, bytes);
    for (size_t i = 0; i < count; i++) {
        hex[2 * i] = digit[bytes[i] >> 4];
        hex[2 * i + 1] = digit[bytes[i] & 15];
    }
    hex[2 * count] = '\0';
    return hex;
}

/* The layout under one salt; params have been checked. */
static struct tepal_header_layout salted(const struct tepal_params *params, uint32_t salt)
{
    struct tepal_params p = *params;
    struct tepal_header_layout layout = {.bits = 0};
    p.yesno.salt = salt;
    (void)tepal_header_layout_init(&p, &layout, NULL);
    return layout;
}

/* ---- text ------------------------------------------------------------------------------------ */

void tables_print(struct out *out, const struct packet_walker *walker, const struct graph *g,
                  const struct tepal_params *p, uint32_t salts)
{
    char room[GRAPH_NAME_ROOM];
    char hex[TABLES_HEX];
    uint64_t mask[TEPAL_MAX_HEADER_WORDS];
    out_format(out,
               "#tepal-tables\tbits=%" PRIu64 "\tno_bits=%" PRIu64 "\tno_filters=%" PRIu64
               "\tsalts=%" PRIu32 "\tseed=%" PRIu64 "\thashes=%" PRIu32 "\tno_hashes=%" PRIu64
               "\town_seeds=%" PRIu64 "\tpositions=%s\n#node\tto",
               p->cells, p->yesno.no_bits, p->yesno.no_filters, salts, p->seed, p->hashes,
               p->yesno.no_hashes, p->yesno.own_seeds, tepal_positions_name(p->positions));
    for (uint32_t salt = 0; salt < salts; salt++) {
        out_text(out, "\tmask");
    }
    out_text(out, "\n");
    for (uint32_t l = 0; l < g->links; l++) {
        out_text(out, graph_name(g, g->link[l].from, room));
        out_text(out, "\t");
        out_text(out, graph_name(g, g->link[l].to, room));
        for (uint32_t salt = 0; salt < salts; salt++) {
            struct tepal_header_layout layout = salted(p, salt);
            packet_mask(walker, &layout, l, mask);
            out_text(out, "\t");
            out_text(out, tables_hex(&layout, mask, hex));
        }
        out_text(out, "\n");
    }
}

void tables_print_head(struct out *out)
{
    out_text(out, "#from\tpart\tsalt\theader\tto\n");
}

void tables_print_headers(struct out *out, const struct packet_plan *plan,
                          const struct route_parts *parts, const struct tepal_header_layout *layout)
{
    const struct graph *g = plan->graph;
    char room[GRAPH_NAME_ROOM];
    char hex[TABLES_HEX];
    for (size_t i = 0; i < parts->count; i++) {
        const struct route_part *part = &parts->part[i];
        const uint32_t *links = plan->member + part->first;
        out_text(out, graph_name(g, g->link[links[0]].from, room));
        out_format(out, "\t%zu\t%" PRIu32 "\t%s", i + 1, part->salt,
                   tables_hex(layout, part->header, hex));
        for (size_t t = 0; t < (parts->count > 1 ? 1 : plan->to_count); t++) {
            uint32_t to = parts->count > 1 ? g->link[links[part->count - 1]].to : plan->to[t];
            out_text(out, "\t");
            out_text(out, graph_name(g, to, room));
        }
        out_text(out, "\n");
    }
}

/* ---- C --------------------------------------------------------------------------------------- */

static void print_words(struct out *out, const uint64_t *word, uint32_t count)
{
    out_text(out, "{");
    for (uint32_t i = 0; i < count; i++) {
        out_format(out, "%s0x%016" PRIx64, i == 0 ? "" : ", ", word[i]);
    }
    out_text(out, "}");
}

/* A name in a string literal; also safe in a comment, which no name can end. */
static void print_name(struct out *out, const struct graph *g, uint32_t node)
{
    char room[GRAPH_NAME_ROOM];
    for (const char *at = graph_name(g, node, room); *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '"' || c == '\\' || c == '?' || c >= 0x7f) {
            out_format(out, "\\%03o", c);
        } else {
            out_bytes(out, at, 1);
        }
    }
}

/* The bits of each region: the yes-filter, then the no-filters. */
static void print_regions(struct out *out, const struct tepal_header_layout *layout)
{
    const struct tepal_params *p = &layout->params;
    uint64_t start = 0;
    uint64_t end = p->cells - p->yesno.no_filters * p->yesno.no_bits;
    out_format(out,
               "/* The bits of the yes-filter, and of each no-filter. */\n"
               "static const uint64_t tepal_region[%" PRIu32 "][TEPAL_WORDS] = {\n",
               layout->regions);
    for (uint32_t r = 0; r < layout->regions; r++) {
        uint64_t word[TEPAL_MAX_HEADER_WORDS] = {0};
        for (uint64_t bit = start; bit < end; bit++) {
            word[bit / 64] |= (uint64_t)1 << bit % 64;
        }
        out_text(out, "    ");
        print_words(out, word, layout->words);
        out_text(out, ",\n");
        start = end;
        end += p->yesno.no_bits;
    }
    out_text(out, "};\n\n");
}

static void print_match(struct out *out, uint32_t regions)
{
    out_format(out,
               "/* Does a header match a link? In the yes-filter, and in no no-filter. */\n"
               "static inline int tepal_matches(const uint64_t *header, const uint64_t *mask)\n"
               "{\n"
               "    for (int r = 0; r < %" PRIu32 "; r++) {\n"
               "        uint64_t missing = 0;\n"
               "        for (int w = 0; w < TEPAL_WORDS; w++) {\n"
               "            missing |= mask[w] & tepal_region[r][w] & ~header[w];\n"
               "        }\n"
               "        if ((missing == 0) == (r > 0)) {\n"
               "            return 0;\n"
               "        }\n"
               "    }\n"
               "    return 1;\n"
               "}\n\n",
               regions);
}

void tables_print_c(struct out *out, const struct packet_walker *walker, const struct graph *g,
                    const struct tepal_params *p, uint32_t salts)
{
    struct tepal_header_layout layout = salted(p, 0);
    uint64_t mask[TEPAL_MAX_HEADER_WORDS];
    out_format(out,
               "/* Written by tepal app route: the masks of every node's links. */\n"
               "#include <stdint.h>\n\n"
               "#define TEPAL_BITS  %" PRIu32 "\n"
               "#define TEPAL_WORDS %" PRIu32 " /* bit i of a header is bit i %% 64 of word i / 64 "
               "*/\n"
               "#define TEPAL_SALTS %" PRIu32 "\n"
               "#define TEPAL_NODES %" PRIu32 "\n\n",
               layout.bits, layout.words, salts, g->nodes);
    print_regions(out, &layout);
    print_match(out, layout.regions);
    out_text(out, "/* A link: the node that it leads to, and its mask under each salt. */\n"
                  "struct tepal_link {\n"
                  "    uint32_t to;\n"
                  "    uint64_t mask[TEPAL_SALTS][TEPAL_WORDS];\n"
                  "};\n\n");
    for (uint32_t v = 0; v < g->nodes; v++) {
        if (g->first[v] == g->first[v + 1]) {
            continue;
        }
        out_format(out, "static const struct tepal_link tepal_links_%" PRIu32 "[] = {\n", v);
        for (uint32_t l = g->first[v]; l < g->first[v + 1]; l++) {
            out_format(out, "    {%" PRIu32 ", {", g->link[l].to);
            for (uint32_t salt = 0; salt < salts; salt++) {
                struct tepal_header_layout own = salted(p, salt);
                packet_mask(walker, &own, l, mask);
                out_text(out, salt == 0 ? "" : ", ");
                print_words(out, mask, own.words);
            }
            out_text(out, "}},\n");
        }
        out_text(out, "};\n");
    }
    out_text(out, "\nstruct tepal_node {\n"
                  "    const char *name;\n"
                  "    uint32_t links;\n"
                  "    const struct tepal_link *link;\n"
                  "};\n\n"
                  "static const struct tepal_node tepal_node[TEPAL_NODES] = {\n");
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t links = g->first[v + 1] - g->first[v];
        out_text(out, "    {\"");
        print_name(out, g, v);
        if (links > 0) {
            out_format(out, "\", %" PRIu32 ", tepal_links_%" PRIu32 "},\n", links, v);
        } else {
            out_text(out, "\", 0, 0},\n");
        }
    }
    out_text(out, "};\n");
}

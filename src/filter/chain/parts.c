/*
 * parts.c: where the parts of a chain are.
 *
 *     payload:   | part 0 | part 1 | ...                  | directory: bits, hashes, room, keys |
 *     memory:    | first array, with its directory | part | part | ...  | directory |
 *
 * A filter is created and loaded as one array, which may be a mapping and has the directory behind
 * its parts. A part that is opened later is an array of its own, and then so is the directory. All
 * parts are whole cache lines, so that each begins with one.
 */
#include <string.h>

#include <tepal/papers.h>

#include "base/alloc.h"
#include "filter/bloom/internal.h"
#include "filter/chain/internal.h"
#include "base/processor.h"

#define DIRECTORY_BYTES (sizeof(uint64_t) * CHAIN_ENTRY * TEPAL_MAX_PARTS)

/* ---- the directory --------------------------------------------------------------------------- */

/* Is this the entry of a part that `left` bits have room for? Its address, then. */
static bool understand(const struct tepal_params *params, const uint64_t *entry, uint64_t left,
                       struct address *at)
{
    struct tepal_params part = *params;
    part.cells = entry[CHAIN_BITS];
    part.hashes = (uint32_t)entry[CHAIN_HASHES];
    if (part.cells > left || part.cells % TEPAL_LINE_BITS != 0 ||
        entry[CHAIN_HASHES] > TEPAL_MAX_HASHES || entry[CHAIN_ROOM] == 0 ||
        entry[CHAIN_ROOM] > PARAMS_CHAIN_MAX_KEYS ||
        tepal_params_check_size(&part, part.cells, 1).status != TEPAL_OK) {
        return false;
    }
    *at = tepal_address_of(&part, 1);
    return true;
}

static enum chain_one_way way_of(const struct tepal_params *p)
{
    switch (p->layout) {
    case TEPAL_LAYOUT_FLAT:
        return p->positions == TEPAL_POSITIONS_COLLIDING ? CHAIN_ONE_FLAT : CHAIN_ONE_ANY;
    case TEPAL_LAYOUT_BLOCKED:
        return CHAIN_ONE_BLOCKED;
    case TEPAL_LAYOUT_PAIRED:
        return CHAIN_ONE_PAIRED;
    case TEPAL_LAYOUT_PARTITIONED:
        break;
    }
    return CHAIN_ONE_ANY;
}

/*
 * The parts, from the directory; those from a wrong entry on do not exist, so that a filter which
 * has not been validated cannot lead outside its words.
 */
void tepal_chain_open(struct tepal_filter *filter)
{
    struct tepal_chain *chain = chain_of(filter);
    const struct tepal_params *p = &filter->params;
    uint64_t left = p->cells;
    uint64_t *words = filter->words;
    chain->kernels = tepal_bloom_dispatch(p->layout);
    chain->one =
        &(tepal_processor_has_avx2() ? tepal_chain_one_avx2 : tepal_chain_one_portable)[way_of(p)];
    chain->first_words = filter->word_count;
    chain->directory = words + p->cells / 64;
    chain->own_directory = false;
    chain->parts = 0;
    while (chain->parts < params_chain_parts(p)) {
        struct chain_part *part = &chain->part[chain->parts];
        if (!understand(p, chain_entry(chain, chain->parts), left, &part->at)) {
            break;
        }
        part->words = words;
        words += part->at.cells / 64;
        left -= part->at.cells;
        chain->parts++;
    }
    chain->together = chain->parts;
}

const char *tepal_chain_validate(const struct tepal_filter *filter)
{
    const struct tepal_chain *chain = chain_of_const(filter);
    const struct tepal_params *p = &filter->params;
    const uint64_t *first = chain_entry(chain, 0);
    uint64_t left = p->cells;
    struct address at;
    for (uint32_t i = 0; i < params_chain_parts(p); i++) {
        if (!understand(p, chain_entry(chain, i), left, &at)) {
            return "an entry of the directory of parts is wrong";
        }
        left -= at.cells;
    }
    if (left != 0 || p->chain.parts == 0 || first[CHAIN_BITS] != p->chain.first_bits ||
        first[CHAIN_HASHES] != p->hashes || first[CHAIN_ROOM] != p->chain.first_keys) {
        return "the directory of parts differs from the parameters";
    }
    return NULL;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static void resize(struct tepal_chain *chain, uint64_t cells, uint32_t parts)
{
    struct tepal_params *p = &chain->head.params;
    chain->parts = parts;
    p->cells = cells;
    p->chain.parts = parts;
    chain->head.word_count = (size_t)(tepal_params_cell_bytes(p) / 8);
}

/* The directory leaves the first array, with room for every part that may come. */
static bool own_directory(struct tepal_chain *chain)
{
    if (!chain->own_directory) {
        uint64_t *apart = tepal_alloc_zeroed(&chain->head.allocator, DIRECTORY_BYTES);
        if (apart == NULL) {
            return false;
        }
        memcpy(apart, chain->directory, sizeof(uint64_t) * CHAIN_ENTRY * chain->parts);
        chain->directory = apart;
        chain->own_directory = true;
    }
    return true;
}

enum tepal_status tepal_chain_append(struct tepal_chain *chain, const uint64_t *like)
{
    const struct tepal_params *p = &chain->head.params;
    struct chain_part part = {.words = NULL};
    uint64_t entry[CHAIN_ENTRY] = {0};
    if (like != NULL) {
        memcpy(entry, like, sizeof entry);
    } else {
        struct tepal_chain_part next;
        if (tepal_chain_part(p, chain->parts, &next) != TEPAL_OK) {
            return TEPAL_FULL;
        }
        entry[CHAIN_BITS] = next.bits;
        entry[CHAIN_HASHES] = next.hashes;
        entry[CHAIN_ROOM] = next.keys;
    }
    entry[CHAIN_KEYS] = 0;
    if (chain->parts >= TEPAL_MAX_PARTS ||
        !understand(p, entry, PARAMS_MAX_CELLS - p->cells, &part.at)) {
        return TEPAL_FULL;
    }
    if (!checked_size(part.at.cells / 8)) {
        return TEPAL_NO_MEMORY;
    }
    part.words = tepal_alloc_zeroed(&chain->head.allocator, (size_t)(part.at.cells / 8));
    if (part.words == NULL || !own_directory(chain)) {
        tepal_alloc_release(&chain->head.allocator, part.words, (size_t)(part.at.cells / 8));
        return TEPAL_NO_MEMORY;
    }
    chain->part[chain->parts] = part;
    memcpy(chain_entry(chain, chain->parts), entry, sizeof entry);
    resize(chain, p->cells + part.at.cells, chain->parts + 1);
    return TEPAL_OK;
}

void tepal_chain_drop(struct tepal_chain *chain, uint32_t left)
{
    while (chain->parts > left) {
        struct chain_part *last = &chain->part[chain->parts - 1];
        tepal_alloc_release(&chain->head.allocator, last->words, (size_t)(last->at.cells / 8));
        resize(chain, chain->head.params.cells - last->at.cells, chain->parts - 1);
    }
}

uint64_t *tepal_chain_run(const struct tepal_filter *filter, uint64_t first, uint64_t *count)
{
    const struct tepal_chain *chain = chain_of_const(filter);
    uint64_t cells = filter->params.cells / 64;
    if (!chain->own_directory) {
        *count = filter->word_count - first;
        return filter->words + first;
    }
    if (first >= cells) {
        *count = filter->word_count - first;
        return chain->directory + (first - cells);
    }
    uint32_t i = 0;
    uint64_t before = 0;
    while (first - before >= chain->part[i].at.cells / 64) {
        before += chain->part[i++].at.cells / 64;
    }
    *count = before + chain->part[i].at.cells / 64 - first;
    return chain->part[i].words + (first - before);
}

uint64_t tepal_chain_memory(const struct tepal_filter *filter)
{
    const struct tepal_chain *chain = chain_of_const(filter);
    uint64_t bytes = filter_read_only(filter) ? 0 : (uint64_t)chain->first_words * 8;
    for (uint32_t i = chain->together; i < chain->parts; i++) {
        bytes += chain->part[i].at.cells / 8;
    }
    return bytes + (chain->own_directory ? DIRECTORY_BYTES : 0);
}

/* Give back everything but the first array. */
static void release(struct tepal_chain *chain)
{
    if (chain->own_directory) {
        tepal_chain_drop(chain, chain->together);
        tepal_alloc_release(&chain->head.allocator, chain->directory, DIRECTORY_BYTES);
        chain->own_directory = false;
    }
}

/* The first part alone, empty: the first array has room for it and its entry. */
void tepal_chain_reset(struct tepal_filter *filter)
{
    struct tepal_chain *chain = chain_of(filter);
    struct tepal_params *p = &filter->params;
    size_t words = chain->first_words;
    release(chain);
    memset(filter->words, 0, words * 8);
    p->chain.first_bits = params_chain_first(p);
    resize(chain, p->chain.first_bits, 1);
    uint64_t *entry = filter->words + p->cells / 64;
    entry[CHAIN_BITS] = p->chain.first_bits;
    entry[CHAIN_HASHES] = p->hashes;
    entry[CHAIN_ROOM] = p->chain.first_keys;
    tepal_chain_open(filter);
    chain->first_words = words;
}

void tepal_chain_close(struct tepal_filter *filter)
{
    struct tepal_chain *chain = chain_of(filter);
    release(chain);
    filter->word_count = chain->first_words;
}

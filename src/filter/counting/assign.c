/*
 * assign.c: which of its groups each member is in. With one choice, or with receipts, that is
 * known. Without receipts it is estimated: the assignment with the least deficit, that is, the
 * fewest counts that the members ask for and the counters do not have.
 *
 *     member a   group 0 ...1..1.......1     found in one group: that one
 *     member b   group 0 .1..1......1        found in two: the one that the counters
 *                group 1 ...1......1.1       have room for once a is there
 *
 * If nothing was removed wrongly, the true assignment has no deficit. The search: members that are
 * found in one group; then, round by round, those for which one group without deficit is left; then
 * the others, each where it lacks least; then moves of one member, each of which lowers the
 * deficit, until there is none. Removals that took something from the members make it a guess,
 * which may explain less damage than there is.
 */
#include "filter/counting/internal.h"

#include "base/arena.h"

#define NOWHERE UINT8_MAX

/* Does a counter that is asked for once more lack a count? Stuck ones never do. */
static bool lacks(const struct tepal_counting *counting, const struct counting_wish *wish,
                  uint64_t position)
{
    uint32_t is = counting_value(counting, position);
    return is < counting->most && wish->wanted[position] >= is;
}

static void want(struct counting_wish *wish, const uint64_t *positions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint16_t *wanted = &wish->wanted[positions[i]];
        *wanted = (uint16_t)(*wanted + (*wanted < COUNTING_WISH_MAX));
    }
}

static void want_less(struct counting_wish *wish, const uint64_t *positions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint16_t *wanted = &wish->wanted[positions[i]];
        *wanted = (uint16_t)(*wanted - (*wanted < COUNTING_WISH_MAX));
    }
}

static uint32_t draw(const struct tepal_counting *counting, struct tepal_digest digest,
                     uint32_t group, uint64_t *positions)
{
    return tepal_counting_draw(counting, counting_group(digest, group), positions);
}

static void place(const struct tepal_counting *counting, struct tepal_digest digest, uint32_t group,
                  uint8_t *where, struct counting_wish *wish)
{
    uint64_t positions[TEPAL_MAX_HASHES];
    want(wish, positions, draw(counting, digest, group, positions));
    *where = (uint8_t)group;
}

/* The counts that a member would lack in a group. */
static uint32_t deficit_in(const struct tepal_counting *counting, const struct counting_wish *wish,
                           struct tepal_digest digest, uint32_t group)
{
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t count = draw(counting, digest, group, positions);
    uint32_t deficit = 0;
    for (uint32_t i = 0; i < count; i++) {
        deficit += lacks(counting, wish, positions[i]);
    }
    return deficit;
}

/* The lowest group with the least deficit, the one that it is in if that is one of them. */
struct best {
    uint32_t group;
    uint32_t deficit;
    uint32_t same; /* groups with that deficit */
};

static struct best best_of(const struct tepal_counting *counting, const struct counting_wish *wish,
                           struct tepal_digest digest, uint32_t in)
{
    struct best best = {.deficit = UINT32_MAX};
    for (uint32_t g = 0; g < counting->choices; g++) {
        uint32_t deficit = deficit_in(counting, wish, digest, g);
        if (deficit < best.deficit) {
            best = (struct best){.group = g, .deficit = deficit};
        }
        best.same += deficit == best.deficit;
        best.group = deficit == best.deficit && g == in ? g : best.group;
    }
    return best;
}

/* Those that one group without deficit is left for; whether there was one. */
static bool settle_sure(const struct tepal_counting *counting, const struct tepal_digest *members,
                        size_t count, struct work *work, struct counting_wish *wish)
{
    bool moved = false;
    for (size_t i = 0; i < count && work_key(work, i, count); i++) {
        if (wish->group[i] != NOWHERE) {
            continue;
        }
        struct best best = best_of(counting, wish, members[i], NOWHERE);
        if (best.deficit == 0 && best.same == 1) {
            place(counting, members[i], best.group, &wish->group[i], wish);
            moved = true;
        }
    }
    return moved;
}

static bool improve(const struct tepal_counting *counting, const struct tepal_digest *members,
                    size_t count, struct work *work, struct counting_wish *wish)
{
    bool moved = false;
    for (size_t i = 0; i < count && work_key(work, i, count); i++) {
        uint64_t positions[TEPAL_MAX_HASHES];
        uint32_t own = wish->group[i];
        want_less(wish, positions, draw(counting, members[i], own, positions));
        struct best best = best_of(counting, wish, members[i], own);
        moved = moved || best.group != own;
        place(counting, members[i], best.group, &wish->group[i], wish);
    }
    return moved;
}

/* The next round of a search that ends when it will: each fills half of what is left. */
static bool next_round(struct work *work, double end)
{
    return work_phase(work, (work->until + end) / 2) == TEPAL_OK;
}

/* Till all is done, or it was stopped. */
static void estimate(const struct tepal_counting *counting, const struct tepal_digest *members,
                     size_t count, struct work *work, struct counting_wish *wish)
{
    (void)work_phase(work, 0.1);
    for (size_t i = 0; i < count && work_key(work, i, count); i++) {
        uint64_t groups = tepal_counting_counting(counting, members[i]);
        wish->group[i] = NOWHERE;
        if (groups != 0 && (groups & (groups - 1)) == 0) {
            place(counting, members[i], (uint32_t)__builtin_ctzll(groups), &wish->group[i], wish);
        }
    }
    while (next_round(work, 0.5) && settle_sure(counting, members, count, work, wish)) {
    }
    for (size_t i = 0; i < count && !work->stopped; i++) {
        if (wish->group[i] == NOWHERE) {
            struct best best = best_of(counting, wish, members[i], NOWHERE);
            place(counting, members[i], best.group, &wish->group[i], wish);
        }
    }
    while (next_round(work, 0.9) && improve(counting, members, count, work, wish)) {
    }
}

enum tepal_status tepal_counting_assign(const struct tepal_counting *counting,
                                        const struct tepal_digest *members, const uint8_t *receipts,
                                        size_t count, struct work *work, struct arena *arena,
                                        struct counting_wish *wish)
{
    wish->group = tepal_arena_take(arena, count, 1);
    wish->wanted = tepal_arena_take(arena, counting->head.params.cells, sizeof *wish->wanted);
    if (wish->group == NULL || wish->wanted == NULL) {
        return TEPAL_NO_MEMORY;
    }
    wish->estimated = receipts == NULL && counting->choices > 1;
    if (wish->estimated) {
        estimate(counting, members, count, work, wish);
        return work->stopped ? TEPAL_STOPPED : work_phase(work, 1);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t group = receipts == NULL ? 0 : receipts[i];
        place(counting, members[i], group, &wish->group[i], wish);
    }
    return work_phase(work, 1);
}

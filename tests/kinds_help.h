/*
 * kinds_help.h: a small filter of every kind, on several layouts: what tests of the one handle are
 * generated over. Yes-no filters and cascades are there twice: empty as they are created, and built
 * from known keys, with no-filters and levels that later additions have to go around.
 */
#ifndef TEPAL_TESTS_KINDS_HELP_H
#define TEPAL_TESTS_KINDS_HELP_H

#include "file_help.h"

#define KINDS_MOST   72
#define KINDS_CELLS  (16 * 512)
#define KINDS_SEED   77
#define KINDS_KNOWN  300 /* members that the built ones have, and as many known negatives */
#define KINDS_POISON UINT64_C(0xdeadbeefcafef00d)

struct specimen {
    char name[96];
    struct tepal_params params;
    bool built;
    struct tepal_digest known[2 * KINDS_KNOWN]; /* built: members, then keys to avoid */
};

struct specimens {
    size_t count;
    struct specimen at[KINDS_MOST];
};

static inline struct specimen *specimen_add(struct specimens *all, enum tepal_kind_id kind,
                                            enum tepal_layout layout,
                                            enum tepal_positions positions, const char *what)
{
    assert_true(all->count < KINDS_MOST);
    struct specimen *s = &all->at[all->count++];
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = kind;
    p.layout = layout;
    p.positions = positions;
    p.hashes = 5;
    p.cells = KINDS_CELLS;
    p.seed = KINDS_SEED;
    p.capacity = 500;
    s->params = p;
    s->built = false;
    (void)snprintf(s->name, sizeof s->name, "%s %s %s %s", tepal_kind_by_id((uint32_t)kind)->name,
                   tepal_layout_name(layout), tepal_positions_name(positions), what);
    return s;
}

static inline void specimens_counting(struct specimens *all, enum tepal_layout layout,
                                      enum tepal_positions positions)
{
    struct specimen *s = specimen_add(all, TEPAL_KIND_COUNTING, layout, positions, "1");
    s->params.counting.choices = 1;
    s = specimen_add(all, TEPAL_KIND_COUNTING, layout, positions, "4");
    s->params.counting.choices = 4;
    s->params.counting.rule = (uint64_t)tepal_counting_default_rule(layout, 4);
    s->params.counting.policy = TEPAL_POLICY_REMOVE;
    if (tepal_layout_in_lines(layout)) {
        s = specimen_add(all, TEPAL_KIND_COUNTING, layout, positions, "1 long");
        s->params.counting.choices = 1;
        s->params.counting.lines = TEPAL_LINES_LONG;
    }
}

static inline void specimens_recycling(struct specimens *all)
{
    static const struct {
        const char *what;
        enum tepal_layout layout;
        struct tepal_recycling_params own;
    } each[] = {
        {"sigma", TEPAL_LAYOUT_FLAT, {2, TEPAL_RECYCLING_SIGMA, 700, TEPAL_RECYCLING_RETAIN}},
        {"count", TEPAL_LAYOUT_BLOCKED, {3, TEPAL_RECYCLING_COUNT, 90, TEPAL_RECYCLING_RETAIN}},
        {"time", TEPAL_LAYOUT_PAIRED, {2, TEPAL_RECYCLING_TIME, 10, 0}},
        {"alone", TEPAL_LAYOUT_BLOCKED, {1, TEPAL_RECYCLING_SIGMA, 900, 0}},
        {"misses",
         TEPAL_LAYOUT_PARTITIONED,
         {4, TEPAL_RECYCLING_SIGMA, 500, TEPAL_RECYCLING_ONLY_MISSES}},
        {"average",
         TEPAL_LAYOUT_FLAT,
         {2, TEPAL_RECYCLING_AVERAGE, (uint64_t)1 << 54, TEPAL_RECYCLING_RETAIN}},
        {"average",
         TEPAL_LAYOUT_BLOCKED,
         {3, TEPAL_RECYCLING_AVERAGE, (uint64_t)1 << 56, TEPAL_RECYCLING_RETAIN}},
        {"both",
         TEPAL_LAYOUT_BLOCKED,
         {2, TEPAL_RECYCLING_COUNT, 70, TEPAL_RECYCLING_RETAIN | TEPAL_RECYCLING_KEEP_TRIGGER}},
    };
    for (size_t i = 0; i < COUNT(each); i++) {
        struct specimen *s = specimen_add(all, TEPAL_KIND_RECYCLING, each[i].layout,
                                          TEPAL_POSITIONS_COLLIDING, each[i].what);
        s->params.recycling = each[i].own;
    }
}

static inline void specimens_known(struct specimens *all, enum tepal_layout layout)
{
    for (int built = 0; built < 2; built++) {
        const char *what = built ? "built" : "empty";
        struct specimen *s =
            specimen_add(all, TEPAL_KIND_YESNO, layout, TEPAL_POSITIONS_COLLIDING, what);
        s->params.cells = 8 * 512;
        s->params.yesno = (struct tepal_yesno_params){512, 4, 4, 1, 0};
        s->built = built;
        s = specimen_add(all, TEPAL_KIND_CASCADE, layout, TEPAL_POSITIONS_COLLIDING, what);
        s->built = built;
    }
}

static inline void specimens_init(struct specimens *all)
{
    static const uint64_t prints[] = {5, 8, 12, 20, 32};
    all->count = 0;
    for (int i = 0; i < 8; i++) {
        enum tepal_layout layout = (enum tepal_layout)(i / 2);
        enum tepal_positions positions = (enum tepal_positions)(i % 2);
        (void)specimen_add(all, TEPAL_KIND_BLOOM, layout, positions, "");
        specimens_counting(all, layout, positions);
        if (positions == TEPAL_POSITIONS_COLLIDING) {
            (void)specimen_add(all, TEPAL_KIND_RETOUCHED, layout, positions, "");
        }
        if (layout == TEPAL_LAYOUT_FLAT || layout == TEPAL_LAYOUT_BLOCKED) {
            struct specimen *s = specimen_add(all, TEPAL_KIND_GENERALIZED, layout, positions, "");
            s->params.generalized =
                (struct tepal_generalized_params){2, (uint64_t)i % 2, TEPAL_GENERALIZED_UNIT / 4};
        }
    }
    for (int i = 0; i < 2; i++) { /* counters of 8 bits, and removals that may be refused */
        struct specimen *s = specimen_add(all, TEPAL_KIND_COUNTING, (enum tepal_layout)(2 * i),
                                          TEPAL_POSITIONS_COLLIDING, i == 0 ? "1 wide" : "3 keep");
        s->params.counting.choices = i == 0 ? 1 : 3;
        s->params.counting.form = i == 0 ? TEPAL_FORM_WIDE_COUNTERS : TEPAL_FORM_COUNTERS;
        s->params.counting.rule = i == 0 ? 0 : TEPAL_RULE_LEAST_INCREASE;
        s->params.counting.policy = TEPAL_POLICY_KEEP;
    }
    for (size_t i = 0; i < COUNT(prints); i++) {
        struct specimen *s = specimen_add(all, TEPAL_KIND_FINGERPRINT, TEPAL_LAYOUT_FLAT,
                                          TEPAL_POSITIONS_COLLIDING, "");
        s->params.hashes = 2;
        s->params.fingerprint.bits = prints[i];
        s->params.cells = 8 * prints[i] * (300 + i); /* not powers of two */
    }
    for (size_t i = 0; i < 2; i++) { /* they grow within the tests */
        struct specimen *s =
            specimen_add(all, TEPAL_KIND_GROWING, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, "");
        s->params.hashes = 2;
        s->params.growing = (struct tepal_growing_params){6 + 5 * i, 8 + i, 0, 0};
        s->params.cells = 4 * (15 + 6 * i) * (256 + i);
    }
    for (int i = 0; i < 5; i++) { /* so do these; the last one does not, and has room */
        struct specimen *s = specimen_add(all, TEPAL_KIND_CHAIN, (enum tepal_layout)(i % 4),
                                          (enum tepal_positions)(i == 3), i == 4 ? "fixed" : "");
        s->params.chain =
            (struct tepal_chain_params){.first_keys = i == 4 ? 100000 : 90,
                                        .rate = (uint64_t)1 << 57,
                                        .growth = (uint64_t)(i == 4 ? 0 : 300 + 100 * i),
                                        .series = i == 1 ? TEPAL_CHAIN_HALVING : TEPAL_CHAIN_EVEN,
                                        .planned = i == 1 ? 0 : 3};
        s->params.cells = i == 4 ? KINDS_CELLS : 2 * 512;
    }
    specimens_known(all, TEPAL_LAYOUT_FLAT);
    specimens_known(all, TEPAL_LAYOUT_BLOCKED);
    specimens_recycling(all);
    for (size_t i = 0; i < all->count; i++) {
        uint64_t state = 1000 + i;
        check_digests(&state, all->at[i].known, 2 * KINDS_KNOWN);
    }
}

/* The filter: empty, or of its known keys; with its secret key, if the hash takes one. */
static inline struct tepal_filter *specimen_with(const struct specimen *s, enum tepal_hash hash,
                                                 const struct tepal_allocator *allocator)
{
    struct tepal_params p = s->params;
    struct tepal_filter *f = NULL;
    struct tepal_known known = {.members = s->known, .member_count = KINDS_KNOWN};
    known.avoid = s->known + KINDS_KNOWN;
    known.avoid_count = KINDS_KNOWN;
    p.hash = hash;
    if (!s->built) {
        assert_ok(tepal_filter_create(&p, allocator, &f, NULL));
    } else if (p.kind == TEPAL_KIND_YESNO) {
        struct tepal_yesno_options options = TEPAL_YESNO_OPTIONS_INIT;
        assert_ok(tepal_yesno_build(&p, &known, &options, allocator, &f, NULL, NULL));
    } else {
        struct tepal_cascade_options options = {.bits = KINDS_CELLS};
        assert_ok(tepal_cascade_build(&p, &known, &options, allocator, &f, NULL, NULL));
    }
    if (tepal_hash_is_keyed(hash)) {
        assert_ok(tepal_filter_set_key(f, recipe_key));
    }
    return f;
}

static inline struct tepal_filter *specimen_make(const struct specimen *s, enum tepal_hash hash)
{
    return specimen_with(s, hash, NULL);
}

static inline struct tepal_filter *specimen_clone(const struct tepal_filter *f)
{
    struct tepal_filter *copy = NULL;
    assert_ok(tepal_filter_clone(f, NULL, &copy, NULL));
    return copy;
}

/* The same cells, and everything else that a file tells: counts and states. */
static inline bool specimen_same(const struct tepal_filter *a, const struct tepal_filter *b)
{
    size_t len_a;
    size_t len_b;
    uint8_t *bytes_a = encoded(a, &len_a);
    uint8_t *bytes_b = encoded(b, &len_b);
    bool same = tepal_filter_equal(a, b) && len_a == len_b && memcmp(bytes_a, bytes_b, len_a) == 0;
    free(bytes_a);
    free(bytes_b);
    return same;
}

/* Which filter it was, when an assertion about it fails. */
#define specimen_assert(s, condition)                                                              \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_msg("%s: " #condition, (s)->name);                                                \
        }                                                                                          \
    } while (0)

#endif

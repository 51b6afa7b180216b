/* peers.c: the all-one attack on look-ups among peers. */
#include "paper001/uses.h"

/*
 * Attenuated filters (Rhea and Kubiatowicz): everybody tells what is with him, within one hop and
 * within two. A look-up goes to the neighbour that has the document nearest.
 */
#define NODES     256
#define DEGREE    4
#define LEVELS    3
#define DOCUMENTS 16
#define HOPS      8
#define LIARS     16

struct peers {
    struct lab *lab;
    const struct use_kind *kind;
    uint32_t neighbour[NODES][DEGREE];
    struct tepal_digest document[NODES][DOCUMENTS];
    struct tepal_filter *filter[NODES][LEVELS];
    bool liar[NODES];
    struct lab_share believed; /* of the filters of liars that are asked: "yes" */
    struct lab_share captured; /* of look-ups: sent to a liar */
    struct lab_share found;
};

/* Two rings in random orders: everybody has two neighbours on each. */
static void link_up(struct peers *p)
{
    uint32_t order[NODES];
    for (uint32_t i = 0; i < NODES; i++) {
        order[i] = i;
    }
    for (uint32_t ring = 0; ring < DEGREE; ring += 2) {
        for (uint32_t i = NODES - 1; i > 0; i--) {
            uint32_t j = (uint32_t)(lab_draw(p->lab) % (i + 1));
            uint32_t kept = order[i];
            order[i] = order[j];
            order[j] = kept;
        }
        for (uint32_t i = 0; i < NODES; i++) {
            p->neighbour[order[i]][ring] = order[(i + 1) % NODES];
            p->neighbour[order[i]][ring + 1] = order[(i + NODES - 1) % NODES];
        }
    }
}

/* The documents within so many hops; what is furthest away is added first: it is forgotten first.
 */
static void add_documents(const struct peers *p, struct tepal_filter *g, uint32_t node, int hops)
{
    for (uint32_t i = 0; hops > 0 && i < DEGREE; i++) {
        add_documents(p, g, p->neighbour[node][i], hops - 1);
    }
    (void)tepal_filter_add_many(g, p->document[node], DOCUMENTS);
}

static int tell(struct peers *p, uint32_t node, uint64_t seed, enum use_attack attack)
{
    static const double nodes[LEVELS] = {1, 1 + DEGREE, 1 + DEGREE + DEGREE * (DEGREE - 1)};
    enum use_attack sent = p->liar[node] ? attack : NO_ATTACK;
    int code = EXIT_YES;
    for (int level = 0; level < LEVELS && code == EXIT_YES; level++) {
        uint64_t bits = (uint64_t)(p->kind->bits * nodes[level] * DOCUMENTS);
        code = use_filter(p->lab, p->kind, bits, seed, sent, &p->filter[node][level]);
        if (code == EXIT_YES && sent == NO_ATTACK) {
            add_documents(p, p->filter[node][level], node, level);
        }
    }
    return code;
}

struct search {
    uint64_t asked;
    uint64_t believed;
    uint64_t captured;
    uint64_t found;
    uint64_t searches;
};

/*
 * The lowest level at which the node says yes; LEVELS: none. Only the first questions of a look-up
 * are counted: whoever says yes is not asked again, but who says no may be.
 */
static int nearest(const struct peers *p, uint32_t node, struct tepal_digest wanted, bool first,
                   struct search *sum)
{
    int level = LEVELS;
    for (int i = LEVELS - 1; i >= 0; i--) {
        bool says = tepal_filter_query(p->filter[node][i], wanted);
        sum->asked += first && p->liar[node];
        sum->believed += first && p->liar[node] && says;
        level = says ? i : level;
    }
    return level;
}

/* From a node to the document of an honest one three steps away, by filters alone. */
static void look_up(struct peers *p, struct search *sum)
{
    uint32_t at = (uint32_t)(lab_draw(p->lab) % NODES);
    uint32_t target = at;
    bool visited[NODES] = {false};
    for (int i = 0; i < 3; i++) {
        target = p->neighbour[target][lab_draw(p->lab) % DEGREE];
    }
    struct tepal_digest wanted = p->document[target][lab_draw(p->lab) % DOCUMENTS];
    if (p->liar[at] || p->liar[target]) {
        return;
    }
    sum->searches++;
    for (int hop = 0; hop < HOPS && at != target; hop++) {
        uint32_t next = NODES;
        uint32_t equal = 0;
        int best = LEVELS - 1;
        visited[at] = true;
        for (uint32_t i = 0; i < DEGREE; i++) {
            uint32_t v = p->neighbour[at][i];
            int level = nearest(p, v, wanted, hop == 0, sum);
            if (visited[v] || level > best) {
                continue;
            }
            equal = level < best ? 1 : equal + 1;
            best = level;
            next = lab_draw(p->lab) % equal == 0 ? v : next;
        }
        if (next == NODES || p->liar[next]) {
            sum->captured += next != NODES;
            return;
        }
        at = next;
    }
    sum->found += at == target;
}

static int gossip(struct peers *p, enum use_attack attack)
{
    int code = EXIT_YES;
    p->believed = p->captured = p->found = (struct lab_share){0};
    for (size_t round = 0; round < lab_trials(p->lab, 10, 60) && code == EXIT_YES; round++) {
        struct search sum = {0};
        uint64_t seed = lab_draw(p->lab);
        link_up(p);
        for (uint32_t v = 0; v < NODES; v++) {
            p->liar[v] = v < LIARS && attack != NO_ATTACK;
            for (int d = 0; d < DOCUMENTS; d++) {
                p->document[v][d] = lab_digest(p->lab);
            }
        }
        for (uint32_t v = 0; v < NODES && code == EXIT_YES; v++) {
            code = tell(p, v, seed, attack);
        }
        for (uint64_t i = 0; i < 2000 && code == EXIT_YES; i++) {
            look_up(p, &sum);
        }
        lab_share_add(&p->captured, sum.captured, sum.searches);
        lab_share_add(&p->found, sum.found, sum.searches);
        if (sum.asked > 0) {
            lab_share_add(&p->believed, sum.believed, sum.asked);
        }
        for (uint32_t v = 0; v < NODES; v++) {
            for (int level = 0; level < LEVELS; level++) {
                tepal_filter_free(p->filter[v][level]);
                p->filter[v][level] = NULL;
            }
        }
    }
    return code;
}

int lab_001_peers(struct lab *lab)
{
    struct lab_curves curves = {0};
    static struct peers p;
    int code = EXIT_YES;
    p = (struct peers){.lab = lab};
    for (size_t i = 0; i < USE_KINDS && code == EXIT_YES; i++) {
        for (int a = 0; a < USE_ATTACKS && code == EXIT_YES; a++) {
            p.kind = &use_kinds[i];
            code = gossip(&p, (enum use_attack)a);
            if (a != NO_ATTACK) {
                use_attracted_row(lab, &use_kinds[i], (enum use_attack)a, &p.believed,
                                  "filters of liars that say yes");
            }
            use_plain_row(lab, &use_kinds[i], (enum use_attack)a, &p.captured,
                          "lookups sent to a liar");
            use_plain_row(lab, &use_kinds[i], (enum use_attack)a, &p.found, "lookups that succeed");
            use_point(&curves, &use_kinds[i], (enum use_attack)a, &p.found);
        }
    }
    return code == EXIT_YES ? use_draw(lab, &curves, "Lookups that succeed, one peer in 16 lies",
                                       "% of the lookups")
                            : code;
}

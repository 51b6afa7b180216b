/*
 * traceback.c: the all-one attack on tracing packets back, and the authors' wildcards against it
 * (Sec. 6.1, 6.2).
 */
#include <string.h>

#include "paper001/uses.h"

#define PATH 15 /* routers; each has four neighbours */

struct trace {
    uint64_t found;    /* routers of the path that the walk reaches */
    uint64_t full;     /* the whole path */
    uint64_t branches; /* routers beside the path, next to one that was reached, with "yes" */
    uint64_t beside;   /* all routers beside it */
};

/* As the victim walks back: what was added last is asked for first. */
static int trace_packet(struct lab *lab, const struct use_kind *kind, enum use_attack attack,
                        struct trace *sum)
{
    struct tepal_digest router[PATH];
    struct tepal_filter *g;
    bool walking = true;
    int code = use_filter(lab, kind, (uint64_t)kind->bits, lab_draw(lab), attack, &g);
    for (int i = 0; i < PATH && code == EXIT_YES; i++) {
        router[i] = lab_digest(lab);
        (void)tepal_filter_add(g, router[i]);
    }
    for (int i = PATH - 1; i >= 0 && code == EXIT_YES; i--) {
        int beside = 4 - (i > 0) - (i < PATH - 1);
        walking = walking && tepal_filter_query(g, router[i]);
        sum->found += walking;
        for (int j = 0; j < beside; j++) {
            struct tepal_digest other = lab_digest(lab);
            sum->beside++;
            sum->branches += walking && tepal_filter_query(g, other);
        }
    }
    sum->full += walking;
    if (code == EXIT_YES) {
        tepal_filter_free(g);
    }
    return code;
}

int lab_001_traceback(struct lab *lab)
{
    static const struct use_kind in_packets[] = {{"Bloom, 256 bits", 256, 0, 6, 0},
                                                 {"(2, 2), 256 bits", 256, 2, 2, 0},
                                                 {"(5, 5) b 2, 512 bits", 512, 5, 5, 2}};
    struct lab_curves curves = {0};
    for (size_t k = 0; k < COUNT(in_packets); k++) {
        for (int a = 0; a < USE_ATTACKS; a++) {
            struct lab_share full = {0};
            struct lab_share branches = {0};
            for (int batch = 0; batch < 20; batch++) {
                struct trace sum = {0};
                uint64_t packets = lab_trials(lab, 500, 10000);
                for (uint64_t i = 0; i < packets; i++) {
                    int code = trace_packet(lab, &in_packets[k], (enum use_attack)a, &sum);
                    if (code != EXIT_YES) {
                        return code;
                    }
                }
                lab_share_add(&full, sum.full, packets);
                lab_share_add(&branches, sum.branches, sum.beside);
            }
            if (k == 0 && a == ALL_ONES) { /* "every router is recognized as a member" */
                use_attracted_row(lab, &in_packets[k], ALL_ONES, &branches,
                                  "false routers next to the path");
            }
            if (k == 1) { /* whatever its bits, (2, 2) finds F_p of the others at most */
                lab_row_holds(lab, branches.mean.mean <= tepal_generalized_fp_bound(2, 2, 0),
                              "%s, %s: no more than F_p of the routers next to the path",
                              in_packets[k].name, use_attacks[a]);
            }
            use_plain_row(lab, &in_packets[k], (enum use_attack)a, &full, "whole paths");
            lab_row_share(lab, LAB_ROW, &branches, 2 * PATH + 2, "%s, %s: false branches of 32",
                          in_packets[k].name, use_attacks[a]);
            use_point(&curves, &in_packets[k], (enum use_attack)a, &full);
        }
    }
    return use_draw(lab, &curves, "Paths of 15 hops found whole", "% of the packets");
}

/* ---- wildcards ------------------------------------------------------------------------------- */

#define WORDS 8 /* of a mask */

#define FAR 300 /* so many strays are enough: without a bound there are millions */

/* The walk beyond the path: false routers behind a false one, three neighbours each. */
static void wander(struct lab *lab, const struct tepal_filter *g, const uint64_t *mask, int depth,
                   uint64_t *strays)
{
    for (int i = 0; i < 3 && depth < PATH && *strays < FAR; i++) {
        struct tepal_digest other = lab_digest(lab);
        uint64_t wider[WORDS];
        bool found = false;
        (void)tepal_generalized_query_wild(g, other, mask, &found);
        if (found) {
            memcpy(wider, mask, sizeof wider);
            (void)tepal_generalized_touch(g, other, wider);
            (*strays)++;
            wander(lab, g, wider, depth + 1, strays);
        }
    }
}

/* The bound for every number of ignored bits: 0 if it is not known yet. */
struct bounds {
    double of[64 * WORDS + 1];
};

static double bound_of(struct bounds *bounds, const struct use_kind *kind, const uint64_t *mask)
{
    uint64_t wild = 0;
    for (int w = 0; w < WORDS; w++) {
        wild += (uint64_t)__builtin_popcountll(mask[w]);
    }
    if (bounds->of[wild] == 0) {
        bounds->of[wild] =
            tepal_generalized_fp_bound_wild((uint64_t)kind->bits, wild, kind->k0, kind->k1, 0);
    }
    return bounds->of[wild];
}

/*
 * The bits of the routers found so far are ignored. `most`: what the bound allows beside the path.
 */
static int trace_wild(struct lab *lab, const struct use_kind *kind, enum use_attack attack,
                      struct bounds *bounds, struct trace *sum, struct lab_mean *strays,
                      struct lab_mean *most)
{
    struct tepal_digest router[PATH];
    uint64_t mask[WORDS] = {0};
    struct tepal_filter *g;
    uint64_t reached = 0;
    uint64_t far = 0;
    double bound = 0;
    int code = use_filter(lab, kind, (uint64_t)kind->bits, lab_draw(lab), attack, &g);
    if (code != EXIT_YES) {
        return code;
    }
    lab_digests(lab, router, PATH);
    (void)tepal_filter_add_many(g, router, PATH);
    for (int i = PATH - 1; i >= 0; i--) {
        int beside = 4 - (i > 0) - (i < PATH - 1);
        bool found = false;
        (void)tepal_generalized_query_wild(g, router[i], mask, &found);
        if (!found) {
            break;
        }
        reached++;
        (void)tepal_generalized_touch(g, router[i], mask);
        bound += beside * bound_of(bounds, kind, mask);
        sum->beside += (uint64_t)beside;
        for (int j = 0; j < beside; j++) {
            struct tepal_digest other = lab_digest(lab);
            uint64_t wider[WORDS];
            (void)tepal_generalized_query_wild(g, other, mask, &found);
            if (found) {
                memcpy(wider, mask, sizeof wider);
                (void)tepal_generalized_touch(g, other, wider);
                sum->branches++;
                far++;
                wander(lab, g, wider, PATH - i + 1, &far);
            }
        }
    }
    sum->found += reached;
    sum->full += reached == PATH;
    lab_mean_add(strays, (double)far);
    lab_mean_add(most, bound);
    tepal_filter_free(g);
    return EXIT_YES;
}

/* Of the worst bits: by a simulation apart from the library, of 20,000 packets, give or take. */
static const struct {
    struct use_kind kind;
    double branches;
    double branches_leeway;
    double strays;
    double strays_leeway;
} wild_at[] = {{{"(2, 2), 256 bits", 256, 2, 2, 0}, 3.209, 0.040, 4.288, 0.063},
               {{"(5, 5), 256 bits", 256, 5, 5, 0}, 0.498, 0.017, 0.518, 0.018},
               {{"(5, 5), 512 bits", 512, 5, 5, 0}, 0.151, 0.010, 0.153, 0.010},
               {{"(10, 10), 512 bits", 512, 10, 10, 0}, 0.0115, 0.0026, 0.0116, 0.0026}};

/*
 * Sec. 6.1: with wildcards there are fewer false negatives, and more false positives. A router that
 * is on the path is never missed, for only later routers can have overwritten its bits.
 */
int lab_001_wildcards(struct lab *lab)
{
    struct lab_curves curves = {0};
    for (size_t k = 0; k < COUNT(wild_at); k++) {
        const struct use_kind *kind = &wild_at[k].kind;
        struct bounds bounds = {{0}};
        struct lab_share full = {0};
        struct lab_share branches = {0};
        for (int a = 0; a < USE_ATTACKS; a++) {
            struct lab_mean strays = {0};
            struct lab_mean most = {0};
            struct lab_row expected = LAB_ROW;
            full = branches = (struct lab_share){0};
            for (int batch = 0; batch < 20; batch++) {
                struct trace sum = {0};
                uint64_t packets = lab_trials(lab, 250, 5000);
                for (uint64_t i = 0; i < packets; i++) {
                    int code =
                        trace_wild(lab, kind, (enum use_attack)a, &bounds, &sum, &strays, &most);
                    if (code != EXIT_YES) {
                        return code;
                    }
                }
                lab_share_add(&full, sum.full, packets);
                lab_share_add(&branches, sum.branches, sum.beside);
            }
            lab_row_share(lab, lab_expected(100, 0), &full, 100, "%s, %s: whole paths, %%",
                          kind->name, use_attacks[a]);
            if (a == WORST) {
                expected = lab_expected(wild_at[k].branches, wild_at[k].branches_leeway);
            }
            lab_row_share(lab, expected, &branches, 2 * PATH + 2, "%s, %s: false branches of 32",
                          kind->name, use_attacks[a]);
            if (a == WORST) {
                lab_row_mean(lab, LAB_ROW, &most, "%s: the most false branches that any bits allow",
                             kind->name);
                expected = lab_expected(wild_at[k].strays, wild_at[k].strays_leeway);
            }
            lab_row_mean(lab, expected, &strays, "%s, %s: routers that the walk wrongly reaches",
                         kind->name, use_attacks[a]);
            use_point(&curves, kind, (enum use_attack)a, &branches);
        }
        struct lab_share plain_full = {0};
        struct lab_share plain_branches = {0};
        struct trace sum = {0};
        for (uint64_t i = 0; i < lab_trials(lab, 2000, 20000); i++) {
            int code = trace_packet(lab, kind, WORST, &sum);
            if (code != EXIT_YES) {
                return code;
            }
        }
        lab_share_add(&plain_full, sum.full, lab_trials(lab, 2000, 20000));
        lab_share_add(&plain_branches, sum.branches, sum.beside);
        lab_row_holds(lab, full.mean.mean > plain_full.mean.mean,
                      "%s: wildcards reduce false negatives", kind->name);
        lab_row_holds(lab, branches.mean.mean > plain_branches.mean.mean,
                      "%s: at the cost of false positives", kind->name);
    }
    return use_draw(lab, &curves, "Routers beside the path that are found, with wildcards",
                    "% of the routers");
}

/*
 * stopset_aspects.c: Table V, which the paper fills in by judgement, computed by the rules of
 * stopset/aspects.h: at a compression ratio of 2.5, the paper's at 100,000 bits, where its success
 * has converged; k = 1, beta 25 %, the means of some runs.
 */
#include "paper000/stopset.h"
#include "stopset/aspects.h"

static const char *const sets[] = {"list", "Bloom filter", "RBF"};
static const char *const columns[] = {"success", "topology discovered", "compression",
                                      "no collision"};
static const char *const opposite[] = {NULL, "topology missed", "load", "collision"};

/* As printed: an X in the column, and for the last three an X in its opposite. */
static const bool printed[3][ASPECTS] = {
    {true, true, false, true}, {false, false, true, true}, {true, true, true, false}};

#define RATIO 2.5

static struct aspects_of of_means(const struct lab_mean mean[METRICS], double bits)
{
    return (struct aspects_of){mean[SUCCESS].mean, mean[COLLISION].mean, mean[NODES].mean,
                               mean[LINKS].mean, bits};
}

static int table_5(struct lab *lab, struct world *w)
{
    struct lab_mean mean[2][METRICS] = {0};
    double metric[METRICS];
    size_t runs = lab_trials(lab, 6, 30);
    double list = 32 * (double)w->members;
    uint64_t bits = (uint64_t)(list / RATIO);
    int code = EXIT_YES;
    for (size_t r = 0; r < runs && code == EXIT_YES; r++) {
        struct stopset s;
        code = stopset_make(lab, w, bits, 1, &s);
        for (size_t i = 0; i < 2 && code == EXIT_YES; i++) {
            code = stopset_measure(lab, w, &s, TEPAL_RETOUCH_RATIO, i == 0 ? 0 : 0.25, 1, mean[i],
                                   NULL);
        }
        stopset_free(&s);
    }
    if (code != EXIT_YES) {
        return code;
    }
    world_replay_list(w, 1, metric);
    struct aspects_of of[3] = {{metric[SUCCESS], metric[COLLISION], 0, 0, list},
                               of_means(mean[0], (double)bits),
                               of_means(mean[1], (double)bits)};
    bool aspect[3][ASPECTS];
    for (size_t i = 0; i < 3; i++) {
        aspects(&of[i], &of[0], aspect[i]);
        for (size_t j = 0; j < ASPECTS; j++) {
            struct lab_row row = stopset_skitter(printed[i][j]);
            lab_exact(&row, aspect[i][j]);
            lab_row(lab, &row, "%s, %s: %s (1 yes, 0 no)", w->name, sets[i], columns[j]);
            if (opposite[j] != NULL) {
                row = stopset_skitter(!printed[i][j]);
                lab_exact(&row, !aspect[i][j]);
                lab_row(lab, &row, "%s, %s: %s (1 yes, 0 no)", w->name, sets[i], opposite[j]);
            }
        }
    }
    stopset_holds(lab, w, aspect[2][ASPECT_SUCCESS] && !aspect[1][ASPECT_SUCCESS],
                  "the RBF has success, the Bloom filter has not");
    return EXIT_YES;
}

int lab_000_table_5(struct lab *lab)
{
    return lab_000_in_worlds(lab, false, table_5);
}

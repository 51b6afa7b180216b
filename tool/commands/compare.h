/*
 * compare.h: what the two ways to compare share: filters of sets, and of streams without end.
 */
#ifndef TOOL_COMMANDS_COMPARE_H
#define TOOL_COMMANDS_COMPARE_H

#include <tepal/plan.h>

#include "output/progress.h"
#include "cli/command.h"
#include "input/digests.h"
#include "statistics/wilson.h"

struct compare_row {
    const struct tepal_proposal *plan;
    struct wilson known; /* found of them; rate NaN: none was asked */
    struct wilson fp;    /* found of strangers, or of a stream's new lines */
    struct wilson fn;
    double cost;
    double ns; /* a query */
    uint64_t bytes;
    struct tepal_filter *filter; /* until it has been timed */
};

#define COMPARE_ROWS (2 * TEPAL_MAX_PLANS)

struct compare {
    const struct args *args;
    struct tepal_hasher hasher;
    struct digests members;
    struct digests negatives;
    struct tepal_digest *query; /* as they come, repeats included */
    double *query_weight;       /* NULL: 1 each; not ours */
    size_t queries;
    size_t room;
    uint64_t outsiders;         /* no members; of a stream, what comes for the first time */
    uint64_t known;             /* of them, known negatives */
    struct tepal_digest *drawn; /* strangers, if the queries have none */
    size_t draws;
    uint64_t *answers;
    uint64_t limit; /* bits */
    uint64_t seed;
    double cost_fp;
    double cost_fn;
    struct tepal_plans plans[2]; /* of a stream there are two */
    struct compare_row row[COMPARE_ROWS];
    size_t rows;
    struct progress progress;
    uint64_t done; /* of all filters: each is built, and asked in several rounds */
};

/* Keeps a query in its order. False: no memory. */
bool compare_keep(struct compare *c, struct tepal_digest digest);

/* The limit, for so many keys, and the costs, from the options. */
int compare_limit(struct compare *c, uint64_t keys);

/* Of a recycling filter, how many phases it has; 0: it is none. */
uint32_t compare_phases(const struct tepal_proposal *plan);

/*
 * Reads --members as a stream in its order, plans the kinds that go on for ever by the stream's own
 * gaps, lets each answer "seen before?" for every line, and fills the rows.
 */
int compare_stream(struct compare *c);

#endif

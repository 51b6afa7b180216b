/*
 * states.c: the paper's first scenario (Sec. 2.3): pairs of a flow and its state in a counting
 * filter, and in one of fingerprints. How often is a flow found in several states, and what becomes
 * of a table whose flows change, by each rule for what to remove?
 */
#include "paper002/paper002.h"

#include <inttypes.h>
#include <stdlib.h>

#define FLOWS  2000
#define STATES 4
#define LOOKS  3

static const uint32_t looks[LOOKS] = {1, 5, 20}; /* changes per flow after which we look */

/* Table of so many cells per flow, k = floor(m/n ln 2); 0: fingerprints of 12 bits per flow. */
static enum tepal_status make_table(uint32_t ratio, struct tepal_states *table)
{
    table->count = STATES;
    if (ratio > 0) {
        uint32_t k = (uint32_t)(ratio * log(2));
        table->filter = lab_002_filter((uint64_t)ratio * FLOWS, k, 1, 0, TEPAL_POLICY_KEEP);
        return table->filter == NULL ? TEPAL_NO_MEMORY : TEPAL_OK;
    }
    struct tepal_params params = TEPAL_PARAMS_INIT;
    uint32_t bits = 0;
    params.kind = TEPAL_KIND_FINGERPRINT;
    params.hashes = 2;
    params.seed = 1;
    enum tepal_status status = tepal_fingerprint_fit(FLOWS, 12, &params.cells, &bits);
    params.fingerprint.bits = bits;
    return status == TEPAL_OK ? tepal_filter_create(&params, NULL, &table->filter, NULL) : status;
}

/* ---- a table that nobody has changed yet ----------------------------------------------------- */

/* One table: of its flows and of strangers, how many are found in several states, or in any. */
static int fresh_table(struct lab *lab, uint32_t ratio, struct lab_share share[2])
{
    struct tepal_states table = {.filter = NULL};
    struct tepal_digest *flow = calloc(FLOWS, sizeof *flow);
    enum tepal_status status = flow == NULL ? TEPAL_NO_MEMORY : make_table(ratio, &table);
    uint64_t several = 0;
    uint64_t strangers = 0;
    for (size_t i = 0; i < FLOWS && status == TEPAL_OK; i++) {
        flow[i] = lab_digest(lab);
        status = tepal_states_set(&table, flow[i], (uint32_t)(i % STATES));
    }
    for (size_t i = 0; i < FLOWS && status == TEPAL_OK; i++) {
        several += tepal_states_get(&table, flow[i], NULL) == TEPAL_STATE_SEVERAL;
        strangers += tepal_states_get(&table, lab_digest(lab), NULL) != TEPAL_STATE_NONE;
    }
    lab_share_add(&share[0], several, FLOWS);
    lab_share_add(&share[1], strangers, FLOWS);
    tepal_filter_free(table.filter);
    free(flow);
    return lab_status(status);
}

static int fresh_tables(struct lab *lab, uint32_t ratio)
{
    struct lab_share share[2] = {{.hits = 0}, {.hits = 0}};
    uint32_t k = (uint32_t)(ratio * log(2));
    double m = (double)ratio * FLOWS;
    double f = pow(1 - pow(1 - 1 / m, (double)k * FLOWS), k); /* eq. (1) */
    size_t trials = lab_trials(lab, 40, 200);
    int code = EXIT_YES;
    for (size_t i = 0; i < trials && code == EXIT_YES; i++) {
        code = fresh_table(lab, ratio, share);
    }
    if (code == EXIT_YES) {
        double several = 1 - pow(1 - f, STATES - 1);
        double found = 1 - pow(1 - f, STATES);
        lab_row_share(lab, lab_expected(several, 0.01 * several), &share[0], 1,
                      "%" PRIu32 " counters per flow: flows found in several of 4 states", ratio);
        lab_row_share(lab, lab_expected(found, 0.01 * found), &share[1], 1,
                      "%" PRIu32 " counters per flow: strangers found in any", ratio);
    }
    return code;
}

/* ---- flows that change ----------------------------------------------------------------------- */

enum { KEEP, ONE, ALL, TOLD, RULES };

static const char *const rule_names[RULES] = {"keep", "one", "all", "told"};

struct crowd {
    struct tepal_states table;
    struct tepal_digest flow[FLOWS];
    uint32_t state[FLOWS];
};

/* FLOWS changes to another state. Sabotaged, who tells the state to leave is wrong. */
static void change_flows(struct lab *lab, struct crowd *c, unsigned rule)
{
    for (size_t i = 0; i < FLOWS; i++) {
        size_t at = (size_t)(lab_draw(lab) % FLOWS);
        uint32_t now = c->state[at];
        uint32_t to = (now + 1 + lab_below(lab, STATES - 1)) % STATES;
        uint32_t from = rule != TOLD         ? TEPAL_STATE_ANY
                        : lab_sabotaged(lab) ? (to + 1) % STATES
                                             : now;
        (void)tepal_states_update(&c->table, c->flow[at], from, to, NULL);
        c->state[at] = to;
    }
}

/* [0] lost: not found in their state; [1] several; by look. */
static int change_table(struct lab *lab, uint32_t ratio, unsigned rule,
                        struct lab_mean mean[2][LOOKS])
{
    struct crowd *c = calloc(1, sizeof *c);
    enum tepal_status status = TEPAL_NO_MEMORY;
    if (c != NULL) {
        c->table.rule = rule == TOLD ? TEPAL_STATES_KEEP : (enum tepal_states_rule)rule;
        status = make_table(ratio, &c->table);
    }
    for (size_t i = 0; i < FLOWS && status == TEPAL_OK; i++) {
        c->flow[i] = lab_digest(lab);
        c->state[i] = lab_below(lab, STATES);
        status = tepal_states_set(&c->table, c->flow[i], c->state[i]);
    }
    uint32_t done = 0;
    for (size_t s = 0; s < LOOKS && status == TEPAL_OK; s++) {
        double lost = 0;
        double several = 0;
        for (; done < looks[s]; done++) {
            change_flows(lab, c, rule);
        }
        for (size_t i = 0; i < FLOWS; i++) {
            uint64_t found = 0;
            several += tepal_states_get(&c->table, c->flow[i], &found) == TEPAL_STATE_SEVERAL;
            lost += (found >> c->state[i] & 1) == 0;
        }
        lab_mean_add(&mean[0][s], lost / FLOWS);
        lab_mean_add(&mean[1][s], several / FLOWS);
    }
    if (c != NULL) {
        tepal_filter_free(c->table.filter);
    }
    free(c);
    return lab_status(status);
}

static int change_tables(struct lab *lab, uint32_t ratio, const char *name)
{
    size_t trials = lab_trials(lab, 6, 30);
    int code = EXIT_YES;
    for (unsigned rule = 0; rule < RULES && code == EXIT_YES; rule++) {
        struct lab_mean mean[2][LOOKS] = {{{0}}};
        for (size_t i = 0; i < trials && code == EXIT_YES; i++) {
            code = change_table(lab, ratio, rule, mean);
        }
        for (size_t s = 0; s < LOOKS && code == EXIT_YES; s++) {
            /* a table that is told what to leave loses nobody, whatever else it finds */
            struct lab_row lost = rule == TOLD ? lab_expected(0, 0) : LAB_ROW;
            lab_row_mean(lab, lost, &mean[0][s], "%s, %s, %" PRIu32 " changes per flow: lost", name,
                         rule_names[rule], looks[s]);
            lab_row_mean(lab, LAB_ROW, &mean[1][s], "%s, %s, %" PRIu32 " changes per flow: several",
                         name, rule_names[rule], looks[s]);
        }
    }
    return code;
}

int lab_002_states(struct lab *lab)
{
    int code = EXIT_YES;
    for (uint32_t ratio = 8; ratio <= 16 && code == EXIT_YES; ratio += 4) {
        code = fresh_tables(lab, ratio);
    }
    code = code == EXIT_YES ? change_tables(lab, 12, "12 counters") : code;
    return code == EXIT_YES ? change_tables(lab, 0, "fingerprints") : code;
}

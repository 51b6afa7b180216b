/*
 * keys.c: counting filters of authors' names under the paper's ways to hash them, and
 * counting filters whose keys come and go, which the paper did not run.
 *
 * The paper's hashes (Sec. 5.1) are made here and given to the library as digests: it draws the k
 * positions of each of the c addresses from a digest in its own way. So this compares the hashes of
 * keys; the paper's positions, an arithmetic progression (eq. (8)), are in progression.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paper002/paper002.h"

#define KEYS 10000

/* The first four numbers of the twister. */
static struct tepal_digest twisted(uint64_t seed)
{
    uint32_t out[4];
    lab_002_twister((uint32_t)(seed ^ seed >> 32), out, 4);
    return (struct tepal_digest){(uint64_t)out[0] << 32 | out[1], (uint64_t)out[2] << 32 | out[3]};
}

static void hash_names(struct lab *lab, const struct lab_002_names *list, size_t method,
                       struct tepal_digest *digest)
{
    struct tepal_hasher hasher;
    uint64_t table[256];
    tepal_hasher_init(lab_draw(lab), &hasher);
    lab_002_words(lab, table);
    for (size_t i = 0; i < LAB_002_NAMES; i++) {
        const char *text = list->text[i];
        switch (method) {
        case LAB_002_SDBM_BUZ:
            digest[i] = (struct tepal_digest){lab_002_sdbm(text), lab_002_buz(table, text)};
            break;
        case LAB_002_SDBM_MT:
            digest[i] = twisted(lab_002_sdbm(text));
            break;
        case LAB_002_BUZ_MT:
            digest[i] = twisted(lab_002_buz(table, text));
            break;
        default:
            digest[i] = tepal_hash_bytes(&hasher, text, strlen(text));
        }
        if (lab_sabotaged(lab)) {
            digest[i].lo %= 5000; /* far too few different hashes */
            digest[i].hi = digest[i].lo;
        }
    }
}

/* ---- one filter of names --------------------------------------------------------------------- */

struct outcome {
    uint64_t hits; /* strangers that are found */
    double p0;
    double ratio; /* counters above 1 to counters at 1 */
    uint32_t largest;
    struct lab_mean exposed; /* by the removal of one stranger that is found */
};

/* What the removal of this stranger from its first group exposes: on a copy. */
static enum tepal_status expose(const struct tepal_filter *counting, struct tepal_digest stranger,
                                const struct tepal_digest *member, struct lab_mean *exposed)
{
    struct tepal_filter *copy = NULL;
    enum tepal_status status = tepal_filter_clone(counting, NULL, &copy, NULL);
    if (status == TEPAL_OK) {
        double missed = 0;
        status = lab_002_remove_first(copy, stranger);
        for (size_t i = 0; i < KEYS; i++) {
            missed += !tepal_filter_query(copy, member[i]);
        }
        lab_mean_add(exposed, missed);
    }
    tepal_filter_free(copy);
    return status;
}

static int look(const struct tepal_digest *digest, uint32_t ratio, uint32_t c, size_t removals,
                struct outcome *outcome)
{
    uint64_t histogram[TEPAL_MAX_COUNTER + 1];
    uint64_t m = (uint64_t)ratio * KEYS;
    struct tepal_filter *counting =
        lab_002_filter(m, (uint32_t)(ratio * log(2)), c, TEPAL_RULE_IMPROVED_GREEDY, 0);
    if (counting == NULL) {
        return EXIT_TROUBLE;
    }
    *outcome = (struct outcome){0};
    enum tepal_status status = tepal_filter_add_many(counting, digest, KEYS);
    for (size_t i = KEYS; i < LAB_002_NAMES && status == TEPAL_OK; i++) {
        if (tepal_filter_query(counting, digest[i])) {
            outcome->hits++;
            if (outcome->exposed.count < (double)removals) {
                status = expose(counting, digest[i], digest, &outcome->exposed);
            }
        }
    }
    tepal_counting_histogram(counting, histogram);
    outcome->p0 = (double)histogram[0] / (double)m;
    outcome->ratio =
        ((double)m - (double)histogram[0] - (double)histogram[1]) / (double)histogram[1];
    for (uint32_t v = 0; v <= TEPAL_MAX_COUNTER; v++) {
        outcome->largest = histogram[v] > 0 ? v : outcome->largest;
    }
    tepal_filter_free(counting);
    return lab_status(status);
}

/* Against ideal hashing: the model's rate, and how much one filter's share of zeros varies. */
static void name_rows(struct lab *lab, const char *method, uint32_t ratio, uint32_t c,
                      const struct outcome *o)
{
    struct lab_002_model model = lab_002_model(ratio, c, true);
    struct lab_row row = lab_formula(model.fp, NAN);
    double m = (double)ratio * KEYS;
    row.spread = LAB_Z * model.fp * floor(ratio * log(2)) * sqrt(model.p0 / (1 - model.p0) / m);
    lab_counted(&row, o->hits, (LAB_002_NAMES - KEYS));
    lab_row(lab, &row, "m/n %u, c %u, %s: false positives, and with ideal hashes", ratio, c,
            method);
    lab_row_exact(lab, LAB_ROW, o->p0, "m/n %u, c %u, %s: share of zeros", ratio, c, method);
    lab_row_exact(lab, LAB_ROW, o->ratio, "m/n %u, c %u, %s: counters above 1 per counter at 1",
                  ratio, c, method);
    lab_row_exact(lab, LAB_ROW, o->largest, "m/n %u, c %u, %s: largest counter", ratio, c, method);
    lab_row_mean(lab, LAB_ROW, &o->exposed, "m/n %u, c %u, %s: exposed by one wrong removal", ratio,
                 c, method);
}

#define TRIED 4

static const uint32_t tried[TRIED] = {1, 4, 20, 50};

/* Sec. 5.3.1 of m/n = 16: under SDBM_BUZhash choices always make more false positives. */
static void worse(struct lab *lab, const double p0[TRIED])
{
    uint32_t k = (uint32_t)(16 * log(2));
    for (size_t i = 1; i < TRIED; i++) {
        lab_row_claim(lab, true,
                      lab_002_model(16, tried[i], true).fp > lab_002_model(16, 1, true).fp,
                      tepal_counting_fp(p0[i], k, tried[i]) > tepal_counting_fp(p0[0], k, 1),
                      "m/n 16, SDBM_BUZhash: more false positives at c = %u than 1", tried[i]);
    }
}

static int hash_method(struct lab *lab, const struct lab_002_names *list, size_t method,
                       struct tepal_digest *digest, struct lab_curves exposed[2])
{
    double p0[2][TRIED];
    lab_curve(&exposed[0], SVG_LINE, "%s", lab_002_method_names[method]);
    lab_curve(&exposed[1], SVG_LINE, "%s", lab_002_method_names[method]);
    hash_names(lab, list, method, digest);
    for (size_t i = 0; i < 2 * TRIED; i++) {
        uint32_t ratio = i < TRIED ? 8 : 16;
        uint32_t c = tried[i % TRIED];
        struct outcome outcome;
        if (look(digest, ratio, c, lab_trials(lab, 12, 200), &outcome) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        name_rows(lab, lab_002_method_names[method], ratio, c, &outcome);
        p0[i / TRIED][i % TRIED] = outcome.p0;
        lab_curve_point(&exposed[i / TRIED], method, lab_point(c, outcome.exposed.mean));
    }
    if (method == LAB_002_SDBM_BUZ) {
        worse(lab, p0[1]);
    }
    return EXIT_YES;
}

int lab_002_hashes(struct lab *lab)
{
    static const char *const titles[2] = {"Exposed, 8 counters per key",
                                          "Exposed, 16 counters per key"};
    struct lab_curves curves[2] = {0};
    struct lab_002_names *list = calloc(1, sizeof *list);
    struct tepal_digest *digest = malloc(LAB_002_NAMES * sizeof *digest);
    int code = list == NULL || digest == NULL ? say_no_memory() : EXIT_YES;
    code = code == EXIT_YES ? lab_002_load(lab, list) : code;
    for (size_t method = 0; method < LAB_002_METHODS && code == EXIT_YES; method++) {
        code = hash_method(lab, list, method, digest, curves);
    }
    for (size_t r = 0; r < 2 && code == EXIT_YES; r++) {
        code = lab_curves_draw(lab, &curves[r], titles[r], "c, choices",
                               "false negatives of one wrong removal", LAB_LINEAR);
    }
    free(list);
    free(digest);
    return code;
}

/* ---- churn ----------------------------------------------------------------------------------- */

#define CHURNED     5000
#define RATIO       12
#define FINGERPRINT 11.7 /* bits a key */
#define STAGES      6
#define ASKED       20000

static const uint32_t stages[STAGES] = {1, 2, 5, 10, 20, 50}; /* generations after which we look */

enum deletes { BY_POLICY, BY_RECEIPT };

struct contender {
    const char *name;
    uint32_t hashes; /* 0: fingerprints */
    uint32_t choices;
    enum tepal_counting_policy policy;
    enum deletes deletes;
};

static const struct contender contenders[] = {
    {"counting, k 8", 8, 1, TEPAL_POLICY_KEEP, BY_POLICY},
    {"counting, k 5", 5, 1, TEPAL_POLICY_KEEP, BY_POLICY},
    {"c 4, remove", 8, 4, TEPAL_POLICY_REMOVE, BY_POLICY},
    {"c 4, keep", 8, 4, TEPAL_POLICY_KEEP, BY_POLICY},
    {"c 4, receipts", 8, 4, TEPAL_POLICY_KEEP, BY_RECEIPT},
    {"fingerprint", 0, 1, TEPAL_POLICY_KEEP, BY_POLICY}};

#define CONTENDERS COUNT(contenders)

struct churn {
    const struct contender *contender;
    struct tepal_filter *filter;
    struct tepal_digest key[CHURNED];
    uint8_t group[CHURNED];
};

static void churn_add(struct churn *churn, size_t i)
{
    if (churn->contender->deletes == BY_RECEIPT) {
        (void)tepal_counting_add(churn->filter, churn->key[i], &churn->group[i]);
    } else {
        (void)tepal_filter_add(churn->filter, churn->key[i]);
    }
}

/*
 * n replacements: a random key goes, a new one comes; every tenth time a stranger is removed.
 * Sabotaged, receipts are not kept: the first group loses the key.
 */
static void generation(struct lab *lab, struct churn *churn, bool wrong)
{
    for (size_t i = 0; i < CHURNED; i++) {
        size_t at = (size_t)(lab_draw(lab) % CHURNED);
        if (churn->contender->deletes == BY_RECEIPT) {
            (void)tepal_counting_remove_group(churn->filter, churn->key[at],
                                              lab_sabotaged(lab) ? 0 : churn->group[at]);
        } else {
            (void)tepal_filter_remove(churn->filter, churn->key[at]);
        }
        churn->key[at] = lab_digest(lab);
        churn_add(churn, at);
        if (wrong && i % 10 == 0) {
            (void)tepal_filter_remove(churn->filter, lab_digest(lab));
        }
    }
}

static enum tepal_status churn_open(struct churn *churn)
{
    const struct contender *c = churn->contender;
    if (c->hashes == 0) {
        struct tepal_params params = TEPAL_PARAMS_INIT;
        uint32_t bits = 0;
        params.kind = TEPAL_KIND_FINGERPRINT;
        params.hashes = 2;
        params.seed = 1;
        enum tepal_status status =
            tepal_fingerprint_fit(CHURNED, FINGERPRINT, &params.cells, &bits);
        params.fingerprint.bits = bits;
        return status == TEPAL_OK ? tepal_filter_create(&params, NULL, &churn->filter, NULL)
                                  : status;
    }
    churn->filter = lab_002_filter((uint64_t)RATIO * CHURNED, c->hashes, c->choices, 0, c->policy);
    return churn->filter == NULL ? TEPAL_NO_MEMORY : TEPAL_OK;
}

/* [0]: false negatives, [1]: false positives, as shares, by stage. */
static int churn_run(struct lab *lab, const struct contender *contender, bool wrong, size_t seen,
                     struct lab_mean rate[2][STAGES])
{
    struct churn *churn = calloc(1, sizeof *churn);
    enum tepal_status status = TEPAL_NO_MEMORY;
    if (churn != NULL) {
        churn->contender = contender;
        status = churn_open(churn);
    }
    for (size_t i = 0; i < CHURNED && status == TEPAL_OK; i++) {
        churn->key[i] = lab_digest(lab);
        churn_add(churn, i);
    }
    uint32_t g = 0;
    for (size_t s = 0; s < seen && status == TEPAL_OK; s++) {
        double missed = 0;
        double found = 0;
        for (; g < stages[s]; g++) {
            generation(lab, churn, wrong);
        }
        for (size_t i = 0; i < CHURNED; i++) {
            missed += !tepal_filter_query(churn->filter, churn->key[i]);
        }
        for (size_t i = 0; i < ASKED; i++) {
            found += tepal_filter_query(churn->filter, lab_digest(lab));
        }
        lab_mean_add(&rate[0][s], missed / CHURNED);
        lab_mean_add(&rate[1][s], found / ASKED);
    }
    if (churn != NULL) {
        tepal_filter_free(churn->filter);
    }
    free(churn);
    return lab_status(status);
}

static int churn_chart(struct lab *lab, struct lab_mean rate[CONTENDERS][2][STAGES], size_t which,
                       size_t seen, const char *title)
{
    struct lab_curves curves = {0};
    for (size_t i = 0; i < CONTENDERS; i++) {
        lab_curve(&curves, SVG_LINE, "%s", contenders[i].name);
        for (size_t s = 0; s < seen; s++) {
            lab_curve_point(&curves, i, lab_point_mean(stages[s], &rate[i][which][s]));
        }
    }
    return lab_curves_draw(lab, &curves, title, "generations", "rate", LAB_LOG_BOTH);
}

static int churn_all(struct lab *lab, bool wrong)
{
    struct lab_mean rate[CONTENDERS][2][STAGES] = {0};
    size_t runs = lab_trials(lab, 8, 12);
    size_t seen = lab_quick(lab) ? 4 : STAGES;
    const char *how = wrong ? "10 % wrong removals" : "right removals only";
    for (size_t i = 0; i < CONTENDERS * runs; i++) {
        if (churn_run(lab, &contenders[i / runs], wrong, seen, rate[i / runs]) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
    }
    for (size_t i = 0; i < 2 * CONTENDERS * seen; i++) {
        size_t which = i / 2 / seen;
        size_t s = i / 2 % seen;
        /* right removals lose nobody, but by `remove` */
        bool safe = !wrong && i % 2 == 0 && contenders[which].policy != TEPAL_POLICY_REMOVE;
        struct lab_row row = lab_expected(safe ? 0 : NAN, 0);
        lab_measured(&row, &rate[which][i % 2][s]);
        row.low = fmax(0, row.low);
        if (safe) { /* a single one is too many */
            lab_exact(&row, row.ours);
        }
        lab_row(lab, &row, "%s, %s, generation %u: false %s", contenders[which].name, how,
                stages[s], i % 2 == 0 ? "negatives" : "positives");
    }
    int code = churn_chart(lab, rate, 0, seen,
                           wrong ? "False negatives under churn, 10 % wrong removals"
                                 : "False negatives under churn, right removals only");
    return code == EXIT_YES
               ? churn_chart(lab, rate, 1, seen,
                             wrong ? "False positives under churn, 10 % wrong removals"
                                   : "False positives under churn, right removals only")
               : code;
}

int lab_002_churn(struct lab *lab)
{
    int code = churn_all(lab, false);
    return code == EXIT_YES ? churn_all(lab, true) : code;
}

/* trial.c: random instances of a yes-no filter, and rows about them. */
#include "paper003/paper003.h"

#define PILOT 8

const struct veto_setting lab_veto_usual = {
    .p = 160, .k = 4, .q = 32, .r = 3, .no_hashes = 5, .n = 30, .t = 100};

void lab_veto_draw(struct lab *lab, const struct veto_setting *s, struct veto_keys *keys)
{
    lab_digests(lab, keys->member, s->n);
    lab_digests(lab, keys->avoid, s->t);
    keys->weighted = false;
}

struct tepal_params lab_veto_params(uint64_t p, uint32_t k, uint64_t q, uint64_t r,
                                    uint32_t no_hashes)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.kind = TEPAL_KIND_YESNO;
    params.cells = p + r * q;
    params.hashes = k;
    params.yesno.no_bits = q;
    params.yesno.no_filters = r;
    params.yesno.no_hashes = no_hashes;
    return params;
}

int lab_veto_build(struct lab *lab, const struct veto_setting *s, const struct veto_keys *keys,
                   const struct tepal_yesno_options *how, struct tepal_filter **out,
                   struct tepal_known_report *report)
{
    struct tepal_known input = {.members = keys->member,
                                .member_count = s->n,
                                .avoid = keys->avoid,
                                .avoid_count = s->t,
                                .avoid_weights = keys->weighted ? keys->weight : NULL};
    struct tepal_filter *filter = NULL;
    struct tepal_error error = {.why = ""};
    uint32_t no_hashes = s->r == 0 ? 0 : lab_sabotaged(lab) ? 1 : s->no_hashes;
    struct tepal_params params = lab_veto_params(s->p, s->k, s->r == 0 ? 0 : s->q, s->r, no_hashes);
    params.positions = s->positions;
    params.yesno.own_seeds = s->r > 0 && s->own_seeds;
    enum tepal_status status =
        tepal_yesno_build(&params, &input, how, NULL, &filter, report, &error);
    if (out != NULL) {
        *out = filter;
    } else {
        tepal_filter_free(filter);
    }
    return status == TEPAL_OK
               ? EXIT_YES
               : say_error(NULL, "lab", "%s: %s", tepal_status_message(status), error.why);
}

struct tepal_filter *lab_veto_bloom(const struct veto_setting *s, const struct veto_keys *keys)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_filter *bloom = NULL;
    params.cells = s->p;
    params.hashes = s->k;
    params.positions = s->positions;
    if (lab_status(tepal_filter_create(&params, NULL, &bloom, NULL)) == EXIT_YES) {
        (void)tepal_filter_add_many(bloom, keys->member, s->n);
    }
    return bloom;
}

int lab_veto_sample(struct lab *lab, const struct veto_setting *s,
                    const struct tepal_yesno_options *how, size_t trials,
                    struct veto_sample *sample)
{
    *sample = (struct veto_sample){0};
    for (size_t i = 0; i < trials; i++) {
        struct veto_keys keys;
        struct tepal_known_report report;
        lab_veto_draw(lab, s, &keys);
        if (lab_veto_build(lab, s, &keys, how, NULL, &report) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        lab_mean_add(&sample->left, (double)report.avoid_left);
        lab_mean_add(&sample->positive, (double)report.avoid_positive);
        sample->proved += report.proved_optimal;
        sample->steps += report.steps;
        sample->by_left[report.avoid_left < VETO_MOST ? report.avoid_left : VETO_MOST - 1]++;
    }
    return EXIT_YES;
}

int lab_veto_afford(struct lab *lab, const struct veto_setting *s,
                    const struct tepal_yesno_options *how, double steps, size_t least, size_t most,
                    size_t *trials)
{
    struct veto_sample pilot;
    if (lab_veto_sample(lab, s, how, PILOT, &pilot) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    double each = fmax(1, (double)pilot.steps / PILOT);
    *trials = steps / each >= (double)most ? most : (size_t)(steps / each);
    *trials = *trials < least ? least : *trials;
    return EXIT_YES;
}

struct lab_row lab_veto_left(const struct veto_setting *s)
{
    const struct veto_setting *u = &lab_veto_usual;
    bool usual = s->p == u->p && s->k == u->k && s->q == u->q && s->r == u->r && s->n == u->n &&
                 s->no_hashes == u->no_hashes && s->t == u->t && !s->own_seeds;
    bool distinct = s->positions == TEPAL_POSITIONS_DISTINCT;
    return lab_expected(!usual     ? NAN
                        : distinct ? LEFT_DISTINCT
                                   : LEFT_USUAL,
                        distinct ? LEFT_DISTINCT_H : LEFT_USUAL_H);
}

void lab_veto_measured(struct lab_row *row, const struct lab_mean *mean)
{
    lab_measured(row, mean);
    row->low = fmax(0, row->low);
    row->high = fmax(row->high, log(2000) / mean->count);
}

void lab_veto_claim(struct lab *lab, bool says, bool right, bool ours, const char *words)
{
    lab_row_claim(lab, says, right, ours, "%s", words);
}

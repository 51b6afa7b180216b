/* measure.c: generalized filters that are filled and asked. */
#include <stdlib.h>
#include <string.h>

#include "paper001/paper001.h"

#define STRANGERS 4096

struct tepal_params gbf_params(const struct gbf *at, uint32_t tolerance, uint64_t seed)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.kind = TEPAL_KIND_GENERALIZED;
    params.cells = at->bits;
    params.hashes = at->k0 + at->k1;
    params.seed = seed;
    params.generalized.reset_hashes = at->k0;
    params.generalized.tolerance = tolerance;
    params.generalized.ones = (uint64_t)llround((1 - at->zeros) * (double)TEPAL_GENERALIZED_UNIT);
    return params;
}

static int create(struct lab *lab, const struct gbf *at, uint32_t tolerance,
                  struct tepal_filter **out)
{
    struct tepal_params params = gbf_params(at, tolerance, lab_draw(lab));
    return lab_status(tepal_filter_create(&params, NULL, out, NULL));
}

/* The filter of the setting with a seed of its own. Sabotaged, it forgives an inverted bit. */
static int gbf_create(struct lab *lab, const struct gbf *at, struct tepal_filter **out)
{
    return create(lab, at, lab_sabotaged(lab) && at->k0 + at->k1 > 1, out);
}

int gbf_plain(struct lab *lab, const struct gbf *at, struct tepal_filter **out)
{
    return create(lab, at, 0, out);
}

static void ask_members(struct gbf_seen *seen, const struct tepal_filter *g,
                        const struct tepal_digest *member, uint64_t keys)
{
    uint64_t lost = 0;
    for (uint64_t i = 0; i < keys; i++) {
        bool gone = !tepal_filter_query(g, member[i]);
        lost += gone;
        lab_share_add(&seen->fn_age[keys - 1 - i], gone, 1);
    }
    if (keys > 0) {
        lab_share_add(&seen->fn, lost, keys);
    }
}

int gbf_measure(struct lab *lab, const struct gbf *at, size_t rounds, size_t strangers,
                struct gbf_seen *seen)
{
    static struct tepal_digest member[GBF_KEYS];
    static struct tepal_digest stranger[STRANGERS];
    static uint64_t answers[STRANGERS / 64 + 1];
    memset(seen, 0, sizeof *seen);
    strangers = strangers < STRANGERS ? strangers : STRANGERS;
    for (size_t r = 0; r < rounds; r++) {
        struct tepal_filter *g;
        int code = gbf_create(lab, at, &g);
        if (code != EXIT_YES) {
            return code;
        }
        lab_digests(lab, member, (size_t)at->keys);
        (void)tepal_filter_add_many(g, member, (size_t)at->keys);
        ask_members(seen, g, member, at->keys);
        lab_digests(lab, stranger, strangers);
        if (strangers > 0) {
            lab_share_add(&seen->fp, tepal_filter_query_many(g, stranger, strangers, answers),
                          strangers);
        }
        tepal_filter_free(g);
    }
    return EXIT_YES;
}

int gbf_oldest(struct lab *lab, const struct gbf *at, size_t rounds, size_t keys,
               struct lab_share *lost)
{
    size_t window = (size_t)at->keys + 1;
    struct tepal_digest *recent = calloc(window, sizeof *recent);
    memset(lost, 0, sizeof *lost);
    int code = recent == NULL ? say_no_memory() : EXIT_YES;
    for (size_t r = 0; r < rounds && code == EXIT_YES; r++) {
        struct tepal_filter *g = NULL;
        uint64_t gone = 0;
        code = gbf_create(lab, at, &g);
        for (size_t i = 0; i < keys + window - 1 && code == EXIT_YES; i++) {
            recent[i % window] = lab_digest(lab);
            (void)tepal_filter_add(g, recent[i % window]);
            if (i + 1 >= window) {
                gone += !tepal_filter_query(g, recent[(i + 1) % window]);
            }
        }
        lab_share_add(lost, gone, keys);
        tepal_filter_free(g);
    }
    free(recent);
    return code;
}

int gbf_exact(const struct gbf *at, uint64_t age, struct tepal_generalized_errors *rates,
              double *fn_age)
{
    struct tepal_params params = gbf_params(at, 0, 0);
    return lab_status(
        tepal_generalized_rates(&params, at->keys, &age, fn_age != NULL, fn_age, rates));
}

/* Half of the 95 % interval of a share of 1000 rounds. */
static double width(double share)
{
    return 1.96 * sqrt(share * (1 - share) / 1000);
}

int gbf_interval_row(struct lab *lab, const struct gbf *at, const struct gbf_seen *seen,
                     const char *words)
{
    const struct lab_share *lost = &seen->fn_age[at->keys - 1];
    struct lab_row share = LAB_ROW;
    struct tepal_generalized_errors exact;
    double oldest = 0;
    int code = gbf_exact(at, at->keys - 1, &exact, &oldest);
    lab_counted(&share, lost->hits, lost->trials);
    struct lab_row row = lab_printed(0.003, 0.0005, width(oldest));
    row.ours = width(share.ours);
    row.low = width(share.low);
    row.high = width(share.high);
    lab_row(lab, &row, "%s", words);
    return code;
}

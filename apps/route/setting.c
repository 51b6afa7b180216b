/*
 * setting.c: the headers. Without --bits, the paper's layout, or as the options say; with --bits M,
 * the planner divides M bits for the longest path of the network.
 */
#include <inttypes.h>

#include <tepal/papers.h>

#include "cli/options.h"
#include "route/route.h"

static int check_params(const struct args *args, const struct packet_setting *s)
{
    struct tepal_header_layout layout;
    struct tepal_error error = {.why = ""};
    for (size_t k = 0; k < PACKET_KINDS; k++) {
        if (tepal_header_layout_init(&s->params[k], &layout, &error) != TEPAL_OK) {
            return say_error(NULL, args->command->name, "%s header of %" PRIu64 " bits: %s",
                             k == PACKET_BLOOM ? "Bloom" : "yes-no", s->params[k].cells, error.why);
        }
    }
    return EXIT_YES;
}

static void said_setting(const struct args *args, struct packet_setting *s)
{
    struct tepal_params init = TEPAL_PARAMS_INIT;
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    uint64_t r = arg_whole(args, "no-filters", 2);
    uint64_t q = arg_whole(args, "no-bits", 32);
    arg_positions(args, &init.positions);
    if (arg(args, "method")->given) {
        tepal_yesno_method_parse(arg(args, "method")->text, &how.method);
    }
    how.salts = (uint32_t)arg_whole(args, "salts", 1);
    s->params[PACKET_BLOOM] = init;
    s->params[PACKET_YESNO] = init;
    s->params[PACKET_YESNO].kind = TEPAL_KIND_YESNO;
    s->params[PACKET_YESNO].cells = arg_whole(args, "yes-bits", 192) + r * q;
    s->params[PACKET_YESNO].hashes = (uint32_t)arg_whole(args, "hashes", 4);
    s->params[PACKET_YESNO].yesno.no_filters = r;
    s->params[PACKET_YESNO].yesno.no_bits = r == 0 ? 0 : q;
    s->params[PACKET_YESNO].yesno.no_hashes = r == 0 ? 0 : arg_whole(args, "no-hashes", 3);
    s->params[PACKET_YESNO].yesno.own_seeds = r > 0 && arg(args, "own-seeds")->given;
    s->params[PACKET_BLOOM].cells = s->params[PACKET_YESNO].cells;
    s->params[PACKET_BLOOM].hashes = (uint32_t)arg_whole(args, "bloom-hashes", 6);
    s->how = how;
}

int route_check_setting(const struct args *args)
{
    struct packet_setting s;
    said_setting(args, &s);
    if (args_text(args, "from", 1) != NULL || args_text(args, "network", 1) != NULL) {
        return say_error(NULL, args->command->name, "--from and --network can be given once only");
    }
    if (arg(args, "from")->given != arg(args, "to")->given) {
        return say_error(NULL, args->command->name, "--from and --to belong together: give both");
    }
    return arg(args, "bits")->given ? EXIT_YES : check_params(args, &s);
}

/* ---- chosen by the planner ------------------------------------------------------------------- */

/* False links that may be expected of a part before a shorter one is planned for. */
#define PART_LEFT 0.02

static bool plan_for(const struct route_job *job, enum tepal_positions positions, uint64_t n,
                     uint64_t t, struct tepal_yesno_setting *setting)
{
    const struct args *args = job->app->args;
    *setting = (struct tepal_yesno_setting){.hashes = (uint32_t)arg(args, "hashes")->whole,
                                            .no_hashes = (uint32_t)arg(args, "no-hashes")->whole};
    return tepal_yesno_best_setting(TEPAL_LAYOUT_FLAT, positions, arg(args, "bits")->whole, n,
                                    t == 0 ? 1 : t, setting) == TEPAL_OK;
}

/*
 * For a path of n links beside which there are t. If it may be split, for the longest part of it
 * of which little is left, by halving: the fewer links, the less is left. *links: of that part.
 */
static bool plan_parts(const struct route_job *job, enum tepal_positions positions, uint64_t n,
                       uint64_t t, struct tepal_yesno_setting *setting, uint64_t *links)
{
    bool good = plan_for(job, positions, n, t, setting);
    uint64_t least = 1;
    uint64_t most = n;
    *links = n;
    if (!arg(job->app->args, "split")->given || (good && setting->left <= PART_LEFT)) {
        return good;
    }
    while (most - least > 1) {
        uint64_t middle = least + (most - least) / 2;
        good = plan_for(job, positions, middle, t * middle / n, setting);
        if (good && setting->left <= PART_LEFT) {
            least = middle;
        } else {
            most = middle;
        }
    }
    *links = least;
    return plan_for(job, positions, least, t * least / n, setting);
}

/* The path with the most links; of several, with the most beside them. */
static int longest_path(struct route_job *job, uint64_t *n, uint64_t *t)
{
    *n = 0;
    *t = 0;
    for (size_t i = 0; i < job->demands.count; i++) {
        int code = route_plan(job, i);
        if (code != EXIT_YES) {
            return code;
        }
        if (job->plan.members > *n || (job->plan.members == *n && job->plan.others > *t)) {
            *n = job->plan.members;
            *t = job->plan.others;
        }
    }
    return EXIT_YES;
}

static int planned_setting(struct route_job *job)
{
    const struct args *args = job->app->args;
    struct packet_setting *s = &job->setting;
    struct tepal_yesno_setting setting;
    uint64_t n;
    uint64_t t;
    uint64_t links;
    enum tepal_positions positions = TEPAL_POSITIONS_DISTINCT; /* as the planner's headers have */
    arg_positions(args, &positions);
    if (longest_path(job, &n, &t) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (!plan_parts(job, positions, n, t, &setting, &links)) {
        return say_error(NULL, job->name,
                         "no header of %" PRIu64 " bits was found for %" PRIu64 " links",
                         arg(args, "bits")->whole, n);
    }
    struct tepal_params *p = &s->params[PACKET_YESNO];
    p->positions = positions;
    p->cells = arg(args, "bits")->whole;
    p->hashes = setting.hashes;
    p->yesno.no_filters = setting.no_filters;
    p->yesno.no_bits = setting.no_filters == 0 ? 0 : setting.no_bits;
    p->yesno.no_hashes = setting.no_filters == 0 ? 0 : setting.no_hashes;
    p->yesno.own_seeds = setting.no_filters > 0 && setting.own_seeds;
    s->params[PACKET_BLOOM].positions = positions;
    s->params[PACKET_BLOOM].cells = p->cells;
    uint32_t best = tepal_bloom_best_hashes(TEPAL_LAYOUT_FLAT, positions, p->cells, links);
    s->params[PACKET_BLOOM].hashes =
        (uint32_t)arg_whole(args, "bloom-hashes", best == 0 ? 1 : best);
    return check_params(args, s);
}

int route_choose_setting(struct route_job *job)
{
    said_setting(job->app->args, &job->setting);
    return arg(job->app->args, "bits")->given ? planned_setting(job) : EXIT_YES;
}

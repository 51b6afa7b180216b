/*
 * settle.c: what has grown to its last size needs no room to grow: the keys, if they are at hand,
 * fit into fewer bits. A chain becomes the Bloom filter of its layout, a growing filter one of
 * fingerprints; both at the rate that was planned, or that of --fp.
 */
#include "commands/convert/settle.h"

#include <inttypes.h>

#include <tepal/model.h>

#include "cli/options.h"
#include "files/filter_file.h"
#include "input/digests.h"
#include "input/feed.h"
#include "output/render.h"

/* The keys of --members, each once. All of them must be in the filter. */
static int read_members(const struct args *args, const char *name, struct tepal_filter *filter,
                        struct digests *all)
{
    struct tepal_hasher hasher;
    uint64_t missing = 0;
    ptrdiff_t count;
    if (filter_file_hasher(args, name, filter, &hasher) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    struct feed *feed = feed_open_file(args, &arg(args, "members")->text, &hasher, false);
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    int code = EXIT_YES;
    while (code == EXIT_YES && (count = feed_next(feed)) != 0) {
        for (ptrdiff_t i = 0; i < count && code == EXIT_YES; i++) {
            missing += !tepal_filter_query(filter, feed->digest[i]);
            code = digests_add(all, feed->digest[i], 1, NULL, 0) ? EXIT_YES : args_no_memory(args);
        }
        code = count < 0 ? EXIT_TROUBLE : code;
    }
    feed_close(feed);
    if (code == EXIT_YES && missing > 0) {
        code = args_about(args, arg(args, "members")->text,
                          "%" PRIu64 " of these keys are not in the filter: are they its members?",
                          missing);
    }
    if (code == EXIT_YES && all->count == 0) {
        code = args_about(args, arg(args, "members")->text, "there are no keys");
    }
    return code;
}

static struct tepal_params fixed(const struct tepal_params *from)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = from->kind == TEPAL_KIND_CHAIN ? TEPAL_KIND_BLOOM : TEPAL_KIND_FINGERPRINT;
    p.layout = from->layout;
    p.positions = from->positions;
    p.hash = from->hash;
    p.seed = from->seed;
    p.key_check = from->key_check;
    return p;
}

/* A growing filter does not know the rate that was asked for, only what is expected of it. */
static double rate_of(const struct args *args, const struct tepal_filter *filter)
{
    bool chain = tepal_filter_params(filter)->kind == TEPAL_KIND_CHAIN;
    double planned = render_figure(filter, chain ? "fp_any_size" : "fp_at_capacity", 0.01);
    return arg_real(args, "fp", planned);
}

static int rebuild(const struct args *args, const struct digests *all, struct tepal_filter **filter)
{
    struct tepal_params p = fixed(tepal_filter_params(*filter));
    struct tepal_error error = {.why = ""};
    struct tepal_filter *made = NULL;
    enum tepal_status status =
        tepal_params_for_rate(&p, all->count, rate_of(args, *filter), &error);
    status = status == TEPAL_OK ? tepal_filter_create(&p, NULL, &made, &error) : status;
    if (status != TEPAL_OK) {
        return args_error(args, "%s", error.why);
    }
    status = tepal_filter_add_many(made, all->digest, all->count);
    if (status != TEPAL_OK) {
        tepal_filter_free(made);
        return args_status(args, status, NULL);
    }
    tepal_filter_free(*filter);
    *filter = made;
    return EXIT_YES;
}

int settle(const struct args *args, const char *name, struct tepal_filter **filter)
{
    enum tepal_kind_id kind = tepal_filter_params(*filter)->kind;
    struct digests all = {.count = 0};
    if (kind != TEPAL_KIND_GROWING && kind != TEPAL_KIND_CHAIN) {
        return args_about(args, name, "only filters that grow can be settled, and this one is %s",
                          tepal_filter_kind(*filter)->name);
    }
    if (!arg(args, "members")->given) {
        return args_error(args, "--settle needs the keys: --members KEYS");
    }
    int code = read_members(args, name, *filter, &all);
    double held = render_figure(*filter, "keys_now", 0);
    double given = (double)(all.count + (kind == TEPAL_KIND_GROWING ? all.repeats : 0));
    if (code == EXIT_YES && held > given && !arg(args, "quiet")->given) {
        say_warning(name, "it has %.0f keys, and %.0f were given: the others are lost", held,
                    given);
    }
    code = code == EXIT_YES ? rebuild(args, &all, filter) : code;
    digests_free(&all);
    return code;
}

void settle_tell(struct report *r, uint64_t before, uint64_t after)
{
    char room[2][96];
    if (after < before) {
        report_say(r, "saved      %s of %s", render_bytes(before - after, room[0], sizeof room[0]),
                   render_bytes(before, room[1], sizeof room[1]));
    } else {
        report_say(r, "saved      nothing: it had %s",
                   render_bytes(before, room[0], sizeof room[0]));
    }
    report_whole(r, "bytes_before", before, JSON_ONLY);
}

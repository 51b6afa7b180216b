/* keys.c: members, keys to avoid and other known keys, and what the library is given of them. */
#include "commands/retouch/retouching.h"

#include <inttypes.h>

#include "files/filter_file.h"
#include "input/feed.h"
#include "output/render.h"

/* All keys of the file of an option. *read (may be NULL) gets how many, repeats included. */
static int read_keys(const struct retouching *w, const char *file, const char *weights,
                     struct digests *set, uint64_t *read)
{
    bool weighted = weights != NULL && arg(w->args, weights)->given;
    return feed_gather(feed_open_file(w->args, &arg(w->args, file)->text, &w->hasher, weighted),
                       set, read);
}

/* A repeated key is one key; without weights, with the weight of one. */
static void forget_repeats(struct digests *set)
{
    for (size_t i = 0; i < set->count; i++) {
        set->weight[i] = 1;
    }
}

/* All known strangers, those to avoid among them. */
static int gather_known(struct retouching *w)
{
    struct digests more = {.count = 0};
    int code = EXIT_YES;
    if (!arg(w->args, "known")->given) {
        return EXIT_YES;
    }
    code = read_keys(w, "known", NULL, &more, NULL);
    for (int part = w->generalized; part < 2 && code == EXIT_YES; part++) {
        const struct digests *from = part == 0 ? &w->avoid : &more;
        for (size_t i = 0; i < from->count && code == EXIT_YES; i++) {
            if (!digests_has(&w->members, from->digest[i]) &&
                !(w->generalized && digests_has(&w->avoid, from->digest[i])) &&
                !digests_add(&w->known, from->digest[i], 1, NULL, 0)) {
                code = args_no_memory(w->args);
            }
        }
    }
    digests_free(&more);
    return code;
}

static uint64_t count_absent(const struct retouching *w)
{
    uint64_t answers[FEED_BATCH / 64];
    uint64_t present = 0;
    for (size_t at = 0; at < w->members.count; at += FEED_BATCH) {
        size_t left = w->members.count - at;
        present += tepal_filter_query_many(w->filter, w->members.digest + at,
                                           left < FEED_BATCH ? left : FEED_BATCH, answers);
    }
    return w->members.count - present;
}

static int check_keys(const struct retouching *w)
{
    const char *members = w->blind ? NULL : filter_file_name(arg(w->args, "members")->text, false);
    const char *avoid = filter_file_name(arg(w->args, "avoid")->text, false);
    uint64_t count = w->members.count;
    if (count == 0 && !w->blind) {
        return args_about(w->args, members,
                          "no keys in the input: the members of the filter are needed");
    }
    if (w->avoid.count == 0) {
        return args_about(w->args, avoid, "no keys in the input: there is nothing to avoid");
    }
    if (w->generalized || w->blind) {
        return EXIT_YES; /* it forgets members by itself, or nobody knows who they are */
    }
    uint64_t absent = count_absent(w);
    if (absent > count / 2) {
        return args_about(w->args, members,
                          "%" PRIu64 " of %" PRIu64
                          " keys are not in the filter: these are not its members",
                          absent, count);
    }
    if (arg(w->args, "quiet")->given) {
        return EXIT_YES;
    }
    if (absent > 0 && (double)absent > render_figure(w->filter, "false_negatives", 0)) {
        say_warning(members,
                    "%" PRIu64 " of %" PRIu64
                    " keys are not in the filter; they count as lost members",
                    absent, count);
    }
    if (w->members_read < tepal_filter_keys_added(w->filter)) {
        say_warning(members,
                    "%" PRIu64 " key%s, but %" PRIu64 " were added to the filter: the others may "
                    "be lost without being counted",
                    w->members_read, SAY_S(w->members_read), tepal_filter_keys_added(w->filter));
    }
    return EXIT_YES;
}

int retouch_read(struct retouching *w)
{
    w->members.texts = arg(w->args, "victims")->given;
    int code = w->blind ? EXIT_YES
                        : read_keys(w, "members", "member-weights", &w->members, &w->members_read);
    code = code == EXIT_YES ? read_keys(w, "avoid", "weights", &w->avoid, NULL) : code;
    code = code == EXIT_YES ? check_keys(w) : code;
    code = code == EXIT_YES ? gather_known(w) : code;
    return code;
}

void retouch_set_input(struct retouching *w)
{
    bool heavy = arg(w->args, "member-weights")->given;
    if (!heavy) {
        forget_repeats(&w->members);
    }
    if (!arg(w->args, "weights")->given) {
        forget_repeats(&w->avoid);
    }
    for (size_t i = 0; i < w->members.count; i++) {
        w->member_weight += w->members.weight[i];
    }
    if (arg(w->args, "max-fn")->given) {
        w->how.limit = heavy ? TEPAL_RETOUCH_LIMIT_WEIGHT : TEPAL_RETOUCH_LIMIT_SHARE;
        w->how.budget =
            heavy ? arg(w->args, "max-fn")->real * w->member_weight : arg(w->args, "max-fn")->real;
    } else if (arg(w->args, "max-fn-count")->given) {
        w->how.limit = TEPAL_RETOUCH_LIMIT_COUNT;
        w->how.budget = (double)arg(w->args, "max-fn-count")->whole;
    }
    w->input.members = w->blind ? NULL : w->members.digest;
    w->input.member_count = w->members.count;
    w->input.member_weights = heavy ? w->members.weight : NULL;
    w->input.avoid = w->avoid.digest;
    w->input.avoid_count = w->avoid.count;
    w->input.avoid_weights = arg(w->args, "weights")->given ? w->avoid.weight : NULL;
    w->input.others = w->known.count > 0 ? w->known.digest : NULL;
    w->input.other_count = w->known.count;
}

/*
 * model_recycling.c: the recycling filter's average error by sigma or count, and its inverse; by
 * average, and on a stream.
 */
#include <string.h>

#include <tepal/model.h>

#include "commands/model/models.h"
#include "plans/wish.h"

/* What is missing, or too much. */
static int check(const struct args *args, bool average)
{
    bool bits = arg(args, "bits")->given;
    bool fp = arg(args, "fp")->given;
    bool messages = arg(args, "messages")->given;
    bool sigma = arg(args, "sigma")->given;
    if (average && (!bits || !fp || messages || sigma)) {
        return args_wrong(args, "--rule average needs --bits M and --fp RATE, and no other limit");
    }
    if (!bits && !(messages && fp)) {
        return args_wrong(args, "--bits M is needed, the bits per phase (or --messages and --fp)");
    }
    if (!messages && sigma == fp) {
        return args_wrong(args, "give one of --sigma S, --messages N and --fp RATE");
    }
    if (messages && bits && fp) {
        return args_wrong(args, "give two of --bits M, --messages N and --fp RATE");
    }
    if (sigma && !arg(args, "hashes")->given) {
        return args_wrong(args, "--sigma needs --hashes K");
    }
    return EXIT_YES;
}

/* With the stream, if there is one. */
static int ask(const struct args *args, const struct tepal_params *p, struct tepal_report *report)
{
    struct tepal_use use = TEPAL_USE_INIT;
    struct tepal_error error = {.why = ""};
    struct wish w = {.wish = TEPAL_WISH_INIT};
    int code = wish_stream(args, &w);
    const struct tepal_recycling_stream stream = {w.wish.stream,      w.wish.stream_a,
                                                  w.wish.stream_b,    w.wish.stream_fresh,
                                                  w.wish.stream_keys, w.wish.gaps};
    use.fp = arg_real(args, "fp", NAN);
    use.stream = stream.law == TEPAL_STREAM_UNKNOWN ? NULL : &stream;
    if (code == EXIT_YES) {
        enum tepal_status status = tepal_model(p, &use, report, &error);
        code = args_status(args, status, error.why);
    }
    wish_free(&w);
    return code;
}

static int recycling_report(const struct args *args, uint64_t keys, struct tepal_params *p,
                            struct tepal_report *report)
{
    const struct option_value *rule = arg(args, "rule");
    bool average = rule->given && strcmp(rule->text, "average") == 0;
    bool messages = arg(args, "messages")->given;
    (void)keys;
    if (rule->given && !average && strcmp(rule->text, "sigma") != 0) {
        return args_wrong(args, "--rule %s is for counting filters", rule->text);
    }
    if (check(args, average) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    p->kind = TEPAL_KIND_RECYCLING;
    if (arg(args, "distinct")->given) {
        p->positions = TEPAL_POSITIONS_DISTINCT;
    }
    p->recycling.phases = arg_whole(args, "phases", 1);
    p->recycling.rule = average    ? TEPAL_RECYCLING_AVERAGE
                        : messages ? TEPAL_RECYCLING_COUNT
                                   : TEPAL_RECYCLING_SIGMA;
    p->recycling.limit = arg(args, messages ? "messages" : "sigma")->whole;
    p->recycling.flags = (arg(args, "retain")->given ? TEPAL_RECYCLING_RETAIN : 0) |
                         (arg(args, "keep-trigger")->given ? TEPAL_RECYCLING_KEEP_TRIGGER : 0);
    return ask(args, p, report);
}

static const char *const of_recycling[] = {
    "bits",   "fp",           "hashes",   "layout", "positions", "phases", "sigma", "distinct",
    "retain", "keep-trigger", "messages", "rule",   "gaps",      "stream", NULL};

/* A rate is kept at any size. */
static const char *const recycling_exclusive[][4] = {
    {"sigma", "messages"}, {"gaps", "stream"}, {NULL}};

const struct model model_recycling = {"recycling", TEPAL_LAYOUT_FLAT, of_recycling,
                                      recycling_report, recycling_exclusive};

/* auto.c: count, plan, and build as if the plan's command had been typed. */
#define _POSIX_C_SOURCE 200809L
#include "commands/build/auto.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tepal/filter.h>

#include "plans/plan_text.h"
#include "output/render.h"
#include "cli/say.h"
#include "files/filter_file.h"
#include "plans/wish.h"

#define PLAN_FILE_MOST ((size_t)1 << 20)

/* Constraints that only a planner understands. */
static const char *const constraints[] = {
    "memory", "fp-average",  "deletes", "wrong-deletes", "untrusted", "endless", "gaps",
    "stream", "header-bits", "prefer",  "cost-fp",       "cost-fn",   NULL};

/* What a planner takes of the options that build has anyway. */
static const char *const shared[] = {"fp", "fn", "bits-per-key", NULL};

/* What is handed on to the build as it is. */
static const char *const handed[] = {"output", "force",    "seed", "null",  "hex",
                                     "plain",  "key-file", "json", "quiet", NULL};

/* What the plan is made from, or needs. */
static const char *const negatives[] = {"avoid", "weights", NULL};

int auto_check(const struct args *args)
{
    for (size_t i = 0; constraints[i] != NULL; i++) {
        if (arg(args, constraints[i])->given) {
            return say_error(args->command->stays, args->command->name,
                             "--%s is a constraint: it needs --auto", constraints[i]);
        }
    }
    return EXIT_YES;
}

/* Is it understood together with --auto, or with --plan? */
static bool fits_auto(const void *context, const char *name)
{
    (void)context;
    return args_listed(handed, name) || args_listed(negatives, name) ||
           args_listed(constraints, name) || args_listed(shared, name) || strcmp(name, "auto") == 0;
}

static bool fits_plan(const void *context, const char *name)
{
    (void)context;
    return args_listed(handed, name) || args_listed(negatives, name) || strcmp(name, "plan") == 0;
}

static int check_options(const struct args *args, bool plans)
{
    const char *other = args_misfit(args, plans ? fits_auto : fits_plan, NULL);
    return other == NULL ? EXIT_YES
                         : say_error(args->command->stays, args->command->name,
                                     "--%s contradicts --%s: the plan decides", other,
                                     plans ? "auto" : "plan");
}

/* ---- standard input, to be read more than once ----------------------------------------------- */

struct spool {
    const char **path; /* of the keys */
    size_t count;
    const char *avoid;    /* of the negatives; NULL: none */
    char temporary[4096]; /* where standard input went; "": nowhere */
};

static int copy_input(const struct args *args, int to)
{
    char room[65536];
    ssize_t got;
    while ((got = read(STDIN_FILENO, room, sizeof room)) > 0 || (got < 0 && errno == EINTR)) {
        for (ssize_t at = 0; at < got;) {
            ssize_t wrote = write(to, room + at, (size_t)(got - at));
            if (wrote < 0 && errno != EINTR) {
                return say_error(args->command->stays, "temporary file", "%s", strerror(errno));
            }
            at += wrote > 0 ? wrote : 0;
        }
    }
    return got == 0 ? EXIT_YES
                    : say_error(args->command->stays, "standard input", "%s", strerror(errno));
}

static int spool_input(const struct args *args, struct spool *s)
{
    const char *folder = getenv("TMPDIR");
    int len = snprintf(s->temporary, sizeof s->temporary, "%s/tepal-keys-XXXXXX",
                       folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    int fd = len < (int)sizeof s->temporary ? mkstemp(s->temporary) : -1;
    if (fd < 0) {
        s->temporary[0] = '\0';
        return say_error(args->command->stays, "temporary file", "%s", strerror(errno));
    }
    int code = copy_input(args, fd);
    if (close(fd) != 0 && code == EXIT_YES) {
        code = say_error(args->command->stays, "temporary file", "%s", strerror(errno));
    }
    return code;
}

static int open_spool(const struct args *args, struct spool *s)
{
    s->count = args->operands == 0 ? 1 : args->operands;
    s->path = calloc(s->count, sizeof *s->path);
    if (s->path == NULL) {
        return say_error(args->command->stays, NULL, "out of memory");
    }
    for (size_t i = 0; i < s->count; i++) {
        s->path[i] = args->operands == 0 ? "-" : args->operand[i];
        if (strcmp(s->path[i], "-") == 0) {
            if (s->temporary[0] == '\0' && spool_input(args, s) != EXIT_YES) {
                return EXIT_TROUBLE;
            }
            s->path[i] = s->temporary;
        }
    }
    s->avoid = arg(args, "avoid")->given ? arg(args, "avoid")->text : NULL;
    if (s->avoid != NULL && strcmp(s->avoid, "-") == 0) {
        if (s->temporary[0] != '\0') {
            return say_error(args->command->stays, args->command->name,
                             "standard input cannot be both the keys and the negatives");
        }
        if (spool_input(args, s) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        s->avoid = s->temporary;
    }
    return EXIT_YES;
}

static void close_spool(struct spool *s)
{
    if (s->temporary[0] != '\0') {
        unlink(s->temporary);
    }
    free(s->path);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static int say_infeasible(const struct args *args, const struct tepal_plans *plans)
{
    const struct tepal_proposal *near = &plans->nearest;
    const struct tepal_kind *kind = tepal_kind_by_id(near->kind);
    return say_error(args->command->stays, args->command->name,
                     "nothing fits: --%s is in the way%s%s; the nearest is %s, %s, %" PRIu64
                     " bytes, fp %.3g",
                     plans->blocked_by, plans->blocked_also[0] == '\0' ? "" : ", besides ",
                     plans->blocked_also, kind == NULL ? "?" : kind->name,
                     tepal_layout_name(near->params.layout), (near->bits + 7) / 8, near->fp);
}

/*
 * Must all keys that come be remembered? Not in a stream, if its gaps or a memory tell how far back
 * one should look: it goes on, and how much of it is here is chance.
 */
static bool counts(const struct args *args)
{
    bool told =
        arg(args, "gaps")->given || arg(args, "stream")->given || arg(args, "memory")->given;
    return !(arg(args, "endless")->given && told && !arg(args, "untrusted")->given);
}

static int make_plan(const struct args *args, const struct spool *spool, struct plan_words *words)
{
    struct wish w = {.steps = NULL};
    struct tepal_plans plans;
    const char *why = "";
    uint64_t keys = 0;
    int code = EXIT_YES;
    for (size_t i = 0; i < spool->count && code == EXIT_YES; i++) {
        uint64_t here = 0;
        code = wish_count(args, spool->path[i], false, &here);
        keys += here;
    }
    if (code == EXIT_YES && keys == 0) {
        code = say_error(args->command->stays, args->command->name,
                         "no keys came: there is nothing to plan for");
    }
    if (code == EXIT_YES) {
        code = wish_read(args, counts(args) ? keys : 0, spool->avoid, &w);
    }
    if (code == EXIT_YES && tepal_plan(&w.wish, &plans, &why) != TEPAL_OK) {
        code = say_error(args->command->stays, args->command->name, "%s", why);
    }
    if (code == EXIT_YES && !plans.plan[0].feasible) {
        code = say_infeasible(args, &plans);
    }
    if (code == EXIT_YES) {
        why = plan_text_words(plans.plan[0].command, words);
        code = why == NULL ? EXIT_YES : say_error(args->command->stays, NULL, "%s", why);
    }
    if (code == EXIT_YES && !arg(args, "quiet")->given) {
        say_line("plan: %s", plans.plan[0].command);
    }
    wish_free(&w);
    return code;
}

static int read_plan(const struct args *args, struct plan_words *words)
{
    const char *path = arg(args, "plan")->text;
    size_t len;
    char *text = wish_slurp(args, path, PLAN_FILE_MOST, &len);
    if (text == NULL) {
        return EXIT_TROUBLE;
    }
    const char *why = plan_text_read(text, len, words);
    free(text);
    return why == NULL ? EXIT_YES : say_error(args->command->stays, path, "%s", why);
}

/* ---- the build ------------------------------------------------------------------------------- */

static int run(const struct program *program, const struct command *command, char **words,
               int count)
{
    struct args args;
    int code = args_parse(&args, program, command, count, words);
    if (code == EXIT_YES) {
        code = command->run(&args);
    }
    args_free(&args);
    return code;
}

/* An option as it was given. */
static int hand(const struct args *args, const char *id, char **room, char **words, int count)
{
    if (!arg(args, id)->given) {
        return count;
    }
    snprintf(*room, 32, "--%s", id);
    words[count++] = *room;
    *room += 32;
    if (arg(args, id)->text != NULL) {
        words[count++] = (char *)arg(args, id)->text; /* argv's: never written to */
    }
    return count;
}

#define HANDED_MOST 32

/* Have the negatives weights? The plan knows, or whoever gives another file. */
static bool weighted(const struct args *args, const struct plan_words *plan)
{
    return plan->weights || arg(args, "weights")->given;
}

static int build(const struct args *args, const struct spool *spool, struct plan_words *plan)
{
    char names[HANDED_MOST * 32];
    char *room = names;
    char **words = calloc((size_t)plan->count + 2 * HANDED_MOST + spool->count, sizeof *words);
    int count = 0;
    if (words == NULL) {
        return say_error(args->command->stays, NULL, "out of memory");
    }
    for (; count < plan->count; count++) {
        words[count] = plan->word[count];
    }
    for (size_t i = 0; handed[i] != NULL; i++) {
        count = hand(args, handed[i], &room, words, count);
    }
    char avoid[] = "--avoid";
    char weights[] = "--weights";
    if (plan->avoids && plan->max_fn == NULL) {
        words[count++] = avoid;
        words[count++] = (char *)spool->avoid;
        words[count] = weights;
        count += weighted(args, plan);
    }
    char end[] = "--";
    words[count++] = end;
    for (size_t i = 0; i < spool->count; i++) {
        words[count++] = (char *)spool->path[i];
    }
    int code = run(args->program, args->command, words, count);
    free(words);
    return code;
}

/* What a retouched plan asks for after the build. */
static int retouch(const struct args *args, const struct spool *spool, struct plan_words *plan)
{
    char output[] = "-o";
    char force[] = "--force";
    char members[] = "--members";
    char avoid[] = "--avoid";
    char most[] = "--max-fn";
    char weights[] = "--weights";
    char names[HANDED_MOST * 32];
    char *room = names;
    static const char *const same[] = {"null", "hex", "plain", "key-file", "quiet", NULL};
    char *file = (char *)arg(args, "output")->text;
    char *words[11 + 2 * HANDED_MOST] = {file,    output,
                                         file,    force,
                                         members, (char *)spool->path[0],
                                         avoid,   (char *)spool->avoid,
                                         most,    plan->max_fn};
    int count = 10;
    words[count] = weights;
    count += weighted(args, plan);
    for (size_t i = 0; same[i] != NULL; i++) {
        count = hand(args, same[i], &room, words, count);
    }
    return run(args->program, command_find(args->program, "retouch"), words, count);
}

static int check_plan(const struct args *args, const struct spool *spool,
                      const struct plan_words *plan)
{
    if (plan->avoids && !arg(args, "avoid")->given) {
        return say_error(args->command->stays, args->command->name,
                         "the plan needs --avoid NEGATIVES: what is known not to be in the set");
    }
    if (plan->max_fn != NULL && (spool->count > 1 || strcmp(arg(args, "output")->text, "-") == 0)) {
        return say_error(args->command->stays, args->command->name,
                         "a retouched plan needs one file of KEYS, and a file to write to");
    }
    return EXIT_YES;
}

int auto_build(const struct args *args)
{
    bool plans = arg(args, "auto")->given;
    struct spool spool = {.count = 0};
    struct plan_words words;
    int code = check_options(args, plans);
    if (code == EXIT_YES) {
        code =
            filter_file_check_inputs(args->command->stays, arg(args, "output")->text, args->operand,
                                     args->operands, "the keys would be overwritten by the filter");
    }
    if (code == EXIT_YES) {
        code = open_spool(args, &spool);
    }
    if (code == EXIT_YES) {
        code = plans ? make_plan(args, &spool, &words) : read_plan(args, &words);
    }
    if (code == EXIT_YES) {
        code = check_plan(args, &spool, &words);
    }
    if (code == EXIT_YES) {
        code = build(args, &spool, &words);
    }
    if (code == EXIT_YES && words.max_fn != NULL) {
        code = retouch(args, &spool, &words);
    }
    close_spool(&spool);
    return code;
}

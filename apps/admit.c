/*
 * admit.c: cache admission on the second sighting ("cache on second hit"). Most of what is asked of
 * a web cache is asked once: to store it costs a write and pushes something useful out. So an
 * object is stored only if it was asked for before, and whether it was is what a recycling filter
 * remembers, in a few bits an object.
 *
 *     request ──> in the cache? ──yes──> hit
 *                     │ no
 *                     └──> did the filter see it? ──yes──> fetch, and write to the cache
 *                                  │ no
 *                                  └──> fetch; the filter remembers it
 *
 * The filter's memory is a choice, not only a cost: what it has forgotten must be asked for twice
 * again, so a small one lets in only what is asked for twice within a short time. It is set beside
 * a cache that stores everything and one whose second sightings are known exactly and for ever.
 *
 * With --within an object is stored only if it was asked for twice within a time frame (what Akamai
 * does with two phases, as Sec. VI of the paper on recycling filters tells): filters of 2, 4 and 8
 * phases that recycle by time, sized by the model, beside one that knows every time exactly.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tepal/papers.h>
#include <tepal/recycling.h>

#include "cli/command.h"
#include "input/digests.h"
#include "input/feed.h"
#include "readers/lines.h"
#include "shared/grow.h"
#include "shared/lru.h"
#include "cli/number.h"
#include "output/report.h"
#include "cli/say.h"
#include "streams/stream.h"
#include "streams/times.h"
#include "cli/options.h"

struct request {
    struct tepal_digest key;
    uint64_t size;
    uint64_t time; /* milliseconds; never less than that before it */
};

struct admit {
    const struct args *args;
    bool sized;     /* --size-field: the cache is counted in bytes */
    uint64_t frame; /* --within, in milliseconds; 0: none */
    bool clock_told;
    uint32_t phases;
    double fp;
    uint64_t seed;
    struct request *request;
    size_t requests;
    size_t room;
    uint64_t bytes;         /* of all requests */
    uint64_t writes_of_all; /* of the cache that stores everything: what others are compared with */
    struct report report;
};

/* Who is let in. */
struct policy {
    const char *name;            /* "all", "exact", "within", "filter" */
    struct tepal_filter *filter; /* or NULL */
    struct digests *known;       /* or NULL: who was asked for, and when (the weight) */
    uint64_t frame;              /* how long ago that counts; 0: for ever */
    uint64_t memory;             /* of the filter, bytes */
};

struct outcome {
    uint64_t hits;
    uint64_t hit_bytes;
    uint64_t writes;
    uint64_t written_bytes;
    uint64_t missed; /* asked for within the frame, but the filter says no */
    uint64_t late;   /* the filter says yes, but it was not */
};

/* ---- the log --------------------------------------------------------------------------------- */

static bool append(struct admit *a, struct tepal_digest key, uint64_t size, uint64_t time)
{
    if (!grow(&a->request, &a->room, a->requests + 1, sizeof *a->request)) {
        return false;
    }
    uint64_t before = a->requests == 0 ? 0 : a->request[a->requests - 1].time;
    if (time < before && !a->clock_told && !arg(a->args, "quiet")->given) {
        say_warning(a->args->command->name, "the times of the log go backwards: the clock waits "
                                            "until they have caught up");
        a->clock_told = true;
    }
    a->request[a->requests++] = (struct request){key, size, time > before ? time : before};
    a->bytes += size;
    return true;
}

/* The size on a line: a whole number; "-" is what web servers write for nothing. */
static const char *read_size(const struct feed *feed, const struct key *line, size_t field,
                             uint64_t *size)
{
    struct key text = feed_field(line, field, feed->delimiter);
    char copy[32];
    if (text.len == 1 && text.text[0] == '-') {
        *size = 0;
        return NULL;
    }
    if (text.len == 0) {
        return "no size: the line has too few fields";
    }
    if (!piece_copy((struct piece){text.text, text.len}, copy, sizeof copy)) {
        return "the size is not a number";
    }
    if (number_whole(copy, size) != NULL || *size > (uint64_t)1 << 56) {
        return "the size is not a whole number";
    }
    return NULL;
}

static int take_batch(struct admit *a, const struct feed *feed, size_t count)
{
    size_t field = (size_t)arg(a->args, "size-field")->whole;
    for (size_t i = 0; i < count; i++) {
        uint64_t size = 0;
        uint64_t time = 0;
        struct key line = feed_key(feed, i);
        if (line.text[0] == '#') {
            continue; /* a comment; the text of an empty line is its separator */
        }
        const char *why = a->sized ? read_size(feed, &line, field, &size) : NULL;
        if (why == NULL && a->frame > 0) {
            why = times_read(feed, &line, (size_t)arg(a->args, "time-field")->whole, &time);
        }
        if (why != NULL) {
            return say_error(NULL, feed_subject(feed), "line %" PRIu64 ": %s", feed_number(feed, i),
                             why);
        }
        if (!append(a, feed->digest[i], size, time)) {
            return say_no_memory();
        }
    }
    return EXIT_YES;
}

static int read_log(struct admit *a)
{
    struct tepal_hasher hasher;
    tepal_hasher_init(a->seed, &hasher);
    struct feed *feed = feed_open(a->args, 0, &hasher);
    ptrdiff_t count = -1;
    int code = EXIT_YES;
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    while (code == EXIT_YES && (count = feed_next(feed)) > 0) {
        code = take_batch(a, feed, (size_t)count);
    }
    feed_close(feed);
    if (code == EXIT_YES && count < 0) {
        code = EXIT_TROUBLE;
    }
    if (code == EXIT_YES && a->requests == 0) {
        code = say_error(NULL, a->args->command->name, "no requests in the input");
    }
    return code;
}

/* ---- one cache ------------------------------------------------------------------------------- */

/* Was it asked for before, within the frame? And remember this time. False: no memory. */
static bool know(const struct policy *p, const struct request *r, bool *before)
{
    size_t at = digests_find(p->known, r->key);
    if (at == SIZE_MAX) {
        *before = false;
        return digests_add(p->known, r->key, (double)r->time, NULL, 0);
    }
    *before = p->frame == 0 || (double)r->time - p->known->weight[at] <= (double)p->frame;
    p->known->weight[at] = (double)r->time;
    return true;
}

/* Is it to be stored? And remember that it was asked for. -1: no memory. */
static int admitted(const struct policy *p, const struct request *r, struct outcome *o)
{
    bool known = true;
    if (p->known != NULL && !know(p, r, &known)) {
        return -1;
    }
    bool seen = known;
    if (p->filter != NULL) {
        if (p->frame > 0) {
            (void)tepal_recycling_set_clock(p->filter, r->time);
        }
        (void)tepal_filter_test_add(p->filter, r->key, &seen);
    }
    o->missed += known && !seen;
    o->late += seen && !known;
    return seen;
}

static int replay(const struct admit *a, const struct policy *p, struct outcome *o)
{
    uint64_t size = arg(a->args, "cache-size")->whole;
    struct lru cache;
    int code = EXIT_YES;
    lru_init(&cache, a->sized ? 0 : size, a->sized ? size : 0);
    memset(o, 0, sizeof *o);
    for (size_t i = 0; i < a->requests && code == EXIT_YES; i++) {
        const struct request *r = &a->request[i];
        if (lru_hit(&cache, r->key)) {
            o->hits++;
            o->hit_bytes += r->size;
            continue;
        }
        int in = admitted(p, r, o);
        /* What is larger than the whole cache is never written. */
        if (in > 0 && (!a->sized || r->size <= size)) {
            in = lru_insert(&cache, r->key, r->size, NULL, NULL) ? 1 : -1;
            o->writes++;
            o->written_bytes += r->size;
        }
        code = in < 0 ? say_no_memory() : code;
    }
    lru_free(&cache);
    return code;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void print_row(struct admit *a, const struct policy *p, const struct outcome *o)
{
    struct report *r = &a->report;
    double bytes = a->bytes == 0 ? 1 : (double)a->bytes; /* none: none was hit either */
    double all = a->writes_of_all == 0 ? 1 : (double)a->writes_of_all;
    struct column sized = a->sized ? column("byte hits", 10, "%.4f") : NO_TEXT;
    struct column written = a->sized ? column("bytes written", 14, NULL) : NO_TEXT;
    report_object(r, NULL);
    report_text(r, "admit", p->name, column("admit", -7, NULL));
    report_whole_if(r, "memory", p->filter != NULL, p->memory, column("memory", 10, NULL));
    report_whole(r, "requests", a->requests, NO_TEXT);
    report_whole(r, "hits", o->hits, column("hits", 10, NULL));
    report_real(r, "hit_ratio", (double)o->hits / (double)a->requests,
                column("hit ratio", 9, "%.4f"));
    report_whole(r, "writes", o->writes, column("writes", 10, NULL));
    report_real(r, "writes_share", (double)o->writes / all, column("share", 7, "%.4f"));
    report_real(r, "byte_hit_ratio", a->sized ? (double)o->hit_bytes / bytes : (double)NAN, sized);
    report_whole_if(r, "bytes_written", a->sized, o->written_bytes, written);
    if (a->frame > 0) {
        bool timed = p->filter != NULL;
        uint64_t phases = timed ? tepal_filter_params(p->filter)->recycling.phases : 0;
        report_whole_if(r, "phases", timed, phases, column("phases", 7, NULL));
        report_whole_if(r, "missed", timed, o->missed, column("missed", 7, NULL));
        report_whole_if(r, "late", timed, o->late, column("late", 7, NULL));
    }
    report_end(r);
}

/* Replay under a policy, and print what came of it. */
static int run_policy(struct admit *a, const struct policy *p)
{
    struct outcome o;
    int code = replay(a, p, &o);
    if (code != EXIT_YES) {
        return code;
    }
    if (p->filter == NULL && p->known == NULL) { /* what is stored is stored: it comes first */
        a->writes_of_all = o.writes;
    }
    print_row(a, p, &o);
    return EXIT_YES;
}

/* ---- filters --------------------------------------------------------------------------------- */

/* Small filters: the flat layout remembers the most. */
#define LAYOUT TEPAL_LAYOUT_FLAT

static int run_filter(struct admit *a, uint64_t memory)
{
    struct tepal_recycling_setting s;
    struct tepal_recycling_rates rates;
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct policy p = {.name = "filter"};
    bool by_sigma = stream_by(a->args, "sigma");
    if (!stream_plan(LAYOUT, memory, a->phases, 0, a->fp, &s, &rates)) {
        return say_error(NULL, a->args->command->name,
                         "--memory %" PRIu64 ": too little for this rate", memory);
    }
    params.kind = TEPAL_KIND_RECYCLING;
    params.layout = LAYOUT;
    params.cells = s.bits;
    params.hashes = s.hashes;
    params.seed = a->seed;
    params.recycling.phases = s.phases;
    params.recycling.limit = by_sigma ? s.sigma : stream_limit(a->fp);
    params.recycling.rule = by_sigma ? TEPAL_RECYCLING_SIGMA : TEPAL_RECYCLING_AVERAGE;
    params.recycling.flags = TEPAL_RECYCLING_RETAIN;
    enum tepal_status status = tepal_filter_create(&params, NULL, &p.filter, NULL);
    if (status != TEPAL_OK) {
        return say_status(NULL, a->args->command->name, status, NULL);
    }
    p.memory = s.bits / 8 * s.phases;
    int code = run_policy(a, &p);
    tepal_filter_free(p.filter);
    return code;
}

/* How many objects the cache holds, at their mean size. */
static double cache_objects(const struct admit *a)
{
    double size = (double)arg(a->args, "cache-size")->whole;
    double mean = (double)a->bytes / (double)a->requests;
    return !a->sized ? size : mean > 0 ? size / mean : size;
}

/* Filters that remember from a sixteenth of what the cache holds to four times that. */
static int run_filters(struct admit *a)
{
    const struct option_value *memory = arg(a->args, "memory");
    static const double times[] = {1.0 / 16, 1.0 / 4, 1, 4};
    struct tepal_recycling_setting s;
    struct tepal_recycling_rates rates;
    const uint64_t large = (uint64_t)1 << 20; /* what is remembered grows with the memory */
    int code = EXIT_YES;
    if (memory->given) {
        return run_filter(a, memory->whole);
    }
    if (!stream_plan(LAYOUT, large, a->phases, 0, a->fp, &s, &rates)) {
        return say_error(NULL, a->args->command->name, "no filter keeps this rate");
    }
    double bytes_each = (double)large / (rates.messages_per_cycle * a->phases);
    for (size_t i = 0; i < sizeof times / sizeof *times && code == EXIT_YES; i++) {
        double bytes = ceil(times[i] * cache_objects(a) * bytes_each);
        double least = 16.0 * a->phases;
        code = run_filter(a, (uint64_t)fmin(fmax(bytes, least), 0x1p50) + 7 * a->phases);
    }
    return code;
}

/* ---- within a time frame --------------------------------------------------------------------- */

/* The largest number of different keys in one phase. 0: no memory. */
static uint64_t busiest(const struct admit *a, uint64_t every)
{
    struct digests here;
    uint64_t most = 0;
    bool got = true;
    memset(&here, 0, sizeof here);
    for (size_t i = 0; i < a->requests && got; i++) {
        uint64_t start = a->request[0].time;
        if (i > 0 &&
            (a->request[i].time - start) / every != (a->request[i - 1].time - start) / every) {
            digests_free(&here);
            memset(&here, 0, sizeof here);
        }
        got = digests_add(&here, a->request[i].key, 1, NULL, 0);
        most = here.count > most ? here.count : most;
    }
    digests_free(&here);
    return got ? most : 0;
}

/* A filter of so many phases that remembers what came within the frame. */
static int run_within(struct admit *a, uint32_t phases)
{
    const struct option_value *memory = arg(a->args, "memory");
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct digests known;
    struct policy p = {.name = "filter", .known = &known, .frame = a->frame};
    struct tepal_recycling_setting s;
    struct tepal_recycling_rates rates;
    params.kind = TEPAL_KIND_RECYCLING;
    params.layout = LAYOUT;
    params.seed = a->seed;
    params.recycling.phases = phases;
    params.recycling.rule = TEPAL_RECYCLING_TIME;
    params.recycling.flags = TEPAL_RECYCLING_RETAIN;
    params.recycling.limit = stream_every(a->frame, phases);
    uint64_t lines = busiest(a, params.recycling.limit);
    if (lines == 0) {
        return say_no_memory();
    }
    params.hashes = 0;
    params.cells = stream_bits_for(LAYOUT, phases, lines, a->fp, &params.hashes);
    if (memory->given) {
        bool fits = stream_plan(LAYOUT, memory->whole, phases, 0, a->fp, &s, &rates);
        params.cells = fits ? s.bits : 0;
        params.hashes = fits ? s.hashes : 0;
    }
    if (params.cells == 0) {
        return say_error(NULL, a->args->command->name,
                         "no filter of %" PRIu32 " phases keeps this "
                         "rate: give more --memory or a higher --fp",
                         phases);
    }
    enum tepal_status status = tepal_filter_create(&params, NULL, &p.filter, NULL);
    if (status != TEPAL_OK) {
        return say_status(NULL, a->args->command->name, status, NULL);
    }
    memset(&known, 0, sizeof known);
    p.memory = params.cells / 8 * phases;
    int code = run_policy(a, &p);
    digests_free(&known);
    tepal_filter_free(p.filter);
    return code;
}

static int run_frames(struct admit *a)
{
    static const uint32_t phases[] = {2, 4, 8};
    int code = EXIT_YES;
    if (arg(a->args, "phases")->given) {
        return run_within(a, a->phases);
    }
    for (size_t i = 0; i < sizeof phases / sizeof *phases && code == EXIT_YES; i++) {
        code = run_within(a, phases[i]);
    }
    return code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* What is known exactly, of a time frame or for ever. */
static int run_exact(struct admit *a, const char *name, uint64_t frame)
{
    struct digests known;
    memset(&known, 0, sizeof known);
    struct policy exact = {.name = name, .known = &known, .frame = frame};
    int code = run_policy(a, &exact);
    digests_free(&known);
    return code;
}

static int run_all(struct admit *a)
{
    struct policy all = {.name = "all"};
    a->report = report_open(a->args);
    a->report.tsv = "%.6f";
    int code = run_policy(a, &all);
    code = code == EXIT_YES ? run_exact(a, "exact", 0) : code;
    if (a->frame > 0) {
        code = code == EXIT_YES ? run_exact(a, "within", a->frame) : code;
        code = code == EXIT_YES ? run_frames(a) : code;
    } else {
        code = code == EXIT_YES ? run_filters(a) : code;
    }
    return report_close(&a->report, code);
}

static int admit_run(const struct args *args)
{
    struct admit a = {.args = args,
                      .sized = arg(args, "size-field")->given,
                      .phases = (uint32_t)arg_whole(args, "phases", STREAM_PHASES),
                      .fp = arg_real(args, "fp", STREAM_FP),
                      .seed = arg_whole(args, "seed", 1)};
    a.frame = arg(args, "within")->given ? arg(args, "within")->whole : 0;
    if ((a.frame > 0) != arg(args, "time-field")->given) {
        return args_wrong(args, "--within and --time-field are needed together");
    }
    if (a.frame > 0 && a.phases < 2) {
        return args_wrong(args, "--within needs 2 phases at least");
    }
    int code = read_log(&a);
    code = code == EXIT_YES ? run_all(&a) : code;
    free(a.request);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "cache-size", OF_SIZE(1, (uint64_t)1 << 56),
           "The size of the cache in objects, or in bytes with --size-field."),
    OPTION(0, "size-field", OF_WHOLE("N", 1, UINT32_MAX),
           "The N-th field of a line is the size of the object in bytes (- is 0)."),
    OPTION_FIELD,
    OPTION_DELIMITER,
    OPTION('M', "memory", OF_SIZE(1, (uint64_t)1 << 56),
           "The memory of the filter in bytes (default: enough to remember 1/16, 1/4, 1 and 4 "
           "times as many objects as the cache holds, a row each)."),
    OPTION_STREAM_FP,
    OPTION_STREAM_RULE,
    OPTION(
        0, "within", OF_VALUE(TAKES_DURATION, "TIME"),
        "Store an object that is requested twice within TIME, as 90s, 10m or 2h, by the times of "
        "the log: filters of 2, 4 and 8 phases, sized by the model for the busiest phase."),
    OPTION(0, "time-field", OF_WHOLE("N", 1, UINT32_MAX),
           "The N-th field of a line is its time, in seconds."),
    OPTION_PHASES,
    OPTION_DEMO_SEED,
    OPTION_PLAIN,
    OPTION_ROWS_TSV,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"tsv", "json"}, {"within", "rule"}, {NULL}};
static const struct example examples[] = {
    {"tepal app admit requests.txt --cache-size 1000", "A cache of a thousand objects."},
    {"tepal app admit access.log --field 7 --size-field 10 --cache-size 64Mi",
     "The log of a web server, and a cache of 64 MiB."},
    {"tepal app admit log.tsv --field 2 --time-field 1 --within 1h --cache-size 1000",
     "Objects that are requested twice within an hour."},
    {NULL, NULL}};

const struct command app_admit = {
    .name = "app admit",
    .synopsis = "[LOG...] --cache-size SIZE [--field N] [--size-field N] [--memory SIZE]",
    .summary = "Cache admission: store an object on its second request.",
    .about =
        "Replays the requests of LOG, one per line (standard input if there are none, or for -; "
        "lines that start with # are skipped), through an LRU cache, and counts hits and writes "
        "for three admission rules: all stores every object; exact stores an object on its second "
        "request, known exactly and forever; filter stores it when a small recycling filter says "
        "that the request is not the first. A filter that remembers less admits less: a forgotten "
        "object must be requested twice again.\n\n"
        "share is the number of writes divided by that of all.\n\n"
        "With --within, within stores an object that is requested twice within a time frame, known "
        "exactly, and the filters recycle by time. missed are requests within the frame that a "
        "filter had forgotten (none, but for times that go backwards), late those that it "
        "remembered longer, or took for others.",
    .options = options,
    .exclusive = exclusive,
    .needed = "cache-size",
    .files = true,
    .most_operands = SIZE_MAX,
    .examples = examples,
    .run = admit_run};

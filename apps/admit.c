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
#include "cli/options.h"

struct request {
    struct tepal_digest key;
    uint64_t size;
};

struct admit {
    const struct args *args;
    bool sized; /* --size-field: the cache is counted in bytes */
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
    const char *name;            /* "all", "exact", "filter" */
    struct tepal_filter *filter; /* or NULL */
    struct digests *known;       /* or NULL */
    uint64_t memory;             /* of the filter, bytes */
};

struct outcome {
    uint64_t hits;
    uint64_t hit_bytes;
    uint64_t writes;
    uint64_t written_bytes;
};

/* ---- the log --------------------------------------------------------------------------------- */

static bool append(struct admit *a, struct tepal_digest key, uint64_t size)
{
    if (!grow(&a->request, &a->room, a->requests + 1, sizeof *a->request)) {
        return false;
    }
    a->request[a->requests++] = (struct request){key, size};
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
        if (feed->key[i].text[0] == '#') {
            continue; /* a comment; the text of an empty line is its separator */
        }
        const char *why = a->sized ? read_size(feed, &feed->key[i], field, &size) : NULL;
        if (why != NULL) {
            return say_error(NULL, feed_subject(feed), "line %" PRIu64 ": %s",
                             feed_number(feed) + i, why);
        }
        if (!append(a, feed->digest[i], size)) {
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

/* Is it to be stored? And remember that it was asked for. -1: no memory. */
static int admitted(const struct policy *p, struct tepal_digest key)
{
    bool seen = true;
    if (p->filter != NULL) {
        (void)tepal_filter_test_add(p->filter, key, &seen);
    } else if (p->known != NULL) {
        seen = digests_has(p->known, key);
        if (!seen && !digests_add(p->known, key, 1, NULL, 0)) {
            return -1;
        }
    }
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
        int in = admitted(p, r->key);
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

static int run_all(struct admit *a)
{
    struct digests known;
    memset(&known, 0, sizeof known);
    struct policy all = {.name = "all"};
    struct policy exact = {.name = "exact", .known = &known};
    a->report = report_open(a->args);
    a->report.tsv = "%.6f";
    int code = run_policy(a, &all);
    code = code == EXIT_YES ? run_policy(a, &exact) : code;
    digests_free(&known);
    code = code == EXIT_YES ? run_filters(a) : code;
    return report_close(&a->report, code);
}

static int admit_run(const struct args *args)
{
    struct admit a = {.args = args,
                      .sized = arg(args, "size-field")->given,
                      .phases = (uint32_t)arg_whole(args, "phases", STREAM_PHASES),
                      .fp = arg_real(args, "fp", STREAM_FP),
                      .seed = arg_whole(args, "seed", 1)};
    int code = read_log(&a);
    code = code == EXIT_YES ? run_all(&a) : code;
    free(a.request);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "cache-size", OF_WHOLE("SIZE", 1, (uint64_t)1 << 56),
           "The size of the cache in objects, or in bytes with --size-field."),
    OPTION(0, "size-field", OF_WHOLE("N", 1, UINT32_MAX),
           "The N-th field of a line is the size of the object in bytes (- is 0)."),
    OPTION_FIELD,
    OPTION_DELIMITER,
    OPTION('M', "memory", OF_WHOLE("SIZE", 1, (uint64_t)1 << 56),
           "The memory of the filter in bytes (default: enough to remember 1/16, 1/4, 1 and 4 "
           "times as many objects as the cache holds, a row each)."),
    OPTION_STREAM_FP,
    OPTION_STREAM_RULE,
    OPTION_PHASES,
    OPTION_DEMO_SEED,
    OPTION_PLAIN,
    OPTION_ROWS_TSV,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"tsv", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal app admit requests.txt --cache-size 1000", "A cache of a thousand objects."},
    {"tepal app admit access.log --field 7 --size-field 10 --cache-size 64Mi",
     "The log of a web server, and a cache of 64 MiB."},
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
        "share is the number of writes divided by that of all.",
    .options = options,
    .exclusive = exclusive,
    .needed = "cache-size",
    .files = true,
    .most_operands = SIZE_MAX,
    .examples = examples,
    .run = admit_run};

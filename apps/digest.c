/*
 * digest.c: caches that tell each other what they hold (Fan et al. 2000; Laufer, Velloso and Duarte
 * 2011, Sec. 1), and one among them that lies.
 *
 *     clients ──> proxy 1 ──asks──> the filters of its siblings ──> a sibling that says yes
 *                  cache                                        └─> the web server, if none does
 *
 * Every proxy has a cache and advertises a filter of what is in it. A request that the own cache
 * does not have is foreign: it goes to every sibling whose filter says yes. One proxy, the last, is
 * malicious: it advertises a filter that says yes as often as it can, and so draws requests to
 * itself.
 *
 * Advertisements are made anew after every so many objects. Honest ones hold the cache from the
 * oldest object to the newest, so that a generalized filter forgets the oldest first.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tepal/tepal.h>

#include "cli/command.h"
#include "shared/lru.h"
#include "statistics/random.h"
#include "output/report.h"
#include "readers/requests.h"
#include "cli/say.h"
#include "shared/attack.h"
#include "cli/options.h"

#define MOST_PROXIES 4096

struct proxy {
    struct lru cache;
    struct tepal_filter *filter; /* as last advertised; NULL: nothing yet, or refused */
    uint64_t fresh;              /* objects since then */
};

struct digest {
    const struct args *args;
    struct requests requests;
    uint32_t proxies;
    uint32_t *proxy_of; /* of every one who asks */
    uint64_t cache_objects;
    uint64_t cache_bytes;
    uint64_t refresh;
    uint64_t rounds;
    struct tepal_digest *key; /* of every object, under the seed at work */
    struct proxy *proxy;
    uint64_t random; /* for the bits of the attacker */
    struct report report;
};

/* Requests of the honest proxies. */
struct tally {
    uint64_t requests;
    uint64_t hits;      /* in the own cache */
    uint64_t foreign;   /* the others */
    uint64_t found;     /* of these, in a sibling that was asked */
    uint64_t missed;    /* a sibling had it, but none that was asked */
    uint64_t asked;     /* honest siblings asked: once a sibling and foreign request */
    uint64_t wrong;     /* of these, by mistake: it did not have it */
    uint64_t attracted; /* foreign requests that the malicious one said yes to */
    uint64_t deceived;  /* of these, those that it did not have */
    uint64_t refused;   /* advertisements that were not taken (--judge) */
    uint64_t adverts;
};

/* ---- who is where ---------------------------------------------------------------------------- */

static int assign_proxies(struct digest *d)
{
    uint32_t askers = d->requests.who.count;
    bool by_client = arg(d->args, "client-field")->given;
    struct tepal_hasher hasher;
    tepal_hasher_init(0, &hasher);
    d->proxy_of = malloc(((size_t)askers + 1) * sizeof *d->proxy_of);
    if (d->proxy_of == NULL) {
        return say_no_memory();
    }
    /* A proxy for each who asks, if there are few; else they share the proxies by hash. */
    bool each = askers > 0 && !by_client && !arg(d->args, "proxies")->given;
    d->proxies = each ? askers : (uint32_t)arg_whole(d->args, "proxies", 4);
    if (d->proxies < 2 || d->proxies > MOST_PROXIES) {
        return say_error(NULL, d->args->command->name,
                         "%" PRIu32 " proxies: 2 to %d are needed; give --proxies P", d->proxies,
                         MOST_PROXIES);
    }
    for (uint32_t i = 0; i < askers; i++) {
        const char *text = names_text(&d->requests.who, i);
        d->proxy_of[i] =
            each ? i : (uint32_t)(tepal_hash_bytes(&hasher, text, strlen(text)).hi % d->proxies);
    }
    return EXIT_YES;
}

static uint32_t proxy_at(const struct digest *d, size_t i)
{
    uint32_t who = d->requests.request[i].who;
    return who == NAMES_NONE ? (uint32_t)(i % d->proxies) : d->proxy_of[who];
}

/* ---- advertisements -------------------------------------------------------------------------- */

/* The worst that a stranger can send: bits drawn at random, as many ones as hurt most. */
static enum tepal_status forge(struct digest *d, const struct attack_setting *s,
                               struct tepal_filter **out)
{
    struct tepal_params p;
    enum tepal_status status = attack_params(s, random_draw(&d->random), &p);
    return status == TEPAL_OK ? tepal_filter_create(&p, NULL, out, NULL) : status;
}

static enum tepal_status honest(const struct attack_setting *s, const struct lru *cache,
                                struct tepal_filter **out)
{
    enum tepal_status status = tepal_filter_create(&s->params, NULL, out, NULL);
    const struct lru_object *o = lru_first(cache);
    for (; o != NULL && status == TEPAL_OK; o = lru_next(cache, o)) {
        status = tepal_filter_add(*out, o->key);
    }
    return status;
}

static enum tepal_status advertise(struct digest *d, const struct attack_setting *s, uint32_t who,
                                   struct tally *t)
{
    struct proxy *proxy = &d->proxy[who];
    bool lies = who == d->proxies - 1 && s->attack != ATTACK_NONE;
    struct tepal_filter *filter = NULL;
    enum tepal_status status = lies ? forge(d, s, &filter) : honest(s, &proxy->cache, &filter);
    if (status == TEPAL_OK && arg(d->args, "judge")->given) {
        struct tepal_terms terms = TEPAL_TERMS_INIT;
        struct tepal_judgement judgement;
        terms.keys = proxy->cache.count;
        /* A forged one says what its bits were drawn from; a real one would be caught by them. */
        terms.agreed = TEPAL_AGREED_FIELD(generalized.ones);
        terms.params = s->params;
        status = tepal_judge(filter, &terms, &judgement, NULL);
        if (status == TEPAL_OK && judgement.verdict != TEPAL_ACCEPTED) {
            tepal_filter_free(filter);
            filter = NULL;
            t->refused++;
        }
    }
    if (status != TEPAL_OK) {
        tepal_filter_free(filter);
        return status;
    }
    t->adverts++;
    tepal_filter_free(proxy->filter);
    proxy->filter = filter;
    proxy->fresh = 0;
    return TEPAL_OK;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Every sibling whose filter says yes is asked. */
static void ask_siblings(const struct digest *d, uint32_t at, struct tepal_digest key,
                         struct tally *t)
{
    bool found = false;
    bool there = false;
    for (uint32_t i = 0; i < d->proxies; i++) {
        const struct proxy *sibling = &d->proxy[i];
        if (i == at) {
            continue;
        }
        bool has = lru_has(&sibling->cache, key);
        bool yes = sibling->filter != NULL && tepal_filter_query(sibling->filter, key);
        there = there || has;
        found = found || (has && yes);
        if (i == d->proxies - 1) {
            t->attracted += yes;
            t->deceived += yes && !has;
        } else {
            t->asked += yes;
            t->wrong += yes && !has;
        }
    }
    t->found += found;
    t->missed += there && !found;
}

static enum tepal_status one_request(struct digest *d, const struct attack_setting *s, size_t i,
                                     struct tally *t)
{
    const struct request *request = &d->requests.request[i];
    uint32_t at = proxy_at(d, i);
    struct proxy *proxy = &d->proxy[at];
    struct tepal_digest key = d->key[request->key];
    bool counts = at != d->proxies - 1; /* what the clients of a liar get is not our concern */
    bool hit = lru_hit(&proxy->cache, key);
    t->requests += counts;
    t->hits += counts && hit;
    if (hit) {
        return TEPAL_OK;
    }
    if (counts) {
        t->foreign++;
        ask_siblings(d, at, key, t);
    }
    if (!lru_insert(&proxy->cache, key, request->size, NULL, NULL)) {
        return TEPAL_NO_MEMORY;
    }
    return ++proxy->fresh < d->refresh ? TEPAL_OK : advertise(d, s, at, t);
}

static enum tepal_status one_round(struct digest *d, const struct attack_setting *s,
                                   struct tally *t)
{
    struct tepal_hasher hasher;
    enum tepal_status status = TEPAL_OK;
    tepal_hasher_init(s->params.seed, &hasher);
    for (uint32_t i = 0; i < d->requests.keys.count; i++) {
        const char *text = names_text(&d->requests.keys, i);
        d->key[i] = tepal_hash_bytes(&hasher, text, strlen(text));
    }
    for (uint32_t i = 0; i < d->proxies; i++) {
        lru_init(&d->proxy[i].cache, d->cache_objects, d->cache_bytes);
    }
    if (s->attack != ATTACK_NONE) { /* a liar does not wait until it has something */
        status = advertise(d, s, d->proxies - 1, t);
    }
    for (size_t i = 0; i < d->requests.count && status == TEPAL_OK; i++) {
        status = one_request(d, s, i, t);
    }
    for (uint32_t i = 0; i < d->proxies; i++) {
        lru_free(&d->proxy[i].cache);
        tepal_filter_free(d->proxy[i].filter);
        d->proxy[i].filter = NULL;
        d->proxy[i].fresh = 0;
    }
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static double share(uint64_t part, uint64_t all)
{
    return all == 0 ? 0 : (double)part / (double)all;
}

/* What the malicious one can attract at most. */
static double bound(const struct attack_setting *s)
{
    return s->params.kind == TEPAL_KIND_GENERALIZED ? tepal_params_fp_bound(&s->params) : 1;
}

static void print_row(struct digest *d, const struct attack_setting *s, const struct tally *t)
{
    struct report *r = &d->report;
    report_object(r, NULL);
    report_text(r, "kind", s->kind, column("filter", -11, NULL));
    report_text(r, "attack", attack_names[s->attack], column("attack", -8, NULL));
    report_whole(r, "proxies", d->proxies, JSON_ONLY);
    report_whole(r, "bits", s->params.cells, NO_TEXT);
    report_whole(r, "hashes", s->params.hashes, JSON_ONLY);
    report_whole(r, "reset_hashes", attack_resets(s), JSON_ONLY);
    report_whole(r, "tolerance", attack_tolerance(s), JSON_ONLY);
    report_whole(r, "rounds", d->rounds, JSON_ONLY);
    report_whole(r, "requests", t->requests, NO_TEXT);
    report_whole(r, "hits", t->hits, NO_TEXT);
    report_whole(r, "foreign", t->foreign, column("foreign", 9, NULL));
    report_whole(r, "found", t->found, NO_TEXT);
    report_real(r, NULL, share(t->found, t->foreign), text_column("found", 9, "%.2f %%"));
    report_whole(r, "missed", t->missed, NO_TEXT);
    report_real(r, NULL, share(t->missed, t->foreign), text_column("missed", 9, "%.2f %%"));
    report_whole(r, "asked", t->asked, NO_TEXT);
    report_whole(r, "wrong", t->wrong, column("wrong", 9, NULL));
    report_whole(r, "attracted", t->attracted, NO_TEXT);
    report_whole(r, "deceived", t->deceived, NO_TEXT);
    report_real(r, "attracted_share", share(t->attracted, t->foreign),
                column("attracted", 10, "%.2f %%"));
    report_real(r, "deceived_share", share(t->deceived, t->foreign),
                column("deceived", 10, "%.2f %%"));
    report_real(r, "bound", bound(s), column_tsv(column("bound", 8, "%.2f %%"), "%.6g"));
    report_whole(r, "adverts", t->adverts, JSON_ONLY);
    report_whole(r, "refused", t->refused, NO_TEXT);
    report_end(r);
}

/* ---- the experiment -------------------------------------------------------------------------- */

static int run_setting(void *ctx, const struct attack_setting *setting)
{
    struct digest *d = ctx;
    struct attack_setting s = *setting;
    struct tally t = {0};
    uint64_t seed = arg_whole(d->args, "seed", 1);
    enum tepal_status status = TEPAL_OK;
    d->random = seed;
    for (uint64_t round = 0; round < d->rounds && status == TEPAL_OK; round++) {
        s.params.seed = seed + round;
        status = one_round(d, &s, &t);
    }
    if (status == TEPAL_OK) {
        print_row(d, &s, &t);
    }
    return say_status(NULL, d->args->command->name, status, NULL);
}

static int experiment(struct digest *d)
{
    struct attack_setting kinds[ATTACK_KINDS];
    uint64_t bits = arg_whole(d->args, "bits", d->cache_objects * 64);
    int code = attack_settings(d->args, bits, kinds);
    if (code != EXIT_YES) {
        return code;
    }
    if (!arg(d->args, "quiet")->given) {
        say_line("requests   %zu for %" PRIu32 " objects, to %" PRIu32 " proxies; the last one is "
                 "malicious",
                 d->requests.count, d->requests.keys.count, d->proxies);
        say_line("filters    %" PRIu64 " bits each, rebuilt after %" PRIu64 " new object%s", bits,
                 d->refresh, SAY_S(d->refresh));
    }
    d->report = report_open(d->args);
    d->report.tsv = "%.6f";
    return report_close(&d->report, attack_each(d->args, kinds, run_setting, d));
}

static int make_arrays(struct digest *d)
{
    d->key = calloc((size_t)d->requests.keys.count + 1, sizeof *d->key);
    d->proxy = calloc(d->proxies, sizeof *d->proxy);
    return d->key == NULL || d->proxy == NULL ? say_no_memory() : EXIT_YES;
}

/* The options that depend on each other. */
static int check_options(struct digest *d)
{
    if (arg(d->args, "cache-bytes")->given && !arg(d->args, "size-field")->given) {
        return say_error(NULL, d->args->command->name,
                         "--cache-bytes needs --size-field, the sizes of the objects");
    }
    if (arg(d->args, "cache-bytes")->given && !arg(d->args, "bits")->given &&
        !arg(d->args, "cache-size")->given) {
        return say_error(NULL, d->args->command->name,
                         "--cache-bytes needs --bits, the size of the filters");
    }
    d->cache_objects = arg(d->args, "cache-bytes")->given ? arg(d->args, "cache-size")->whole
                                                          : arg_whole(d->args, "cache-size", 1000);
    d->cache_bytes = arg(d->args, "cache-bytes")->whole;
    uint64_t tenth = d->cache_objects / 10;
    d->refresh = arg_whole(d->args, "refresh", tenth == 0 ? 100 : tenth);
    d->rounds = arg_whole(d->args, "rounds", 1);
    return EXIT_YES;
}

static int digest_run(const struct args *args)
{
    struct digest d = {.args = args};
    struct requests_form form = {arg(args, "field")->text,
                                 arg(args, "proxy-field")->given ? arg(args, "proxy-field")->text
                                                                 : arg(args, "client-field")->text,
                                 arg(args, "size-field")->text};
    int code = check_options(&d);
    if (code == EXIT_YES) {
        code = requests_read(&d.requests, &form, args->operand, args->operands);
    }
    if (code == EXIT_YES && d.requests.count == 0) {
        code = say_error(NULL, args->command->name, "no requests in the input");
    }
    code = code == EXIT_YES ? assign_proxies(&d) : code;
    code = code == EXIT_YES ? make_arrays(&d) : code;
    code = code == EXIT_YES ? experiment(&d) : code;
    requests_free(&d.requests);
    free(d.proxy_of);
    free(d.key);
    free(d.proxy);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "field", OF_VALUE(TAKES_TEXT, "C"),
           "The field with the requested object: a number from 1, or its name in the first line "
           "(default: url, key or object; the last of one or two)."),
    OPTION(0, "proxy-field", OF_VALUE(TAKES_TEXT, "C"),
           "The field that names the proxy (default: proxy, client or host; the first of two; "
           "otherwise the proxies take turns)."),
    OPTION(0, "client-field", OF_VALUE(TAKES_TEXT, "C"),
           "The field that names the client; clients are assigned to proxies by hash."),
    OPTION(0, "size-field", OF_VALUE(TAKES_TEXT, "C"),
           "The field with the size of the object in bytes, for --cache-bytes."),
    OPTION('P', "proxies", OF_WHOLE("P", 2, 4096),
           "Assign proxies or clients to P proxies, by hash (default: one proxy per name; 4 with "
           "--client-field, or if there are no names)."),
    OPTION(0, "cache-size", OF_WHOLE("N", 1, (uint64_t)1 << 31),
           "Objects per cache (default 1000); the least recently used are evicted."),
    OPTION(0, "cache-bytes", OF_SIZE(1, UINT64_MAX),
           "Bytes per cache (with --cache-size: the limit that is reached first)."),
    OPTION(0, "refresh", OF_WHOLE("N", 1, UINT64_MAX),
           "A proxy rebuilds its filter after N new objects (default: a tenth of the cache)."),
    OPTION('m', "bits", OF_WHOLE("M", 1, (uint64_t)1 << 40),
           "The size of each filter (default: 64 bits per object in the cache)."),
    OPTION_SIM_HASHES,
    OPTION_SIM_RESETS,
    OPTION_SIM_SETS,
    OPTION_SIM_TOLERANCE,
    OPTION_SIM_ATTACK,
    FLAG(0, "judge", "Accept a filter only if `tepal receive` would, with its defaults."),
    OPTION('r', "rounds", OF_WHOLE("R", 1, 1000000),
           "Repeat with R seeds, and sum the results (default 1)."),
    OPTION_DEMO_SEED,
    OPTION_ROWS_TSV,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {
    {"proxy-field", "client-field"}, {"tsv", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal app digest requests.tsv.gz --cache-size 500", "Three attacks, two kinds of filters."},
    {"tepal app digest access.log --field 7 --client-field 1 -P 8",
     "A web server's log, its clients behind eight proxies."},
    {"tepal app digest keys.txt --judge --attack worst --json",
     "With filters checked before they are used."},
    {NULL, NULL}};

const struct command app_digest = {
    .name = "app digest",
    .synopsis = "[REQUESTS...] [--proxies P] [--cache-size N] [--attack ATTACK]",
    .summary = "Caches that advertise their contents, and one that lies.",
    .about =
        "Replays the log REQUESTS over proxies, each with its own cache. A proxy advertises a "
        "filter of its cache; a request that misses the local cache (a foreign one) goes to every "
        "sibling whose filter says yes. The last proxy is malicious and advertises a filter that "
        "attracts requests. Counts the requests of the others: found in a sibling that was "
        "queried; "
        "missed, although a sibling had the object; wrong, sent to an honest sibling that did not "
        "have it; attracted by the malicious proxy; and deceived, those attracted that it did not "
        "have either. Compares Bloom filters and generalized ones.\n\n"
        "REQUESTS has one request per line, in fields separated by tabs or spaces: who and what, "
        "only what, or any fields (see --field and the options after it). Files may be compressed.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .most_operands = SIZE_MAX,
    .examples = examples,
    .run = digest_run};

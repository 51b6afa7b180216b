/*
 * header_bench.c: how fast does a node test a packet's header against its links? Headers of 256
 * bits, Bloom (6 hashes) and yes-no (192 + 2 x 32 bits, 4 and 3 hashes), against 8, 16, 32 and 64
 * links whose masks stay in the first-level cache. For each, nanoseconds a link of
 *
 *   batch   tepal_header_match_many: transposed masks, eight links a register
 *   single  one link after the other, masks as they are: AND and compare of 64-bit words
 *   floor   the machine's: one 32-byte load a link, and nothing else that counts
 *
 * and how many times the floor the batch takes, how many times the batch the single way takes. The
 * three take turns, ROUNDS times, and the median counts. Their answers must agree.
 * Output is TSV, or --json.
 */
#include "timing.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define ROUNDS  41
#define HEADERS 64
#define PASSES  400 /* over all headers, a round */
#define LINKS   64
#define WORDS   4
#define PATH    24 /* links in a header */

struct scene {
    struct tepal_header_layout layout;
    uint64_t header[HEADERS][WORDS];
    uint64_t mask[LINKS][WORDS];
    _Alignas(64) uint32_t table[LINKS * 8];
};

/* ---- the scene ------------------------------------------------------------------------------- */

/* Headers of PATH links each; some of the node's links are among them. */
static void make_headers(struct scene *s, const struct tepal_hasher *hasher)
{
    struct tepal_digest path[PATH];
    struct tepal_digest avoid[LINKS];
    for (uint64_t h = 0; h < HEADERS; h++) {
        struct tepal_filter *filter = NULL;
        enum tepal_status status = TEPAL_OK;
        path[0] = tepal_hash_u64(hasher, h % LINKS); /* one of the node's */
        for (uint64_t i = 1; i < PATH; i++) {
            path[i] = tepal_hash_u64(hasher, 1000 + h * PATH + i);
        }
        for (uint64_t i = 0; i < LINKS; i++) {
            avoid[i] = tepal_hash_u64(hasher, i);
        }
        if (s->layout.params.kind == TEPAL_KIND_YESNO) {
            struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
            struct tepal_known input = {
                .members = path, .member_count = PATH, .avoid = avoid, .avoid_count = LINKS};
            status = tepal_yesno_build(&s->layout.params, &input, &how, NULL, &filter, NULL, NULL);
        } else {
            status = tepal_filter_create(&s->layout.params, NULL, &filter, NULL);
            for (size_t i = 0; i < PATH && status == TEPAL_OK; i++) {
                status = tepal_filter_add(filter, path[i]);
            }
        }
        if (status != TEPAL_OK ||
            tepal_header_from_filter(&s->layout, filter, s->header[h]) != TEPAL_OK) {
            die("a header cannot be made");
        }
        tepal_filter_free(filter);
    }
}

static void make_scene(struct scene *s, const struct tepal_params *params)
{
    struct tepal_hasher hasher;
    struct tepal_error error = {.why = ""};
    memset(s, 0, sizeof *s);
    if (tepal_header_layout_init(params, &s->layout, &error) != TEPAL_OK) {
        die(error.why);
    }
    tepal_hasher_init(params->seed, &hasher);
    make_headers(s, &hasher);
    for (uint64_t i = 0; i < LINKS; i++) {
        tepal_header_mask(&s->layout, tepal_hash_u64(&hasher, i), s->mask[i]);
        tepal_header_table_put(&s->layout, i, s->mask[i], s->table);
    }
}

/* ---- the three ------------------------------------------------------------------------------- */

static __attribute__((noinline)) uint64_t run_batch(const struct scene *s, size_t links)
{
    uint64_t sum = 0;
    uint64_t answers;
    for (int pass = 0; pass < PASSES; pass++) {
        for (size_t h = 0; h < HEADERS; h++) {
            tepal_header_match_many(&s->layout, s->header[h], s->table, links, &answers);
            sum += answers;
        }
    }
    return sum;
}

/* What one would write at first: the masks one after the other, 64 bits at a time. */
static uint64_t single_one(const struct scene *s, const uint64_t *h, size_t links)
{
    bool yesno = s->layout.params.kind == TEPAL_KIND_YESNO;
    uint64_t answers = 0;
    for (size_t i = 0; i < links; i++) {
        const uint64_t *m = s->mask[i];
        uint64_t missing = (m[0] & ~h[0]) | (m[1] & ~h[1]) | (m[2] & ~h[2]);
        uint64_t last = m[3] & ~h[3];
        bool match =
            yesno ? missing == 0 && (uint32_t)last != 0 && last >> 32 != 0 : (missing | last) == 0;
        answers |= (uint64_t)match << i;
    }
    return answers;
}

static __attribute__((noinline)) uint64_t run_single(const struct scene *s, size_t links)
{
    uint64_t sum = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        for (size_t h = 0; h < HEADERS; h++) {
            sum += single_one(s, s->header[h], links);
        }
    }
    return sum;
}

#if defined(__x86_64__)
__attribute__((target("avx2"), noinline)) static uint64_t loads(const uint32_t *table, size_t links)
{
    __m256i a = _mm256_setzero_si256();
    __m256i b = a;
    for (size_t i = 0; i < links * 8; i += 16) {
        a = _mm256_or_si256(a, _mm256_load_si256((const __m256i *)(const void *)(table + i)));
        b = _mm256_or_si256(b, _mm256_load_si256((const __m256i *)(const void *)(table + i + 8)));
    }
    return (uint64_t)_mm256_extract_epi64(_mm256_or_si256(a, b), 0);
}

static uint64_t run_floor(const struct scene *s, size_t links)
{
    uint64_t sum = 0;
    if (!__builtin_cpu_supports("avx2")) {
        return 0;
    }
    for (int pass = 0; pass < PASSES; pass++) {
        for (size_t h = 0; h < HEADERS; h++) {
            sum += loads(s->table, links);
            __asm__ volatile("" ::: "memory"); /* not once for all */
        }
    }
    return sum;
}
#else
static uint64_t run_floor(const struct scene *s, size_t links)
{
    (void)s;
    (void)links;
    return 0;
}
#endif

/* ---- measuring ------------------------------------------------------------------------------- */

static double timed(uint64_t (*run)(const struct scene *, size_t), const struct scene *s,
                    size_t links, uint64_t *sum)
{
    double start = wall_ns();
    *sum = run(s, links);
    return (wall_ns() - start) / ((double)PASSES * HEADERS * (double)links);
}

static void measure(const struct scene *s, const char *kind, size_t links, bool json)
{
    static double times[3][ROUNDS];
    static volatile uint64_t sink;
    uint64_t batch = 0;
    uint64_t single = 0;
    uint64_t floor_sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        times[0][round] = timed(run_batch, s, links, &batch);
        times[1][round] = timed(run_single, s, links, &single);
        times[2][round] = timed(run_floor, s, links, &floor_sum);
        sink = floor_sum;
        if (batch != single) {
            die("the two ways disagree");
        }
    }
    (void)sink;
    double b = median(times[0], ROUNDS);
    double o = median(times[1], ROUNDS);
    double f = median(times[2], ROUNDS);
    if (json) {
        printf("{\"header\":\"%s\",\"bits\":256,\"links\":%zu,\"batch_ns\":%.3f,\"single_ns\":%.3f,"
               "\"floor_ns\":%.3f,\"to_floor\":%.2f,\"single_to_batch\":%.2f}\n",
               kind, links, b, o, f, f > 0 ? b / f : 0, o / b);
    } else {
        printf("%s\t256\t%zu\t%.3f\t%.3f\t%.3f\t%.2f\t%.2f\n", kind, links, b, o, f,
               f > 0 ? b / f : 0, o / b);
    }
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {8, 16, 32, 64};
    static struct scene scene;
    struct tepal_params bloom = TEPAL_PARAMS_INIT;
    struct tepal_params yesno = TEPAL_PARAMS_INIT;
    struct options o = options_of(argc, argv);
    bloom.cells = 256;
    bloom.hashes = 6;
    bloom.seed = 1;
    yesno.seed = 1;
    yesno.kind = TEPAL_KIND_YESNO;
    yesno.cells = 192 + 2 * 32;
    yesno.hashes = 4;
    yesno.yesno = (struct tepal_yesno_params){.no_bits = 32, .no_filters = 2, .no_hashes = 3};
    if (!o.json) {
        printf("header\tbits\tlinks\tbatch_ns\tsingle_ns\tfloor_ns\tto_floor\tsingle_to_batch\n");
    }
    for (int k = 0; k < 2; k++) {
        make_scene(&scene, k == 0 ? &bloom : &yesno);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            measure(&scene, k == 0 ? "bloom" : "yesno", sizes[i], o.json);
        }
    }
    return 0;
}

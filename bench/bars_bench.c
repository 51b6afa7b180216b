/*
 * bars_bench.c: the bars of tepal's speed: every ratio that matters, measured in one run, with the
 * bound it should keep. The references are in reference/, compiled into this program for this very
 * machine, as a user of the best public filters would compile them.
 *
 * Output is TSV (or --json), a row per bar; the last line counts the bars kept. --quick leaves out
 * 10^8 keys; --only one|batch|kinds|growth runs one table, --keys N only filters of so many keys,
 * --rounds N takes the median of as many rounds (7).
 */
#include "bars.h"

#include <tepal/papers.h>

volatile uint64_t bars_sink;
size_t bars_rounds = 7;

void bars_measure(struct runner *runners, size_t count)
{
    double *rounds = must(calloc(count * bars_rounds, sizeof *rounds));
    for (size_t r = 0; r < bars_rounds; r++) {
        for (size_t i = 0; i < count; i++) {
            for (int warm = 1; warm < BARS_RUNS; warm++) {
                (void)runners[i].run(runners[i].context);
            }
            rounds[i * bars_rounds + r] = runners[i].run(runners[i].context);
        }
    }
    for (size_t i = 0; i < count; i++) {
        runners[i].ns = median(rounds + i * bars_rounds, bars_rounds);
    }
    free(rounds);
}

const struct runner *bars_find(const struct runner *runners, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(runners[i].name, name) == 0) {
            return &runners[i];
        }
    }
    die(name);
}

static void print_number(const char *format, double number, const char *absent)
{
    if (isnan(number)) {
        fputs(absent, stdout);
    } else {
        printf(format, number);
    }
}

void bars_row(struct bars *bars, const char *what, uint64_t n, double ours, double other,
              double at_most, double fp, double other_fp)
{
    double ratio = ours / other;
    bool judged = !isnan(at_most);
    bool met = ratio <= at_most;
    if (bars->options.json) {
        printf("%s\n  {\"bar\": \"%s\", \"n\": %" PRIu64
               ", \"ns\": %.3f, \"reference_ns\": %.3f, \"ratio\": %.3f, \"at_most\": ",
               before_row(&bars->first), what, n, ours, other, ratio);
        print_number("%g", at_most, "null");
        printf(", \"met\": %s, \"fp\": ", !judged ? "null" : met ? "true" : "false");
        print_number("%.6f", fp, "null");
        printf(", \"reference_fp\": ");
        print_number("%.6f", other_fp, "null");
        printf("}");
    } else {
        printf("%s\t%" PRIu64 "\t%.2f\t%.2f\t%.2f\t", what, n, ours, other, ratio);
        print_number("%g", at_most, "-");
        printf("\t%s\t", !judged ? "-" : met ? "yes" : "NO");
        print_number("%.6f", fp, "-");
        printf("\t");
        print_number("%.6f", other_fp, "-");
        printf("\n");
    }
    fflush(stdout);
    bars->judged += judged;
    bars->missed += judged && !met;
}

struct tepal_filter *bars_filter(enum tepal_kind_id kind, enum tepal_layout layout, uint64_t cells,
                                 uint32_t hashes, uint64_t n)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_filter *filter;
    struct tepal_error error;
    params.kind = kind;
    params.layout = layout;
    params.cells = (cells + TEPAL_LINE_BITS - 1) / TEPAL_LINE_BITS * TEPAL_LINE_BITS;
    params.capacity = n;
    params.seed = 42;
    if (kind == TEPAL_KIND_COUNTING) {
        params.counting.choices = 1;
        params.counting.lines =
            tepal_layout_in_lines(layout) ? TEPAL_LINES_LONG : TEPAL_LINES_SHORT;
    }
    params.hashes =
        hashes != 0 ? hashes : tepal_bloom_best_hashes(layout, params.positions, params.cells, n);
    if (tepal_filter_create(&params, NULL, &filter, &error) != TEPAL_OK) {
        die(error.why);
    }
    return filter;
}

bool bars_wanted(const struct bars *bars, uint64_t n)
{
    return bars->keys != 0 ? n == bars->keys : !bars->options.quick || n <= 10000000;
}

static const struct {
    const char *name;
    void (*run)(struct bars *bars);
} tables[] = {
    {"one", bars_one}, {"batch", bars_batch}, {"kinds", bars_kinds}, {"growth", bars_growth}};
#define TABLES (sizeof tables / sizeof *tables)

static bool is_table(const char *name)
{
    for (size_t i = 0; i < TABLES; i++) {
        if (strcmp(name, tables[i].name) == 0) {
            return true;
        }
    }
    return false;
}

static struct bars bars_of(int argc, char **argv)
{
    struct bars bars = {.first = true};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            bars.options.json = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            bars.options.quick = true;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc && is_table(argv[i + 1])) {
            bars.only = argv[++i];
        } else if (strcmp(argv[i], "--keys") == 0 && i + 1 < argc) {
            bars.keys = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
            bars_rounds = strtoull(argv[++i], NULL, 10);
            bars_rounds = bars_rounds > 0 ? bars_rounds : 1; /* a median is one of them */
        } else {
            die("options: --json, --quick, --only one|batch|kinds|growth, --keys N, --rounds N");
        }
    }
    return bars;
}

int main(int argc, char **argv)
{
    struct bars bars = bars_of(argc, argv);
    if (!bars.options.json) {
        printf("bar\tn\tns\treference_ns\tratio\tat_most\tmet\tfp\treference_fp\n");
    }
    for (size_t i = 0; i < TABLES; i++) {
        if (bars.only == NULL || strcmp(bars.only, tables[i].name) == 0) {
            tables[i].run(&bars);
        }
    }
    if (bars.options.json) {
        printf("\n]\n");
    } else {
        printf("# %zu of %zu bars kept\n", bars.judged - bars.missed, bars.judged);
    }
    return 0;
}

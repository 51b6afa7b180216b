/*
 * timing.h: what the benchmarks share: clocks, the median of the rounds, options, and the way out.
 * Include it first: it asks the system for more than the standard has.
 */
#ifndef TEPAL_BENCH_TIMING_H
#define TEPAL_BENCH_TIMING_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tepal/tepal.h>

static inline _Noreturn void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    exit(2);
}

static inline void *must(void *memory)
{
    if (memory == NULL) {
        die("out of memory");
    }
    return memory;
}

static inline double clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline double wall_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Processor time: other programs do not count. */
static inline double cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static inline int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts them. */
static inline double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, ascending);
    return values[count / 2];
}

/* How time grows with keys, from 10^`first` on by decades: times in any unit. */
static inline void print_growth(const char *what, int first, const double *times, size_t count)
{
    const double at_most = 1.1;
    printf("bar\tdecades_of_time\tat_most\tmet\n");
    for (size_t i = 1; i < count; i++) {
        double growth = log10(times[i] / times[i - 1]);
        printf("%s, from 10^%d to 10^%d keys\t%.2f\t%.1f\t%s\n", what, first + (int)i - 1,
               first + (int)i, growth, at_most, growth <= at_most ? "yes" : "NO");
    }
}

struct options {
    bool json;
    bool quick; /* the largest sizes are left out, where there are any */
};

static inline struct options options_of(int argc, char **argv)
{
    struct options o = {false, false};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            o.json = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            o.quick = true;
        } else {
            die("options: --json, --quick");
        }
    }
    return o;
}

/* What stands before a row of a JSON array: the bracket that opens it, then commas. */
static inline const char *before_row(bool *first)
{
    const char *mark = *first ? "[" : ",";
    *first = false;
    return mark;
}

#endif

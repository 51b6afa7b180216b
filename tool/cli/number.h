/*
 * number.h: numbers as people write them. Every parser takes the whole text, returns NULL and sets
 * *out, or returns a sentence that says what is wrong and leaves *out alone.
 */
#ifndef TOOL_CLI_NUMBER_H
#define TOOL_CLI_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/*
 * A whole number: 1000, 1e6, 1.5M, 64Ki. k M G T P are powers of 1000; Ki Mi Gi Ti Pi powers of
 * 1024. Exact: what is not a whole number or does not fit 64 bits is refused, never rounded.
 */
const char *number_whole(const char *text, uint64_t *out);

/* A size in bytes: the same, and a B may follow: 4096, 10MB, 10MiB. */
const char *number_size(const char *text, uint64_t *out);

/*
 * A duration, to milliseconds: 500ms, 90s, 10m or 10min, 1.5h, 1h30m, 7d. The unit is needed; what
 * is not a whole number of milliseconds is refused.
 */
const char *number_duration(const char *text, uint64_t *out);

/* A seed: decimal, or hexadecimal after 0x. */
const char *number_seed(const char *text, uint64_t *out);

/* A positive, finite number: 9.6, 1e3. */
const char *number_positive(const char *text, double *out);

/* A rate above 0 and below 1: 1%, 0.01, 1e-2 or 1/100. */
const char *number_rate(const char *text, double *out);

/* A share above 0 and at most 1, in the same spellings. */
const char *number_share(const char *text, double *out);

/* A part of a whole, 0 and 1 included, in the same spellings. */
const char *number_part(const char *text, double *out);

/* A weight of `len` characters: a finite decimal number that is not negative. */
const char *number_weight(const char *text, size_t len, double *out);

#endif

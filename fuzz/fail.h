/*
 * fail.h: calls that fail when they are told to. Every program of the fuzzer is linked so that the
 * calls below, made by the library or by the command, come here first (fail.cmake).
 */
#ifndef TEPAL_FUZZ_FAIL_H
#define TEPAL_FUZZ_FAIL_H

#include <stdbool.h>
#include <stdint.h>

/* In place of an error: what was to be read or written is cut in half. */
#define FAIL_SHORT (-1)

/*
 * From now on the call number `at` (from 0) fails with `error`, or for memory with NULL; those
 * before it and after it do not.
 */
void fail_begin(uint64_t at, int error);

/* No more failures. Was there one? */
bool fail_end(void);

/* Run it once for each of its calls, which fails (EIO), and once without a failure. */
void fail_each(void (*run)(void *context), void *context);

#endif

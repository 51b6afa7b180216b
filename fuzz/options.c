/*
 * options.c: how the sanitizers run under the fuzzer. A program that allocates for microseconds
 * needs neither 256 MiB of freed memory kept aside, which is never warm, nor deep stacks.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "quarantine_size_mb=2:malloc_context_size=8";
}

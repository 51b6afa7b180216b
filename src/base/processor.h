/*
 * processor.h: what this processor can do. Kernels come twice, in plain C and in files *_avx2.c
 * that the build compiles for AVX2, some a third time, in *_avx512.c; whoever has such a pair asks
 * here which one to take.
 */
#ifndef TEPAL_SRC_BASE_PROCESSOR_H
#define TEPAL_SRC_BASE_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One thing of this processor and system, by glibc's name and by the compiler's. glibc knows since
 * the program started. The compiler asks the processor itself, ten times before main, and where a
 * hypervisor answers that takes as long as a tenth of starting.
 */
#if defined(__x86_64__)
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#ifdef CPU_FEATURE_ACTIVE
/* What that macro says, with a shift that is defined for the highest bit, too. */
static inline bool processor_active(unsigned feature)
{
    const struct cpuid_feature *leaf = __x86_get_cpuid_feature_leaf(feature / 128);
    return (leaf->active_array[feature % 128 / 32] >> feature % 32 & 1) != 0;
}
#define PROCESSOR_HAS(feature, name) processor_active(x86_cpu_##feature)
#else
#define PROCESSOR_HAS(feature, name) __builtin_cpu_supports(name)
#endif
#endif

/* Can this machine run the files *_avx2.c, and were they built for it? */
bool tepal_processor_has_avx2(void);

/* Were they? (processor_avx2.c) */
extern const bool tepal_processor_built_avx2;

/* The same of the files *_avx512.c: AVX-512 as Ice Lake and Zen 4 have it. */
bool tepal_processor_has_avx512(void);
extern const bool tepal_processor_built_avx512;

/*
 * Whole arrays are read so many bytes ahead: vectors do so much at once that the processor itself
 * does not look far enough. Beyond the end nothing happens.
 */
#define PROCESSOR_AHEAD 4096

static inline void processor_request(const void *at, size_t ahead)
{
    __builtin_prefetch((const void *)((uintptr_t)at + ahead));
}

#endif

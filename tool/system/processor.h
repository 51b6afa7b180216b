/*
 * processor.h: what the processor and the system offer, by glibc's name and by the compiler's.
 * glibc knows since the program started; the compiler asks the processor itself, ten times before
 * main, and where a hypervisor answers that takes as long as a tenth of starting.
 */
#ifndef TOOL_SYSTEM_PROCESSOR_H
#define TOOL_SYSTEM_PROCESSOR_H

#include <stdbool.h>

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

#endif

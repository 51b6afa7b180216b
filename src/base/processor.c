/* processor.c: asks the processor. Built for the baseline: it must run anywhere. */
#include "base/processor.h"

bool tepal_processor_has_avx2(void)
{
#if defined(__x86_64__)
    return tepal_processor_built_avx2 && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

/* The last five came with processors that need not lower their clock for such vectors. */
bool tepal_processor_has_avx512(void)
{
#if defined(__x86_64__)
    return tepal_processor_built_avx512 && tepal_processor_has_avx2() &&
           __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bitalg") &&
           __builtin_cpu_supports("avx512vpopcntdq");
#else
    return false;
#endif
}

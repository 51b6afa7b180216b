/* processor.c: asks the processor. Built for the baseline: it must run anywhere. */
#include "filter/lines/processor.h"

bool tepal_processor_has_avx2(void)
{
#if defined(__x86_64__)
    return tepal_processor_built_avx2 && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

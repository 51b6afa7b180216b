/* dispatch.c: which kernels this machine takes. Built at the baseline; asks the processor. */
#include "filter/lines/kernels.h"

bool tepal_processor_has_avx2(void)
{
#if defined(__x86_64__)
    return tepal_bloom_lines_avx2.add != NULL && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

const struct bloom_kernels *tepal_bloom_dispatch(enum tepal_layout layout)
{
    bool avx2 = tepal_processor_has_avx2();
    if (layout == TEPAL_LAYOUT_FLAT || layout == TEPAL_LAYOUT_PARTITIONED) {
        return avx2 ? &tepal_bloom_flat_avx2 : &tepal_bloom_flat_portable;
    }
    return avx2 ? &tepal_bloom_lines_avx2 : &tepal_bloom_lines_portable;
}

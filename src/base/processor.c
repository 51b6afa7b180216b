/* processor.c: asks the processor. Built for the baseline: it must run anywhere. */
#include "base/processor.h"

bool tepal_processor_has_avx2(void)
{
#if defined(__x86_64__)
    return tepal_processor_built_avx2 && PROCESSOR_HAS(AVX2, "avx2") &&
           PROCESSOR_HAS(BMI1, "bmi") && PROCESSOR_HAS(BMI2, "bmi2");
#else
    return false;
#endif
}

/* The last five came with processors that need not lower their clock for such vectors. */
bool tepal_processor_has_avx512(void)
{
#if defined(__x86_64__)
    return tepal_processor_built_avx512 && tepal_processor_has_avx2() &&
           PROCESSOR_HAS(AVX512F, "avx512f") && PROCESSOR_HAS(AVX512BW, "avx512bw") &&
           PROCESSOR_HAS(AVX512DQ, "avx512dq") && PROCESSOR_HAS(AVX512VL, "avx512vl") &&
           PROCESSOR_HAS(AVX512_VBMI, "avx512vbmi") && PROCESSOR_HAS(AVX512_VBMI2, "avx512vbmi2") &&
           PROCESSOR_HAS(AVX512_VNNI, "avx512vnni") &&
           PROCESSOR_HAS(AVX512_BITALG, "avx512bitalg") &&
           PROCESSOR_HAS(AVX512_VPOPCNTDQ, "avx512vpopcntdq");
#else
    return false;
#endif
}

/*
 * processor.c: a processor with less than this one may have, linked before the library's own:
 * without AVX-512, and unless TEST_WITH_AVX2 is 1, without AVX2.
 */
#include "base/processor.h"

bool tepal_processor_has_avx2(void)
{
#if TEST_WITH_AVX2 && defined(__x86_64__)
    return tepal_processor_built_avx2 && PROCESSOR_HAS(AVX2, "avx2") &&
           PROCESSOR_HAS(BMI1, "bmi") && PROCESSOR_HAS(BMI2, "bmi2");
#else
    return false;
#endif
}

bool tepal_processor_has_avx512(void)
{
    return false;
}

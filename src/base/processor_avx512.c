/* processor_avx512.c: was this file, and so every other *_avx512.c, built for AVX-512? */
#include "base/processor.h"

#if defined(__AVX512VBMI2__)
const bool tepal_processor_built_avx512 = true;
#else
const bool tepal_processor_built_avx512 = false;
#endif

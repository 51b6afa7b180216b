/* processor_avx2.c: was this file, and so every other *_avx2.c, built for AVX2? */
#include "base/processor.h"

#if defined(__AVX2__)
const bool tepal_processor_built_avx2 = true;
#else
const bool tepal_processor_built_avx2 = false;
#endif

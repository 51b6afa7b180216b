/* inline_avx512.c: the calls of tepal/inline.h, compiled for AVX-512 if the compiler can. */
#include "inline_help.h"

#if defined(TEPAL_DIRECT_AVX512)
const struct inline_calls inline_avx512 = INLINE_CALLS(true);
#else
const struct inline_calls inline_avx512 = INLINE_CALLS(false);
#endif

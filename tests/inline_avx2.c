/* inline_avx2.c: the calls of tepal/inline.h, compiled for AVX2 if the compiler can. */
#include "inline_help.h"

#if defined(TEPAL_DIRECT_AVX2)
const struct inline_calls inline_avx2 = INLINE_CALLS(true);
#else
const struct inline_calls inline_avx2 = INLINE_CALLS(false);
#endif

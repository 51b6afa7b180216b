/*
 * inline_wide.c: the same, with integers hashed in vectors, as programs for AMD's processors have
 * it (tepal_direct_to_ask, tepal_direct_to_add).
 */
#if defined(__AVX512DQ__)
#define TEPAL_DIRECT_WIDE 1
#endif

#include "inline_help.h"

#if defined(TEPAL_DIRECT_AVX512) && defined(TEPAL_DIRECT_WIDE)
const struct inline_calls inline_wide = INLINE_CALLS(true);
#else
const struct inline_calls inline_wide = INLINE_CALLS(false);
#endif

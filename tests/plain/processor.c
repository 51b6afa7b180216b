/* processor.c: a processor without AVX2, whatever this one has; linked before the library's own. */
#include "filter/lines/processor.h"

bool tepal_processor_has_avx2(void)
{
    return false;
}

bool tepal_processor_has_avx512(void)
{
    return false;
}

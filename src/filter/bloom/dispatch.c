/* dispatch.c: which kernels a layout takes on this machine. */
#include "filter/bloom/kernels.h"

#include "base/processor.h"
#include "filter/lines/kernels.h"

const struct bloom_kernels *tepal_bloom_dispatch(enum tepal_layout layout)
{
    bool avx2 = tepal_processor_has_avx2();
    if (layout == TEPAL_LAYOUT_FLAT || layout == TEPAL_LAYOUT_PARTITIONED) {
        return avx2 ? &tepal_bloom_flat_avx2 : &tepal_bloom_flat_portable;
    }
    return avx2 ? &tepal_bloom_lines_avx2 : &tepal_bloom_lines_portable;
}

/*
 * processor.h: what this processor can do. Kernels come twice, in plain C and in files *_avx2.c
 * that the build compiles for AVX2; whoever has such a pair asks here which one to take.
 */
#ifndef TEPAL_SRC_FILTER_LINES_PROCESSOR_H
#define TEPAL_SRC_FILTER_LINES_PROCESSOR_H

#include <stdbool.h>

/* Can this machine run the files *_avx2.c, and were they built for it? */
bool tepal_processor_has_avx2(void);

/* Were they? (processor_avx2.c) */
extern const bool tepal_processor_built_avx2;

#endif

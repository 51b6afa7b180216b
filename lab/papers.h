/* papers.h: the lists of experiments, one a paper; each ends with a NULL name. */
#ifndef LAB_PAPERS_H
#define LAB_PAPERS_H

#include "experiment/lab.h"

extern const struct lab_experiment lab_000[];
extern const struct lab_experiment lab_001[];
extern const struct lab_experiment lab_002[];
extern const struct lab_experiment lab_003[];
extern const struct lab_experiment lab_004[];

#endif

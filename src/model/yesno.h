/* yesno.h: the part of the yes-no filter's model that a search asks for many divisions of bits. */
#ifndef TEPAL_SRC_MODEL_YESNO_H
#define TEPAL_SRC_MODEL_YESNO_H

#include <tepal/model.h>

/* What tepal_yesno_predict finds, of a plan whose fp_unknown and positive are there. */
void tepal_model_yesno_rest(struct tepal_yesno_plan *plan, enum tepal_positions positions,
                            uint64_t n);

#endif

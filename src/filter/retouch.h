/* retouch.h: retouching from the inside. */
#ifndef TEPAL_SRC_FILTER_RETOUCH_H
#define TEPAL_SRC_FILTER_RETOUCH_H
#include <tepal/retouched.h>
#include "filter/kind.h"
/* The state of a retouched filter. */
enum retouched_state { RETOUCHED_MEMBERS, RETOUCHED_VICTIMS, RETOUCHED_CLEARED, RETOUCHED_STATES };

extern const struct filter_ops tepal_retouched_ops;
#endif

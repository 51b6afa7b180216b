/* picture.h: what every kind would need for every rate, drawn. */
#ifndef TOOL_COMMANDS_PLAN_PICTURE_H
#define TOOL_COMMANDS_PLAN_PICTURE_H

#include <tepal/plan.h>

#include "output/out.h"
#include "output/progress.h"

struct plan_picture {
    const struct tepal_wish *wish;
    const struct tepal_plans *plans; /* for the wish */
    struct progress *progress;
};

/* As atomic_file_write wants it: the context is a struct plan_picture. */
void plan_picture(const void *context, struct out *out);

#endif

/* yesno_how.h: how no-filters are filled, by the options that build and veto share. */
#ifndef TOOL_COMMANDS_YESNO_HOW_H
#define TOOL_COMMANDS_YESNO_HOW_H

#include <tepal/yesno.h>

#include "cli/command.h"
#include "output/progress.h"

/* Must stay where it is while `how` is in use; progress_end takes its progress away then. */
struct yesno_how {
    struct tepal_yesno_options how;
    struct progress progress;
    double begun;
    double deadline;
};

/* --tolerate-weight W needs the weights of members. EXIT_YES, or EXIT_TROUBLE. */
int yesno_how_check(const struct args *args);

/* --method, --salts, --tolerate, --tolerate-weight, --time-limit (from now on). */
void yesno_how_read(struct yesno_how *how, const struct args *args);

#endif

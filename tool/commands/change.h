/*
 * change.h: a filter that is changed by keys, in place or to another file: what add and remove have
 * in common. What will be written is locked; the filter is loaded, given to the work, and written
 * by it.
 */
#ifndef TOOL_COMMANDS_CHANGE_H
#define TOOL_COMMANDS_CHANGE_H

#include <tepal/filter.h>

#include "cli/command.h"

/* Does the work and saves. EXIT_YES, EXIT_NO, or EXIT_TROUBLE after having said why. */
typedef int change_work(const struct args *args, const char *from, const char *to,
                        struct tepal_filter *filter);

/*
 * The filter is the first operand; its keys come from the others, or from the file of the option
 * `keys` if that is given (NULL: there is none).
 */
int change_run(const struct args *args, const char *keys, change_work *work);

/* Is the filter written back to where it came from? */
bool change_in_place(const char *from, const char *to);

#define OPTION_IN_PLACE_OUTPUT                                                                     \
    OPTION('o', "output", OF_VALUE(TAKES_FILE, "FILE"),                                            \
           "Write to FILE and leave the input filter unchanged. - is standard output; a terminal " \
           "is refused.")

#endif

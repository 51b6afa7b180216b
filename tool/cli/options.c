/* options.c: what the shared options say, as the library's own values. */
#include "cli/options.h"

void arg_layout(const struct args *args, enum tepal_layout *layout)
{
    if (arg(args, "layout")->given) {
        tepal_layout_parse(arg(args, "layout")->text, layout);
    }
}

void arg_positions(const struct args *args, enum tepal_positions *positions)
{
    if (arg(args, "positions")->given) {
        tepal_positions_parse(arg(args, "positions")->text, positions);
    }
}

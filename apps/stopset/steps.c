/* steps.c: the routes that a step looks at. */
#include "stopset/steps.h"

#include <stdlib.h>
#include <string.h>

#include "stopset/select.h"

static bool wanted(const struct args *args, const struct step_routes *r, size_t i)
{
    const struct route *route = &r->routes.route[i];
    const struct option_value *cycle = arg(args, "cycle");
    const struct option_value *monitor = arg(args, "monitor");
    return (!cycle->given || route->cycle == cycle->whole) &&
           (!monitor->given ||
            strcmp(names_text(&r->routes.monitors, route->monitor), monitor->text) == 0);
}

int step_read(const struct args *args, struct step_routes *r)
{
    uint64_t *cycle = NULL;
    size_t cycles = 0;
    size_t left = 0;
    *r = (struct step_routes){.count = 0};
    int code = routes_read(&r->routes, args->operand, args->operands);
    code = code == EXIT_YES ? select_cycles(args, &r->routes, &cycle, &cycles) : code;
    code = code == EXIT_YES
               ? select_routes(args, &r->routes, cycles > 0 ? cycle[0] : 0, &r->kept, &r->count)
               : code;
    for (size_t i = 0; i < r->count; i++) {
        if (wanted(args, r, r->kept[i])) {
            r->kept[left++] = r->kept[i];
        }
    }
    r->count = left;
    free(cycle);
    return code == EXIT_YES && left == 0
               ? args_error(args, "no routes that reach their destination, of this cycle and "
                                  "monitor")
               : code;
}

void step_free(struct step_routes *r)
{
    routes_free(&r->routes);
    free(r->kept);
}

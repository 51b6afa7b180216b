/* table.c: the exact table of flows: those present in a list, the longest idle first. */
#include "flows/flows.h"

static void unlink_flow(struct table *t, uint32_t id)
{
    struct flow *f = &t->flow[id];
    *(f->before == NOBODY ? &t->first : &t->flow[f->before].after) = f->after;
    *(f->after == NOBODY ? &t->last : &t->flow[f->after].before) = f->before;
}

static void link_flow(struct table *t, uint32_t id)
{
    struct flow *f = &t->flow[id];
    f->before = t->last;
    f->after = NOBODY;
    *(t->last == NOBODY ? &t->first : &t->flow[t->last].after) = id;
    t->last = id;
}

void table_move(struct table *t, uint32_t id, enum state state, double now)
{
    struct flow *f = &t->flow[id];
    if (f->state != ABSENT) {
        unlink_flow(t, id);
        t->present--;
    }
    f->state = state;
    f->last = now;
    if (state != ABSENT) {
        link_flow(t, id);
        t->present++;
        t->peak = t->present > t->peak ? t->present : t->peak;
    }
}

void table_clear(struct table *t)
{
    for (size_t i = 0; i < t->flows; i++) {
        t->flow[i].state = ABSENT;
    }
    t->first = NOBODY;
    t->last = NOBODY;
    t->present = 0;
    t->peak = 0;
}

/* flows.h: what the parts of `tepal app flows` share. */
#ifndef APPS_FLOWS_FLOWS_H
#define APPS_FLOWS_FLOWS_H

#include <tepal/tepal.h>

#include "cli/command.h"
#include "readers/packets.h"

#define NOBODY  UINT32_MAX
#define PROBES  10000 /* strangers that are asked for at the end of a window */
#define WINDOWS 20

/* A flow in the exact table. Those present are in a list, the longest idle first. */
struct flow {
    double last; /* its last packet */
    uint32_t before;
    uint32_t after;
    bool present;
};

struct table {
    struct flow *flow;
    size_t flows;
    uint32_t first;
    uint32_t last;
    size_t present;
    size_t peak;
};

/* What is counted, of a window or of the whole run. */
struct counts {
    uint64_t absent; /* packets of flows that are not in the table ... */
    uint64_t false_positives;
    uint64_t present; /* ... and of those that are */
    uint64_t false_negatives;
    uint64_t wrong_removals; /* strangers that were removed */
    uint64_t not_removed;    /* flows of the table that could not be */
    uint64_t not_added;      /* the filter was full */
};

/* The end of a window. */
struct window {
    double t;
    struct counts counts;
    uint64_t flows;     /* in the table */
    uint64_t missing;   /* of these, not found */
    double stranger_fp; /* share of PROBES strangers that are found */
};

enum removal { BY_POLICY, BY_RECEIPT };

struct contestant {
    const char *name;
    struct tepal_filter *filter;
    enum removal removal;
    uint8_t *receipt; /* a flow's group */
    struct counts total;
    struct counts now;
    struct window *window;
};

#define CONTESTANTS 5

struct flows {
    const struct args *args;
    struct packets packets;
    struct table table;
    uint64_t repeat;
    double idle;
    bool first_packet; /* TCP flows too begin with any packet */
    double span;       /* of the packets, in seconds */
    double start;
    size_t windows;
    uint64_t bits;
    struct contestant set[CONTESTANTS];
    size_t sets;
    uint64_t never_begun; /* FIN or RST of flows that are not in the table */
};

/* The memory of a filter. */
static inline uint64_t flows_bits(const struct tepal_params *p)
{
    return tepal_params_cell_bytes(p) * 8;
}

/* Print what came out, and draw it if that is asked for. */
int flows_tell(const struct flows *f);

#endif

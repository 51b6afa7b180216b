/*
 * flows.h: what the parts of `tepal app flows` share. table.c is the truth, contest.c the filters
 * that are held against it, flows.c replays packets on both, tell.c tells what came of it.
 */
#ifndef APPS_FLOWS_FLOWS_H
#define APPS_FLOWS_FLOWS_H

#include <tepal/tepal.h>

#include "cli/command.h"
#include "readers/packets.h"

#define NOBODY  UINT32_MAX
#define PROBES  10000 /* strangers that are asked for at the end of a window */
#define WINDOWS 20

/* ---- the truth ------------------------------------------------------------------------------- */

/* The states of a flow. Without --states a flow that is present is ESTABLISHED. */
enum state { OPENING, ANSWERED, ESTABLISHED, CLOSING, STATES, ABSENT = STATES };

/* A flow in the exact table. Those present are in a list, the longest idle first. */
struct flow {
    double last; /* its last packet */
    uint32_t before;
    uint32_t after;
    enum state state;
};

struct table {
    struct flow *flow;
    size_t flows;
    uint32_t first;
    uint32_t last;
    size_t present;
    size_t peak;
};

/* Empty it. */
void table_clear(struct table *t);

/* A flow goes to a state, ABSENT among them, with a packet at `now`. */
void table_move(struct table *t, uint32_t id, enum state state, double now);

/* ---- the contestants ------------------------------------------------------------------------- */

/* What is counted, of a window or of the whole run. */
struct counts {
    uint64_t absent; /* packets of flows that are not in the table ... */
    uint64_t false_positives;
    uint64_t present; /* ... and of those that are */
    uint64_t false_negatives;
    uint64_t several;        /* of those present: found in several states ... */
    uint64_t wrong;          /* ... or in one, which is not theirs */
    uint64_t wrong_removals; /* strangers that were removed, and states that flows were not in */
    uint64_t not_removed;    /* flows of the table that could not be */
    uint64_t not_added;      /* the filter was full */
    uint64_t attacks;        /* of the wrong removals, the attacker's */
    uint64_t tries;          /* lookups that the attacker needed */
};

/* The end of a window. */
struct window {
    double t;
    struct counts counts;
    uint64_t flows;     /* in the table */
    uint64_t missing;   /* of these, not found (in their state) */
    double stranger_fp; /* share of PROBES strangers that are found */
};

/* Of a flow that ends or changes: what the device removes. */
enum removal {
    BY_POLICY,  /* what the filter finds; with states, by the table's rule */
    BY_RECEIPT, /* the group that it was added to */
    TOLD        /* with states: the state that it leaves, which somebody else remembers */
};

struct contestant {
    char name[32];
    struct tepal_filter *filter;
    struct tepal_states states; /* in the filter, with --states */
    enum removal removal;
    uint8_t *receipt; /* a flow's group */
    uint64_t drawn;   /* strangers, by the attacker */
    uint64_t rest;    /* deletes that he left out when he last searched in vain ... */
    uint64_t rests;   /* ... and that he has still to leave out */
    struct counts total;
    struct counts now;
    struct window *window;
};

#define CONTESTANTS 8

struct flows {
    const struct args *args;
    struct packets packets;
    struct table table;
    uint64_t repeat;
    double idle;
    bool first_packet; /* TCP flows too begin with any packet */
    bool states;       /* of flows, and not only which there are */
    double attack;     /* removals by the attacker for each flow that ends */
    double due;        /* of them, not done yet */
    double span;       /* of the packets, in seconds */
    double start;
    size_t windows;
    uint64_t bits;
    struct contestant set[CONTESTANTS];
    size_t sets;
    uint64_t never_begun; /* FIN or RST of flows that are not in the table */
    uint64_t changes;     /* of state, of flows that go on */
};

/* The memory of a filter. */
static inline uint64_t flows_bits(const struct tepal_params *p)
{
    return tepal_params_cell_bytes(p) * 8;
}

/* The digest of a flow of the table. */
struct tepal_digest flows_digest(const struct flows *f, uint32_t id);

/* The filters, by the options, once the table's peak is known. EXIT_YES, or having said why not. */
int contest_make(struct flows *f);
void contest_free(struct flows *f);

/* A packet of a flow in this state arrives, and every filter is asked for it. */
void contest_ask(struct flows *f, uint32_t id, enum state truth);

/* A flow goes to another state, ABSENT among them. From ABSENT to ABSENT: a stranger ends. */
void contest_move(struct flows *f, uint32_t id, enum state from, enum state to);

/* What the attacker does for each flow that ends: remove strangers that are found. */
void contest_attack(struct flows *f);

/* Look at every flow of the table, and at strangers. */
void contest_window(struct flows *f, size_t number, double t);

/* Print what came out, and draw it if that is asked for. */
int flows_tell(const struct flows *f);

#endif

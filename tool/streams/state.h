/*
 * state.h: the filter of a command that runs on and on, in a file that outlives it. The file is
 * replaced as a whole, so that it is sound at any time, whatever happens to the command or the
 * disk; its lock (files/file_lock.h) keeps other commands out for as long as this one runs.
 */
#ifndef TOOL_STREAMS_STATE_H
#define TOOL_STREAMS_STATE_H

#include <stdbool.h>

#include <tepal/filter.h>

#include "cli/command.h"
#include "files/file_lock.h"

/* All zeros is one that is not kept anywhere: every call does nothing. */
struct state {
    const struct args *args;
    const char *name; /* as the user calls it */
    const char *path; /* through links: of the lock */
    struct file_lock lock;
    double interval; /* seconds between two saves */
    double next;     /* when the next one is due */
    uint64_t saved;  /* keys_added of what is in the file */
    bool failing;    /* the last save failed */
};

/*
 * Take --state FILE, if it is given: lock it, and see that it can be written. *before gets the
 * filter in it, NULL if there is none yet. EXIT_YES, or EXIT_TROUBLE after having said why.
 */
int state_open(struct state *state, const struct args *args, struct tepal_filter **before);

/* Are these the parameters of the filter in the file? EXIT_YES, or says which ones are not. */
int state_compare(const struct state *state, const struct tepal_params *wanted,
                  const struct tepal_params *before);

/*
 * With --rule average, a filter that recycles by another rule becomes one by average, with the same
 * phases: at the rate of --fp, or that of its sigma. EXIT_YES, or says why not.
 */
int state_change_rule(struct state *state, struct tepal_filter **filter);

/* Says that a filter recycles by sigma, and what to do about it, unless the options ask for it. */
void state_tell_rule(const struct state *state, const struct tepal_filter *filter);

/* Seconds until the next save; negative: there is none to come. */
double state_due(const struct state *state, const struct tepal_filter *filter);

/*
 * Save now, if anything has changed. A failure is told (once, until it works again) and leaves the
 * file as it was; the next save is tried when it is due.
 */
void state_save(struct state *state, const struct tepal_filter *filter);

/* The last save, and the end. EXIT_YES, or EXIT_TROUBLE if the file does not have the filter. */
int state_close(struct state *state, const struct tepal_filter *filter);

/* The end without a save. */
void state_free(struct state *state);

#define OPTION_STATE                                                                               \
    OPTION(0, "state", OF_VALUE(TAKES_FILE, "FILE"),                                               \
           "Start from the filter in FILE, and save it there at the end, atomically. FILE is "     \
           "created if it does not exist, and refused if it was made with other options. "         \
           "Other commands that would change FILE wait meanwhile, or refuse.")

#define OPTION_SAVE_EVERY                                                                          \
    OPTION(0, "save-every", OF_VALUE(TAKES_DURATION, "TIME"),                                      \
           "Save the state at this interval (default 60s): the most that a crash can lose.")

#endif

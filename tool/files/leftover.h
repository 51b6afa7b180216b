/*
 * leftover.h: names that must not stay behind if a signal ends the command: temporary files, locks.
 * SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE remove them first, unless the command has its own
 * answer to the signal, or ignores it.
 */
#ifndef TOOL_FILES_LEFTOVER_H
#define TOOL_FILES_LEFTOVER_H

#include <signal.h>

/* The text must stay as it is until it is forgotten. Without memory for a note there is none. */
void leftover_note(const char *path);
void leftover_forget(const char *path);

/* This signal removes them too, and ends the command. May be called by the answer to a signal. */
void leftover_answer(int number);

/* Let these signals wait until leftover_release, so that several steps are done as one. */
void leftover_hold(sigset_t *before);
void leftover_release(const sigset_t *before);

#endif

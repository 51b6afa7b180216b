/*
 * signals.h: a command that runs for as long as its input does, and is spoken to by signals
 * meanwhile. SIGINT, SIGTERM and SIGHUP ask it to end, a second one ends it at once; SIGUSR1 asks
 * for figures. Nothing happens in the handlers: whoever waits is told.
 */
#ifndef TOOL_STREAMS_SIGNALS_H
#define TOOL_STREAMS_SIGNALS_H

enum signals_news {
    SIGNALS_READY, /* there is something to read, or the end */
    SIGNALS_IDLE,  /* nothing came in that time */
    SIGNALS_TELL,  /* SIGUSR1 */
    SIGNALS_STOP   /* one of the others */
};

/* From now on. A signal that was ignored (nohup) stays so. Not undone: for whole commands. */
void signals_start(void);

/* Wait for the descriptor, at most so many seconds (0: not at all; less: any time). */
enum signals_news signals_wait(int fd, double seconds);

#endif

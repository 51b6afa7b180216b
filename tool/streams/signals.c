/*
 * signals.c: signals become flags. They are let through only during ppoll(2), so that none is lost
 * between the look at the flags and the wait.
 */
#define _GNU_SOURCE
#include "streams/signals.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "files/leftover.h"

static volatile sig_atomic_t asked_to_stop;
static volatile sig_atomic_t asked_to_tell;

/* A second one ends a command that cannot get rid of its output. */
static void on_stop(int number)
{
    asked_to_stop = 1;
    leftover_answer(number);
}

static void on_tell(int number)
{
    (void)number;
    asked_to_tell = 1;
}

static void install(int number, void (*handler)(int), int flags)
{
    struct sigaction before;
    struct sigaction action;
    if (sigaction(number, NULL, &before) != 0 || before.sa_handler == SIG_IGN) {
        return;
    }
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(number, &action, NULL);
}

void signals_start(void)
{
    install(SIGINT, on_stop, 0);
    install(SIGTERM, on_stop, 0);
    install(SIGHUP, on_stop, 0);
    install(SIGUSR1, on_tell, SA_RESTART); /* ppoll(2) is interrupted all the same */
}

static bool take(volatile sig_atomic_t *flag)
{
    bool was = *flag != 0;
    *flag = 0;
    return was;
}

enum signals_news signals_wait(int fd, double seconds)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    struct timespec most = {.tv_sec = (time_t)seconds};
    sigset_t ours;
    sigset_t before;
    most.tv_nsec = (long)((seconds - (double)most.tv_sec) * 1e9);
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    sigaddset(&ours, SIGUSR1);
    sigprocmask(SIG_BLOCK, &ours, &before);
    int ready = 1;
    if (!asked_to_stop && !asked_to_tell) {
        ready = ppoll(&wait, 1, seconds < 0 ? NULL : &most, &before);
    }
    enum signals_news news = asked_to_stop          ? SIGNALS_STOP
                             : take(&asked_to_tell) ? SIGNALS_TELL
                             : ready == 0           ? SIGNALS_IDLE
                                                    : SIGNALS_READY;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return news;
}

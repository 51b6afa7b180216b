/* leftover.c: a few names, and a signal handler that unlinks them. */
#define _POSIX_C_SOURCE 200809L
#include "files/leftover.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT_ONCE 32

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

/* Never taken apart again: the handler may come at any time, in any thread. */
struct names {
    const char *volatile path[AT_ONCE];
    struct names *volatile more;
};
static struct names noted;

/* Not from a process that was forked meanwhile: the names are its parent's. */
static volatile sig_atomic_t owner;

static void on_end(int number)
{
    bool ours = owner == (sig_atomic_t)getpid();
    for (const struct names *at = &noted; at != NULL && ours; at = at->more) {
        for (size_t i = 0; i < AT_ONCE; i++) {
            const char *path = at->path[i];
            if (path != NULL) {
                (void)unlink(path);
            }
        }
    }
    raise(number); /* it was reset when it came, and waits until this returns */
}

void leftover_answer(int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = on_end;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(number, &action, NULL);
}

static void install(void)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
            leftover_answer(numbers[i]);
        }
    }
}

/* Where the path stands, or NULL: nowhere. Of NULL, a free place. */
static const char *volatile *place_of(const char *path)
{
    for (struct names *at = &noted; at != NULL; at = at->more) {
        for (size_t i = 0; i < AT_ONCE; i++) {
            if (at->path[i] == path) {
                return &at->path[i];
            }
        }
    }
    return NULL;
}

static const char *volatile *more_room(void)
{
    struct names *last = &noted;
    while (last->more != NULL) {
        last = last->more;
    }
    last->more = calloc(1, sizeof *last->more);
    return last->more == NULL ? NULL : last->more->path;
}

void leftover_note(const char *path)
{
    sigset_t before;
    leftover_hold(&before);
    owner = (sig_atomic_t)getpid();
    install();
    const char *volatile *place = place_of(NULL);
    place = place == NULL ? more_room() : place;
    if (place != NULL) {
        *place = path;
    }
    leftover_release(&before);
}

void leftover_forget(const char *path)
{
    const char *volatile *place = path == NULL ? NULL : place_of(path);
    if (place != NULL) {
        *place = NULL;
    }
}

void leftover_hold(sigset_t *before)
{
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sigaddset(&held, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, &held, before);
}

void leftover_release(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}

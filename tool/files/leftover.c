/* leftover.c: a few names, and a signal handler that unlinks them. */
#define _POSIX_C_SOURCE 200809L
#include "files/leftover.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define MOST 32

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const char *volatile noted[MOST];

/* Not from a process that was forked meanwhile: the names are its parent's. */
static volatile sig_atomic_t owner;

static void on_end(int number)
{
    for (size_t i = 0; i < MOST && owner == (sig_atomic_t)getpid(); i++) {
        const char *path = noted[i];
        if (path != NULL) {
            (void)unlink(path);
        }
    }
    raise(number); /* it was reset when it came, and waits until this returns */
}

static void install(void)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &before) != 0 || before.sa_handler != SIG_DFL) {
            continue;
        }
        memset(&action, 0, sizeof action);
        sigemptyset(&action.sa_mask);
        action.sa_handler = on_end;
        action.sa_flags = (int)SA_RESETHAND;
        sigaction(numbers[i], &action, NULL);
    }
}

void leftover_note(const char *path)
{
    sigset_t before;
    leftover_hold(&before);
    owner = (sig_atomic_t)getpid();
    install();
    for (size_t i = 0; i < MOST; i++) {
        if (noted[i] == NULL) {
            noted[i] = path;
            break;
        }
    }
    leftover_release(&before);
}

void leftover_forget(const char *path)
{
    for (size_t i = 0; i < MOST; i++) {
        if (noted[i] == path) {
            noted[i] = NULL;
        }
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

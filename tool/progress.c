/* progress.c: one line, rewritten in place. */
#define _POSIX_C_SOURCE 200809L
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

double progress_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void progress_start(struct progress *p, bool wanted)
{
    p->on = wanted && isatty(STDERR_FILENO);
    p->shown = false;
    p->started = p->on ? progress_clock() : 0;
    p->next = p->started + 1;
}

void progress_tick(struct progress *p, uint64_t keys)
{
    if (!p->on) {
        return;
    }
    double now = progress_clock();
    if (now < p->next) {
        return;
    }
    fprintf(stderr, "\r\033[K%.2f million keys, %.2f million a second", (double)keys / 1e6,
            (double)keys / 1e6 / (now - p->started));
    fflush(stderr);
    p->shown = true;
    p->next = now + 0.1;
}

void progress_end(struct progress *p)
{
    if (p->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        p->shown = false;
    }
}

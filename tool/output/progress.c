/* progress.c: one line, rewritten in place. */
#define _POSIX_C_SOURCE 200809L
#include "output/progress.h"

#include <inttypes.h>
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

/* Is it time for a line? */
static bool due(struct progress *p, double *now)
{
    *now = p->on ? progress_clock() : 0;
    if (!p->on || *now < p->next) {
        return false;
    }
    p->shown = true;
    p->next = *now + 0.1;
    return true;
}

void progress_tick(struct progress *p, uint64_t keys)
{
    double now;
    if (due(p, &now)) {
        fprintf(stderr, "\r\033[K%.2f million keys, %.2f million per second", (double)keys / 1e6,
                (double)keys / 1e6 / (now - p->started));
        fflush(stderr);
    }
}

void progress_parts(struct progress *p, uint64_t done, uint64_t all, const char *what)
{
    double now;
    if (due(p, &now)) {
        fprintf(stderr, "\r\033[K%" PRIu64 " of %" PRIu64 " %s", done, all, what);
        fflush(stderr);
    }
}

void progress_end(struct progress *p)
{
    if (p->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        p->shown = false;
    }
}

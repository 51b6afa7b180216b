/* progress.c: one line, rewritten in place. */
#define _POSIX_C_SOURCE 200809L
#include "output/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/say.h"

#define CLEAR_LINE "\r\033[K"

double progress_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void progress_start(struct progress *p, bool wanted)
{
    const char *set = getenv("TEPAL_PROGRESS");
    bool forced = set != NULL && strcmp(set, "1") == 0;
    p->in_place = isatty(STDERR_FILENO);
    p->on = wanted && (p->in_place || forced);
    p->shown = false;
    p->started = p->on ? progress_clock() : 0;
    p->next = p->started + (forced ? 0 : 1);
}

bool progress_due(struct progress *p)
{
    double now = p->on ? progress_clock() : 0;
    if (!p->on || now < p->next) {
        return false;
    }
    p->next = now + 0.1;
    return true;
}

/* ", 1 h 5 min left", from the share that is done; nothing where that is not known. */
static void put_left(const struct progress *p, double share, char *text, size_t room)
{
    double left = (progress_clock() - p->started) * (1 - share) / share;
    text[0] = '\0';
    if (!(share > 0 && share < 1) || !(left < 1e9)) {
        return;
    }
    uint64_t seconds = (uint64_t)ceil(left);
    if (seconds < 120) {
        snprintf(text, room, ", %" PRIu64 " s left", seconds);
    } else if (seconds < 7200) {
        snprintf(text, room, ", %" PRIu64 " min left", (seconds + 59) / 60);
    } else {
        snprintf(text, room, ", %" PRIu64 " h %" PRIu64 " min left", seconds / 3600,
                 seconds % 3600 / 60);
    }
}

void progress_show(struct progress *p, double share, const char *format, ...)
{
    char line[256] = "";
    char text[192];
    if (p->in_place) {
        snprintf(line, sizeof line, CLEAR_LINE);
    }
    size_t used = strlen(line);
    va_list list;
    va_start(list, format);
    int more = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (more < 0) {
        return;
    }
    say_clean(text, line + used,
              sizeof line - 64 - used); /* it may name what somebody else named */
    used = strlen(line);
    put_left(p, share, line + used, sizeof line - used - 1);
    strcat(line, p->in_place ? "" : "\n");
    say_words(line, strlen(line));
    p->shown = p->in_place;
}

void progress_tick(struct progress *p, uint64_t keys, double share)
{
    double million = (double)keys / 1e6;
    progress_show(p, share, "%.2f million keys, %.2f million per second", million,
                  million / (progress_clock() - p->started));
}

void progress_share(struct progress *p, double share, const char *what)
{
    if (progress_due(p)) {
        progress_show(p, share, "%s, %.0f %%", what, 100 * share);
    }
}

void progress_parts(struct progress *p, uint64_t done, uint64_t all, const char *what)
{
    if (progress_due(p)) {
        progress_show(p, all > 0 ? (double)done / (double)all : NAN,
                      "%" PRIu64 " of %" PRIu64 " %s", done, all, what);
    }
}

static bool tell(void *ctx, double done)
{
    struct progress *p = ctx;
    progress_share(p, done, p->what);
    return true;
}

struct tepal_progress progress_of(struct progress *p, bool wanted, const char *what)
{
    progress_start(p, wanted);
    p->what = what;
    return (struct tepal_progress){p->on ? tell : NULL, p};
}

void progress_end(struct progress *p)
{
    if (p->shown) {
        say_words(CLEAR_LINE, strlen(CLEAR_LINE));
        p->shown = false;
    }
}

/*
 * retry.h: after a read or write that failed, is it worth another try? A descriptor that somebody
 * else has made non-blocking (it is shared with whoever started the command) is waited for.
 */
#ifndef TOOL_INPUT_RETRY_H
#define TOOL_INPUT_RETRY_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>

/* By errno: after EINTR at once, after EAGAIN when the descriptor is ready for `events`. */
static inline bool retry_io(int fd, short events)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        struct pollfd wait = {.fd = fd, .events = events};
        return poll(&wait, 1, -1) >= 0 || errno == EINTR;
    }
    return errno == EINTR;
}

#endif

/* say.c: one message, one line, one write. */
#define _POSIX_C_SOURCE 200809L
#include "cli/say.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "input/retry.h"

struct line {
    char text[8192];
    size_t used;
};

static void put(struct line *line, const char *text)
{
    size_t len = strlen(text);
    size_t room = sizeof line->text - line->used;
    if (len > room) {
        len = room;
    }
    memcpy(line->text + line->used, text, len);
    line->used += len;
}

/* What a first byte of UTF-8 announces, and between what the second one lies. */
struct lead {
    unsigned char first, last;
    unsigned char low, high;
    unsigned char bytes;
};

size_t say_character(const char *text)
{
    static const struct lead leads[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                                        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
                                        {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
                                        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    const unsigned char *byte = (const unsigned char *)text;
    for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
        const struct lead *l = &leads[i];
        if (byte[0] >= l->first && byte[0] <= l->last) {
            bool whole = byte[1] >= l->low && byte[1] <= l->high;
            for (size_t j = 2; whole && j < l->bytes; j++) {
                whole = (byte[j] & 0xc0) == 0x80;
            }
            return whole ? l->bytes : 1;
        }
    }
    return 1;
}

size_t say_control(const char *text)
{
    unsigned char first = (unsigned char)text[0];
    size_t bytes = say_character(text);
    if (bytes == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0) {
        return 2;
    }
    bool alone = bytes == 1 && first >= 0x80 && first < 0xa0; /* C1 to a terminal without UTF-8 */
    return (first > 0 && first < 0x20) || first == 0x7f || alone ? 1 : 0;
}

/* The next character of the text, clean, to `piece`; how many bytes of the text that was. */
static size_t clean_one(const char *text, char piece[8])
{
    size_t control = say_control(text);
    if (control == 0) {
        size_t bytes = say_character(text);
        snprintf(piece, 8, "%.*s", (int)bytes, text);
        return bytes;
    }
    snprintf(piece, 8, "\\x%02x", (unsigned char)text[control - 1]);
    return control;
}

const char *say_clean(const char *text, char *room, size_t size)
{
    size_t used = 0;
    room[0] = '\0';
    while (*text != '\0') {
        char piece[8];
        text += clean_one(text, piece);
        size_t len = strlen(piece);
        if (len >= size - used) {
            break;
        }
        memcpy(room + used, piece, len + 1);
        used += len;
    }
    return room;
}

/* The same, with control characters as \xNN. */
static void put_clean(struct line *line, const char *text)
{
    while (*text != '\0') {
        char piece[8];
        text += clean_one(text, piece);
        put(line, piece);
    }
}

/* An empty name would not be seen: a variable of a script that is not set. */
static void put_subject(struct line *line, const char *subject)
{
    if (subject != NULL) {
        put_clean(line, subject[0] == '\0' ? "''" : subject);
        put(line, ": ");
    }
}

static void put_format(struct line *line, const char *format, va_list list)
{
    char text[6144];
    vsnprintf(text, sizeof text, format, list);
    put_clean(line, text);
}

static bool colours(void)
{
    const char *off = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return (off == NULL || off[0] == '\0') && isatty(STDERR_FILENO) && terminal != NULL &&
           strcmp(terminal, "dumb") != 0;
}

static void put_name(struct line *line, const char *colour)
{
    bool on = colours();
    put(line, on ? colour : "");
    put(line, "tepal:");
    put(line, on ? "\033[0m " : " ");
}

static void write_words(const char *text, size_t len)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = write(STDERR_FILENO, text + done, len - done);
        if (n < 0 && !retry_io(STDERR_FILENO, POLLOUT)) {
            return;
        }
        done += n > 0 ? (size_t)n : 0;
    }
}

/* A SIGPIPE that a write brings is held back and taken: it goes to the thread that wrote. */
void say_words(const char *text, size_t len)
{
    sigset_t pipe;
    sigset_t before;
    sigset_t pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    write_words(text, len);
    if (!sigismember(&pending, SIGPIPE)) {
        while (sigtimedwait(&pipe, NULL, &(struct timespec){0}) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void send_line(struct line *line)
{
    if (line->used == sizeof line->text) {
        line->used--;
    }
    line->text[line->used++] = '\n';
    say_words(line->text, line->used);
}

int say_error_list(const char *stays, const char *subject, const char *format, va_list list)
{
    struct line line = {.used = 0};
    put_name(&line, "\033[1;31m");
    put_subject(&line, subject);
    put_format(&line, format, list);
    if (stays != NULL) {
        put(&line, "; ");
        put_clean(&line, stays);
    }
    send_line(&line);
    return EXIT_TROUBLE;
}

int say_error(const char *stays, const char *subject, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int code = say_error_list(stays, subject, format, list);
    va_end(list);
    return code;
}

int say_status(const char *stays, const char *subject, enum tepal_status status, const char *why)
{
    if (status == TEPAL_OK) {
        return EXIT_YES;
    }
    return say_error(stays, subject, "%s",
                     why != NULL && why[0] != '\0' ? why : tepal_status_message(status));
}

int say_no_memory(void)
{
    return say_error(NULL, NULL, "out of memory");
}

void say_warning(const char *subject, const char *format, ...)
{
    struct line line = {.used = 0};
    put_name(&line, "\033[1;33m");
    put_subject(&line, subject);
    put(&line, "warning: ");
    va_list list;
    va_start(list, format);
    put_format(&line, format, list);
    va_end(list);
    send_line(&line);
}

void say_line(const char *format, ...)
{
    struct line line = {.used = 0};
    va_list list;
    va_start(list, format);
    put_format(&line, format, list);
    va_end(list);
    send_line(&line);
}

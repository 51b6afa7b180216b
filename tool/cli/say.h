/*
 * say.h: words to standard error. An error is one line that names the subject, the cause and what
 * stayed unchanged; control characters in names are escaped so that it stays one line.
 */
#ifndef TOOL_CLI_SAY_H
#define TOOL_CLI_SAY_H

#include <stdarg.h>
#include <stddef.h>

#include <tepal/base.h>

/* The exit codes of the command: yes or done, no, error. */
enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_TROUBLE = 2 };

#if defined(__GNUC__)
#define SAY_FORMAT(string, first) __attribute__((format(printf, string, first)))
#else
#define SAY_FORMAT(string, first)
#endif

/* How many bytes the character has with which the text begins: 1 if that is no UTF-8. */
size_t say_character(const char *text);

/*
 * How many bytes of the text are a control character: 1 (C0, DEL, a byte of C1 that is part of no
 * other character), 2 (C1, as UTF-8), or 0. What stands in a name must not begin a line, move the
 * cursor or set colours. Go on by whole characters: their later bytes look like C1.
 */
size_t say_control(const char *text);

/* The text with control characters as \xNN (C1: by its number), in `room`; cut off at its end. */
const char *say_clean(const char *text, char *room, size_t size);

/*
 * "tepal: SUBJECT: MESSAGE; STAYS". subject and stays may be NULL. Returns EXIT_TROUBLE, so that a
 * caller can say and leave in one line.
 */
int say_error(const char *stays, const char *subject, const char *format, ...) SAY_FORMAT(3, 4);
int say_error_list(const char *stays, const char *subject, const char *format, va_list list);

/*
 * EXIT_YES of TEPAL_OK; of another status, says `why`, or what it means if that is NULL or empty.
 */
int say_status(const char *stays, const char *subject, enum tepal_status status, const char *why);

/* "tepal: out of memory", of what changes nothing. Returns EXIT_TROUBLE. */
int say_no_memory(void);

/* "tepal: SUBJECT: warning: MESSAGE". */
void say_warning(const char *subject, const char *format, ...) SAY_FORMAT(2, 3);

/*
 * Bytes to standard error, as they are. Whether anybody reads them changes nothing: a pipe that was
 * closed there does not end the command before its work is done.
 */
void say_words(const char *text, size_t len);

/* What follows a noun that is counted: "1 key", "2 keys". */
#define SAY_S(n) ((n) == 1 ? "" : "s")

/* A line as it is: part of a summary. */
void say_line(const char *format, ...) SAY_FORMAT(1, 2);

#endif

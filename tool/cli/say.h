/*
 * say.h: words to standard error. An error is one line that names the subject, the cause and what
 * stayed unchanged; control characters in names are escaped so that it stays one line.
 */
#ifndef TOOL_CLI_SAY_H
#define TOOL_CLI_SAY_H

#include <stdarg.h>

/* The exit codes of the command: yes or done, no, error. */
enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_TROUBLE = 2 };

#if defined(__GNUC__)
#define SAY_FORMAT(string, first) __attribute__((format(printf, string, first)))
#else
#define SAY_FORMAT(string, first)
#endif

/*
 * "tepal: SUBJECT: MESSAGE; STAYS". subject and stays may be NULL. Returns EXIT_TROUBLE, so that a
 * caller can say and leave in one line.
 */
int say_error(const char *stays, const char *subject, const char *format, ...) SAY_FORMAT(3, 4);
int say_error_list(const char *stays, const char *subject, const char *format, va_list list);

/* The same of memory that there is not. */
int say_no_memory(const char *stays);

/* "tepal: SUBJECT: warning: MESSAGE". */
void say_warning(const char *subject, const char *format, ...) SAY_FORMAT(2, 3);

/* A line as it is: part of a summary. */
void say_line(const char *format, ...) SAY_FORMAT(1, 2);

#endif

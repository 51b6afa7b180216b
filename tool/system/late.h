/*
 * late.h: libraries that few commands need are loaded when the first call of one is made. Loading
 * takes longer than most commands take to run: some 0.05 ms for each, for libpcap a millisecond.
 *
 *     #define ZLIB(X) X(inflate) X(inflateEnd)
 *     LATE_LIBRARY(zlib, ZLIB, "libz.so.1")
 *
 * defines a table of these calls, zlib.inflate and zlib.inflateEnd with the types that the header
 * declares, and zlib_load(), which fills it. The files are tried in turn.
 */
#ifndef TOOL_SYSTEM_LATE_H
#define TOOL_SYSTEM_LATE_H

#include <stdbool.h>
#include <stddef.h>

#define LATE_FIELD(name) __typeof__(&(name)) name;
#define LATE_NAME(name)  #name,

#define LATE_LIBRARY(library, CALLS, ...)                                                          \
    static struct {                                                                                \
        CALLS(LATE_FIELD)                                                                          \
    } library;                                                                                     \
    static bool library##_load(void)                                                               \
    {                                                                                              \
        static const char *const files[] = {__VA_ARGS__, NULL};                                    \
        static const char *const names[] = {CALLS(LATE_NAME)};                                     \
        return late_load(files, names, sizeof names / sizeof *names, &library);                    \
    }

/*
 * The addresses of `count` names go to the pointers at `calls`, unless they are there: any thread
 * may ask again. False: no such library, or not with all of these.
 */
bool late_load(const char *const *files, const char *const *names, size_t count, void *calls);

#endif

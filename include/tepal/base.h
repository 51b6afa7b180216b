/*
 * tepal/base.h: what every other header needs: status codes, errors, the allocator hook, and named
 * quantities (how filters and models report what they know).
 */
#ifndef TEPAL_BASE_H
#define TEPAL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEPAL_VERSION_MAJOR 0
#define TEPAL_VERSION_MINOR 2
#define TEPAL_VERSION_PATCH 0
#define TEPAL_VERSION       "0.2.0"

#if defined(__GNUC__)
#define TEPAL_API __attribute__((visibility("default")))
#else
#define TEPAL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Every call that can fail returns one of these. Unless it returns TEPAL_OK, neither its outputs
 * nor its object have changed; where a call makes an exception, its comment says so. The values are
 * pinned: they never change and are never reused.
 */
#define TEPAL_STATUS_LIST(X)                                                                       \
    X(OK, 0, "done")                                                                               \
    X(NO_MEMORY, 1, "out of memory")                                                               \
    X(BAD_ARGUMENT, 2, "an argument is out of range")                                              \
    X(TOO_LARGE, 3, "the size exceeds what this machine can address, or the limit given")          \
    X(UNSUPPORTED, 4, "this filter cannot do that")                                                \
    X(MISMATCH, 5, "the two filters have different parameters")                                    \
    X(KEY_NEEDED, 6, "this filter was made with a secret key; set the key first")                  \
    X(WRONG_KEY, 7, "wrong secret key for this filter")                                            \
    X(NOT_A_FILTER, 8, "not a tepal filter")                                                       \
    X(BAD_VERSION, 9, "this filter has a newer format version than this library supports")         \
    X(UNKNOWN_KIND, 10, "this kind of filter is unknown to this version")                          \
    X(BAD_PARAMETER, 11, "a parameter is out of range")                                            \
    X(BAD_CHECKSUM, 12, "a checksum does not match: the data is damaged")                          \
    X(BAD_LENGTH, 13, "the length does not match the parameters")                                  \
    X(CORRUPT, 14, "the contents are inconsistent")                                                \
    X(IO, 15, "the operating system reported an error")                                            \
    X(READ_ONLY, 16, "this filter is a read-only view")                                            \
    X(NOT_REGULAR, 17, "not a regular file")                                                       \
    X(NOT_PRESENT, 18, "the key is not in the filter; nothing was changed")                        \
    X(FULL, 19, "the filter is full, or one key was added too often; build a larger one")          \
    X(CLOCK_BACK, 20, "the clock went backwards; nothing was changed")                             \
    X(STOPPED, 21, "stopped on the way; nothing was changed")

enum tepal_status {
#define TEPAL_STATUS_ENUM(name, value, message) TEPAL_##name = value,
    TEPAL_STATUS_LIST(TEPAL_STATUS_ENUM)
#undef TEPAL_STATUS_ENUM
};

/* The name ("BAD_CHECKSUM") and the one-line message of a status. Never NULL; static storage. */
TEPAL_API const char *tepal_status_name(enum tepal_status status);
TEPAL_API const char *tepal_status_message(enum tepal_status status);

/*
 * Why a call failed. Calls that can say more than their status take a pointer to one of these as
 * their last argument; NULL is always allowed. All fields are set when the call fails, none when it
 * succeeds.
 */
struct tepal_error {
    enum tepal_status status; /* what the call returned */
    int system;               /* errno, for TEPAL_IO; otherwise 0 */
    uint64_t offset;          /* of the offending byte or block, if there is one; otherwise 0 */
    const char *why;          /* what went wrong, in one sentence; static storage */
};

/*
 * How far a long call is. `go_on` is called now and then (many times in a second), in the thread of
 * the call, with the share of the work that is done: from 0 to 1, never less than before, in
 * proportion to time as far as that is known. If it returns false, the call fails with
 * TEPAL_STOPPED, having changed nothing. NULL: it is not called.
 */
struct tepal_progress {
    bool (*go_on)(void *ctx, double done);
    void *ctx;
};

/* The version of the library at run time: "major.minor.patch". */
TEPAL_API const char *tepal_version(void);

/*
 * Where an object takes its memory from. `alloc` returns at least `size` bytes aligned to `align`
 * (a power of two, at most 64), not necessarily cleared, or NULL. `free` is given the same size
 * again. Wherever a `const struct tepal_allocator *` is expected, NULL means the default:
 * aligned_alloc, with huge pages requested for arrays of 2 MiB and more. The struct is copied;
 * `ctx` must outlive every object made with it.
 */
struct tepal_allocator {
    void *(*alloc)(void *ctx, size_t size, size_t align);
    void (*free)(void *ctx, void *ptr, size_t size);
    void *ctx;
};

/*
 * A named quantity, and a list of them: how a filter reports on itself (tepal_filter_info) and how
 * a model reports its predictions (tepal_model). `name` is the name used in JSON; `about` says in a
 * few words what the quantity is and which equation gives it.
 */
enum tepal_quantity_type {
    TEPAL_QUANTITY_ABSENT, /* not known: null in JSON */
    TEPAL_QUANTITY_FLAG,
    TEPAL_QUANTITY_INTEGER,
    TEPAL_QUANTITY_REAL,
    TEPAL_QUANTITY_TEXT,
    TEPAL_QUANTITY_LIST /* of reals: an array in JSON */
};

struct tepal_quantity {
    const char *name;  /* static storage */
    const char *about; /* static storage */
    enum tepal_quantity_type type;
    union {
        bool flag;
        uint64_t integer;
        double real;
        const char *text; /* static storage */
        struct {
            size_t first; /* in the report's `number` */
            size_t count;
        } list;
    } value;
};

#define TEPAL_MAX_QUANTITIES 96
#define TEPAL_MAX_NUMBERS    256 /* in all lists of a report together */

struct tepal_report {
    size_t count;
    size_t numbers; /* used of `number` */
    struct tepal_quantity item[TEPAL_MAX_QUANTITIES];
    double number[TEPAL_MAX_NUMBERS];
};

/* The quantity of that name, or NULL. */
TEPAL_API const struct tepal_quantity *tepal_report_find(const struct tepal_report *report,
                                                         const char *name);

#ifdef __cplusplus
}
#endif

#endif

/*
 * tepal/base.h: what every other header needs: export marks, status codes, the allocator hook, and
 * named quantities (how filters and models report what they know).
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
 * Every fallible call returns one of these and leaves its outputs and its object untouched unless
 * it returns TEPAL_OK. The values are pinned: they never change and are never reused.
 */
#define TEPAL_STATUS_LIST(X)                                                                       \
    X(OK, 0, "done")                                                                               \
    X(NO_MEMORY, 1, "out of memory")                                                               \
    X(BAD_ARGUMENT, 2, "an argument is outside its limits")                                        \
    X(TOO_LARGE, 3, "a size is larger than this machine can address")                              \
    X(UNSUPPORTED, 4, "this kind of filter cannot do that")                                        \
    X(MISMATCH, 5, "the two filters were not made with the same parameters")                       \
    X(KEY_NEEDED, 6, "this filter was made with a secret key; give the key")                       \
    X(WRONG_KEY, 7, "this is not the secret key that the filter was made with")                    \
    X(NOT_A_FILTER, 8, "this is not a tepal filter")                                               \
    X(BAD_VERSION, 9, "this filter was written by a newer version of the format")                  \
    X(UNKNOWN_KIND, 10, "this kind of filter is unknown to this version")                          \
    X(BAD_PARAMETER, 11, "a parameter is outside its limits")                                      \
    X(BAD_CHECKSUM, 12, "a checksum does not match: the data is damaged")                          \
    X(BAD_LENGTH, 13, "the length does not match the parameters")                                  \
    X(CORRUPT, 14, "the contents contradict themselves")                                           \
    X(IO, 15, "the operating system reported an error")                                            \
    X(READ_ONLY, 16, "this filter is a read-only view")                                            \
    X(NOT_REGULAR, 17, "not a regular file")                                                       \
    X(NOT_PRESENT, 18, "the key is not in the filter; nothing was changed")                        \
    X(FULL, 19, "it is full, or one key came too often; build a larger one")                       \
    X(CLOCK_BACK, 20, "the clock ran backwards; nothing was changed")

enum tepal_status {
#define TEPAL_STATUS_ENUM(name, value, message) TEPAL_##name = value,
    TEPAL_STATUS_LIST(TEPAL_STATUS_ENUM)
#undef TEPAL_STATUS_ENUM
};

/* The name ("BAD_CHECKSUM") and the one-line message of a status; never NULL, static storage. */
TEPAL_API const char *tepal_status_name(enum tepal_status status);
TEPAL_API const char *tepal_status_message(enum tepal_status status);

/* The version of the library at run time, "major.minor.patch". */
TEPAL_API const char *tepal_version(void);

/*
 * Where an object takes its memory from. `alloc` returns at least `size` bytes aligned to `align`
 * (a power of two, at most 2 MiB), not necessarily cleared, or NULL. `free` gets the same size
 * back. Wherever a `const struct tepal_allocator *` is asked for, NULL means the default:
 * aligned_alloc, with huge pages requested for arrays of 2 MiB and more. The struct is copied;
 * `ctx` must outlive every object made with it.
 */
struct tepal_allocator {
    void *(*alloc)(void *ctx, size_t size, size_t align);
    void (*free)(void *ctx, void *ptr, size_t size);
    void *ctx;
};

/*
 * A named quantity, and a list of them. This is how a filter tells what it knows about itself
 * (tepal_filter_info) and how a model tells what it predicts (tepal_model_*): the name is the one
 * used in JSON, `about` says in a few words what it is and which equation gives it.
 */
enum tepal_quantity_type {
    TEPAL_QUANTITY_ABSENT, /* known not to be known: null in JSON */
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

#define TEPAL_REPORT_MAX     96
#define TEPAL_REPORT_NUMBERS 256 /* in all lists together */

struct tepal_report {
    size_t count;
    size_t numbers; /* used of `number` */
    struct tepal_quantity item[TEPAL_REPORT_MAX];
    double number[TEPAL_REPORT_NUMBERS];
};

/* The quantity of that name, or NULL. */
TEPAL_API const struct tepal_quantity *tepal_report_find(const struct tepal_report *report,
                                                         const char *name);

/*
 * Append one quantity; more than TEPAL_REPORT_MAX are dropped, and so is a list that finds no room.
 * A real that is not finite is recorded as absent, so that it can never reach a JSON document; a
 * list must be finite.
 */
TEPAL_API void tepal_report_absent(struct tepal_report *report, const char *name,
                                   const char *about);
TEPAL_API void tepal_report_flag(struct tepal_report *report, const char *name, const char *about,
                                 bool value);
TEPAL_API void tepal_report_integer(struct tepal_report *report, const char *name,
                                    const char *about, uint64_t value);
TEPAL_API void tepal_report_real(struct tepal_report *report, const char *name, const char *about,
                                 double value);
TEPAL_API void tepal_report_text(struct tepal_report *report, const char *name, const char *about,
                                 const char *value);
TEPAL_API void tepal_report_list(struct tepal_report *report, const char *name, const char *about,
                                 const double *values, size_t count);

#ifdef __cplusplus
}
#endif

#endif

/*
 * tepal/receive.h: filters from untrusted peers. A peer sends one; this decides whether to use it.
 *
 *     struct tepal_terms terms = TEPAL_TERMS_INIT;
 *     struct tepal_judgement judgement;
 *     struct tepal_filter *filter;
 *     terms.agreed = TEPAL_AGREED_KIND | TEPAL_AGREED_BITS | TEPAL_AGREED_SEED;
 *     terms.params = what_we_agreed;
 *     terms.max_bytes = 1 << 20;
 *     if (tepal_receive(bytes, len, &terms, NULL, &filter, &judgement, &error) != TEPAL_OK) ...
 *     if (filter == NULL) puts(judgement.why);
 *
 * The checks, in this order; the first that fails is the verdict:
 *   1. the header: is it a filter, and not larger than max_bytes? Nothing is allocated before.
 *   2. the parameters, against those that were agreed on, and the number of keys it claims;
 *   3. lengths, checksums, invariants: is it sound?
 *   4. the false-positive rate that its bits cause, against max_fp. Bloom: as measured from the
 *      bits, exactly, for every layout (retouched: likewise). Generalized and fingerprint: the
 *      same, and it can never exceed fp_bound, whatever the bits. Filters of other kinds are
 *      refused;
 *   5. the number of ones, against what that many keys set in an honest filter: is it more (or
 *      less) than chance explains? A retouched filter may have fewer by as many as it says were
 *      cleared. Blocked and paired Bloom filters also by their fullest line.
 *
 * What this cannot see: bits that were set for chosen keys, in a filter that looks as it should. A
 * peer who knows the seed and the hash functions can make such a filter (docs/untrusted.md has the
 * numbers); with a keyed hash, only a peer who has the key can.
 */
#ifndef TEPAL_RECEIVE_H
#define TEPAL_RECEIVE_H

#include <tepal/file.h>
#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which parameters were agreed on: the others may be anything. */
enum tepal_agreed {
    TEPAL_AGREED_KIND = 1 << 0,
    TEPAL_AGREED_LAYOUT = 1 << 1,
    TEPAL_AGREED_POSITIONS = 1 << 2,
    TEPAL_AGREED_BITS = 1 << 3,
    TEPAL_AGREED_HASHES = 1 << 4,
    TEPAL_AGREED_SEED = 1 << 5,
    TEPAL_AGREED_HASH = 1 << 6, /* keyed or not, and with the same key (params.key_check) */
    TEPAL_AGREED_OWN = 1 << 7,  /* the first of the kind's own: see TEPAL_AGREED_FIELD */
    TEPAL_AGREED_ALL = (1 << 15) - 1
};

/* The same for a kind's own parameter, by name: TEPAL_AGREED_FIELD(generalized.tolerance). */
#define TEPAL_AGREED_FIELD(field)                                                                  \
    (                                                                                              \
        (unsigned)TEPAL_AGREED_OWN                                                                 \
        << (offsetof(struct tepal_params, field) - offsetof(struct tepal_params, own)) / 8)

/*
 * The terms on which a filter is accepted. Start from TEPAL_TERMS_INIT: nothing agreed, no size
 * limit, at most 10 % false positives, a fill that is not rarer than one in a million.
 */
struct tepal_terms {
    unsigned agreed; /* of enum tepal_agreed */
    struct tepal_params params;
    const uint8_t *key;     /* TEPAL_KEY_BYTES: the filter must be keyed with this; NULL: none */
    uint64_t max_bytes;     /* of the encoded filter; 0: any number */
    uint64_t max_keys;      /* that it may claim; 0: any number */
    uint64_t keys;          /* judge its fill by this many keys; 0: as many as it claims */
    bool repeats;           /* keys may have been added repeatedly: few ones prove nothing */
    double max_fp;          /* the highest rate that is accepted; 1: any */
    double min_probability; /* of an honest filter's fill; 0: any fill is accepted */
};

#define TEPAL_TERMS_INIT                                                                           \
    {                                                                                              \
        0, TEPAL_PARAMS_INIT, NULL, 0, 0, 0, false, 0.1, 1e-6                                      \
    }

enum tepal_verdict {
    TEPAL_ACCEPTED = 0,
    TEPAL_REFUSED_SIZE = 1,       /* larger than max_bytes, according to its header */
    TEPAL_REFUSED_PARAMETERS = 2, /* not what was agreed */
    TEPAL_REFUSED_KEYS = 3,       /* claims more keys than max_keys */
    TEPAL_REFUSED_UNSOUND = 4,    /* not an encoded filter, or damaged, or cut short */
    TEPAL_REFUSED_KIND = 5,       /* of a kind that cannot be judged */
    TEPAL_REFUSED_FP = 6,         /* too many false positives */
    TEPAL_REFUSED_FILL = 7,       /* too many or too few ones for that many keys */
    TEPAL_REFUSED_LINE = 8        /* its fullest line is too full */
};

/* "accepted", "size", "parameters" and so on; static storage. */
TEPAL_API const char *tepal_verdict_name(enum tepal_verdict verdict);

struct tepal_judgement {
    enum tepal_verdict verdict;
    char why[240];            /* the reason, in one sentence; empty if accepted */
    struct tepal_error error; /* why it is unsound; otherwise all zero */
    unsigned differs;         /* of enum tepal_agreed: the first that is not as agreed */
    uint64_t bytes;           /* according to its header; 0: that cannot be read */
    uint64_t keys;            /* by which the fill was judged */
    bool judged;              /* its bits were judged: the fields below are known */
    uint64_t ones;
    double fill;
    double fill_expected;       /* of an honest filter; NaN: not known */
    double fill_deviation;      /* its standard deviation */
    double fill_probability;    /* that an honest one is at least as far off (repeats: as full) */
    uint32_t fullest_line;      /* ones in the fullest line of a blocked or paired Bloom filter */
    double fullest_probability; /* that an honest one has a line at least as full; else NaN */
    double fp_now;              /* false-positive rate, from its bits */
    double fp_bound;            /* its upper bound, for any bits; 1: there is none */
    double fn_told; /* retouched: the share of its members that it says it gave up; else NaN */
};

/*
 * Decide about an encoded filter. TEPAL_OK: decided; *out is the filter, with its key if one was
 * given, or NULL if it is refused, and the judgement says why. Anything else is an error, not a
 * verdict: TEPAL_NO_MEMORY, or TEPAL_BAD_ARGUMENT (limits outside 0..1, unknown bits in `agreed`).
 * Never allocates more than twice the length of the input, plus some KiB.
 */
TEPAL_API enum tepal_status
tepal_receive(const void *bytes, size_t len, const struct tepal_terms *terms,
              const struct tepal_allocator *allocator, struct tepal_filter **out,
              struct tepal_judgement *judgement, struct tepal_error *error);

/*
 * The same from a descriptor (a socket, a pipe, a file), up to its end. The header is judged before
 * more is read, and memory grows only as data arrives. Also TEPAL_IO. (Absent from a library that
 * was built without the operating system.)
 */
TEPAL_API enum tepal_status tepal_receive_fd(int fd, const struct tepal_terms *terms,
                                             const struct tepal_allocator *allocator,
                                             struct tepal_filter **out,
                                             struct tepal_judgement *judgement,
                                             struct tepal_error *error);

/* Decide about a filter that is in memory already: steps 2, 4 and 5. Reads all cells. */
TEPAL_API enum tepal_status tepal_judge(const struct tepal_filter *filter,
                                        const struct tepal_terms *terms,
                                        struct tepal_judgement *judgement,
                                        struct tepal_error *error);

/* The judgement as named quantities; what is not known is absent. */
TEPAL_API void tepal_judgement_report(const struct tepal_judgement *judgement,
                                      struct tepal_report *report);

#ifdef __cplusplus
}
#endif

#endif

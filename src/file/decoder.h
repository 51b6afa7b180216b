/*
 * decoder.h: an encoded filter as its bytes arrive, from the inside: what every way of loading a
 * copy is made of, whether the bytes are in memory, are read, or are fed piece by piece.
 *
 *     tepal_decoding_begin
 *     tepal_decoding_room   where the next bytes belong, and how many at most   <--+
 *     ...                   somebody puts some of them there                       | until the
 *     tepal_decoding_take   so many have come  ------------------------------------+ input ends
 *     tepal_decoding_end    a filter; or tepal_decoding_drop, if something failed
 *
 * The payload goes straight to where the filter will have it, and is summed as it comes. The sums
 * stand behind it, and are compared as they come.
 */
#ifndef TEPAL_SRC_FILE_DECODER_H
#define TEPAL_SRC_FILE_DECODER_H

#include "file/format.h"

struct decoding {
    struct tepal_allocator allocator;
    const struct format_gate *gate; /* NULL: none */
    uint64_t length;                /* of the input; 0: nobody knows before it ends */
    uint64_t max_bytes;             /* that it may have by its header; 0: any number */
    bool cautious;  /* take memory only as bytes arrive, by doubling it: at most thrice as much */
    uint64_t taken; /* bytes so far */
    struct format_header header; /* once all of its bytes have come */
    uint8_t *payload;            /* NULL: there is no memory yet */
    size_t room;                 /* bytes at `payload` */
    uint64_t *sums;              /* of the first blocks, as they come; ... */
    uint64_t sums_room;          /* ... so many at most, 0 if there is no such array ... */
    uint64_t summed;             /* ... and so many so far */
    uint8_t part[8 * FORMAT_SUMS_AT_ONCE]; /* the header as it comes, and later some of the sums */
};

/* Ready for the first byte. The fields that say how may be set afterwards. */
void tepal_decoding_begin(struct decoding *decoding, const struct tepal_allocator *allocator,
                          const struct format_gate *gate);

/* Never NULL, and *room is never 0: one byte too many has room. */
uint8_t *tepal_decoding_room(struct decoding *decoding, size_t *room);

/* After a failure only tepal_decoding_drop may follow. */
enum tepal_status tepal_decoding_take(struct decoding *decoding, size_t count,
                                      struct tepal_error *error);

/* The input has ended. Drops everything if it fails. */
enum tepal_status tepal_decoding_end(struct decoding *decoding, struct tepal_filter **out,
                                     struct tepal_error *error);

void tepal_decoding_drop(struct decoding *decoding);

#endif

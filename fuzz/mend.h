/*
 * mend.h: any bytes at all, made into a file that a reader believes: what somebody would do who
 * knows the format and wants to get past its checks, at the code behind them.
 */
#ifndef TEPAL_FUZZ_MEND_H
#define TEPAL_FUZZ_MEND_H

#include <stddef.h>
#include <stdint.h>

#define MEND_HEADER 256

/* What is left as the bytes have it, so that its check is reached too; the rest is put right. */
enum mend_leave {
    MEND_LEAVE_COUNTS = 1, /* numbers of the state that must agree with the cells or each other */
    MEND_LEAVE_TAILS = 2,  /* what no cell uses, and a cascade's directory */
    MEND_LEAVE_OWN = 4,    /* the kind's own parameters */
    MEND_LEAVE_SIZE = 8,
    MEND_LEAVE_NAMES = 16, /* layout, positions, hash, hashes, key check */
    MEND_LEAVE_KIND = 32,
    MEND_LEAVE_RESERVED = 64, /* byte 224, the first of the reserved ones, is what is left, too */
    MEND_LEAVE_FIXED = 128    /* version, lengths, width of cells and blocks */
};

/*
 * Checksums are always put right, and the payload has the length that the parameters
 * ask for, within `len`. Returns the new length, at most `len`; nothing is changed, and the same
 * length returned, if there is not room for a header and a word.
 */
size_t mend(uint8_t *bytes, size_t len, unsigned leave);

#endif

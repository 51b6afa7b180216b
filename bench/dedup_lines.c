/*
 * dedup_lines.c: N different lines of 16 characters in no order, for bench/dedup.sh: a bijective
 * mixer over 0, 1, 2 ..., in hexadecimal.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "mix.h"

int main(int argc, char **argv)
{
    static char block[17 * 4096];
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    size_t used = 0;
    for (uint64_t i = 1; i <= count; i++) {
        uint64_t value = bench_mix(i);
        for (int shift = 60; shift >= 0; shift -= 4) {
            block[used++] = "0123456789abcdef"[value >> shift & 15];
        }
        block[used++] = '\n';
        if (used == sizeof block || i == count) {
            if (fwrite(block, 1, used, stdout) != used) {
                return 1;
            }
            used = 0;
        }
    }
    return fflush(stdout) == 0 ? 0 : 1;
}

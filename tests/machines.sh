#!/usr/bin/env bash
# machines.sh FOLDER [MACHINE ...]: the library and its unit tests on other machines: compiled by
# Debian's cross compilers, run by qemu-user where this processor cannot. The library is built by its
# own rules, with all their warnings. The golden files must come out byte for byte, and every kind
# must do what its tests say: with 32 bits, with the bytes in the other order, without vector
# instructions. What is built goes to FOLDER. Without names: all of them.
#
#   plain    this processor, without the kernels for AVX2
#   i686     32 bits         armhf    32 bits, ARM
#   s390x    big-endian      arm64    64 bits, ARM
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
shift
[ $# -gt 0 ] || set -- i686 armhf s390x arm64 plain
# What qemu runs in a few minutes: the golden files of all kinds (format), every kind against its
# naive model with journeys through files and pieces (differential), and what is about words and
# bytes. A processor that runs the programs itself does all of them.
quick='wide params filter format counting_file avoid generalized retouched states header transfer
    differential alloc'
every="$quick model address bloom interface promises counting recycling fingerprint growing chain yesno
    cascade relations alloc_calls"
passed=0
failed=0

# CMake takes i686 for the processor that it runs on, as it does where 32 bits are a user's choice.
machine() { # sets compiler, runner, units and rules
    runner='' units=$quick rules="-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$1"
    case $1 in
    plain) compiler=gcc && units='wide bloom format counting generalized recycling fingerprint chain
        header differential' ;;
    i686) compiler="i686-linux-gnu-gcc -msse2 -mfpmath=sse" units=$every rules='' ;;
    armhf) compiler=arm-linux-gnueabihf-gcc runner=qemu-arm ;;
    s390x) compiler=s390x-linux-gnu-gcc runner=qemu-s390x ;;
    arm64) compiler=aarch64-linux-gnu-gcc runner=qemu-aarch64 ;;
    *) echo "machines.sh: there is no machine '$1'" && exit 2 ;;
    esac
}

# Everything is linked statically, so that no library of that machine is needed to run it.
run_on() { # run_on MACHINE
    local objects=$folder/$1 include=$folder/include
    machine "$1"
    mkdir -p "$objects" "$include"
    cp "$(find /usr/include /usr/include/* -maxdepth 1 -name xxhash.h | head -n 1)" "$include/"
    local flags="-std=c11 -O1 -ffp-contract=off -D_FILE_OFFSET_BITS=64"
    flags+=" -Wall -Wextra -Wno-clobbered -Wno-psabi -Werror"
    flags+=" -I$root/include -I$root/src -I$root/tests/plain -I$root/tests -isystem $include"
    # shellcheck disable=SC2086 # words
    cmake -S "$root" -B "$objects" $rules -DCMAKE_C_COMPILER="${compiler%% *}" \
        -DCMAKE_C_FLAGS="${compiler#"${compiler%% *}"} -Wno-psabi" -DXXHASH_INCLUDE_DIR="$include" \
        -DCMAKE_BUILD_TYPE=Release -DTEPAL_WERROR=ON -DTEPAL_COMMAND=OFF -DTEPAL_REDIS=OFF \
        >"$objects.log" &&
        cmake --build "$objects" --target tepal_static --parallel "${JOBS:-2}" >>"$objects.log" ||
        return 1
    # shellcheck disable=SC2086 # words
    printf '%s\n' $units | xargs -P "${JOBS:-2}" -I UNIT sh -c "$compiler $flags -static \
        $root/tests/UNIT_unit.c $objects/libtepal.a -lm -o $objects/UNIT_unit" || return 1
    for unit in $units; do
        local began=$SECONDS
        if TEPAL_GOLDEN_DIR=$root/tests/golden $runner "$objects/${unit}_unit" \
            >"$objects/$unit.log" 2>&1; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "$1: ${unit}_unit fails:"
            tail -n 5 "$objects/$unit.log"
        fi
        [ $((SECONDS - began)) -lt 60 ] || echo "$1: ${unit}_unit took $((SECONDS - began)) s"
    done
}

for name in "$@"; do
    started=$SECONDS
    run_on "$name" || { echo "$name: does not build" && failed=$((failed + 1)); }
    echo "$name: $((SECONDS - started)) s"
done
# in the words of the other tests, which are counted
echo "[  PASSED  ] $passed test(s)."
[ "$failed" -eq 0 ] || echo "[  FAILED  ] $failed test(s)"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

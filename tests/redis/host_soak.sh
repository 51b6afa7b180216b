#!/usr/bin/env bash
# 10^5 mutated payloads and as many commands of random words under sanitizers, which a server cannot
# have: builds the host of the module (host.c) with them. Arguments: the sources, a folder.
set -eu
mkdir -p "$2"
cmake -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTEPAL_TESTS=ON \
    -DTEPAL_SANITIZE=address,undefined >"$2/log" 2>&1 &&
    cmake --build "$2" --parallel "$(nproc)" --target redis_host >>"$2/log" 2>&1 || {
    tail -n 20 "$2/log"
    exit 1
}
exec "$2/redis_host" 100000 7

#!/usr/bin/env bash
# Install into an empty folder, then use the package as a stranger would: pkg-config (shared and
# static), CMake's find_package, the manual page, the completions. Argument: the build folder.
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

check() { # check DESCRIPTION COMMAND...
    local description=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not ok: $description"
        cat "$work/log"
    fi
}

check "cmake --install works" cmake --install "$build" --prefix "$work/root"
lib=$(dirname "$(find "$work/root" -name libtepal.a)")
for file in include/tepal/tepal.h bin/tepal share/man/man1/tepal.1 \
    share/bash-completion/completions/tepal share/zsh/site-functions/_tepal \
    share/fish/vendor_completions.d/tepal.fish; do
    check "$file is installed" test -s "$work/root/$file"
done
check "the shared library has its links" test -L "$lib/libtepal.so" -a -e "$lib/libtepal.so.0"

# The package file names the prefix it was configured for; a test prefix is set from outside.
export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib
pc() { pkg-config --define-variable=prefix="$work/root" "$@" tepal; }
example=$here/../examples/first.c
for each in "$here"/../examples/*.c; do
    # shellcheck disable=SC2046 # flags are words
    check "$(basename "$each") builds with pkg-config" \
        cc -std=c11 "$each" $(pc --cflags --libs) -o "$work/shared"
    check "and runs" "$work/shared"
done
# shellcheck disable=SC2046
check "an example builds statically" \
    cc -std=c11 "$example" $(pc --cflags) "$lib/libtepal.a" -lsodium -lm -o "$work/static"
check "and runs" "$work/static"

mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.25)
project(stranger C)
find_package(tepal 0.1 REQUIRED)
add_executable(shared $example)
target_link_libraries(shared tepal::shared)
add_executable(static $example)
target_link_libraries(static tepal::static)
EOF
check "find_package finds it" \
    cmake -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$work/root"
check "and a project builds on it" cmake --build "$work/project/build"
check "and runs, shared" "$work/project/build/shared"
check "and runs, static" "$work/project/build/static"
check "the installed command runs" "$work/root/bin/tepal" --version

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

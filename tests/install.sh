#!/usr/bin/env bash
# Install into an empty folder, then use the package as a stranger would: pkg-config (shared and
# static), CMake's find_package, the manual page, the completions; and the sources as a part of
# another project, with and without files. Argument: the build folder.
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

without() { # without COMMAND...: it succeeds and prints nothing
    local output
    output=$("$@" 2>&1) || { echo "$output" && return 1; }
    echo "$output"
    [ -z "$output" ]
}

needed() { # the shared libraries that a file needs
    readelf -d "$1" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p'
}

# ---- installed -----------------------------------------------------------------------------------
check "cmake --install works" cmake --install "$build" --prefix "$work/root"
lib=$(dirname "$(find "$work/root" -name libtepal.a)")
for file in include/tepal/tepal.h include/tepal.hpp bin/tepal share/man/man1/tepal.1 \
    share/bash-completion/completions/tepal share/zsh/site-functions/_tepal \
    share/fish/vendor_completions.d/tepal.fish; do
    check "$file is installed" test -s "$work/root/$file"
done
check "the shared library has its links" test -L "$lib/libtepal.so" -a -e "$lib/libtepal.so.0.2"
beyond() { needed "$lib/libtepal.so" | sed -E '/^lib[cm]\.so(\.[0-9]+)?$/d'; }
check "it needs nothing but libc and libm" without beyond
named() { sed -n '/[Ss]odium\|xxhash/p' "$lib/pkgconfig/tepal.pc" "$lib"/cmake/tepal/*; }
check "the package names no other library" without named

# The package file names the prefix it was configured for; a test prefix is set from outside.
export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib
pc() { pkg-config --define-variable=prefix="$work/root" "$@" tepal; }
run_in_work() { (cd "$work" && "$@"); }
for each in "$here"/../examples/*.c "$here/c_use.c"; do
    # shellcheck disable=SC2046 # flags are words
    check "$(basename "$each") builds with pkg-config" \
        cc -std=c11 "$each" $(pc --cflags --libs) -o "$work/shared"
    check "and runs" run_in_work "$work/shared" words.tepal begonia # which load looks up
done
# shellcheck disable=SC2046
check "an example builds statically" \
    cc -std=c11 "$here/../examples/bloom.c" $(pc --cflags) "$lib/libtepal.a" -lm -o "$work/static"
check "and runs" run_in_work "$work/static"

mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(stranger C CXX)
find_package(tepal 0.2 REQUIRED)
find_package(tepal 0.2 REQUIRED) # twice, as the parts of a larger project do
foreach(which tepal static shared)
  add_executable(\${which} $here/c_use.c)
  target_link_libraries(\${which} PRIVATE tepal::\${which})
endforeach()
add_executable(cxx $here/cxx_use.cpp)
add_executable(cpp $here/cpp_unit.cpp)
target_compile_features(cpp PRIVATE cxx_std_17)
target_link_libraries(cxx PRIVATE tepal::tepal)
target_link_libraries(cpp PRIVATE tepal::tepal)
END
uses_shared() { needed "$1" | grep -qx 'libtepal\.so\.0\.2'; }
uses_static() { ! uses_shared "$1"; }
for choice in static shared; do
    [ $choice = shared ] && on=ON || on=OFF
    check "find_package finds it, BUILD_SHARED_LIBS=$on" cmake -S "$work/project" \
        -B "$work/project/build" -DCMAKE_PREFIX_PATH="$work/root" -DBUILD_SHARED_LIBS="$on"
    check "and a project builds on it" cmake --build "$work/project/build"
    for program in tepal static shared cxx cpp; do
        check "and runs, $program" "$work/project/build/$program"
    done
    check "tepal::tepal is then tepal::$choice" uses_$choice "$work/project/build/tepal"
    check "from C++ too" uses_$choice "$work/project/build/cxx"
done
sed -i 's/tepal 0\.2/tepal 0.1/' "$work/project/CMakeLists.txt"
earlier() { ! cmake -S "$work/project" -B "$work/earlier" -DCMAKE_PREFIX_PATH="$work/root"; }
check "it is not version 0.1" earlier
check "the installed command runs" "$work/root/bin/tepal" --version

# ---- and taken away again ------------------------------------------------------------------------
# Exactly what the same variables install; another installation stays, and so do strangers' files.
with() { make -C "$here/.." BUILD="$build" "$@"; }
check "make install, stage one" with install PREFIX=/opt/tepal DESTDIR="$work/one"
# It is built now (-o): looking at everything again takes longer than all the rest of this part.
check "make install, stage two" with -o build install PREFIX=/opt/tepal DESTDIR="$work/two"
check "make install without a stage" with -o build install PREFIX="$work/live"
touch "$work/one/opt/tepal/include/tepal/other.h"
listed() { (cd "$1" && find . \( -type f -o -type l \) -print | sort); }
listed "$work/live" >"$work/live.list"
check "make uninstall" with -o build uninstall PREFIX=/opt/tepal DESTDIR="$work/one"
left() { [ "$(listed "$work/one")" = ./opt/tepal/include/tepal/other.h ]; }
check "nothing of it is left, and what is not ours stays" left
only() { [ "$(cd "$work/one" && find . -type d | sort | xargs)" = '. ./opt ./opt/tepal ./opt/tepal/include ./opt/tepal/include/tepal' ]; }
check "nor an empty folder" only
check "the other stage has all" diff <(listed "$work/two/opt/tepal") "$work/live.list"
check "the live one has all" diff <(listed "$work/live") "$work/live.list"
mkdir "$work/live/share/empty"
check "make uninstall without a stage" with -o build uninstall PREFIX="$work/live"
rest() { [ "$(cd "$work/live" && find . | sort | xargs)" = '. ./share ./share/empty' ]; }
check "takes all, and leaves what it did not make" rest

# ---- a part of another project -------------------------------------------------------------------
# Without pkg-config and what it finds, and without effort on speed: compiling is all that it costs.
parent=$work/parent
mkdir "$parent"
cat >"$parent/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(parent C)
add_subdirectory($here/.. tepal)
add_executable(user $here/c_use.c)
target_link_libraries(user PRIVATE tepal::tepal)
END
calls='f?open|openat|f?read|f?write|f?close|mmap|munmap|rename|renameat|fsync|poll|[lf]?stat|lseek'
calls+='|unlink|unlinkat|realpath|fchmod|fchown|getentropy'
plain=(-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON)
system_calls() { # system_calls ARCHIVE
    nm --undefined-only "$1" | awk 'NF == 2 { print $2 }' | sort -u |
        sed -nE "/^_*($calls)(64)?(_chk)?\$/p"
}
check "add_subdirectory works" cmake -S "$parent" -B "$parent/build" "${plain[@]}"
check "and without files" cmake -S "$parent" -B "$parent/build" "${plain[@]}" -DTEPAL_STORE=OFF
check "and the project builds" cmake --build "$parent/build" --parallel "$(nproc)"
check "and runs" "$parent/build/user"
check "with files the library calls the system" \
    grep -qE '^openat(64)?$' <(system_calls "$lib/libtepal.a")
check "without files it does not" without system_calls "$parent/build/tepal/libtepal.a"
programs() { find "$parent/build" -type f -perm /111 -name 'tepal*'; }
check "there is no command" without programs
check "cmake --install works there" cmake --install "$parent/build" --prefix "$work/none"
installed() { find "$work" -path "$work/none/*"; }
check "and installs nothing" without installed

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

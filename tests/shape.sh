#!/usr/bin/env bash
# The shape of the sources: who may include and who may call whom, which symbols the libraries show,
# that every file opens by saying what it is. Arguments: the static and the shared library, and the
# folder that they were built in.
set -u
static=$1
shared=$2
build=$3
cd "$(dirname "$0")/.." || exit 1
passed=0
failed=0
sources=$(find include src program tool apps lab servers tests fuzz bench examples -name '*.[ch]')

check() { # check DESCRIPTION COMPLAINTS: passes if there are none
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'not ok: %s\n%s\n' "$1" "$2"
    fi
}

# Folder, and the modules that its files may include and whose symbols they may refer to. A public
# header belongs to the module that implements it. tool, apps, servers and bench stand on public
# headers alone. Models hang from parameters, never from filters: else to compare the two proves nothing.
allowed='
src/base     base
src/hash     base hash
src/address  base hash params address
src/cells    base cells
src/params   base hash params
src/model    base params model
src/plan     base params model plan
src/filter   base hash address cells params model filter
src/file     base hash params filter file
program      program tool apps lab public
tool         tool public
apps         apps tool public
lab          lab apps tool public
bench        bench public
servers      servers public
examples     public
'

# Files that may do more than their folder: a planner asks models alone, but one file builds; files
# are read without models, but one file judges what a stranger sent; and products of 128 bits are in
# the header that programs inline.
exceptions='
src/base/wide.h   hash
src/base/halves.h hash
src/plan/build.c  filter
src/file/judge.c  cells model
'

may() { # may FILE MODULES MODULE: may this file of a folder that uses these modules use that one?
    [[ " $2 " == *" $3 "* ]] || grep -qE "^$1 .*\b$3\b" <<<"$exceptions"
}

# The module that an included file belongs to; the system's belong to none.
declare -A module_of
while read -r header; do
    case $header in
    tepal/tepal.h) module=public ;;
    tepal/base.h | tepal/hash.h | tepal/params.h | tepal/model.h | tepal/file.h | tepal/plan.h)
        module=$(basename "$header" .h) ;;
    tepal/papers.h) module=model ;;
    tepal/place.h) module=hash ;; # from keys to cells: below all that has cells
    tepal/known.h) module=params ;; # what is known of keys, before there is a filter
    tepal/*) module=filter ;; # a kind's
    *) module=${header%%/*} ;;
    esac
    module_of[$header]=$module
done < <(find include src -name '*.h' -printf '%P\n')
for module in program tool apps lab servers bench; do
    while read -r header; do
        module_of[$header]=$module
    done < <(find "$module" -name '*.h' -printf '%P\n')
done

complaints=
while read -r folder modules; do
    [ -n "$folder" ] && [ -d "$folder" ] || continue
    while IFS=: read -r file line; do
        [[ $line =~ [\<\"]([^\>\"]+)[\>\"] ]] && name=${BASH_REMATCH[1]}
        case $name in
        tepal/*) [[ " $modules " == *" public "* ]] && continue ;;
        esac
        module=${module_of[$name]:-}
        [ -z "$module" ] || may "$file" "$modules" "$module" ||
            complaints+="$file includes $name"$'\n'
    done < <(grep -rHE --include='*.[ch]' '^#include' "$folder")
done <<<"$allowed"
check "files include only what the table allows" "$complaints"

folders=$(for f in src/*/; do echo "${f%/}"; done)
complaints=
for folder in $folders; do
    grep -q "^$folder " <<<"$allowed" || complaints+="$folder is not in the table"$'\n'
done
check "every folder of src is in the table of includes" "$complaints"

# What the objects say: "definer symbol" and "user symbol", by source file, of names that are ours.
# An include shows what a file might call; a symbol what it calls.
symbols() { # symbols OBJECT-FOLDER NM-OPTION
    find "$1" -name '*.o' | while read -r object; do
        source=${object#"$1"/} # an old object of a source that is gone does not count
        [ ! -f "${source%.o}" ] || echo "$object"
    done | xargs nm --extern-only --print-file-name "$2" |
        sed -nE "s|^$1/([^:]*)\.o:.* ([a-zA-Z_][a-zA-Z0-9_]*)$|\1 \2|p"
}

# Who of a set of objects refers to what somebody else of them defines: "user's file, definer's
# file, symbol".
references() { # references OBJECT-FOLDER
    awk 'NR == FNR { home[$2] = $1; next } $2 in home { print $1, home[$2], $2 }' \
        <(symbols "$1" --defined-only) <(symbols "$1" --undefined-only)
}

declare -A uses
while read -r folder modules; do
    [ -z "$folder" ] || uses[${folder#src/}]=$modules
done <<<"$allowed"
for objects in tepal_objects tepal_tool; do
    complaints=
    counted=0
    while read -r file home symbol; do
        from=${file#src/} && from=${from%%/*}
        to=${home#src/} && to=${to%%/*}
        may "$file" "${uses[$from]:-}" "$to" || complaints+="$file refers to $symbol of $home"$'\n'
        counted=$((counted + 1))
    done < <(references "$build/CMakeFiles/$objects.dir")
    [ "$counted" -gt 100 ] || complaints+="only $counted references were found"$'\n'
    check "$objects refer only to symbols of what the table allows" "$complaints"
done

# The command stands on what the headers declare, and on nothing else of the library.
private_to() { # private_to OBJECT-FOLDER: the private symbols of the library that it refers to
    comm -12 <(symbols "$1" --undefined-only | cut -d ' ' -f 2 | sort -u) \
        <(symbols "$build/CMakeFiles/tepal_objects.dir" --defined-only | cut -d ' ' -f 2 | sort -u) |
        comm -23 - <(grep -ohE 'tepal_[a-z0-9_]+' include/tepal/*.h | sort -u)
}
check "the command refers to no private symbol of the library" \
    "$(private_to "$build/CMakeFiles/tepal_tool.dir")"
check "the server module refers to none either" \
    "$(private_to "$build/CMakeFiles/tepal_redis.dir")"
check "the server module shows its entry point alone" \
    "$(nm --dynamic --defined-only "$build/tepal-redis.so" | awk '{ print $3 }' |
        grep -v '^RedisModule_OnLoad$')"

complaints=$(nm --defined-only --extern-only "$static" 2>/dev/null |
    awk 'NF == 3 && $3 !~ /^(tepal_|__odr_asan|_?_?asan|__start|__stop)/ { print $3 }')
check "the static library defines no global name but tepal_*" "$complaints"
complaints=$(nm --undefined-only "$static" 2>/dev/null |
    awk '$2 ~ /^(lgamma[fl]?|signgam|s?rand|s?random|[dlm]rand48|strtok|strerror|localtime|gmtime|[ac](sc)?time)$/ ||
        $2 ~ /^(getenv|setenv|putenv|setlocale|localeconv|tmpnam|atexit|signal|sigaction|umask|chdir)$/ { print $2 }')
check "the library calls nothing that keeps its answer in a global, or changes the process" "$complaints"
complaints=$(size -A "$static" | awk '/\(ex / { member = $1 }
    $1 ~ /^\.(data|bss|tdata|tbss)/ && $1 !~ /^\.data\.rel\.ro/ && $2 > 0 { print member ": " $1 }')
check "the library has no globals that change" "$complaints"
# alloc_calls_unit.c takes it from here that these need no test of running out of memory.
complaints=$(symbols "$build/CMakeFiles/tepal_objects.dir" --undefined-only |
    awk '$2 ~ /^(malloc|calloc|realloc|aligned_alloc|posix_memalign|strdup|mmap|free)$/ &&
            $1 !~ /^src\/(base\/alloc|file\/store)\.c$/ { print $1 " calls " $2 }
        $2 ~ /^tepal_(alloc_|arena_)/ && $1 ~ /^src\/(hash|address|cells|params|model|plan)\// &&
            $1 != "src/plan/build.c" { print $1 " calls " $2 }')
check "memory is taken from the allocator alone, and not at all by numbers and names" "$complaints"
declared=$(sed -nE 's/(^|.*[ *])(tepal_[a-z0-9_]+)\(.*/\2/p' include/tepal/*.h | sort -u)
exported=$(nm --dynamic --defined-only "$shared" | awk '$2 == "T" { print $3 }' | sort)
complaints=$(comm -13 <(echo "$declared") <(echo "$exported"))
check "the shared library exports only what the headers declare" "$complaints"
api=$(sed -nE '/TEPAL_API/,/;/s/(^|.*[ *])(tepal_[a-z0-9_]+)\(.*/\2/p' include/tepal/*.h | sort -u)
complaints=$(comm -23 <(echo "$api") <(echo "$exported"))
check "the shared library exports all that the headers declare" "$complaints"

# The interface: one page lists all of the stable one, and tests name every function of it.
functions() { # functions HEADER...: the public functions they declare
    sed -nE '/TEPAL_API/,/;/s/(^|.*[ *])(tepal_[a-z0-9_]+)\(.*/\2/p' "$@" | sort -u
}
stable=$(functions $(find include -name '*.h' ! -name papers.h))
listed=$(sed -nE 's/^\| `(tepal_[a-z0-9_]+)` \|.*/\1/p' docs/api.md | sort)
check "docs/api.md lists every stable function, once" \
    "$(diff <(echo "$stable") <(echo "$listed"))"
check "docs/api.md counts them" \
    "$(grep -q "^$(wc -l <<<"$stable") functions in the stable headers" docs/api.md || echo "wrong")"
check "the tests name every public function" \
    "$(comm -23 <(echo "$api") <(grep -rohwE --include='*.[ch]*' 'tepal_[a-z0-9_]+' tests | sort -u))"
check "the shared library has a SONAME" \
    "$(readelf -d "$shared" | grep -q 'SONAME.*libtepal\.so\.[0-9]' || echo "none")"

complaints=$(for f in $sources; do
    head -c 2 "$f" | grep -q '^/\*' || echo "$f"
done)
check "every source file opens by saying what it is" "$complaints"

# Options are found by name: one that no command has would never be given.
complaints=$(comm -23 \
    <(cat $sources | tr '\n' ' ' | grep -oE '\barg(_whole|_real|s_text|s_knows)?\([^()]*, "[a-z0-9-]+"' |
        sed -E 's/.*"([a-z0-9-]+)"/\1/' | sort -u) \
    <(cat $sources | tr '\n' ' ' |
        grep -oE '(OPTION|FLAG)\([ \\]*[^ ]+ +"[a-z0-9-]+"' | sed -E 's/.*"(.*)"/\1/' | sort -u))
check "options that are asked for exist" "$complaints"

complaints=$(grep -nE '.{101,}' $sources)
check "no line is longer than 100 columns" "$complaints"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

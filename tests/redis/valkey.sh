#!/usr/bin/env bash
# The tests of the module on Valkey, if it can be had. Arguments: a folder for it, and
# those of the tests: module, command, and for the clients hiredis and a folder of packages.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if ! server=$("$here/../../scripts/fetch-valkey" "$1"); then
    echo "valkey cannot be had here: its tests are skipped"
    exit 77
fi
shift
failed=0
for name in basics persistence compat clients push; do
    TEPAL_SERVER=$server /usr/bin/python3 "$here/$name.py" "$@" || failed=1
done
exit $failed

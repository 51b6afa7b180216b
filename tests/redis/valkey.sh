#!/usr/bin/env bash
# The tests of the module on Valkey, if it can be had. Arguments: module, command, a folder for it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if ! server=$("$here/../../scripts/fetch-valkey" "$3"); then
    echo "valkey cannot be had here: its tests are skipped"
    exit 77
fi
failed=0
for name in basics persistence compat; do
    TEPAL_SERVER=$server /usr/bin/python3 "$here/$name.py" "$1" "$2" || failed=1
done
exit $failed

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Looks at one file with gcc's static analyser: `tests/analyze.sh STAMP FILE COMMAND...`, as `make analyze` calls
# it. Complains about everything but the lines of tests/analyze.allow, each of which says why it may stand, and
# makes the file STAMP where there is nothing to complain about.
set -u
stamp=$1 file=$2
shift 2
mkdir -p "${stamp%/*}"
log=$stamp.log
LC_ALL=C "$@" -fanalyzer -DHN_ANALYZE -c -o /dev/null "$file" 2>"$log" || { cat "$log"; exit 1; }
bad=0
while IFS=: read -r where line _ rest; do
    kind=${rest##*\[-Wanalyzer-}
    kind=${kind%]}
    text=$(sed -n "${line}s/^ *//p" "$where")
    grep -qxF -- "$where: $kind: $text" "${0%.sh}.allow" || { echo "$where:$line:$rest"; bad=1; }
done < <(grep -E '^[^ ]+:[0-9]+:[0-9]+: warning: .*\[-Wanalyzer-' "$log" | sort -u)
[ $bad = 0 ] && touch "$stamp"

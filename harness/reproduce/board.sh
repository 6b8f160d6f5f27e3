#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A suite of the board and entries on it (docs/board.md): `harness/reproduce/board.sh PROGRAM DATA OUTPUT SIZE [ENTRY...]`, called
# by `make board`. Makes the encoders (encoders.sh; DATA as there), OUTPUT/suite.yaml, which lists them by checksum, and
# OUTPUT/reference.h5, unless they are there; measures each ENTRY (YAML) beside its file, without one those of hardneg's own samplers
# (harness/reproduce/board/) in OUTPUT/entries/; and writes OUTPUT/board.html and OUTPUT/board.md of these and of what lies there.
# SIZE: small, of 3,300 items a series, or full, of 10,000. KINDS, ENCODERS: fewer of them. Given again, it goes on where it was
# broken off.
set -eu
program=$1 data=$2 output=$3
size=$([ "$4" = small ] && echo quick || echo full)
suite=board-1$([ "$4" = small ] && echo -small || true)
shift 4
. "$(dirname "$0")/encoders.sh"
encoders=${ENCODERS:-3}
read -r -a kinds <<<"${KINDS:-packages functions manuals perl headers glyphs sentences cifar10}"

# A quarter of the kinds is kept aside: the last by the checksums of the suite's name with theirs.
kept() { # KIND...
    for kind in "$@"; do echo "$(printf %s "$suite-$kind" | sha256sum) $kind"; done | sort | tail -n $(($# / 4)) | sed 's/.* //'
}

list_kind() { # KIND true|false
    local i step
    step=$("$program" info --json "$output/encoders/$1-1.h5" | "$python3" -c 'import json, sys; print(json.load(sys.stdin)["steps"][-1])')
    printf '  - name: %s\n    kept: %s\n    step: %s\n    encoders:\n' "$1" "$2" "$step"
    for ((i = 1; i <= encoders; i++)); do
        printf '      - {file: encoders/%s-%s.h5, sha256: %s}\n' "$1" "$i" \
            "$("$program" info --json "$output/encoders/$1-$i.h5" | "$python3" -c 'import json, sys; print(json.load(sys.stdin)["content_sha256"])')"
    done
}

make_suite() {
    local kind made=() aside
    for kind in "${kinds[@]}"; do
        make_encoders "$encoders" && made+=("$kind") || [ $? = 3 ] || exit 1
    done
    aside=$(kept "${made[@]}")
    {
        cat "$here/reproduce/board.yaml"
        echo "kinds:"
        for kind in "${made[@]}"; do list_kind "$kind" "$(grep -qx "$kind" <<<"$aside" && echo true || echo false)"; done
    } | sed "s/^suite: .*/suite: $suite/" >"$output/suite.yaml.new"
    mv "$output/suite.yaml.new" "$output/suite.yaml"
}

mkdir -p "$output/encoders" "$output/entries"
output=$(cd "$output" && pwd)
[ -r "$output/suite.yaml" ] || make_suite
[ -r "$output/reference.h5" ] || "$program" board --suite "$output/suite.yaml" -o "$output/reference.h5"
measure() { "$program" board --suite "$output/suite.yaml" --entry "$1" -o "$2"; } # ENTRY FILE
own=()
for entry in "$@"; do
    measure "$entry" "${entry%.yaml}.h5"
    own+=("${entry%.yaml}.h5")
done
for entry in "$here"/reproduce/board/*.yaml; do
    result=$output/entries/$(basename "${entry%.yaml}").h5
    [ $# -gt 0 ] || [ -r "$result" ] || measure "$entry" "$result"
done
# What training with hardneg's own samplers was worth on pairs of packages (docs/notes/trials.md).
trained=()
[ ! -r "$output/entries/uniform.h5" ] || trained=(--outcome "$here/reproduce/board/trained.csv")
shopt -s nullglob
"$program" board "$output/reference.h5" "$output"/entries/*.h5 ${own[@]+"${own[@]}"} ${trained[@]+"${trained[@]}"} -o "$output/board.html" | tee "$output/board.md"

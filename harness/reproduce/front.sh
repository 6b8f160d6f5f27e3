#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The front of all samplers on data of several kinds: `harness/reproduce/front.sh PROGRAM DATA OUTPUT [quick]`, called by
# `make front` (docs/notes/front.md). Three encoders of every kind; then harness/jobs/front.yaml, and its tables. Kinds of a
# Debian system need no data (front_data.py); DATA, a folder with sts/ and cifar10/ as docs/guide/training-data.md has them, adds
# sentences and images. A kind whose material is missing is left out, and that is said. KINDS, ENCODERS: fewer of them;
# JOB: another job. quick: series of 3,300 items, for images
# after 300 steps on few views. Given again, it goes on where it was broken off.
set -eu
program=$1 data=$2 output=$3 size=${4:-full}
. "$(dirname "$0")/encoders.sh"
encoders=${ENCODERS:-3}
read -r -a kinds <<<"${KINDS:-packages functions manuals glyphs sentences cifar10}"

front_of() { # KIND
    local kind=$1 list= series
    make_encoders "$encoders" || return 0
    set -- -c "${JOB:-$here/jobs/front.yaml}" --set "snapshots=[$list]" --set "steps=$("$program" info --json "$series" |
        "$python3" -c 'import json, sys; print(json.load(sys.stdin)["steps"][-1])')" --quiet
    "$program" run "$@" -o "$output/$kind/all"
    "$program" run "$@" -o "$output/$kind/uniform" --set samplers=[uniform] --set seeds=[2,3,4,5,6,7,8,9,10]
}

mkdir -p "$output/encoders"
output=$(cd "$output" && pwd)
for kind in "${kinds[@]}"; do front_of "$kind"; done
"$program" list samplers --json >"$output/samplers.json"
"$python3" "$here/reproduce/front.py" "$output" | tee "$output/front.md"

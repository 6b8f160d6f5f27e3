#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A job in parts on one machine or several, with GNU parallel, joined at the end:
#
#   PARTS=16 JOBS=4 docs/guide/ci/parallel.sh JOB.yaml FOLDER
#
# Parts that were interrupted go on where they stopped when the same command is given again. With
# --sshloginfile in PARALLEL the parts run on other machines that share the folder.
set -eu
job=$1
folder=$2
parts=${PARTS:-8}
mkdir -p "$folder"
seq "$parts" | parallel --jobs "${JOBS:-2}" --halt now,fail=1 \
    hardneg run -c "$job" -o "$folder/part{}" --shard "{}/$parts" --quiet
# shellcheck disable=SC2046
hardneg merge $(seq -f "$folder/part%g" "$parts") -o "$folder/results.h5"

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A job in parts as a Slurm array, one part a task, joined when all have ended well:
#
#   PARTS=16 docs/guide/ci/slurm.sh JOB.yaml FOLDER [OPTION OF SBATCH]...
#
# e.g. --partition=cpu --cpus-per-task=16 --mem=32G --time=12:00:00 (default: 8, 16G and 4 hours; 8 parts). Leaves
# FOLDER/results.h5, and messages of the tasks in FOLDER/log. WAIT=1 waits for the end. A task that was pre-empted,
# requeued, or came near its time limit goes on where it stopped: finished cells are kept. The same command again, after
# a failure, runs what is missing.
#SBATCH --cpus-per-task=8
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
set -eu

fail() {
    echo "slurm.sh: $*" >&2
    exit 1
}
cells_in() { find "$1/cells" -name '*.cell' 2>/dev/null | wc -l; } # FOLDER

# In a task. Processors and memory are those of the task; a quarter of the memory is left to the program itself, its
# libraries and its files, which --memory does not count.
run_part() { # JOB FOLDER PARTS
    local part="$2/part$SLURM_ARRAY_TASK_ID" cpus=${SLURM_CPUS_PER_TASK:-${SLURM_CPUS_ON_NODE:-1}} task
    local memory=${SLURM_MEM_PER_NODE:-$((${SLURM_MEM_PER_CPU:-0} * ${SLURM_CPUS_ON_NODE:-$cpus}))} limit=()
    local before rc signal=none again=
    [ "$memory" = 0 ] || limit=(--memory "$((memory * 3 / 4))MiB")
    before=$(cells_in "$part")
    hardneg run -c "$1" -o "$part" --shard "$SLURM_ARRAY_TASK_ID/$3" --threads "$cpus" "${limit[@]}" --quiet &
    task=$!
    trap 'signal=TERM; kill -TERM $task' TERM
    trap 'signal=USR1; again=1; kill -TERM $task' USR1
    # A signal ends `wait`, not the task.
    while [ -n "$signal" ]; do
        signal=
        rc=0
        wait $task || rc=$?
    done
    [ "$rc$again" = 1301 ] || exit $rc
    [ "$(cells_in "$part")" -gt "$before" ] ||
        fail "part $SLURM_ARRAY_TASK_ID: no cell was finished in the time limit: give more with --time"
    echo "slurm.sh: part $SLURM_ARRAY_TASK_ID goes on in a further run: its time is over" >&2
    scontrol requeue "$SLURM_JOB_ID"
}

# Parts that an older array of more tasks left in the folder are not named here.
merge_parts() { # FOLDER PARTS
    # shellcheck disable=SC2046 # words are wanted
    hardneg merge $(seq -f "$1/part%.0f" "$2") -o "$1/results.h5"
}

# Cancels what was submitted, when that can never start: Slurm finds the reason when it looks at the queue.
check_request() { # ARRAY MERGE
    local reason=None i
    for ((i = 0; i < 20; i++)); do
        reason=$(squeue -h -t PENDING -o %r -j "$1" 2>/dev/null | head -n 1)
        [ "$reason" = None ] || break
        sleep 0.5
    done
    case $reason in
    PartitionConfig | PartitionTimeLimit | PartitionNodeLimit | BadConstraints | InvalidAccount | InvalidQOS)
        scancel "$@"
        fail "Slurm would never start this ($reason): ask for fewer processors, less memory or time, or another partition"
        ;;
    esac
}

submit() { # JOB FOLDER [OPTION]...
    local job=$1 folder=$2 parts=${PARTS:-8} array merge
    shift 2
    [[ $parts =~ ^[1-9][0-9]*$ ]] || fail "PARTS=$parts: give a number of parts"
    command -v hardneg >/dev/null || fail "hardneg is not on PATH"
    [[ " $* " == *" --mem"* ]] || set -- --mem=16G "$@" # as #SBATCH it would exclude --mem-per-cpu
    [ -r "$job" ] || fail "$job: no such job file"
    mkdir -p "$folder/log"
    [ -z "$(squeue -h -j "$(cat "$folder/array" 2>/dev/null)" 2>/dev/null)" ] ||
        fail "$folder: its array $(cat "$folder/array") has not ended: wait, or scancel $(cat "$folder/array")"
    array=$(sbatch --parsable "$@" --array="1-$parts" --output="$folder/log/part%a.txt" "$0" \
        --part "$job" "$folder" "$parts") || fail "Slurm refuses this request: see above"
    array=${array%%;*}
    echo "$array" >"$folder/array"
    # The last of two --dependency counts: the array has one that the caller gives.
    merge=$(sbatch --parsable "$@" --cpus-per-task=1 --dependency="afterok:$array" --kill-on-invalid-dep=yes \
        --output="$folder/log/merge.txt" "$0" --merge "$folder" "$parts") || {
        scancel "$array"
        fail "Slurm refuses to join the parts: see above; array $array is cancelled"
    }
    check_request "$array" "${merge%%;*}"
    echo "array $array, joined by job ${merge%%;*} into $folder/results.h5; messages in $folder/log"
    [ -z "${WAIT:-}" ] || wait_for_merge "$folder" "${merge%%;*}"
}

state_of() { scontrol -o show job "$1" 2>/dev/null | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p'; }

wait_for_merge() { # FOLDER JOB
    local state=PENDING unknown=0
    while [[ $state =~ ^(PENDING|RUNNING|COMPLETING|CONFIGURING|SUSPENDED|)$ ]]; do
        sleep "${WAIT_SECONDS:-10}"
        state=$(state_of "$2")
        unknown=$([ -n "$state" ] && echo 0 || echo $((unknown + 1)))
        [ "$unknown" -lt 30 ] || fail "Slurm does not answer about job $2: see $1/log"
    done
    [ "$state" = COMPLETED ] || fail "not all parts ended well, and nothing was joined: $1/log says why"
}

case ${1:-} in
--part) run_part "$2" "$3" "$4" ;;
--merge) merge_parts "$2" "$3" ;;
*)
    [ $# -ge 2 ] || fail "usage: PARTS=16 slurm.sh JOB.yaml FOLDER [OPTION OF SBATCH]..."
    submit "$@"
    ;;
esac

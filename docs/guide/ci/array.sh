#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A task of an array of PBS, LSF, Grid Engine or Slurm: the part of a job that has the task's number of all.
#
#   docs/guide/ci/array.sh JOB.yaml FOLDER PARTS
#
# PBS:          qsub -J 1-16 -l select=1:ncpus=16:mem=32gb -l walltime=12:00:00 -- "$PWD/docs/guide/ci/array.sh" "$PWD/mine.yaml" "$PWD/results/mine" 16
# LSF:          bsub -J "mine[1-16]" -n 16 -R "span[hosts=1]" -W 12:00 docs/guide/ci/array.sh mine.yaml results/mine 16
# Grid Engine:  qsub -t 1-16 -pe smp 16 -cwd docs/guide/ci/array.sh mine.yaml results/mine 16
#
# A task that is given again goes on where it stopped. When all have ended, `hardneg merge FOLDER/part* -o FOLDER/results.h5`.
set -eu
index=${SLURM_ARRAY_TASK_ID:-${PBS_ARRAY_INDEX:-${PBS_ARRAYID:-${LSB_JOBINDEX:-${SGE_TASK_ID:-}}}}}
threads=${SLURM_CPUS_PER_TASK:-${NCPUS:-${LSB_DJOB_NUMPROC:-${NSLOTS:-}}}}
[[ $index =~ ^[1-9][0-9]*$ ]] || {
    echo "array.sh: no number of a task from 1 on (PBS_ARRAY_INDEX, LSB_JOBINDEX, SGE_TASK_ID): submit an array" >&2
    exit 2
}
[ -z "$threads" ] || set -- "$@" --threads "$threads"
exec hardneg run -c "$1" -o "$2/part$index" --shard "$index/$3" --quiet "${@:4}"

#!/usr/bin/env bash
# A job in parts as a Slurm array, one part a task:
#
#   parts=$(sbatch --parsable --array=1-16 docs/guide/ci/slurm.sh JOB.yaml FOLDER)
#   sbatch --dependency=afterok:$parts --wrap "hardneg merge FOLDER/part* -o FOLDER/results.h5"
#
# A task that was pre-empted or ran out of time goes on where it stopped: finished cells are kept.
#SBATCH --cpus-per-task=8
#SBATCH --mem=16G
#SBATCH --time=04:00:00
#SBATCH --requeue
set -eu
job=$1
folder=$2
mkdir -p "$folder"
exec hardneg run -c "$job" -o "$folder/part$SLURM_ARRAY_TASK_ID" --quiet \
    --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
    --threads "${SLURM_CPUS_PER_TASK:-1}" --memory 12GiB

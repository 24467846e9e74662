#!/bin/bash
#SBATCH --job-name=analyse
#SBATCH --ntasks=1
# An example for gridtorrent-array: each job reads the same data set, which its host has fetched once.
#
#     gridtorrent-array analyse.sh --array=1-32
set -euo pipefail
data=$(gridtorrent-once "${CONTENT:-mia/run42}")
# Here your program reads "$data"; the job's number says which part of the work is its own.
find "$data" -type f -printf '%s\n' | awk -v job="$SLURM_ARRAY_TASK_ID" -v host="$SLURMD_NODENAME" '{ sum += $1 } END { print job, host, sum + 0 }'

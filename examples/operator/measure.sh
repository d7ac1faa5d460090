#!/bin/sh
# A cluster's file from measurements, whether to believe it, and where a user's ranks should sit.  Here this machine with two
# ranks and a few seconds; under srun all of the cluster and ten minutes:
#     srun --mpi=pmix -n 64 forerun calibrate --budget 10m --out cluster.json --samples /shared/samples.jsonl
# Leaves samples.jsonl, cluster.json, place.slurm; calibration.html where gnuplot is there.
set -eu
forerun doctor
command -v mpirun >/dev/null || exit 0
forerun calibrate --ranks 2 --budget 3 --quick --launches 1 --only kernel,memory,gemm,all_reduce --size '8..64KiB*8'
forerun report samples.jsonl | sed 5q # PASS, WARN or FAIL with reasons, the worst first
forerun collective --cluster cluster.json --op all_reduce --ranks 2 --size '8..64KiB*64'
# What to give to users of a cluster with these nodes:
forerun place --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4 --emit slurm >place.slurm
forerun place --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4 | sed 8q
command -v gnuplot >/dev/null || exit 0
forerun report samples.jsonl -o calibration.html -f >/dev/null

#!/bin/sh
# faulty.sh PROGRAM ARGUMENTS... -- a launcher for --launcher: two ranks of PROGRAM-faulty, whose
# MPI calls fail as FORERUN_FAULT says (tests/apps_mpi/faulty_mpi.c).
program=$1-faulty
shift
exec mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np 2 "$program" "$@"

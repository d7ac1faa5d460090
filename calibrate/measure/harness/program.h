/** @file
 *  The program forerun-mpi: what needs MPI and BLAS, run under mpirun or srun.
 *
 *  Kept apart from main.c, so that only this folder sees the headers of MPI. */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_PROGRAM_H
#define FR_CALIBRATE_MEASURE_HARNESS_PROGRAM_H

/** Run with the arguments of main.  @return the exit code. */
int fr_harness_main(int argc, char **argv);

/** The help of its options, a line each, for completion in a shell. */
const char *fr_harness_usage(void);

#endif

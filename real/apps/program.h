/** @file
 *  The program forerun-mpi: the harness's commands, and `run`, which trains for real. */
#ifndef FR_REAL_APPS_PROGRAM_H
#define FR_REAL_APPS_PROGRAM_H

/** Run with the arguments of main.  @return the exit code. */
int fr_apps_main(int argc, char **argv);

#endif

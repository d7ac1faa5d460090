/** @file
 *  The program forerun-mpi: the harness's commands, and `run`, which trains for real. */
#ifndef FR_REAL_APPS_PROGRAM_H
#define FR_REAL_APPS_PROGRAM_H

/** Run with the arguments of main.  @return the exit code. */
int fr_apps_main(int argc, char **argv);

/** The help of the options of run, train and learn, a line each, for completion in a shell. */
const char *fr_apps_usage(void);

#endif

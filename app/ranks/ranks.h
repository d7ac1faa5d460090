/** @file
 *  forerun search on the ranks of an MPI job.
 *
 *  Every rank reads the inputs and lays out the same space.  Rank 0 hands blocks out on demand, a thread
 *  of its own works on some, and it alone keeps the checkpoint, joins and prints:
 *
 *      rank r   "here is a block" (at first: nothing)   ->  rank 0
 *      rank 0   number of the next block, or -1         ->  rank r
 *
 *  Blocks are joined by their numbers, so that the answer has the same bytes on any number of ranks and
 *  threads.  A rank that dies or freezes is named (calibrate/measure/harness/watch.h), the job ends with
 *  exit code 5, and --resume does the blocks that are missing. */
#ifndef FR_APP_RANKS_RANKS_H
#define FR_APP_RANKS_RANKS_H

/** `forerun-mpi search ...` with the arguments of main.  @return the exit code. */
int fr_ranks_search(int argc, char **argv);

#endif

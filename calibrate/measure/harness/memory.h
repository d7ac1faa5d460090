/** @file
 *  Where memory runs out on a rank, the job ends: with a sentence, and exit code 1.
 *
 *  Ranks that wait for each other cannot go on with one that gave up half way.  The rank ends at once,
 *  without asking MPI, which would need memory; its launcher and the other ranks' watch
 *  (calibrate/measure/harness/watch.h) end the rest. */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_MEMORY_H
#define FR_CALIBRATE_MEASURE_HARNESS_MEMORY_H

/** For main, before anything else. */
void fr_memory_or_end(void);

/** Reserve at once the memory that the library of matrix products keeps.  OpenBLAS maps a buffer of
 *  128 MiB (its BUFFER_SIZE on x86-64) at the first product.  Where it gets none, it asks again for
 *  ever, and the rank would hang.  Call after MPI_Init, before anything large is asked for. */
void fr_memory_for_products(void);

#endif

/** @file
 *  How fast is the machine just now?  A small product and a small stream, the same throughout, by all
 *  ranks at once; each the shortest of a few, since what interrupts only adds time. */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_PROBE_H
#define FR_CALIBRATE_MEASURE_HARNESS_PROBE_H

#include <mpi.h>

#include "base/status.h"

/** Edge of the square fp32 product; bytes of the stream's working set. */
enum { FR_PROBE_EDGE = 128, FR_PROBE_SET_B = 4 << 20 };

struct fr_probe {
    float *x; /**< NULL: not opened */
};

/** @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_probe_open(struct fr_probe *probe, struct fr_error *err);
void fr_probe_close(struct fr_probe *probe);

/** Collective over @p comm.  Times of the slowest rank, the same on all. */
fr_status fr_probe_time(const struct fr_probe *probe, MPI_Comm comm, double *product_s,
                        double *stream_s, struct fr_error *err);

#endif

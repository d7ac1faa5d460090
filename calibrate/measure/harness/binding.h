/** @file
 *  Where the ranks may run. */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_BINDING_H
#define FR_CALIBRATE_MEASURE_HARNESS_BINDING_H

#include "calibrate/measure/harness/bench.h"

/** Fill pinning and oversubscribed of the provenance: whether every rank has cores of its own,
 *  as hwloc finds them bound, and whether some node has more ranks than processors (or than a
 *  control group's quota is worth).  Collective over the world. */
fr_status fr_binding_describe(struct fr_bench *bench, struct fr_error *err);

#endif

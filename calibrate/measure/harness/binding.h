/** @file
 *  Where the ranks may run. */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_BINDING_H
#define FR_CALIBRATE_MEASURE_HARNESS_BINDING_H

#include "calibrate/measure/harness/bench.h"

/** Fill pinning and oversubscribed of the provenance.  pinning: does every rank have cores of its
 *  own, as hwloc finds them bound?  oversubscribed: does some node have more ranks than processors,
 *  or than a control group's quota is worth?  Collective over the world. */
fr_status fr_binding_describe(struct fr_bench *bench, struct fr_error *err);

#endif

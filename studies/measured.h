/** @file
 *  Table I of Seal et al. 2025 at sizes a workstation trains, with the iterations to the loss found
 *  by training: `forerun reproduce phantom --measured`. */
#ifndef FR_STUDIES_MEASURED_H
#define FR_STUDIES_MEASURED_H

#include "real/iterations/iterations.h"
#include "studies/reproduce.h"

/** Train as @p o says, on its cluster, and add rows: iterations, energy of an iteration, total
 *  energy, for tensor and phantom, and the orderings that Table I shows. */
fr_status fr_measured_phantom(const struct fr_training_options *o, struct fr_reproduction *r,
                              struct fr_error *err);

#endif

/** @file
 *  Floating-point operations of the stages of Perseus' trainings, from their shapes and partitions alone.
 *
 *  Merak computes every layer's activations anew, so a layer takes four products a pass where the logits take
 *  three (merak_args.py):
 *
 *      layer   4 (2 w + 4 s a) s b        w weights of a layer, a width of its attention, s tokens, b samples
 *      logits  3 (2 V h) s b              V vocabulary, h hidden
 *
 *  A partition "custom:0,8,14,20,26" cuts embedding (or stem), layers and logits, counted alike;
 *  "uniform_transformer" gives every stage as many layers. */
#ifndef FR_STUDIES_ENERGY_STAGE_WORK_H
#define FR_STUDIES_ENERGY_STAGE_WORK_H

#include <stdbool.h>

enum { FR_STAGES_MAX = 16 };

/** @param[out] flop  [stages], of a micro-batch, forward and backward
 *  @return false where the network or the partition is not known, or there are more than FR_STAGES_MAX. */
bool fr_energy_stage_work(const char *model, const char *partition, int stages,
                          double micro_batch, double *flop);

#endif

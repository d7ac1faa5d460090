/** @file
 *  A plan over layers (kinds ffn, mlp, cnn) as tasks: products, element-wise work and
 *  collectives of every layer, forward, backward and update.
 *
 *  One rank stands for all, since all do the same at the same time, and a collective is one operation priced by its
 *  form.  Simulated message by message, all dp x tp ranks are there, and a collective is the messages of its
 *  algorithm (models/network/collective/).  On an idle network both forms equal the closed form, and tests check
 *  that.
 *
 *      micro-batch   forward: each layer's products, element-wise work, collectives;
 *                    backward, last layer first: collectives, input and weight gradients,
 *                    element-wise work
 *      iteration     then each layer's gradient all-reduce and update
 *
 *  Each waits for the one before it on its rank: as in the closed form, nothing overlaps.  The forward pass does the
 *  shares of one operator in a layer's element-wise bytes and kernels (models/work/method.h): 2 of 5 passes and 2 of
 *  6 kernels.
 */
#ifndef FR_SIM_LAYERS_H
#define FR_SIM_LAYERS_H

#include "sim/price.h"

struct fr_job;
struct fr_plan;

/** Lay out and price a plan of one stage that fr_cost finds feasible; pipelines are sim/ranks/lay_out.h's.
 *  @param as_messages  all ranks, collectives as messages
 *  @param[out] price  [n_classes], to be freed by the caller
 *  @return FR_OK; FR_ERR_UNSUPPORTED where a collective is priced by a fit, which has no
 *          messages, where layers have grids of their own, or for too many tasks; FR_ERR_NOMEM.
 *  Free @p program with fr_program_free, also on error. */
fr_status fr_layers_make(const struct fr_job *job, const struct fr_plan *plan, bool as_messages,
                         struct fr_program *program, struct fr_class_price **price,
                         struct fr_error *err);

#endif

/** @file
 *  A pipeline played by all its ranks, with every collective as the messages of its algorithm.
 *
 *  The folded program (sim/program.h) says which passes, messages and reductions there are, and what waits for what.
 *  Each of its tasks becomes one task or more on every rank of its stage:
 *
 *      pass         pieces of its own work, between them the collectives on its way.  Beside stretches of the work, or
 *                   beside all of it, go its lanes (models/price/exchange.h)
 *      message      one from each rank to that of equal place, then the gather among the receivers
 *      reduction    the codec, then the collectives
 *
 *  So it is the same for every model, schedule, codec and overlap that the folded program has.  On idle links each task
 *  takes what the folded one does.
 *
 *      lane   start ── messages ── the part of the pass that cannot hide them ──┐
 *      pass   start ── piece ── collective ── piece ── ... ─────────────────────┴─ slow ── end
 *
 *  A lane beside one product of every layer, or beside its attention, has a stretch of the work in each layer, and its
 *  messages begin with the stretch.  Messages of lanes that are beside whole passes begin with the pass.
 *
 *  A pass of many layers has as many equal collectives.  Where the program would become too long, some of them are
 *  played as one, which carries the bytes of all and has the latency of each. */
#ifndef FR_SIM_RANKS_LAY_OUT_H
#define FR_SIM_RANKS_LAY_OUT_H

#include "sim/price.h"

/** The program's length, and how a pipeline's collectives went into it. */
struct fr_ranks_laid_out {
    double tasks; /**< in the program; where it is too long, that it would have */
    double
        merged; /**< equal collectives of a pass that are played as one, the most; 1: each for itself */
};

/** Why a priced pipeline cannot be played so, or NULL. */
const char *fr_ranks_refused(const struct fr_plan *plan);

/** Lay out and price a pipeline.
 *  @param wanted  tasks from which on equal collectives of a pass go as one; 0: some millions
 *  @param[out] price  [n_classes], to be freed by the caller, also on error
 *  @return FR_OK; FR_ERR_UNSUPPORTED where a collective is priced by a fit, which has no messages, or for too many
 *          ranks or tasks; FR_ERR_INPUT when the order deadlocks; FR_ERR_NOMEM.
 *  Free @p program with fr_program_free, also on error. */
fr_status fr_ranks_lay_out(const struct fr_job *job, const struct fr_plan *plan,
                           const struct fr_pipeline *pipeline, double wanted,
                           struct fr_program *program, struct fr_class_price **price,
                           struct fr_ranks_laid_out *laid_out, struct fr_error *err);

#endif

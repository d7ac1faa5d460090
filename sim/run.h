/** @file
 *  A plan simulated: outcome and timeline. */
#ifndef FR_SIM_RUN_H
#define FR_SIM_RUN_H

#include "models/outcome/outcome.h"
#include "models/outcome/timeline.h"
#include "sim/conflicts.h"
#include "sim/engine.h"
#include "sim/network.h"
#include "sim/record.h"

struct fr_simulation {
    struct fr_outcome outcome;
    struct fr_timeline timeline; /**< empty unless asked for */
    struct fr_stage_use
        *stages; /**< [n_stages]: of one rank of each stage; of layers, of all */
    int32_t n_stages;
    int64_t n_tasks;
    const struct fr_network *network; /**< that it ran on */
    struct fr_conflicts conflicts;    /**< of collectives played as messages */
};

struct fr_simulate_options {
    /** NULL: as the closed form has it, shared where messages of a pipeline go in order, else isolated. */
    const struct fr_network *network;
    bool timeline;    /**< fill it */
    bool as_messages; /**< all ranks, collectives as messages */
    double
        tasks; /**< of a pipeline played so: from how many on equal collectives go as one; 0: some millions */
    /** Called with the program that was run and how long its classes take, or NULL. */
    fr_status (*look)(void *context, const struct fr_network_work *work, const double *class_s,
                      struct fr_error *err);
    void *context;
};

/** Simulate @p plan of @p job.
 *  @param options  NULL: a network as the closed form has it, no timeline
 *  @return FR_OK (also when the plan is infeasible: see outcome.reasons); FR_ERR_UNSUPPORTED for
 *          what the program cannot show (a grid per layer; message by message a fitted collective, sub-graphs in a pipeline,
 *          too many tasks); FR_ERR_INPUT for a deadlock; FR_ERR_NOMEM.
 *  Free with fr_simulation_free, also on error. */
fr_status fr_simulate(const struct fr_job *job, const struct fr_plan *plan,
                      const struct fr_simulate_options *options,
                      struct fr_simulation *simulation, struct fr_error *err);
void fr_simulation_free(struct fr_simulation *simulation);

#endif

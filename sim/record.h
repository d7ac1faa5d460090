/** @file
 *  What a run of a program leaves behind: its timeline, and how each rank spent its time. */
#ifndef FR_SIM_RECORD_H
#define FR_SIM_RECORD_H

#include "sim/price.h"

/** How a rank of a stage spends an iteration; what is left is idle. */
struct fr_stage_use {
    double busy_s;     /**< computing, launching, compressing, updating */
    double comm_s;     /**< in collectives that nothing hides, of its passes and on their own */
    double blocked_s;  /**< in blocking messages */
    double gradient_s; /**< all-reducing gradients, hidden or not */
    double gradient_exposed_s; /**< of them, while it does nothing else */
    double waiting_s; /**< of idle_s, in the mean of its ranks, for others that compute */
    double free_s, stream_s; /**< end of its work so far, and of its gradients' */
    double clock_Hz;         /**< 0: the highest */
    double idle_s, energy_J; /**< of one rank; energy NaN where the power is not known */
    double state_B;          /**< memory but for activations; 0 where that is not known */
    double activation_B;     /**< of one pass of one chunk, from its forward pass on ... */
    fr_task_kind frees;      /**< ... to the end of this */
};

/** Does a task of this kind go from one rank to another? */
bool fr_task_is_message(fr_task_kind kind);
/** Do several ranks carry it out together? */
bool fr_task_is_collective(fr_task_kind kind);

/** Fill @p timeline from the times of every task.
 *  @return FR_OK or FR_ERR_NOMEM; free with fr_timeline_free, also on error. */
fr_status fr_record_timeline(const struct fr_program *program,
                             const struct fr_class_price *price, const double *start_s,
                             const double *end_s, double makespan_s, bool blocking,
                             struct fr_timeline *timeline, struct fr_error *err);

/** Add up what each rank did: use[n_ranks]. */
void fr_record_use(const struct fr_program *program, const struct fr_class_price *price,
                   const double *start_s, const double *end_s, bool blocking,
                   struct fr_stage_use *use);

#endif

/** @file
 *  From the times of a pipeline to the outcome of an iteration: parts, energy, memory, bytes.
 *
 *  Each part is what the iteration is shorter by without it, switched off in turn; of one stage that
 *  does everything after everything else they are sums.  A rank of a stage is busy, or it
 *  communicates or waits for others, and draws the power of each. */
#ifndef FR_MODELS_OUTCOME_ITERATION_H
#define FR_MODELS_OUTCOME_ITERATION_H

#include "models/outcome/outcome.h"
#include "models/outcome/recurrence.h"

/** Share of the backward, and of the forward messages that go compressed. */
double fr_pipeline_lossy_backward(const struct fr_pipeline *pipeline);
double fr_pipeline_lossy_forward(const struct fr_pipeline *pipeline);

/** Parameters, gradients and optimiser state of a rank of @p stage, as far as its plan's zero
 *  leaves them there: into those three of @p part_B [B]. */
void fr_pipeline_state_B(const struct fr_job *job, const struct fr_plan *plan,
                         const struct fr_stage *stage, double part_B[FR_MEMORY_COUNT]);

/** Activations that a stage with these @p slots holds. */
struct fr_pipeline_in_flight fr_pipeline_slots_hold(const struct fr_pipeline *pipeline,
                                                    const struct fr_slot *slots);
/** Activations that the order makes stage @p i hold. */
struct fr_pipeline_in_flight fr_pipeline_holds(const struct fr_pipeline *pipeline, int32_t i);

/** Memory of a rank of stage @p i for a whole activation to send and another to receive, gathered or not; and what
 *  its codecs keep [B]. */
double fr_pipeline_messages_B(const struct fr_pipeline *pipeline, int32_t i);
double fr_pipeline_codecs_B(const struct fr_pipeline *pipeline, int32_t i);

/** Fill in the values that limit a plan whatever time it takes: memory and whether it suffices, loss, parameters. */
void fr_pipeline_fill_limits(const struct fr_job *job, const struct fr_pipeline *pipeline,
                             struct fr_outcome *out);

/** Fill in the others that do not depend on time: bytes, break-even rates, the rule of messages. */
void fr_pipeline_fill_still(const struct fr_pipeline *pipeline, struct fr_outcome *out);

/** Fill in the values that depend on out->time_s: energy, and time and energy to target loss.
 *  @param m  passes in an iteration */
void fr_pipeline_fill_energy(const struct fr_job *job, const struct fr_pipeline *pipeline,
                             double m, struct fr_outcome *out);

/** Fill in by which rule messages go, and what is left out of it. */
void fr_pipeline_fill_messages(const struct fr_pipeline *pipeline, struct fr_outcome *out);

/** An iteration with some things switched off: the recurrence, or an event engine. */
typedef fr_status fr_pipeline_timer(const void *context, int with,
                                    struct fr_pipeline_times *times, struct fr_error *err);

/** Fill @p out: times and parts by switching off in turn (embedding, gradients, messages, tp,
 *  launch), energy, memory, bytes, parameters.
 *  @return what @p timer returned when it failed, else FR_OK. */
fr_status fr_pipeline_outcome(const struct fr_job *job, const struct fr_pipeline *pipeline,
                              fr_pipeline_timer *timer, const void *context,
                              struct fr_outcome *out, struct fr_error *err);

/** The closed form of a plan over stages or a transformer, as fr_cost for layers.  A plan it cannot
 *  price (duplex) has its reason in the outcome. */
void fr_pipeline_cost(const struct fr_job *job, const struct fr_plan *plan,
                      struct fr_outcome *out);

/** An outcome of a plan that cannot be, with its reasons. */
void fr_pipeline_refuse(const struct fr_plan *plan, fr_reasons reasons, struct fr_outcome *out);

#endif

/** @file
 *  How many iterations a plan needs to the target loss (the paper's nu).
 *
 *  Per iteration the smallest phantom width always wins, which is no answer: a smaller model may need more
 *  iterations.  So nu is an input, measured or published: one number, or a table over (method, tp, ghost).  Methods
 *  that compute exactly what one processor would (tensor, grid) share their rows.  No exact run shows what
 *  compression of gradients or messages does to learning.  A plan that loses information there needs rows that say
 *  "compressed": true, or rows that name the keys of the plan they were measured with.  Codec, rank, scope and stages
 *  each decide.  Between two rows of the same tp, or else of the same ghost, nu is interpolated linearly in
 *  logarithms and marked; elsewhere it is unknown.
 *
 *  A table holds for the network and the batch it was measured for (Seal et al. 2025, Eq. 2: for one n, L and
 *  target).  It names its width, layers and global batch, and its rate and loss for people; a model or plan of others
 *  has no known nu.  There are two ways around that.  The user may state a law: "scaling": "samples" says that any
 *  batch B needs as many samples, nu(B) = nu(B0) B0 / B. Or the table brings fitted laws: along the batch, along k
 *  and p, along the share that goes compressed (models/plan/iterations_law.h).  A law is used where no row applies,
 *  and only within the range to which it was fitted.  Laws of growth (models/plan/growth.h) carry ratios of small
 *  trainings over to networks that the table does not name, with an interval; exact plans then have its "reference".
 */
#ifndef FR_MODELS_PLAN_ITERATIONS_H
#define FR_MODELS_PLAN_ITERATIONS_H

#include "models/plan/iterations_law.h"

typedef enum {
    FR_ITERATIONS_UNKNOWN,
    FR_ITERATIONS_GIVEN,
    FR_ITERATIONS_INTERPOLATED,
    FR_ITERATIONS_SCALED, /**< from another batch, as many samples, as the table states */
    FR_ITERATIONS_LAW,    /**< by a law that the table brings */
} fr_iterations_origin;
/** Spellings, then NULL. */
extern const char *const fr_iterations_origins[];

/** Read a whole model file: the model to train (fr_workload_read), and its "iterations".  These are a number, or
 *  {"source", "width", "layers", "sequence", "global_batch", "rate", "loss", "scaling", "laws", "table": [{"method",
 *  "tp", "ghost", "compressed", "plan", "iterations", "rate"}, ...]}, or such a table alone.  tp and ghost may be
 *  absent: any; compressed: false; plan: {"KEY": value, ...} of other keys, by their dotted names.  A row with a plan
 *  holds where all of these have that value, and those of compression that it does not name their defaults.  Free
 *  with fr_workload_free, also on error. */
fr_status fr_model_read(const struct fr_json_document *document, struct fr_workload *workload,
                        struct fr_error *err);

/** Does the table hold for this network?  And at this batch? */
bool fr_iterations_apply(const struct fr_workload *workload);
bool fr_iterations_hold(const struct fr_workload *workload, int64_t global_batch);

/** Shares of a plan that go compressed: of its backward messages, of its gradients' bytes, and of its forward
 *  messages.  No law covers the last. */
struct fr_lossy {
    double backward, gradient, forward;
};

/** Iterations of @p plan at @p global_batch by @p workload's table and laws.
 *  @param[out] iterations  set unless unknown */
fr_iterations_origin fr_iterations_find(const struct fr_workload *workload,
                                        const struct fr_plan *plan, struct fr_lossy lossy,
                                        int64_t global_batch, double *iterations);

/** Deviation of the logarithm of those iterations, as a normal's: of a law of growth (models/plan/growth.h).  0 where
 *  they are given, measured, or by a law between its points, whose error is for people. */
double fr_iterations_deviation(const struct fr_workload *workload, const struct fr_plan *plan,
                               struct fr_lossy lossy, int64_t global_batch);

#endif

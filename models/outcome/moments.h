/** @file
 *  When is the memory of a stage's rank fullest, and what is there?
 *
 *  The peak is the largest of a few moments of an iteration, not a sum of the largest tensors.  Everywhere are
 *
 *      B = states + D + W + C    states of parameters (models/price/zero.h), D cached gradients' places, W workspaces,
 *                                C codecs and what zero gathers
 *      A = what layers keep of the micro-batches that the schedule holds, and of the ends those held before
 *
 *  and besides, with E = inputs of last norm and head, L logits of a micro-batch in bytes (models/plan/loss.h)
 *
 *      loss                 E + L forward
 *      loss_backward        E + L backward
 *      head_backward        E + gradient of L + the head's input, whole where it is divided, its gradient
 *                           + a gradient of its weights, unless D has its place
 *      layer_backward       a layer made again, gradients of its activations, its input whole and that one's gradient
 *                           + the largest gradient of its weights, likewise
 *      embedding_backward   less a micro-batch's A; a gradient of the embedding, and what comes down to it
 *      step                 B
 *
 *  Where an update frees gradients (framework.frees_gradients), a lone replica's only micro-batch finds none.  They are no
 *  part of B at the loss.  At the head's backward pass its own is there, which the product made.  With the last layer's
 *  pass all activations are kept and the head's gradient is there.  With the first layer's, the other layers' gradients
 *  stand in place of their activations.  The larger of these two counts.
 *
 *  Stages without a head have no loss, those without embedding not its pass.  Divisions of a model that say nothing of
 *  their layers' backward pass have the loss's moments, or one, `pass`, with what they work with.  Left out: where
 *  chunks interleave, logits of more than one micro-batch, and other chunks' passes at the loss; temporaries of the
 *  optimiser.
 *  Held against SimuMax's runs of Megatron-LM on B200, whose tensors it has within half a percent: our derivation.
 *  To add a tensor or a moment: a row of its list, and its bytes in moments.c. */
#ifndef FR_MODELS_OUTCOME_MOMENTS_H
#define FR_MODELS_OUTCOME_MOMENTS_H

#include "base/json.h"
#include "models/outcome/outcome.h"
#include "models/price/pipeline.h"

/** In the order of an iteration. */
#define FR_MOMENT_LIST(X)                                                                      \
    X(FR_MOMENT_PASS, pass)                                                                    \
    X(FR_MOMENT_LOSS, loss)                                                                    \
    X(FR_MOMENT_LOSS_BACKWARD, loss_backward)                                                  \
    X(FR_MOMENT_HEAD_BACKWARD, head_backward)                                                  \
    X(FR_MOMENT_LAYER_BACKWARD, layer_backward)                                                \
    X(FR_MOMENT_EMBEDDING_BACKWARD, embedding_backward)                                        \
    X(FR_MOMENT_STEP, step)

typedef enum {
#define FR_MOMENT_ENUM(code, name) code,
    FR_MOMENT_LIST(FR_MOMENT_ENUM)
#undef FR_MOMENT_ENUM
        FR_MOMENTS
} fr_moment;
/** Names in order, then NULL. */
extern const char *const fr_moment_names[];

/** Tensors in memory: the name of each, and the part of FR_MEMORY_LIST that it counts to. */
#define FR_TENSOR_LIST(X)                                                                      \
    X(FR_TENSOR_PARAMETERS, parameters, FR_MEMORY_PARAMETERS)                                  \
    X(FR_TENSOR_GRADIENTS, gradients, FR_MEMORY_GRADIENTS)                                     \
    X(FR_TENSOR_OPTIMIZER, optimizer, FR_MEMORY_OPTIMIZER)                                     \
    X(FR_TENSOR_LAYERS, layers, FR_MEMORY_ACTIVATIONS)                                         \
    X(FR_TENSOR_ENDS, ends, FR_MEMORY_ACTIVATIONS)                                             \
    X(FR_TENSOR_LOGITS, logits, FR_MEMORY_ACTIVATIONS)                                         \
    X(FR_TENSOR_AGAIN, layer_recomputed, FR_MEMORY_ACTIVATIONS)                                \
    X(FR_TENSOR_LAYER, layer_gradients, FR_MEMORY_ACTIVATIONS)                                 \
    X(FR_TENSOR_JOINED, inputs_and_gradients, FR_MEMORY_BUFFERS)                               \
    X(FR_TENSOR_WEIGHTS, weight_gradient, FR_MEMORY_BUFFERS)                                   \
    X(FR_TENSOR_DUMMIES, dummy_gradients, FR_MEMORY_BUFFERS)                                   \
    X(FR_TENSOR_WORKSPACE, workspace, FR_MEMORY_BUFFERS)                                       \
    X(FR_TENSOR_REDUCED, gradient_buffers, FR_MEMORY_BUFFERS)                                  \
    X(FR_TENSOR_CODECS, codecs, FR_MEMORY_BUFFERS)                                             \
    X(FR_TENSOR_WORKING, gathered, FR_MEMORY_BUFFERS)                                          \
    X(FR_TENSOR_MESSAGES, messages, FR_MEMORY_BUFFERS)

typedef enum {
#define FR_TENSOR_ENUM(code, name, part) code,
    FR_TENSOR_LIST(FR_TENSOR_ENUM)
#undef FR_TENSOR_ENUM
        FR_TENSORS
} fr_tensor;
/** Names in order, then NULL. */
extern const char *const fr_tensor_names[];

/** Bytes of a moment, by tensor. */
struct fr_moment_memory {
    double tensor_B[FR_TENSORS];
};

/** The moment at which a rank of stage @p i holds most, and into @p part_B what it holds then but for what the
 *  allocator loses [B].  No allocation.  @param plan  out->plan of the outcome */
fr_moment fr_moments_peak(const struct fr_job *job, const struct fr_plan *plan,
                          const struct fr_pipeline *pipeline, int32_t i,
                          double part_B[FR_MEMORY_COUNT]);

/** The same of @p moment, tensor by tensor.  @return its sum [B]; < 0: the stage has no such moment */
double fr_moments_of(const struct fr_job *job, const struct fr_plan *plan,
                     const struct fr_pipeline *pipeline, int32_t i, fr_moment moment,
                     struct fr_moment_memory *memory);

/** Moments of the fullest stage of an outcome's plan, priced once more, into `memory_moments`: [{"moment", "total_B",
 *  "tensors": {name: bytes}}], in the order of an iteration; null where memory is not known. */
void fr_moments_put(const struct fr_job *job, const struct fr_outcome *out,
                    struct fr_json_writer *w);

/** One pass of the fullest stage in its order: what it holds after it, and the most that it holds in it [B]. */
struct fr_memory_step {
    uint8_t kind;  /**< FR_SLOT_FORWARD, ... */
    int32_t micro; /**< micro-batch */
    int32_t chunk;
    double held_B, peak_B;
};

/** The first passes of the fullest stage of an outcome's plan, priced once more: steps[@p most] at most.
 *  @return how many; 0 where memory is not known, or the stage has no order of passes */
int fr_moments_steps(const struct fr_job *job, const struct fr_outcome *out, int most,
                     struct fr_memory_step *steps);

/** All of them: [FR_MOMENTS], their sums in @p total_B (< 0: no such moment).
 *  @return false where memory is not known or its stages do not fit in memory */
bool fr_moments_of_peak_stage(const struct fr_job *job, const struct fr_outcome *out,
                              struct fr_moment_memory memory[FR_MOMENTS],
                              double total_B[FR_MOMENTS]);

#endif

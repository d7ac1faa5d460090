/** @file
 *  Which memory does software hold on a device beside the tensors of a model?  Facts of a runtime.
 *
 *  Transformer Engine adds a weight gradient straight to the gradients of earlier micro-batches (fused accumulation).
 *  It then hands autograd an empty 16-bit tensor in place of the gradient, one for every shape of a weight.  It keeps
 *  these tensors for good (get_dummy_wgrad, since 2.3; for grouped products since 2.10).  Products take workspaces:
 *  cuBLAS's and Transformer Engine's, and those of the streams that run groups of experts.
 *
 *  A compiler of static graphs puts buffers between the passes of stages.  Every stage but the last has buffers of so
 *  many micro-batches for each stage of the pipeline (OneFlow: two, pipeline_buffer_pass.cpp).  Because of them
 *  forward pass, recomputation and backward pass share no memory.  A pipeline engine stores what a stage received and
 *  sent of every micro-batch until its backward pass (DeepSpeed's PipelineEngine).  Before Megatron-LM divided messages
 *  between stages over tp (its scatter-gather, 2021) every rank sent all of them; OneFlow's stages did too.  Replicas may reduce gradients in
 *  copies of all of them, or in a buffer (DeepSpeed's reduce_bucket_size of 5e8 values).  A step may also allocate
 *  gradients anew.  These are large tensors, of the parameters that the replica updates, and no block freed by
 *  activations is large enough for them.  An allocator with enough memory therefore reserves them in addition
 *  (DeepSpeed's ZeRO 1: its part flat, at 16 and at 32 bits).
 *
 *  An optimizer may run one kernel for each operation (PyTorch's AdamW where it is not fused).  It reads and writes a
 *  parameter's values several times; so do the norm, the clipping and the casts around it.
 *
 *  PyTorch runs a kernel for every operation of a block that is written in Python and not compiled: rotary positions,
 *  activation and gating, sums of gradients (models/work/unfused.h).  Under autocast, parameters stay at 32 bits and
 *  each product's weight is made narrow once a forward pass.
 *
 *  Its optimisers free gradients after the update (zero_grad), so that they are there from their own backward pass on.
 *
 *  FSDP keeps shards of parameters in fp32, which the optimiser updates, and makes 16 bits of what it gathers.
 *
 *  An engine that serves models has kernels that a training loop has not.  A norm adds the residual, one product makes
 *  gate and up (vLLM's fused_add_rms_norm and MergedColumnParallelLinear).  Such kernels spare others forward.  Its
 *  kernels are recorded in graphs or launched ahead, and follow each other on the device after a gap of their own.  A
 *  cluster's `launch` may hold what a training loop adds; the lesser of the two counts.
 *
 *  Where replicas divide parameters (zero 2 and 3, models/price/zero.h) FSDP gathers layer by layer, and holds two whole;
 *  a program that XLA compiles gathers weight by weight: it holds one, the next, and one gradient. */
#ifndef FR_MODELS_DEVICE_FRAMEWORK_H
#define FR_MODELS_DEVICE_FRAMEWORK_H

#include "base/json.h"

struct fr_framework {
    double dummy_gradients;     /**< 0 none; 1 of weights; 2 and of those in groups */
    double workspace_B;         /**< of products */
    double grouped_workspace_B; /**< of those of experts, besides */
    double
        stage_buffers; /**< micro-batches a stage that stages hold; 0: what the schedule says */
    double layer_copies;   /**< of what a layer works with, in a pipeline; 0: one */
    double stage_messages; /**< kept of a micro-batch by a stage of a pipeline, besides */
    double whole_messages; /**< 1: each rank of tp sends a stage's whole output, none gathers */
    double gradient_copy_B; /**< a trained parameter, where replicas reduce gradients */
    double reduce_buffer_B; /**< there, once */
    double saved_logits; /**< 1: whoever asks for a loss keeps what it is made of meanwhile */
    double wide_shards; /**< 1: with zero 3 the optimiser's fp32 parameters are the only ones */
    double
        step_copy_B; /**< a parameter that a replica updates, during the step; reserved besides */
    double
        update_traffic_B; /**< a parameter that a replica updates: what the step reads and writes;
                                  0: each of its tensors once, as a fused kernel does */
    double
        reduce_traffic_B; /**< a trained parameter, where replicas reduce gradients: copies into
                                  buckets and back; 0: gradients lie in the buckets */
    double norm_traffic;  /**< what norms read and write over their values once a pass; 0: 1 */
    double unfused; /**< 1: each element-wise operation of a block is a kernel of its own */
    double casts;   /**< 1: weights lie at 32 bits, and a forward pass makes 16 bits of them */
    double
        frees_gradients; /**< 1: an update frees them, and each comes with its backward pass */
    double update_rate;  /**< share of memory's rate that the optimiser's kernels reach; 0: 1 */
    double kernel_gap_s; /**< between two kernels on the device; 0: the device's launch */
    double spared_kernels; /**< of a layer's forward pass, by fused ones */
    double gathers;        /**< 0 layer by layer; 1 weight by weight */
};

/** Read what @p device, the object "device" of a cluster file, states of them. */
fr_status fr_framework_read(const struct fr_json *device, struct fr_framework *framework,
                            struct fr_error *err);

#endif

/** @file
 *  What software holds in a device's memory beside the tensors of a model: facts of a runtime.
 *
 *  Transformer Engine hands autograd an empty tensor of 16 bits in place of a weight gradient that a product has
 *  already added to the gradients of the micro-batches before (fused accumulation), one for every shape of a weight,
 *  and keeps it for good (get_dummy_wgrad, 2.3 on; of grouped products 2.10 on).  Products take workspaces: cuBLAS's
 *  and Transformer Engine's, and those of the streams that run groups of experts. */
#ifndef FR_MODELS_DEVICE_FRAMEWORK_H
#define FR_MODELS_DEVICE_FRAMEWORK_H

struct fr_framework {
    double dummy_gradients;     /**< 0 none; 1 of weights; 2 and of those in groups */
    double workspace_B;         /**< of products */
    double grouped_workspace_B; /**< of those of experts, besides */
};

#endif

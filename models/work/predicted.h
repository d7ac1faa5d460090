/** @file
 *  Work of multi-token prediction on the last stage.
 *
 *  DeepSeek-AI, DeepSeek-V3 Technical Report, 2024, section 2.2: D modules follow the model.  Each takes the model's
 *  output for a token and the next token's embedding, 2 h values with a norm each.  A product maps them to h values.
 *  They then go through one more layer with a last norm, and to logits of their own.  The matrices of logits and
 *  embedding are the model's:
 *
 *      parameters    a layer, 2 h h of the product, three norms
 *      a micro-batch a layer, h/p x T x 2h, the logits and the loss once more, an embedding looked up
 *      over tp       gather of T h behind the product, all-reduce of T 2h of its gradient; of embedding and logits as ever
 *
 *  The last stage has them, and where it is not the first a copy of the embedding, kept equal as a tied one is
 *  (Megatron-Core places them so).  Layers are those of the model's end, with experts where it has them. */
#ifndef FR_MODELS_WORK_PREDICTED_H
#define FR_MODELS_WORK_PREDICTED_H

#include "models/work/transformer_view.h"

/** Add the modules' products, norms and exchanges beside their layers and logits; of the last stage alone. */
void fr_predicted_add(const struct fr_stage_view *v, struct fr_rank_work *work);

/** Parameters of them over all tp ranks, without their layers; on a rank of p (norms are on every one). */
double fr_predicted_parameters(const struct fr_transformer *t, double p);

#endif

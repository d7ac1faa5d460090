/** @file
 *  Parts of an encoder alone (BERT) that a decoder does not have.
 *
 *  Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding, 2018.  A token
 *  attends to all others (`causal` false), and its embedding has a vector for its segment (`token_types`).  Words are
 *  predicted in their own place, after a further product of h x h with an activation and a norm (`masked_head`; the
 *  logits have biases).  `pooler`: another such product and two logits of a sample's first token, for the next
 *  sentence.  With V words and h values:
 *
 *      parameters   token types x h;   masked head h h + h + norm + V;   pooler h h + h + 2 h + 2
 *      flop         attention's pairs whole, where a causal mask leaves half to fused kernels; 2 T h h of the masked head
 *
 *  Norms stand behind the additions, not before: as many, and the one over the embedding takes the place of the one
 *  before the logits.  Every rank of tp makes the masked head of its own tokens (it is not divided).
 *  Left out: the pooler's work, one token a sample; that only the masked tokens need logits, where a program picks them. */
#ifndef FR_MODELS_WORKLOAD_ENCODER_H
#define FR_MODELS_WORKLOAD_ENCODER_H

#include "models/workload/workload.h"

/** Parameters of the masked head and the pooler, on every rank; the biases of the logits, which tp divides. */
double fr_encoder_head_parameters(const struct fr_transformer *t);
double fr_encoder_logit_biases(const struct fr_transformer *t);

/** Read `causal`, `masked_head`, `pooler` and `token_types` of a transformer's file, whose other keys are known. */
fr_status fr_encoder_read(const struct fr_json *object, struct fr_transformer *t,
                          struct fr_error *err);

#endif

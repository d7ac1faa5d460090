/** @file
 *  Layers of pipeline stages as Megatron's --pipeline-model-parallel-layout words them:
 *  "Ettt|ttt|ttt|tttL", virtual stages in the model's order, E the embedding, L the loss. */
#ifndef FR_ANSWER_EMIT_LAYOUT_H
#define FR_ANSWER_EMIT_LAYOUT_H

#include "answer/emit.h"

/** Must it be stated?  Not where all virtual stages have as many layers. */
bool fr_emit_layout_stated(const struct fr_emitted *e);
/** @return false where it does not fit into @p capacity. */
bool fr_emit_layout(const struct fr_emitted *e, char *out, size_t capacity);

#endif

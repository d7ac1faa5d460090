/** @file
 *  Rows of Megatron-LM beside those of the shared table. */
#ifndef FR_ANSWER_EMIT_FRAMEWORK_MEGATRON_H
#define FR_ANSWER_EMIT_FRAMEWORK_MEGATRON_H

#include "answer/emit.h"

extern const struct fr_emit_row fr_emit_megatron_rows[];

#endif

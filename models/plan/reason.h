/** @file
 *  Why a plan cannot run: a set of reasons, small enough for a search to carry by the million;
 *  the sentence with the numbers is made only for plans that are shown.
 *
 *  To add one: a row in models/plan/reason_list.h, its name below, and what is said with its numbers in
 *  answer/outcome/sentences.h. */
#ifndef FR_MODELS_PLAN_REASON_H
#define FR_MODELS_PLAN_REASON_H

#include <stdint.h>

#include "base/text.h"

/** By place in models/plan/reason_list.h, which models/plan/reason.c holds against these names. */
enum {
    FR_REASON_RANKS,
    FR_REASON_MESH,
    FR_REASON_PIPELINE,
    FR_REASON_STAGES,
    FR_REASON_METHOD,
    FR_REASON_SCHEDULE,
    FR_REASON_NO_CLOSED_FORM,
    FR_REASON_COMPRESSION,
    FR_REASON_RECOMPUTE,
    FR_REASON_IDLE_KEY,
    FR_REASON_OVERLAP,
    FR_REASON_LOSSY,
    FR_REASON_SIZE,
    FR_REASON_DTYPE,
    FR_REASON_ZERO_RANKS,
    FR_REASON_BATCH,
    FR_REASON_MICRO_BATCH,
    FR_REASON_WIDTH,
    FR_REASON_HEADS,
    FR_REASON_SEQUENCE,
    FR_REASON_EXPERTS,
    FR_REASON_CACHE,
    FR_REASON_TOO_WIDE,
    FR_REASON_LAYER,
    FR_REASON_LAYER_TP,
    FR_REASON_DOMAIN,
    FR_REASON_GHOST,
    FR_REASON_GHOST_EQ8,
    FR_REASON_BRANCHES,
    FR_REASON_PLACEMENT,
    FR_REASON_MEMORY,
    FR_REASON_UNSURE,
    FR_REASON_ITERATIONS,
    FR_REASON_POWER,
    FR_REASON_HOST,
    FR_REASON_COUNT
};

/** A set: bit i stands for reason i; one more bit than reasons, so that a set can be shifted past all. */
typedef uint64_t fr_reasons;
_Static_assert(FR_REASON_COUNT < 64, "a set of reasons needs a bit for each");
#define FR_BECAUSE(code) ((fr_reasons)1 << (code))

/** Short names in order, then NULL. */
extern const char *const fr_reason_names[];
/** A sentence on a plan for each reason, and one on what would help, with `words` marked as in docs/. */
extern const char *const fr_reason_sentences[], *const fr_reason_helps[];

#endif

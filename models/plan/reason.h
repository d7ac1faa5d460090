/** @file
 *  Why a plan cannot run: a set of reasons, small enough for a search to carry by the million;
 *  the sentence with the numbers is made only for plans that are shown.
 *
 *  To add one: a row in models/plan/reason_list.h, and what is said with its numbers in
 *  models/outcome/reason/sentences.h. */
#ifndef FR_MODELS_PLAN_REASON_H
#define FR_MODELS_PLAN_REASON_H

#include <stdint.h>

#include "base/text.h"

enum {
#define FR_REASON(code, ...) FR_REASON_##code,
#include "models/plan/reason_list.h"
#undef FR_REASON
    FR_REASON_COUNT
};

/** A set: bit i stands for reason i; one more bit than reasons, so that a set can be shifted past all. */
typedef uint64_t fr_reasons;
_Static_assert(FR_REASON_COUNT < 64, "a set of reasons needs a bit for each");
#define FR_BECAUSE(code) ((fr_reasons)1 << (code))

/** Short names in order, then NULL. */
extern const char *const fr_reason_names[];
/** What each says of a plan, and what would help, with `words` marked as in docs/. */
extern const char *const fr_reason_sentences[], *const fr_reason_helps[];

/** A line of the table in docs/compositions.md. */
void fr_reason_document(int reason, struct fr_text *text);

#endif

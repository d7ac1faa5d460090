/** @file
 *  What the rows of keys say beside plans: the schema of plan.json, and its table in docs/files.md.
 *
 *  `forerun manual --update` writes both into the sources, and tests/models/test_plan.c holds them. */
#ifndef FR_MODELS_PLAN_KEY_DOCUMENT_H
#define FR_MODELS_PLAN_KEY_DOCUMENT_H

#include "base/json.h"

/** docs/schemas/plan.json from the rows.  Its head and definitions, and keys whose values are no number, word or size,
 *  are as @p old has them. */
void fr_plan_keys_schema(const struct fr_json *old, struct fr_text *text);

/** The table: key, values, meaning, what reads it, default. */
void fr_plan_keys_table(struct fr_text *text);

#endif

/** @file
 *  What the rows of facts say beside answers: the schema of an outcome, and its table in docs/output.md.
 *
 *  `forerun manual --update` writes both into the sources, and tests/models/outcome/test_facts.c holds them. */
#ifndef FR_MODELS_OUTCOME_FACTS_FACT_DOCUMENT_H
#define FR_MODELS_OUTCOME_FACTS_FACT_DOCUMENT_H

#include "base/json.h"

/** docs/schemas/outcome.json from the rows.  Its head, and facts that are no number or word, are as @p old has them. */
void fr_facts_schema(const struct fr_json *old, struct fr_text *text);

/** The table: key, what it means. */
void fr_facts_table(struct fr_text *text);

#endif

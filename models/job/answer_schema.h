/** @file
 *  Is a document an answer of a command, of a version that this Forerun reads?
 *
 *  Answers state "schema": "forerun/outcome/1".  The kinds and their versions are those of docs/schemas, which the program
 *  has inside. */
#ifndef FR_MODELS_JOB_ANSWER_SCHEMA_H
#define FR_MODELS_JOB_ANSWER_SCHEMA_H

#include "base/json.h"

/** @return FR_OK; FR_ERR_INPUT for a document without such a schema, of an unknown kind, or of another version. */
fr_status fr_answer_schema_check(const struct fr_json *root, struct fr_error *err);

#endif

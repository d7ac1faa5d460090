/** @file
 *  Pieces of a JSON Schema that is written from a table. */
#ifndef FR_BASE_JSON_SCHEMA_H
#define FR_BASE_JSON_SCHEMA_H

#include "base/json.h"

/** "description": @p sentence without Markdown's signs, of a link its words; nothing where it is "". */
void fr_schema_describe(struct fr_json_writer *w, const char *sentence);

/** Members of @p old but for descriptions and comments, which tables know better. */
void fr_schema_as_it_was(struct fr_json_writer *w, const struct fr_json *old);

/** Members of the document @p old by name: "title", ...; those that are there. */
void fr_schema_keep(struct fr_json_writer *w, const struct fr_json *old,
                    const char *const *names);

#endif

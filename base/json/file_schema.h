/** @file
 *  Versions of the files that users keep: "schema": "forerun/cluster/1".
 *
 *  A reader takes every older version, upgraded a step at a time, and refuses a newer one.  A file without the key is of
 *  version 1, as all were before 0.2.0.  "$schema", which editors read, is ignored. */
#ifndef FR_BASE_JSON_FILE_SCHEMA_H
#define FR_BASE_JSON_FILE_SCHEMA_H

#include "base/json.h"

/** One step: a file of @p kind and version @p from becomes one of the next.  Steps of a kind stand in order of @p from; a row
 *  without kind ends them. */
struct fr_file_step {
    const char *kind;
    int from;
    fr_status (*apply)(struct fr_json_document *document, struct fr_error *err);
};

/** The version of @p schema, "forerun/KIND/VERSION"; 0: it is of no @p kind; -1: it is, and its version is no whole number
 *  from 1. */
int fr_schema_version(const char *kind, const char *schema);

/** Refuse the text @p schema, whose version is @p version, where @p oldest to @p newest are read.  @return FR_ERR_INPUT */
fr_status fr_schema_refuse(const struct fr_json *schema, int version, int oldest, int newest,
                           struct fr_error *err);

/** Take "schema" and "$schema" from @p document, a file of @p kind ("cluster", "model", "plan", "runtime"), after
 *  upgrading what it holds to the newest version.  The schema of another kind stays, for the reader to refuse.
 *  @return FR_OK; FR_ERR_INPUT for a version that this Forerun does not know, or what an upgrade refuses. */
fr_status fr_file_schema_take(const char *kind, struct fr_json_document *document,
                              struct fr_error *err);

/** The same by other steps: for tests. */
fr_status fr_file_schema_take_by(const struct fr_file_step *steps, const char *kind,
                                 struct fr_json_document *document, struct fr_error *err);

/** Write "schema" as the newest version of @p kind has it. */
void fr_file_schema_put(struct fr_json_writer *w, const char *kind);

/** Write @p document as a file of @p kind, its version first. */
void fr_file_schema_put_document(struct fr_json_writer *w, const char *kind,
                                 const struct fr_json_document *document);

#endif

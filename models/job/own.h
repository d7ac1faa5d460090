/** @file
 *  What users keep for themselves: files that a name stands for, as presets do, and the cluster that
 *  is meant where none is named.
 *
 *  Folders, in this order: those of FORERUN_PATH (a colon between two), that of "site" and those of "path" in the
 *  settings, and that of the settings, $XDG_CONFIG_HOME/forerun (else ~/.config/forerun).  A
 *  cluster NAME is the file cluster/NAME.json there, a model model/NAME.json, a runtime runtime/NAME.json.  The names of the
 *  program's own presets stay theirs; "site:NAME" is the file of that name in a folder that several people share, which is all
 *  of them but the last.
 *
 *  The settings are config.json in that last folder, {"cluster": NAME, "site": FOLDER, "path": [FOLDER, ...]}, all
 *  optional.  FORERUN_CLUSTER goes before its cluster. */
#ifndef FR_MODELS_JOB_OWN_H
#define FR_MODELS_JOB_OWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text.h"

enum { FR_OWN_PATH_B = 4096 };
/** The beginning of names that are of the site and of nobody else. */
#define FR_OWN_SITE "site:"

/** The file that @p name of @p kind ("cluster", "model", "runtime") stands for, into @p path of FR_OWN_PATH_B;
 *  empty where there is none.
 *  @return FR_OK; FR_ERR_INPUT of settings that cannot be read. */
fr_status fr_own_file(const char *kind, const char *name, char *path, struct fr_error *err);

/** Append a line for each name of @p kind, folder by folder: the name, a tab and the file.
 *  @return as fr_own_file */
fr_status fr_own_names(const char *kind, struct fr_text *text, struct fr_error *err);

/** The same of the folders that are shared, whose files "site:NAME" stands for. */
fr_status fr_own_site_names(const char *kind, struct fr_text *text, struct fr_error *err);

/** The cluster that is meant where none is named, into @p name of FR_OWN_PATH_B; empty: none.
 *  @param[out] origin  "FORERUN_CLUSTER" or the settings, for messages; NULL: not asked
 *  @return as fr_own_file */
fr_status fr_own_cluster(char *name, const char **origin, struct fr_error *err);

/** Append the folders, one a line. @return as fr_own_file */
fr_status fr_own_folders(struct fr_text *text, struct fr_error *err);

#endif

/** @file
 *  Files compiled into the program, found by name: `--cluster frontier`. */
#ifndef FR_MODELS_JOB_PRESET_H
#define FR_MODELS_JOB_PRESET_H

#include <stddef.h>

#include "base/json.h"
#include "base/text/meant.h"

struct fr_preset {
    const char *
        kind; /**< "cluster", "runtime", "model", "iterations" that were measured, or "schema" of a document */
    const char *name;
    const char *text;
    size_t length;
    /** Facts of a runtime from its file: its date, the defaults of models with it, and the generations of devices
     *  that it suits, each between blanks.  NULL for other kinds. */
    const char *date, *defaults, *suits;
};

/** All of them by kind and name, then a row of NULLs. */
extern const struct fr_preset fr_presets[];

/** The preset, or NULL. */
const struct fr_preset *fr_preset_find(const char *kind, const char *name);

/** The preset of @p kind that @p name most likely means. */
struct fr_meant fr_preset_meant(const char *kind, const char *name);

/** Parse what @p name stands for: "-" standard input, JSON itself ("{..."), a preset of @p kind, a file,
 *  or a name in the user's own folders (models/job/own.h).  For a cluster, samples that are fitted, where main has said how.
 *  @return FR_OK; FR_ERR_INPUT, which suggests the nearest preset where there is no file. */
fr_status fr_preset_or_file_read(const char *kind, const char *name,
                                 struct fr_json_document **document, struct fr_error *err);

/** Makes a cluster file of measurements at @p path. */
typedef fr_status fr_samples_fit(const char *path, struct fr_json_document **document,
                                 struct fr_error *err);

/** From now on samples.jsonl stands for a cluster too, fitted by @p fit (of the process: for main). */
void fr_preset_fit_samples(fr_samples_fit *fit);

/** Its name in messages: @p name, or @p kind where the name is JSON itself. */
const char *fr_preset_or_file_shown(const char *kind, const char *name);

#endif

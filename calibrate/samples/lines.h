/** @file
 *  The lines of samples.jsonl by their "kind".  For samples_read.c.
 *
 *  To add a kind: its struct and array in samples.h, a head in samples_write.c, a reader here. */
#ifndef FR_CALIBRATE_SAMPLES_LINES_H
#define FR_CALIBRATE_SAMPLES_LINES_H

#include "base/json.h"
#include "calibrate/samples/samples.h"

/** Check one line and add it. */
typedef fr_status fr_sample_reader(const struct fr_json *node, struct fr_samples *samples,
                                   struct fr_error *err);

/** Spellings, "provenance" first, then NULL; and the readers in that order. */
extern const char *const fr_sample_kinds[];
extern fr_sample_reader *const fr_sample_readers[];

fr_sample_reader fr_sample_read_provenance, fr_sample_read_source;

/** Index plus 1 of the source that @p node names, 0 for none.  Sources are numbered anew in
 *  every file. */
fr_status fr_sample_get_source(const struct fr_json *node, const struct fr_samples *samples,
                               int *source, struct fr_error *err);

#endif

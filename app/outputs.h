/** @file
 *  No command may write to a file that it reads: `forerun fit s.jsonl --out s.jsonl` would destroy
 *  the samples.
 *
 *  A verb names its outputs (struct fr_output).  Inputs are all other options that take a file, and
 *  every word from first_input on.  Files that values name (placement=file:PATH, the schedule of a
 *  plan) are inputs, too, and so are files of the user's own names (models/job/own.h).  Names are
 *  compared by device and inode, so links are seen through.
 *
 *  Pages and pictures that are there are replaced with --force alone. */
#ifndef FR_APP_OUTPUTS_H
#define FR_APP_OUTPUTS_H

#include "app/verb.h"

/** FR_ERR_USAGE when an output leads to an input, or two outputs to one file. */
fr_status fr_outputs_check(const struct fr_verb *verb, const struct fr_args *args,
                           struct fr_error *err);

/** The same for an @p output and an @p input that the line does not name by itself. */
fr_status fr_output_apart(const char *output, const char *input, struct fr_error *err);

#endif

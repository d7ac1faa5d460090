/** @file
 *  How has a machine changed since it was calibrated?  For a person. */
#ifndef FR_CALIBRATE_JUDGE_DRIFTED_TEXT_H
#define FR_CALIBRATE_JUDGE_DRIFTED_TEXT_H

#include "base/text.h"
#include "calibrate/measure/drifted.h"

/** Append, without an end, "the machine is as it was calibrated", or what is slower, faster, busier. */
void fr_drifted_sentence(const struct fr_drifted *drifted, struct fr_text *text);

/** Append the rows, that sentence, and what is to be done. */
void fr_drifted_print(const struct fr_drifted *drifted, struct fr_text *text);

#endif

/** @file
 *  What do collectives that are played as messages cost one another, in sentences? */
#ifndef FR_ANSWER_SIMULATE_CONFLICTS_WORDS_H
#define FR_ANSWER_SIMULATE_CONFLICTS_WORDS_H

#include "base/text.h"
#include "sim/run.h"

/** Append them; nothing where collectives were operations. */
void fr_conflicts_words(const struct fr_simulation *simulation, struct fr_text *text);

#endif

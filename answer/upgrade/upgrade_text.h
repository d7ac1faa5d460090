/** @file
 *  Runtimes side by side, for people. */
#ifndef FR_ANSWER_UPGRADE_UPGRADE_TEXT_H
#define FR_ANSWER_UPGRADE_UPGRADE_TEXT_H

#include "answer/upgrade/upgrade.h"

/** A row a runtime; below them of each what its gain over the first is made of: facts in the order in which they were
 *  changed, and parts of the time. */
void fr_render_upgrade(struct fr_text *text, const struct fr_upgrade *u);

#endif

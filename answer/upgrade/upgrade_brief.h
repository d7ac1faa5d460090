/** @file
 *  Runtimes side by side, on one screen.  The whole of it: answer/upgrade/upgrade_text.h. */
#ifndef FR_ANSWER_UPGRADE_UPGRADE_BRIEF_H
#define FR_ANSWER_UPGRADE_UPGRADE_BRIEF_H

#include "answer/upgrade/upgrade.h"

/** Print @p n comparisons one after another, all on one screen.
 *  @param again  the command that asked, to be gone on with (base/text/brief.h); "" where it cannot be repeated */
void fr_upgrades_brief(struct fr_text *text, const struct fr_upgrade *u, int n,
                       const char *again);

#endif

/** @file
 *  Studies that score published runs as their rows state them: what their descriptions may call stands in
 *  studies/paper/unseen.c. */
#ifndef FR_STUDIES_TRAINING_UNSEEN_H
#define FR_STUDIES_TRAINING_UNSEEN_H

#include "studies/reproduce.h"

/** Run the study @p name, whose statements are @p text.  @return as fr_study_run. */
fr_status fr_unseen_run(const char *name, const char *text, struct fr_reproduction *r,
                        struct fr_error *err);

#endif

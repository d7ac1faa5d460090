/** @file
 *  Tables that need one file and one procedure: a row each in recipes.c. */
#ifndef FR_STUDIES_TRAINING_RECIPES_H
#define FR_STUDIES_TRAINING_RECIPES_H

#include "studies/reproduce.h"

/** Add all of them. */
fr_status fr_recipes_add(struct fr_reproduction *r, struct fr_error *err);

#endif

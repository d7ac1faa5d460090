/** @file
 *  Tables that need one file and one procedure: a row each in recipes.c. */
#ifndef FR_APP_PAPERS_TRAINING_RECIPES_H
#define FR_APP_PAPERS_TRAINING_RECIPES_H

#include "app/papers/reproduce.h"

/** Jobs take 16 of the 18 trays of an NVL72, so that powers of two stay inside: 64 of its 72 GPUs. */
enum { FR_OF_A_RACK = 64 };

/** Add all of them. */
fr_status fr_recipes_add(struct fr_reproduction *r, struct fr_error *err);

#endif

/** @file
 *  What a search varies when nobody says: the recipe of a training, as far as every plan of it computes
 *  the same gradients.
 *
 *  A row says the values of one key that are worth trying for this model on this machine, and why others
 *  are not; a key that the plan or --set states stays as it is.  Plans that lose something (ghost
 *  neurons, compressed gradients and messages) come in where the user allows a loss. */
#ifndef FR_SEARCH_RECIPE_H
#define FR_SEARCH_RECIPE_H

#include "models/job/job.h"
#include "models/plan/key.h"

/** One key of a space: of one value it is held. */
struct fr_recipe_row {
    char key[64];
    char values[192]; /**< as --vary takes them */
    const char *why;  /**< of what is held, or NULL */
};

struct fr_recipe {
    struct fr_recipe_row row[FR_PLAN_KEYS + 8];
    int n;
    bool chosen; /**< by us, not by the user's words */
};

/** The recipe for @p job on up to @p ranks ranks.
 *  @param lossy  may plans lose something? */
void fr_recipe_choose(const struct fr_job *job, int64_t ranks, bool lossy,
                      struct fr_recipe *recipe);

/** "KEY=VALUES" of a user as a row; one more than fits is not kept. */
void fr_recipe_take(const char *text, struct fr_recipe *recipe);

/** "KEY=VALUES" of a user in the place of the recipe's own values of that key, or besides its keys. */
void fr_recipe_narrow(const char *text, struct fr_recipe *recipe);

/** Those values of a key that "KEY=VALUES" has too; all of them where it has none, and of a key that is held those
 *  VALUES. */
void fr_recipe_restrict(const char *text, struct fr_recipe *recipe);

/** Is more than one value of the row tried? */
bool fr_recipe_varies(const struct fr_recipe_row *row);

/** Append "tp 1,2,4; pp 1,2" of what varies, or of what is held with its reasons; nothing of none. */
void fr_recipe_tell(const struct fr_recipe *recipe, bool varied, struct fr_text *text);

/** The members "varied" and "held", an object each. */
void fr_recipe_put(const struct fr_recipe *recipe, struct fr_json_writer *w);

#endif

/** @file
 *  The meaning of Megatron-LM's arguments, for every trainer that has them: Primus, NeMo,
 *  Megatron-Bridge. */
#ifndef FR_ANSWER_TRAINER_MEGATRON_H
#define FR_ANSWER_TRAINER_MEGATRON_H

#include "answer/trainer/trainer.h"

/** Rows of its arguments, and how names begin of those that alter the work. */
extern const struct fr_meaning_row fr_megatron_rows[];
extern const char *const fr_megatron_families[];
/** The model and the number formats that no row says. */
fr_status fr_megatron_model(struct fr_reading *r, struct fr_error *err);
/** Likewise the plan. */
fr_status fr_megatron_plan(struct fr_reading *r, struct fr_error *err);
/** The size of buckets, which are counted in values of the gradients. */
void fr_megatron_bucket(struct fr_reading *r);
/** Set the defaults of options that a script does not name. */
void fr_megatron_defaults(struct fr_reading *r);
/** Its line of a step, "iteration 20/ 100 | consumed samples: ...". */
fr_line_kind fr_megatron_line(const char *line, struct fr_logged_step *step);
/** It and Lightning state their ranks in words. */
void fr_megatron_facts(const char *line, struct fr_run_row *row);
/** Ranks as a launcher's options say them: nodes x processes of each. */
void fr_launched_ranks(struct fr_reading *r);

#endif

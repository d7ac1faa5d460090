/** @file
 *  The stages of reading a trainer's file, for trainer.c: choose.c finds whose file it is, meaning.c what its settings
 *  mean, reading.c what they are. */
#ifndef FR_ANSWER_TRAINER_READING_H
#define FR_ANSWER_TRAINER_READING_H

#include "answer/trainer/trainer.h"

/** Read the settings of @p text.  @return the syntax it is written in; NULL: it is a log, or none is known */
const struct fr_syntax *fr_trainer_settings(const char *text, size_t length,
                                            struct fr_settings *s);
/** The trainer with most of its signs in @p s and marks in @p text; NULL: none has any. */
const struct fr_trainer *fr_trainer_choose(const char *text, size_t length,
                                           const struct fr_settings *s);
/** Put the meaning of all settings into the row.  @return FR_OK or FR_ERR_INPUT */
fr_status fr_reading_take(struct fr_reading *r, struct fr_error *err);
/** Drop keys that the trainer passes over and a plan would refuse. */
void fr_reading_drop_idle(struct fr_reading *r);

/** Is setting @p name one of those to leave out? */
bool fr_reading_ignores(const struct fr_reading *r, const char *name);
/** Does @p value say that there is none? */
bool fr_value_is_none(const char *value);

#endif

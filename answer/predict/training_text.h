/** @file
 *  Numbers of a whole training, for people. */
#ifndef FR_ANSWER_PREDICT_TRAINING_TEXT_H
#define FR_ANSWER_PREDICT_TRAINING_TEXT_H

#include "answer/predict/training.h"
#include "base/text.h"

/** "12.3 days", "7.50 hours", "95.0 s". @return @p out */
const char *fr_render_duration(double s, char *out, size_t capacity);
/** "492 t", "37.1 kg". @return @p out */
const char *fr_render_mass(double kg, char *out, size_t capacity);
/** "147.8 MWh". @return @p out */
const char *fr_render_energy(double kWh, char *out, size_t capacity);

/** A few lines: iterations, time, devices, energy, money, CO2, checkpoints and failures. */
void fr_render_training(struct fr_text *text, const struct fr_training *training,
                        const struct fr_training_cost *cost);

#endif

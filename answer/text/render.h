/** @file
 *  Outcomes as text for a person: assumptions first, then results, then what was left out. */
#ifndef FR_ANSWER_TEXT_RENDER_H
#define FR_ANSWER_TEXT_RENDER_H

#include "answer/outcome/report.h"

/** A quantity for a table: "-" where it is not known. @return @p out. */
const char *fr_render_quantity(double si, fr_quantity quantity, char *out, size_t capacity);

/** A number without a unit: whole from ten thousand on, else five digits.  @return @p out. */
const char *fr_render_number(double value, char *out, size_t capacity);

/** A line for each level whose units the plan does not fill alike: "nodes of 8 + 4 ranks". */
void fr_render_filled(struct fr_text *text, const struct fr_job *job,
                      const struct fr_outcome *out, int columns);

/** The whole of one outcome. */
void fr_render_outcome(struct fr_text *text, const struct fr_job *job,
                       const struct fr_outcome *out);

/** Two lines: samples or tokens a second; model FLOP/s a device and the share of its peak. */
void fr_render_rates(struct fr_text *text, const struct fr_job *job,
                     const struct fr_outcome *out);

/** Messages in order: what they do, and what is not counted with them; nothing where each goes alone. */
void fr_render_messages(const struct fr_outcome *out, struct fr_text *words);

/** The line of the runtime that @p cluster is priced with. */
void fr_render_software(struct fr_text *text, const struct fr_cluster *cluster, int columns);

/** "name (source)" lines of cluster, software and model. */
void fr_render_inputs(struct fr_text *text, const struct fr_job *job,
                      const struct fr_plan *plan, int columns);

#endif

/** @file
 *  Outcomes in words: JSON (schema "forerun/outcome/1"), CSV, and the sentence behind each reason.  A number without
 *  a value is null in JSON and empty in CSV. */
#ifndef FR_ANSWER_OUTCOME_REPORT_H
#define FR_ANSWER_OUTCOME_REPORT_H

#include "models/outcome/cost.h"
#include "models/plan/key.h"

/** Who prices outcomes: "closed", "event", "simgrid", then NULL. */
extern const char *const fr_engine_names[];

/** Append the sentence of one reason of @p out, with its numbers, to @p text. */
void fr_report_reason(const struct fr_job *job, const struct fr_outcome *out, int reason,
                      struct fr_text *text);

/** One outcome as a JSON object. */
void fr_report_json(struct fr_json_writer *w, const struct fr_job *job,
                    const struct fr_outcome *out);

/** The same with the moments of its memory, for which its plan is priced once more (models/outcome/moments.h). */
void fr_report_whole_json(struct fr_json_writer *w, const struct fr_job *job,
                          const struct fr_outcome *out);

/** The line of an outcome's plan, with what is varied of its model and cluster. @return @p line. */
const char *fr_report_outcome_line(const struct fr_outcome *out, char *line, size_t capacity);
/** The same without some keys of the plan, which are said elsewhere. */
const char *fr_report_outcome_row(const struct fr_outcome *out, fr_plan_key_set without,
                                  char *line, size_t capacity);

/** Column heads, and one outcome in those columns (RFC 4180, units in the heads). */
void fr_report_csv_header(struct fr_text *text, const struct fr_job *job);
void fr_report_csv_row(struct fr_text *text, const struct fr_job *job,
                       const struct fr_outcome *out);

/** Name of what bit @p bit of extrapolated stands for: "gemm" or "collectives.all_gather". */
const char *fr_report_extrapolated_name(int bit);

#endif

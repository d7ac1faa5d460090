/** @file
 *  Facts of an outcome that are no number or word: each writes its key, where there is something to say. */
#ifndef FR_ANSWER_OUTCOME_REPORT_PUT_H
#define FR_ANSWER_OUTCOME_REPORT_PUT_H

#include "answer/outcome/outcome_fact.h"

typedef void fr_report_put(const struct fr_outcome_view *v, struct fr_json_writer *w);

fr_report_put fr_report_put_schema, fr_report_put_plan, fr_report_put_varied,
    fr_report_put_units, fr_report_put_calibration, fr_report_put_clocks, fr_report_put_moments,
    fr_report_put_reasons, fr_report_put_extrapolated, fr_report_put_beside,
    fr_report_put_provenance;

#endif

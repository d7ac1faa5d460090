/** @file
 *  A timeline read back from the Chrome trace that traces/format/chrome.c writes. */
#ifndef FR_PLOTS_TRACE_READ_H
#define FR_PLOTS_TRACE_READ_H

#include "base/json.h"
#include "models/outcome/timeline.h"

struct fr_trace {
    /** `message` and `peer` of the spans are not read, nor are sizes. */
    struct fr_timeline timeline;
    struct fr_text title; /**< "" where the trace has none */
    struct fr_text
        bubble; /**< the iteration's share, as the outcome has it; "" where not stated */
    struct fr_text footer; /**< the other notes, "key value   key value" */
};

/** Read the slices ("ph" "X") of @p root; other events pass.  Free with fr_trace_free, also on
 *  error.  @return FR_OK; FR_ERR_INPUT with the place, also for a trace without a slice on a
 *          compute stream; FR_ERR_NOMEM. */
fr_status fr_trace_read(const struct fr_json *root, struct fr_trace *trace,
                        struct fr_error *err);
void fr_trace_free(struct fr_trace *trace);

#endif

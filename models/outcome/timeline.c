#include "models/outcome/timeline.h"

#include <math.h>
#include <stdlib.h>

const char *const fr_stream_names[] = {
#define FR_STREAM_NAME(code, name) #name,
    FR_STREAM_LIST(FR_STREAM_NAME)
#undef FR_STREAM_NAME
        NULL};

const char *const fr_task_names[] = {
#define FR_TASK_NAME(code, name) #name,
    FR_TASK_LIST(FR_TASK_NAME)
#undef FR_TASK_NAME
        NULL};

double fr_span_critical_s(const struct fr_span *span) {
    bool together = span->stream == FR_STREAM_COLLECTIVE || span->kind == FR_TASK_EXCHANGE;
    bool other_side = span->stream == FR_STREAM_RECV ||
                      (together && span->peer >= 0 && span->peer < span->rank);
    return other_side ? 0 : fmax(0, span->critical_to_s - span->critical_from_s);
}

void fr_timeline_free(struct fr_timeline *timeline) {
    free(timeline->spans);
    *timeline = (struct fr_timeline){0};
}

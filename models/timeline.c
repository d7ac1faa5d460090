#include "models/timeline.h"

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

void fr_timeline_free(struct fr_timeline *timeline) {
    free(timeline->spans);
    *timeline = (struct fr_timeline){0};
}

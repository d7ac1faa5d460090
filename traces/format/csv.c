/* A table of the spans for spreadsheets and data frames: RFC 4180, one row a span, a field
 * left empty where there is nothing to say. */
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "traces/format.h"

static const char *number_or_empty(int32_t number, char out[16]) {
    if (number < 0) return "";
    snprintf(out, 16, "%" PRId32, number);
    return out;
}

static void add_span(const struct fr_timeline *t, const struct fr_span *span,
                     struct fr_text *out) {
    char line[320], micro[16], peer[16], start[32], end[32], size[32], with_others[32];
    int length = snprintf(
        line, sizeof line, "%" PRId32 ",%" PRId32 ",%s,%s,%s,%" PRId32 ",%s,%s,%s,%s,%d,%s\r\n",
        span->rank, fr_timeline_stage(t, span->rank), fr_stream_names[span->stream],
        fr_task_names[span->kind], number_or_empty(span->micro, micro), span->chunk,
        fr_number_write(span->start_s, start, sizeof start),
        fr_number_write(span->end_s, end, sizeof end),
        fr_number_write(span->size_B, size, sizeof size), number_or_empty(span->peer, peer),
        span->critical,
        fr_number_write(span->communicating_s, with_others, sizeof with_others));
    fr_text_add(out, line, (size_t)length);
}

static fr_status write(const struct fr_timeline *timeline, const struct fr_trace_options *o,
                       struct fr_text *out, struct fr_error *err) {
    (void)o; /* the form has no place for notes */
    fr_text_addf(out, "rank,stage,stream,task,micro_batch,chunk,start_s,end_s,size_B,peer,"
                      "critical,communicating_s\r\n");
    for (int64_t i = 0; i < timeline->count; i++) add_span(timeline, &timeline->spans[i], out);
    return out->failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory") : FR_OK;
}

const struct fr_format fr_format_csv = {
    .name = "csv",
    .ending = ".csv",
    .summary = "a row a span, for spreadsheets and data frames",
    .write = write,
};

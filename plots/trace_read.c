#include "plots/trace_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { RANKS_MAX = 1 << 24, NOTE_B = 200, FOOTER_B = 2000 };
static const double us_max = 1e16; /* 300 years */

/* A whole number from 0, or null: then -1. */
static fr_status get_optional(const struct fr_json *object, const char *key, int32_t *out,
                              struct fr_error *err) {
    struct fr_json node = fr_json_member(object, key);
    int64_t number = -1;
    if (!fr_json_is_null(&node))
        FR_TRY(fr_json_get_integer(object, key, true, 0, INT32_MAX, &number, err));
    *out = (int32_t)number;
    return FR_OK;
}

static fr_status read_slice(const struct fr_json *event, struct fr_span *span, int32_t *stage,
                            struct fr_error *err) {
    int64_t rank = 0, thread = 0, stage_read = 0;
    double ts_us = 0, dur_us = 0;
    int kind = 0;
    struct fr_json arguments = fr_json_member(event, "args");
    FR_TRY(fr_json_get_integer(event, "pid", true, 0, RANKS_MAX - 1, &rank, err));
    FR_TRY(fr_json_get_integer(event, "tid", true, 1, FR_STREAM_COUNT * 256, &thread, err));
    FR_TRY(fr_json_get_number(event, "ts", true, 0, us_max, &ts_us, err));
    FR_TRY(fr_json_get_number(event, "dur", true, 0, us_max, &dur_us, err));
    FR_TRY(fr_json_get_choice(event, "cat", true, fr_task_names, &kind, err));
    if (!fr_json_is_object(&arguments))
        return fr_json_fail(event, err, "a slice needs an object \"args\"");
    FR_TRY(get_optional(&arguments, "micro_batch", &span->micro, err));
    FR_TRY(fr_json_get_integer(&arguments, "stage", true, 0, rank, &stage_read, err));
    FR_TRY(fr_json_get_bool(&arguments, "critical", true, &span->critical, err));
    span->start_s = ts_us * 1e-6;
    span->end_s = (ts_us + dur_us) * 1e-6;
    span->rank = (int32_t)rank;
    span->stream = (uint8_t)((thread - 1) % FR_STREAM_COUNT);
    span->lane = (uint8_t)((thread - 1) / FR_STREAM_COUNT);
    span->kind = (uint8_t)kind;
    span->peer = span->message = -1;
    *stage = (int32_t)stage_read;
    return FR_OK;
}

static fr_status read_events(const struct fr_json *events, struct fr_timeline *t,
                             struct fr_error *err) {
    bool computes = false;
    for (int64_t i = 0; i < fr_json_array_length(events); i++) {
        struct fr_json event = fr_json_element(events, i);
        struct fr_span *span = &t->spans[t->count];
        char phase[16] = "";
        int32_t stage = 0;
        FR_TRY(fr_json_get_string(&event, "ph", true, phase, sizeof phase, err));
        if (strcmp(phase, "X") != 0) continue;
        *span = (struct fr_span){0};
        FR_TRY(read_slice(&event, span, &stage, err));
        if (span->rank >= t->n_ranks) t->n_ranks = span->rank + 1;
        if (stage >= t->n_stages) t->n_stages = stage + 1;
        if (stage == 1 && (t->ranks_apart == 0 || span->rank < t->ranks_apart))
            t->ranks_apart = span->rank; /* the first rank of stage 1 */
        t->makespan_s = fmax(t->makespan_s, span->end_s);
        computes = computes || span->stream == FR_STREAM_COMPUTE;
        t->count++;
    }
    if (computes && t->makespan_s > 0) return FR_OK;
    return fr_json_fail(events, err, "nothing is computed in this trace");
}

static void add_note(const char *key, const struct fr_json *value, struct fr_text *footer) {
    const char *text = NULL;
    char number[40];
    double read = 0;
    if (fr_json_is_number(value) &&
        fr_json_number(value, -HUGE_VAL, HUGE_VAL, &read, NULL) == FR_OK)
        text = fr_number_write(read, number, sizeof number);
    else if (!fr_json_is_string(value) || fr_json_text(value, &text, NULL) != FR_OK)
        return;
    fr_text_addf(footer, "%s%.*s %.*s", footer->length > 0 ? "   " : "", NOTE_B, key, NOTE_B,
                 text);
}

static void read_notes(const struct fr_json *root, struct fr_trace *trace) {
    struct fr_json notes = fr_json_member(root, "otherData");
    const char *key, *text = "";
    for (key = fr_json_key_after(&notes, NULL); key; key = fr_json_key_after(&notes, key)) {
        struct fr_json value = fr_json_member(&notes, key);
        struct fr_text *own = strcmp(key, "title") == 0    ? &trace->title
                              : strcmp(key, "bubble") == 0 ? &trace->bubble
                                                           : NULL;
        if (!own)
            add_note(key, &value, &trace->footer);
        else if (fr_json_is_string(&value) && fr_json_text(&value, &text, NULL) == FR_OK)
            fr_text_addf(own, "%s", text);
    }
}

fr_status fr_trace_read(const struct fr_json *root, struct fr_trace *trace,
                        struct fr_error *err) {
    struct fr_json events = fr_json_member(root, "traceEvents");
    *trace = (struct fr_trace){0};
    if (!fr_json_is_array(&events))
        return fr_json_fail(root, err,
                            "this is no Chrome trace: it has no array \"traceEvents\"");
    size_t most = (size_t)fr_json_array_length(&events) + 1;
    trace->timeline.spans = fr_malloc(most, sizeof *trace->timeline.spans);
    if (!trace->timeline.spans) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    FR_TRY(read_events(&events, &trace->timeline, err));
    read_notes(root, trace);
    return FR_OK;
}

void fr_trace_free(struct fr_trace *trace) {
    fr_timeline_free(&trace->timeline);
    fr_text_free(&trace->title), fr_text_free(&trace->bubble), fr_text_free(&trace->footer);
}

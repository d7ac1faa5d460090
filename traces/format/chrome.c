/* Chrome trace events, as Perfetto and chrome://tracing open them: a process a rank, a thread
 * a lane, arrows from send to receive, counters for power and memory.
 *
 * Threads are numbered from 1: older Perfetto takes thread 0 for the next one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "traces/clean.h"
#include "traces/counter.h"
#include "traces/order.h"

/* The name of each task's slices; messages after their stream, "send F". */
static const struct {
    const char *name;
    bool message;
} tasks[FR_TASK_COUNT] = {
    [FR_TASK_FORWARD] = {"F", false},
    [FR_TASK_BACKWARD] = {"B", false},
    [FR_TASK_WEIGHT] = {"W", false},
    [FR_TASK_FORWARD_MESSAGE] = {"F", true},
    [FR_TASK_BACKWARD_MESSAGE] = {"B", true},
    [FR_TASK_EXCHANGE] = {"exchange", false},
    [FR_TASK_GRADIENT] = {"all-reduce", false},
    [FR_TASK_COMPRESS] = {"compress", false},
    [FR_TASK_DECOMPRESS] = {"decompress", false},
    [FR_TASK_COMPRESSED_MESSAGE] = {"B small", true},
    [FR_TASK_FORWARD_COMPRESS] = {"compress F", false},
    [FR_TASK_FORWARD_DECOMPRESS] = {"decompress F", false},
    [FR_TASK_COMPRESSED_FORWARD] = {"F small", true},
    [FR_TASK_EMBEDDING] = {"embedding", false},
    [FR_TASK_OPTIMIZER] = {"optimizer", false},
    [FR_TASK_ELEMENTWISE] = {"element-wise", false},
    [FR_TASK_COLLECTIVE] = {"collective", false},
    [FR_TASK_COLLECTIVE_MESSAGE] = {"part", true},
    [FR_TASK_RECOMPUTE] = {"R", false},
    [FR_TASK_GRADIENT_CODEC] = {"gradient codec", false},
};
_Static_assert(FR_TASK_COUNT == 20, "a new task needs its name above");

/* Microseconds, to the nanosecond. */
#define US "%" PRId64 ".%03d"
#define US_OF(ns) (ns) / 1000, (int)((ns) % 1000)

enum { LINE_MAX_B = 512 }; /* all that is in an event is ours and short */

static void add_event(struct fr_text *out, const char *line) {
    fr_text_add(out, ",\n", 2);
    fr_text_add(out, line, strlen(line));
}

/* Lane 0 of the streams is threads 1 to 4, lane 1 threads 5 to 8, and so on. */
static int thread_of(int stream, int lane) { return 1 + stream + FR_STREAM_COUNT * lane; }

static void name_thread(int32_t rank, int stream, int lane, struct fr_text *out) {
    char number[16] = "";
    int thread = thread_of(stream, lane);
    if (lane > 0) snprintf(number, sizeof number, " %d", lane + 1);
    fr_text_addf(out,
                 ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%" PRId32
                 ",\"tid\":%d,\"args\":{\"name\":\"%s%s\"}},\n"
                 "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%" PRId32
                 ",\"tid\":%d,\"args\":{\"sort_index\":%d}}",
                 rank, thread, fr_stream_names[stream], number, rank, thread,
                 stream << 8 | lane);
}

/* Names and their order: ranks as numbered, so that each pipeline has its stage 0 on top. */
static void add_metadata(const struct fr_order *order, struct fr_text *out) {
    const struct fr_timeline *t = order->timeline;
    for (int32_t r = 0; r < t->n_ranks; r++) {
        fr_text_addf(out,
                     "%s\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRId32
                     ",\"args\":{\"name\":\"rank %" PRId32 " (stage %" PRId32 ")\"}},\n"
                     "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%" PRId32
                     ",\"args\":{\"sort_index\":%" PRId32 "}}",
                     r > 0 ? "," : "", r, r, fr_timeline_stage(t, r), r, r);
        for (int s = 0; s < FR_STREAM_COUNT; s++)
            for (int lane = 0; lane < fr_order_lanes(order, r, s); lane++)
                name_thread(r, s, lane, out);
    }
}

static const char *number_or_null(int32_t number, char out[16]) {
    if (number < 0) return "null";
    snprintf(out, 16, "%" PRId32, number);
    return out;
}

static void add_slice(const struct fr_timeline *t, const struct fr_span *span,
                      struct fr_text *out) {
    char line[LINE_MAX_B], micro[16], peer[16], size[32], with_others[32];
    bool message = tasks[span->kind].message, numbered = span->micro >= 0;
    int64_t start_ns = fr_trace_ns(span->start_s), dur_ns = fr_trace_ns(span->end_s) - start_ns;
    number_or_null(span->micro, micro);
    snprintf(line, sizeof line,
             "{\"ph\":\"X\",\"name\":\"%s%s%s%s%s\",\"cat\":\"%s\",\"ts\":" US ",\"dur\":" US
             ",\"pid\":%" PRId32 ",\"tid\":%d,\"args\":{\"micro_batch\":%s,\"stage\":%" PRId32
             ",\"chunk\":%" PRId32
             ",\"size_B\":%s,\"peer\":%s,\"critical\":%s,\"communicating_s\":%s}}",
             message ? fr_stream_names[span->stream] : "", message ? " " : "",
             tasks[span->kind].name, numbered ? " " : "", numbered ? micro : "",
             fr_task_names[span->kind], US_OF(start_ns), US_OF(dur_ns), span->rank,
             thread_of(span->stream, span->lane), numbered ? micro : "null",
             fr_timeline_stage(t, span->rank), span->chunk,
             fr_number_write(span->size_B, size, sizeof size), number_or_null(span->peer, peer),
             span->critical ? "true" : "false",
             fr_number_write(span->communicating_s, with_others, sizeof with_others));
    add_event(out, line);
}

/* One end of an arrow; viewers tie it to the slice of its thread that is open then. */
static void add_arrow(const struct fr_span *span, bool begins, int64_t at_ns,
                      struct fr_text *out) {
    char line[LINE_MAX_B];
    snprintf(line, sizeof line,
             "{\"ph\":\"%s\",%s\"name\":\"message\",\"cat\":\"message\",\"id\":%" PRId32
             ",\"ts\":" US ",\"pid\":%" PRId32 ",\"tid\":%d}",
             begins ? "s" : "f", begins ? "" : "\"bp\":\"e\",", span->message, US_OF(at_ns),
             span->rank, thread_of(span->stream, span->lane));
    add_event(out, line);
}

/* Arrows of the message that span @p i belongs to, which begins now.  An arrow leaves when its
 * send begins, and arrives when its receive has begun too. */
static void add_arrows(const struct fr_order *order, int64_t i, int64_t at_ns,
                       struct fr_text *out) {
    int64_t partner = order->partner[i];
    if (partner < 0) return;
    const struct fr_span *spans = order->timeline->spans;
    bool sends = spans[i].stream == FR_STREAM_SEND;
    if (sends) add_arrow(&spans[i], true, at_ns, out);
    if (partner < i) add_arrow(&spans[sends ? partner : i], false, at_ns, out);
}

static void add_step(const struct fr_step *step, struct fr_text *out) {
    char line[LINE_MAX_B], value[32];
    bool power = step->counter == FR_COUNTER_POWER_W;
    snprintf(line, sizeof line,
             "{\"ph\":\"C\",\"name\":\"%s\",\"ts\":" US ",\"pid\":%" PRId32
             ",\"args\":{\"%s\":%s}}",
             power ? "power [W]" : "memory [B]", US_OF(step->at_ns), step->rank,
             power ? "W" : "B", fr_number_write(step->value, value, sizeof value));
    add_event(out, line);
}

static void add_events(struct fr_order *order, const struct fr_steps *steps,
                       struct fr_text *out) {
    struct fr_edge edge;
    int64_t next = 0;
    while (fr_order_next(order, &edge)) {
        for (; next < steps->count && steps->items[next].at_ns <= edge.at_ns; next++)
            add_step(&steps->items[next], out);
        if (!edge.begins) continue;
        add_slice(order->timeline, &order->timeline->spans[edge.span], out);
        add_arrows(order, edge.span, edge.at_ns, out);
    }
    for (; next < steps->count; next++) add_step(&steps->items[next], out);
}

static void add_note(struct fr_json_writer *w, const char *key, const char *value) {
    struct fr_text clean_key = {0}, clean = {0};
    fr_clean_utf8(&clean_key, key);
    fr_clean_utf8(&clean, value);
    w->text->failed = w->text->failed || clean_key.failed || clean.failed;
    fr_json_add_string(w, fr_text_get(&clean_key), fr_text_get(&clean));
    fr_text_free(&clean_key), fr_text_free(&clean);
}

static void add_notes(const struct fr_trace_options *o, struct fr_text *out) {
    struct fr_json_writer w = {.text = out};
    fr_json_begin_object(&w);
    if (o->title) add_note(&w, "title", o->title);
    for (int i = 0; i < o->n_notes; i++) add_note(&w, o->notes[i].key, o->notes[i].value);
    fr_json_end_object(&w);
}

static fr_status write(const struct fr_timeline *timeline, const struct fr_trace_options *o,
                       struct fr_text *out, struct fr_error *err) {
    struct fr_order order;
    struct fr_steps steps = {0};
    fr_status status = fr_order_make(timeline, &order, err);
    if (status == FR_OK) status = fr_steps_make(&order, o, &steps, err);
    if (status == FR_OK) {
        fr_text_addf(out, "{\"displayTimeUnit\": \"ms\",\n\"otherData\": ");
        add_notes(o, out);
        fr_text_addf(out, ",\n\"traceEvents\": [");
        add_metadata(&order, out);
        add_events(&order, &steps, out);
        fr_text_addf(out, "\n]}\n");
        if (out->failed) status = fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    }
    free(steps.items);
    fr_order_free(&order);
    return status;
}

const struct fr_format fr_format_chrome = {
    .name = "chrome",
    .ending = ".json",
    .summary = "Chrome trace events, opened by ui.perfetto.dev and by forerun plot gantt",
    .write = write,
};

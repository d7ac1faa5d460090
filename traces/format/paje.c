/* A Paje trace, as ViTE and pj_dump read: a container a rank, in it one a lane, a state a
 * task, a link a message.  Events and fields are those that SimGrid writes
 * (src/instr/instr_paje_header.cpp); MicroBatch is a field of ours, which readers may skip.
 * Paje cannot escape a quote, so texts lose theirs. */
#include <inttypes.h>
#include <stdio.h>

#include "traces/clean.h"
#include "traces/format.h"
#include "traces/order.h"

/* Events by number; the fields are what the lines below hold. */
enum {
    DEFINE_CONTAINER_TYPE,
    DEFINE_STATE_TYPE,
    DEFINE_ENTITY_VALUE,
    DEFINE_LINK_TYPE,
    CREATE_CONTAINER,
    DESTROY_CONTAINER,
    PUSH_STATE,
    POP_STATE,
    START_LINK,
    END_LINK
};

static const struct event {
    int number;
    const char *name, *fields;
} events[] = {
    {DEFINE_CONTAINER_TYPE, "PajeDefineContainerType",
     "%\tAlias string\n%\tType string\n%\tName string\n"},
    {DEFINE_STATE_TYPE, "PajeDefineStateType",
     "%\tAlias string\n%\tType string\n%\tName string\n"},
    {DEFINE_ENTITY_VALUE, "PajeDefineEntityValue",
     "%\tAlias string\n%\tType string\n%\tName string\n%\tColor color\n"},
    {DEFINE_LINK_TYPE, "PajeDefineLinkType",
     "%\tAlias string\n%\tType string\n%\tStartContainerType string\n"
     "%\tEndContainerType string\n%\tName string\n"},
    {CREATE_CONTAINER, "PajeCreateContainer",
     "%\tTime date\n%\tAlias string\n%\tType string\n%\tContainer string\n%\tName string\n"},
    {DESTROY_CONTAINER, "PajeDestroyContainer",
     "%\tTime date\n%\tType string\n%\tName string\n"},
    {PUSH_STATE, "PajePushState",
     "%\tTime date\n%\tType string\n%\tContainer string\n%\tValue string\n"
     "%\tMicroBatch int\n"},
    {POP_STATE, "PajePopState", "%\tTime date\n%\tType string\n%\tContainer string\n"},
    {START_LINK, "PajeStartLink",
     "%\tTime date\n%\tType string\n%\tContainer string\n%\tValue string\n"
     "%\tStartContainer string\n%\tKey string\n"},
    {END_LINK, "PajeEndLink",
     "%\tTime date\n%\tType string\n%\tContainer string\n%\tValue string\n"
     "%\tEndContainer string\n%\tKey string\n"},
};
enum { N_EVENTS = sizeof events / sizeof *events };

static const char *const colours[FR_TASK_COUNT] = {
    [FR_TASK_FORWARD] = "0.34 0.71 0.91",
    [FR_TASK_BACKWARD] = "0.90 0.62 0.00",
    [FR_TASK_WEIGHT] = "0.00 0.62 0.45",
    [FR_TASK_FORWARD_MESSAGE] = "0.00 0.45 0.70",
    [FR_TASK_BACKWARD_MESSAGE] = "0.84 0.37 0.00",
    [FR_TASK_EXCHANGE] = "0.33 0.33 0.33",
    [FR_TASK_GRADIENT] = "0.80 0.47 0.65",
    [FR_TASK_EMBEDDING] = "0.94 0.89 0.26",
    [FR_TASK_OPTIMIZER] = "0.60 0.60 0.60",
    [FR_TASK_COMPRESS] = "0.55 0.34 0.29",
    [FR_TASK_DECOMPRESS] = "0.77 0.61 0.58",
    [FR_TASK_COMPRESSED_MESSAGE] = "0.55 0.34 0.29",
    [FR_TASK_FORWARD_COMPRESS] = "0.36 0.23 0.55",
    [FR_TASK_FORWARD_DECOMPRESS] = "0.70 0.62 0.86",
    [FR_TASK_COMPRESSED_FORWARD] = "0.36 0.23 0.55",
    [FR_TASK_ELEMENTWISE] = "0.73 0.73 0.73",
    [FR_TASK_COLLECTIVE] = "0.00 0.45 0.70",
    [FR_TASK_COLLECTIVE_MESSAGE] = "0.00 0.45 0.70",
    [FR_TASK_RECOMPUTE] = "0.95 0.81 0.50",
    [FR_TASK_GRADIENT_CODEC] = "0.67 0.27 0.60",
};
_Static_assert(FR_TASK_COUNT == 20, "a new task needs its colour above");

/* Seconds, to the nanosecond. */
#define S "%" PRId64 ".%09" PRId64
#define S_OF(ns) (ns) / 1000000000, (ns) % 1000000000

static void add_comment(struct fr_text *out, const char *key, const char *value) {
    fr_text_addf(out, "# ");
    fr_clean_line(out, key);
    fr_text_addf(out, ": ");
    fr_clean_line(out, value);
    fr_text_addf(out, "\n");
}

static void add_definitions(struct fr_text *out) {
    for (int i = 0; i < N_EVENTS; i++)
        fr_text_addf(out, "%%EventDef %s %d\n%s%%EndEventDef\n", events[i].name,
                     events[i].number, events[i].fields);
    fr_text_addf(out,
                 "%d RANK 0 \"rank\"\n%d STREAM RANK \"stream\"\n%d TASK STREAM \"task\"\n",
                 DEFINE_CONTAINER_TYPE, DEFINE_CONTAINER_TYPE, DEFINE_STATE_TYPE);
    for (int k = 0; k < FR_TASK_COUNT; k++)
        fr_text_addf(out, "%d T%d TASK \"%s\" \"%s\"\n", DEFINE_ENTITY_VALUE, k,
                     fr_task_names[k], colours[k]);
    fr_text_addf(out, "%d MESSAGE 0 STREAM STREAM \"message\"\n", DEFINE_LINK_TYPE);
    for (int k = 0; k < FR_TASK_COUNT; k++)
        fr_text_addf(out, "%d M%d MESSAGE \"%s\" \"%s\"\n", DEFINE_ENTITY_VALUE, k,
                     fr_task_names[k], colours[k]);
}

/* Lane l of stream s of rank r is container "R<r>S<s>L<l>". */
#define LANE "R%" PRId32 "S%dL%d"
#define LANE_OF(span) (span)->rank, (span)->stream, (span)->lane

static void create_containers(const struct fr_order *order, struct fr_text *out) {
    const struct fr_timeline *t = order->timeline;
    for (int32_t r = 0; r < t->n_ranks; r++) {
        fr_text_addf(out,
                     "%d 0.000000000 R%" PRId32 " RANK 0 \"rank %" PRId32 " (stage %" PRId32
                     ")\"\n",
                     CREATE_CONTAINER, r, r, fr_timeline_stage(t, r));
        for (int s = 0; s < FR_STREAM_COUNT; s++)
            for (int lane = 0; lane < fr_order_lanes(order, r, s); lane++)
                fr_text_addf(out, "%d 0.000000000 " LANE " STREAM R%" PRId32 " \"%s\"\n",
                             CREATE_CONTAINER, r, s, lane, r, fr_stream_names[s]);
    }
}

static void destroy_containers(const struct fr_order *order, int64_t at_ns,
                               struct fr_text *out) {
    for (int32_t r = 0; r < order->timeline->n_ranks; r++) {
        for (int s = 0; s < FR_STREAM_COUNT; s++)
            for (int lane = 0; lane < fr_order_lanes(order, r, s); lane++)
                fr_text_addf(out, "%d " S " STREAM " LANE "\n", DESTROY_CONTAINER, S_OF(at_ns),
                             r, s, lane);
        fr_text_addf(out, "%d " S " RANK R%" PRId32 "\n", DESTROY_CONTAINER, S_OF(at_ns), r);
    }
}

static void add_link(const struct fr_span *span, int event, int64_t at_ns,
                     struct fr_text *out) {
    fr_text_addf(out, "%d " S " MESSAGE 0 M%d " LANE " m%" PRId32 "\n", event, S_OF(at_ns),
                 span->kind, LANE_OF(span), span->message);
}

/* A link starts with its send and ends with its receive, in this order also where a message
 * takes no time. */
static void end_span(const struct fr_order *order, int64_t i, int64_t at_ns,
                     struct fr_text *out) {
    const struct fr_span *span = &order->timeline->spans[i];
    int64_t partner = order->partner[i];
    if (partner >= 0 && span->stream != FR_STREAM_SEND && partner < order->begun)
        add_link(span, END_LINK, at_ns, out);
    fr_text_addf(out, "%d " S " TASK " LANE "\n", POP_STATE, S_OF(at_ns), LANE_OF(span));
}

static void begin_span(const struct fr_order *order, int64_t i, int64_t at_ns,
                       struct fr_text *out) {
    const struct fr_span *span = &order->timeline->spans[i];
    int64_t partner = order->partner[i];
    fr_text_addf(out, "%d " S " TASK " LANE " T%d %" PRId32 "\n", PUSH_STATE, S_OF(at_ns),
                 LANE_OF(span), span->kind, span->micro);
    if (partner >= 0 && span->stream == FR_STREAM_SEND) {
        add_link(span, START_LINK, at_ns, out);
        if (partner < i && fr_order_is_over(order, partner, at_ns))
            add_link(&order->timeline->spans[partner], END_LINK, at_ns, out);
    }
    if (fr_trace_ns(span->end_s) <= at_ns) end_span(order, i, at_ns, out);
}

static fr_status write(const struct fr_timeline *timeline, const struct fr_trace_options *o,
                       struct fr_text *out, struct fr_error *err) {
    struct fr_order order;
    struct fr_edge edge = {0};
    fr_status status = fr_order_make(timeline, &order, err);
    if (status == FR_OK) {
        if (o->title) add_comment(out, "title", o->title);
        for (int i = 0; i < o->n_notes; i++)
            add_comment(out, o->notes[i].key, o->notes[i].value);
        add_definitions(out);
        create_containers(&order, out);
        while (fr_order_next(&order, &edge))
            (edge.begins ? begin_span : end_span)(&order, edge.span, edge.at_ns, out);
        int64_t makespan_ns = fr_trace_ns(timeline->makespan_s);
        destroy_containers(&order, edge.at_ns > makespan_ns ? edge.at_ns : makespan_ns, out);
        if (out->failed) status = fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    }
    fr_order_free(&order);
    return status;
}

const struct fr_format fr_format_paje = {
    .name = "paje",
    .ending = ".paje",
    .summary = "a Paje trace, opened by ViTE and read by pj_dump",
    .write = write,
};

/* Chrome traces, read back: laws that hold for any timeline, then lines by hand. */
#include "tests/traces/timelines.h"

#include "base/json.h"

enum { RANKS_MAX = 16, THREADS_MAX = 12 };
static const struct fr_trace_options bare = {0};

struct event {
    char phase, name[64], category[32];
    double ts_us, dur_us;
    int64_t pid, tid, id;
};

static struct fr_json_document *parsed(const struct fr_text *text) {
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    if (fr_json_parse(text->data, text->length, "trace.json", &document, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    return document;
}

static struct event event_at(const struct fr_json *events, int64_t i) {
    struct event e = {.tid = -1};
    struct fr_error err = {0};
    struct fr_json node = fr_json_element(events, i);
    char phase[4] = "";
    bool x, m;
    bool good = fr_json_get_string(&node, "ph", true, phase, sizeof phase, &err) == FR_OK;
    x = !strcmp(phase, "X"), m = !strcmp(phase, "M"), e.phase = *phase;
    good = good && fr_json_get_string(&node, "name", true, e.name, sizeof e.name, &err) == 0;
    good = good &&
           fr_json_get_string(&node, "cat", x, e.category, sizeof e.category, &err) == FR_OK;
    good = good && fr_json_get_number(&node, "ts", !m, 0, 1e18, &e.ts_us, &err) == FR_OK;
    good = good && fr_json_get_number(&node, "dur", x, 0, 1e18, &e.dur_us, &err) == FR_OK;
    good = good && fr_json_get_integer(&node, "pid", true, 0, 15, &e.pid, &err) == FR_OK;
    good = good && fr_json_get_integer(&node, "tid", x, 1, THREADS_MAX, &e.tid, &err) == FR_OK;
    good = good && fr_json_get_integer(&node, "id", *phase == 's' || *phase == 'f', 0, 1 << 30,
                                       &e.id, &err) == FR_OK;
    if (!good) fail_msg("%s: %s", err.where, err.detail);
    return e;
}

static int thread_of(const struct fr_span *span) {
    return 1 + span->stream + FR_STREAM_COUNT * span->lane;
}

/* Sorted; no overlap on a thread; busy time kept; every process and thread named. */
static void holds_the_spans(const struct fr_timeline *t, const struct fr_json *events) {
    double end_us[RANKS_MAX][THREADS_MAX + 1] = {{0}},
                                           busy_us[RANKS_MAX][THREADS_MAX + 1] = {{0}};
    bool named[RANKS_MAX][THREADS_MAX + 1] = {{0}};
    double now_us = 0;
    int64_t slices = 0;
    for (int64_t i = 0; i < fr_json_array_length(events); i++) {
        struct event e = event_at(events, i);
        if (!strcmp(e.name, "process_name")) named[e.pid][0] = true;
        if (!strcmp(e.name, "thread_name")) named[e.pid][e.tid] = true;
        if (e.phase == 'M') continue;
        FR_TRUE(e.ts_us >= now_us, "event %lld at %.3f after %.3f", (long long)i, e.ts_us,
                now_us);
        now_us = e.ts_us;
        if (e.phase != 'X') continue;
        FR_TRUE(e.ts_us >= end_us[e.pid][e.tid] - 1e-6, "slice %lld overlaps: %.3f < %.3f",
                (long long)i, e.ts_us, end_us[e.pid][e.tid]);
        assert_true(named[e.pid][0] && named[e.pid][e.tid]);
        assert_string_equal(e.category, fr_task_names[t->spans[slices].kind]);
        end_us[e.pid][e.tid] = e.ts_us + e.dur_us;
        busy_us[e.pid][e.tid] += e.dur_us;
        slices++;
    }
    assert_int_equal(slices, t->count);
    for (int64_t i = 0; i < t->count; i++)
        busy_us[t->spans[i].rank][thread_of(&t->spans[i])] -=
            1e6 * (t->spans[i].end_s - t->spans[i].start_s);
    for (int r = 0; r < RANKS_MAX; r++)
        for (int s = 1; s <= THREADS_MAX; s++)
            FR_TRUE(fabs(busy_us[r][s]) < 1, "rank %d thread %d: off by %g us", r, s,
                    busy_us[r][s]);
}

static const struct fr_span *span_of(const struct fr_timeline *t, int64_t message, int stream) {
    for (int64_t i = 0; i < t->count; i++)
        if (t->spans[i].message == message && t->spans[i].stream == stream) return &t->spans[i];
    return NULL;
}

/* Each message has one start and then one finish, each inside its slice. */
static void holds_the_messages(const struct fr_timeline *t, const struct fr_json *events) {
    static double left_us[RANDOM_SPANS_MAX];
    int64_t starts = 0, finishes = 0, messages = 0;
    for (int i = 0; i < RANDOM_SPANS_MAX; i++) left_us[i] = -1;
    for (int64_t i = 0; i < t->count; i++) messages += t->spans[i].stream == FR_STREAM_SEND;
    for (int64_t i = 0; i < fr_json_array_length(events); i++) {
        struct event e = event_at(events, i);
        if (e.phase != 's' && e.phase != 'f') continue;
        bool starts_now = e.phase == 's';
        const struct fr_span *span =
            span_of(t, e.id, starts_now ? FR_STREAM_SEND : FR_STREAM_RECV);
        FR_TRUE(span && span->rank == e.pid && thread_of(span) == e.tid, "message %lld",
                (long long)e.id);
        FR_TRUE(e.ts_us >= span->start_s * 1e6 - 1e-3 && e.ts_us <= span->end_s * 1e6 + 1e-3,
                "message %lld at %.3f outside its slice", (long long)e.id, e.ts_us);
        FR_TRUE(starts_now ? left_us[e.id] == -1
                           : left_us[e.id] >= 0 && e.ts_us >= left_us[e.id],
                "message %lld at %.3f", (long long)e.id, e.ts_us);
        left_us[e.id] = starts_now ? e.ts_us : -2;
        starts_now ? starts++ : finishes++;
    }
    assert_int_equal(starts, messages);
    assert_int_equal(finishes, messages);
}

static void laws(void **state) {
    static struct fr_span spans[RANDOM_SPANS_MAX];
    (void)state;
    for (uint64_t seed = 0; seed <= 10; seed++) {
        struct fr_timeline t = seed ? random_timeline(seed, spans) : hand;
        struct fr_text text = written(&fr_format_chrome, &t, &bare);
        struct fr_json_document *document = parsed(&text);
        struct fr_json root = fr_json_root(document);
        struct fr_json events = fr_json_member(&root, "traceEvents");
        holds_the_spans(&t, &events);
        holds_the_messages(&t, &events);
        fr_json_free(document);
        fr_text_free(&text);
    }
}

/* Power that rank @p rank draws in the nanosecond that begins at @p at_ns, span by span. */
static double watts_at(const struct fr_timeline *t, const struct fr_trace_options *o,
                       int64_t rank, int64_t at_ns) {
    double watts = o->idle_W;
    for (int64_t i = 0; i < t->count; i++) {
        const struct fr_span *s = &t->spans[i];
        if (s->rank != rank || llround(s->start_s * 1e9) > at_ns ||
            llround(s->end_s * 1e9) <= at_ns)
            continue;
        double alone_s = s->end_s - s->communicating_s;
        bool message = s->stream == FR_STREAM_SEND || s->stream == FR_STREAM_RECV;
        if (!message && llround((alone_s - s->waiting_s) * 1e9) > at_ns) return o->busy_W;
        if (llround(alone_s * 1e9) <= at_ns) watts = o->communicating_W;
    }
    return watts;
}

static void power_follows_the_spans(void **state) {
    static struct fr_span spans[RANDOM_SPANS_MAX];
    struct fr_trace_options o = {.busy_W = 300, .communicating_W = 120, .idle_W = 60};
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct fr_timeline t = random_timeline(seed, spans);
        struct fr_text text = written(&fr_format_chrome, &t, &o);
        struct fr_json_document *document = parsed(&text);
        struct fr_json root = fr_json_root(document);
        struct fr_json events = fr_json_member(&root, "traceEvents");
        double last_W[RANKS_MAX] = {0};
        for (int64_t i = 0; i < fr_json_array_length(&events); i++) {
            struct event e = event_at(&events, i);
            struct fr_json node = fr_json_element(&events, i);
            struct fr_json arguments = fr_json_member(&node, "args");
            struct fr_error err = {0};
            double watts = 0;
            if (e.phase != 'C') continue;
            assert_int_equal(fr_json_get_number(&arguments, "W", true, 0, 1e6, &watts, &err),
                             FR_OK);
            FR_NEAR(watts, watts_at(&t, &o, e.pid, llround(e.ts_us * 1e3)), 0);
            FR_TRUE(watts != last_W[e.pid], "rank %lld repeats %g W", (long long)e.pid, watts);
            last_W[e.pid] = watts;
        }
        for (int r = 0; r < t.n_ranks; r++) FR_NEAR(last_W[r], o.idle_W, 0);
        fr_json_free(document);
        fr_text_free(&text);
    }
}

static void has(const struct fr_text *text, const char *wanted) {
    FR_TRUE(strstr(text->data, wanted), "no %s", wanted);
}

static void by_hand(void **state) {
    static const double at_s[] = {0, 1e-3, 1e-3}, bytes[] = {0, 5, 7};
    static const struct fr_trace_series memory[] = {{at_s, bytes, 3}, {NULL, NULL, 0}};
    static const struct fr_trace_note notes[] = {{"model", "gpt"}};
    struct fr_trace_options o = {.notes = notes,
                                 .n_notes = 1,
                                 .memory_B = memory,
                                 .busy_W = 300,
                                 .communicating_W = (double)NAN,
                                 .idle_W = 60};
    struct fr_text text = written(&fr_format_chrome, &hand, &o);
    (void)state;
    has(&text, "\"otherData\": {\"model\": \"gpt\"}");
    has(&text, "\"args\":{\"name\":\"rank 1 (stage 1)\"}");
    has(&text,
        "{\"ph\":\"X\",\"name\":\"F 0\",\"cat\":\"forward\",\"ts\":0.000,"
        "\"dur\":1000.000,\"pid\":0,\"tid\":1,\"args\":{\"micro_batch\":0,\"stage\":0,"
        "\"chunk\":0,\"size_B\":0,\"peer\":null,\"critical\":true,\"communicating_s\":0}}");
    has(&text, "\"name\":\"send B 0\"");
    has(&text, "\"name\":\"all-reduce\",\"cat\":\"gradient_all_reduce\",\"ts\":6500.000");
    has(&text, "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"message\",\"cat\":\"message\",\"id\":1,"
               "\"ts\":4100.000,\"pid\":0,\"tid\":3}");
    has(&text, "\"ts\":4000.000,\"pid\":1,\"args\":{\"W\":60}}");
    has(&text, "\"ts\":1000.000,\"pid\":0,\"args\":{\"B\":7}}");
    assert_null(strstr(text.data, "\"B\":5")); /* of one instant the last counts */
    fr_text_free(&text);
}

static void hostile_texts_come_back(void **state) {
    static const struct fr_trace_note notes[] = {{"a\"b\\", "x\n\"},{\t\x01"},
                                                 {"c", "\xff\xc3"}};
    struct fr_trace_options o = {
        .title = "\"]}</script>\\\xed\xa0\x80", .notes = notes, .n_notes = 2};
    struct fr_text text = written(&fr_format_chrome, &hand, &o);
    struct fr_json_document *document = parsed(&text);
    struct fr_json root = fr_json_root(document), other = fr_json_member(&root, "otherData");
    struct fr_error err = {0};
    char title[64], note[64];
    (void)state;
    assert_int_equal(fr_json_get_string(&other, "title", true, title, sizeof title, &err), 0);
    assert_string_equal(title, "\"]}</script>\\???");
    assert_int_equal(fr_json_get_string(&other, "a\"b\\", true, note, sizeof note, &err), 0);
    assert_string_equal(note, notes[0].value);
    assert_int_equal(fr_json_get_string(&other, "c", true, note, sizeof note, &err), 0);
    assert_string_equal(note, "??");
    fr_json_free(document);
    fr_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws),
        cmocka_unit_test(power_follows_the_spans),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(hostile_texts_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The Gantt chart: what it says, what it refuses, and how it thins out what is too much. */
#include "tests/plots/figure_check.h"

#include "models/outcome/timeline.h"
#include "plots/time_shares.h"

static void it_says_what_it_shows(void **state) {
    /* The critical path is 6 forward of 1 ms, 6 backward of 2 ms, 8 messages of 0.05 ms: 18.4
     * ms; of these a rank computes 4 x 3 ms. */
    static const char *const says[] = {
        "three stages: makespan 18.4 ms, bubble 32.6 %",
        "34.8 %",
        "stage 0",
        "stage 2",
        "time [ms]",
        "forward message",
        "backward",
        "idle",
        "critical path",
        "cluster frontier   model gpt-mini   version forerun 0.1.0   ranks 3",
        "computes nothing: 34.8 % in the mean",
        NULL};
    char *json = read_text(FIXTURES "trace.json");
    (void)state;
    draws("gantt", json, "a.svg");
    char *svg = read_text("a.svg");
    for (const char *const *s = says; *s; s++) holds("gantt", svg, *s);
    assert_null(strstr(svg, "all-reduce")); /* the legend names what is there */
    unlink("a.svg");
    draws("gantt", json, "a.png");
    unlink("a.png");
    free(svg), free(json);
}

static void same_trace_same_bytes(void **state) {
    char *json = read_text(FIXTURES "trace.json"), *svg[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        draws("gantt", json, "a.svg");
        svg[i] = read_text("a.svg");
        unlink("a.svg");
    }
    assert_string_equal(svg[0], svg[1]);
    free(svg[0]), free(svg[1]), free(json);
}

static void refuses(const char *json, const char *place, const char *says) {
    struct fr_error err = {0};
    struct fr_figure_options o = {.output = "refused.svg"};
    fr_status status = draw_text("gantt", json, "trace.json", &o, &err);
    if (status != FR_ERR_INPUT) fail_msg("%s: status %d (%s)", says, status, err.detail);
    assert_string_equal(err.where, place);
    holds(err.where, err.detail, says);
    assert_false(fr_file_exists("refused.svg"));
}

/* Events 0 to 2 are metadata, 3 is the first slice. */
static void what_does_not_fit_is_named(void **state) {
    static const struct {
        const char *from, *to, *place, *says;
    } cases[] = {
        {"\"traceEvents\"", "\"events\"", "trace.json#/", "no array \"traceEvents\""},
        {"\"ph\"", "\"p\"", "trace.json#/traceEvents/0/ph", ""},
        {"\"ph\":\"X\"", "\"ph\":\"i\"", "trace.json#/traceEvents", "nothing is computed"},
        {"\"cat\":\"forward\"", "\"cat\":\"foward\"", "trace.json#/traceEvents/3/cat",
         "forward"},
        {"\"dur\"", "\"x\"", "trace.json#/traceEvents/3/dur", ""},
        {"\"dur\":", "\"dur\":-", "trace.json#/traceEvents/3/dur", ""},
        {"\"tid\":1", "\"tid\":0", "trace.json#/traceEvents/3/tid", ""},
        {"\"pid\":0", "\"pid\":99999999999", "trace.json#/traceEvents/3/pid", ""},
        {"\"args\"", "\"x\"", "trace.json#/traceEvents/3", "args"},
        {"\"micro_batch\":0", "\"micro_batch\":\"0\"",
         "trace.json#/traceEvents/3/args/micro_batch", ""},
        {"\"stage\":0", "\"stage\":7", "trace.json#/traceEvents/3/args/stage", ""},
        {"\"critical\"", "\"x\"", "trace.json#/traceEvents/3/args/critical", ""},
    };
    char *json = read_text(FIXTURES "trace.json"), *bad;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        refuses(bad = with(json, cases[i].from, cases[i].to), cases[i].place, cases[i].says);
        free(bad);
    }
    refuses("[1]", "trace.json#/", "");
    free(json);
}

static void add_slice(struct fr_text *json, const char *task, double ts_us, double dur_us,
                      int rank, int stage, int thread) {
    fr_text_addf(json,
                 "%s{\"ph\":\"X\",\"cat\":\"%s\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":%d,"
                 "\"tid\":%d,\"args\":{\"micro_batch\":null,\"stage\":%d,\"critical\":true}}",
                 json->length > 20 ? "," : "", task, ts_us, dur_us, rank, thread, stage);
}

/* Draw what was added, and look for @p says. */
static void drawn_says(struct fr_text *json, const char *says) {
    fr_text_addf(json, "]}");
    draws("gantt", json->data, "a.svg");
    char *svg = read_text("a.svg");
    holds("gantt", svg, says);
    unlink("a.svg");
    free(svg);
    fr_text_free(json);
}

static void the_least_that_draws(void **state) {
    struct fr_text json = {0};
    (void)state;
    fr_text_addf(&json, "{\"traceEvents\": [");
    add_slice(&json, "optimizer", 0, 0.5, 0, 0, 1);
    drawn_says(&json, "Pipeline: makespan 500 ns");
}

/* Lanes beyond the first of a stream have threads 5 and on. */
static void overlapping_messages_have_lanes(void **state) {
    struct fr_text json = {0};
    (void)state;
    fr_text_addf(&json, "{\"traceEvents\": [");
    add_slice(&json, "weight_gradient", 0, 5, 0, 0, 1);
    add_slice(&json, "exchange", 1, 5, 0, 0, 2);
    add_slice(&json, "exchange", 2, 8, 0, 0, 6);
    drawn_says(&json, "computes nothing: 50.0 %");
}

static void one_pipeline_of_many(void **state) {
    struct fr_text json = {0};
    (void)state;
    fr_text_addf(&json, "{\"traceEvents\": [");
    for (int r = 0; r < 100; r++)
        add_slice(&json, "forward", 0, r == 57 ? 20 : 10, r, r % 4, 1);
    drawn_says(&json, "Of 100 ranks those of one pipeline, from rank 56 on");
}

static void many_stages_share_rows(void **state) {
    struct fr_text json = {0};
    (void)state;
    fr_text_addf(&json, "{\"traceEvents\": [");
    for (int r = 0; r < 100; r++) add_slice(&json, "forward", r, 10, r, r, 1);
    drawn_says(&json, "100 stages, 2 to a row, their times added");
}

static void many_slices_are_shares(void **state) {
    struct fr_text json = {0};
    (void)state;
    fr_text_addf(&json, "{\"traceEvents\": [");
    for (int i = 0; i < 20001; i++)
        add_slice(&json, i % 2 ? "forward" : "backward", i, 1, 0, 0, 1);
    drawn_says(&json, "slices: heights are shares of the time");
}

/* Two hundred buckets in the place of one: as dark as one, no white borders over them and no black frames. */
static void thin_buckets_keep_their_colour(void **state) {
    (void)state;
    for (int buckets = 1; buckets <= 200; buckets += 199) {
        struct fr_text json = {0};
        struct fr_error err = {0};
        struct fr_figure_options o = {.output = "a.svg", .keep_script = true};
        fr_text_addf(&json, "{\"traceEvents\": [");
        add_slice(&json, "forward", 0, 800, 0, 0, 1);
        for (int i = 0; i < buckets; i++)
            add_slice(&json, "gradient_all_reduce", 800 + i * 200.0 / buckets, 200.0 / buckets,
                      0, 0, 1 + FR_STREAM_COLLECTIVE);
        fr_text_addf(&json, "\n]}");
        assert_int_equal(draw_text("gantt", json.data, "trace.json", &o, &err), FR_OK);
        char *script = read_text("a.gp"), *white = script;
        int bordered = 0;
        while ((white = strstr(white, "fs solid border rgb '#ffffff'"))) bordered++, white++;
        assert_int_equal(bordered,
                         buckets == 1 ? 2 : 1); /* of the pass, and of one wide bucket */
        free(script);
        fr_text_free(&json);
        assert_int_equal(system("rm a.svg a.gp a.dat"), 0);
    }
}

/* Eight stages, 64 micro-batches, a message after each pass: what is drawn stays readable, and small. */
static void many_micro_batches_stay_small(void **state) {
    struct fr_text json = {0};
    struct fr_error err = {0};
    struct fr_figure_options o = {.output = "a.svg"};
    (void)state;
    fr_text_addf(&json, "{\"traceEvents\": [");
    for (int stage = 0; stage < 8; stage++)
        for (int m = 0; m < 64; m++) {
            int start = 3 * m + stage;
            add_slice(&json, "forward", start, 1, stage, stage, 1);
            add_slice(&json, "backward", start + 1, 2, stage, stage, 1);
            add_slice(&json, "forward_message", start + 1, 1, stage, stage, 2);
        }
    fr_text_addf(&json, "\n]}");
    assert_int_equal(draw_text("gantt", json.data, "trace.json", &o, &err), FR_OK);
    char *svg = read_text("a.svg");
    assert_true(strlen(svg) < 500000);
    holds("a.svg", svg, "1,536 slices: heights are shares of the time");
    free(svg);
    unlink("a.svg");
    o.from_s = 10e-6, o.to_s = 30e-6; /* of these 200 us: 20 us, slice by slice */
    assert_int_equal(draw_text("gantt", json.data, "trace.json", &o, &err), FR_OK);
    svg = read_text("a.svg");
    holds("a.svg", svg, "a stretch of 20 us");
    holds("a.svg", svg, "computes nothing: 0.0 %");
    assert_null(strstr(svg, "shares of the time"));
    free(svg);
    unlink("a.svg");
    o.from_s = 1;
    assert_int_equal(draw_text("gantt", json.data, "trace.json", &o, &err), FR_ERR_USAGE);
    holds("the refusal", err.detail, "leaves nothing of the trace, which takes 199 us");
    assert_false(fr_file_exists("a.svg"));
    fr_text_free(&json);
}

static void shares_by_hand(void **state) {
    struct fr_shares shares;
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(fr_shares_begin(&shares, 2, 10, &err), FR_OK);
    fr_shares_add(&shares, 1, 0, 2, 4.5);
    fr_shares_add(&shares, 1, 3, 4.5, 10);
    for (int bin = 0; bin < 10; bin++) {
        const float *share = fr_shares_at(&shares, 1, bin);
        float first = bin < 2 ? 0 : bin < 4 ? 1 : bin == 4 ? 0.5f : 0;
        assert_true(share[0] == first);
        assert_true(share[3] == (bin < 4 ? 0 : 1 - first));
        assert_true(fr_shares_at(&shares, 0, bin)[0] == 0);
    }
    fr_shares_free(&shares);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_what_it_shows),
        cmocka_unit_test(same_trace_same_bytes),
        cmocka_unit_test(what_does_not_fit_is_named),
        cmocka_unit_test(the_least_that_draws),
        cmocka_unit_test(overlapping_messages_have_lanes),
        cmocka_unit_test(one_pipeline_of_many),
        cmocka_unit_test(many_stages_share_rows),
        cmocka_unit_test(many_slices_are_shares),
        cmocka_unit_test(thin_buckets_keep_their_colour),
        cmocka_unit_test(many_micro_batches_stay_small),
        cmocka_unit_test(shares_by_hand),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}

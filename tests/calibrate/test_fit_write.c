/* The cluster file of a fit: every value of a result made by hand stands in the file as written, and is
 * what the models read from it. */
#include <stdlib.h>

#include "tests/calibrate/written.h"

static double grid_time_s[8] = {1e-6, 2e-6, 3e-6, 4e-6, 5e-6, 6e-6, 7e-6, 8.5e-6};
static int64_t grid_m[] = {2, 16}, grid_n[] = {4, 64}, grid_k[] = {8, 128};

static struct fr_fit_result by_hand(void) {
    struct fr_fit_result r = {
        .name = "hand",
        .has_device = true,
        .provenance = {.date = "2024-05-31",
                       .host = "h",
                       .kernel = "k",
                       .cpu = "c",
                       .cores = 16,
                       .mpi = "m",
                       .blas = "b",
                       .blas_core = "bc",
                       .ranks = 32,
                       .ranks_per_node = 8,
                       .nodes = 4,
                       .seed = 77,
                       .version = "9.9"},
        .memory_B = 3e9,
        .memory_rate_B_per_s = 12.5e9,
        .launch_s = 1.5e-6,
        .busy_W = 5,
        .idle_W = 2,
        .communicating_W = 3,
        .power_quality = FR_QUALITY_SAMPLED,
        .power_source = "a meter",
        .outermost = 1,
        .speed = {.n = 9,
                  .usual_products = 1.25,
                  .usual_memory = 1.5,
                  .interruptions = {.every_s = 0.05, .length_s = 0.004}},
        .levels = {.count = 2,
                   .level = {{.name = "node",
                              .ranks = 8,
                              .latency_s = 1e-6,
                              .rate_B_per_s = 10e9,
                              .shared_by = 1},
                             {.name = "system",
                              .ranks = 32,
                              .latency_s = 5e-6,
                              .rate_B_per_s = 2e9,
                              .shared_by = 4}}},
    };
    r.gemm[FR_FP64] = (struct fr_fit_gemm){.n_m = 2,
                                           .n_n = 2,
                                           .n_k = 2,
                                           .m = grid_m,
                                           .n = grid_n,
                                           .k = grid_k,
                                           .time_s = grid_time_s,
                                           .quality = {.n = 6, .median = 0.03, .p90 = 0.2}};
    r.working_sets =
        (struct fr_fit_working_sets){.n = 2, .size_B = {1e6, 1e9}, .selects = true};
    for (int kind = 0; kind < FR_TRAFFIC_COUNT; kind++)
        for (int i = 0; i < 2; i++) r.working_sets.s_per_B[kind][i] = 1e-9 / (5 + 2 * kind + i);
    return r;
}

static struct fr_json_document *written(const struct fr_fit_result *result) {
    struct fr_text text = {0};
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    fr_fit_write_cluster(result, &text);
    if (fr_json_parse(text.data, text.length, "fit", &document, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    fr_text_free(&text);
    return document;
}

static const char *text_at(const struct fr_json *object, const char *key) {
    struct fr_json node = fr_json_member(object, key);
    struct fr_error err = {0};
    const char *text = "";
    if (fr_json_text(&node, &text, &err) != FR_OK) fail_msg("%s: %s", key, err.detail);
    return text;
}

static double number_at(const struct fr_json *object, const char *key) {
    struct fr_json node = fr_json_member(object, key);
    struct fr_error err = {0};
    double number = 0;
    if (fr_json_number(&node, -1e300, 1e300, &number, &err) != FR_OK)
        fail_msg("%s: %s", key, err.detail);
    return number;
}

static bool has(const struct fr_json *object, const char *key) {
    struct fr_json node = fr_json_member(object, key);
    return fr_json_present(&node);
}

static void the_device_comes_back(void **state) {
    struct fr_fit_result r = by_hand();
    (void)state;
    struct fr_cluster c = fr_test_written(&r);
    const struct fr_device *d = &c.device;
    assert_string_equal(c.name, "hand");
    assert_string_equal(d->name, "c, 1 core");
    FR_NEAR(d->memory_B, 3e9, 0);
    FR_NEAR(d->memory_rate_B_per_s, 12.5e9, 1e-12);
    FR_NEAR(d->launch_s, 1.5e-6, 1e-12);
    FR_NEAR(d->fixed_s, 0, 0);
    FR_NEAR(d->power.busy_W, 5, 0);
    FR_NEAR(d->power.idle_W, 2, 0);
    FR_NEAR(d->power.communicating_W, 3, 0);
    assert_string_equal(d->power.quality, "sampled");
    assert_string_equal(d->power.source, "a meter");
    FR_NEAR(d->usual_products, 0.25, 1e-12);
    FR_NEAR(d->usual_memory, 0.5, 1e-12);
    FR_NEAR(d->interruptions.every_s, 0.05, 1e-12);
    FR_NEAR(d->interruptions.length_s, 0.004, 1e-12);
    assert_int_equal(d->working_sets.n, 2);
    for (int kind = 0; kind < FR_TRAFFIC_COUNT; kind++)
        for (int i = 0; i < 2; i++)
            FR_NEAR(fr_device_traffic_s(d, kind, 1e9, i ? 1e9 : 1e6) / (1 + d->memory_noise),
                    r.working_sets.s_per_B[kind][i] * 1e9, 1e-3);
    fr_cluster_free(&c);
}

/* Clocks do this: shares are as written to four digits; the voltage is higher at the highest clock by `rise`. */
static void clocks_come_back(void **state) {
    struct fr_fit_result r = by_hand();
    (void)state;
    r.clock = (struct fr_fit_clock){true, 0.8e9, 2.4e9, 0.1e9, 1.5e9, 0.2345, 0.3125, 0.0625};
    struct fr_cluster c = fr_test_written(&r);
    const struct fr_device_clock *clock = &c.device.clock;
    assert_true(clock->known);
    FR_NEAR(clock->max_Hz, 2.4e9, 1e-12);
    FR_NEAR(clock->min_Hz, 0.8e9, 1e-12);
    FR_NEAR(clock->step_Hz, 0.1e9, 1e-12);
    FR_NEAR(clock->voltage.knee_Hz, 1.5e9, 1e-12);
    FR_NEAR(sqrt(fr_clock_voltage_squared(&clock->voltage, 2.4e9)), 1.2345, 1e-9);
    FR_NEAR(clock->static_share, 0.3125, 1e-12);
    FR_NEAR(clock->fixed_share, 0.0625, 1e-12);
    fr_cluster_free(&c);
    r.clock.known = false;
    c = fr_test_written(&r);
    assert_false(c.device.clock.known);
    fr_cluster_free(&c);
}

/* m slowest, k fastest; and its residuals. */
static void the_table_of_products_comes_back(void **state) {
    struct fr_fit_result r = by_hand();
    (void)state;
    struct fr_json_document *document = written(&r);
    struct fr_cluster c = fr_test_written(&r);
    for (int i = 0; i < 8; i++) {
        const struct fr_gemm_shape shape = {.m = (double)grid_m[i / 4],
                                            .n = (double)grid_n[i / 2 % 2],
                                            .k = (double)grid_k[i % 2]};
        bool extrapolated = false;
        FR_NEAR(fr_gemm_time_s(&c.device, FR_FP64, &shape, &extrapolated), grid_time_s[i],
                1e-9);
        assert_false(extrapolated);
    }
    assert_null(c.device.gemm[FR_FP32].form);
    FR_NEAR(c.device.gemm[FR_FP64].residual_median, 0.03, 0);
    FR_NEAR(c.device.gemm[FR_FP64].residual_p90, 0.2, 0);
    struct fr_json root = fr_json_root(document), device = fr_json_member(&root, "device"),
                   gemm = fr_json_member(&device, "gemm"), fp64 = fr_json_member(&gemm, "fp64"),
                   residuals = fr_json_member(&fp64, "residuals");
    FR_NEAR(number_at(&residuals, "points"), 6, 0);
    fr_cluster_free(&c);
    fr_json_free(document);
}

static void levels_come_back(void **state) {
    struct fr_fit_result r = by_hand();
    (void)state;
    struct fr_cluster c = fr_test_written(&r);
    assert_int_equal(c.levels.count, 2);
    for (int i = 0; i < 2; i++) {
        const struct fr_level *got = &c.levels.level[i], *want = &r.levels.level[i];
        assert_string_equal(got->name, want->name);
        assert_int_equal(got->ranks, want->ranks);
        assert_int_equal(got->shared_by, want->shared_by);
        FR_NEAR(got->latency_s, want->latency_s, 1e-12);
        FR_NEAR(got->rate_B_per_s, want->rate_B_per_s, 1e-12);
    }
    fr_cluster_free(&c);
}

/* Where a file says nothing, the reader takes what it takes without: no interruption, no power of
 * communicating, no rates by working set; a rate beyond all measure is 1 PB/s. */
static void what_was_not_seen_is_not_written(void **state) {
    struct fr_fit_result r = by_hand();
    (void)state;
    r.speed = (struct fr_fit_speed){.usual_products = 1, .usual_memory = 1};
    r.communicating_W = -1;
    r.working_sets.n = 1;
    struct fr_json_document *document = written(&r);
    struct fr_json root = fr_json_root(document), device = fr_json_member(&root, "device"),
                   power = fr_json_member(&device, "power");
    assert_false(has(&device, "usual") || has(&device, "interruptions"));
    assert_false(has(&device, "working_sets") || has(&power, "communicating"));
    fr_json_free(document);
    r.speed.usual_products = 1.1; /* without probes, the scatter of timings alone */
    r.communicating_W = 0;
    r.working_sets.n = 2;
    r.working_sets.s_per_B[FR_TRAFFIC_STREAM][0] = 0;
    document = written(&r);
    root = fr_json_root(document), device = fr_json_member(&root, "device");
    power = fr_json_member(&device, "power");
    struct fr_json usual = fr_json_member(&device, "usual"),
                   sets = fr_json_member(&device, "working_sets"),
                   rates = fr_json_member(&sets, fr_traffic_names[FR_TRAFFIC_STREAM]),
                   first = fr_json_element(&rates, 0);
    struct fr_error err = {0};
    double rate_B_per_s = 0;
    FR_NEAR(number_at(&usual, "products"), 1.1, 0);
    FR_NEAR(number_at(&usual, "memory"), 1, 0);
    assert_true(has(&power, "communicating"));
    assert_int_equal(fr_json_quantity(&first, FR_QUANTITY_RATE, 0, 1e18, &rate_B_per_s, &err),
                     FR_OK);
    FR_NEAR(rate_B_per_s, 1e15, 1e-12);
    fr_json_free(document);
}

/* Four digits behind the point of what lies beyond a table. */
static void what_is_rounded(void **state) {
    static const double values[] = {0.00001, 0.00004, 0.00006, 0.12344, 0.12346, 0.5, 9.99996};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct fr_fit_result r = by_hand();
        r.gemm[FR_FP64].beyond_octave = values[i];
        r.ops[FR_OP_BROADCAST].n_points = 0;
        struct fr_json_document *document = written(&r);
        struct fr_json root = fr_json_root(document), device = fr_json_member(&root, "device"),
                       gemm = fr_json_member(&device, "gemm"),
                       of = fr_json_member(&gemm, "fp64"),
                       stated = fr_json_member(&of, "residuals");
        double got = number_at(&stated, "beyond_octave");
        FR_TRUE(fabs(got - values[i]) <= 0.5e-4 + 1e-12 &&
                    fabs(got * 1e4 - round(got * 1e4)) < 1e-6,
                "%g: %.12g", values[i], got);
        fr_json_free(document);
    }
}

static void the_calibration_is_told(void **state) {
    struct fr_fit_result r = by_hand();
    (void)state;
    r.judged = (struct fr_fit_verdict){"WARN", 2, {"one", "two"}};
    r.speed.variation = 1.2816 * 0.3; /* a deviation of 0.3, and half of log 1.5 beside it */
    r.speed.lost = 0.5;
    r.ops[FR_OP_BROADCAST].n_points = 0;
    struct fr_json_document *document = written(&r);
    struct fr_json root = fr_json_root(document), at = fr_json_member(&root, "calibration"),
                   reasons = fr_json_member(&at, "reasons"),
                   second = fr_json_element(&reasons, 1);
    static const char *const texts[][2] = {
        {"date", "2024-05-31"}, {"host", "h"},      {"kernel", "k"},
        {"cpu", "c"},           {"mpi", "m"},       {"blas", "b"},
        {"blas_core", "bc"},    {"version", "9.9"}, {"verdict", "WARN"}};
    static const struct {
        const char *key;
        double wanted;
    } numbers[] = {{"cores", 16}, {"ranks", 32},      {"ranks_per_node", 8}, {"nodes", 4},
                   {"seed", 77},  {"held_out", 0.03}, {"variation", 0.3621}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(text_at(&at, texts[i][0]), texts[i][1]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        FR_NEAR(number_at(&at, numbers[i].key), numbers[i].wanted, 1e-12);
    assert_int_equal(fr_json_array_length(&reasons), 2);
    const char *text = "";
    struct fr_error err = {0};
    assert_int_equal(fr_json_text(&second, &text, &err), FR_OK);
    assert_string_equal(text, "two");
    fr_json_free(document);
}

/* Whose measurements they are, in one line. */
static void the_source_is_named(void **state) {
    struct fr_fit_result r = by_hand();
    static const char *const wanted[] = {
        "measured on h, 2024-05-31, with 32 ranks",
        "measured on h, 2024-05-31, with 32 ranks, more than there are cores",
        "measured on h, no date, with 32 ranks",
        "fitted to imported measurements, up to 32 ranks"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        r.provenance.oversubscribed = i == 1;
        if (i == 2) *r.provenance.date = '\0';
        if (i == 3) strcpy(r.provenance.host, "imported");
        struct fr_json_document *document = written(&r);
        struct fr_json root = fr_json_root(document), at = fr_json_member(&root, "calibration");
        struct fr_error err = {0};
        bool shared = i != 1;
        assert_string_equal(text_at(&root, "source"), wanted[i]);
        assert_int_equal(fr_json_get_bool(&at, "oversubscribed", true, &shared, &err), FR_OK);
        assert_true(shared == (i == 1));
        fr_json_free(document);
    }
}

/* ---- operations -------------------------------------------------------------------------------- */

static double sizes_B[] = {8, 1024}, times_s[] = {2e-6, 6e-6}, left_out[] = {0, 0};
static double far_s[] = {20e-6, 60e-6};

/* Tables inside a node and over two, as the fit has them: level 1 for all that is over nodes. */
static void op_by_hand(struct fr_fit_result *r, struct fr_similarity_table tables[2]) {
    static const struct fr_fit_point point;
    struct fr_fit_op *op = &r->ops[FR_OP_BROADCAST];
    tables[0] = (struct fr_similarity_table){.level = 0,
                                             .n_ranks = 8,
                                             .n_nodes = 1,
                                             .count = 2,
                                             .size_B = sizes_B,
                                             .time_s = times_s,
                                             .left_out = left_out};
    tables[1] = (struct fr_similarity_table){.level = 1,
                                             .n_ranks = 16,
                                             .n_nodes = 2,
                                             .count = 2,
                                             .size_B = sizes_B,
                                             .time_s = far_s,
                                             .left_out = left_out};
    op->points = &point;
    op->n_points = 4;
    op->chosen = FR_FIT_SIMILARITY;
    strcpy(op->series, "a series");
    op->candidate[FR_FIT_SIMILARITY].price = (struct fr_price){
        .form = &fr_form_similarity,
        .op = FR_OP_BROADCAST,
        .residual_median = 0.01,
        .residual_p90 = 0.05,
        .residual_points = 4,
        .similarity = {
            .tables = tables, .n_tables = 2, .law = {{1, 1, 0.5, 0.4}, {2, 1, 0.8, 0.6}}}};
    op->candidate[FR_FIT_SIMILARITY].held_sizes =
        (struct fr_fit_quality){.n = 3, .median = 0.07};
}

/* The outermost of three levels stands for measurements over nodes, and the result is as it was. */
static void operations_are_written_for_their_level(void **state) {
    struct fr_fit_result r = by_hand();
    struct fr_similarity_table tables[2];
    (void)state;
    r.levels.level[2] = r.levels.level[1];
    strcpy(r.levels.level[1].name, "rack");
    r.levels.level[2].ranks = 64;
    r.levels.count = 3, r.outermost = 2;
    op_by_hand(&r, tables);
    struct fr_json_document *document = written(&r);
    struct fr_cluster c = fr_test_written(&r);
    const struct fr_price *price = &c.price[FR_OP_BROADCAST];
    struct fr_group inside = {.n_ranks = 8, .ranks_per_node = 8},
                    across = {.n_ranks = 16, .ranks_per_node = 8, .level = 2};
    bool extrapolated = false;
    assert_string_equal(price->form->name, "similarity");
    for (int i = 0; i < 2; i++) {
        FR_NEAR(fr_comm_time_s(price, &inside, sizes_B[i], &extrapolated), times_s[i], 1e-6);
        FR_NEAR(fr_comm_time_s(price, &across, sizes_B[i], &extrapolated), far_s[i], 1e-6);
    }
    assert_false(extrapolated);
    FR_NEAR(price->residual_median, 0.01, 0);
    FR_NEAR(price->similarity.law[0].slow, 0.5, 0);
    assert_int_equal(price->similarity.law[2].steps, 2);
    FR_NEAR(price->similarity.law[2].fast, 0.6, 0);
    assert_int_equal(tables[0].level, 0);
    assert_int_equal(tables[1].level, 1);
    struct fr_json root = fr_json_root(document), at = fr_json_member(&root, "calibration"),
                   series = fr_json_member(&at, "series"),
                   all = fr_json_member(&root, "collectives");
    assert_string_equal(text_at(&series, "broadcast"), "a series");
    assert_true(has(&all, "broadcast") && !fr_json_key_at(&all, 1));
    FR_NEAR(number_at(&at, "held_out"), 0.07, 0); /* the operation's is the larger */
    fr_cluster_free(&c);
    fr_json_free(document);
}

/* A value that was not measured is the base's, word by word; a measured one is not. */
static void the_rest_is_the_bases(void **state) {
    static const char text[] =
        "{\"device\": {\"name\": \"base\"}, \"levels\": [{\"name\": \"node\", \"ranks\": 8}], "
        "\"topology\": {\"a\": 1}, \"collectives\": {\"broadcast\": {\"form\": \"theirs\"}, "
        "\"reduce\": {\"form\": \"kept\"}}}";
    struct fr_fit_result r = by_hand();
    struct fr_similarity_table tables[2];
    struct fr_json_document *base = NULL;
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(fr_json_parse(text, sizeof text - 1, "base", &base, &err), FR_OK);
    op_by_hand(&r, tables);
    r.base = base, r.has_device = false;
    struct fr_json_document *document = written(&r);
    struct fr_json root = fr_json_root(document), device = fr_json_member(&root, "device"),
                   levels = fr_json_member(&root, "levels"),
                   topology = fr_json_member(&root, "topology"),
                   all = fr_json_member(&root, "collectives"),
                   reduce = fr_json_member(&all, "reduce"),
                   broadcast = fr_json_member(&all, "broadcast");
    assert_string_equal(text_at(&device, "name"), "base");
    assert_int_equal(fr_json_array_length(&levels), 1);
    FR_NEAR(number_at(&topology, "a"), 1, 0);
    assert_string_equal(text_at(&reduce, "form"), "kept");
    assert_string_equal(text_at(&broadcast, "form"), "similarity");
    fr_json_free(document);
    r.has_device = true;
    document = written(&r);
    root = fr_json_root(document), device = fr_json_member(&root, "device");
    assert_string_equal(text_at(&device, "name"), "c, 1 core");
    fr_json_free(document);
    fr_json_free(base);
}

/* Where points are too few to hold one out no error is stated, which does not mean an error of zero. */
static void nothing_was_held_out(void **state) {
    struct fr_fit_result r = by_hand();
    (void)state;
    FR_NEAR(fr_fit_held_out(&r), 0.03, 0);
    r.gemm[FR_FP32].quality = (struct fr_fit_quality){.n = 1, .median = 0.2}; /* speaks first */
    FR_NEAR(fr_fit_held_out(&r), 0.2, 0);
    r.gemm[FR_FP32].quality.n = 0;
    r.gemm[FR_FP64].quality.n = 0;
    assert_true(isnan(fr_fit_held_out(&r)));
    struct fr_json_document *document = written(&r);
    struct fr_json root = fr_json_root(document), stated = fr_json_member(&root, "calibration"),
                   none = fr_json_member(&stated, "held_out");
    assert_true(fr_json_present(&stated) && !fr_json_present(&none));
    fr_json_free(document);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_was_held_out),
        cmocka_unit_test(the_device_comes_back),
        cmocka_unit_test(clocks_come_back),
        cmocka_unit_test(the_table_of_products_comes_back),
        cmocka_unit_test(levels_come_back),
        cmocka_unit_test(what_was_not_seen_is_not_written),
        cmocka_unit_test(what_is_rounded),
        cmocka_unit_test(the_calibration_is_told),
        cmocka_unit_test(the_source_is_named),
        cmocka_unit_test(operations_are_written_for_their_level),
        cmocka_unit_test(the_rest_is_the_bases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

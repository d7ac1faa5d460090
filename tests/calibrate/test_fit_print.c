/* Fit prints a result made by hand: the table for a person, and the document for a program. */
#include <stdlib.h>

#include "base/json.h"
#include "calibrate/fit/brief.h"
#include "calibrate/fit/parts.h"
#include "tests/cmocka.h"
#include "tests/screen.h"

#define Q(count, middle, high)                                                                 \
    { .n = count, .median = middle, .p90 = high, .rmse_log2 = 0.5 }

static struct fr_fit_point points[] = {
    {.op = FR_OP_BROADCAST,
     .n_ranks = 4,
     .n_nodes = 1,
     .size_B = 8,
     .median_s = 2e-6,
     .time_s = 2e-6,
     .uncertainty = 0.04,
     .n = 20,
     .n_slow = 3,
     .n_launches = 2},
    {.op = FR_OP_BROADCAST,
     .n_ranks = 4,
     .n_nodes = 1,
     .size_B = 64,
     .median_s = 3e-6,
     .time_s = 3e-6,
     .uncertainty = 0.06,
     .n = 21,
     .n_slow = 0,
     .n_launches = 3},
    {.op = FR_OP_BROADCAST,
     .level = 1,
     .n_ranks = 16,
     .n_nodes = 2,
     .size_B = 8,
     .median_s = 5e-6,
     .time_s = 5e-6,
     .uncertainty = 1e9,
     .n = 1,
     .n_slow = 1,
     .n_launches = 1},
    {.op = FR_OP_ALL_REDUCE,
     .level = 1,
     .n_ranks = 32,
     .n_nodes = 4,
     .size_B = 1024,
     .median_s = 9e-6,
     .time_s = 8e-6,
     .uncertainty = 0.25,
     .n = 7,
     .n_slow = 2,
     .n_launches = 4},
};

static struct fr_fit_curve curves[] = {
    {.points = points,
     .n_points = 2,
     .quality = {[FR_FIT_LOG] = Q(2, 0.011, 0.022), [FR_FIT_SIMILARITY] = Q(2, 0.033, 0.044)},
     .log_ordinary = Q(2, 0.5, 0.75)},
    {.points = points + 2,
     .n_points = 1,
     .quality = {[FR_FIT_LOG] = Q(1, 0.1, 0.2), [FR_FIT_SIMILARITY] = Q(0, 0, 0)},
     .log_ordinary = Q(1, 0.6, 0.8)},
    {.points = points + 3, .n_points = 1, .quality = {[FR_FIT_SIMILARITY] = Q(1, 0.3, 0.4)}},
};

static double held_s[] = {1.5e-6, 2.5e-6, 3.5e-6};
static int64_t grid_m[] = {2, 16}, grid_n[] = {4, 8, 64}, grid_k[] = {8, 128};
static double grid_s[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static struct fr_fit_result by_hand(void) {
    struct fr_fit_result r = {
        .name = "hand",
        .has_device = true,
        .memory_rate_B_per_s = 12.5e9,
        .launch_s = 1.5e-6,
        .work_W = {20, 60, 30, 45, 25},
        .clock = {.known = true,
                  .min_Hz = 1e9,
                  .max_Hz = 3e9,
                  .step_Hz = 0.4e9,
                  .knee_Hz = 1.6e9,
                  .rise = 0.5,
                  .static_share = 0.25,
                  .fixed_share = 0.1},
        .provenance = {.date = "d",
                       .host = "h",
                       .kernel = "k",
                       .cpu = "c",
                       .mpi = "m",
                       .blas = "b",
                       .ranks = 32,
                       .ranks_per_node = 8,
                       .nodes = 4,
                       .seed = 77,
                       .pinning = "p",
                       .hosts = "x,y",
                       .clock_resolution_s = 1e-9,
                       .oversubscribed = true},
        .points = points,
        .n_points = 4,
        .speed = {.n = 9,
                  .usual_products = 1.25,
                  .usual_memory = 1.5,
                  .variation = 0.12,
                  .lost = 0.07,
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
        .working_sets = {.n = 2, .size_B = {1e6, 1e9}, .selects = true},
        .n_missing = 1,
        .missing = {"a-thing"},
    };
    for (int kind = 0; kind < FR_TRAFFIC_COUNT; kind++)
        for (int i = 0; i < 2; i++)
            r.working_sets.s_per_B[kind][i] = (kind + 1) * (i + 1) * 1e-10;
    r.working_sets.s_per_B[FR_TRAFFIC_OPERANDS][0] = 0;
    struct fr_fit_op *op = &r.ops[FR_OP_BROADCAST];
    *op = (struct fr_fit_op){.points = points,
                             .n_points = 3,
                             .series = "mine",
                             .curves = curves,
                             .n_curves = 2,
                             .log_ordinary = {.present = true},
                             .chosen = FR_FIT_LOG};
    op->candidate[FR_FIT_LOG] = (struct fr_fit_candidate){.price = {.form = &fr_form_log,
                                                                    .op = FR_OP_BROADCAST,
                                                                    .c1_s = 1e-6,
                                                                    .c2_s_per_B = 1e-9,
                                                                    .c3_s = 2e-6},
                                                          .quality = Q(3, 0.05, 0.06),
                                                          .held_sizes = Q(2, 0.07, 0.08),
                                                          .held_s = held_s};
    op = &r.ops[FR_OP_ALL_REDUCE];
    *op = (struct fr_fit_op){.points = points + 3,
                             .n_points = 1,
                             .curves = curves + 2,
                             .n_curves = 1,
                             .chosen = FR_FIT_LOG};
    op->candidate[FR_FIT_LOG] = (struct fr_fit_candidate){
        .price = {.form = &fr_form_log, .op = FR_OP_ALL_REDUCE, .c1_s = 3e-6},
        .quality = Q(1, 0.5, 0.6),
        .held_ranks = Q(1, 0.9, 0.95)};
    r.gemm[FR_FP64] = (struct fr_fit_gemm){.n_m = 2,
                                           .n_n = 3,
                                           .n_k = 2,
                                           .m = grid_m,
                                           .n = grid_n,
                                           .k = grid_k,
                                           .time_s = grid_s,
                                           .n_filled = 5,
                                           .n_dropped = 6,
                                           .quality = Q(6, 0.03, 0.2)};
    r.gemm[FR_BF16] = (struct fr_fit_gemm){
        .n_m = 1, .n_n = 1, .n_k = 1, .m = grid_m, .n = grid_n, .k = grid_k, .time_s = grid_s};
    return r;
}

static struct fr_sample_source source = {.file = "f.txt",
                                         .tool = "nccl-tests",
                                         .tool_version = "2",
                                         .setup = "s",
                                         .dtype = "float",
                                         .n_ranks = 5,
                                         .nodes = 6,
                                         .ranks_per_node = 7};

static const char table[] =
    "relative errors in percent, median and 90th percentile\n"
    "operation      level ranks  of  log, OLS       log  segments algorithm   similar\n"
    "broadcast      node      4   2 50.0   75  1.1    2         -         -         -\n"
    "broadcast      system   16   1 60.0   80 10.0   20         -         -         -\n"
    "all_reduce     system   32   1         -         -         -         -         -\n"
    "held out: every second size, the largest rank count; named is the form written:\n"
    "the similarity table, unless another is clearly better\n"
    "broadcast      sizes  log                 7.0    8         -         -         -\n"
    "all_reduce     ranks                     90.0   95         -         -         -\n"
    "4 points, 49 samples; 3 medians known no better than 5 %;\n"
    "  6 samples disturbed (kept)\n"
    "products fp64: 2 x 3 x 2 shapes;\n"
    "  a shape from its neighbours: median 3.0 %, p90 20.0 %\n"
    "  5 of them not measured: from the shapes around them\n"
    "  6 shapes dropped: the grid was not complete\n"
    "products bf16: 1 x 1 x 1 shapes;\n"
    "  a shape from its neighbours: median 0.0 %, p90 0.0 %\n"
    "memory 12.50 GB/s, call 1.500 us\n"
    "usually products take 1.25, memory 1.50 of the time that they take when\n"
    "  the machine is fast (9 probes)\n"
    "a rank is interrupted every 50.00 ms of its work for 4.000 ms;\n"
    "  products lost 7.0 % to it\n"
    "working set     stream elementwise       norm    softmax     update  operands\n"
    "   1.000 MB 10.00 GB/s 5.000 GB/s 3.333 GB/s 2.500 GB/s 2.000 GB/s  as in cache\n"
    "   1.000 GB 5.000 GB/s 2.500 GB/s 1.667 GB/s 1.250 GB/s 1.000 GB/s  714.3 MB/s\n"
    "top-k's sort: 1.667 GB/s over the smallest set, 833.3 MB/s over the largest\n"
    "power of a rank: products 60.00 W, memory 45.00 W, collectives 30.00 W,\n"
    "  waiting 25.00 W, idle 20.00 W\n"
    "clock 1 to 3 GHz: 25 % of the power and 10 % of the time of products\n"
    "  do not go with it\n"
    "level node: 8 ranks, 1.000 us, 10.00 GB/s\n"
    "level system: 32 ranks, 5.000 us, 2.000 GB/s\n";

/* Without blanks, and without the program's version. */
static const char document[] =
    "{\"schema\":\"forerun/fit/1\",\"provenance\":{\"cluster\":\"hand\","
    "\"date\":\"d\",\"host\":\"h\",\"cpu\":\"c\",\"mpi\":\"m\",\"blas\":\"b\",\"ranks\":32,"
    "\"nodes\":4,\"ranks_per_node\":8,\"kernel\":\"k\",\"pinning\":\"p\","
    "\"hosts\":\"x,y\",\"clock_resolution_s\":1e-09,\"simulated\":false,"
    "\"oversubscribed\":true,\"seed\":77},\"machine\":{\"probes\":9,"
    "\"usual_products\":1.25,\"usual_memory\":1.5,\"speed_variation\":0.12,"
    "\"interrupted_every_s\":0.05,\"interruption_s\":0.004,\"lost\":0.07,"
    "\"variation\":0.09955678857942765},\"held_out\":0.07,\"not_measured\":["
    "\"a-thing\"],\"series\":[{\"op\":\"broadcast\",\"ranks\":4,\"nodes\":1,"
    "\"level\":\"node\",\"chosen\":\"log\",\"points\":[{\"size_B\":8,\"n\":20,"
    "\"launches\":2,\"slow\":3,\"median_s\":2e-06,"
    "\"low_s\":1.923076923076923e-06,\"high_s\":2.08e-06,"
    "\"log_s\":4.0079999999999996e-06,\"segments_s\":null,"
    "\"algorithm_s\":null,\"similarity_s\":null,\"log_held_s\":1.5e-06,"
    "\"segments_held_s\":null,\"algorithm_held_s\":null,"
    "\"similarity_held_s\":null},{\"size_B\":64,\"n\":21,\"launches\":3,"
    "\"slow\":0,\"median_s\":3e-06,\"low_s\":2.830188679245283e-06,"
    "\"high_s\":3.18e-06,\"log_s\":4.064e-06,\"segments_s\":null,"
    "\"algorithm_s\":null,\"similarity_s\":null,\"log_held_s\":2.5e-06,"
    "\"segments_held_s\":null,\"algorithm_held_s\":null,"
    "\"similarity_held_s\":null}]},{\"op\":\"broadcast\",\"ranks\":16,"
    "\"nodes\":2,\"level\":\"system\",\"chosen\":\"log\",\"points\":[{\"size_B\":8,"
    "\"n\":1,\"launches\":1,\"slow\":1,\"median_s\":5e-06,\"low_s\":null,"
    "\"high_s\":null,\"log_s\":6.007999999999999e-06,\"segments_s\":null,"
    "\"algorithm_s\":null,\"similarity_s\":null,\"log_held_s\":3.5e-06,"
    "\"segments_held_s\":null,\"algorithm_held_s\":null,"
    "\"similarity_held_s\":null}]},{\"op\":\"all_reduce\",\"ranks\":32,"
    "\"nodes\":4,\"level\":\"system\",\"chosen\":\"log\",\"points\":[{"
    "\"size_B\":1024,\"n\":7,\"launches\":4,\"slow\":2,\"median_s\":9e-06,"
    "\"low_s\":7.2000000000000005e-06,\"high_s\":1.125e-05,\"log_s\":1.5e-05,"
    "\"segments_s\":null,\"algorithm_s\":null,\"similarity_s\":null,"
    "\"log_held_s\":null,\"segments_held_s\":null,\"algorithm_held_s\":null,"
    "\"similarity_held_s\":null}]}],\"sources\":[{\"file\":\"f.txt\","
    "\"tool\":\"nccl-tests\",\"tool_version\":\"2\",\"setup\":\"s\","
    "\"dtype\":\"float\",\"ranks\":5,\"nodes\":6,\"ranks_per_node\":7}],"
    "\"operations\":[{\"op\":\"broadcast\",\"series\":\"mine\",\"chosen\":\"log\","
    "\"log\":{\"residuals\":{\"median\":0.05,\"p90\":0.06,\"rmse_log2\":0.5,"
    "\"points\":3},\"held_sizes\":{\"median\":0.07,\"p90\":0.08,"
    "\"rmse_log2\":0.5,\"points\":2},\"held_ranks\":null,\"parameters\":{"
    "\"form\":\"log\",\"message\":\"total\",\"c1\":\"1.000us\",\"c2\":\"1.000ns/B\","
    "\"c3\":\"2.000us\",\"residuals\":{\"median\":0,\"p90\":0,\"points\":0}}},"
    "\"segments\":null,\"algorithm\":null,\"similarity\":null},{"
    "\"op\":\"all_reduce\",\"series\":\"\",\"chosen\":\"log\",\"log\":{\"residuals\":{"
    "\"median\":0.5,\"p90\":0.6,\"rmse_log2\":0.5,\"points\":1},"
    "\"held_sizes\":null,\"held_ranks\":{\"median\":0.9,\"p90\":0.95,"
    "\"rmse_log2\":0.5,\"points\":1},\"parameters\":{\"form\":\"log\","
    "\"message\":\"total\",\"c1\":\"3.000us\",\"c2\":\"0s/B\",\"c3\":\"0s\","
    "\"residuals\":{\"median\":0,\"p90\":0,\"points\":0}}},\"segments\":null,"
    "\"algorithm\":null,\"similarity\":null}],\"gemm\":[{\"dtype\":\"fp64\","
    "\"m\":2,\"n\":4,\"k\":8,\"median_s\":1},{\"dtype\":\"fp64\",\"m\":2,\"n\":4,"
    "\"k\":128,\"median_s\":2},{\"dtype\":\"fp64\",\"m\":2,\"n\":8,\"k\":8,"
    "\"median_s\":3},{\"dtype\":\"fp64\",\"m\":2,\"n\":8,\"k\":128,\"median_s\":4},{"
    "\"dtype\":\"fp64\",\"m\":2,\"n\":64,\"k\":8,\"median_s\":5},{\"dtype\":\"fp64\","
    "\"m\":2,\"n\":64,\"k\":128,\"median_s\":6},{\"dtype\":\"fp64\",\"m\":16,\"n\":4,"
    "\"k\":8,\"median_s\":7},{\"dtype\":\"fp64\",\"m\":16,\"n\":4,\"k\":128,"
    "\"median_s\":8},{\"dtype\":\"fp64\",\"m\":16,\"n\":8,\"k\":8,\"median_s\":9},{"
    "\"dtype\":\"fp64\",\"m\":16,\"n\":8,\"k\":128,\"median_s\":10},{"
    "\"dtype\":\"fp64\",\"m\":16,\"n\":64,\"k\":8,\"median_s\":11},{\"dtype\":\"fp64\","
    "\"m\":16,\"n\":64,\"k\":128,\"median_s\":12},{\"dtype\":\"bf16\",\"m\":2,\"n\":4,"
    "\"k\":8,\"median_s\":1}],\"products\":[],\"gemm_left_out\":{\"fp64\":{\"median\":0.03,"
    "\"p90\":0.2,\"rmse_log2\":0.5,\"points\":6},\"bf16\":null}}";

static void for_a_person(void **state) {
    struct fr_fit_result r = by_hand();
    struct fr_text text = {0};
    (void)state;
    fr_fit_print(&r, &text);
    assert_string_equal(fr_text_get(&text), table);
    fr_text_free(&text);
}

/* An error of any size keeps its columns: a rank that waited for a core made one of 120,599 %. */
static void errors_keep_their_columns(void **state) {
    (void)state;
    for (double scale = 1; scale < 1e12; scale *= 3.1) {
        struct fr_fit_result r = by_hand();
        struct fr_text text = {0};
        for (int i = 0; i < FR_OP_COUNT; i++)
            for (int c = 0; c < r.ops[i].n_curves; c++)
                for (int f = 0; f < FR_FIT_FORMS; f++) {
                    r.ops[i].curves[c].quality[f].median *= scale;
                    r.ops[i].curves[c].quality[f].p90 *= scale;
                    r.ops[i].candidate[f].held_sizes.p90 *= scale;
                }
        fr_fit_print(&r, &text);
        size_t bytes;
        for (const char *at = fr_text_get(&text); *at; at += bytes + (at[bytes] == '\n')) {
            bytes = strcspn(at, "\n");
            FR_TRUE(bytes <= 80, "scaled by %g: %.*s", scale, (int)bytes, at);
        }
        fr_text_free(&text);
        fr_fit_brief(&r, scale < 1e6 ? "cluster.json" : NULL, "samples.jsonl", &text);
        fr_screen_fits("fr_fit_brief", fr_text_get(&text));
        fr_text_free(&text);
    }
}

static void for_a_program(void **state) {
    struct fr_fit_result r = by_hand();
    const struct fr_samples samples = {.source = &source, .n_source = 1};
    struct fr_text text = {0};
    (void)state;
    fr_fit_json(&text, &samples, &r);
    char *to = text.data;
    for (const char *at = text.data; *at; at++)
        if (*at != ' ' && *at != '\n') *to++ = *at;
    *to = '\0';
    char *version = strstr(text.data, "\"version\""), *after = strchr(version, ',') + 1;
    memmove(version, after, strlen(after) + 1);
    assert_string_equal(text.data, document);
    fr_text_free(&text);
}

/* Forms fitted to products of others: each value, width, error and range stands in what a person and in what a program
 * reads, of every dtype that has some. */
static void products_of_others(void **state) {
    static const char *const names[FR_PRODUCT_VALUES] = {"peak", "half_dim"};
    const struct fr_samples none = {.n_source = 0};
    (void)state;
    for (int which = 1; which < 4; which++) { /* the first dtype, the last, both */
        struct fr_fit_result r = by_hand();
        struct fr_text text = {0};
        struct fr_json_document *read = NULL;
        int at = 0;
        for (int d = 0; d < 2; d++) {
            if (!(which >> d & 1)) continue;
            struct fr_fit_singles *s = &r.singles[d ? FR_DTYPE_COUNT - 1 : 0];
            s->n = 40 + d;
            for (int k = 0; k < FR_PRODUCT_VALUES; k++) {
                s->names[k] = names[k];
                s->value[k] = 11 + 2 * k + d, s->sigma[k] = 0.15 + 0.02 * k + 0.01 * d;
            }
            for (int k = 0; k < 3; k++)
                s->least[k] = 64 + k + 8 * d, s->most[k] = 640 + k + 8 * d;
            s->quality = (struct fr_fit_quality)Q(40, 0.031 + d * 0.1, 0.047 + d * 0.1);
            if (d) s->held_out = (struct fr_fit_quality)Q(20, 0.053, 0.071);
        }
        fr_fit_print(&r, &text);
        for (int d = 0; d < 2; d++) {
            char want[600];
            snprintf(want, sizeof want,
                     "products %s: %d of others, to the base's form:\n"
                     "  peak %d (a deviation of %d %%), half_dim %d (a deviation of %d %%)\n"
                     "  errors: median %.1f %%, p90 %.1f %%\n%s"
                     "  m %d to %d, n %d to %d, k %d to %d: beyond is extrapolated\n",
                     fr_dtype_names[d ? FR_DTYPE_COUNT - 1 : 0], 40 + d, 11 + d, 15 + d, 13 + d,
                     17 + d, 3.1 + 10 * d, 4.7 + 10 * d,
                     d ? "  every second from the others: median 5.3 %, p90 7.1 %\n" : "",
                     64 + 8 * d, 640 + 8 * d, 65 + 8 * d, 641 + 8 * d, 66 + 8 * d, 642 + 8 * d);
            FR_TRUE((strstr(fr_text_get(&text), want) != NULL) == (which >> d & 1), "%s in %s",
                    want, fr_text_get(&text));
        }
        fr_text_free(&text);
        fr_fit_json(&text, &none, &r);
        assert_int_equal(fr_json_parse(text.data, text.length, "fit", &read, NULL), FR_OK);
        struct fr_json root = fr_json_root(read), all = fr_json_member(&root, "products");
        assert_int_equal(fr_json_array_length(&all), which == 3 ? 2 : 1);
        for (int d = 0; d < 2; d++) {
            if (!(which >> d & 1)) continue;
            struct fr_json one = fr_json_element(&all, at++),
                           values = fr_json_member(&one, "values"),
                           widths = fr_json_member(&one, "widths"),
                           fitted = fr_json_member(&one, "fitted"),
                           held = fr_json_member(&one, "held_out");
            assert_string_equal(fr_json_text_at(&one, "dtype"),
                                fr_dtype_names[d ? FR_DTYPE_COUNT - 1 : 0]);
            FR_NEAR(fr_json_number_at(&one, "n"), 40 + d, 0);
            for (int k = 0; k < FR_PRODUCT_VALUES; k++) {
                FR_NEAR(fr_json_number_at(&values, names[k]), 11 + 2 * k + d, 0);
                FR_NEAR(fr_json_number_at(&widths, names[k]), 0.15 + 0.02 * k + 0.01 * d,
                        1e-12);
            }
            FR_NEAR(fr_json_number_at(&fitted, "median"), 0.031 + d * 0.1, 1e-12);
            assert_int_equal(fr_json_is_object(&held), d == 1);
            if (d) FR_NEAR(fr_json_number_at(&held, "p90"), 0.071, 1e-12);
        }
        fr_json_free(read);
        fr_text_free(&text);
    }
}

/* Nothing measured: no rows, nulls. */
static void of_nothing(void **state) {
    static struct fr_fit_result none;
    struct fr_text text = {0};
    const struct fr_samples samples = {.n_source = 0};
    (void)state;
    fr_fit_print(&none, &text);
    FR_TRUE(strstr(fr_text_get(&text),
                   "0 points, 0 samples; 0 medians known no better than 5 %;\n"
                   "  0 samples disturbed (kept)\n"),
            "%s", fr_text_get(&text));
    FR_TRUE(!strstr(fr_text_get(&text), "level ") || !strstr(fr_text_get(&text), "products "),
            "%s", fr_text_get(&text));
    fr_text_free(&text);
    fr_fit_brief(&none, "cluster.json", "samples.jsonl", &text);
    fr_screen_fits("fr_fit_brief of nothing", fr_text_get(&text));
    fr_text_free(&text);
    fr_fit_json(&text, &samples, &none);
    static const char *const nulls[] = {"usual_products",  "usual_memory",
                                        "speed_variation", "interrupted_every_s",
                                        "interruption_s",  "clock_resolution_s"};
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "\"%s\": null", nulls[i]);
        FR_TRUE(strstr(fr_text_get(&text), wanted), "%s", wanted);
    }
    fr_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(for_a_person), cmocka_unit_test(errors_keep_their_columns),
        cmocka_unit_test(for_a_program), cmocka_unit_test(products_of_others),
        cmocka_unit_test(of_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Layer times from whole runs: what made the runs is found again, for each width, tp and micro-batch. */
#include "trust/profile_fit.h"

#include <math.h>

#include "models/job/preset.h"
#include "tests/cmocka.h"

static void make_cluster(struct fr_cluster *cluster) {
    struct fr_json_document *document = NULL;
    assert_int_equal(fr_preset_or_file_read("cluster", "dgx-a100", &document, NULL), FR_OK);
    assert_int_equal(fr_cluster_read(document, cluster, NULL), FR_OK);
    fr_json_free(document);
}

/* 32 samples over dp 2 in micro-batches of @p micro. */
static void make(struct fr_run *run, int layers, int hidden, int tp, int micro) {
    struct fr_run_row row = {0};
    fr_run_skip skip;
    struct fr_error err = {0};
    const struct fr_run_place place = {.where = "row"};
    fr_run_row_set(&row, "id", "r");
    fr_run_row_set(&row, "model", "gpt-2.5b");
    fr_run_row_set(&row, "model.dtype", "fp16");
    fr_run_row_set(&row, "model.layers", "%d", layers);
    fr_run_row_set(&row, "model.hidden", "%d", hidden);
    fr_run_row_set(&row, "plan.dp", "2");
    fr_run_row_set(&row, "plan.tp", "%d", tp);
    fr_run_row_set(&row, "plan.micro_batch", "%d", micro);
    fr_run_row_set(&row, "plan.global_batch", "32");
    fr_run_row_set(&row, "measured_s", "1");
    if (fr_run_make(&row, &place, run, &skip, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
}

static void measure(const struct fr_cluster *cluster, struct fr_run *run,
                    struct fr_layer_profile *truth) {
    run->workload.profile = truth;
    run->workload.n_profile = 1;
    run->measured_s = fr_run_predict_s(cluster, run);
    run->workload.profile = NULL;
    run->workload.n_profile = 0;
}

static void near_row(const struct fr_fitted_profile *got, double layer_s, double logits_s,
                     double tolerance) {
    FR_NEAR(got->row.forward_s, layer_s / 3, tolerance);
    FR_NEAR(got->row.backward_s, layer_s * 2 / 3, tolerance);
    FR_NEAR(got->row.logits_forward_s, logits_s / 3, tolerance);
    FR_NEAR(got->row.logits_backward_s, logits_s * 2 / 3, tolerance);
}

enum { N = 9 };

static void what_made_the_runs_is_found(void **state) {
    struct fr_cluster cluster;
    struct fr_run runs[N];
    const struct fr_run *list[N];
    struct fr_fitted_profile profiles[N];
    static const struct {
        int hidden, tp, micro;
        double layer_s, logits_s;
    } kinds[] = {{1920, 1, 4, 30e-3, 12e-3}, {1920, 2, 4, 17e-3, 8e-3}, {3840, 1, 2, 55e-3, 0}};
    int count = 0;
    (void)state;
    make_cluster(&cluster);
    for (int i = 0; i < N; i++) {
        int k = i % 3;
        struct fr_layer_profile truth = {.tp = kinds[k].tp,
                                         .micro_batch = kinds[k].micro,
                                         .forward_s = kinds[k].layer_s / 3,
                                         .backward_s = kinds[k].layer_s * 2 / 3,
                                         .logits_forward_s = kinds[k].logits_s / 3,
                                         .logits_backward_s = kinds[k].logits_s * 2 / 3};
        make(&runs[i], 4 << i / 3, kinds[k].hidden, kinds[k].tp, kinds[k].micro);
        measure(&cluster, &runs[i], &truth);
        list[i] = &runs[i];
    }
    assert_int_equal(fr_profile_fit(&cluster, list, N, profiles, &count, NULL), FR_OK);
    assert_int_equal(count, 3);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(profiles[k].hidden, kinds[k].hidden);
        assert_int_equal(profiles[k].row.tp, kinds[k].tp);
        assert_int_equal(profiles[k].row.micro_batch, kinds[k].micro);
        if (kinds[k].logits_s > 0)
            near_row(&profiles[k], kinds[k].layer_s, kinds[k].logits_s, 1e-4);
        else
            FR_NEAR(profiles[k].row.forward_s, kinds[k].layer_s / 3, 1e-4);
    }
    /* A fit predicts the points that it was fitted to; a width without points gets none. */
    for (int i = 0; i < N; i++) {
        assert_true(fr_profile_use(&runs[i], profiles, count));
        assert_int_equal(runs[i].workload.n_profile, 1);
        assert_ptr_equal(runs[i].workload.profile, &profiles[i % 3].row);
        FR_NEAR(fr_run_predict_s(&cluster, &runs[i]), runs[i].measured_s, 1e-4);
        runs[i].workload.transformer.hidden += 64;
        assert_false(fr_profile_use(&runs[i], profiles, count));
        assert_true(!runs[i].workload.profile && runs[i].workload.n_profile == 0);
        fr_run_free(&runs[i]);
    }
    fr_cluster_free(&cluster);
}

/* Runs of one depth do not tell logits from layers: then they take as long as two. */
static void one_depth_ties_the_logits(void **state) {
    struct fr_cluster cluster;
    struct fr_run runs[3];
    const struct fr_run *list[3];
    struct fr_fitted_profile profile;
    int count = 0;
    (void)state;
    make_cluster(&cluster);
    struct fr_layer_profile truth = {.tp = 1,
                                     .micro_batch = 4,
                                     .forward_s = 10e-3,
                                     .backward_s = 20e-3,
                                     .logits_forward_s = 5e-3,
                                     .logits_backward_s = 10e-3};
    for (int i = 0; i < 3; i++) {
        make(&runs[i], 8, 1920, 1, 4);
        measure(&cluster, &runs[i], &truth);
        list[i] = &runs[i];
    }
    assert_int_equal(fr_profile_fit(&cluster, list, 3, &profile, &count, NULL), FR_OK);
    assert_int_equal(count, 1);
    double all_s = 8 * 30e-3 + 15e-3;
    near_row(&profile, all_s / 10, all_s / 10 * 2, 1e-3);
    for (int i = 0; i < 3; i++) fr_run_free(&runs[i]);
    fr_cluster_free(&cluster);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_made_the_runs_is_found),
                                       cmocka_unit_test(one_depth_ties_the_logits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Devices and their software, apart: both are found again from rows of two releases. */
#include "trust/apart/apart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/job/preset.h"
#include "models/job/runtime.h"
#include "tests/cmocka.h"

enum { N = 48 };

static const char *const releases[] = {"nemo-25.04", "megatron-bridge-26.06"};

/* The machine and each release have these errors, over what their files say. */
static const double efficiency = 0.9, memory = 1.1, flash[] = {0.75, 1.15}, host[] = {1.6, 0.7};

static void make_cluster(const char *name, const char *software, struct fr_cluster *cluster) {
    struct fr_json_document *document = NULL;
    struct fr_runtime runtime;
    assert_int_equal(fr_preset_or_file_read("cluster", name, &document, NULL), FR_OK);
    assert_int_equal(fr_cluster_read_bare(document, cluster, NULL), FR_OK);
    assert_int_equal(fr_runtime_read(software, &runtime, NULL), FR_OK);
    assert_int_equal(fr_runtime_equip(&runtime, document, cluster, NULL), FR_OK);
    fr_runtime_free(&runtime);
    fr_json_free(document);
}

/* With what release @p r makes of it; and as what a machine is that the rows are of. */
static struct fr_cluster truth_of(const struct fr_cluster *cluster, int r, bool machine) {
    struct fr_cluster truth = *cluster;
    truth.device.attention.flash = fmin(1, truth.device.attention.flash * flash[r]);
    truth.device.host_launch_s *= host[r];
    if (machine) truth.device.gemm[FR_BF16].tiles.efficiency *= efficiency;
    if (machine) truth.device.memory_rate_B_per_s *= memory;
    return truth;
}

/* Uniform, of a standard deviation of 2 %. */
static double noise(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return exp(0.02 * sqrt(12) * (*state / 4294967296.0 - 0.5));
}

struct fixture {
    struct fr_cluster on[2];
    struct fr_run runs[N];
    const struct fr_run *use[N];
};

/* Every other row of either release: long sequences for attention, small micro-batches for the host. */
static void make(struct fixture *f) {
    uint32_t state = 7;
    for (int r = 0; r < 2; r++) make_cluster("dgx-h100", releases[r], &f->on[r]);
    for (int i = 0; i < N; i++) {
        const struct fr_run_place place = {.where = "row"};
        const int k = i / 2;
        struct fr_run_row row = {0};
        struct fr_error err = {0};
        fr_run_skip skip;
        fr_run_row_set(&row, "id", "%d", i);
        fr_run_row_set(&row, "model", "gpt-2.5b");
        fr_run_row_set(&row, "model.dtype", "bf16");
        fr_run_row_set(&row, "model.sequence", "%d",
                       k % 3 == 0   ? 512
                       : k % 3 == 1 ? 4096
                                    : 32768);
        fr_run_row_set(&row, "plan.attention", "flash");
        fr_run_row_set(&row, "plan.tp", "%d", 1 << k / 3 % 4);
        fr_run_row_set(&row, "plan.micro_batch", "%d", k / 12 + 1);
        fr_run_row_set(&row, "plan.global_batch", "16");
        fr_run_row_set(&row, "measured_s", "1");
        if (fr_run_make(&row, &place, &f->runs[i], &skip, &err) != FR_OK)
            fail_msg("%s", err.detail);
        const struct fr_cluster truth = truth_of(&f->on[i % 2], i % 2, true);
        f->runs[i].measured_s = fr_run_predict_s(&truth, &f->runs[i]) * noise(&state);
        f->runs[i].cluster = &f->on[i % 2];
        f->use[i] = &f->runs[i];
    }
}

static void drop(struct fixture *f) {
    for (int i = 0; i < N; i++) fr_run_free(&f->runs[i]);
    for (int r = 0; r < 2; r++) fr_cluster_free(&f->on[r]);
    free(f);
}

/* The value of a coefficient, of a release or (NULL) of the machine. */
static const struct fr_apart_value *find(const struct fr_apart *a, const char *name,
                                         const char *release) {
    for (int k = 0; k < a->n; k++) {
        const struct fr_apart_scope *scope = &a->scope[a->value[k].scope];
        if (strcmp(fr_coefficients[a->value[k].coefficient].name, name) == 0 &&
            scope->software == (release != NULL) &&
            (!release || strcmp(scope->name, release) == 0))
            return &a->value[k];
    }
    fail_msg("no %s of %s", name, release ? release : "the machine");
    return NULL;
}

static void is_within(const struct fr_apart_value *v, double factor) {
    double off = log(v->value / v->prior / factor);
    FR_TRUE(fabs(off) < 1.645 * v->sigma, "%s: off by %.3f, sure to %.3f",
            fr_coefficients[v->coefficient].name, off, v->sigma);
    FR_TRUE(v->sigma < v->sigma_prior, "%s: learned nothing",
            fr_coefficients[v->coefficient].name);
}

static struct fr_apart *tune(struct fixture *f, const struct fr_run *const *use, int n) {
    struct fr_apart *a = calloc(1, sizeof *a);
    struct fr_error err = {0};
    assert_non_null(a);
    if (fr_tune_apart(&f->on[0], use, n, 0, 2, a, &err) != FR_OK) fail_msg("%s", err.detail);
    return a;
}

static void both_come_back(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    (void)state;
    make(f);
    struct fr_apart *a = tune(f, f->use, N);
    assert_int_equal(a->n_scopes, 3); /* one machine, two releases */
    FR_TRUE(a->mean_error < 0.025, "mean error %.3f", a->mean_error);
    is_within(find(a, "efficiency", NULL), efficiency);
    is_within(find(a, "memory_bandwidth", NULL), memory);
    for (int r = 0; r < 2; r++) {
        is_within(find(a, "flash_attention", releases[r]), flash[r]);
        is_within(find(a, "host_launch", releases[r]), host[r]);
    }
    free(a);
    drop(f);
}

/* Another release's effect on its own rows does not matter to this one. */
static void other_rows_change_nothing(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    (void)state;
    make(f);
    struct fr_apart *before = tune(f, f->use, N);
    for (int i = 1; i < N; i += 2) { /* 30 % slower attention of the second */
        struct fr_cluster truth = truth_of(&f->on[1], 1, true), slower = truth;
        slower.device.attention.flash *= 0.7;
        f->runs[i].cluster = NULL;
        f->runs[i].measured_s *=
            fr_run_predict_s(&slower, &f->runs[i]) / fr_run_predict_s(&truth, &f->runs[i]);
        f->runs[i].cluster = &f->on[1];
    }
    struct fr_apart *after = tune(f, f->use, N);
    static const char *const names[] = {"flash_attention", "host_launch"};
    for (int k = 0; k < 2; k++)
        FR_NEAR(find(after, names[k], releases[0])->value /
                    find(before, names[k], releases[0])->value,
                1, 0.02);
    FR_TRUE(find(after, "flash_attention", releases[1])->value <
                0.85 * find(before, "flash_attention", releases[1])->value,
            "its own has %g", find(after, "flash_attention", releases[1])->value);
    free(before);
    free(after);
    drop(f);
}

/* A runtime learnt on one machine, written and read, on another machine of that generation. */
static void it_serves_another_machine(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    double learnt = 0, preset = 0;
    (void)state;
    make(f);
    struct fr_apart *a = tune(f, f->use, N);
    int s = find(a, "flash_attention", releases[0])->scope;
    fr_apart_runtime_put(a, s, "ours", "runs.csv", &w);
    struct fr_cluster with, without;
    make_cluster("dgx-h200", fr_text_get(&text), &with);
    make_cluster("dgx-h200", releases[0], &without);
    assert_string_equal(with.runtime, "ours");
    const struct fr_cluster truth = truth_of(&without, 0, false);
    for (int i = 0; i < N; i += 2) {
        f->runs[i].cluster = NULL;
        double time_s = fr_run_predict_s(&truth, &f->runs[i]);
        learnt += fabs(log(fr_run_predict_s(&with, &f->runs[i]) / time_s));
        preset += fabs(log(fr_run_predict_s(&without, &f->runs[i]) / time_s));
    }
    FR_TRUE(learnt < 0.5 * preset, "%.3f against %.3f", learnt / (N / 2), preset / (N / 2));
    fr_cluster_free(&with);
    fr_cluster_free(&without);
    fr_text_free(&text);
    free(a);
    drop(f);
}

/* One release on two machines of a generation: its values are one, theirs are two. */
static void one_release_of_two_machines(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    uint32_t jitter = 11;
    (void)state;
    make(f);
    fr_cluster_free(&f->on[1]);
    make_cluster("dgx-h200", releases[0], &f->on[1]);
    for (int i = 0; i < N; i++) {
        struct fr_cluster truth = truth_of(&f->on[i % 2], 0, false);
        truth.device.gemm[FR_BF16].tiles.efficiency *= i % 2 ? 1 : 0.85;
        f->runs[i].cluster = NULL;
        f->runs[i].measured_s = fr_run_predict_s(&truth, &f->runs[i]) * noise(&jitter);
        f->runs[i].cluster = &f->on[i % 2];
    }
    struct fr_apart *a = tune(f, f->use, N);
    assert_int_equal(a->n_scopes, 3); /* two machines, one release */
    is_within(find(a, "flash_attention", releases[0]), flash[0]);
    is_within(find(a, "host_launch", releases[0]), host[0]);
    for (int k = 0; k < a->n; k++)
        if (strcmp(fr_coefficients[a->value[k].coefficient].name, "efficiency") == 0)
            is_within(&a->value[k],
                      strcmp(a->scope[a->value[k].scope].name, "dgx-h200") == 0 ? 1 : 0.85);
    free(a);
    drop(f);
}

/* The machine's file has what the rows taught of it, and nothing of software. */
static void a_cluster_is_silicon(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    struct fr_json_document *document = NULL;
    struct fr_cluster read;
    (void)state;
    make(f);
    struct fr_apart *a = tune(f, f->use, N);
    const struct fr_apart_value *v = find(a, "efficiency", NULL);
    assert_int_equal(fr_preset_or_file_read("cluster", "dgx-h100", &document, NULL), FR_OK);
    assert_int_equal(fr_apart_cluster_set(a, v->scope, document, NULL), FR_OK);
    assert_int_equal(fr_cluster_read(document, &read, NULL), FR_OK);
    FR_NEAR(read.device.gemm[FR_BF16].tiles.efficiency / v->value, 1, 1e-9);
    FR_NEAR(read.uncertainty.sigma[FR_VALUE_EFFICIENCY][FR_BF16] / v->sigma, 1, 1e-9);
    assert_string_equal(read.software, "");
    assert_true(read.device.host_launch_s == f->on[1].device.host_launch_s);
    fr_cluster_free(&read);
    fr_json_free(document);
    free(a);
    drop(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_come_back), cmocka_unit_test(other_rows_change_nothing),
        cmocka_unit_test(it_serves_another_machine),
        cmocka_unit_test(one_release_of_two_machines), cmocka_unit_test(a_cluster_is_silicon)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* How surely a plan fits: by hand on published runs, laws of the formula, and what states its terms. */
#include <math.h>

#include "base/text.h"
#include "models/job/preset.h"
#include "models/outcome/cost.h"
#include "models/outcome/fits/fits.h"
#include "models/outcome/memory.h"
#include "tests/job.h"

static const struct fr_shown usual = {.least = 1.05,
                                      .least_deviation = 0.03,
                                      .reserved = 1.045,
                                      .reserved_deviation = 0.02,
                                      .context_B = 0.8e9,
                                      .first_B = 0.39e9,
                                      .each_B = 0.6e9,
                                      .all_to_all_B = 3.3e9,
                                      .deviation_B = 0.6e9};

static struct fr_outcome given(const struct fr_job *job, double peak_B, int groups) {
    struct fr_outcome out = {
        .plan = job->plan, .ranks = 32, .time_s = 1, .parameters = 1, .memory_peak_B = peak_B};
    int64_t *axes[] = {&out.plan.tp, &out.plan.pp, &out.plan.dp, &out.plan.cp};
    for (int i = 0; i < 4; i++) *axes[i] = i < groups ? 2 : 1;
    fr_fits_add(job, &out);
    return out;
}

/* Runs of which it is known whether they ran, by the tensors that were counted for each. */
static void published_runs(void **state) {
    static const struct {
        const char *run;
        double peak_B, memory_B;
        int groups;
        double least, most; /* of the probability */
    } rows[] = {
        {"Megatron-Bridge 3107, 5 virtual stages: 40 to 70 % of the time", 77.0e9, 85.52e9, 4,
         0.3, 0.8},
        {"torchtitan 1690, batch 1", 78.4 * 1.073741824e9, 95 * 1.073741824e9, 1, 0.95, 1},
        {"torchtitan 1690, batch 64: out of memory", 105e9, 95 * 1.073741824e9, 1, 0, 0.05},
        {"half of the device", 40e9, 80e9, 4, 0.999, 1},
        {"all of the device", 80e9, 80e9, 4, 0, 0.05},
    };
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", NULL, &job);
    job.cluster.device.shown = usual;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        job.cluster.device.memory_B = rows[i].memory_B;
        struct fr_outcome out = given(&job, rows[i].peak_B, rows[i].groups);
        double got = fr_fits_of(&job, &out).probability;
        FR_TRUE(got >= rows[i].least && got <= rows[i].most, "%s: %.3f", rows[i].run, got);
        FR_TRUE((out.reasons != 0) == (got < 0.05), "%s: %.3f", rows[i].run, got);
    }
    fr_job_free(&job);
}

/* Each term by hand. */
static void by_hand(void **state) {
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", NULL, &job);
    job.cluster.device.shown = usual;
    job.cluster.device.memory_B = 85e9;
    struct fr_outcome out = given(&job, 70e9, 3);
    double s = FR_MEMORY_SPREAD, beside_B = 0.8e9 + 0.39e9 + 3 * 0.6e9, least_B = 1.05 * 70e9;
    double z = (85e9 - least_B - beside_B) /
               sqrt(least_B * least_B * (s * s + 0.03 * 0.03) + 0.6e9 * 0.6e9);
    FR_NEAR(out.memory_spare, z, 1e-12);
    struct fr_fits f = fr_fits_of(&job, &out);
    FR_NEAR(f.reserved_B, 1.045 * 70e9, 1e-12);
    FR_NEAR(f.shown_B, 1.045 * 70e9 + beside_B, 1e-12);
    FR_NEAR(f.needed_B, least_B + beside_B, 1e-12);
    FR_NEAR(f.probability, (1 + erf(z / sqrt(2))) / 2, 1e-12);
    FR_NEAR((f.needed_B + f.needed_high_B - f.needed_low_B) - f.needed_B,
            2 * 1.6448536269514722 * (85e9 - f.needed_B) / z, 1e-9);
    out.plan.ep = 4; /* one more axis, all to all of three peers */
    fr_fits_add(&job, &out);
    FR_NEAR(fr_fits_of(&job, &out).needed_B, f.needed_B + 0.6e9 + 3.3e9 * 3 / 7, 1e-12);
    out.plan.ep = 64; /* of seven at most */
    FR_NEAR(fr_fits_of(&job, &out).needed_B, f.needed_B + 0.6e9 + 3.3e9, 1e-12);
    out.plan = job.plan;
    out.ranks = 1; /* no communicator */
    FR_NEAR(fr_fits_of(&job, &out).needed_B, least_B + 0.8e9, 1e-12);
    job.cluster.device.shown.margin = true; /* it is in the peak */
    FR_NEAR(fr_fits_of(&job, &out).needed_B, 70e9 + 0.8e9, 1e-12);
    FR_NEAR(fr_fits_of(&job, &out).reserved_B, 70e9, 1e-12);
    job.cluster.device.memory_B = 0;
    out.reasons = 0;
    fr_fits_add(&job, &out);
    assert_true(isnan(out.memory_spare) && isnan(fr_fits_of(&job, &out).probability));
    assert_int_equal(out.reasons, 0);
    fr_job_free(&job);
}

/* More memory makes no plan surer; more uncertainty moves it towards even odds. */
static void more_is_no_surer(void **state) {
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", NULL, &job);
    for (double peak_B = 30e9; peak_B < 100e9; peak_B *= 1.07) {
        struct fr_shown *s = &job.cluster.device.shown;
        double *more[] = {&s->least, &s->context_B, &s->first_B, &s->each_B},
               *vaguer[] = {&s->least_deviation, &s->deviation_B};
        *s = usual;
        double before = given(&job, peak_B, 3).memory_spare;
        FR_TRUE(given(&job, 1.01 * peak_B, 3).memory_spare < before, "%g B", peak_B);
        FR_TRUE(given(&job, peak_B, 4).memory_spare < before, "%g B", peak_B);
        for (int i = 0; i < 4; i++) {
            *s = usual;
            *more[i] *= 1.1;
            FR_TRUE(given(&job, peak_B, 3).memory_spare < before, "term %d of %g B", i, peak_B);
        }
        for (int i = 0; i < 2; i++) {
            *s = usual;
            *vaguer[i] *= 1.5;
            FR_TRUE(fabs(given(&job, peak_B, 3).memory_spare) < fabs(before),
                    "spread %d of %g B", i, peak_B);
        }
    }
    fr_job_free(&job);
}

static void levels_and_words(void **state) {
    static const double levels[] = {0.001, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.999};
    char text[FR_FITS_PERCENT], line[FR_FITS_LINE];
    (void)state;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        FR_NEAR(fr_fits_probability(fr_fits_spare(levels[i])), levels[i], 1e-12);
    FR_NEAR(fr_fits_spare(0.05), FR_FITS_REFUSED, 1e-12);
    assert_true(fr_fits_spare(0) == -INFINITY && fr_fits_spare(1) == INFINITY);
    assert_string_equal(fr_fits_percent(0.982, text), "98.2 %");
    assert_string_equal(fr_fits_percent(1, text), "over 99.9 %");
    assert_string_equal(fr_fits_percent(1e-9, text), "under 0.1 %");
    struct fr_fits f = {.memory_B = 79.6e9,
                        .needed_B = 71.2e9,
                        .needed_low_B = 66.1e9,
                        .needed_high_B = 76.3e9,
                        .probability = 0.982};
    assert_string_equal(fr_fits_line(&f, line),
                        "fits with 98.2 %: 71.2 of 79.6 GB, 66.1 to 76.3");
    f.memory_B = 64e12;
    assert_string_equal(fr_fits_line(&f, line),
                        "fits with 98.2 %: 0.0712 of 64.0 TB, 0.0661 to 0.0763");
    f.probability = f.memory_B = NAN;
    assert_string_equal(fr_fits_line(&f, line), "needs 71.2 GB, 66.1 to 76.3");
}

/* A cluster's own value wins, --set of the runtime wins over that of its file, 2019 and TPUs say nothing. */
static void who_states_it(void **state) {
    static const struct {
        const char *cluster, *sets[4];
        double least, context_B;
    } rows[] = {
        {"dgx-h100", {"runtime=megatron-bridge-26.06"}, 1.05, 0.8e9},
        {"dgx-h100", {"runtime=torchtitan-2025"}, 1.017, 0.8e9},
        {"dgx-h100",
         {"runtime=torchtitan-2025", "cluster.device.allocator.least=1.2"},
         1.2,
         0.8e9},
        {"dgx-h100", {"runtime=torchtitan-2025", "cluster.device.context=2 GB"}, 1.017, 2e9},
        {"dgx-h100",
         {"runtime=megatron-bridge-26.06", "runtime.allocator.least=1.1"},
         1.1,
         0.8e9},
        {"dgx-h100", {"runtime=papers-2019"}, 0, 0},
        {"mi300x", {"runtime=primus-2026"}, 1.05, 0.8e9},
        {"tpu-v5p", {"runtime=maxtext-2025"}, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_job job;
        fr_test_job(rows[i].cluster, "llama-3-8b", rows[i].sets, &job);
        const struct fr_shown *s = &job.cluster.device.shown;
        FR_TRUE(s->least == rows[i].least && s->context_B == rows[i].context_B,
                "row %zu: %g, %g B", i, s->least, s->context_B);
        fr_job_free(&job);
    }
}

/* No preset of a GPU lets tensors have all of it by accident. */
static void presets_leave_some(void **state) {
    int gpus = 0;
    (void)state;
    for (const struct fr_preset *p = fr_presets; p->name; p++) {
        struct fr_job job;
        struct fr_error err = {0};
        const struct fr_job_names names = {.cluster = p->name, .model = "llama-3-8b"};
        if (strcmp(p->kind, "cluster") != 0) continue;
        if (fr_job_load(&names, &job, &err) != FR_OK) {
            fr_job_free(&job); /* of no such dtype */
            continue;
        }
        const struct fr_device *d = &job.cluster.device;
        bool tpu = strncmp(d->generation, "tpu", 3) == 0,
             gpu = *d->generation && !tpu && strcmp(d->generation, "knl") != 0;
        FR_TRUE(!gpu || d->memory_margin > 0 || (d->shown.least > 1 && d->shown.context_B > 0),
                "%s: %g, %g B", p->name, d->shown.least, d->shown.context_B);
        gpus += gpu;
        fr_job_free(&job);
    }
    FR_TRUE(gpus >= 10, "%d", gpus);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_runs),   cmocka_unit_test(by_hand),
        cmocka_unit_test(more_is_no_surer), cmocka_unit_test(levels_and_words),
        cmocka_unit_test(who_states_it),    cmocka_unit_test(presets_leave_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

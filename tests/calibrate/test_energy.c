/* Laws of clocks and limits find again what made their points; so do power terms from metered runs, and by
 * hand; logs as they are written. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/energy/clock_fit.h"
#include "calibrate/energy/limit_fit.h"
#include "calibrate/energy/line.h"
#include "models/job/preset.h"
#include "models/outcome/cost.h"
#include "models/outcome/energy.h"
#include "tests/cmocka.h"
#include "trust/power_fit.h"
#include "trust/power_report.h"
#include "trust/runs/mllog.h"
#include "trust/tune.h"

static void near_to(double got, double want, double relative, const char *what) {
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%s: got %.10g, wanted %.10g", what, got, want);
}

static void a_line_is_found_and_never_negative(void **state) {
    const double x[] = {1, 2, 4}, y[] = {5, 7, 11}, falling[] = {3, 2, 1}, below[] = {1, 3, 7};
    double constant, slope;
    (void)state;
    fr_line_fit(x, y, 3, &constant, &slope);
    near_to(constant, 3, 1e-12, "constant");
    near_to(slope, 2, 1e-12, "slope");
    fr_line_fit(x, falling, 3, &constant, &slope);
    FR_TRUE(slope == 0 && constant > 1 && constant < 3, "got %g + %g x", constant, slope);
    fr_line_fit(x, below, 3, &constant, &slope); /* 2 x - 1 but for the sign of the 1 */
    FR_TRUE(constant == 0 && slope > 1 && slope < 2, "got %g + %g x", constant, slope);
}

/* Two kinds of work on a device whose knee and slope lie on the fit's grid, one held down by the limit. */
static const struct fr_clock_voltage voltage = {0.7 * 1.4e9, 0.9 / 1.4e9};
static const double LIMIT_W = 400;
static const struct {
    struct fr_clock_power power;
    struct fr_clock_time time;
} work[] = {{{{0.7 * 1.4e9, 0.9 / 1.4e9}, 60, 150e-9}, {0.01, 0.05e9}},
            {{{0.7 * 1.4e9, 0.9 / 1.4e9}, 80, 220e-9}, {0.03, 0.02e9}}};

static struct fr_clock_point measure(int i, double clock_Hz) {
    double steady_Hz = fr_clock_steady_Hz(&work[i].power, clock_Hz, LIMIT_W),
           time_s = fr_clock_time_s(&work[i].time, steady_Hz);
    return (struct fr_clock_point){clock_Hz, time_s,
                                   time_s * fr_clock_power_W(&work[i].power, steady_Hz)};
}

static void a_clocked_device_is_found_again(void **state) {
    static const double clocks_Hz[] = {0.8e9, 0.95e9, 1.05e9, 1.15e9, 1.4e9};
    struct fr_clock_point points[2][5];
    struct fr_clock_series series[2];
    struct fr_clock_fitted fitted[2];
    struct fr_clock_scatter scatter;
    struct fr_error err = {0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 5; k++) points[i][k] = measure(i, clocks_Hz[k]);
        series[i] = (struct fr_clock_series){points[i], 5};
    }
    FR_TRUE(fr_clock_fit(series, 2, fitted, &scatter, &err) == FR_OK, "%s", err.detail);
    near_to(fitted[0].power.voltage.knee_Hz, voltage.knee_Hz, 1e-9, "knee");
    near_to(fitted[0].power.voltage.slope_per_Hz, voltage.slope_per_Hz, 1e-9, "slope");
    FR_TRUE(measure(1, 1.4e9).energy_J / measure(1, 1.4e9).time_s > 399, "no limit was met");
    for (int i = 0; i < 2; i++) {
        near_to(fitted[i].power.static_W, work[i].power.static_W, 1e-6, "static");
        near_to(fitted[i].time.cycles, work[i].time.cycles, 1e-6, "cycles");
        for (double f = 0.85e9; f < 1.4e9; f += 0.05e9) {
            struct fr_clock_point want = measure(i, f);
            near_to(fr_clock_fitted_time_s(&fitted[i], f), want.time_s, 1e-6, "time");
            near_to(fr_clock_fitted_energy_J(&fitted[i], f), want.energy_J, 1e-6, "energy");
        }
    }
    FR_TRUE(scatter.time < 1e-6 && scatter.energy < 1e-6, "scatter %g %g", scatter.time,
            scatter.energy);
}

static void too_little_is_refused(void **state) {
    const struct fr_clock_point points[] = {{1e9, 1, 100}, {1.1e9, 1, 100}, {1.2e9, 0, 1}};
    struct fr_clock_series series = {points, 2};
    struct fr_clock_fitted fitted;
    struct fr_error err = {0};
    (void)state;
    FR_TRUE(fr_clock_fit(&series, 1, &fitted, NULL, &err) == FR_ERR_INPUT, "two clocks fit");
    series.n = 3;
    FR_TRUE(fr_clock_fit(&series, 1, &fitted, NULL, &err) == FR_ERR_INPUT, "0 s fits");
}

/* A training that would draw 260 W without a limit. */
static void a_limited_training_is_found_again(void **state) {
    const struct fr_limit_shape shape = {60, 0.6, 1.6};
    struct fr_limit_fitted truth = {.drawn_W = 260,
                                    .sharpness = 10,
                                    .top = shape.top,
                                    .power = {{1, shape.slope}, shape.static_W, 0},
                                    .time = {100, 500}},
                           got;
    struct fr_limit_point points[9];
    struct fr_error err = {0};
    (void)state;
    truth.power.dynamic_J =
        200 / (shape.top * fr_clock_voltage_squared(&truth.power.voltage, shape.top));
    for (int i = 0; i < 9; i++) {
        double limit_W = 100 + 25 * i;
        points[i] = (struct fr_limit_point){limit_W, fr_limit_time_s(&truth, limit_W),
                                            fr_limit_power_W(&truth, limit_W)};
    }
    struct fr_limit_series series = {points, 9};
    for (int without = 0; without < 9; without++) {
        const struct fr_limit_point *p = &points[without];
        FR_TRUE(fr_limit_fit(&series, without, &shape, &got, &err) == FR_OK, "%s", err.detail);
        near_to(fr_limit_power_W(&got, p->limit_W), p->power_W, 0.01, "power");
        near_to(fr_limit_time_s(&got, p->limit_W), p->time_s, 0.02, "time");
    }
}

/* Knee and slope are searched on a grid: what lies on it is found again to the last digit, corners and all, by
 * which its ends and steps are what they are; what lies beyond an end comes back at it. */
static void every_voltage_of_the_grid_is_found_again(void **state) {
    enum { CLOCKS = 24, KNEES = 37, SLOPES = 25 };
    const double top_Hz = 2e9;
    int tried = 0;
    (void)state;
    for (int i = 0; i < KNEES; i++)
        for (int j = 0; j < SLOPES; j++) {
            struct fr_clock_point points[CLOCKS];
            const struct fr_clock_series series = {points, CLOCKS};
            struct fr_clock_fitted f;
            bool rim = i % (KNEES - 1) == 0 || j % (SLOPES - 1) == 0;
            if (!rim && (i + 5 * j) % 31) continue;
            const struct fr_clock_power law = {
                {(0.5 + 0.0125 * i) * top_Hz, (0.1 + 0.1 * j) / top_Hz}, 50, 100e-9};
            const struct fr_clock_time time = {0.02, 0.06e9};
            for (int k = 0; k < CLOCKS; k++) {
                double f_Hz = top_Hz * (0.4 + 0.6 * k / (CLOCKS - 1)),
                       time_s = fr_clock_time_s(&time, f_Hz);
                points[k] = (struct fr_clock_point){f_Hz, time_s,
                                                    time_s * fr_clock_power_W(&law, f_Hz)};
            }
            assert_int_equal(fr_clock_fit(&series, 1, &f, NULL, NULL), FR_OK);
            FR_NEAR(f.power.voltage.knee_Hz, law.voltage.knee_Hz, 1e-12);
            FR_NEAR(f.power.voltage.slope_per_Hz, law.voltage.slope_per_Hz, 1e-12);
            FR_NEAR(f.power.static_W, 50, 1e-6);
            FR_NEAR(f.time.fixed_s, 0.02, 1e-6);
            FR_NEAR(f.full_Hz, top_Hz, 1e-9);
            tried++;
        }
    FR_TRUE(tried > 140, "%d", tried);
}

/* Error of a point between the ends when it is left out, by hand: two points left make both lines, of power in the
 * clock times the squared voltage and of time in the period. */
static void scatter_is_of_points_left_out(void **state) {
    static const double clock_Hz[] = {1e9, 1.3e9, 2e9},
                        off[2][2] = {{1.03, 0.98}, {0.95, 1.01}}; /* of time, of power */
    struct fr_clock_point points[2][3];
    struct fr_clock_series series[2];
    struct fr_clock_fitted f[2];
    struct fr_clock_scatter scatter;
    double time = 0, energy = 0;
    (void)state;
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            double time_s = (0.01 + 0.05e9 / clock_Hz[k]) * (k == 1 ? off[i][0] : 1),
                   power_W = (40 + 20 * i + 100e-9 * clock_Hz[k]) * (k == 1 ? off[i][1] : 1);
            points[i][k] = (struct fr_clock_point){clock_Hz[k], time_s, time_s * power_W};
        }
        series[i] = (struct fr_clock_series){points[i], 3};
    }
    assert_int_equal(fr_clock_fit(series, 2, f, &scatter, NULL), FR_OK);
    for (int i = 0; i < 2; i++) {
        const struct fr_clock_voltage *v = &f[0].power.voltage;
        double x[3], power_W[3], time_s[3];
        for (int k = 0; k < 3; k++) {
            x[k] = clock_Hz[k] * fr_clock_voltage_squared(v, clock_Hz[k]);
            time_s[k] = points[i][k].time_s, power_W[k] = points[i][k].energy_J / time_s[k];
        }
        double share = (x[1] - x[0]) / (x[2] - x[0]),
               power = power_W[0] + share * (power_W[2] - power_W[0]),
               period =
                   (1 / clock_Hz[1] - 1 / clock_Hz[0]) / (1 / clock_Hz[2] - 1 / clock_Hz[0]),
               takes = time_s[0] + period * (time_s[2] - time_s[0]);
        time += pow(takes / time_s[1] - 1, 2);
        energy += pow(power * takes / points[i][1].energy_J - 1, 2);
    }
    FR_NEAR(scatter.time, sqrt(time / 2), 1e-6);
    FR_NEAR(scatter.energy, sqrt(energy / 2), 1e-6);
    assert_true(scatter.time > 0.01 && scatter.energy > 0.01);
}

/* Each shape once: shares of the least power, slopes, highest clocks, every one of them with every other. */
static void shapes_are_all_that_are_tried(void **state) {
    (void)state;
    for (int i = 0; i < FR_LIMIT_SHAPES; i++) {
        const struct fr_limit_shape s = fr_limit_shape_at(i, 100);
        assert_true(s.static_W >= 40 && s.static_W <= 100 && s.slope >= 0 && s.slope <= 1.5 &&
                    s.top >= 1.3 && s.top <= 2);
        for (int k = 0; k < i; k++) {
            const struct fr_limit_shape t = fr_limit_shape_at(k, 100);
            assert_true(s.static_W != t.static_W || s.slope != t.slope || s.top != t.top);
            /* in order, the share fastest */
            assert_true(s.top > t.top || (s.top == t.top && s.slope > t.slope) ||
                        (s.top == t.top && s.slope == t.slope && s.static_W > t.static_W));
        }
    }
}

/* A bend of the grid is found again to the last digit: the largest limit is where the power seen is so much below
 * what is drawn without one. */
static void every_bend_of_the_grid_is_found_again(void **state) {
    static const double sharp[] = {2, 3, 4, 5, 6, 8, 10, 14, 20, 40};
    enum { POINTS = 8 };
    (void)state;
    for (int d = 1; d < 25; d++)
        for (int k = 0; k < 10; k++) {
            const struct fr_limit_shape shape = fr_limit_shape_at((7 * d + k) % 75, 90);
            struct fr_limit_fitted got, truth = {.drawn_W = 260,
                                                 .sharpness = sharp[k],
                                                 .top = shape.top,
                                                 .power = {{1, shape.slope}, shape.static_W, 0},
                                                 .time = {100, 500}};
            struct fr_limit_point points[POINTS];
            double most_W = 260 * pow(pow(1 + 0.02 * d, sharp[k]) - 1, -1 / sharp[k]);
            truth.power.dynamic_J =
                (260 - shape.static_W) /
                (shape.top * fr_clock_voltage_squared(&truth.power.voltage, shape.top));
            for (int i = 0; i < POINTS; i++) {
                double limit_W = most_W * (1 - 0.06 * i);
                points[i] = (struct fr_limit_point){limit_W, fr_limit_time_s(&truth, limit_W),
                                                    fr_limit_power_W(&truth, limit_W)};
                FR_NEAR(points[i].power_W,
                        pow(pow(limit_W, -sharp[k]) + pow(260, -sharp[k]), -1 / sharp[k]),
                        1e-9);
            }
            const struct fr_limit_series series = {points, POINTS};
            int without = d % 2 ? -1 : 1 + k % (POINTS - 1);
            assert_int_equal(fr_limit_fit(&series, without, &shape, &got, NULL), FR_OK);
            FR_TRUE(fabs(got.drawn_W / 260 - 1) < 1e-9 && got.sharpness == sharp[k],
                    "d %d, %g: got %g W, %g", d, sharp[k], got.drawn_W, got.sharpness);
            FR_NEAR(got.power.dynamic_J, truth.power.dynamic_J, 1e-6);
            for (int i = 0; i < POINTS; i++)
                FR_NEAR(fr_limit_time_s(&got, points[i].limit_W), points[i].time_s, 1e-6);
        }
    /* A device that draws hardly more than at rest has a twentieth of it above. */
    const struct fr_limit_shape high = {99, 0, 2};
    const struct fr_limit_point flat[] = {{200, 1, 100}, {300, 1, 100}};
    const struct fr_limit_series two = {flat, 2};
    struct fr_limit_fitted f;
    assert_int_equal(fr_limit_fit(&two, -1, &high, &f, NULL), FR_OK);
    FR_NEAR(f.power.static_W, 0.95 * f.drawn_W, 1e-12);
    FR_NEAR(f.power.dynamic_J * 2, 0.05 * f.drawn_W, 1e-12);
    assert_int_equal(fr_limit_fit(&two, 0, &high, &f, NULL), FR_ERR_INPUT);
}

/* ---- power terms from runs ---------------------------------------------------------------------- */

enum { N = 12 };

struct fixture {
    struct fr_json_document *document;
    struct fr_cluster prior, truth;
    struct fr_run runs[N];
    const struct fr_run *use[N];
};

/* Joules of a run on @p cluster as a meter at @p at reads them, with its predicted time. */
static double metered_J(struct fr_cluster cluster, const struct fr_run *run, fr_run_meter at) {
    struct fr_job job = {.cluster = cluster, .workload = run->workload, .plan = run->plan};
    struct fr_outcome out;
    if (at == FR_METER_NODE)
        for (int l = 0; l < cluster.levels.count; l++)
            job.cluster.levels.level[l].power.efficiency = 1;
    fr_cost(&job, &job.plan, &out);
    const double *part_J = out.energy_part_J;
    double sum_J = part_J[FR_ENERGY_DEVICE];
    if (at >= FR_METER_NODE) sum_J += part_J[FR_ENERGY_NODE];
    if (at >= FR_METER_NETWORK) sum_J += part_J[FR_ENERGY_NETWORK];
    if (at >= FR_METER_FACILITY) sum_J += part_J[FR_ENERGY_FACILITY];
    return sum_J;
}

static void make_run(struct fixture *f, int i) {
    struct fr_run_row row = {0};
    fr_run_skip skip;
    const struct fr_run_place place = {.where = "row"};
    fr_run_row_set(&row, "id", "%d", i);
    fr_run_row_set(&row, "model", "gpt-2.5b");
    fr_run_row_set(&row, "model.dtype", "bf16");
    fr_run_row_set(&row, "ranks", "16");
    fr_run_row_set(&row, "plan.tp", "%d", 1 << i % 4);
    fr_run_row_set(&row, "plan.pp", "%d", 1 << i / 4 % 2);
    fr_run_row_set(&row, "plan.micro_batch", "%d", 1 << i / 8);
    fr_run_row_set(&row, "plan.global_batch", "64");
    fr_run_row_set(&row, "measured_s", "1");
    fr_run_row_set(&row, "measured_at", "%s", fr_run_meter_names[i % FR_METER_COUNT]);
    assert_int_equal(fr_run_make(&row, &place, &f->runs[i], &skip, NULL), FR_OK);
    f->use[i] = &f->runs[i];
}

/* The truth draws 20 % less at work, half as much again waiting, 30 % more around the devices; and takes 10 %
 * longer than predicted, which is not the power's. */
static void make(struct fixture *f) {
    assert_int_equal(fr_preset_or_file_read("cluster", "dgx-h100", &f->document, NULL), FR_OK);
    assert_int_equal(fr_cluster_read(f->document, &f->prior, NULL), FR_OK);
    f->prior.pue = 1.3;
    f->truth = f->prior;
    f->truth.device.power.busy_W *= 0.8;
    f->truth.device.power.communicating_W *= 1.5;
    f->truth.levels.level[0].power.idle_W *= 1.3;
    f->truth.levels.level[0].power.busy_W *= 1.3;
    f->truth.levels.level[1].power.switches_W *= 1.5;
    for (int i = 0; i < N; i++) {
        make_run(f, i);
        struct fr_run *run = &f->runs[i];
        run->measured_s = 1.1 * fr_run_predict_s(&f->truth, run);
        run->measured_J = 1.1 * metered_J(f->truth, run, run->meter);
        assert_true(run->measured_J > 0);
    }
}

static void drop(struct fixture *f) {
    for (int i = 0; i < N; i++) fr_run_free(&f->runs[i]);
    fr_cluster_free(&f->prior);
    fr_json_free(f->document);
}

static void what_made_the_runs_is_found(void **state) {
    struct fixture f;
    struct fr_power_fit fit;
    (void)state;
    make(&f);
    struct fr_cluster c = f.prior;
    assert_int_equal(fr_power_fit_runs(&c, f.use, N, 0, &fit, NULL), FR_OK);
    assert_int_equal(fit.rows, N);
    assert_int_equal(fit.kinds, N);
    const double wanted[] = {0.8, 1.5, 1.3};
    for (int j = 0; j < 3; j++) {
        double ratio = fit.term[j].value / fit.term[j].prior;
        FR_TRUE(fabs(log(ratio / wanted[j])) < 2 * fit.term[j].sigma,
                "%s: got %g of the prior, wanted %g within %g", fr_power_terms[j].name, ratio,
                wanted[j], fit.term[j].sigma);
        assert_true(fit.term[j].sigma < fit.term[j].sigma_prior);
    }
    FR_TRUE(fit.mean_error < 0.01, "on the rows: %g", fit.mean_error);
    FR_TRUE(fit.held_out_error < 0.02, "held out: %g", fit.held_out_error);
    FR_TRUE(fit.uncertainty >= fit.held_out_error, "%g", fit.uncertainty);
    assert_true(c.device.power.uncertainty == fit.uncertainty);
    drop(&f);
}

/* A run's power is what its meter would read of the outcome, in the mean and over the iteration. */
static void a_run_draws_what_its_meter_reads(void **state) {
    struct fixture f;
    (void)state;
    make(&f);
    for (int i = 0; i < N; i++) {
        double energy_J = 0, power_W = 0,
               want_J = metered_J(f.truth, f.use[i], f.use[i]->meter);
        bool unsaid = f.use[i]->meter == FR_METER_UNSAID;
        assert_int_equal(fr_run_predict_J(&f.truth, f.use[i], &energy_J, &power_W, NULL),
                         FR_OK);
        if (unsaid) assert_true(isnan(energy_J) && isnan(power_W));
        if (unsaid) continue;
        FR_NEAR(energy_J, want_J, 1e-9);
        FR_NEAR(power_W, want_J / fr_run_predict_s(&f.truth, f.use[i]), 1e-9);
    }
    drop(&f);
}

/* A value that no meter sees stays, and so does a fixed one; a run that does not state where it was metered is
 * counted. */
static void unseen_and_held_terms_stay(void **state) {
    struct fixture f;
    struct fr_power_fit fit;
    (void)state;
    make(&f);
    for (int i = 0; i < N; i++) {
        f.runs[i].meter = i ? FR_METER_DEVICE : FR_METER_UNSAID;
        f.runs[i].measured_J = 1.1 * metered_J(f.truth, &f.runs[i], FR_METER_DEVICE);
    }
    int waiting = fr_power_term_find("communicating");
    struct fr_cluster c = f.prior;
    assert_int_equal(fr_power_fit_runs(&c, f.use, N, (uint32_t)1 << waiting, &fit, NULL),
                     FR_OK);
    assert_int_equal(fit.unsaid, 1);
    assert_int_equal(fit.rows, N - 1);
    for (int j = 0; j < FR_POWER_TERMS; j++) {
        assert_int_equal(fit.term[j].fitted, j == fr_power_term_find("busy"));
        if (!fit.term[j].fitted) assert_true(fit.term[j].value == fit.term[j].prior);
    }
    assert_true(c.device.power.communicating_W == f.prior.device.power.communicating_W);
    assert_true(c.pue == f.prior.pue);
    drop(&f);
}

/* Copies of a run say no more than the run: neither of the power nor of how sure it is. */
static void copies_count_once(void **state) {
    struct fixture f;
    struct fr_power_fit once, often;
    const struct fr_run *copies[3 * N];
    (void)state;
    make(&f);
    for (int i = 0; i < 3 * N; i++) copies[i] = f.use[i < N ? i : 0];
    struct fr_cluster a = f.prior, b = f.prior;
    assert_int_equal(fr_power_fit_runs(&a, f.use, N, 0, &once, NULL), FR_OK);
    assert_int_equal(fr_power_fit_runs(&b, copies, 3 * N, 0, &often, NULL), FR_OK);
    assert_int_equal(often.kinds, once.kinds);
    for (int j = 0; j < FR_POWER_TERMS; j++) {
        FR_NEAR(often.term[j].value, once.term[j].value, 1e-4);
        FR_NEAR(often.term[j].sigma, once.term[j].sigma, 1e-4);
    }
    drop(&f);
}

/* One kind alone says nothing of another. */
static void one_kind_is_no_test(void **state) {
    struct fixture f;
    struct fr_power_fit fit;
    (void)state;
    make(&f);
    struct fr_cluster c = f.prior;
    assert_int_equal(fr_power_fit_runs(&c, f.use, 1, 0, &fit, NULL), FR_OK);
    assert_true(isnan(fit.held_out_error));
    FR_NEAR(fit.uncertainty, 0.3, 1e-12);
    assert_int_equal(fr_power_fit_runs(&c, f.use, 0, 0, &fit, NULL), FR_OK);
    assert_int_equal(fit.rows, 0);
    drop(&f);
}

/* The written values are the fitted ones. */
static void the_file_holds_what_was_fitted(void **state) {
    struct fixture f;
    struct fr_power_fit fit;
    struct fr_cluster read;
    struct fr_error err = {0};
    (void)state;
    make(&f);
    struct fr_cluster c = f.prior;
    assert_int_equal(fr_power_fit_runs(&c, f.use, N, 0, &fit, NULL), FR_OK);
    if (fr_power_fit_apply(f.document, &c, &fit, &err) != FR_OK) fail_msg("%s", err.detail);
    if (fr_cluster_read(f.document, &read, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    FR_NEAR(read.device.power.busy_W, c.device.power.busy_W, 1e-6);
    FR_NEAR(read.device.power.communicating_W, c.device.power.communicating_W, 1e-6);
    FR_NEAR(read.device.power.uncertainty, fit.uncertainty, 1e-6);
    for (int l = 0; l < 2; l++) {
        const struct fr_level_power *got = &read.levels.level[l].power,
                                    *wanted = &c.levels.level[l].power;
        FR_NEAR(got->busy_W, wanted->busy_W, 1e-6);
        FR_NEAR(got->switches_W, wanted->switches_W, 1e-6);
        FR_NEAR(got->efficiency, wanted->efficiency, 1e-6);
    }
    fr_cluster_free(&read);
    drop(&f);
}

/* ---- logs -------------------------------------------------------------------------------------- */

#define EVENT(ms, key, value, more)                                                            \
    "0: :::MLLOG {\"time_ms\": " #ms ", \"key\": \"" key "\", \"value\": " value               \
    ", \"metadata\": {" more "}}\n"

/* 100 s to 300 s: 40 steps of 8 samples in 80 s, an evaluation of 20 s, 50 steps in 100 s. */
static const char run_log[] = "+ srun something\n" EVENT(90000, "global_batch_size", "8", "")
    EVENT(90000, "submission_benchmark", "\"gpt3\"", "") EVENT(100000, "run_start", "null", "")
        EVENT(100000, "block_start", "null", "\"samples_count\": 0")
            EVENT(180000, "block_stop", "null", "\"samples_count\": 320")
                EVENT(180000, "eval_start", "null", "") EVENT(200000, "eval_stop", "null", "")
                    EVENT(200000, "block_start", "null", "")
                        EVENT(300000, "block_stop", "null", "\"samples_count\": 720")
                            EVENT(300000, "run_stop", "null", "\"samples_count\": 720");

/* Within: 125 s, 150 s, 250 s; outside: before 120 s, the evaluation and 2 s around it, the last 5 s. */
static const char node_log[] = EVENT(110000, "power_reading", "2000", "")
    EVENT(125000, "power_reading", "7000", "") EVENT(150000, "power_reading", "7100", "")
        EVENT(179000, "power_reading", "3000", "") EVENT(190000, "power_reading", "6000", "")
            EVENT(201000, "power_reading", "3000", "")
                EVENT(250000, "power_reading", "7500", "")
                    EVENT(298000, "power_reading", "4000", "");

static void mlperf_logs_by_hand(void **state) {
    struct fr_mllog run, node;
    struct fr_error err = {0};
    double step_s = 0, power_W = 0;
    (void)state;
    if (fr_mllog_parse(run_log, sizeof run_log - 1, "run", &run, &err) != FR_OK)
        fail_msg("%s %s", err.where, err.detail);
    assert_int_equal(fr_mllog_parse(node_log, sizeof node_log - 1, "node", &node, NULL), FR_OK);
    assert_int_equal(node.n_readings, 8);
    assert_string_equal(run.benchmark, "gpt3");
    assert_int_equal(fr_mllog_step_s(&run, "run", &step_s, NULL), FR_OK);
    FR_NEAR(step_s, 180.0 / 90, 1e-12);
    assert_int_equal(fr_mllog_power_W(&run, &node, "node", &power_W, NULL), FR_OK);
    FR_NEAR(power_W, 7200, 1e-12);
    assert_false(node.after_supplies);
    /* of another day, nothing lies within */
    for (int i = 0; i < node.n_readings; i++) node.reading[i].time_ms += 86400e3;
    assert_int_equal(fr_mllog_power_W(&run, &node, "node", &power_W, &err), FR_ERR_INPUT);
    assert_int_equal(fr_mllog_step_s(&node, "node", &step_s, &err), FR_ERR_INPUT);
    fr_mllog_free(&run);
    fr_mllog_free(&node);
}

/* PTDaemon's own lines: 2024-05-10 11:38:02.5 UTC is 1715341082.5 s. */
static void ptdaemon_lines_are_readings(void **state) {
    static const char text[] =
        "Time,05-10-2024 11:38:02.500,Watts,6881.7,Volts,230.1,Amps,30\n"
        "Time,13-10-2024 11:38:02.500,Watts,1,Volts,1\nTime,junk\n"
        "conversion :::MLLOG {\"time_ms\": 1, \"key\": \"conversion_eff\"}";
    struct fr_mllog log;
    (void)state;
    assert_int_equal(fr_mllog_parse(text, sizeof text - 1, "spl", &log, NULL), FR_OK);
    assert_int_equal(log.n_readings, 1);
    FR_NEAR(log.reading[0].time_ms, 1715341082500.0, 1e-15);
    FR_NEAR(log.reading[0].power_W, 6881.7, 1e-12);
    assert_true(log.after_supplies);
    fr_mllog_free(&log);
}

static void broken_lines_are_named(void **state) {
    static const char text[] = "well\n:::MLLOG {\"time_ms\": 1,\n";
    struct fr_mllog log;
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(fr_mllog_parse(text, sizeof text - 1, "a.txt", &log, &err), FR_ERR_INPUT);
    FR_TRUE(strstr(err.where, "a.txt:2") != NULL, "%s", err.where);
    fr_mllog_free(&log);
}

/* A table in Zeus' columns: stages cut as the layers are, limits one a stage, joules of devices. */
static void zeus_rows_are_runs(void **state) {
    static const char path[] = "/tmp/forerun_zeus_rows.csv";
    static const char text[] =
        "row_id,gpu,knob,model_name,partition_method,batch_size,dp,tp,pp,microbatch_size,"
        "num_microbatches,power_limits_W,measured_iter_time_s,measured_iter_energy_J_all_gpus\n"
        "a,X,one,bloom-3b,\"custom:0,10,18,26,32\",512,1,1,4,4,128,300/275/300/250,61.5,68000\n"
        "b,X,one,bloom-3b,\"custom:0,10,18,26\",512,1,1,4,4,128,300/300/300/300,61.5,68000\n"
        "c,X,one,t5-3b,\"custom:0,10,18,26,32\",512,1,1,4,4,128,300,61.5,68000\n"
        "d,X,one,bloom-3b,\"custom:0,10,18,26,32\",512,,1,4,4,128,300,61.5,68000\n"
        "e,X,one,bloom-3b,\"custom:0,10,18,26,32\",512,1,,4,4,128,300,61.5,68000\n"
        "f,X,one,bloom-3b,\"custom:0,10,18,26,32\",512,1,1,,4,128,300,61.5,68000\n"
        "g,X,one,bloom-3b,\"custom:0,10,18,26,32\",512,1,1,4,,128,300,61.5,68000\n"
        "h,X,one,bloom-3b,\"custom:0,10,18,26,32\",512,1,1,4,4,,300,61.5,68000\n"
        "i,X,one,bloom-3b,\"custom:0,10,18,26,32\",512,1,1,4,4,128,300,,68000\n";
    struct fr_runs runs = {0};
    FILE *file = fopen(path, "w");
    (void)state;
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(fr_runs_read(path, &runs, NULL), FR_OK);
    remove(path);
    assert_int_equal(runs.count, 1);
    assert_int_equal(runs.skipped[FR_RUN_DEGREES], 1);
    assert_int_equal(runs.skipped[FR_RUN_UNKNOWN_MODEL], 1);
    assert_int_equal(runs.skipped[FR_RUN_NO_DEGREES], 3);
    assert_int_equal(runs.skipped[FR_RUN_NO_MICRO_BATCH], 1);
    assert_int_equal(runs.skipped[FR_RUN_NO_BATCH], 1);
    assert_int_equal(runs.skipped[FR_RUN_NO_TIME], 1);
    const struct fr_plan *plan = &runs.items[0].plan;
    assert_int_equal(runs.items[0].meter, FR_METER_DEVICE);
    assert_int_equal(plan->n_cap_W, 4);
    assert_int_equal(plan->cap_W[1], 275);
    const int64_t layers[] = {9, 8, 8, 5};
    for (int i = 0; i < 4; i++) assert_int_equal(plan->stage_layers[i], layers[i]);
    assert_int_equal(plan->global_batch, 512);
    fr_runs_free(&runs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_found_and_never_negative),
        cmocka_unit_test(a_clocked_device_is_found_again),
        cmocka_unit_test(too_little_is_refused),
        cmocka_unit_test(a_limited_training_is_found_again),
        cmocka_unit_test(every_voltage_of_the_grid_is_found_again),
        cmocka_unit_test(scatter_is_of_points_left_out),
        cmocka_unit_test(shapes_are_all_that_are_tried),
        cmocka_unit_test(every_bend_of_the_grid_is_found_again),
        cmocka_unit_test(what_made_the_runs_is_found),
        cmocka_unit_test(a_run_draws_what_its_meter_reads),
        cmocka_unit_test(unseen_and_held_terms_stay),
        cmocka_unit_test(copies_count_once),
        cmocka_unit_test(one_kind_is_no_test),
        cmocka_unit_test(the_file_holds_what_was_fitted),
        cmocka_unit_test(mlperf_logs_by_hand),
        cmocka_unit_test(ptdaemon_lines_are_readings),
        cmocka_unit_test(broken_lines_are_named),
        cmocka_unit_test(zeus_rows_are_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

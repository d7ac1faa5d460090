/* Fits of clocks and limits: devices whose coefficients are known must be found again. */
#include <math.h>
#include <stddef.h>

#include "calibrate/energy/clock_fit.h"
#include "calibrate/energy/limit_fit.h"
#include "calibrate/energy/line.h"
#include "tests/cmocka.h"

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
    double settled_Hz = fr_clock_settled_Hz(&work[i].power, clock_Hz, LIMIT_W),
           time_s = fr_clock_time_s(&work[i].time, settled_Hz);
    return (struct fr_clock_point){clock_Hz, time_s,
                                   time_s * fr_clock_power_W(&work[i].power, settled_Hz)};
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_line_is_found_and_never_negative),
                                       cmocka_unit_test(a_clocked_device_is_found_again),
                                       cmocka_unit_test(too_little_is_refused),
                                       cmocka_unit_test(a_limited_training_is_found_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

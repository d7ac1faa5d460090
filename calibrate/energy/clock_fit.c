#include "calibrate/energy/clock_fit.h"

#include <math.h>
#include <stddef.h>

#include "calibrate/energy/line.h"

/* Of the highest power seen: points from here on may be held down by the limit. */
static const double NEAR_LIMIT = 0.985;

/* The grid, relative to the highest clock seen. */
static const double KNEE_FROM = 0.5, KNEE_TO = 0.95, KNEE_STEP = 0.0125;
static const double SLOPE_FROM = 0.1, SLOPE_TO = 2.5, SLOPE_STEP = 0.1;

static double power_of(const struct fr_clock_point *p) { return p->energy_J / p->time_s; }

static double highest_Hz(const struct fr_clock_series *s) {
    return s->points[s->n - 1].clock_Hz;
}

static double limit_of(const struct fr_clock_series *s) {
    double most_W = 0;
    for (int i = 0; i < s->n; i++) most_W = fmax(most_W, power_of(&s->points[i]));
    return most_W;
}

/* Points that no limit holds down, but for point @p without: at least two, else all. */
static int free_points(const struct fr_clock_series *s, double limit_W, int without,
                       const struct fr_clock_point *out[FR_LINE_POINTS_MAX]) {
    int n = 0;
    for (int pass = 0; pass < 2 && n < 2; pass++) {
        n = 0;
        for (int i = 0; i < s->n; i++)
            if (i != without && (pass || power_of(&s->points[i]) < NEAR_LIMIT * limit_W))
                out[n++] = &s->points[i];
    }
    return n;
}

static void fit_power(const struct fr_clock_series *s, int without,
                      const struct fr_clock_voltage *voltage, struct fr_clock_fitted *f) {
    const struct fr_clock_point *use[FR_LINE_POINTS_MAX];
    double x[FR_LINE_POINTS_MAX], y[FR_LINE_POINTS_MAX];
    int n = free_points(s, f->limit_W, without, use);
    for (int i = 0; i < n; i++) {
        x[i] = use[i]->clock_Hz * fr_clock_voltage_squared(voltage, use[i]->clock_Hz);
        y[i] = power_of(use[i]);
    }
    f->power.voltage = *voltage;
    fr_line_fit(x, y, n, &f->power.static_W, &f->power.dynamic_J);
    f->full_Hz = fr_clock_steady_Hz(&f->power, highest_Hz(s), f->limit_W);
}

static void fit_time(const struct fr_clock_series *s, int without, struct fr_clock_fitted *f) {
    double x[FR_LINE_POINTS_MAX], y[FR_LINE_POINTS_MAX];
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        if (i == without) continue;
        x[n] = 1 / fmin(s->points[i].clock_Hz, f->full_Hz);
        y[n++] = s->points[i].time_s;
    }
    fr_line_fit(x, y, n, &f->time.fixed_s, &f->time.cycles);
}

static struct fr_clock_fitted fit_one(const struct fr_clock_series *s, int without,
                                      const struct fr_clock_voltage *voltage) {
    struct fr_clock_fitted f = {.limit_W = limit_of(s)};
    fit_power(s, without, voltage, &f);
    fit_time(s, without, &f);
    return f;
}

static double power_at_W(const struct fr_clock_fitted *f, double clock_Hz) {
    return fr_clock_power_W(&f->power, fmin(clock_Hz, f->full_Hz));
}

double fr_clock_fitted_time_s(const struct fr_clock_fitted *f, double clock_Hz) {
    return fr_clock_time_s(&f->time, fmin(clock_Hz, f->full_Hz));
}

double fr_clock_fitted_energy_J(const struct fr_clock_fitted *f, double clock_Hz) {
    return power_at_W(f, clock_Hz) * fr_clock_fitted_time_s(f, clock_Hz);
}

/* Sum of squared relative errors of the power of all points under @p voltage. */
static double squares(const struct fr_clock_series *series, int n,
                      const struct fr_clock_voltage *voltage) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        struct fr_clock_fitted f = {.limit_W = limit_of(&series[i])};
        fit_power(&series[i], -1, voltage, &f);
        for (int k = 0; k < series[i].n; k++) {
            const struct fr_clock_point *p = &series[i].points[k];
            double error = power_at_W(&f, p->clock_Hz) / power_of(p) - 1;
            sum += error * error;
        }
    }
    return sum;
}

static struct fr_clock_voltage best_voltage(const struct fr_clock_series *series, int n) {
    struct fr_clock_voltage best = {0};
    double least = INFINITY, top_Hz = 0;
    for (int i = 0; i < n; i++) top_Hz = fmax(top_Hz, highest_Hz(&series[i]));
    for (int i = 0; KNEE_FROM + i * KNEE_STEP <= KNEE_TO + 1e-9; i++)
        for (int j = 0; SLOPE_FROM + j * SLOPE_STEP <= SLOPE_TO + 1e-9; j++) {
            struct fr_clock_voltage v = {(KNEE_FROM + i * KNEE_STEP) * top_Hz,
                                         (SLOPE_FROM + j * SLOPE_STEP) / top_Hz};
            double sum = squares(series, n, &v);
            if (sum >= least) continue;
            least = sum;
            best = v;
        }
    return best;
}

/* The lowest and the highest clock stay: what is asked later lies between them. */
static struct fr_clock_scatter scatter_of(const struct fr_clock_series *series, int n,
                                          const struct fr_clock_voltage *voltage) {
    double time = 0, energy = 0, points = 0;
    for (int i = 0; i < n; i++)
        for (int k = 1; k + 1 < series[i].n; k++) {
            const struct fr_clock_point *p = &series[i].points[k];
            struct fr_clock_fitted f = fit_one(&series[i], k, voltage);
            time += pow(fr_clock_fitted_time_s(&f, p->clock_Hz) / p->time_s - 1, 2);
            energy += pow(fr_clock_fitted_energy_J(&f, p->clock_Hz) / p->energy_J - 1, 2);
            points++;
        }
    return (struct fr_clock_scatter){sqrt(time / points), sqrt(energy / points)};
}

static fr_status check(const struct fr_clock_series *s, struct fr_error *err) {
    if (s->n < 3 || s->n > FR_LINE_POINTS_MAX)
        return fr_fail(err, FR_ERR_INPUT, NULL, "%d clocks measured; expected 3 to %d", s->n,
                       FR_LINE_POINTS_MAX);
    for (int i = 0; i < s->n; i++) {
        const struct fr_clock_point *p = &s->points[i];
        if (!(p->clock_Hz > 0 && p->time_s > 0 && p->energy_J > 0))
            return fr_fail(err, FR_ERR_INPUT, NULL,
                           "clock %g Hz, %g s, %g J; expected more than zero of each",
                           p->clock_Hz, p->time_s, p->energy_J);
    }
    return FR_OK;
}

fr_status fr_clock_fit(const struct fr_clock_series *series, int n,
                       struct fr_clock_fitted *fitted, struct fr_clock_scatter *scatter,
                       struct fr_error *err) {
    for (int i = 0; i < n; i++) FR_TRY(check(&series[i], err));
    struct fr_clock_voltage voltage = best_voltage(series, n);
    for (int i = 0; i < n; i++) fitted[i] = fit_one(&series[i], -1, &voltage);
    if (scatter) *scatter = scatter_of(series, n, &voltage);
    return FR_OK;
}

#include "calibrate/energy/limit_fit.h"

#include <math.h>
#include <stddef.h>

#include "calibrate/energy/line.h"

struct fr_limit_shape fr_limit_shape_at(int i, double least_W) {
    static const double share[] = {0.4, 0.6, 0.8, 0.9, 1}, slope[] = {0, 0.3, 0.6, 1, 1.5},
                        top[] = {1.3, 1.6, 2};
    return (struct fr_limit_shape){share[i % 5] * least_W, slope[i / 5 % 5], top[i / 25]};
}

static double bend_W(double limit_W, double drawn_W, double sharpness) {
    return pow(pow(limit_W / drawn_W, -sharpness) + 1, -1 / sharpness) * drawn_W;
}

double fr_limit_power_W(const struct fr_limit_fitted *f, double limit_W) {
    return bend_W(limit_W, f->drawn_W, f->sharpness);
}

static double clock_at(const struct fr_limit_fitted *f, double limit_W) {
    return fr_clock_steady_Hz(&f->power, f->top, fr_limit_power_W(f, limit_W));
}

double fr_limit_time_s(const struct fr_limit_fitted *f, double limit_W) {
    return fr_clock_time_s(&f->time, clock_at(f, limit_W));
}

/* D and n by a grid: from the highest power seen to half again as much, from a wide bend to a sharp
 * one. */
static void fit_bend(const struct fr_limit_series *s, int without, struct fr_limit_fitted *f) {
    static const double sharp[] = {2, 3, 4, 5, 6, 8, 10, 14, 20, 40};
    double most_W = 0, least = INFINITY;
    for (int i = 0; i < s->n; i++)
        if (i != without) most_W = fmax(most_W, s->points[i].power_W);
    for (int d = 0; d < 25; d++)
        for (size_t k = 0; k < sizeof sharp / sizeof *sharp; k++) {
            double sum = 0, drawn_W = most_W * (1 + 0.02 * d);
            for (int i = 0; i < s->n; i++)
                if (i != without)
                    sum += pow(bend_W(s->points[i].limit_W, drawn_W, sharp[k]) /
                                       s->points[i].power_W -
                                   1,
                               2);
            if (sum >= least) continue;
            least = sum;
            f->drawn_W = drawn_W;
            f->sharpness = sharp[k];
        }
}

static void fit_time(const struct fr_limit_series *s, int without, struct fr_limit_fitted *f) {
    double x[FR_LINE_POINTS_MAX], y[FR_LINE_POINTS_MAX];
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        if (i == without) continue;
        x[n] = 1 / clock_at(f, s->points[i].limit_W);
        y[n++] = s->points[i].time_s;
    }
    fr_line_fit(x, y, n, &f->time.fixed_s, &f->time.cycles);
}

static fr_status check(const struct fr_limit_series *s, int without, struct fr_error *err) {
    if (s->n - (without >= 0) < 2 || s->n > FR_LINE_POINTS_MAX)
        return fr_fail(err, FR_ERR_INPUT, NULL, "%d limits measured; expected 2 to %d",
                       s->n - (without >= 0), FR_LINE_POINTS_MAX);
    for (int i = 0; i < s->n; i++) {
        const struct fr_limit_point *p = &s->points[i];
        if (!(p->limit_W > 0 && p->time_s > 0 && p->power_W > 0))
            return fr_fail(err, FR_ERR_INPUT, NULL,
                           "limit %g W, %g s, %g W; expected more than zero of each",
                           p->limit_W, p->time_s, p->power_W);
    }
    return FR_OK;
}

fr_status fr_limit_fit(const struct fr_limit_series *s, int without,
                       const struct fr_limit_shape *shape, struct fr_limit_fitted *f,
                       struct fr_error *err) {
    FR_TRY(check(s, without, err));
    *f = (struct fr_limit_fitted){.top = shape->top,
                                  .power = {{1, shape->slope}, shape->static_W, 0}};
    fit_bend(s, without, f);
    /* A training that draws hardly more than the device at rest follows its clock all the same. */
    double above_W = fmax(f->drawn_W - shape->static_W, 0.05 * f->drawn_W);
    f->power.static_W = f->drawn_W - above_W;
    f->power.dynamic_J =
        above_W / (shape->top * fr_clock_voltage_squared(&f->power.voltage, shape->top));
    fit_time(s, without, f);
    return FR_OK;
}

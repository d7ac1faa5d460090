#include "calibrate/fit/fitter.h"

#include <math.h>

#define FR_FITTER(name) extern const struct fr_fitter fr_fitter_##name;
#include "calibrate/fit/fitter_list.h"
#undef FR_FITTER

const struct fr_fitter *const fr_fitters[] = {
#define FR_FITTER(name) &fr_fitter_##name,
#include "calibrate/fit/fitter_list.h"
#undef FR_FITTER
    NULL};

struct fr_group fr_fit_group(const struct fr_fit_point *point) {
    int64_t nodes = point->n_nodes > 1 ? point->n_nodes : 2;
    return (struct fr_group){.n_ranks = point->n_ranks,
                             .ranks_per_node = point->level > 0
                                                   ? (point->n_ranks + nodes - 1) / nodes
                                                   : point->n_ranks,
                             .level = point->level};
}

/* Weighted least squares of a u + b v = 1; where the free solution has a negative coefficient
 * the best lies on a border: of two that explain as much, but for rounding, b = 0. */
static void solve(const double *u, const double *v, const double *weight, int n, double *a,
                  double *b) {
    double uu = 0, vv = 0, uv = 0, u1 = 0, v1 = 0;
    for (int i = 0; i < n; i++) {
        uu += weight[i] * u[i] * u[i], vv += weight[i] * v[i] * v[i];
        uv += weight[i] * u[i] * v[i];
        u1 += weight[i] * u[i], v1 += weight[i] * v[i];
    }
    double determinant = uu * vv - uv * uv;
    *a = (u1 * vv - v1 * uv) / determinant;
    *b = (v1 * uu - u1 * uv) / determinant;
    if (determinant > 1e-12 * uu * vv && *a >= 0 && *b >= 0) return;
    bool second = vv > 0 && (uu <= 0 || v1 * v1 / vv > (1 + 1e-9) * u1 * u1 / uu);
    *a = second || uu <= 0 ? 0 : u1 / uu;
    *b = second ? v1 / vv : 0;
}

void fr_fit_two_terms(const double *u, const double *v, int n, double *a, double *b) {
    enum { ROUNDS = 12, POINTS_MAX = 4096 };
    static const double BEND = 0.1; /* relative error beyond which a point pulls no harder */
    double weight[POINTS_MAX];
    if (n > POINTS_MAX) n = POINTS_MAX;
    for (int i = 0; i < n; i++) weight[i] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        solve(u, v, weight, n, a, b);
        for (int i = 0; i < n; i++) {
            double error = fabs(*a * u[i] + *b * v[i] - 1);
            weight[i] = error > BEND ? BEND / error : 1;
        }
    }
}

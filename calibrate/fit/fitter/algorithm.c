/* alpha and beta of each algorithm of the table, and the algorithm that comes nearest.  The time
 * of an algorithm is linear in both, so its two terms are its times on a link of latency 1 s and
 * no cost per byte, and the other way round. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/fit/fitter.h"
#include "calibrate/fit/parts.h"

struct terms {
    double *u, *v; /* of each point, over its time */
};

static bool make_terms(const struct fr_collective *algorithm, const struct fr_fit_point *points,
                       int n, struct terms *terms) {
    for (int i = 0; i < n; i++) {
        struct fr_group group = fr_fit_group(&points[i]);
        struct fr_collective_args args = fr_group_args(&group, points[i].size_B);
        if (!algorithm->applicable(&args)) return false;
        args.inner = args.outer = args.ring = args.rails =
            (struct fr_link_cost){.latency_s = 1};
        terms->u[i] = algorithm->time_s(&args) / points[i].time_s;
        args.inner = args.outer = args.ring = args.rails = (struct fr_link_cost){.s_per_B = 1};
        terms->v[i] = algorithm->time_s(&args) / points[i].time_s;
    }
    return true;
}

static double sum_of_errors(const struct terms *terms, int n, double a, double b) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += fabs(log2(fmax(a * terms->u[i] + b * terms->v[i], 1e-9)));
    return sum;
}

static fr_status fit(const struct fr_fit_point *points, int n, bool gpu,
                     struct fr_price *price) {
    struct terms terms = {fr_malloc((size_t)n, sizeof *terms.u),
                          fr_malloc((size_t)n, sizeof *terms.v)};
    double least = HUGE_VAL;
    (void)gpu;
    if (n < 3 || !terms.u || !terms.v) goto done;
    for (const struct fr_collective *const *row = fr_collectives; *row; row++) {
        double a = 0, b = 0;
        if ((*row)->op != points->op || !make_terms(*row, points, n, &terms)) continue;
        fr_fit_two_terms(terms.u, terms.v, n, &a, &b);
        double error = sum_of_errors(&terms, n, a, b);
        if (!(error < least)) continue;
        least = error;
        price->form = &fr_form_algorithm;
        price->algorithm = *row;
        price->own_link = true;
        price->link = (struct fr_link_cost){.latency_s = fr_fit_latency(a),
                                            .s_per_B = fr_fit_per_byte(b)};
    }
done:;
    bool allocated = terms.u && terms.v;
    free(terms.u);
    free(terms.v);
    return allocated ? FR_OK : FR_ERR_NOMEM;
}

const struct fr_fitter fr_fitter_algorithm = {.name = "algorithm", .fit = fit};

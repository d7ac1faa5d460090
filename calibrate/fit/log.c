/* t = c1 log2 p + c2 m + c3 with coefficients >= 0.  With three terms there are seven subsets,
 * so non-negative least squares is done by trying all. */
#include <gsl/gsl_multifit.h>
#include <math.h>

#include "calibrate/fit/parts.h"
#include "calibrate/numbers/gsl_errors.h"

enum { TERMS = 3, C1 = 1, C2 = 2, C3 = 4 };

static double term(const struct fr_fit_point *point, int which) {
    return which == 0 ? log2((double)point->n_ranks) : which == 1 ? point->size_B : 1.0;
}

/* Terms that the points can tell apart, as a set of C1, C2, C3. */
static int distinct_terms(const struct fr_fit_point *points, int n) {
    bool ranks_differ = false, sizes_differ = false;
    for (int i = 1; i < n; i++) {
        ranks_differ = ranks_differ || points[i].n_ranks != points[0].n_ranks;
        sizes_differ = sizes_differ || points[i].size_B != points[0].size_B;
    }
    return C1 | (sizes_differ ? C2 : 0) | (ranks_differ ? C3 : 0);
}

static int count_terms(int set) { return (set & 1) + (set >> 1 & 1) + (set >> 2 & 1); }

struct work {
    const struct fr_fit_point *points;
    int n, skip;
    bool relative;
    double scale[TERMS]; /* of the columns, since bytes and seconds differ by 1e15 */
};

/* Least squares over the terms of @p set.  @return sum of squares, or infinity when a
 * coefficient comes out negative; less than 0 when memory is exhausted. */
static double solve(const struct work *w, int set, double c[TERMS]) {
    size_t rows = (size_t)(w->n - (w->skip >= 0)), columns = (size_t)count_terms(set), row = 0;
    double squares = -1;
    gsl_matrix *x = gsl_matrix_alloc(rows, columns),
               *covariance = gsl_matrix_alloc(columns, columns);
    gsl_vector *y = gsl_vector_alloc(rows), *solution = gsl_vector_alloc(columns);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(rows, columns);
    if (!x || !covariance || !y || !solution || !work) goto done;
    for (int i = 0; i < w->n; i++) {
        double weight = w->relative ? 1 / w->points[i].time_s : 1e6;
        size_t column = 0;
        if (i == w->skip) continue;
        for (int t = 0; t < TERMS; t++)
            if (set >> t & 1)
                gsl_matrix_set(x, row, column++, weight * term(&w->points[i], t) / w->scale[t]);
        gsl_vector_set(y, row++, weight * w->points[i].time_s);
    }
    if (gsl_multifit_linear(x, y, solution, covariance, &squares, work)) squares = HUGE_VAL;
    for (int t = 0, column = 0; t < TERMS; t++) {
        c[t] = set >> t & 1 ? gsl_vector_get(solution, (size_t)column++) / w->scale[t] : 0;
        if (!(c[t] >= 0)) squares = HUGE_VAL;
    }
done:
    gsl_matrix_free(x);
    gsl_matrix_free(covariance);
    gsl_vector_free(y);
    gsl_vector_free(solution);
    if (work) gsl_multifit_linear_free(work);
    return squares;
}

static fr_status fit(struct work *w, int allowed, struct fr_fit_log *log) {
    double best = HUGE_VAL, c[TERMS] = {0};
    for (int t = 0; t < TERMS; t++) {
        w->scale[t] = 0;
        for (int i = 0; i < w->n; i++) w->scale[t] = fmax(w->scale[t], term(&w->points[i], t));
    }
    for (int set = 1; set < 1 << TERMS; set++) {
        if (set & ~allowed) continue;
        double squares = solve(w, set, c);
        if (squares < 0) return FR_ERR_NOMEM;
        if (squares >= best) continue;
        best = squares;
        *log = (struct fr_fit_log){.present = true,
                                   .c1_s = fr_fit_latency(c[0]),
                                   .c2_s_per_B = fr_fit_per_byte(c[1]),
                                   .c3_s = fr_fit_latency(c[2])};
    }
    return FR_OK;
}

fr_status fr_fit_log_form(const struct fr_fit_point *points, int n, bool relative, int skip,
                          struct fr_fit_log *log) {
    struct work w = {.points = points, .n = n, .skip = skip, .relative = relative};
    int allowed = distinct_terms(points, n);
    *log = (struct fr_fit_log){0};
    if (n - (skip >= 0) <= count_terms(allowed)) return FR_OK;
    gsl_error_handler_t *before = fr_gsl_errors();
    fr_status status = fit(&w, allowed, log);
    gsl_set_error_handler(before);
    return status;
}

double fr_fit_log_time_s(const struct fr_fit_log *log, int64_t n_ranks, double size_B) {
    return log->c1_s * log2((double)n_ranks) + log->c2_s_per_B * size_B + log->c3_s;
}

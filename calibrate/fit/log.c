/* t = c1 log2 p + c2 m + c3 with coefficients >= 0.  With three terms there are seven subsets,
 * so non-negative least squares is done by trying all. */
#include <math.h>

#include "calibrate/fit/parts.h"
#include "trust/numbers/least_squares.h"

enum { TERMS = 3, C1 = 1, C2 = 2, C3 = 4 };

static const double alike =
    1e-12; /* of a column: what rounding leaves of one that is none of its own */

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

/* Least squares over the terms of @p set.  @return sum of squares, or infinity when a coefficient comes out
 * negative or the points do not tell the terms apart. */
static double solve(const struct work *w, int set, double c[TERMS]) {
    struct fr_least_squares s = {.columns = count_terms(set)};
    double solution[TERMS];
    for (int i = 0; i < w->n; i++) {
        double weight = w->relative ? 1 / w->points[i].time_s : 1e6, row[TERMS];
        int column = 0;
        if (i == w->skip) continue;
        for (int t = 0; t < TERMS; t++)
            if (set >> t & 1) row[column++] = weight * term(&w->points[i], t) / w->scale[t];
        fr_least_squares_add(&s, row, weight * w->points[i].time_s);
    }
    if (!fr_least_squares_solve(&s, alike, solution)) return HUGE_VAL;
    for (int t = 0, column = 0; t < TERMS; t++) {
        c[t] = set >> t & 1 ? solution[column++] / w->scale[t] : 0;
        if (!(c[t] >= 0)) return HUGE_VAL;
    }
    return s.squares;
}

static void fit(struct work *w, int allowed, struct fr_fit_log *log) {
    double best = HUGE_VAL, c[TERMS] = {0};
    for (int t = 0; t < TERMS; t++) {
        w->scale[t] = 0;
        for (int i = 0; i < w->n; i++) w->scale[t] = fmax(w->scale[t], term(&w->points[i], t));
    }
    for (int set = 1; set < 1 << TERMS; set++) {
        if (set & ~allowed) continue;
        double squares = solve(w, set, c);
        if (squares >= best) continue;
        best = squares;
        *log = (struct fr_fit_log){.present = true,
                                   .c1_s = fr_fit_latency(c[0]),
                                   .c2_s_per_B = fr_fit_per_byte(c[1]),
                                   .c3_s = fr_fit_latency(c[2])};
    }
}

fr_status fr_fit_log_form(const struct fr_fit_point *points, int n, bool relative, int skip,
                          struct fr_fit_log *log) {
    struct work w = {.points = points, .n = n, .skip = skip, .relative = relative};
    int allowed = distinct_terms(points, n);
    *log = (struct fr_fit_log){0};
    if (n - (skip >= 0) <= count_terms(allowed)) return FR_OK;
    fit(&w, allowed, log);
    return FR_OK;
}

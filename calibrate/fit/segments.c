/* Piecewise linear fit with breakpoints at measured sizes: best[s][j], the least sum of errors of
 * the first j sizes in s segments, by dynamic programming (Bellman, Comm. ACM 4, 1961).  Within a
 * segment squares are minimised; between segmentations absolute relative errors are compared, so
 * that one size with a cost of its own does not hide the breakpoints elsewhere.
 *
 * With more than 128 sizes, a segment may begin at 128 of them, evenly spaced in their order;
 * every size still counts in the errors.  So the work grows as the number of sizes, and the
 * tables do not. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/fit/parts.h"
#include "models/network/segment_fit.h"

enum { SEGMENTS_MAX = 6, PLACES_MAX = 128 };
/* Relative errors below this are clock and median noise; it keeps exact data from being cut up. */
static const double FLOOR = 0.005;

struct line {
    double latency_s, s_per_B, error; /* error: sum of |line / t - 1| */
};

/* Least squares of (a + b m)/t - 1 over one segment, a, b >= 0.  If the free solution has a
 * negative coefficient, the best lies on a border, a = 0 or b = 0, whichever explains more; of two that
 * explain as much, but for rounding, b = 0. */
static struct line fit_line(const double *m, const double *t, int n) {
    double uu = 0, vv = 0, uv = 0, u1 = 0, v1 = 0; /* u = 1/t, v = m/t */
    for (int i = 0; i < n; i++) {
        double u = 1 / t[i], v = m[i] / t[i];
        uu += u * u, vv += v * v, uv += u * v, u1 += u, v1 += v;
    }
    double determinant = uu * vv - uv * uv;
    double a = (u1 * vv - v1 * uv) / determinant, b = (v1 * uu - u1 * uv) / determinant;
    if (determinant <= 1e-12 * uu * vv || a < 0 || b < 0) {
        bool steep =
            v1 * v1 / vv > (1 + 1e-9) * u1 * u1 / uu; /* false of 0/0: sizes of nothing */
        a = steep ? 0 : u1 / uu;
        b = steep ? v1 / vv : 0;
    }
    struct line line = {a, b, 0};
    for (int i = 0; i < n; i++) line.error += fabs((a + b * m[i]) / t[i] - 1);
    return line;
}

/* Places: where segments may begin and end.  place[0] = 0, place[n] = the number of sizes. */
struct table {
    int n, n_sizes, shortest, most;
    int place[PLACES_MAX + 1];
    const double *m, *t;
    struct line *lines; /* [first * n + last]: from place[first] up to place[last + 1] */
    double *best;       /* [segments * (n + 1) + count] */
    int *from;          /* the same: where the last segment begins */
};

static void fill(struct table *table) {
    int n = table->n, stride = n + 1;
    const int *place = table->place;
    for (int first = 0; first < n; first++)
        for (int last = first; last < n; last++)
            table->lines[first * n + last] =
                fit_line(table->m + place[first], table->t + place[first],
                         place[last + 1] - place[first]);
    for (int i = 0; i < (table->most + 1) * stride; i++) table->best[i] = HUGE_VAL;
    table->best[0] = 0;
    for (int s = 1; s <= table->most; s++)
        for (int j = 1; j <= n; j++)
            for (int i = 0; i < j; i++) {
                if (place[j] - place[i] < table->shortest) break;
                double error = table->best[(s - 1) * stride + i];
                error += table->lines[i * n + j - 1].error;
                if (!(error < table->best[s * stride + j])) continue;
                table->best[s * stride + j] = error;
                table->from[s * stride + j] = i;
            }
}

/* The number of segments that the Bayesian information criterion prefers for errors with a
 * Laplace distribution: 2 n ln(sum |e| / n) + k ln n, with k = 3 s - 1 (two coefficients a segment
 * and the breakpoints). */
static int choose(const struct table *table) {
    int chosen = 1;
    double n = table->n_sizes, least = HUGE_VAL;
    for (int s = 1; s <= table->most; s++) {
        double error = table->best[s * (table->n + 1) + table->n];
        if (!(error < HUGE_VAL)) continue;
        double criterion = 2 * n * log(fmax(error / n, FLOOR)) + (3 * s - 1) * log(n);
        if (criterion >= least) continue;
        least = criterion;
        chosen = s;
    }
    return chosen;
}

static fr_status extract(const struct table *table, int count, struct fr_segment_fit *fit) {
    fit->segments = fr_calloc((size_t)count, sizeof *fit->segments);
    if (!fit->segments) return FR_ERR_NOMEM;
    fit->count = count;
    for (int s = count, stop = table->n; s > 0; s--) {
        int first = table->from[s * (table->n + 1) + stop];
        const struct line *line = &table->lines[first * table->n + stop - 1];
        fit->segments[s - 1] = (struct fr_segment){table->m[table->place[stop] - 1],
                                                   fr_fit_latency(line->latency_s),
                                                   fr_fit_per_byte(line->s_per_B)};
        stop = first;
    }
    return FR_OK;
}

fr_status fr_fit_segments(const struct fr_fit_point *points, int n_points, int skip,
                          struct fr_segment_fit *fit) {
    int n = 0, kept = n_points - (skip >= 0);
    int places = kept < PLACES_MAX ? kept : PLACES_MAX;
    size_t cells = (size_t)places * (size_t)places, rows = SEGMENTS_MAX + 1,
           stride = (size_t)places + 1, scratch = (size_t)kept + 1;
    *fit = (struct fr_segment_fit){.level = points->level, .n_ranks = points->n_ranks};
    double *m = fr_calloc(scratch, sizeof *m), *t = fr_calloc(scratch, sizeof *t);
    struct table table = {.lines = fr_calloc(cells + 1, sizeof *table.lines),
                          .best = fr_calloc(rows * stride, sizeof *table.best),
                          .from = fr_calloc(rows * stride, sizeof *table.from)};
    fr_status status = m && t && table.lines && table.best && table.from ? FR_OK : FR_ERR_NOMEM;
    if (status != FR_OK || kept < 1) goto done;
    for (int i = 0; i < n_points; i++) {
        if (i == skip) continue;
        m[n] = points[i].size_B;
        t[n++] = points[i].time_s;
    }
    table.n = places;
    table.n_sizes = n;
    for (int i = 0; i <= places; i++) table.place[i] = (int)((int64_t)i * n / places);
    table.m = m;
    table.t = t;
    table.shortest = n >= 6 ? 3 : n >= 2 ? 2 : 1;
    table.most = n / table.shortest < SEGMENTS_MAX ? n / table.shortest : SEGMENTS_MAX;
    fill(&table);
    fit->min_B = m[0];
    fit->max_B = m[n - 1];
    status = extract(&table, choose(&table), fit);
done:
    free(m);
    free(t);
    free(table.lines);
    free(table.best);
    free(table.from);
    return status;
}

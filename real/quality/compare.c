/* Which plans are told apart, seed by seed. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "real/quality/cells.h"

static const double ALL_HOLD = 0.95;

/* Seeds of which both are known, their difference; -1 where one diverged or did not get there. */
static int differences(const struct fr_quality_options *o, const struct fr_quality_row *a,
                       const struct fr_quality_row *b, int by, double *d) {
    int n = 0;
    for (int64_t i = 0; i < o->seeds; i++) {
        double x = by == FR_QUALITY_BY_LOSS ? a->loss_of[i] : log(a->iterations_of[i]);
        double y = by == FR_QUALITY_BY_LOSS ? b->loss_of[i] : log(b->iterations_of[i]);
        if (!isfinite(x) || !isfinite(y)) return -1;
        d[n++] = y - x;
    }
    return n;
}

static bool compare(const struct fr_quality_options *o, const struct fr_quality *q,
                    double *scratch, struct fr_quality_pair *pair) {
    int n = differences(o, &q->rows[pair->a], &q->rows[pair->b], pair->by, scratch);
    if (n < 2) return false;
    pair->n = n;
    pair->d = fr_quality_mean_of(scratch, n, q->confidence);
    pair->apart = pair->d.low > 0 || pair->d.high < 0;
    if (pair->by == FR_QUALITY_BY_ITERATIONS)
        pair->d =
            (struct fr_quality_mean){exp(pair->d.mean), exp(pair->d.low), exp(pair->d.high)};
    return true;
}

fr_status fr_quality_compare(const struct fr_quality_options *o, struct fr_quality *q,
                             struct fr_error *err) {
    int all = q->n_rows * (q->n_rows - 1); /* pairs, each by loss and by iterations */
    double *scratch = fr_calloc((size_t)o->seeds, sizeof *scratch);
    q->pairs = fr_calloc((size_t)all + 1, sizeof *q->pairs);
    if (!scratch || !q->pairs) {
        free(scratch);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "%d comparisons", all);
    }
    q->confidence = 1 - (1 - ALL_HOLD) / (all > 0 ? all : 1);
    for (int by = FR_QUALITY_BY_LOSS; by <= FR_QUALITY_BY_ITERATIONS; by++)
        for (int a = 0; a < q->n_rows; a++)
            for (int b = a + 1; b < q->n_rows; b++) {
                struct fr_quality_pair *pair = &q->pairs[q->n_pairs];
                *pair = (struct fr_quality_pair){.a = a, .b = b, .by = by};
                q->n_pairs += compare(o, q, scratch, pair);
            }
    free(scratch);
    return FR_OK;
}

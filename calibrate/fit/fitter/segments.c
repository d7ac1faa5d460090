/* Straight pieces in the message size, one list a level and rank count. */
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/fit/fitter.h"
#include "calibrate/fit/parts.h"

static bool same_curve(const struct fr_fit_point *a, const struct fr_fit_point *b) {
    return a->level == b->level && a->n_ranks == b->n_ranks;
}

static fr_status fit(const struct fr_fit_point *points, int n, bool gpu,
                     struct fr_price *price) {
    (void)gpu;
    price->fits = fr_calloc((size_t)n, sizeof *price->fits);
    if (!price->fits) return FR_ERR_NOMEM;
    for (int first = 0, stop; first < n; first = stop) {
        /* Among several layouts of the same ranks the first, the most packed, stays. */
        for (stop = first + 1; stop < n && same_curve(&points[first], &points[stop]);) stop++;
        int last = first + 1;
        while (last < stop && points[last].n_nodes == points[first].n_nodes) last++;
        FR_TRY(fr_fit_segments(points + first, last - first, -1, &price->fits[price->n_fits]));
        if (price->fits[price->n_fits].count > 0) price->n_fits++;
    }
    if (price->n_fits > 0) price->form = &fr_form_segments;
    return FR_OK;
}

const struct fr_fitter fr_fitter_segments = {.name = "segments", .fit = fit};

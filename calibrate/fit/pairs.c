/* How many ranks share one link of a level?  n pairs send at once over links each of which s
 * ranks share.  A message then takes about min(n, s) times as long as alone, latency apart. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/fit/parts.h"

/* Median time of the messages of @p size_B there and back by @p n_pairs at once, 0: none. */
static double median_s(const struct fr_samples *samples, int level, int64_t n_pairs,
                       double size_B, double *scratch) {
    size_t n = 0;
    for (size_t i = 0; i < samples->n_pairs; i++) {
        const struct fr_sample_pairs *s = &samples->pairs[i];
        if (s->level == level && s->direction == 0 && s->n_pairs == n_pairs &&
            s->size_B == size_B)
            scratch[n++] = s->time_s;
    }
    return fr_fit_median(scratch, n);
}

/* The largest message is the one that shows the link and not the latency. */
fr_status fr_fit_shared_by(const struct fr_samples *samples, int level, int64_t per_node,
                           int64_t *shared_by) {
    double largest_B = 0, smallest_B = HUGE_VAL;
    int64_t most = 1;
    for (size_t i = 0; i < samples->n_pairs; i++) {
        const struct fr_sample_pairs *s = &samples->pairs[i];
        if (s->level != level || s->direction != 0) continue;
        largest_B = fmax(largest_B, s->size_B);
        smallest_B = fmin(smallest_B, s->size_B);
        if (s->n_pairs > most) most = s->n_pairs;
    }
    if (most == 1) return FR_OK;
    double *scratch = fr_malloc(samples->n_pairs + 1, sizeof *scratch);
    if (!scratch) return FR_ERR_NOMEM;
    double alone_s = median_s(samples, level, 1, largest_B, scratch),
           together_s = median_s(samples, level, most, largest_B, scratch),
           latency_s = median_s(samples, level, 1, smallest_B, scratch);
    free(scratch);
    if (!(alone_s > latency_s && together_s > latency_s)) return FR_OK;
    /* Not all ranks may have been paired: the share of the node that one link serves. */
    double slower =
        fmin(fmax(1, (together_s - latency_s) / (alone_s - latency_s)), (double)most);
    int64_t found = (int64_t)llround(slower * (double)per_node / (double)most);
    *shared_by = found < 1 ? 1 : found > per_node ? per_node : found;
    return FR_OK;
}

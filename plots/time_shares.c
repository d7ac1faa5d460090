#include "plots/time_shares.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

fr_status fr_shares_begin(struct fr_shares *shares, int n_lanes, int n_bins,
                          struct fr_error *err) {
    *shares = (struct fr_shares){.n_lanes = n_lanes, .n_bins = n_bins, .weight = 1};
    shares->share =
        fr_calloc((size_t)n_lanes * (size_t)n_bins * FR_SHARES_KINDS, sizeof(float));
    return shares->share ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
}

void fr_shares_free(struct fr_shares *shares) {
    free(shares->share);
    *shares = (struct fr_shares){0};
}

static float *at(const struct fr_shares *shares, int lane, int bin) {
    return shares->share +
           ((size_t)lane * (size_t)shares->n_bins + (size_t)bin) * FR_SHARES_KINDS;
}

const float *fr_shares_at(const struct fr_shares *shares, int lane, int bin) {
    return at(shares, lane, bin);
}

void fr_shares_add(struct fr_shares *shares, int lane, int kind, double low, double high) {
    int last = (int)fmin(ceil(high), shares->n_bins);
    for (int bin = (int)floor(low); bin < last; bin++)
        at(shares, lane, bin)[kind] +=
            (float)(shares->weight * (fmin(high, bin + 1) - fmax(low, bin)));
}

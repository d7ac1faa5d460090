/* Has the machine changed since its calibration?  The reference loops of a validation against what
 * the cluster file says of them.  Ranks of a job that shared cores say nothing. */
#include <stdlib.h>

#include "base/alloc.h"
#include "real/validate/validate.h"
#include "trust/numbers/statistics.h"

static void summarise(double *ratio, int n, struct fr_validate_drift *drift) {
    *drift = (struct fr_validate_drift){.n = n};
    if (n == 0) return;
    fr_sort(ratio, (size_t)n);
    drift->median = fr_sorted_median(ratio, (size_t)n);
    drift->low = ratio[0];
    drift->high = ratio[n - 1];
}

fr_status fr_validate_drifts(const struct fr_cluster *cluster, int64_t cores,
                             struct fr_validation *v, struct fr_error *err) {
    const struct fr_device *device = &cluster->device;
    double *ratio = fr_calloc(2 * (size_t)v->n_references + 1, sizeof *ratio);
    double *memory = ratio + v->n_references;
    int products = 0, streams = 0;
    if (!ratio) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d references", v->n_references);
    for (int i = 0; i < v->n_references; i++) {
        const struct fr_validate_reference *r = &v->references[i];
        const struct fr_gemm_shape square = {r->edge, r->edge, r->edge, 1, 0};
        bool outside = false;
        if (r->ranks > cores) continue;
        if (device->gemm[FR_FP32].form)
            ratio[products++] =
                r->product_s / fr_gemm_time_s(device, FR_FP32, &square, &outside);
        /* Without rates by working set nobody knows what a stream over this one takes. */
        if (device->working_sets.n > 0)
            memory[streams++] =
                r->stream_s_per_B / fr_device_traffic_s(device, FR_TRAFFIC_STREAM, 1, r->set_B);
    }
    summarise(ratio, products, &v->products);
    summarise(memory, streams, &v->memory);
    free(ratio);
    return FR_OK;
}

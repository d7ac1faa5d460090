#include "real/apps/ffn.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "models/plan/key.h"
#include "real/apps/random.h"

fr_status fr_ffn_data(const struct fr_kernels *k, uint64_t seed, int64_t n_in, int64_t n_out,
                      const struct fr_ffn_part *part, void **x, void **t,
                      struct fr_error *err) {
    int64_t samples = part->samples, n = n_in * samples;
    void *all = fr_real_alloc(k, n), *w = fr_real_alloc(k, part->t_rows * n_in);
    fr_status status = FR_OK;
    *x = fr_real_alloc(k, part->x_rows * samples);
    *t = fr_real_alloc(k, part->t_rows * samples);
    if (!all || !w || !*x || !*t) {
        status = fr_fail(err, FR_ERR_NOMEM, NULL, "%" PRId64 " samples of %" PRId64 " values",
                         samples, n_in);
        goto done;
    }
    fr_fill_normal(k, seed, FR_STREAM_X, 0, n_in, part->sample, samples, part->all_samples, 1,
                   all);
    fr_fill_normal(k, seed, FR_STREAM_W, part->t_row, part->t_rows, 0, n_in, n_in,
                   1 / sqrt((double)n_in), w);
    k->copy((int)part->x_rows, (int)samples, fr_at(k, all, (size_t)(part->x_row * samples)),
            (int)samples, *x, (int)samples);
    k->relu((size_t)n, all, all);
    k->gemm(false, false, (int)part->t_rows, (int)samples, (int)n_in, 1, w, (int)n_in, all,
            (int)samples, 0, *t, (int)samples);
    k->relu((size_t)(part->t_rows * samples), *t, *t);
    (void)n_out;
done:
    free(all);
    free(w);
    return status;
}

void fr_ffn_loss(struct fr_real *real, size_t n, double mean, const void *output,
                 const void *target, void *dy, double *loss) {
    double squares = 0;
    FR_COMPUTE(real, squares = real->k->difference(n, output, target, 2 * mean, dy));
    *loss = squares * mean;
}

fr_status fr_ffn_check(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    struct fr_real_layer *layers = NULL;
    int n = 0;
    int64_t batch = fr_real_batch(run);
    if (run->workload->n_layers == 0)
        return fr_fail(err, FR_ERR_INPUT, NULL, "the model has no layers; expected ffn or mlp");
    const char *key = NULL, *needs;
    const struct fr_plan_key *idle = fr_plan_idle_key(run->workload, plan, &needs);
    if (idle)
        return fr_fail(err, FR_ERR_INPUT, NULL, "\"%s\" would have no effect: it needs %s",
                       idle->name, needs);
    if (plan->overlap) key = "overlap";
    if (fr_plan_compresses(plan)) key = "compression";
    if (plan->pp != 1) key = "pp";
    if (plan->micro_batch && plan->micro_batch * plan->dp != batch) key = "micro_batch";
    if (key) return fr_fail(err, FR_ERR_INPUT, NULL, "\"%s\" is for the program mesh", key);
    fr_status status = fr_real_layers(run->workload, false, &layers, &n, err);
    free(layers);
    FR_TRY(status);
    return fr_real_divides("the global batch", batch, "dp", plan->dp, err);
}

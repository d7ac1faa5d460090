#include "trust/profile_fit.h"

#include <math.h>
#include <stdlib.h>

static struct fr_fitted_profile key_of(const struct fr_run *run) {
    return (struct fr_fitted_profile){
        .hidden = run->workload.transformer.hidden,
        .row = {.tp = run->plan.tp, .micro_batch = fr_plan_micro_batch(&run->plan)}};
}

static bool same(const struct fr_fitted_profile *a, const struct fr_fitted_profile *b) {
    return a->hidden == b->hidden && a->row.tp == b->row.tp &&
           a->row.micro_batch == b->row.micro_batch;
}

/* All but layers and logits. */
static double rest_s(const struct fr_cluster *cluster, const struct fr_run *run) {
    struct fr_run bare = *run;
    struct fr_layer_profile nothing = key_of(run).row;
    bare.workload.profile = &nothing;
    bare.workload.n_profile = 1;
    return fr_run_predict_s(cluster, &bare);
}

/* t - rest = m L a + m b, weighted by 1 / t^2.  Where all L are the same a second equation is added, with a
 * thousandth of a row's weight: the logits take as long as two layers. */
static void solve(const struct fr_cluster *cluster, const struct fr_run *const *runs, int n,
                  struct fr_fitted_profile *p) {
    double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
    for (int i = 0; i < n; i++) {
        struct fr_fitted_profile key = key_of(runs[i]);
        if (!same(&key, p)) continue;
        int64_t batch = runs[i]->plan.global_batch ? runs[i]->plan.global_batch
                                                   : runs[i]->workload.global_batch;
        double t = runs[i]->measured_s, layers = (double)runs[i]->workload.transformer.layers;
        double m = (double)(batch / runs[i]->plan.dp / p->row.micro_batch);
        double x = m * layers / t, z = m / t, y = (t - rest_s(cluster, runs[i])) / t;
        double tie = 1e-3 * z;
        aa += x * x + 4 * tie * tie;
        ab += x * z - 2 * tie * tie;
        bb += z * z + tie * tie;
        ay += x * y;
        by += z * y;
    }
    double det = aa * bb - ab * ab;
    double layer_s = fmax(0, (ay * bb - by * ab) / det);
    double logits_s = fmax(0, (by - ab * layer_s) / bb);
    p->row.forward_s = layer_s / 3;
    p->row.backward_s = layer_s * 2 / 3;
    p->row.logits_forward_s = logits_s / 3;
    p->row.logits_backward_s = logits_s * 2 / 3;
}

fr_status fr_profile_fit(const struct fr_cluster *cluster, const struct fr_run *const *runs,
                         int n, struct fr_fitted_profile *profiles, int *count,
                         struct fr_error *err) {
    (void)err;
    *count = 0;
    for (int i = 0; i < n; i++) {
        struct fr_fitted_profile key = key_of(runs[i]);
        int k = 0;
        while (k < *count && !same(&profiles[k], &key)) k++;
        if (k < *count) continue;
        solve(cluster, runs, n, &key);
        profiles[(*count)++] = key;
    }
    return FR_OK;
}

bool fr_profile_use(struct fr_run *run, struct fr_fitted_profile *profiles, int count) {
    struct fr_fitted_profile key = key_of(run);
    run->workload.profile = NULL;
    run->workload.n_profile = 0;
    for (int k = 0; k < count; k++) {
        if (!same(&profiles[k], &key)) continue;
        run->workload.profile = &profiles[k].row;
        run->workload.n_profile = 1;
    }
    return run->workload.n_profile > 0;
}

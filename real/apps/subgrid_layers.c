/* Layers of a branching workload as one rank of a sub-grid has them, and what the program refuses. */
#include <stdlib.h>

#include "base/alloc.h"
#include "real/apps/ffn.h"
#include "real/apps/subgrid.h"

fr_status fr_subgrid_layers(const struct fr_real_case *run, struct fr_subgrid_layer **layers,
                            int *n, struct fr_error *err) {
    const struct fr_workload *w = run->workload;
    int g = (int)run->plan->tp, repeats = w->n_layers ? (int)w->layers[0].repeat : 0;
    *n = 0;
    *layers = fr_calloc((size_t)(w->n_layers * repeats) + 1, sizeof **layers);
    if (!*layers) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d layers", w->n_layers);
    for (int r = 0; r < repeats; r++)
        for (int i = 0; i < w->n_layers; i++) {
            const struct fr_layer *from = &w->layers[i];
            struct fr_subgrid_layer *l = &(*layers)[*n];
            int all = from->branches > 0 ? (int)from->branches : 1;
            if ((int)from->repeat != repeats)
                return fr_fail(err, FR_ERR_INPUT, NULL, "layers that repeat differently");
            l->common = from->branches <= 0;
            l->branches = l->common ? 1 : all / g;
            l->attention = from->weights <= 0;
            l->joint_in = from->joint_in;
            l->joint_out = from->joint_out;
            l->in = (int)from->inner;
            l->out = (int)from->rows / all;
            l->bias = from->biases > 0;
            l->shared = from->joint_in == FR_JOINT_SPLIT;
            if (l->attention) { /* scores: inner is the dim; the sum beside it: rows are */
                if (++i >= w->n_layers)
                    return fr_fail(err, FR_ERR_INPUT, NULL, "half an attention");
                l->joint_out = w->layers[i].joint_out;
                l->out = l->in;
                l->in = 3 * l->out;
            }
            (*n)++;
        }
    for (int i = 0; i < *n; i++) {
        struct fr_subgrid_layer *l = &(*layers)[i];
        bool before = i > 0 && l[-1].attention, after = i + 1 < *n && l[1].attention;
        l->relu = !l->attention && !before && !after;
    }
    return FR_OK;
}

fr_status fr_subgrid_check(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    const struct fr_workload *w = run->workload;
    struct fr_subgrid_layer *layers = NULL;
    int n = 0;
    if (w->n_layers == 0)
        return fr_fail(err, FR_ERR_INPUT, NULL, "the model has no layers; expected branches");
    const char *key = plan->pp != 1              ? "pp"
                      : fr_plan_compresses(plan) ? "compression"
                      : plan->micro_batch && plan->micro_batch * plan->dp != fr_real_batch(run)
                          ? "micro_batch"
                      : plan->placement.row->searches ? "placement"
                                                      : NULL;
    if (key) return fr_fail(err, FR_ERR_INPUT, NULL, "\"%s\" is not run by this program", key);
    FR_TRY(fr_real_divides("the global batch", fr_real_batch(run), "dp", plan->dp, err));
    if (!plan->common_subgrid)
        FR_TRY(fr_real_divides("a group's samples", fr_real_batch(run) / plan->dp, "tp",
                               plan->tp, err));
    for (int i = 0; i < w->n_layers; i++)
        if (w->layers[i].branches > 0)
            FR_TRY(fr_real_divides("the number of branches", (int64_t)w->layers[i].branches,
                                   "tp", plan->tp, err));
    fr_status status = fr_subgrid_layers(run, &layers, &n, err);
    free(layers);
    return status;
}

int64_t fr_subgrid_layer_parameters(const struct fr_subgrid_layer *l) {
    return l->attention ? 0 : (int64_t)l->branches * l->out * (l->in + 1);
}

int64_t fr_subgrid_parameters(const struct fr_real *real) {
    struct fr_subgrid_layer *layers = NULL;
    int n = 0;
    int64_t sum = 0;
    if (fr_subgrid_layers(real->run, &layers, &n, NULL) == FR_OK)
        for (int i = 0; i < n; i++) sum += fr_subgrid_layer_parameters(&layers[i]);
    free(layers);
    return sum;
}

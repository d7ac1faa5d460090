#include "studies/training/ablation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

static void no_host(struct fr_cluster *c) {
    c->device.host_launch_s = c->device.host_pass_s = c->device.host_skew = 0;
}
static void no_skew(struct fr_cluster *c) { c->device.host_skew = 0; }
static void no_gaps(struct fr_cluster *c) { c->device.launch_s = 0; }
static void no_attention(struct fr_cluster *c) { c->device.attention.plain = 0; }
static void no_latency(struct fr_cluster *c) {
    for (int l = 0; l < c->levels.count; l++) c->levels.level[l].latency_s = 0;
}
static void no_fixed(struct fr_cluster *c) { c->device.fixed_s = 0; }

/* Remove the alignment of all products of a tiled form. */
static void no_alignment(struct fr_cluster *c) {
    for (int d = 0; d < FR_DTYPE_COUNT; d++)
        c->device.gemm[d].tiles.odd = c->device.gemm[d].tiles.misaligned = 1;
}
static void no_waves(struct fr_cluster *c) {
    for (int d = 0; d < FR_DTYPE_COUNT; d++)
        c->device.gemm[d].tiles.tail = c->device.gemm[d].half = 0;
}
static void no_interference(struct fr_cluster *c) { c->device.interference = 0; }
static void no_backward(struct fr_cluster *c) { c->device.attention.backward = 0; }
static void no_keys(struct fr_cluster *c) { c->device.attention.half_keys = 0; }
static void no_generations(struct fr_cluster *c) {
    c->device.attention.flash_1 = c->device.attention.flash_2 = c->device.attention.flash;
}
static void no_traffic(struct fr_cluster *c) { c->device.memory_rate_B_per_s = 1e18; }

static const struct ingredient {
    const char *name, *what;
    void (*remove)(struct fr_cluster *c);
} ingredients[] = {
    {"host", "host launching beside the device", no_host},
    {"host_skew", "the slowest of tp hosts", no_skew},
    {"gaps", "gaps between kernels", no_gaps},
    {"traffic", "element-wise, softmax, loss and optimiser traffic", no_traffic},
    {"attention", "attention's products at a rate of their own", no_attention},
    {"alignment", "products slow where dimensions are no multiples", no_alignment},
    {"waves", "tiles, waves and depth of products", no_waves},
    {"latency", "latency of messages", no_latency},
    {"fixed", "a fixed time per iteration", no_fixed},
    {"interference", "what collectives take from the passes that hide them", no_interference},
    {"flash_backward", "a slower backward pass of fused attention", no_backward},
    {"flash_keys", "fused attention slower with few keys a query", no_keys},
    {"flash_generation", "earlier generations of fused attention", no_generations},
};

/* Does any row's prediction change by more than a millionth? */
static fr_status felt(const struct ingredient *it, const char *preset,
                      const struct fr_table_set *set, bool *feels, struct fr_error *err) {
    struct fr_cluster with = {0};
    FR_TRY(fr_table_cluster(preset, &with, err));
    struct fr_cluster without = with; /* borrows the tables of the first */
    it->remove(&without);
    *feels = false;
    for (int i = 0; i < set->n && !*feels; i++) {
        double a = fr_run_predict_s(&with, set->use[i]),
               b = fr_run_predict_s(&without, set->use[i]);
        *feels = fabs(b / a - 1) > 1e-6;
    }
    fr_cluster_free(&with);
    return FR_OK;
}

/* Mean error of the folds with @p remove applied to the prior; NULL: all ingredients. */
static fr_status mean_error(const char *preset, void (*removing)(struct fr_cluster *c),
                            const struct fr_table_set *set, const char *const *columns,
                            const struct fr_tune_options *options, double *mean,
                            struct fr_error *err) {
    struct fr_cluster prior = {0};
    struct fr_tune_options bare = *options;
    struct fr_scored *scored = fr_calloc((size_t)set->n + 1, sizeof *scored);
    struct fr_score score;
    fr_status status = scored ? fr_table_cluster(preset, &prior, err)
                              : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    bare.values_only = true;
    if (status == FR_OK && removing) removing(&prior);
    if (status == FR_OK)
        status = fr_study_cross(&prior, set->use, set->n, NULL, 0, columns, &bare, scored, NULL,
                                err);
    if (status == FR_OK) status = fr_score_make(scored, set->n, &score, err);
    if (status == FR_OK) *mean = score.mape;
    fr_cluster_free(&prior);
    free(scored);
    return status;
}

fr_status fr_ablation_add(struct fr_reproduction *r, const char *table, const char *preset,
                          const struct fr_table_set *set, const char *const *columns,
                          const struct fr_tune_options *options, struct fr_error *err) {
    double with = 0, without = 0;
    FR_TRY(mean_error(preset, NULL, set, columns, options, &with, err));
    for (size_t i = 0; i < sizeof ingredients / sizeof *ingredients; i++) {
        const struct ingredient *it = &ingredients[i];
        char note[240];
        bool feels = false;
        FR_TRY(felt(it, preset, set, &feels, err));
        if (!feels) continue;
        FR_TRY(mean_error(preset, it->remove, set, columns, options, &without, err));
        snprintf(note, sizeof note, "%s: mean error %.2f %% without, %.2f %% with%s", it->what,
                 100 * without, 100 * with,
                 fabs(without - with) < 1e-3 ? "; these rows do not resolve it" : "");
        fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, without - with, "1", 0, note,
                         "ablation/%s/%s", table, it->name);
        if (r->progress) fr_progress_add(r->progress, 1);
    }
    return FR_OK;
}

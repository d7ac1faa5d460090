/* A rank's work grows evenly with each width of a transformer, from the smallest: amounts at widths of 1, 2, 3 and 9
 * lie on a line.  So do a model's operations (models/workload/flop.h). */
#include <stddef.h>

#include "models/work/transformer.h"
#include "models/workload/flop.h"
#include "tests/job.h"
#include "tests/models/work/reckoned.h"
#include "tests/work.h"

#define FIELD(name) offsetof(struct fr_transformer, name)
#define LATENT                                                                                 \
    "model.head_dim=64", "model.kv_latent=64", "model.q_latent=32", "model.rope_dim=16",       \
        "model.value_dim=48"
#define MIXED                                                                                  \
    "model.experts=4", "model.experts_per_token=2", "model.expert_ffn=256",                    \
        "model.shared_ffn=128", "model.dense_layers=1"

static const struct {
    size_t field;
    const char *sets[12];
} rows[] = {
    {FIELD(ffn), {"tp=1"}},
    {FIELD(ffn), {"tp=1", "model.gated=true", "recompute=full"}},
    {FIELD(kv_latent), {LATENT}},
    {FIELD(kv_latent), {LATENT, "recompute=full"}},
    {FIELD(kv_latent), {"model.head_dim=64", "model.kv_latent=8", "model.rope_dim=0"}},
    {FIELD(q_latent), {LATENT}},
    {FIELD(value_dim), {LATENT}},
    {FIELD(rope_dim), {LATENT}},
    {FIELD(expert_ffn), {MIXED}},
    {FIELD(expert_ffn), {MIXED, "model.gated=true"}},
    {FIELD(shared_ffn), {MIXED}},
    {FIELD(shared_ffn), {MIXED, "model.gated=true", "recompute=full"}},
    {FIELD(predicted), {"tp=1", "model.predicted_tokens=1"}},
    {FIELD(predicted), {MIXED, "model.predicted_tokens=1"}},
    {FIELD(lora_rank), {"model.lora_rank=4"}},
    {FIELD(lora_rank), {"model.lora_rank=4", "model.lora_on=all"}},
    {FIELD(lora_rank), {"model.lora_rank=4", "model.lora_on=mlp", "recompute=full"}},
    {FIELD(ffn), {"tp=2", "sequence_parallel=true", "overlap_tp=true"}},
    {FIELD(ffn), {"method=grid", "tp=2", "dp=2", "recompute=full"}},
    {FIELD(kv_latent), {LATENT, "tp=2"}},
    {FIELD(lora_rank), {"tp=2", "model.lora_rank=4"}},
    {FIELD(lora_rank),
     {"tp=2", "sequence_parallel=true", "model.lora_rank=4", "model.lora_exchange=all_to_all"}},
    {FIELD(shared_ffn), {MIXED, "tp=2", "sequence_parallel=true"}},
    {FIELD(token_types), {"model.token_types=2"}},
    {FIELD(cross_layers), {"model.layers=12", "model.cross_layers=1"}},
    {FIELD(cross_layers), {"model.layers=12", "model.cross_layers=1", "recompute=full"}},
    {FIELD(window_layers), {"model.layers=12", "model.window=16", "model.window_layers=1"}},
    {FIELD(dense_layers), {"model.layers=12", MIXED}},
    {FIELD(layers), {"recompute=full"}},
    {FIELD(layers), {"recompute=selective", "attention=plain"}},
    {FIELD(ffn), {"method=phantom", "tp=2", "ghost=2"}},
    {FIELD(layers), {"method=phantom", "tp=2", "ghost=2", "recompute=full"}},
    {FIELD(layers), {"method=subgraph", "tp=2", "branches=heads"}},
    {FIELD(layers), {"method=subgraph", "tp=2", "branches=layer", "recompute=full"}},
    {FIELD(cross_layers),
     {"model.layers=12", "model.cross_layers=1", "method=subgraph", "tp=2",
      "branches=attention"}},
    {FIELD(ssm_state),
     {"model.pattern=ME*-", "model.ssm_heads=8", "model.ssm_groups=8", "model.ssm_state=16",
      "model.experts=4", "model.expert_ffn=256"}},
};

/* Is z as far along a line through x and y, at 1 and 2, as @p at? */
static bool is_on(double x, double y, double z, double at) {
    double want = x + (at - 1) * (y - x);
    return fabs(z - want) <= 1e-9 * (fabs(want) + fabs(x) + fabs(y));
}

static void amounts_grow_evenly(void **state) {
    static const int64_t widths[] = {1, 2, 3, 9};
    int grew = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *sets[20] = {"model.layers=4",     "model.hidden=512", "model.heads=8",
                                "model.sequence=128", "micro_batch=2",    "global_batch=8",
                                "attention=flash"};
        struct reckoned of[4];
        struct fr_job job;
        double flop[4];
        for (int k = 0; k < 12 && rows[i].sets[k]; k++) sets[7 + k] = rows[i].sets[k];
        fr_test_job("dgx-h100", "gpt-2", sets, &job);
        for (int k = 0; k < 4; k++) {
            static struct fr_rank_work work;
            memcpy((char *)&job.workload.transformer + rows[i].field, &widths[k],
                   sizeof widths[k]);
            memset(&work, 0, sizeof work);
            test_stage(&job.workload, &job.plan, 0, &work);
            reckon_list(&work, &of[k]);
            flop[k] = fr_workload_flop(&job.workload);
        }
        for (size_t at = 0; at < sizeof of[0] / sizeof(double); at++)
            for (int k = 2; k < 4; k++) {
                double x = ((double *)&of[0])[at], y = ((double *)&of[1])[at],
                       z = ((double *)&of[k])[at];
                FR_TRUE(is_on(x, y, z, (double)widths[k]),
                        "row %zu, amount %zu: %.17g, %.17g, %.17g at %d", i, at, x, y, z,
                        (int)widths[k]);
                grew += y > x;
            }
        for (int k = 2; k < 4; k++)
            FR_TRUE(is_on(flop[0], flop[1], flop[k], (double)widths[k]),
                    "row %zu: %.17g, %.17g, %.17g flop at %d", i, flop[0], flop[1], flop[k],
                    (int)widths[k]);
        fr_job_free(&job);
    }
    FR_TRUE(grew > 100, "%d", grew);
}

/* Sub-graphs of heads or of attentions leave MLPs to the common layers, whose work then grows with an MLP's width as all
 * work does, but what is made again; sub-graphs of layers take them along, and the common layers' does not. */
static void mlps_are_common_or_not(void **state) {
    static const char *const branches[] = {"branches=heads", "branches=attention",
                                           "branches=layer"};
    static const char *const recomputes[] = {"recompute=none", "recompute=full"};
    (void)state;
    for (int b = 0; b < 3; b++)
        for (int r = 0; r < 2; r++) {
            const char *sets[] = {
                "model.layers=4", "method=subgraph", "tp=2",        "micro_batch=2",
                "global_batch=8", branches[b],       recomputes[r], NULL};
            struct fr_job job;
            double all[2][FR_PASS_KINDS][2] = {{{0}}}, common[2][FR_PASS_KINDS][2] = {{{0}}};
            fr_test_job("dgx-h100", "gpt-2", sets, &job);
            for (int wide = 0; wide < 2; wide++) {
                static struct fr_rank_work work;
                memset(&work, 0, sizeof work);
                job.workload.transformer.ffn = wide ? 4096 : 2048;
                test_stage(&job.workload, &job.plan, 0, &work);
                for (int k = 0; k < work.n_ops; k++) {
                    const struct fr_operation *o = &work.op[k];
                    bool traffic = o->kind == FR_WORK_TRAFFIC;
                    if (!traffic && o->kind != FR_WORK_PRODUCT) continue;
                    all[wide][o->pass][traffic] += test_amount(o);
                    if (o->common) common[wide][o->pass][traffic] += test_amount(o);
                }
            }
            for (int pass = 0; pass < FR_PASS_KINDS; pass++)
                for (int traffic = 0; traffic < 2; traffic++) {
                    double more = all[1][pass][traffic] - all[0][pass][traffic],
                           theirs = common[1][pass][traffic] - common[0][pass][traffic];
                    FR_TRUE(fabs(theirs - (b < 2 && pass != FR_PASS_AGAIN ? more : 0)) <=
                                1e-9 * fabs(more),
                            "%s, %s, pass %d: %g of %g", branches[b], recomputes[r], pass,
                            theirs, more);
                }
            fr_job_free(&job);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(amounts_grow_evenly),
                                       cmocka_unit_test(mlps_are_common_or_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

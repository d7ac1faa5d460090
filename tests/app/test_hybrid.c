/* Hybrid sharding (zero_ranks): state, traffic and times by hand, and both engines on what it goes
 * with. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/price/pipeline.h"
#include "sim/run.h"
#include "tests/job.h"

static void cost(const char *cluster, const char *model, const char *const *sets,
                 struct fr_outcome *out) {
    struct fr_job job;
    struct fr_simulation event;
    struct fr_error err = {0};
    fr_test_job(cluster, model, sets, &job);
    fr_cost(&job, &job.plan, out);
    if (out->reasons & ~FR_BECAUSE(FR_REASON_MEMORY))
        fail_msg("%s: %#x", sets[0], (unsigned)out->reasons);
    if (fr_simulate(&job, &job.plan, NULL, &event, &err) != FR_OK) fail_msg("%s", err.detail);
    FR_NEAR(event.outcome.time_s, out->time_s, 1e-9);
    FR_NEAR(event.outcome.energy_J, out->energy_J, 1e-9);
    fr_simulation_free(&event);
    fr_job_free(&job);
}

/* LLaMA-3-8B in bf16 with fp32 gradients on 16 replicas, 8 micro-batches; of N = 16 copies Z divide: with
 * f = (Z-1)/Z, A = N/Z, g = (A-1)/A a rank sends f(G + W) + 2gG/Z (zero 1), f(mG + W) + m 2gG/Z (zero 2),
 * m (f(2W + G) + 2gG/Z) (zero 3) and holds 1/Z of the state. */
static void by_hand(void **state) {
    (void)state;
    double parameters = 8030261248, W = 2 * parameters, G = 4 * parameters, m = 8;
    for (int zero = 1; zero <= 3; zero++)
        for (int Z = 2; Z <= 16; Z *= 2) {
            char z[16], ranks[24];
            snprintf(z, sizeof z, "zero=%d", zero);
            snprintf(ranks, sizeof ranks, "zero_ranks=%d", Z);
            const char *const sets[] = {z,
                                        ranks,
                                        "dp=16",
                                        "micro_batch=1",
                                        "global_batch=128",
                                        "model.dtype=bf16",
                                        "model.gradient_dtype=fp32",
                                        "attention=flash",
                                        NULL};
            struct fr_outcome out;
            double f = (Z - 1.) / Z, A = 16. / Z, across = 2 * (A - 1) / A * G / Z;
            const double sent_B[] = {0, f * (G + W) + across, f * (m * G + W) + m * across,
                                     m * (f * (2 * W + G) + across)};
            cost("dgx-h100", "llama-3-8b", sets, &out);
            FR_NEAR(out.sent_B[FR_SENT_DP], sent_B[zero], 1e-9);
            FR_NEAR(out.memory_B[FR_MEMORY_OPTIMIZER], 12 * parameters / Z, 1e-9);
            FR_NEAR(out.memory_B[FR_MEMORY_GRADIENTS], zero >= 2 ? G / Z : G, 1e-9);
            FR_NEAR(out.memory_B[FR_MEMORY_PARAMETERS], zero == 3 ? W / Z : W, 1e-9);
        }
}

/* All copies divide: the same plan without the key.  One divides: state is whole, and gradients are
 * all-reduced as without zero. */
static void at_its_ends(void **state) {
    (void)state;
    const char *all[] = {"zero=2", "dp=8", "global_batch=32", "zero_ranks=8", NULL},
               *none[] = {"zero=2", "dp=8", "global_batch=32", NULL},
               *one[] = {"zero=1", "dp=8", "global_batch=32", "zero_ranks=1", NULL},
               *plain[] = {"zero=0", "dp=8", "global_batch=32", NULL};
    struct fr_outcome a, b;
    cost("a100-hdr", "gpt-2", all, &a);
    cost("a100-hdr", "gpt-2", none, &b);
    assert_true(a.time_s == b.time_s && a.memory_peak_B == b.memory_peak_B);
    cost("a100-hdr", "gpt-2", one, &a);
    cost("a100-hdr", "gpt-2", plain, &b);
    FR_NEAR(a.time_s, b.time_s, 1e-12);
    assert_memory_equal(a.memory_B, b.memory_B, sizeof a.memory_B);
    assert_memory_equal(a.sent_B, b.sent_B, sizeof a.sent_B);
}

/* Eight devices a node, two nodes: eight that divide are one node's, so that parameters never leave it; one
 * reduce-scatter and one gather inside it, and an all-reduce of an eighth between two, whose times the
 * groups' own prices give. */
static void times(void **state) {
    (void)state;
    const char *const sets[] = {"zero=1",           "dp=16", "global_batch=16", "zero_ranks=8",
                                "model.dtype=bf16", NULL},
                      *const whole[] = {"zero=1", "dp=16", "global_batch=16",
                                        "model.dtype=bf16", NULL};
    struct fr_job job;
    struct fr_pipeline p;
    struct fr_outcome hybrid, all;
    uint32_t extrapolated = 0;
    fr_test_job("dgx-h100", "gpt-2", sets, &job);
    assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
    double G = p.stage[0].gradient_B;
    struct fr_group inside = fr_group_make(&job.cluster.levels, 8, 1),
                    between = fr_group_make(&job.cluster.levels, 2, 8);
    FR_NEAR(
        p.stage[0].gradient_s,
        fr_cluster_comm_s(&job.cluster, FR_OP_REDUCE_SCATTER, &inside, G, &extrapolated) +
            fr_cluster_comm_s(&job.cluster, FR_OP_ALL_REDUCE, &between, G / 8, &extrapolated),
        1e-12);
    FR_NEAR(p.stage[0].beside_s,
            fr_cluster_comm_s(&job.cluster, FR_OP_ALL_GATHER, &inside,
                              2 * p.stage[0].parameters_rank, &extrapolated),
            1e-12);
    fr_pipeline_free(&p);
    fr_job_free(&job);
    cost("dgx-h100", "gpt-2", sets, &hybrid);
    cost("dgx-h100", "gpt-2", whole, &all);
    assert_true(hybrid.memory_peak_B > all.memory_peak_B);
}

/* With experts, whose copies are fewer, with pipelines, grids and sub-graphs both engines agree; groups that
 * do not make up the copies are refused. */
static void goes_with_everything(void **state) {
    (void)state;
    static const char *const plans[][10] = {
        {"mixtral-8x7b", "tp=2", "dp=8", "ep=4", "zero=3", "zero_ranks=2", "model.layers=4"},
        {"mixtral-8x7b", "tp=1", "dp=16", "ep=4", "zero=2", "zero_ranks=8", "model.layers=4"},
        {"gpt-2", "tp=2", "dp=8", "pp=2", "zero=1", "zero_ranks=4", "overlap=gradient"},
        {"gpt-2", "tp=2", "dp=4", "cp=2", "zero=2", "zero_ranks=2", "recompute=full"},
        {"gpt-2", "tp=2", "dp=8", "pp=2", "zero=2", "zero_ranks=2", "rank_order=tp-dp-pp"},
        {"gpt-2", "method=grid", "tp=2", "dp=8", "zero=3", "zero_ranks=2", "layer_tp=[1,4,2]"}};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        const char *sets[13] = {"global_batch=64", "micro_batch=2", "model.dtype=bf16"};
        struct fr_outcome out;
        for (int k = 1; k < 10; k++) sets[2 + k] = plans[i][k];
        cost("dgx-h100", plans[i][0], sets, &out);
    }
    static const char *const refused[] = {"zero_ranks=3", "zero_ranks=16"};
    for (int i = 0; i < 2; i++) {
        const char *const sets[] = {"dp=8",     "zero=1",           "global_batch=16",
                                    refused[i], "model.dtype=bf16", NULL};
        struct fr_job job;
        struct fr_outcome out;
        fr_test_job("dgx-h100", "gpt-2", sets, &job);
        fr_cost(&job, &job.plan, &out);
        assert_true(out.reasons & FR_BECAUSE(FR_REASON_ZERO_RANKS));
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(at_its_ends),
                                       cmocka_unit_test(times),
                                       cmocka_unit_test(goes_with_everything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

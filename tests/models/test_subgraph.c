/* Method subgraph: its ends on the axis, what is exchanged, what is reduced over whom; against
 * identities and numbers worked out by hand. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/price/rank_map.h"
#include "models/work/subgraph.h"
#include "tests/job.h"
#include "tests/work.h"

static struct fr_outcome priced(const char *model, const char *const *sets) {
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job("lassen", model, sets, &job);
    fr_cost(&job, &job.plan, &out);
    out.plan = fr_plan_default();
    fr_job_free(&job);
    return out;
}

/* g = 1 is data parallelism, whatever the variant. */
static void one_way_is_data_parallelism(void **state) {
    (void)state;
    static const char *const models[] = {"transformer-base", "gpt-2", "t5-large-mod"};
    static const char *const variants[][2] = {{"common=all", "branches=heads"},
                                              {"common=subgrid", "branches=attention"},
                                              {"exchange=all_gather", "branches=layer"}};
    for (int m = 0; m < 3; m++)
        for (int v = 0; v < 3; v++) {
            const char *const data[] = {"dp=8", "global_batch=16", NULL};
            const char *const ways[] = {"dp=8",         "global_batch=16", "method=subgraph",
                                        variants[v][0], variants[v][1],    NULL};
            struct fr_outcome a = priced(models[m], data), b = priced(models[m], ways);
            FR_NEAR(b.time_s, a.time_s, 1e-12);
            FR_NEAR(b.energy_J, a.energy_J, 1e-12);
            /* Only methods of whole layers know what their backward passes hold for a moment. */
            FR_NEAR(b.memory_B[FR_MEMORY_OPTIMIZER], a.memory_B[FR_MEMORY_OPTIMIZER], 1e-12);
            FR_TRUE(b.memory_peak_B <= a.memory_peak_B * (1 + 1e-12), "%s: %g of %g B",
                    models[m], b.memory_peak_B, a.memory_peak_B);
            FR_NEAR(b.sent_B[FR_SENT_DP], a.sent_B[FR_SENT_DP], 1e-12);
            FR_NEAR(b.parameters, a.parameters, 1e-12);
        }
}

/* Bytes of a pass, all of them, a norm's, a softmax's; never nothing. */
static double moved_B(const struct fr_rank_work *w, int pass, int kind) {
    double sum_B = 1;
    for (int k = 0; k < w->n_ops; k++) {
        const struct fr_operation *o = &w->op[k];
        if (o->kind != FR_WORK_TRAFFIC || o->pass != pass) continue;
        const double by_kind[] = {o->moved.all_B, o->moved.norm_B, o->moved.softmax_B};
        sum_B += o->times * by_kind[kind];
    }
    return sum_B;
}

/* The work of a stage as well, whatever is computed again: bytes of every kind, kernels, memory. */
static void one_way_works_as_a_transformer(void **state) {
    static const char *const again[] = {"recompute=none", "recompute=selective",
                                        "recompute=full"};
    (void)state;
    static const char *const deep[] = {"model.layers=12", "model.layers=1", "model.layers=2"};
    for (int i = 0; i < 9; i++) {
        const char *const sets[] = {"dp=8", "global_batch=16", again[i % 3], deep[i / 3], NULL};
        struct fr_job job;
        struct fr_rank_work a, b;
        fr_test_job("lassen", "gpt-2", sets, &job);
        fr_transformer_stage(&job.workload, &job.plan, 0, &a);
        job.plan.method = &fr_method_subgraph;
        fr_subgraph_stage(&job.workload, &job.plan, 0, &b);
        for (int pass = FR_PASS_FORWARD; pass <= FR_PASS_AGAIN; pass++) {
            FR_NEAR(moved_B(&b, pass, 0), moved_B(&a, pass, 0), 1e-12);
            FR_NEAR(moved_B(&b, pass, 1), moved_B(&a, pass, 1), 1e-12);
            FR_NEAR(moved_B(&b, pass, 2), moved_B(&a, pass, 2), 1e-12);
            FR_NEAR(test_sum(&b, FR_WORK_KERNELS, (fr_pass_kind)pass),
                    test_sum(&a, FR_WORK_KERNELS, (fr_pass_kind)pass), 1e-12);
        }
        FR_NEAR(b.activation_B, a.activation_B, 1e-12);
        FR_NEAR(b.working_B, a.working_B, 1e-12);
        FR_NEAR(b.parameters, a.parameters, 1e-12);
        fr_job_free(&job);
    }
}

/* Whatever the variant, the flop of all ranks together are those of one rank (g = 1). */
static double flop_of(const char *const *sets, int64_t tp, bool subgrid) {
    struct fr_job job;
    struct fr_rank_work work;
    double common = 0, branch = 0;
    fr_test_job("lassen", "gpt-2", sets, &job);
    fr_subgraph_stage(&job.workload, &job.plan, 0, &work);
    for (int k = 0; k < work.n_ops; k++)
        if (work.op[k].pass == FR_PASS_FORWARD)
            *(work.op[k].common ? &common : &branch) += test_flop(&work.op[k]);
    fr_job_free(&job);
    return (subgrid ? common : common * (double)tp) + branch * (double)tp;
}

static void work_is_conserved(void **state) {
    (void)state;
    static const char *const branches[] = {"branches=heads", "branches=attention",
                                           "branches=layer"};
    const char *const one[] = {"method=subgraph", "micro_batch=12", NULL};
    double whole = flop_of(one, 1, false);
    for (int b = 0; b < 3; b++)
        for (int subgrid = 0; subgrid < 2; subgrid++)
            for (int64_t tp = 2; tp <= 12; tp += tp < 4 ? 1 : 2) {
                char ways[16];
                if (12 % tp != 0) continue;
                snprintf(ways, sizeof ways, "tp=%d", (int)tp);
                const char *const sets[] = {"method=subgraph",
                                            "micro_batch=12",
                                            ways,
                                            branches[b],
                                            subgrid ? "common=subgrid" : "common=all",
                                            NULL};
                FR_NEAR(flop_of(sets, tp, subgrid), whole, 1e-12);
            }
}

/* transformer-base, 4 ways, 8 samples a group: C = 2 x 64 tokens in common layers, T = 8 x 64. */
static void exchanges_by_hand(void **state) {
    (void)state;
    static const struct {
        const char *branches, *common, *exchange;
        fr_op op[4];
        double count[4], size_B[4];
        int n; /* forward ones */
    } cases[] = {
        {"branches=heads",
         "common=all",
         "exchange=all_to_all",
         {FR_OP_ALL_TO_ALL, FR_OP_ALL_TO_ALL},
         {36, 36},
         {128 * 512 * 4., 128 * 512 * 4.},
         2},
        {"branches=heads",
         "common=all",
         "exchange=all_gather",
         {FR_OP_ALL_GATHER, FR_OP_ALL_GATHER},
         {36, 36},
         {512 * 512 * 4., 512 * 512 * 4.},
         2},
        {"branches=heads",
         "common=subgrid",
         "exchange=all_to_all",
         {FR_OP_SCATTER, FR_OP_GATHER, FR_OP_SCATTER},
         {18, 18, 36},
         {512 * 512 * 4., 512 * 512 * 4., 512 * 512 * 4.},
         3},
        {"branches=attention",
         "common=all",
         "exchange=all_to_all",
         {FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER, FR_OP_ALL_GATHER},
         {18, 18, 6}, /* of six what the encoder made, too */
         {512 * 512 * 4., 512 * 512 * 4., 512 * 512 * 4.},
         3},
        {"branches=layer",
         "common=subgrid",
         "exchange=all_to_all",
         {FR_OP_BROADCAST, FR_OP_REDUCE, FR_OP_BROADCAST},
         {30, 30, 6},
         {512 * 512 * 4., 512 * 512 * 4., 512 * 512 * 4.},
         3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const sets[] = {
            "method=subgraph", "tp=4", "micro_batch=8", cases[i].branches, cases[i].common,
            cases[i].exchange, NULL};
        struct fr_job job;
        struct fr_rank_work work;
        int n = 0;
        double forward_B = 0, backward_B = 0;
        fr_test_job("lassen", "transformer-base", sets, &job);
        fr_subgraph_stage(&job.workload, &job.plan, 0, &work);
        for (int k = 0; k < work.n_ops; k++) {
            const struct fr_operation *x = &work.op[k];
            if (x->kind != FR_WORK_COLLECTIVE) continue;
            *(x->pass != FR_PASS_FORWARD ? &backward_B : &forward_B) += x->times * x->size;
            if (x->pass != FR_PASS_FORWARD) continue;
            FR_TRUE(n < cases[i].n && x->op == cases[i].op[n], "case %zu: %s", i,
                    fr_op_names[x->op]);
            FR_NEAR(x->times, cases[i].count[n], 1e-12);
            FR_NEAR(x->size, cases[i].size_B[n], 1e-12);
            n++;
        }
        assert_int_equal(n, cases[i].n);
        FR_NEAR(backward_B, forward_B, 1e-12); /* a split's backward is a sum, and so on */
        fr_job_free(&job);
    }
}

/* Common layers' gradients over all ranks (cSub: of one sub-grid), branches' in each sub-grid. */
static void gradients_by_hand(void **state) {
    (void)state;
    const char *const all[] = {"method=subgraph", "tp=4", "dp=2", "branches=attention", NULL};
    const char *const sub[] = {"method=subgraph", "tp=4",           "dp=2",
                               "common=subgrid",  "branches=layer", NULL};
    /* 18 attentions of 4 x 512^2 + 3 x 512 divided by 4; the rest, of 63,144,960, is common. */
    double branch = 18 * (4 * 512. * 512 + 3 * 512) / 4, whole = 63144960,
           common = whole - 4 * branch;
    struct fr_outcome a = priced("transformer-base", all);
    FR_NEAR(a.parameters, whole, 1e-12);
    FR_NEAR(a.parameters_rank_max, common + branch, 1e-12);
    FR_NEAR(a.sent_B[FR_SENT_DP], 4 * (branch * 2 * (2 - 1) / 2 + common * 2 * (8 - 1) / 8),
            1e-12);
    double mlp = 12 * (2 * 512. * 2048 + 2048) / 4;
    struct fr_outcome b = priced("transformer-base", sub);
    double fullest = whole - 3 * (branch + mlp);
    FR_NEAR(b.parameters_rank_max, fullest, 1e-12);
    FR_NEAR(b.sent_B[FR_SENT_DP], 4 * fullest * 2 * (2 - 1) / 2, 1e-12);
}

static void refuses(void **state) {
    (void)state;
    const char *const heads[] = {"method=subgraph", "tp=16", NULL};
    const char *const micro[] = {"method=subgraph", "tp=4", "micro_batch=2", NULL};
    const char *const sequence[] = {"method=subgraph", "tp=4", "sequence_parallel=true", NULL};
    const char *const pipeline[] = {"method=subgraph", "tp=2", "pp=2", NULL};
    const char *const chunks[] = {"method=subgraph",      "tp=2",     "pp=2",
                                  "schedule=interleaved", "chunks=2", NULL};
    assert_true(priced("transformer-base", heads).reasons & FR_BECAUSE(FR_REASON_BRANCHES));
    assert_true(priced("transformer-base", micro).reasons & FR_BECAUSE(FR_REASON_BRANCHES));
    assert_true(priced("transformer-base", sequence).reasons & FR_BECAUSE(FR_REASON_METHOD));
    assert_true(priced("transformer-base", chunks).reasons & FR_BECAUSE(FR_REASON_PIPELINE));
    assert_false(priced("transformer-base", pipeline).reasons & FR_BECAUSE(FR_REASON_PIPELINE));
    assert_int_equal(priced("gpt-2", pipeline).reasons, 0);
}

/* Only the ranks of the first sub-grid compute common layers: the others wait at idle power. */
static void waiting_ranks_idle(void **state) {
    (void)state;
    const char *const sets[] = {"method=subgraph", "tp=4", "common=subgrid", NULL};
    struct fr_outcome out = priced("transformer-base", sets);
    double if_busy = 4 * (300 * (out.part_s[FR_PART_COMPUTE] + out.part_s[FR_PART_LAUNCH]) +
                          50 * out.part_s[FR_PART_TP_COMM]);
    FR_TRUE(out.energy_J < 0.6 * if_busy, "got %g J, all busy %g J", out.energy_J, if_busy);
}

/* Intra-node exchanges where the placement makes them so, and never more time than naive. */
static void placement_is_in_the_price(void **state) {
    (void)state;
    double time_s[4];
    static const char *const placements[] = {"placement=linear", "placement=round-robin",
                                             "placement=by-axis:tp", "placement=optimised"};
    for (int k = 0; k < 4; k++) {
        const char *const sets[] = {"method=subgraph", "tp=4", "dp=4", placements[k], NULL};
        struct fr_outcome out = priced("t5-large-mod", sets);
        time_s[k] = out.time_s;
    }
    FR_TRUE(time_s[1] < 0.9 * time_s[0], "aware %g s, naive %g s", time_s[1], time_s[0]);
    FR_NEAR(time_s[1], time_s[2],
            1e-12); /* 4 ways on nodes of 4: the same seats but for order */
    FR_TRUE(time_s[3] <= time_s[1] && time_s[3] <= time_s[0], "optimised %g s", time_s[3]);
}

/* A list is priced as the strides that it spells out. */
static void lists_are_priced_as_strides(void **state) {
    (void)state;
    struct fr_job job;
    const char *const sets[] = {"method=subgraph", "tp=4", "dp=8", NULL};
    fr_test_job("lassen", "transformer-base", sets, &job);
    int64_t same[32];
    struct fr_plan listed = job.plan;
    struct fr_outcome a, b;
    for (int64_t i = 0; i < 32; i++) same[i] = i;
    listed.placement.row = &fr_placement_file;
    listed.placement.list = same;
    listed.placement.n_list = 32;
    fr_cost(&job, &job.plan, &a);
    fr_cost(&job, &listed, &b);
    FR_NEAR(b.time_s, a.time_s, 1e-12);
    listed.placement.n_list = 31;
    fr_cost(&job, &listed, &b);
    assert_int_equal(b.reasons, FR_BECAUSE(FR_REASON_PLACEMENT));
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_way_is_data_parallelism),
        cmocka_unit_test(one_way_works_as_a_transformer),
        cmocka_unit_test(work_is_conserved),
        cmocka_unit_test(exchanges_by_hand),
        cmocka_unit_test(gradients_by_hand),
        cmocka_unit_test(refuses),
        cmocka_unit_test(waiting_ranks_idle),
        cmocka_unit_test(placement_is_in_the_price),
        cmocka_unit_test(lists_are_priced_as_strides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

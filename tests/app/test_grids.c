/* A transformer on a P_r x P_c grid: Eq. 4's terms by hand, what it has in common with tensor
 * parallelism, and by how much they differ. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/work/transformer.h"
#include "search/layer_grids.h"
#include "sim/run.h"
#include "tests/job.h"
#include "tests/work.h"

/* Bytes of one kind of collective over tp in a pass. */
static double bytes_of(const struct fr_rank_work *w, fr_pass_kind pass, fr_op op) {
    double sum_B = 0;
    for (int k = 0; k < w->n_ops; k++) {
        const struct fr_operation *o = &w->op[k];
        if (o->kind == FR_WORK_COLLECTIVE && o->axis == FR_AXIS_TP && o->pass == pass &&
            o->op == op)
            sum_B += o->times * o->size;
    }
    return sum_B;
}

static void load(const char *model, const char *const *sets, struct fr_job *job,
                 struct fr_rank_work *work) {
    fr_test_job("lassen", model, sets, job);
    assert_int_equal(test_stage_check(&job->workload, &job->plan), 0);
    test_stage(&job->workload, &job->plan, 0, work);
}

/* GPT-2, 12 layers of h = 768, f = 4 h, on P_r = 4 with 2 samples of 1024 tokens: each projection gathers
 * its outputs forward and all-reduces its input's gradient backward, but for queries, keys and values
 * and the MLP's inside, whose rows are worked on where they are; the vocabulary's two sums. */
static void by_hand(void **state) {
    (void)state;
    const char *const sets[] = {"method=grid", "tp=4", "micro_batch=2", NULL};
    struct fr_job job;
    struct fr_rank_work work;
    double h = 768, f = 4 * h, p = 4, T = 2 * 1024, words = 50688;
    load("gpt-2", sets, &job, &work);
    FR_NEAR(bytes_of(&work, FR_PASS_FORWARD, FR_OP_ALL_GATHER), 4 * 12 * T * (3 * h + f),
            1e-12);
    FR_NEAR(bytes_of(&work, FR_PASS_FORWARD, FR_OP_ALL_REDUCE), 4 * T * h, 1e-12);
    FR_NEAR(bytes_of(&work, FR_PASS_INPUT, FR_OP_ALL_REDUCE),
            4 * (12 * T * (3 * h + f) + T * h), 1e-12);
    /* Rows of every matrix with their biases; norms whole. */
    FR_NEAR(work.parameters_rank,
            12 * ((12 * h * h + 9 * h) / p + 4 * h) + words * h / p + 1024 * h + 2 * h, 1e-12);
    /* Inputs of both norms and of all four products whole, of two of them what a rank made as well. */
    double scores = 2 * 12 / p * 1024 * 1024,
           layer = 4 * (T * (5 * h + 3 * h / p + f + f / p)) + 2 * T * h + (2 * 4 + 1) * scores;
    FR_NEAR(work.activation_B, 12 * layer + 4 * T * (h + words / p), 1e-12);
    /* Matrices of h or f rows over P_r, by all columns. */
    double rows_of_output = 0;
    for (int k = 0; k < work.n_ops; k++)
        if (work.op[k].kind == FR_WORK_PRODUCT && work.op[k].pass == FR_PASS_WEIGHT &&
            work.op[k].shape.m == h / p && work.op[k].shape.n == h)
            rows_of_output = work.op[k].times;
    assert_true(rows_of_output == 12);
    fr_job_free(&job);
}

/* By rows and in pairs a rank multiplies, reduces and updates as much.  Eq. 4 sends more: with rings,
 * where an all-reduce is two gathers, 3 (w + h) of each two products with w values between them,
 * Megatron's pairs 4 h; pairing saves 3 w - h values a token, gathered. */
static void beside_tensor(void **state) {
    (void)state;
    const char *const grid[] = {"method=grid", "tp=4", "micro_batch=2", NULL},
                      *const tensor[] = {"tp=4", "micro_batch=2", NULL};
    struct fr_job job[2];
    struct fr_rank_work work[2];
    double sent[2] = {0}, T = 2 * 1024, h = 768, f = 4 * h;
    load("gpt-2", grid, &job[0], &work[0]);
    load("gpt-2", tensor, &job[1], &work[1]);
    for (int pass = FR_PASS_FORWARD; pass <= FR_PASS_WEIGHT; pass++)
        FR_NEAR(test_flops(&work[0], (fr_pass_kind)pass),
                test_flops(&work[1], (fr_pass_kind)pass), 1e-12);
    FR_NEAR(work[0].parameters, work[1].parameters, 1e-12);
    for (int i = 0; i < 2; i++)
        for (int pass = FR_PASS_FORWARD; pass <= FR_PASS_INPUT; pass++)
            sent[i] += bytes_of(&work[i], (fr_pass_kind)pass, FR_OP_ALL_GATHER) +
                       2 * bytes_of(&work[i], (fr_pass_kind)pass, FR_OP_ALL_REDUCE);
    FR_NEAR(sent[0] - sent[1], 4 * 12 * T * ((3 * h - h) + (3 * f - h)), 1e-12);
    for (int i = 0; i < 2; i++) fr_job_free(&job[i]);
}

/* One row is data parallelism, to the last digit, whatever else the plan does. */
static void one_row_is_tensor(void **state) {
    (void)state;
    static const char *const others[][6] = {
        {"dp=8", "micro_batch=2", "global_batch=32"},
        {"dp=4", "pp=4", "micro_batch=2", "global_batch=32", "recompute=full"},
        {"dp=4", "cp=2", "zero=3", "global_batch=16"},
        {"dp=2", "pp=2", "global_batch=16", "schedule=zero-bubble", "attention=flash"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct fr_outcome out[2];
        for (int grid = 0; grid < 2; grid++) {
            const char *sets[8] = {grid ? "method=grid" : "method=tensor"};
            struct fr_job job;
            for (int k = 0; k < 6; k++) sets[1 + k] = others[i][k];
            fr_test_job("a100-hdr", "gpt-2", sets, &job);
            fr_cost(&job, &job.plan, &out[grid]);
            assert_int_equal(out[grid].reasons, 0);
            fr_job_free(&job);
        }
        assert_true(out[0].time_s == out[1].time_s && out[0].energy_J == out[1].energy_J);
        assert_memory_equal(out[0].memory_B, out[1].memory_B, sizeof out[0].memory_B);
        assert_memory_equal(out[0].sent_B, out[1].sent_B, sizeof out[0].sent_B);
    }
}

/* With sequence parallel what lies between products is divided by P_r: norms and residuals of T h / p,
 * inputs gathered once more backward, and an all-to-all from rows of all tokens to whole tokens. */
static void sequence_parallel(void **state) {
    (void)state;
    const char *const sets[] = {"method=grid", "tp=4", "micro_batch=2",
                                "sequence_parallel=true", NULL};
    struct fr_job job;
    struct fr_rank_work work;
    double h = 768, f = 4 * h, p = 4, T = 2 * 1024;
    load("gpt-2", sets, &job, &work);
    FR_NEAR(bytes_of(&work, FR_PASS_FORWARD, FR_OP_ALL_GATHER),
            4 * (12 * T * (3 * h + f) + T * h), 1e-12);
    FR_NEAR(bytes_of(&work, FR_PASS_FORWARD, FR_OP_ALL_TO_ALL), 4 * 12 * T * 2 * h / p, 1e-12);
    FR_NEAR(bytes_of(&work, FR_PASS_INPUT, FR_OP_ALL_TO_ALL), 4 * 12 * T * 2 * h / p, 1e-12);
    FR_NEAR(bytes_of(&work, FR_PASS_INPUT, FR_OP_ALL_REDUCE), 4 * 12 * T * (h + f), 1e-12);
    FR_NEAR(bytes_of(&work, FR_PASS_INPUT, FR_OP_REDUCE_SCATTER), 4 * (12 * T * 2 * h + T * h),
            1e-12);
    /* Gathered beside the input gradients: of two products a layer and of the logits. */
    FR_NEAR(bytes_of(&work, FR_PASS_INPUT, FR_OP_ALL_GATHER), 4 * (12 * T * 2 * h + 2 * T * h),
            1e-12);
    fr_job_free(&job);
}

/* A rank makes rows of Mixtral's experts: tokens go out whole and 1 / P_r of their results comes back, their
 * gradients the other way round. */
static void experts(void **state) {
    (void)state;
    const char *const sets[] = {"method=grid",
                                "tp=2",
                                "dp=4",
                                "ep=4",
                                "micro_batch=1",
                                "model.layers=2",
                                "global_batch=4",
                                "model.dtype=fp16",
                                NULL};
    struct fr_job job;
    struct fr_rank_work work;
    load("mixtral-8x7b", sets, &job, &work);
    double h = 4096, T = (double)job.workload.transformer.sequence, f = 14336, sent_B[2] = {0};
    for (int k = 0; k < work.n_ops; k++)
        if (work.op[k].axis == FR_AXIS_EP && work.op[k].kind == FR_WORK_COLLECTIVE)
            sent_B[work.op[k].pass == FR_PASS_INPUT] += work.op[k].times * work.op[k].size;
    FR_NEAR(sent_B[0], 2 * 2 * T * 2 * h * (1 + 1. / 2), 1e-12);
    FR_NEAR(sent_B[1], sent_B[0], 1e-12);
    FR_NEAR(bytes_of(&work, FR_PASS_FORWARD, FR_OP_ALL_GATHER),
            2 * 2 * (T * 2 * h + 2 * T * f + T * h), 1e-12);
    fr_job_free(&job);
}

/* ---- grids of groups ------------------------------------------------------------------------------ */

static void cost(const char *const *sets, struct fr_outcome *out) {
    struct fr_job job;
    struct fr_simulation event;
    struct fr_error err = {0};
    fr_test_job("a100-hdr", "gpt-2", sets, &job);
    fr_cost(&job, &job.plan, out);
    assert_int_equal(out->reasons, 0);
    if (fr_simulate(&job, &job.plan, NULL, &event, &err) != FR_OK) fail_msg("%s", err.detail);
    FR_NEAR(event.outcome.time_s, out->time_s, 1e-9);
    FR_NEAR(event.outcome.energy_J, out->energy_J, 1e-9);
    fr_simulation_free(&event);
    fr_job_free(&job);
}

/* In pairs on one grid a transformer is tensor parallel with data parallelism, to the last digit. */
static void pairs_are_tensor(void **state) {
    (void)state;
    static const char *const others[][6] = {
        {"micro_batch=2", "recompute=full"},
        {"sequence_parallel=true", "zero=3", "attention=flash"},
        {"pp=2", "schedule=zero-bubble", "cp=2", "overlap=gradient", "zero=1"},
        {"pp=2", "compression.backward.scope=all", "recompute=selective"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *tensor[12] = {"tp=4", "dp=4", "global_batch=16"},
                   *grid[12] = {"tp=4",
                                "dp=4",
                                "global_batch=16",
                                "method=grid",
                                "layer_tp=[4,4,4]",
                                "divide=pairs"};
        struct fr_outcome out[2];
        for (int k = 0; k < 6; k++) tensor[3 + k] = grid[6 + k] = others[i][k];
        cost(tensor, &out[0]);
        cost(grid, &out[1]);
        assert_true(out[0].time_s == out[1].time_s && out[0].energy_J == out[1].energy_J);
        assert_memory_equal(out[0].memory_B, out[1].memory_B, sizeof out[0].memory_B);
        assert_memory_equal(out[0].sent_B, out[1].sent_B, sizeof out[0].sent_B);
    }
}

static double move_B(const struct fr_rank_work *w, fr_axis axis, fr_pass_kind pass) {
    double sum_B = 0;
    for (int k = 0; k < w->n_ops; k++)
        if (w->op[k].kind == FR_WORK_COLLECTIVE && w->op[k].axis == axis &&
            w->op[k].pass == pass)
            sum_B += w->op[k].times * w->op[k].size;
    return sum_B;
}

/* Attention 2, MLP 8, ends 4 of 16 ranks as tp 4 x dp 4, 2 samples a column of tp: the attention has 1, the
 * MLP 4, the ends 2.  Into an MLP 4 neighbours gather 4 samples, and their gradients out of the one before;
 * from the embedding's 2 to the attention's 1 is free forward, from the MLP's 4 to the logits' 2 too. */
static void groups_by_hand(void **state) {
    (void)state;
    const char *const sets[] = {"method=grid",      "tp=4", "dp=4", "micro_batch=2",
                                "layer_tp=[2,8,4]", NULL};
    struct fr_job job;
    struct fr_rank_work w;
    load("gpt-2", sets, &job, &w);
    double h = 768, f = 4 * h, s = 1024, words = 50688;
    FR_NEAR(move_B(&w, FR_AXIS_TO_MLP, FR_PASS_FORWARD), 12 * 4 * s * h * 4, 1e-12);
    FR_NEAR(move_B(&w, FR_AXIS_TO_MLP, FR_PASS_INPUT), 11 * 4 * s * h * 4, 1e-12);
    FR_NEAR(move_B(&w, FR_AXIS_FROM_ENDS, FR_PASS_INPUT), 2 * s * h * 4, 1e-12);
    FR_NEAR(move_B(&w, FR_AXIS_TO_ENDS, FR_PASS_INPUT), 4 * s * h * 4, 1e-12);
    assert_true(move_B(&w, FR_AXIS_FROM_ENDS, FR_PASS_FORWARD) == 0 &&
                move_B(&w, FR_AXIS_TO_ENDS, FR_PASS_FORWARD) == 0);
    /* Each projection on its grid. */
    FR_NEAR(move_B(&w, FR_AXIS_ATTENTION, FR_PASS_FORWARD), 12 * s * 2 * h * 4, 1e-12);
    FR_NEAR(move_B(&w, FR_AXIS_MLP, FR_PASS_FORWARD), 12 * 4 * s * (h + f) * 4, 1e-12);
    FR_NEAR(w.grid_rank[FR_GRID_ATTENTION], 12 * ((4 * h * h + 4 * h) / 2 + 2 * h), 1e-12);
    FR_NEAR(w.grid_rank[FR_GRID_MLP], 12 * ((8 * h * h + 5 * h) / 8 + 2 * h), 1e-12);
    assert_true(w.grid_rank[FR_GRID_ENDS] == 0);
    FR_NEAR(w.parameters_rank - w.grid_rank[0] - w.grid_rank[1],
            words * h / 4 + 1024 * h + 2 * h, 1e-12);
    /* Flop over all 16 ranks are those of 8 samples: nothing is done twice. */
    double flop = 12 * (2 * 12 * h * h + 4 * s * h) + 2 * words * h;
    FR_NEAR(16 * test_flops(&w, FR_PASS_FORWARD), 8 * s * flop, 1e-12);
    fr_job_free(&job);
}

/* A norm has a vector, or two with a bias, on every rank; products may have none. */
static void norms_and_biases_of_groups(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        const double vectors = k & 1 ? 1 : 2, biases = k & 2 ? 0 : 1, h = 768;
        const char *const sets[] = {"method=grid",
                                    "tp=4",
                                    "dp=4",
                                    "micro_batch=2",
                                    "layer_tp=[2,8,4]",
                                    k & 1 ? "model.norm=rms" : "model.norm=layer",
                                    k & 2 ? "model.biases=false" : "model.biases=true",
                                    NULL};
        struct fr_job job;
        struct fr_rank_work w;
        load("gpt-2", sets, &job, &w);
        FR_NEAR(w.grid_rank[FR_GRID_ATTENTION],
                12 * ((4 * h * h + biases * 4 * h) / 2 + vectors * h), 1e-12);
        FR_NEAR(w.grid_rank[FR_GRID_MLP], 12 * ((8 * h * h + biases * 5 * h) / 8 + vectors * h),
                1e-12);
        fr_job_free(&job);
    }
}

/* Gradients go over each group's own copies, and state is divided by them: 2 f G over 8 of the
 * attention's, 2 of the MLP's and 4 of the ends'. */
static void groups_reduce_over_their_copies(void **state) {
    (void)state;
    const char *sets[] = {"method=grid",      "tp=4", "dp=4", "micro_batch=2", "global_batch=8",
                          "layer_tp=[2,8,4]", NULL,   NULL};
    double h = 768, a = 12 * ((4 * h * h + 4 * h) / 2 + 2 * h),
           m = 12 * ((8 * h * h + 5 * h) / 8 + 2 * h), e = 50688 * h / 4 + 1026 * h;
    struct fr_outcome out;
    cost(sets, &out);
    FR_NEAR(out.sent_B[FR_SENT_DP], 4 * (2 * 7. / 8 * a + 2 * 1. / 2 * m + 2 * 3. / 4 * e),
            1e-12);
    FR_NEAR(out.memory_B[FR_MEMORY_OPTIMIZER], 8 * (a + m + e), 1e-12);
    sets[6] = "zero=1";
    cost(sets, &out);
    FR_NEAR(out.memory_B[FR_MEMORY_OPTIMIZER], 8 * (a / 8 + m / 2 + e / 4), 1e-12);
    FR_NEAR(out.sent_B[FR_SENT_DP], 4 * (2 * 7. / 8 * a + 2 * 1. / 2 * m + 2 * 3. / 4 * e),
            1e-12);
}

/* Both engines agree on grids of groups in pipelines, recomputed, divided, along the sequence, by either
 * order of ranks; and with sequence parallel nothing moves between grids. */
static void groups_go_with_everything(void **state) {
    (void)state;
    static const char *const plans[][8] = {
        {"tp=2", "dp=8", "pp=2", "micro_batch=2", "layer_tp=[2,4,1]"},
        {"tp=2", "dp=8", "pp=2", "micro_batch=2", "layer_tp=[4,1,4]", "rank_order=tp-dp-pp"},
        {"tp=1", "dp=16", "layer_tp=[2,4,8]", "recompute=full", "zero=2"},
        {"tp=4", "dp=4", "layer_tp=[4,8,2]", "recompute=selective", "zero=3", "divide=pairs"},
        {"tp=2", "dp=4", "cp=2", "layer_tp=[2,4,8]", "sequence_parallel=true",
         "overlap=gradient"},
        {"tp=2", "dp=4", "pp=3", "schedule=zero-bubble", "layer_tp=[4,2,1]", "micro_batch=1",
         "placement=round-robin"}};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        const char *sets[12] = {"method=grid", "global_batch=64"};
        struct fr_outcome out;
        for (int k = 0; k < 8; k++) sets[2 + k] = plans[i][k];
        cost(sets, &out);
    }
    const char *const sets[] = {
        "method=grid",      "tp=4",          "dp=4", "sequence_parallel=true",
        "layer_tp=[2,8,4]", "micro_batch=2", NULL};
    struct fr_job job;
    struct fr_rank_work w;
    load("gpt-2", sets, &job, &w);
    for (int axis = FR_AXIS_TO_MLP; axis <= FR_AXIS_FROM_ENDS; axis++)
        for (int pass = 0; pass < FR_PASS_KINDS; pass++)
            assert_true(move_B(&w, (fr_axis)axis, (fr_pass_kind)pass) == 0);
    fr_job_free(&job);
}

/* The best of all grids is no worse than any one of them. */
static void the_best_is_chosen(void **state) {
    (void)state;
    const char *const sets[] = {"method=grid",     "tp=2", "dp=8", "micro_batch=4",
                                "global_batch=64", NULL};
    struct fr_job job;
    int64_t best[FR_GRIDS];
    struct fr_outcome chosen, out;
    fr_test_job("a100-hdr", "gpt-2", sets, &job);
    assert_int_equal(fr_layer_grids_best(&job, &job.plan, best, NULL), FR_OK);
    struct fr_plan plan = job.plan;
    plan.n_layer_tp = FR_GRIDS;
    plan.layer_tp = best;
    fr_cost(&job, &plan, &chosen);
    for (int k = 0; k < 4 * 4 * 4; k++) {
        const int64_t tried[] = {1 << k % 4, 1 << k / 4 % 4, 1 << k / 16};
        plan.layer_tp = tried;
        fr_cost(&job, &plan, &out);
        assert_true(out.reasons || out.time_s >= chosen.time_s);
    }
    fr_job_free(&job);
}

static void refuses(void **state) {
    (void)state;
    static const struct {
        const char *set;
        int reason;
    } cases[] = {{"tp=5", FR_REASON_HEADS},
                 {"tp=24", FR_REASON_HEADS},
                 {"tp=512", FR_REASON_WIDTH},
                 {"layer_tp=[2,3,1]", FR_REASON_LAYER_TP},
                 {"layer_tp=[8,8,8]", FR_REASON_LAYER_TP},
                 {"layer_tp=[16,1,1]", FR_REASON_LAYER_TP},
                 {"divide=pairs", FR_REASON_IDLE_KEY}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const sets[] = {"method=grid", cases[i].set, "dp=6", "global_batch=48",
                                    NULL};
        struct fr_job job;
        struct fr_outcome out;
        fr_test_job("frontier", "gpt-2", sets, &job);
        fr_cost(&job, &job.plan, &out);
        FR_TRUE(out.reasons & FR_BECAUSE(cases[i].reason), "%s: %#x", cases[i].set,
                (unsigned)out.reasons);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand),
                                       cmocka_unit_test(beside_tensor),
                                       cmocka_unit_test(one_row_is_tensor),
                                       cmocka_unit_test(sequence_parallel),
                                       cmocka_unit_test(experts),
                                       cmocka_unit_test(refuses),
                                       cmocka_unit_test(pairs_are_tensor),
                                       cmocka_unit_test(groups_by_hand),
                                       cmocka_unit_test(norms_and_biases_of_groups),
                                       cmocka_unit_test(groups_reduce_over_their_copies),
                                       cmocka_unit_test(groups_go_with_everything),
                                       cmocka_unit_test(the_best_is_chosen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

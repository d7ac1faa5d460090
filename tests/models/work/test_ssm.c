/* State-space blocks and hybrids of one block a layer by hand, and against a transformer whose layers are two. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/outcome/rates.h"
#include "models/price/pipeline.h"
#include "models/work/transformer.h"
#include "models/workload/flop.h"
#include "models/workload/ssm.h"
#include "tests/job.h"
#include "tests/work.h"

/* h 512, H 16 heads of P 32 (d 512), N 64, G 4, K 4, Q 64; c = 512 + 2 x 256, the first product to 2 x 512 + 2 x 256 + 16. */
#define PURE                                                                                   \
    "model.pattern=M", "model.ssm_heads=16", "model.ssm_head_dim=32", "model.ssm_state=64",    \
        "model.ssm_groups=4", "model.ssm_chunk=64", "model.layers=8", "model.hidden=512",      \
        "model.heads=8", "model.sequence=1024", "micro_batch=2", "global_batch=16",            \
        "model.dtype=bf16", "attention=flash"
static const double h = 512, d = 512, N = 64, G = 4, Q = 64, H = 16, c = 1024, in = 1552,
                    T = 2048;

static struct fr_rank_work stage(const char *const *sets, int64_t i, struct fr_job *job) {
    struct fr_rank_work work;
    fr_test_job("dgx-h100", "gpt-2", sets, job);
    fr_transformer_stage(&job->workload, &job->plan, i, &work);
    return work;
}

static double collective_B(const struct fr_rank_work *w, fr_axis axis, fr_op op,
                           bool backward) {
    double sum_B = 0;
    for (int k = 0; k < w->n_ops; k++) {
        const struct fr_operation *o = &w->op[k];
        if (o->kind == FR_WORK_COLLECTIVE && o->axis == axis && o->op == op &&
            (o->pass != FR_PASS_FORWARD) == backward)
            sum_B += o->times * o->size;
    }
    return sum_B;
}

static void parameters_by_hand(void **state) {
    (void)state;
    static const char *const one[] = {PURE, NULL}, *const four[] = {PURE, "tp=4", NULL};
    struct fr_job a, b;
    struct fr_rank_work whole = stage(one, 0, &a), quarter = stage(four, 0, &b);
    double block = h * in + c * 5 + 3 * H + d + d * h,
           norm = 2 * h; /* gpt-2's have biases; the last one is of the logits */
    double ends = whole.parameters - 8 * (block + norm);
    FR_NEAR(fr_ssm_of(&a.workload.transformer).parameters, block, 0);
    FR_NEAR(ends, whole.embedding_rank + 1024 * h + norm, 0);
    double ends_of_four = quarter.embedding_rank + 1024 * h + norm;
    FR_NEAR(quarter.parameters_rank, 8 * (block / 4 + norm) + ends_of_four, 0);
    fr_job_free(&a);
    fr_job_free(&b);
}

/* Products: three passes of 2 T h (in + d); the scan as the header's table; over four ranks a quarter each. */
static void flop_by_hand(void **state) {
    (void)state;
    static const char *const one[] = {PURE, NULL}, *const four[] = {PURE, "tp=4", NULL},
                             *const full[] = {PURE, "recompute=full", NULL};
    struct fr_job a, b, f;
    struct fr_rank_work whole = stage(one, 0, &a), quarter = stage(four, 0, &b),
                        again = stage(full, 0, &f);
    double ahead = 2 * T * 8 * (G * Q * N + d * Q + 2 * d * N),
           back = 2 * T * 8 * (3 * G * Q * N + 3 * d * Q + 5 * d * N),
           products = 2 * T * 8 * h * (in + d), logits = 2 * T * h * 50304;
    FR_NEAR(test_sum(&whole, FR_WORK_SCAN, FR_PASS_FORWARD), ahead, 1e-12);
    FR_NEAR(test_sum(&whole, FR_WORK_SCAN, FR_PASS_INPUT), back, 1e-12);
    FR_NEAR(test_sum(&quarter, FR_WORK_SCAN, FR_PASS_INPUT), back / 4, 1e-12);
    for (int pass = FR_PASS_FORWARD; pass <= FR_PASS_WEIGHT; pass++) {
        FR_NEAR(test_sum(&whole, FR_WORK_PRODUCT, (fr_pass_kind)pass), products + logits,
                1e-12);
        FR_NEAR(test_sum(&again, FR_WORK_PRODUCT, (fr_pass_kind)pass), products + logits,
                1e-12);
    }
    FR_NEAR(test_sum(&again, FR_WORK_PRODUCT, FR_PASS_AGAIN), products, 1e-12);
    FR_NEAR(test_sum(&again, FR_WORK_SCAN, FR_PASS_AGAIN), ahead, 1e-12);
    double real = 50257.0 / 50304; /* without the rows that pad the vocabulary; two samples */
    FR_NEAR(fr_workload_flop(&a.workload), 3 * (products + ahead + logits * real) / 2, 1e-12);
    struct fr_outcome out;
    fr_cost(&f, &f.plan, &out);
    struct fr_rates rates = fr_rates_of(&f, &out);
    FR_NEAR(rates.hardware_flop_per_s_per_device / rates.model_flop_per_s_per_device,
            1 + (products + ahead) / (3 * (products + ahead + logits * real)), 1e-12);
    fr_job_free(&a);
    fr_job_free(&b);
    fr_job_free(&f);
}

/* A scan at a share of its own: half of it takes the scan's flop at the peak over the share once more. */
static void a_share_of_its_own(void **state) {
    (void)state;
    static const char *const rates[] = {
        "{\"plain\":0.2,\"scan\":0.4}", "{\"plain\":0.4,\"scan\":0.2}", "{\"plain\":0.2}",
        "{\"flash\":0.2}", "{\"scan\":0.2,\"scan_backward\":0.25}"};
    enum { RATES = sizeof rates / sizeof *rates };
    double time_s[RATES] = {0}, times = 8 * 2 * T * 8, /* 8 micro-batches */
        scans = times * (4 * G * Q * N + 4 * d * Q + 7 * d * N),
           backward = times * (3 * G * Q * N + 3 * d * Q + 5 * d * N);
    for (int i = 0; i < RATES; i++) {
        char attention[80];
        struct fr_job job;
        struct fr_outcome out;
        snprintf(attention, sizeof attention, "cluster.device.attention=%s", rates[i]);
        const char *const sets[] = {PURE, attention, "cluster.device.generation=none",
                                    "cluster.device.host_launch=0 s", NULL};
        fr_test_job("dgx-h100", "gpt-2", sets, &job);
        fr_cost(&job, &job.plan, &out);
        time_s[i] = out.time_s;
        fr_job_free(&job);
    }
    FR_NEAR(time_s[1] - time_s[0], scans / 989e12 * (1 / 0.2 - 1 / 0.4), 1e-9);
    FR_NEAR(time_s[2], time_s[1], 1e-15);
    FR_NEAR(time_s[3], time_s[1], 1e-15);
    FR_NEAR(time_s[4] - time_s[1], backward / 989e12 / 0.2 * (1 / 0.25 - 1), 1e-9);
}

/* Values of 2 bytes, fp32 twice as wide; the norm before the block, the residual, and 9 h of the embedding and logits' ends
 * are a transformer's own: what is left when they are taken away. */
static void traffic_and_memory_by_hand(void **state) {
    (void)state;
    static const char *const one[] = {PURE, NULL}, *const none[] = {PURE, "model.layers=4",
                                                                    NULL};
    struct fr_job a, b;
    struct fr_rank_work eight = stage(one, 0, &a), four = stage(none, 0, &b);
    double conv = 2 * c, squares = 2 * G * N + 2 * G * Q, states = d + G * N + 2 * d * N / Q,
           passed = 3 * d * N / Q, outputs = 2 * G * Q + G * N + d * N / Q + 4 * d,
           norm = 2 * d, ahead = 5 * h + conv + squares + states + passed + outputs + norm,
           back = 2 * ahead + conv + squares + states + passed;
    FR_NEAR(test_sum(&eight, FR_WORK_TRAFFIC, FR_PASS_FORWARD) -
                test_sum(&four, FR_WORK_TRAFFIC, FR_PASS_FORWARD),
            4 * 2 * T * ahead, 1e-9);
    FR_NEAR(test_sum(&eight, FR_WORK_TRAFFIC, FR_PASS_INPUT) -
                test_sum(&four, FR_WORK_TRAFFIC, FR_PASS_INPUT),
            4 * 2 * T * back, 1e-9);
    FR_NEAR(eight.activation_B - eight.ends_B, 8 * 2 * T * (2 * h + in + 3 * d), 1e-12);
    fr_job_free(&a);
    fr_job_free(&b);
}

/* As an attention's pair over tp; over cp a rank's tokens of all of its heads go out, and what the scan made comes back. */
static void exchanges_by_hand(void **state) {
    (void)state;
    static const char *const tp[] = {PURE, "tp=4", NULL},
                             *const sp[] = {PURE, "tp=4", "sequence_parallel=true", NULL},
                             *const cp[] = {PURE, "cp=2", "tp=2", NULL};
    struct fr_job a, b, e;
    struct fr_rank_work reduced = stage(tp, 0, &a), scattered = stage(sp, 0, &b),
                        shared = stage(cp, 0, &e);
    double token = 2 * T * h;
    FR_NEAR(collective_B(&reduced, FR_AXIS_TP, FR_OP_ALL_REDUCE, false), (8 + 1) * token, 0);
    FR_NEAR(collective_B(&scattered, FR_AXIS_TP, FR_OP_ALL_GATHER, false), (8 + 1) * token, 0);
    FR_NEAR(collective_B(&scattered, FR_AXIS_TP, FR_OP_ALL_GATHER, true),
            (8 * 2 + 1 + 1) * token, 0); /* inputs of first products once more */
    for (int back = 0; back < 2; back++)
        FR_NEAR(collective_B(&shared, FR_AXIS_CP, FR_OP_ALL_TO_ALL, back),
                8 * 2 * T / 2 * (in + d) / 2, 0);
    FR_NEAR(test_sum(&shared, FR_WORK_SCAN, FR_PASS_FORWARD),
            2 * T * 8 * (G * Q * N + d * Q + 2 * d * N) / 4, 1e-12);
    fr_job_free(&a);
    fr_job_free(&b);
    fr_job_free(&e);
}

/* An attention and an MLP a layer are two layers of a hybrid, in every number but what is kept where all is recomputed:
 * a layer's input, of which there are twice as many. */
static void a_transformer_as_a_hybrid(void **state) {
    (void)state;
    static const char *const plans[][6] = {
        {"dp=4"},
        {"dp=2", "tp=4", "sequence_parallel=true", "zero=1"},
        {"pp=4", "micro_batch=2", "overlap=gradient", "dp=2"},
        {"pp=2", "schedule=interleaved", "chunks=3", "recompute=selective", "tp=2",
         "micro_batch=2"},
        {"cp=2", "attention=flash", "zero=3", "dp=2"}};
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
        const char *plain[12] = {"model.layers=12", "global_batch=64"},
                   *hybrid[12] = {"model.layers=24", "global_batch=64", "model.pattern=*-"};
        struct fr_job a, b;
        struct fr_outcome x, y;
        for (int i = 0; i < 6 && plans[k][i]; i++) {
            plain[2 + i] = plans[k][i];
            hybrid[3 + i] = plans[k][i];
        }
        fr_test_job("dgx-a100", "gpt-2", plain, &a);
        fr_test_job("dgx-a100", "gpt-2", hybrid, &b);
        fr_cost(&a, &a.plan, &x);
        fr_cost(&b, &b.plan, &y);
        assert_int_equal(y.reasons, 0);
        print_message("%zu: %g s\n", k, x.time_s);
        FR_NEAR(y.parameters, x.parameters, 0);
        FR_NEAR(fr_workload_flop(&b.workload), fr_workload_flop(&a.workload), 1e-12);
        FR_NEAR(y.memory_B[FR_MEMORY_ACTIVATIONS], x.memory_B[FR_MEMORY_ACTIVATIONS], 1e-12);
        if (k < 4) FR_NEAR(y.time_s, x.time_s, 1e-12); /* gathers of ZeRO 3 go layer by layer */
        fr_job_free(&a);
        fr_job_free(&b);
    }
}

/* Letters of a stage: in turn over stages, and over the chunks of each. */
static void blocks_of_stages(void **state) {
    (void)state;
    static const struct {
        const char *sets[5];
        double want[4][4]; /* attention, MLP, experts, state-space */
    } cases[] = {{{"pp=4"}, {{0, 1, 0, 2}, {1, 1, 0, 1}, {0, 1, 0, 2}, {1, 1, 0, 1}}},
                 {{"pp=2", "stage_layers=[2,10]"}, {{0, 1, 0, 1}, {2, 3, 0, 5}}},
                 {{"pp=2", "schedule=interleaved", "chunks=2"}, {{0, 2, 0, 4}, {2, 2, 0, 2}}},
                 {{"pp=2", "schedule=zero-bubble-v", "chunks=2"}, {{1, 2, 0, 3}, {1, 2, 0, 3}}},
                 {{"pp=2", "schedule=interleaved", "chunks=4"}, {{2, 1, 0, 3}, {0, 3, 0, 3}}}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct fr_job job;
        const char *all[12] = {"model.pattern=M-M*M-", "model.layers=12", "model.ssm_heads=8",
                               "model.ssm_groups=4"};
        for (int i = 0; i < 5 && cases[k].sets[i]; i++) all[4 + i] = cases[k].sets[i];
        fr_test_job("dgx-h100", "gpt-2", all, &job);
        for (int64_t i = 0; i < job.plan.pp; i++) {
            struct fr_block_counts b =
                fr_transformer_stage_blocks(&job.workload.transformer, &job.plan, i);
            const double got[] = {b.attention, b.mlp, b.experts, b.ssm};
            for (int n = 0; n < 4; n++)
                FR_TRUE(fabs(got[n] - cases[k].want[i][n]) < 1e-12,
                        "case %zu, stage %d, block %d: %g, wanted %g", k, (int)i, n, got[n],
                        cases[k].want[i][n]);
        }
        fr_job_free(&job);
    }
}

static void what_hybrids_do_not_meet(void **state) {
    (void)state;
    static const struct {
        const char *sets[4];
        int reason;
    } plans[] = {{{"method=grid", "tp=2"}, FR_REASON_METHOD},
                 {{"method=subgraph", "tp=2"}, FR_REASON_METHOD},
                 {{"method=phantom", "tp=2", "ghost=4"}, FR_REASON_METHOD},
                 {{"recompute=save_qkv"}, FR_REASON_RECOMPUTE},
                 {{"tp=8"}, FR_REASON_HEADS}, /* four groups */
                 {{"tp=4", "cp=2"}, FR_REASON_HEADS}};
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
        const char *sets[24] = {PURE};
        struct fr_job job;
        int n = 0;
        while (sets[n]) n++;
        for (int i = 0; i < 4 && plans[k].sets[i]; i++) sets[n++] = plans[k].sets[i];
        fr_test_job("dgx-h100", "gpt-2", sets, &job);
        FR_TRUE(fr_pipeline_check(&job, &job.plan) == FR_BECAUSE(plans[k].reason), "case %zu",
                k);
        fr_job_free(&job);
    }
    static const struct {
        const char *model, *set, *detail;
    } bad[] = {{"gpt-2", "model.ssm_heads=8", "without an M"},
               {"gpt-2", "model.pattern=*x", "names no block"},
               {"gpt-2", "model.pattern=*E", "no experts"},
               {"gpt-2", "model.pattern=M", "is missing"},
               {"mixtral-8x7b", "model.pattern=*-", "has no E"},
               {"deepseek-v3", "model.pattern=*E", "kv_latent"},
               {"t5-large-mod", "model.pattern=*-", "cross_layers"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct fr_error err = fr_test_refused("dgx-h100", bad[k].model, bad[k].set);
        FR_TRUE(strstr(err.detail, bad[k].detail), "%s: %s", bad[k].set, err.detail);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_by_hand), cmocka_unit_test(flop_by_hand),
        cmocka_unit_test(a_share_of_its_own), cmocka_unit_test(traffic_and_memory_by_hand),
        cmocka_unit_test(exchanges_by_hand),  cmocka_unit_test(a_transformer_as_a_hybrid),
        cmocka_unit_test(blocks_of_stages),   cmocka_unit_test(what_hybrids_do_not_meet)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Moments by hand: a layer of Llama, a layer of a mixture, losses; and peaks that Megatron-LM's runs had on B200. */
#include "models/outcome/moments.h"

#include <math.h>

#include "models/outcome/cost.h"
#include "tests/job.h"

#define SOFTWARE                                                                               \
    "cluster.device.dummy_gradients=2", "cluster.device.workspace=96 MiB",                     \
        "cluster.device.grouped_workspace=128 MiB"

static struct fr_outcome ask(const char *model, const char *const *sets, struct fr_job *job,
                             struct fr_moment_memory memory[FR_MOMENTS],
                             double total_B[FR_MOMENTS]) {
    struct fr_outcome out;
    fr_test_job("dgx-b200", model, sets, job);
    fr_cost(job, &job->plan, &out);
    assert_true(fr_moments_of_peak_stage(job, &out, memory, total_B));
    return out;
}

/* Llama 3 70B's layer over tp 2, divided along the sequence, T tokens: the inputs of both norms and of what follows,
 * queries, keys and values, what attention made, gate, up and their product; 4 B a query and head; in all of 12 layers.
 * Shapes of weights: QKV, projection, gate with up, down, head. */
static void a_layer_of_llama(void **state) {
    const char *const sets[] = {"tp=2",
                                "dp=4",
                                "zero=1",
                                "micro_batch=1",
                                "global_batch=16",
                                "sequence_parallel=true",
                                "attention=flash",
                                "loss=fused",
                                "recompute=none",
                                "model.layers=12",
                                "model.sequence=4096",
                                SOFTWARE,
                                NULL};
    const double T = 4096, h = 8192, f = 28672, kv = 1024, V = 128256, t = 2;
    struct fr_moment_memory m[FR_MOMENTS];
    double total_B[FR_MOMENTS];
    struct fr_job job;
    (void)state;
    struct fr_outcome out = ask("llama-3-70b", sets, &job, m, total_B);
    const double *head = m[FR_MOMENT_HEAD_BACKWARD].tensor_B,
                 *layer = m[FR_MOMENT_LAYER_BACKWARD].tensor_B,
                 *words = m[FR_MOMENT_EMBEDDING_BACKWARD].tensor_B;
    FR_NEAR(layer[FR_TENSOR_LAYERS],
            12 * (2 * T * (4 * h / t + (h + 2 * kv) / t + h / t + 3 * f / t) + 4 * T * 64 / t),
            1e-12);
    FR_NEAR(layer[FR_TENSOR_LAYER], 2 * T * 2 * f / t, 1e-12);
    FR_NEAR(layer[FR_TENSOR_JOINED], 2 * T * (2 * h + h / t), 1e-12);
    FR_NEAR(head[FR_TENSOR_LOGITS], 2 * T * V / t, 1e-12);
    FR_NEAR(head[FR_TENSOR_ENDS], 2 * T * 2 * h / t, 1e-12);
    FR_NEAR(head[FR_TENSOR_JOINED], 2 * T * 2 * h, 1e-12);
    FR_NEAR(head[FR_TENSOR_DUMMIES], 2 * ((h + 2 * kv) + h + 2 * f + f + V) * h / t, 1e-12);
    FR_NEAR(head[FR_TENSOR_WORKSPACE], 96 * 1048576.0, 1e-12);
    FR_NEAR(words[FR_TENSOR_WEIGHTS], 2 * V / t * h, 1e-12);
    assert_true(words[FR_TENSOR_LAYERS] < 1e-6 * layer[FR_TENSOR_LAYERS]);
    FR_NEAR(out.memory_peak_B, total_B[FR_MOMENT_HEAD_BACKWARD], 1e-12);
    fr_job_free(&job);
}

/* Mixtral's layer, whole on a rank, k = 2 of 8 experts, f = 14336: a row for each expert of a token is read and three
 * times f made; twice as many where the fullest rank has twice the rows. */
static void a_layer_of_a_mixture(void **state) {
    static const char *const imbalance[] = {"model.imbalance=1", "model.imbalance=2"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *const sets[] = {"dp=8",
                                    "ep=8",
                                    "zero=1",
                                    "micro_batch=1",
                                    "global_batch=32",
                                    "attention=flash",
                                    "loss=fused",
                                    "recompute=none",
                                    "model.sequence=4096",
                                    "overlap_experts=false",
                                    imbalance[i],
                                    SOFTWARE,
                                    NULL};
        const double T = 4096, h = 4096, kv = 1024, f = 14336, k = 2 * (i + 1), L = 32;
        struct fr_moment_memory m[FR_MOMENTS];
        double total_B[FR_MOMENTS];
        struct fr_job job;
        ask("mixtral-8x7b", sets, &job, m, total_B);
        const double *layer = m[FR_MOMENT_LAYER_BACKWARD].tensor_B;
        FR_NEAR(
            layer[FR_TENSOR_LAYERS],
            L * (2 * T * (4 * h + h + 2 * kv + h + k * h + 3 * k * f) + T * (4 * 32 + 9 * 8)),
            1e-12);
        FR_NEAR(layer[FR_TENSOR_LAYER], 2 * T * (2 * k * f + 2 * k * h), 1e-12);
        FR_NEAR(layer[FR_TENSOR_WORKSPACE], (96 + 128) * 1048576.0, 1e-12);
        fr_job_free(&job);
    }
}

/* Bytes a logit of 16 bits, and of 32 at most so many. */
static void losses_by_hand(void **state) {
    static const struct {
        fr_loss loss;
        double forward, in_flight, backward;
    } rows[] = {{FR_LOSS_FUSED, 2, 2, 2},      {FR_LOSS_NATIVE, 4, 4, 4},
                {FR_LOSS_UNFUSED, 6, 4, 6},    {FR_LOSS_COMPILED, 2, 2, 4},
                {FR_LOSS_EAGER_16, 4, 2, 6},   {FR_LOSS_EAGER, 8, 4, 12},
                {FR_LOSS_PARALLEL, 12, 4, 16}, {FR_LOSS_PARALLEL_COMPILED, 8, 4, 10},
                {FR_LOSS_CHUNKED, 1, 0, 1}};
    (void)state;
    FR_TRUE(sizeof rows / sizeof *rows == FR_LOSSES,
            "%d losses, and %zu rows in tests/models/outcome/test_moments.c", (int)FR_LOSSES,
            sizeof rows / sizeof *rows);
    for (int i = 0; i < FR_LOSSES; i++) {
        const struct fr_loss_row *row = &fr_losses[rows[i].loss];
        FR_NEAR(fr_loss_logit_B(&row->forward, 2), rows[i].forward, 1e-15);
        FR_NEAR(fr_loss_logit_B(&row->in_flight, 2), rows[i].in_flight, 1e-15);
        FR_NEAR(fr_loss_logit_B(&row->backward, 2), rows[i].backward, 1e-15);
        assert_true(fr_loss_logit_B(&row->forward, 4) <= 2 * rows[i].forward);
        assert_string_equal(row->name, fr_loss_names[rows[i].loss]);
    }
}

/* Peaks of tensors that SimuMax's authors report of Megatron-LM with Transformer Engine 2.11 on a node of B200
 * (MooreThreads/SimuMax, docs/b200/b200_release_v1.2_summary.json), sequence parallel, all-to-all over cp: GiB. */
static void peaks_of_runs(void **state) {
    static const struct {
        int tp, pp, dp, cp, ep, sequence;
        double peak_GiB;
    } rows[] = {{1, 2, 4, 1, 1, 4096, 66.55},    {2, 1, 4, 1, 1, 4096, 60.68},
                {4, 1, 2, 1, 1, 4096, 39.07},    {8, 1, 1, 1, 1, 4096, 28.29},
                {2, 1, 1, 4, 1, 32768, 68.43},   {1, 1, 1, 8, 1, 32768, 104.51},
                {2, 1, 1, 4, 1, 131072, 112.67}, {1, 1, 1, 8, 1, 131072, 147.99},
                {1, 1, 8, 1, 8, 4096, 104.30},   {1, 2, 4, 1, 4, 4096, 114.00}};
    double sum = 0, errors = 0;
    int n = sizeof rows / sizeof *rows;
    (void)state;
    for (int i = 0; i < n; i++) {
        char words[9][48];
        bool mixture = rows[i].ep > 1;
        snprintf(words[0], sizeof *words, "tp=%d", rows[i].tp);
        snprintf(words[1], sizeof *words, "pp=%d", rows[i].pp);
        snprintf(words[2], sizeof *words, "dp=%d", rows[i].dp);
        snprintf(words[3], sizeof *words, "model.sequence=%d", rows[i].sequence);
        snprintf(words[4], sizeof *words, "global_batch=%d", 4 * rows[i].dp);
        snprintf(words[5], sizeof *words, "model.layers=%d", mixture ? 4 : 12);
        snprintf(words[6], sizeof *words, rows[i].cp > 1 ? "cp=%d" : "micro_batch=1",
                 rows[i].cp);
        snprintf(words[7], sizeof *words, mixture ? "ep=%d" : "micro_batch=1", rows[i].ep);
        snprintf(words[8], sizeof *words, "sequence_parallel=%s",
                 rows[i].tp > 1 ? "true" : "false");
        const char *const sets[] = {words[0],
                                    words[1],
                                    words[2],
                                    words[3],
                                    words[4],
                                    words[5],
                                    words[6],
                                    words[7],
                                    words[8],
                                    "zero=1",
                                    "overlap=none",
                                    "loss=fused",
                                    "micro_batch=1",
                                    "attention=flash",
                                    "model.gradient_dtype=fp32",
                                    rows[i].cp > 1 ? "context=all-to-all" : "micro_batch=1",
                                    mixture ? "model.dense_layers=1" : "micro_batch=1",
                                    "model.dtype=bf16",
                                    "model.optimizer_state=12 B",
                                    SOFTWARE,
                                    NULL};
        struct fr_job job;
        struct fr_outcome out;
        fr_test_job("dgx-b200", mixture ? "deepseek-v3" : "llama-3-70b", sets, &job);
        fr_cost(&job, &job.plan, &out);
        double error = out.memory_peak_B / 1073741824.0 / rows[i].peak_GiB - 1;
        FR_TRUE(fabs(error) < 0.004, "row %d: %+.2f %%", i, 100 * error);
        sum += error;
        errors += fabs(error);
        fr_job_free(&job);
    }
    FR_TRUE(errors / n < 0.002 && fabs(sum / n) < 0.001, "mean %.2f %%, bias %+.2f %%",
            100 * errors / n, 100 * sum / n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layer_of_llama),
        cmocka_unit_test(a_layer_of_a_mixture),
        cmocka_unit_test(losses_by_hand),
        cmocka_unit_test(peaks_of_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Blocks whose operations are a kernel each: what they move, launch and keep, by hand.  Losses' traffic; gradients that come with their backward pass; weights that are cast. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/outcome/moments.h"
#include "models/price/pipeline.h"
#include "tests/job.h"
#include "tests/work.h"

#define RATE "cluster.device.memory_bandwidth=1 TB/s"
#define ALONE                                                                                  \
    "dp=1", "micro_batch=2", "global_batch=2", "attention=flash-2", "recompute=none",          \
        "model.sequence=1024", "model.dtype=bf16", "cluster.device.host_launch=0 s",           \
        "cluster.device.host_pass=0 s", "cluster.device.launch=0 s",                           \
        "cluster.device.memory=8000 GB", RATE

static struct fr_outcome ask(const char *model, const char *const *sets, struct fr_job *job) {
    struct fr_outcome out;
    fr_test_job("dgx-h100", model, sets, job);
    fr_cost(job, &job->plan, &out);
    return out;
}

static double time_s(const char *model, const char *const *sets) {
    struct fr_job job;
    struct fr_outcome out = ask(model, sets, &job);
    fr_job_free(&job);
    return out.time_s;
}

/* Llama 3 8B, T = 2048 tokens: X = 5120 values are turned, f = 14336, h = 4096; 32 heads on 8 keys of 128 values.
 *      forward    10 X + f                      rotation; the activation apart from its gate
 *      backward   10 X + f + 5 h + 2 q + k + v  the same, sums of gradients beyond the fused count, those of groups */
static void traffic_of_a_layer(void **state) {
    double more_s[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *layers = k ? "model.layers=8" : "model.layers=4";
        const char *fused[] = {ALONE, layers, "cluster.device.framework={}", NULL};
        const char *apart[] = {ALONE, layers, "cluster.device.framework={\"unfused\":1}", NULL};
        more_s[k] = time_s("llama-3-8b", apart) - time_s("llama-3-8b", fused);
    }
    double X = 5120, f = 14336, h = 4096, groups = 2 * 4096 + 2 * 1024;
    FR_NEAR(more_s[1] - more_s[0], 4 * 2048 * 2 * (20 * X + 2 * f + 5 * h + groups) / 1e12,
            1e-9);
}

/* A host that sets the pace launches 24 kernels a layer forward, 40 and two sums of groups backward. */
static void kernels_of_a_layer(void **state) {
    double more_s[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *layers = k ? "model.layers=8" : "model.layers=4";
        const char *apart[] = {ALONE, layers, "cluster.device.framework={\"unfused\":1}",
                               "cluster.device.host_launch=1 s", NULL};
        more_s[k] = time_s("llama-3-8b", apart);
    }
    FR_NEAR(more_s[1] - more_s[0], 4 * (24 + 42.), 1e-3); /* the update takes some, too */
}

/* Logits of T tokens and V words: 2 and 4 bytes compiled, 8 and 10 of 16 bits, 22 and 26 where they are cast. */
static void losses_move(void **state) {
    static const struct {
        const char *loss;
        double moved_B;
    } rows[] = {
        {"loss=compiled", 6}, {"loss=eager-16", 18}, {"loss=eager", 48}, {"loss=unfused", 66}};
    const char *compiled[] = {ALONE, "model.layers=1", rows[0].loss, NULL};
    double base_s = time_s("llama-3-8b", compiled);
    (void)state;
    for (size_t i = 1; i < sizeof rows / sizeof *rows; i++) {
        const char *sets[] = {ALONE, "model.layers=1", rows[i].loss, NULL};
        FR_NEAR(time_s("llama-3-8b", sets) - base_s,
                2048. * 128256 * (rows[i].moved_B - rows[0].moved_B) / 1e12, 1e-9);
    }
}

/* A loss in parts takes longer than a whole one: its product of logits and its forward pass again. */
static void parts_are_made_again(void **state) {
    const char *whole[] = {ALONE, "model.layers=1", "loss=eager", NULL};
    const char *parts[] = {ALONE, "model.layers=1", "loss=chunked", NULL};
    const double V = 128256, h = 4096, T = 2048;
    (void)state;
    double more_s = time_s("llama-3-8b", parts) - time_s("llama-3-8b", whole);
    assert_true(more_s > (22 * T * V + 7 * 3 * 2 * V * h) / 1e12 + 2 * T * V * h / 989e12);
}

/* One micro-batch of a lone replica: at the loss no gradient is there; with two all are.  The layers' weights and logits
 * are the same. */
static void gradients_come(void **state) {
    struct fr_moment_memory m[2][FR_MOMENTS];
    double total_B[2][FR_MOMENTS];
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *sets[] = {ALONE,
                              k ? "global_batch=4" : "global_batch=2",
                              "model.layers=4",
                              "loss=eager",
                              "model.gradient_dtype=bf16",
                              "cluster.device.framework={\"frees_gradients\":1}",
                              NULL};
        struct fr_job job;
        struct fr_outcome out = ask("llama-3-8b", sets, &job);
        assert_true(fr_moments_of_peak_stage(&job, &out, m[k], total_B[k]));
        fr_job_free(&job);
    }
    const double all_B = m[1][FR_MOMENT_LOSS].tensor_B[FR_TENSOR_GRADIENTS],
                 head_B = 2. * 128256 * 4096;
    assert_true(all_B > 3 * head_B && m[0][FR_MOMENT_LOSS].tensor_B[FR_TENSOR_GRADIENTS] == 0);
    FR_NEAR(total_B[1][FR_MOMENT_LOSS] - total_B[0][FR_MOMENT_LOSS], all_B, 1e-12);
    FR_NEAR(m[0][FR_MOMENT_STEP].tensor_B[FR_TENSOR_GRADIENTS], all_B, 1e-12);
    /* The head's gradient and all but a layer's and the embedding's, or the head's alone. */
    double last_B = m[0][FR_MOMENT_LAYER_BACKWARD].tensor_B[FR_TENSOR_GRADIENTS];
    FR_TRUE(fabs(last_B - head_B) < 1 ||
                fabs(last_B - (all_B - head_B - (all_B - head_B) / 4)) < 1,
            "%g of %g", last_B, all_B);
}

/* SwiGLU saves the activation too: f values a token and layer. */
static void the_activation_is_kept(void **state) {
    double kept_B[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *sets[] = {ALONE, "model.layers=4",
                              k ? "cluster.device.framework={\"unfused\":1}"
                                : "cluster.device.framework={}",
                              NULL};
        struct fr_moment_memory m[FR_MOMENTS];
        double total_B[FR_MOMENTS];
        struct fr_job job;
        struct fr_outcome out = ask("llama-3-8b", sets, &job);
        assert_true(fr_moments_of_peak_stage(&job, &out, m, total_B));
        kept_B[k] = m[FR_MOMENT_LOSS].tensor_B[FR_TENSOR_LAYERS];
        fr_job_free(&job);
    }
    FR_NEAR(kept_B[1] - kept_B[0], 4 * 2048 * 14336 * 2., 1e-9);
}

/* Weights at 32 bits are read and written narrow once a forward pass, 6 B each, and so are the inputs of QKV, gate and up,
 * which are 12 B with their gradients; an update at half of
 * memory's rate takes twice as long. */
static void casts_and_updates(void **state) {
#define WIDE ALONE, "model.layers=4", "model.weight_dtype=fp32", "model.gradient_dtype=bf16"
    const char *without[] = {WIDE, "cluster.device.framework={}", NULL};
    const char *with[] = {WIDE, "cluster.device.framework={\"casts\":1}", NULL};
    const char *half[] = {WIDE, "cluster.device.framework={\"update_rate\":0.5}", NULL};
    const double h = 4096, layer = h * (4096 + 2 * 1024 + 4096 + 3 * 14336.), head = 128256 * h,
                 norms = 4 * 2 * h + h;
    (void)state;
    double base_s = time_s("llama-3-8b", without);
    FR_NEAR(time_s("llama-3-8b", with) - base_s,
            (6 * (4 * layer + head) + 4 * 12 * 3 * 2048 * h) / 1e12, 1e-9);
    FR_NEAR(time_s("llama-3-8b", half) - base_s,
            (2 * 4 + 2 + 2 * 12) * (4 * layer + 2 * head + norms) / 1e12, 1e-2);
}

/* Weights that are kept at the products' width need no cast: neither time nor memory. */
static void nothing_is_cast_at_one_width(void **state) {
    struct fr_outcome out[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *sets[] = {
            ALONE, "model.layers=2", "model.weight_dtype=bf16",
            k ? "cluster.device.framework={\"casts\":1}" : "cluster.device.framework={}", NULL};
        struct fr_job job;
        out[k] = ask("llama-3-8b", sets, &job);
        fr_job_free(&job);
    }
    FR_TRUE(out[0].time_s > 0 && out[1].time_s == out[0].time_s, "%.17g s, without %.17g s",
            out[1].time_s, out[0].time_s);
    FR_NEAR(out[1].memory_peak_B, out[0].memory_peak_B, 0);
}

/* Activations that the first stage keeps, of four layers each. */
static double layers_kept_B(int stages, const char *framework) {
    const char *sets[] = {stages > 1 ? "model.layers=8" : "model.layers=4",
                          stages > 1 ? "pp=2" : "pp=1",
                          "global_batch=8",
                          "micro_batch=2",
                          "attention=flash-2",
                          "model.dtype=bf16",
                          "model.weight_dtype=fp32",
                          "model.sequence=1024",
                          framework,
                          NULL};
    struct fr_moment_memory memory;
    struct fr_pipeline p;
    struct fr_job job;
    uint32_t outside = 0;
    fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
    assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &outside, NULL), FR_OK);
    assert_true(fr_moments_of(&job, &job.plan, &p, 0, FR_MOMENT_LAYER_BACKWARD, &memory) > 0);
    fr_pipeline_free(&p);
    fr_job_free(&job);
    return memory.tensor_B[FR_TENSOR_LAYERS];
}

/* The first of two stages has two micro-batches in flight, each with narrow weights and inputs of its own. */
static void casts_are_kept_of_each_micro_batch(void **state) {
    double more_B[2];
    (void)state;
    for (int k = 0; k < 2; k++)
        more_B[k] = layers_kept_B(1 + k, "cluster.device.framework={\"casts\":1}") -
                    layers_kept_B(1 + k, "cluster.device.framework={}");
    assert_true(more_B[0] > 0);
    FR_NEAR(more_B[1], 2 * more_B[0], 1e-12);
}

/* Bytes of a backward pass beside its products. */
static double backward_B(const char *loss, const char *rank) {
    const char *sets[] = {ALONE, "model.layers=1", loss, rank, NULL};
    static struct fr_rank_work work;
    struct fr_job job;
    double sum = 0;
    fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
    test_stage(&job.workload, &job.plan, 0, &work);
    for (int k = 0; k < work.n_ops; k++)
        if (work.op[k].kind == FR_WORK_TRAFFIC && work.op[k].pass == FR_PASS_INPUT)
            sum += work.op[k].times * work.op[k].moved.all_B;
    fr_job_free(&job);
    return sum;
}

/* Four ranks divide what single operations move whatever the method: X = 5120 turned values, f = 14336, h = 4096.  A
 * phantom attention has one product in place of three, whose gradients need no sum: 6 h less. */
static void methods_divide_it(void **state) {
    static const struct {
        const char *method, *more;
        double stream; /* backward, in h */
    } rows[] = {{"method=tensor", "sequence_parallel=true", 5},
                {"method=phantom", "ghost=8", 5},
                {"method=phantom", "phantom_parts=all", -1},
                {"method=subgraph", "branches=heads", 5}};
    const double X = 5120, f = 14336, h = 4096, groups = 2 * 4096 + 2 * 1024, tokens = 4 * 1024;
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const char *sets[] = {"tp=4",
                              "micro_batch=4",
                              "global_batch=4",
                              "attention=flash-2",
                              "recompute=none",
                              "model.sequence=1024",
                              "model.dtype=bf16",
                              "model.layers=3",
                              rows[k].method,
                              rows[k].more,
                              k == 2 ? "ghost=8" : NULL,
                              NULL};
        static struct fr_rank_work work;
        struct fr_job job;
        double moved_B[2] = {0};
        fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
        test_stage(&job.workload, &job.plan, 0, &work);
        for (int i = 0; i < work.n_ops; i++)
            if (work.op[i].kind == FR_WORK_TRAFFIC)
                moved_B[work.op[i].pass != FR_PASS_FORWARD] +=
                    work.op[i].times * work.op[i].moved.apart_B;
        FR_NEAR(moved_B[0], 3 * tokens / 4 * 2 * (10 * X + f), 1e-12);
        FR_NEAR(moved_B[1], 3 * tokens / 4 * 2 * (10 * X + f + rows[k].stream * h + groups),
                1e-12);
        FR_NEAR(work.apart_B, 3 * tokens / 4 * 2 * f, 1e-12);
        fr_job_free(&job);
    }
}

/* Seven sums of the head's gradient, where it is trained. */
static void frozen_heads_add_nothing_up(void **state) {
    (void)state;
    FR_NEAR(backward_B("loss=chunked", NULL) - backward_B("loss=eager", NULL),
            7 * 3 * 2. * 128256 * 4096, 1e-12);
    FR_NEAR(backward_B("loss=chunked", "model.lora_rank=16"),
            backward_B("loss=eager", "model.lora_rank=16"), 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(traffic_of_a_layer),
                                       cmocka_unit_test(kernels_of_a_layer),
                                       cmocka_unit_test(losses_move),
                                       cmocka_unit_test(parts_are_made_again),
                                       cmocka_unit_test(gradients_come),
                                       cmocka_unit_test(the_activation_is_kept),
                                       cmocka_unit_test(casts_and_updates),
                                       cmocka_unit_test(nothing_is_cast_at_one_width),
                                       cmocka_unit_test(casts_are_kept_of_each_micro_batch),
                                       cmocka_unit_test(methods_divide_it),
                                       cmocka_unit_test(frozen_heads_add_nothing_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

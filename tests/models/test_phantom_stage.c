/* A phantom MLP beside tensor-parallel attention: parameters and traffic by hand. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/work/phantom_stage.h"
#include "tests/job.h"
#include "tests/work.h"

static void by_hand(void **state) {
    (void)state;
    const char *const sets[] = {"method=phantom", "tp=4", "ghost=16", "micro_batch=2", NULL};
    struct fr_job job;
    struct fr_rank_work work;
    double h = 768, f = 3072, p = 4, k = 16, T = 2 * 1024;
    fr_test_job("lassen", "gpt-2", sets, &job);
    fr_phantom_stage(&job.workload, &job.plan, 0, &work);
    /* Per layer on one rank: attention over p; both matrices of the MLP phantom; biases and the norm
     * after the heads, over p; the norm before them, whole. */
    double attention = (4 * h * h + 3 * h) / p;
    double up = h * f / 16 + k * h / p + 3 * k * f / p,
           down = h * f / 16 + k * f / p + 3 * k * h / p;
    double layer = attention + up + down + f / p + 2 * h + 4 * h / p;
    double words = 50688; /* 50257 padded to a multiple of 512 */
    FR_NEAR(work.parameters_rank, 12 * layer + words * h / p + 1024 * h + 2 * h, 1e-12);
    /* Fewer than tensor parallelism (Eq. 8), and each matrix as Seal et al. 2025 counts it. */
    assert_true(p * (up + down) < 2 * h * f);
    FR_NEAR(p * up, h * f / p + k * h + (p - 1) * k * f, 1e-12);
    /* Forward: T h twice a layer and at both ends, p k T for both matrices, two sums a token for the
     * second norm; the same backward. */
    double forward_B = test_tp_B(&work, false), backward_B = test_tp_B(&work, true);
    FR_NEAR(forward_B, 4 * (12 * (2 * T * h + 2 * p * k * T + 2 * T) + 2 * T * h), 1e-12);
    FR_NEAR(backward_B, forward_B, 1e-12);
    fr_job_free(&job);
}

/* Sums over what layers do, embedding and logits left out. */
static double layers_sum(const struct fr_rank_work *w, fr_work_kind kind, fr_pass_kind pass) {
    double sum = 0;
    for (int k = 0; k < w->n_layer_ops; k++)
        if (w->op[k].kind == kind && w->op[k].pass == pass) sum += test_amount(&w->op[k]);
    return sum;
}

/* GPT-2 over four ranks, two sequences of 1024 tokens, sixteen ghost neurons: a layer moves what its two norms read
 * and write (the first of the whole stream, which was gathered, the second of a quarter), three times a quarter of
 * the stream for each residual addition, the MLP's inner values twice, scores four times.  Kept are the norms'
 * inputs, what attention's products read and write, the MLP's values and their ghost neurons, a byte a value of two
 * dropouts, and of a score itself, its dropout and that one's byte. */
static void traffic_and_memory_by_hand(void **state) {
    (void)state;
    static const char *const ways[] = {"none", "selective", "full"};
    const double L = 12, h = 768, f = 3072, p = 4, k = 16, T = 2048, s = 1024, b = 2,
                 heads = 12;
    for (int flash = 0; flash < 2; flash++)
        for (int way = 0; way < 3; way++) {
            char recompute[32];
            const char *sets[] = {
                "method=phantom",  "tp=4", "ghost=16", "micro_batch=2", recompute,
                "attention=flash", NULL};
            struct fr_job job;
            struct fr_rank_work work;
            snprintf(recompute, sizeof recompute, "recompute=%s", ways[way]);
            if (!flash) sets[5] = NULL;
            fr_test_job("lassen", "gpt-2", sets, &job);
            fr_phantom_stage(&job.workload, &job.plan, 0, &work);
            double quarter = T * h / p, inner = T * f / p, ghost_neurons = p * k * T,
                   scores = flash ? 0 : b * heads / p * s * s;
            double norms = 2 * T * h + 2 * quarter;
            double forward_B = L * 4 * (norms + 6 * quarter + 2 * inner + 4 * scores);
            FR_NEAR(layers_sum(&work, FR_WORK_TRAFFIC, FR_PASS_FORWARD), forward_B, 1e-12);
            FR_NEAR(layers_sum(&work, FR_WORK_TRAFFIC, FR_PASS_INPUT), 2 * forward_B, 1e-12);
            FR_NEAR(layers_sum(&work, FR_WORK_TRAFFIC, FR_PASS_AGAIN),
                    way == 0   ? 0
                    : way == 1 ? L * 4 * 4 * scores
                               : forward_B,
                    1e-12);
            for (int o = 0; o < work.n_layer_ops; o++) {
                const struct fr_operation *x = &work.op[o];
                if (x->kind != FR_WORK_TRAFFIC || x->pass != FR_PASS_FORWARD) continue;
                FR_NEAR(x->moved.norm_B, L * 4 * norms, 1e-12);
                FR_NEAR(x->moved.softmax_B, L * 4 * 4 * scores, 1e-12);
            }
            /* Nine kernels, what each of three heads launches, and for both matrices one for every rank. */
            double of_heads = 3 * job.workload.transformer.head_kernels,
                   kernels = L * (9 + of_heads + 2 * p);
            FR_NEAR(layers_sum(&work, FR_WORK_KERNELS, FR_PASS_FORWARD), kernels, 1e-12);
            FR_NEAR(layers_sum(&work, FR_WORK_KERNELS, FR_PASS_INPUT), 1.5 * kernels, 1e-12);
            FR_NEAR(layers_sum(&work, FR_WORK_KERNELS, FR_PASS_AGAIN),
                    way == 0   ? 0
                    : way == 1 ? L * of_heads
                               : kernels,
                    1e-12);
            double values = quarter + T * h + 4 * T * h / p + 2 * quarter +
                            2 * (inner + ghost_neurons),
                   core_B = L * scores * (4 + 4 + 1),
                   all_B = L * (4 * values + 2 * quarter) + core_B;
            double ends_B = T * (h + 50688 / p) * 4;
            FR_NEAR(work.activation_B - ends_B,
                    way == 0   ? all_B
                    : way == 1 ? all_B - core_B
                               : L * quarter * 4,
                    1e-12);
            double largest_B = 4 * fmax(T * h, ghost_neurons);
            FR_NEAR(work.working_B,
                    largest_B + (way == 0   ? 0
                                 : way == 1 ? core_B / L
                                            : all_B / L),
                    1e-12);
            fr_job_free(&job);
        }
}

/* The same GPT-2 with all matrices phantom: no value of width h is gathered between layers, and both norms are over
 * p.  Queries, keys and values are one matrix. */
static void attention_by_hand(void **state) {
    (void)state;
    const char *const sets[] = {"method=phantom", "phantom_parts=all", "tp=4",
                                "ghost=16",       "micro_batch=2",     NULL};
    struct fr_job job;
    struct fr_rank_work work;
    double h = 768, f = 3072, p = 4, k = 16, T = 2 * 1024, L = 12;
    fr_test_job("lassen", "gpt-2", sets, &job);
    fr_phantom_stage(&job.workload, &job.plan, 0, &work);
    double qkv = h * 3 * h / 16 + k * h / p + 3 * k * 3 * h / p,
           out = h * h / 16 + k * h / p + 3 * k * h / p,
           up = h * f / 16 + k * h / p + 3 * k * f / p,
           down = h * f / 16 + k * f / p + 3 * k * h / p,
           vectors = (3 * h + h + f + h + 4 * h) / p, words = 50688;
    FR_NEAR(work.parameters_rank,
            L * (qkv + out + up + down + vectors) + words * h / p + 1024 * h + 2 * h, 1e-12);
    double forward_B = test_tp_B(&work, false);
    FR_NEAR(forward_B, 4 * (L * (4 * p * k * T + 2 * 2 * T) + 2 * T * h), 1e-12);
    FR_NEAR(test_tp_B(&work, true), forward_B, 1e-12);
    fr_job_free(&job);
}

static void parts_of(const char *model, const char *parts, struct fr_rank_work *work) {
    char stated[40];
    const char *sets[] = {"tp=2", "method=phantom", "ghost=8", stated, NULL};
    struct fr_job job;
    snprintf(stated, sizeof stated, "phantom_parts=%s", parts);
    if (!*parts) sets[1] = NULL;
    fr_test_job("dgx-h100", model, sets, &job);
    test_stage(&job.workload, &job.plan, 0, work);
    fr_job_free(&job);
}

/* Which sublayer is phantom changes that one alone: what both save is what each saves. */
static void parts_add_up(void **state) {
    static const char *const models[] = {"gpt-2.5b", "llama-3-8b", "t5-large-mod"};
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        static struct fr_rank_work none, mlp, attention, all;
        parts_of(models[m], "", &none);
        parts_of(models[m], "mlp", &mlp);
        parts_of(models[m], "attention", &attention);
        parts_of(models[m], "all", &all);
        FR_NEAR(all.parameters + none.parameters, mlp.parameters + attention.parameters, 1e-12);
        assert_true(all.parameters < fmin(mlp.parameters, attention.parameters));
        for (int pass = FR_PASS_FORWARD; pass <= FR_PASS_WEIGHT; pass++) {
            double products[] = {layers_sum(&none, FR_WORK_PRODUCT, pass),
                                 layers_sum(&mlp, FR_WORK_PRODUCT, pass),
                                 layers_sum(&attention, FR_WORK_PRODUCT, pass),
                                 layers_sum(&all, FR_WORK_PRODUCT, pass)};
            FR_NEAR(products[3] + products[0], products[1] + products[2], 1e-12);
            assert_true(products[3] < fmin(products[1], products[2]));
        }
    }
}

static void refuses(void **state) {
    (void)state;
    static const struct {
        const char *sets[5];
        int reason;
    } cases[] = {{{"method=phantom", "tp=4", NULL}, FR_REASON_GHOST},
                 {{"method=phantom", "tp=4", "ghost=144", NULL}, FR_REASON_GHOST_EQ8},
                 {{"method=phantom", "tp=1", "ghost=1", NULL}, FR_REASON_GHOST_EQ8},
                 {{"method=phantom", "tp=8", "ghost=4", NULL}, FR_REASON_HEADS},
                 {{"tp=4", "phantom_parts=all", NULL}, FR_REASON_IDLE_KEY},
                 {{"method=phantom", "tp=4", "ghost=144", "phantom_parts=all", NULL},
                  FR_REASON_GHOST_EQ8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_job job;
        struct fr_outcome out;
        fr_test_job("lassen", "gpt-2", cases[i].sets, &job);
        fr_cost(&job, &job.plan, &out);
        FR_TRUE(out.reasons & FR_BECAUSE(cases[i].reason), "case %zu: %#x", i,
                (unsigned)out.reasons);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand), cmocka_unit_test(traffic_and_memory_by_hand),
        cmocka_unit_test(attention_by_hand), cmocka_unit_test(parts_add_up),
        cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Transformers: published parameter counts, Megatron's padding, volumes of the Optimus-CC
 * configurations (derived independently from the authors' artifact), laws of division. */
#include <stdio.h>

#include "models/outcome/cost.h"
#include "models/price/pipeline.h"
#include "models/work/transformer.h"
#include "tests/job.h"
#include "tests/work.h"

static double parameters(const char *model, const char *tp, const char *pp) {
    const char *sets[] = {tp, pp, NULL};
    struct fr_job job;
    double sum = 0;
    fr_test_job("a100-hdr", model, sets, &job);
    for (int64_t i = 0; i < job.plan.pp; i++) {
        struct fr_rank_work work;
        fr_transformer_stage(&job.workload, &job.plan, i, &work);
        sum += work.parameters;
    }
    fr_job_free(&job);
    return sum;
}

static void published_counts(void **state) {
    (void)state;
    FR_NEAR(parameters("gpt-8.3b", "tp=8", "pp=4"), 8.317e9, 1e-4);
    FR_NEAR(parameters("gpt-2.5b", "tp=8", "pp=4"), 2.402e9, 1e-4);
    FR_NEAR(parameters("gpt-9.2b", "tp=8", "pp=4"), 9.22e9, 1e-3);
    FR_NEAR(parameters("gpt3-175b", "tp=1", "pp=1"), 174.6e9, 1e-3);
    FR_NEAR(parameters("llama-3-8b", "tp=1", "pp=1"), 8030261248.0,
            1e-12); /* no padding at tp 1 */
    FR_NEAR(parameters("llama-3-70b", "tp=1", "pp=1"), 70553706496.0, 1e-12);
}

/* The whole model is the same however many stages it is cut into; so is a rank's share summed. */
static void stages_add_up(void **state) {
    (void)state;
    double whole = parameters("gpt-8.3b", "tp=4", "pp=1");
    static const char *const pps[] = {"pp=2", "pp=3", "pp=7", "pp=72"};
    for (int k = 0; k < 4; k++) FR_NEAR(parameters("gpt-8.3b", "tp=4", pps[k]), whole, 1e-15);
}

static void padding(void **state) {
    (void)state;
    struct fr_transformer gpt = {.vocabulary = 50257};
    assert_int_equal(fr_transformer_padded_vocabulary(&gpt, 8), 51200);
    assert_int_equal(fr_transformer_padded_vocabulary(&gpt, 4), 50688);
    assert_int_equal(fr_transformer_padded_vocabulary(&gpt, 2), 50432);
}

/* tp 8, pp 4, dp 4, micro-batches of 8, one adapter a node of eight. */
static void volumes(void **state) {
    (void)state;
    static const struct {
        const char *model;
        double p2p_MB, gradient_GB, ring_GB, embedding_MB;
    } want[] = {{"gpt-8.3b", 100.7, 1.020, 12.23, 78.6}, {"gpt-2.5b", 62.9, 0.288, 3.45, 49.2}};
    const char *sets[] = {"tp=8", "pp=4", "dp=4", "micro_batch=8", NULL};
    for (int k = 0; k < 2; k++) {
        struct fr_job job;
        struct fr_pipeline p;
        struct fr_rank_work first;
        uint32_t extrapolated = 0;
        fr_test_job("a100-hdr", want[k].model, sets, &job);
        assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
        assert_int_equal(p.args.micro_batches, 16);
        FR_NEAR(8 * p.message_B, want[k].p2p_MB * 1e6, 1e-3);
        FR_NEAR(p.stage[1].gradient_B, want[k].gradient_GB * 1e9, 2e-3);
        FR_NEAR(8 * fr_op_bus_factor(FR_OP_ALL_REDUCE, 4) * p.stage[1].gradient_B,
                want[k].ring_GB * 1e9, 3e-3);
        fr_transformer_stage(&job.workload, &job.plan, 0, &first);
        FR_NEAR(4 * first.embedding_rank, want[k].embedding_MB * 1e6, 1e-3);
        fr_pipeline_free(&p);
        fr_job_free(&job);
    }
}

/* Forward flop of a layer: 24 b s h^2 + 4 b s^2 h for GPT (Narayanan et al. 2021, appendix). */
static void forward_flop(void **state) {
    (void)state;
    struct fr_job job;
    fr_test_job("a100-hdr", "gpt-8.3b", NULL, &job);
    for (int64_t tp = 1; tp <= 8; tp *= 2) {
        struct fr_rank_work work; /* a middle stage of 3: 24 layers, nothing else */
        double flop, b = 4, s = 1024, h = 3072;
        job.plan.tp = tp;
        job.plan.pp = 3;
        job.plan.micro_batch = 4;
        fr_transformer_stage(&job.workload, &job.plan, 1, &work);
        flop = test_flops(&work, FR_PASS_FORWARD);
        FR_NEAR(flop * (double)tp, 24 * (24 * b * s * h * h + 4 * b * s * s * h), 1e-12);
    }
    fr_job_free(&job);
}

/* Activations at 16 bits of one layer (Korthikanti et al. 2022): s b h (10 + 24/t + 5 a s / (h t))
 * bytes (Eq. 2), with sequence parallel s b h / t (34 + 5 a s / h) (Eq. 4). */
static void activations(void **state) {
    (void)state;
    const char *sets[] = {"model.dtype=bf16", "pp=72", "micro_batch=4", NULL};
    struct fr_job job;
    struct fr_rank_work work;
    double b = 4, s = 1024, h = 3072, a = 24;
    fr_test_job("a100-hdr", "gpt-8.3b", sets, &job);
    for (int64_t tp = 1; tp <= 8; tp *= 2) {
        double t = (double)tp;
        job.plan.tp = tp;
        job.plan.sequence_parallel = false;
        fr_transformer_stage(&job.workload, &job.plan, 1, &work);
        FR_NEAR(work.activation_B, s * b * h * (10 + 24 / t + 5 * a * s / h / t), 1e-12);
        job.plan.sequence_parallel = true;
        fr_transformer_stage(&job.workload, &job.plan, 1, &work);
        FR_NEAR(work.activation_B, s * b * h / t * (34 + 5 * a * s / h), 1e-12);
    }
    fr_job_free(&job);
}

/* Without dropout: of one layer of LLaMA, by hand, two bytes a value.  Both norms' and the products'
 * inputs, 4 T h; q, k, v and what the heads made, 2 T (q + kv); gate, up and their product, 3 T f;
 * of plain attention the softmax, once.  Masks are what dropout adds. */
static void activations_without_dropout(void **state) {
    (void)state;
    const char *sets[] = {"pp=32", "micro_batch=2", NULL};
    struct fr_job job;
    struct fr_rank_work work;
    double T = 2 * 8192, s = 8192, h = 4096, q = 4096, kv = 1024, f = 14336, a = 32;
    fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
    assert_false(job.workload.transformer.dropout);
    for (int64_t tp = 1; tp <= 8; tp *= 2)
        for (int fused = 0; fused < 2; fused++)
            for (int dropout = 0; dropout < 2; dropout++) {
                double t = (double)tp, scores = fused ? 0 : a * T * s / t;
                job.plan.tp = tp;
                job.plan.attention = fused ? FR_ATTENTION_FLASH : FR_ATTENTION_PLAIN;
                job.plan.sequence_parallel = true;
                job.workload.transformer.dropout = dropout;
                fr_transformer_stage(&job.workload, &job.plan, 1, &work);
                double saved = 4 * T * h + 2 * T * (q + kv) + 3 * T * f;
                FR_NEAR(work.activation_B,
                        2 * saved / t + scores * (dropout ? 5 : 2) +
                            (dropout ? 2 * T * h / t : 0),
                        1e-12);
            }
    fr_job_free(&job);
}

/* Llama 3.1 405B as it was trained (Grattafiori et al. 2024, Table 4 and section 3.3.2): tp 8,
 * pp 16, dp 128, sequences of 8192 in 16 micro-batches, gradients and optimiser divided, no
 * recomputation, on GPUs of 80 GB.  With masks of dropout it would rather not fit. */
static void llama_405b_fits_as_published(void **state) {
    (void)state;
    const char *sets[] = {"tp=8",
                          "pp=16",
                          "dp=128",
                          "zero=2",
                          "micro_batch=1",
                          "global_batch=2048",
                          "sequence_parallel=true",
                          "attention=flash",
                          "cluster.device.memory=80 GB",
                          NULL};
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job("dgx-h100", "llama-3-405b", sets, &job);
    fr_cost(&job, &job.plan, &out);
    assert_int_equal(out.reasons, 0);
    assert_true(out.memory_spare > 0);
    job.workload.transformer.dropout = true;
    fr_cost(&job, &job.plan, &out);
    assert_true(out.memory_spare < 0);
    fr_job_free(&job);
}

/* Interleaved, the embedding and the logits may stand for a layer each: 126 layers over 16 x 8, the
 * ends with one less, by the closed form; 16 x 9 are too many.  Where layers suffice the split is as
 * equal as can be. */
static void ends_count_as_layers(void **state) {
    (void)state;
    const char *sets[] = {"tp=8",
                          "pp=16",
                          "dp=64",
                          "zero=2",
                          "micro_batch=1",
                          "chunks=8",
                          "global_batch=1024",
                          "sequence_parallel=true",
                          "attention=flash",
                          "schedule=interleaved",
                          NULL};
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job("dgx-h100", "llama-3-405b", sets, &job);
    const struct fr_transformer *t = &job.workload.transformer;
    for (int64_t chunks = 1; chunks <= 9; chunks++) {
        int64_t sum = 0, ends = 0;
        job.plan.chunks = chunks;
        for (int64_t i = 0; i < 16; i++) {
            int64_t here = fr_transformer_stage_layers(t, &job.plan, i);
            sum += here;
            ends += here == 7 && (i == 0 || i == 15);
            if (chunks < 8) assert_int_equal(here, 126 / 16 + (i < 126 % 16));
        }
        fr_cost(&job, &job.plan, &out);
        if (chunks == 9) {
            assert_true(out.reasons & FR_BECAUSE(FR_REASON_STAGES));
        } else {
            assert_int_equal(sum, 126);
            assert_int_equal(out.reasons & FR_BECAUSE(FR_REASON_STAGES), 0);
        }
        if (chunks == 8) assert_int_equal(ends, 2);
    }
    fr_job_free(&job);
}

/* Sequence parallel (Korthikanti et al. 2022, section 4.2.2): the bytes over tp stay as they are,
 * but for the inputs gathered again; on one level without latency the times of the all-reduces
 * do too, and messages need no gathering. */
static void sequence_parallel(void **state) {
    (void)state;
    static const char *const sets[] = {
        "tp=4",
        "pp=3",
        "micro_batch=2",
        "recompute=selective",
        "cluster.collectives.all_reduce={\"form\": \"algorithm\", \"name\": \"ring\"}",
        "cluster.collectives.all_gather={\"form\": \"algorithm\", \"name\": \"ring\"}",
        "cluster.collectives.reduce_scatter={\"form\": \"algorithm\", \"name\": \"ring\"}",
        "cluster.levels=[{\"name\": \"all\", \"ranks\": 128, \"latency\": \"0 s\", "
        "\"bandwidth\": \"300 GB/s\"}]",
        NULL};
    struct fr_job job;
    struct fr_pipeline plain, sequence;
    uint32_t extrapolated = 0;
    fr_test_job("a100-hdr", "gpt-8.3b", sets, &job);
    assert_int_equal(fr_pipeline_make(&job, &job.plan, &plain, &extrapolated, NULL), FR_OK);
    job.plan.sequence_parallel = true;
    assert_int_equal(fr_pipeline_make(&job, &job.plan, &sequence, &extrapolated, NULL), FR_OK);
    for (int i = 0; i < 3; i++) {
        /* The embedding is scattered only: half of its all-reduce; the logits' input is gathered. */
        double step_s = plain.stage[1].forward.tp_s / 48 / 2;
        double more_s = i == 0 ? -step_s : i == 2 ? step_s : 0;
        FR_NEAR(sequence.stage[i].forward.tp_s, plain.stage[i].forward.tp_s + more_s, 1e-12);
        assert_true(sequence.stage[i].forward.compute_s < plain.stage[i].forward.compute_s);
        assert_true(sequence.stage[i].message_s < plain.stage[i].message_s);
        FR_NEAR(sequence.stage[i].gradient_B, plain.stage[i].gradient_B, 1e-15);
    }
    double plain_B = plain.stage[1].sent_B[FR_SENT_TP];
    assert_true(sequence.stage[1].sent_B[FR_SENT_TP] < 1.6 * plain_B);
    fr_pipeline_free(&plain);
    fr_pipeline_free(&sequence);
    fr_job_free(&job);
}

/* Uneven stages: work is that of their layers, and lists that do not fit are refused. */
static void uneven_stages(void **state) {
    (void)state;
    const char *sets[] = {"tp=2", "pp=4", "stage_layers=[20,16,16,20]", NULL};
    const char *even[] = {"tp=2", "pp=4", NULL};
    struct fr_job job, other;
    struct fr_rank_work work, wide;
    fr_test_job("a100-hdr", "gpt-8.3b", sets, &job);
    fr_test_job("a100-hdr", "gpt-8.3b", even, &other);
    fr_transformer_stage(&job.workload, &job.plan, 1, &work);
    fr_transformer_stage(&other.workload, &other.plan, 1, &wide);
    FR_NEAR(work.parameters_rank / wide.parameters_rank, 16.0 / 18, 1e-15);
    FR_NEAR(work.activation_B / wide.activation_B, 16.0 / 18, 1e-15);
    FR_NEAR(work.op[0].times / wide.op[0].times, 16.0 / 18, 1e-15);
    struct fr_outcome uneven_out, even_out;
    fr_cost(&job, &job.plan, &uneven_out);
    fr_cost(&other, &other.plan, &even_out);
    FR_NEAR(uneven_out.parameters, even_out.parameters, 1e-15);
    assert_true(uneven_out.time_s > even_out.time_s);
    job.plan.pp = 3;
    assert_true(fr_transformer_check(&job.workload, &job.plan) & FR_BECAUSE(FR_REASON_STAGES));
    job.plan.pp = 4;
    job.workload.transformer.layers = 71;
    assert_true(fr_transformer_check(&job.workload, &job.plan) & FR_BECAUSE(FR_REASON_STAGES));
    fr_job_free(&job);
    fr_job_free(&other);
}

/* Korthikanti et al. 2022: selective recompute keeps 34 s b h, full keeps the layer's input; the
 * backward pass repeats the core's products, or all of the forward pass. */
static void recompute(void **state) {
    (void)state;
    const char *sets[] = {"model.dtype=bf16", "pp=72", "micro_batch=4", NULL};
    struct fr_job job;
    struct fr_rank_work work;
    double b = 4, s = 1024, h = 3072;
    fr_test_job("a100-hdr", "gpt-8.3b", sets, &job);
    static const fr_recompute words[] = {FR_RECOMPUTE_NONE, FR_RECOMPUTE_SELECTIVE,
                                         FR_RECOMPUTE_FULL};
    for (int k = 0; k < 3; k++) {
        fr_recompute how = words[k];
        double again, forward;
        job.plan.recompute = how;
        fr_transformer_stage(&job.workload, &job.plan, 1, &work);
        again = test_flops(&work, FR_PASS_AGAIN);
        forward = test_flops(&work, FR_PASS_FORWARD);
        if (how == FR_RECOMPUTE_NONE) assert_true(!(again > 0));
        if (how == FR_RECOMPUTE_SELECTIVE) {
            FR_NEAR(again, 4 * b * s * s * h, 1e-12);
            FR_NEAR(work.activation_B, 34 * s * b * h, 1e-12);
        }
        if (how == FR_RECOMPUTE_FULL) {
            FR_NEAR(again, forward, 1e-12);
            FR_NEAR(work.activation_B, 2 * s * b * h, 1e-12);
        }
    }
    fr_job_free(&job);
}

static struct fr_outcome price(const char *const *sets) {
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
    fr_cost(&job, &job.plan, &out);
    fr_job_free(&job);
    return out;
}

/* A GEMM form that was measured over whole training steps contains the element-wise traffic and
 * the optimiser: then a transformer's passes are its products alone. */
static void whole_step_forms_have_no_traffic(void **state) {
    (void)state;
    const char *sets[] = {"pp=4",
                          "cluster.device.gemm.fp32={\"peak\": \"100 TFLOP/s\", "
                          "\"half_batch\": 0, \"full_batch\": 256}",
                          "cluster.device.launch=0 s", NULL};
    struct fr_job job;
    struct fr_pipeline p;
    struct fr_rank_work work;
    uint32_t extrapolated = 0;
    double flop;
    fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
    assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
    fr_transformer_stage(&job.workload, &job.plan, 1, &work);
    flop = test_flops(&work, FR_PASS_FORWARD);
    FR_NEAR(p.stage[1].forward.compute_s, flop / 100e12, 1e-12);
    FR_NEAR(p.stage[1].backward.compute_s, 2 * flop / 100e12, 1e-12);
    assert_true(p.stage[1].optimizer_s <= 0);
    fr_pipeline_free(&p);
    fr_job_free(&job);
}

/* Where only the embedding is all-reduced (dp = tp = 1), its size alone decides whether the
 * outcome says that the all-reduce was extrapolated. */
static void embedding_marks_extrapolation(void **state) {
    (void)state;
    static const char *const most[] = {"8 B", "1 GB"};
    for (int k = 0; k < 2; k++)
        for (int pp = 1; pp <= 2; pp++) {
            char fits[256], stages[16];
            snprintf(
                fits, sizeof fits,
                "cluster.collectives.all_reduce={\"form\": \"segments\", \"message\": "
                "\"total\", \"fits\": [{\"ranks\": 2, \"level\": \"node\", \"min\": \"8 B\", "
                "\"max\": \"%s\", \"segments\": [{\"up_to\": \"%s\", \"latency\": \"9 us\", "
                "\"per_byte\": \"0.1 ns/B\"}]}]}",
                most[k], most[k]);
            snprintf(stages, sizeof stages, "pp=%d", pp);
            const char *sets[] = {fits, stages, NULL};
            bool marked = price(sets).extrapolated >> FR_OP_ALL_REDUCE & 1;
            FR_TRUE(marked == (k == 0 && pp == 2), "max %s, pp %d", most[k], pp);
        }
}

static void parts_add_up(void **state) {
    (void)state;
    const char *sets[] = {"tp=8", "pp=4", "dp=4", "micro_batch=8", NULL};
    struct fr_outcome out = price(sets);
    double sum_s = 0;
    for (int i = 0; i < FR_PART_COUNT; i++) {
        assert_true(out.part_s[i] >= 0);
        sum_s += out.part_s[i];
    }
    FR_NEAR(sum_s, out.time_s, 1e-12);
}

static void refuses(void **state) {
    (void)state;
    const char *heads[] = {"tp=5", NULL}, *deep[] = {"pp=53", NULL};
    assert_true(price(heads).reasons & FR_BECAUSE(FR_REASON_HEADS));
    assert_true(price(deep).reasons & FR_BECAUSE(FR_REASON_STAGES));
    struct fr_error err = fr_test_refused("a100-hdr", "gpt-2.5b", "model.heads=7");
    assert_string_equal(err.where, "preset gpt-2.5b#/heads (--set)");
    err = fr_test_refused("a100-hdr", "gpt-2.5b", "model.kv_heads=7");
    assert_string_equal(err.where, "preset gpt-2.5b#/kv_heads (--set)");
}

/* 15 logits of 2 B: widened, maximum, shifted and raised, summed, 22 B each; 21 values of the norm's input,
 * read and written. */
static void the_loss_by_hand(void **state) {
    (void)state;
    FR_NEAR(fr_transformer_loss_B(3, 5, 7, 2), 15 * 22 + 2 * 21 * 2, 0);
    FR_NEAR(fr_transformer_loss_B(3, 5, 7, 4), 15 * 24 + 2 * 21 * 4, 0);
}

/* Between products a rank holds what a collective makes of its share: with the sequence divided a whole micro-batch
 * of the stream, of 8192 tokens, 4096 wide; without, nothing. */
static void the_largest_message_is_held(void **state) {
    (void)state;
    static const struct {
        const char *sets[6];
        double wanted_B;
    } rows[] = {
        {{"tp=4", "sequence_parallel=true", "model.dtype=bf16", NULL}, 8192. * 4096 * 2},
        {{"tp=4", "sequence_parallel=true", "model.dtype=fp32", NULL}, 8192. * 4096 * 4},
        {{"tp=4", "sequence_parallel=true", "model.dtype=bf16", "micro_batch=3", NULL},
         3 * 8192. * 4096 * 2},
        {{"tp=4", "sequence_parallel=false", "model.dtype=bf16", NULL}, 0},
        {{"tp=1", "model.dtype=bf16", NULL}, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_job job;
        struct fr_rank_work work;
        fr_test_job("dgx-h100", "llama-3-8b", rows[i].sets, &job);
        job.plan.attention = FR_ATTENTION_FLASH;
        fr_transformer_stage(&job.workload, &job.plan, 0, &work);
        FR_NEAR(work.working_B, rows[i].wanted_B, 1e-12);
        fr_job_free(&job);
    }
}

/* Kernels of a layer, counted: two norms, four products (a gated MLP has a fifth), the heads' three, an activation, two
 * additions; of experts the router's product, its top ones, and rows put in order, sent, brought back and added up; of
 * what all share its products, activation and addition; of latent attention three products or two, a norm before all
 * but one of them, a rotation and a joining. */
static void kernels_of_a_layer(void **state) {
    static const struct {
        struct fr_transformer t;
        double kernels;
    } rows[] = {{{.experts = 1}, 2 + 4 + 3 + 1 + 2},
                {{.experts = 1, .gated = true}, 2 + 5 + 3 + 1 + 2},
                {{.experts = 8, .gated = true}, 13 + 6},
                {{.experts = 8, .gated = true, .shared_ffn = 16}, 19 + 3 + 1 + 1},
                {{.experts = 8, .shared_ffn = 16}, 12 + 6 + 2 + 1 + 1},
                {{.gated = true, .kv_latent = 8}, 13 + 5},
                {{.gated = true, .kv_latent = 8, .q_latent = 8}, 13 + 7},
                {{.heads = 24, .head_kernels = 5}, 9 + 5 * 24 / 4}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        FR_TRUE(fr_transformer_layer_kernels(&rows[i].t, 4) == rows[i].kernels,
                "row %zu: %g, by hand %g", i, fr_transformer_layer_kernels(&rows[i].t, 4),
                rows[i].kernels);
}

/* Before the first layer an embedding is looked up and summed; behind the last come a norm, the logits, and the
 * cross-entropy's maximum, sum and loss; a masked head has a product, an activation and a norm more; a token further
 * predicted is looked up and judged once more. */
static void kernels_of_ends(void **state) {
    (void)state;
    for (int first = 0; first < 2; first++)
        for (int last = 0; last < 2; last++)
            for (int head = 0; head < 2; head++)
                for (int predicted = 0; predicted < 3; predicted++) {
                    const struct fr_transformer t = {.hidden = 64, .masked_head = head};
                    const struct fr_ends e = {.tokens = 32,
                                              .words = 100,
                                              .batch = 1,
                                              .value_B = 2,
                                              .saved = 64,
                                              .logits_saved = 64,
                                              .predicted = predicted};
                    struct fr_rank_work w;
                    double kernels =
                        2 * first + 2 * predicted + last * (5 * (1 + predicted) + 3 * head);
                    fr_work_begin(&w);
                    fr_transformer_add_ends(&w, &t, first, last, &e);
                    FR_NEAR(test_sum(&w, FR_WORK_KERNELS, FR_PASS_FORWARD), kernels, 1e-12);
                    FR_NEAR(test_sum(&w, FR_WORK_KERNELS, FR_PASS_INPUT) +
                                test_sum(&w, FR_WORK_KERNELS, FR_PASS_WEIGHT),
                            2 * kernels, 1e-12);
                }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_of_a_layer),
                                       cmocka_unit_test(kernels_of_ends),
                                       cmocka_unit_test(the_largest_message_is_held),
                                       cmocka_unit_test(the_loss_by_hand),
                                       cmocka_unit_test(published_counts),
                                       cmocka_unit_test(stages_add_up),
                                       cmocka_unit_test(padding),
                                       cmocka_unit_test(volumes),
                                       cmocka_unit_test(forward_flop),
                                       cmocka_unit_test(activations),
                                       cmocka_unit_test(activations_without_dropout),
                                       cmocka_unit_test(llama_405b_fits_as_published),
                                       cmocka_unit_test(ends_count_as_layers),
                                       cmocka_unit_test(recompute),
                                       cmocka_unit_test(sequence_parallel),
                                       cmocka_unit_test(uneven_stages),
                                       cmocka_unit_test(whole_step_forms_have_no_traffic),
                                       cmocka_unit_test(embedding_marks_extrapolation),
                                       cmocka_unit_test(parts_add_up),
                                       cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Megatron-LM's pretrain_gpt.py.  A boolean that is True by default has a negated form; --fp8-format and
 * --disable-bias-linear are the spellings that its configuration class gives fields fp8 and
 * add_bias_linear. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "answer/emit.h"
#include "answer/emit_layout.h"
#include "models/workload/optimizer.h"
#include "models/workload/rotary.h"

#define NO(what) "Megatron-LM has no " what

static void mesh_rest(struct fr_emitted *e) {
    fr_emit_remark(e, "%" PRId64 ", what the other axes leave of the ranks", e->plan.dp);
}

static void experts_tp(struct fr_emitted *e) {
    fr_emit_option(e, "--expert-tensor-parallel-size", "%" PRId64, fr_plan_expert_tp(&e->plan));
}

/* Ranks go tp-cp-ep-dp-pp; the mapping makes it tp-cp-ep-pp-dp. */
static void rank_order(struct fr_emitted *e) {
    const struct fr_plan *p = &e->plan;
    if (p->rank_order == FR_ORDER_TP_DP_PP || p->pp == 1 || fr_plan_replicas(p) == 1)
        fr_emit_remark(e, "ranks go tp-cp-ep-dp-pp, as without --use-tp-pp-dp-mapping");
    else
        fr_emit_option(e, "--use-tp-pp-dp-mapping", "%s", "");
    if (p->rank_order == FR_ORDER_TP_PP_DP && p->pp > 1 && p->cp > 1)
        fr_emit_lack(e, "its mapping keeps cp beside tp, the plan has it beside dp");
}

static void schedule(struct fr_emitted *e) {
    const struct fr_schedule *s = e->plan.schedule;
    if (e->plan.pp == 1)
        fr_emit_remark(e, "one stage has nothing to schedule");
    else if (s == &fr_schedule_one_f_one_b || s == &fr_schedule_interleaved)
        fr_emit_remark(e, "%s follows from pp and the virtual stages", s->name);
    else
        fr_emit_lack(e, "%s: " NO("such order; without an option it runs 1F1B"), s->name);
}

static void chunks(struct fr_emitted *e) {
    if (e->plan.chunks > 1 && fr_emit_layout_stated(e))
        fr_emit_remark(e, "%" PRId64 ", as the layout below has it", e->plan.chunks);
    else if (e->plan.chunks > 1)
        fr_emit_option(e, "--num-virtual-stages-per-pipeline-rank", "%" PRId64, e->plan.chunks);
    else
        fr_emit_remark(e, "1, as without --num-virtual-stages-per-pipeline-rank");
}

static void p2p(struct fr_emitted *e) {
    bool interleaved = e->plan.pp > 1 && e->plan.chunks > 1;
    if (e->plan.pp == 1)
        fr_emit_remark(e, "one stage sends nothing");
    else if (interleaved && e->plan.duplex)
        fr_emit_option(e, "--no-overlap-p2p-communication", "%s", "");
    else if (interleaved)
        fr_emit_remark(e, "messages overlap with virtual stages, as without an option");
    else
        fr_emit_remark(e, "without virtual stages it sends and receives in pairs");
}

static void stage_layers(struct fr_emitted *e) {
    char layout[1024];
    if (e->plan.pp == 1)
        fr_emit_remark(e, "one stage has all of them");
    else if (!fr_emit_layout_stated(e))
        fr_emit_remark(e, "equal, as without --pipeline-model-parallel-layout");
    else if (fr_emit_layout(e, layout, sizeof layout))
        fr_emit_option(e, "--pipeline-model-parallel-layout", "%s", layout);
    else
        fr_emit_lack(e, "the layout of so many stages is too long for a line");
}

static void sequence_parallel(struct fr_emitted *e) {
    if (e->plan.sequence_parallel)
        fr_emit_option(e, "--sequence-parallel", "%s", "");
    else
        fr_emit_remark(e, "off, as without --sequence-parallel");
}

static void attention(struct fr_emitted *e) {
    static const char *const backends[] = {"unfused", "flash", "flash", "flash"};
    fr_emit_option(e, "--attention-backend", "%s", backends[e->plan.attention]);
    if (e->plan.attention == FR_ATTENTION_FLASH_2)
        fr_emit_option(e, "--flash-attention-version", "2");
    if (e->plan.attention == FR_ATTENTION_FLASH_1)
        fr_emit_lack(e, NO("kernels of FlashAttention's first generation"));
}

/* What 2 and 3 divide is Megatron-FSDP's. */
static void context(struct fr_emitted *e) {
    if (e->plan.cp == 1)
        fr_emit_remark(e, "one rank has the whole sequence");
    else
        fr_emit_option(e, "--cp-comm-type", e->plan.context_heads ? "a2a" : "p2p");
}

/* It counts the groups that hold the same, of which each divides. */
static void zero_ranks(struct fr_emitted *e) {
    int64_t replicas = fr_plan_replicas(&e->plan), z = e->plan.zero_ranks;
    if (e->plan.zero == 0 || z == 0 || z == replicas)
        fr_emit_remark(e, "all replicas, as without it");
    else
        fr_emit_option(e, "--num-distributed-optimizer-instances", "%" PRId64, replicas / z);
}

static void zero(struct fr_emitted *e) {
    static const char *const divides[] = {"", "optim", "optim_grads", "optim_grads_params"};
    int64_t zero = e->plan.zero;
    if (zero == 0) {
        fr_emit_remark(e, "0, as without --use-distributed-optimizer");
        return;
    }
    fr_emit_option(e, "--use-distributed-optimizer", "%s", "");
    if (zero == 1) return;
    fr_emit_option(e, "--use-megatron-fsdp", "%s", "");
    fr_emit_option(e, "--data-parallel-sharding-strategy", "%s", divides[zero]);
    fr_emit_option(e, "--ckpt-format", "fsdp_dtensor");
    fr_emit_option(e, "--no-gradient-accumulation-fusion", "%s", "");
    fr_emit_remark(e, "CUDA_DEVICE_MAX_CONNECTIONS must not be 1 with Megatron-FSDP");
}

/* Zero 2 and 3 run beside the passes whatever the plan says; zero 1 gathers beside the next pass. */
static void overlap(struct fr_emitted *e) {
    const struct fr_plan *p = &e->plan;
    if (p->overlap || p->zero >= 2)
        fr_emit_option(e, "--overlap-grad-reduce", "%s", "");
    else
        fr_emit_remark(e, "off, as without --overlap-grad-reduce");
    if (p->zero == 3 || (p->zero >= 1 && p->overlap))
        fr_emit_option(e, "--overlap-param-gather", "%s", "");
}

static void offload(struct fr_emitted *e) {
    const struct fr_plan *p = &e->plan;
    int64_t layers = 0;
    if (p->offload == FR_OFFLOAD_NONE)
        fr_emit_remark(e, "none, as without --optimizer-cpu-offload");
    if (p->offload & FR_OFFLOAD_OPTIMIZER) {
        fr_emit_option(e, "--optimizer-cpu-offload", "%s", "");
        fr_emit_option(e, "--optimizer-offload-fraction", "1.0");
        fr_emit_option(e, "--use-precision-aware-optimizer", "%s", "");
        fr_emit_option(e, "--overlap-cpu-optimizer-d2h-h2d", "%s", "");
    }
    if (!fr_emit_offloaded_layers(e, &layers)) return;
    fr_emit_option(e, "--cpu-offloading", "%s", "");
    fr_emit_option(e, "--cpu-offloading-num-layers", "%" PRId64, layers);
}

static void graphs(struct fr_emitted *e) {
    bool experts = e->job->workload.transformer.experts > 1;
    if (e->plan.graphs == FR_GRAPHS_NONE)
        fr_emit_remark(e, "none, as without --cuda-graph-impl");
    if (e->plan.graphs == FR_GRAPHS_LAYERS) {
        fr_emit_option(e, "--cuda-graph-impl", "transformer_engine");
        fr_emit_option(e, "--cuda-graph-modules",
                       experts ? "attn moe_router moe_preprocess" : "attn mlp");
    }
    if (e->plan.graphs == FR_GRAPHS_ITERATION)
        fr_emit_option(e, "--cuda-graph-impl", "full_iteration");
}

static void bucket(struct fr_emitted *e) {
    fr_emit_bucket(e, e->plan.overlap && e->plan.zero < 2, "--ddp-bucket-size");
}

static void overlap_tp(struct fr_emitted *e) {
    if (e->plan.overlap_tp)
        fr_emit_option(e, "--tp-comm-overlap", "%s", "");
    else
        fr_emit_remark(e, "off, as without --tp-comm-overlap");
}

static void dispatch(struct fr_emitted *e) {
    if (e->plan.dispatch_ranks)
        fr_emit_option(e, "--moe-enable-deepep", "%s", "");
    else
        fr_emit_remark(e, "a copy for each expert, as its all-to-all dispatcher sends them");
}

static void overlap_experts(struct fr_emitted *e) {
    if (e->plan.overlap_experts)
        fr_emit_option(e, "--overlap-moe-expert-parallel-comm", "%s", "");
    else
        fr_emit_remark(e, "off, as without --overlap-moe-expert-parallel-comm");
}

static void accumulation(struct fr_emitted *e) {
    if (e->plan.adds_apart)
        fr_emit_option(e, "--no-gradient-accumulation-fusion", "%s", "");
    else
        fr_emit_remark(e, "fused, as without --no-gradient-accumulation-fusion");
}

/* Of the two ways to fuse; what others do it has no option for. */
static void loss(struct fr_emitted *e) {
    fr_loss of = e->plan.loss;
    if (of == FR_LOSS_UNFUSED) {
        fr_emit_remark(e, "unfused, as without --cross-entropy-loss-fusion");
        return;
    }
    if (of > FR_LOSS_UNFUSED) {
        fr_emit_lack(e, "%s: Megatron-LM's loss is fused, native or unfused",
                     fr_loss_names[of]);
        return;
    }
    fr_emit_option(e, "--cross-entropy-loss-fusion", "%s", "");
    fr_emit_option(e, "--cross-entropy-fusion-impl", of == FR_LOSS_FUSED ? "te" : "native");
}

static void recompute(struct fr_emitted *e) {
    if (e->plan.recompute == FR_RECOMPUTE_NONE) {
        fr_emit_remark(e, "none, as without --recompute-granularity");
        return;
    }
    char modules[FR_RECOMPUTE_TEXT];
    fr_recompute r = e->plan.recompute;
    if (fr_recompute_saves(r)) {
        fr_emit_lack(e, "%s: " NO("such policy; it has modules and full"),
                     fr_recompute_text(r, modules, sizeof modules));
        return;
    }
    bool full = r == FR_RECOMPUTE_FULL, block = e->plan.recompute_layers > 0;
    fr_emit_option(e, "--recompute-granularity", "%s", full ? "full" : "selective");
    if (!full) {
        fr_emit_option(e, "--recompute-modules", "%s",
                       fr_recompute_modules(r, " ", modules, sizeof modules));
        return;
    }
    fr_emit_option(e, "--recompute-method", block ? "block" : "uniform");
    fr_emit_option(e, "--recompute-num-layers", "%" PRId64,
                   block ? e->plan.recompute_layers : 1);
}

static void iterations(struct fr_emitted *e) {
    if (e->plan.iterations > 0)
        fr_emit_option(e, "--train-iters", "%.0f", e->plan.iterations);
    else
        fr_emit_remark(e, "none stated; give --train-iters or --train-samples");
}

/* ---- what is no key of the plan ---------------------------------------------------------------- */

static void precision(struct fr_emitted *e) {
    const struct fr_workload *w = &e->job->workload;
    e->about = "precision";
    if (w->dtype == FR_FP16)
        fr_emit_option(e, "--fp16", "%s", "");
    else if (w->dtype == FR_BF16 || fr_dtype_is_narrow(w->dtype))
        fr_emit_option(e, "--bf16", "%s", "");
    else if (w->dtype == FR_FP32)
        fr_emit_remark(e, "fp32, as without --bf16 and --fp16");
    else
        fr_emit_lack(e, "%s: " NO("option for it"), fr_dtype_names[w->dtype]);
    if (w->dtype == FR_FP4) {
        fr_emit_option(e, "--fp4", "e2m1");
        fr_emit_option(e, "--fp4-recipe", "nvfp4");
        if (w->weight_dtype == FR_FP4) fr_emit_option(e, "--fp4-param-gather", "%s", "");
    }
    if (w->dtype == FR_FP8) {
        fr_emit_option(e, "--fp8-format", "hybrid");
        fr_emit_option(e, "--fp8-recipe", w->fp8_blocks ? "mxfp8" : "delayed");
        if (w->weight_dtype == FR_FP8) fr_emit_option(e, "--fp8-param-gather", "%s", "");
    }
    if (fr_optimizer_is_8_bit(w) && !(e->plan.offload & FR_OFFLOAD_OPTIMIZER)) {
        fr_emit_option(e, "--use-precision-aware-optimizer", "%s", "");
        fr_emit_option(e, "--exp-avg-dtype", "fp8");
        fr_emit_option(e, "--exp-avg-sq-dtype", "fp8");
        if (e->plan.zero == 0)
            fr_emit_lack(e,
                         "optimizer_state 8-bit: it has it with a distributed optimiser alone");
    }
    if (w->transformer.kept_fp8)
        fr_emit_option(e, "--activation-func-fp8-input-store", "%s", "");
    if (w->gradient_dtype == FR_BF16)
        fr_emit_option(e, "--grad-reduce-in-bf16", "%s", "");
    else if (w->gradient_dtype == FR_FP32 && w->dtype != FR_FP32)
        fr_emit_option(e, "--accumulate-allreduce-grads-in-fp32", "%s", "");
}

static void experts(struct fr_emitted *e) {
    const struct fr_transformer *t = &e->job->workload.transformer;
    if (t->experts == 0) return;
    fr_emit_option(e, "--num-experts", "%" PRId64, t->experts);
    fr_emit_option(e, "--moe-router-topk", "%" PRId64, t->experts_per_token);
    fr_emit_option(e, "--moe-ffn-hidden-size", "%" PRId64, t->expert_ffn);
    fr_emit_option(e, "--moe-token-dispatcher-type",
                   e->plan.dispatch_ranks ? "flex" : "alltoall");
    if (t->expert_groups > 0) {
        fr_emit_option(e, "--moe-router-num-groups", "%" PRId64, t->expert_groups);
        fr_emit_option(e, "--moe-router-group-topk", "%" PRId64, t->groups_per_token);
    }
    fr_emit_option(e, "--moe-grouped-gemm", "%s", "");
    if (t->capacity > 0) fr_emit_option(e, "--moe-expert-capacity-factor", "%g", t->capacity);
    if (t->shared_ffn > 0)
        fr_emit_option(e, "--moe-shared-expert-intermediate-size", "%" PRId64, t->shared_ffn);
    if (t->dense_layers > 0)
        fr_emit_option(e, "--moe-layer-freq", "([0]*%" PRId64 "+[1]*%" PRId64 ")",
                       t->dense_layers, t->layers - t->dense_layers);
}

static void latent(struct fr_emitted *e) {
    const struct fr_transformer *t = &e->job->workload.transformer;
    fr_emit_option(e, "--multi-latent-attention", "%s", "");
    if (t->q_latent > 0) fr_emit_option(e, "--q-lora-rank", "%" PRId64, t->q_latent);
    fr_emit_option(e, "--kv-lora-rank", "%" PRId64, t->kv_latent);
    fr_emit_option(e, "--qk-head-dim", "%" PRId64, t->head_dim - t->rope_dim);
    fr_emit_option(e, "--qk-pos-emb-head-dim", "%" PRId64, t->rope_dim);
    fr_emit_option(e, "--v-head-dim", "%" PRId64, t->value_dim);
    fr_emit_option(e, "--qk-layernorm", "%s", "");
}

/* Of pretrain_mamba.py, which builds layers of one block each; its head_dim, state and groups are of all such blocks. */
static void hybrid(struct fr_emitted *e) {
    const struct fr_transformer *t = &e->job->workload.transformer;
    struct fr_text letters = {0};
    size_t n = strlen(t->pattern);
    for (int64_t i = 0; i < t->layers; i++)
        fr_text_addf(&letters, "%c", t->pattern[(size_t)i % n]);
    fr_emit_option(e, "--is-hybrid-model", "%s", "");
    fr_emit_option(e, "--hybrid-override-pattern", "%s", fr_text_get(&letters));
    fr_text_free(&letters);
    if (t->ssm_heads > 0) {
        fr_emit_option(e, "--mamba-num-heads", "%" PRId64, t->ssm_heads);
        fr_emit_option(e, "--mamba-head-dim", "%" PRId64, t->ssm_head_dim);
        fr_emit_option(e, "--mamba-state-dim", "%" PRId64, t->ssm_state);
        fr_emit_option(e, "--mamba-num-groups", "%" PRId64, t->ssm_groups);
    }
    fr_emit_lack(e, "pattern: pretrain_mamba.py builds such a model; start it in the place of "
                    "pretrain_gpt.py");
}

static void heads(struct fr_emitted *e) {
    const struct fr_transformer *t = &e->job->workload.transformer;
    fr_emit_option(e, "--num-attention-heads", "%" PRId64, t->heads);
    if (t->kv_heads != t->heads) {
        fr_emit_option(e, "--group-query-attention", "%s", "");
        fr_emit_option(e, "--num-query-groups", "%" PRId64, t->kv_heads);
    }
    if (t->kv_latent > 0)
        latent(e);
    else if (t->head_dim * t->heads != t->hidden)
        fr_emit_option(e, "--kv-channels", "%" PRId64, t->head_dim);
    if (t->qk_norms) fr_emit_option(e, "--qk-layernorm", "%s", "");
    if (t->cross_layers > 0)
        fr_emit_lack(e,
                     "%" PRId64 " layers have cross-attention, which pretrain_gpt.py has not",
                     t->cross_layers);
}

/* Its own is 10000. */
static void rotary_base(struct fr_emitted *e) {
    double base = fr_rotary_base(fr_job_model(e->job));
    if (e->job->workload.transformer.positions) return;
    if (isfinite(base))
        fr_emit_option(e, "--rotary-base", "%.0f", base);
    else
        fr_emit_remark(e,
                       "the base of rotary positions is not stated (rotary_base of the model); "
                       "without --rotary-base it is 10000");
}

static void model(struct fr_emitted *e) {
    const struct fr_transformer *t = &e->job->workload.transformer;
    e->about = "model";
    fr_emit_option(e, "--seq-length", "%" PRId64, t->sequence);
    fr_emit_option(e, "--max-position-embeddings", "%" PRId64, t->sequence);
    fr_emit_option(e, "--num-layers", "%" PRId64, t->layers);
    fr_emit_option(e, "--hidden-size", "%" PRId64, t->hidden);
    fr_emit_option(e, "--ffn-hidden-size", "%" PRId64, t->ffn);
    heads(e);
    experts(e);
    if (t->pattern[0]) hybrid(e);
    if (t->document > 0) fr_emit_option(e, "--reset-attention-mask", "%s", "");
    if (t->predicted > 0) fr_emit_option(e, "--mtp-num-layers", "%" PRId64, t->predicted);
    if (t->lora_rank > 0)
        fr_emit_lack(e, "lora_rank: " NO("option for adapters beside frozen weights"));
    if (t->gated) fr_emit_option(e, "--swiglu", "%s", "");
    if (!t->norm_biases) fr_emit_option(e, "--normalization", "RMSNorm");
    if (!t->biases) fr_emit_option(e, "--disable-bias-linear", "%s", "");
    if (!t->biases && t->qkv_biases) fr_emit_option(e, "--add-qkv-bias", "%s", "");
    if (!t->tied) fr_emit_option(e, "--untie-embeddings-and-output-weights", "%s", "");
    fr_emit_option(e, "--position-embedding-type", t->positions ? "learned_absolute" : "rope");
    rotary_base(e);
    if (!t->dropout) {
        fr_emit_option(e, "--attention-dropout", "0");
        fr_emit_option(e, "--hidden-dropout", "0");
    }
    fr_emit_option(e, "--vocab-size", "%" PRId64, t->vocabulary);
    fr_emit_option(e, "--make-vocab-size-divisible-by", "%" PRId64,
                   t->vocabulary_multiple ? t->vocabulary_multiple : 128);
    fr_emit_remark(e, "data, tokenizer, optimiser and learning rate are yours to give");
}

static void rest(struct fr_emitted *e) {
    precision(e);
    model(e);
}

static const struct fr_emit_row rows[FR_PLAN_KEYS] = {
    {FR_PLAN_KEY_method, .none = "tensor parallelism is how Megatron-LM divides a layer"},
    {FR_PLAN_KEY_tp, .option = "--tensor-model-parallel-size"},
    {FR_PLAN_KEY_dp, .say = mesh_rest},
    {FR_PLAN_KEY_pp, .option = "--pipeline-model-parallel-size"},
    {FR_PLAN_KEY_pass, .none = NO("plan without a backward pass")},
    {FR_PLAN_KEY_cp, .option = "--context-parallel-size"},
    {FR_PLAN_KEY_context, .say = context},
    {FR_PLAN_KEY_ep, .option = "--expert-model-parallel-size"},
    {FR_PLAN_KEY_etp, .say = experts_tp},
    {FR_PLAN_KEY_rank_order, .say = rank_order},
    {FR_PLAN_KEY_schedule, .say = schedule},
    {FR_PLAN_KEY_chunks, .say = chunks},
    {FR_PLAN_KEY_p2p, .say = p2p},
    {FR_PLAN_KEY_embedding, .none = "it reduces the tied embedding over its own two stages"},
    {FR_PLAN_KEY_stage_layers, .say = stage_layers},
    {FR_PLAN_KEY_sequence_parallel, .say = sequence_parallel},
    {FR_PLAN_KEY_overlap_tp, .say = overlap_tp},
    {FR_PLAN_KEY_attention, .say = attention},
    {FR_PLAN_KEY_zero, .say = zero},
    {FR_PLAN_KEY_zero_ranks, .say = zero_ranks},
    {FR_PLAN_KEY_overlap, .say = overlap},
    {FR_PLAN_KEY_bucket, .say = bucket},
    {FR_PLAN_KEY_dispatch_ranks, .say = dispatch},
    {FR_PLAN_KEY_overlap_experts, .say = overlap_experts},
    {FR_PLAN_KEY_accumulation, .say = accumulation},
    {FR_PLAN_KEY_loss, .say = loss},
    {FR_PLAN_KEY_recompute, .say = recompute},
    {FR_PLAN_KEY_recompute_layers, .say = fr_emit_recompute_layers},
    {FR_PLAN_KEY_reshard, .none = "Megatron-FSDP gathers again "
                                  "(--torch-fsdp2-no-reshard-after-forward is of PyTorch's)"},
    {FR_PLAN_KEY_gradient_sync, .none = "Megatron-FSDP scatters behind every micro-batch"},
    {FR_PLAN_KEY_offload, .say = offload},
    {FR_PLAN_KEY_offload_layers, .none = "with the activations"},
    {FR_PLAN_KEY_graphs, .say = graphs},
    {FR_PLAN_KEY_global_batch, .option = "--global-batch-size"},
    {FR_PLAN_KEY_micro_batch, .option = "--micro-batch-size"},
    {FR_PLAN_KEY_iterations, .say = iterations},
};

/* What a search need not try for it. */
static const char *const able[] = {
    "schedule=1f1b,interleaved",       "method=tensor",
    "compression.backward.scope=none", "compression.gradient.stages=0",
    "compression.embedding=separate",  NULL};

static void write(const struct fr_emitted *e, struct fr_text *text) {
    fr_emit_array(e, "megatron", text);
}

const struct fr_emitter fr_emitter_megatron = {
    .name = "megatron",
    .framework = "Megatron-LM",
    .runtimes = "megatron",
    .version = "NVIDIA/Megatron-LM at d98e8a64ddf3 (August 2026)",
    .no = NO(""),
    .rows = rows,
    .able = able,
    .rest = rest,
    .write = write,
    .program = "pretrain_gpt.py \"${megatron[@]}\" ",
};

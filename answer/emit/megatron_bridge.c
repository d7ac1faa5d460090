/* Megatron-Bridge's scripts/performance/run_script.py: its options, and fields of the training configuration
 * as SECTION.field=VALUE.  Sections are Bridge's; most of their fields are those of Megatron-LM's
 * classes, from which Bridge's derive. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "answer/emit.h"
#include "answer/emit_layout.h"
#include "models/workload/optimizer.h"

#define NO(what) "Megatron-Bridge has no " what

static void mesh_rest(struct fr_emitted *e) {
    fr_emit_remark(e, "%" PRId64 ", what the other axes leave of --num_gpus", e->plan.dp);
}

static void experts_tp(struct fr_emitted *e) {
    fr_emit_option(e, "--expert_tensor_parallel_size", "%" PRId64, fr_plan_expert_tp(&e->plan));
}

static void field(struct fr_emitted *e, const char *name, const char *value) {
    fr_emit_option(e, name, "%s", value);
}

static const char *truth(bool is) { return is ? "true" : "false"; }

static void rank_order(struct fr_emitted *e) {
    const struct fr_plan *p = &e->plan;
    bool stages = p->rank_order == FR_ORDER_TP_PP_DP && p->pp > 1 && fr_plan_replicas(p) > 1;
    field(e, "dist.use_tp_pp_dp_mapping", truth(stages));
    if (stages && p->cp > 1)
        fr_emit_lack(e, "its mapping keeps cp beside tp, the plan has it beside dp");
}

static void schedule(struct fr_emitted *e) {
    const struct fr_schedule *s = e->plan.schedule;
    if (e->plan.pp == 1)
        fr_emit_remark(e, "one stage has nothing to schedule");
    else if (s == &fr_schedule_one_f_one_b || s == &fr_schedule_interleaved)
        fr_emit_remark(e, "%s follows from pp and the virtual stages", s->name);
    else
        fr_emit_lack(e, "%s: " NO("such order; it runs 1F1B"), s->name);
}

/* -1, its default, leaves what the recipe says. */
static void chunks(struct fr_emitted *e) {
    if (e->plan.chunks > 1)
        fr_emit_option(e, "--virtual_pipeline_model_parallel_size", "%" PRId64, e->plan.chunks);
    else
        field(e, "--virtual_pipeline_model_parallel_size", "None");
}

static void p2p(struct fr_emitted *e) {
    bool interleaved = e->plan.pp > 1 && e->plan.chunks > 1;
    if (interleaved)
        field(e, "model.overlap_p2p_comm", truth(!e->plan.duplex));
    else
        fr_emit_remark(e, "without virtual stages it sends and receives in pairs");
}

static void stage_layers(struct fr_emitted *e) {
    char layout[1024];
    if (e->plan.pp == 1)
        fr_emit_remark(e, "one stage has all of them");
    else if (!fr_emit_layout_stated(e))
        fr_emit_remark(e, "equal, as without --pipeline_model_parallel_layout");
    else if (fr_emit_layout(e, layout, sizeof layout))
        field(e, "--pipeline_model_parallel_layout", layout);
    else
        fr_emit_lack(e, "the layout of so many stages is too long for a line");
}

static void sequence_parallel(struct fr_emitted *e) {
    field(e, "model.sequence_parallel", truth(e->plan.sequence_parallel));
}

/* A recipe's own choice stands where the key is not said. */
static void overlap_tp(struct fr_emitted *e) {
    if (e->plan.tp > 1)
        field(e, "comm_overlap.tp_comm_overlap", truth(e->plan.overlap_tp));
    else
        fr_emit_remark(e, "one rank of a layer exchanges nothing");
}

static void attention(struct fr_emitted *e) {
    static const char *const backends[] = {"unfused", "flash", "flash", "flash"};
    field(e, "model.attention_backend", backends[e->plan.attention]);
    if (e->plan.attention == FR_ATTENTION_FLASH_2)
        field(e, "model.flash_attention_version", "2");
    if (e->plan.attention == FR_ATTENTION_FLASH_1)
        fr_emit_lack(e, NO("kernels of FlashAttention's first generation"));
}

static void context(struct fr_emitted *e) {
    if (e->plan.cp == 1)
        fr_emit_remark(e, "one rank has the whole sequence");
    else
        field(e, "model.cp_comm_type", e->plan.context_heads ? "a2a" : "p2p");
}

/* It counts the groups that hold the same, of which each divides. */
static void zero_ranks(struct fr_emitted *e) {
    int64_t replicas = fr_plan_replicas(&e->plan), z = e->plan.zero_ranks;
    char groups[24];
    if (e->plan.zero == 0 || z == 0 || z == replicas) {
        fr_emit_remark(e, "all replicas, as without it");
        return;
    }
    snprintf(groups, sizeof groups, "%" PRId64, replicas / z);
    field(e, "ddp.num_distributed_optimizer_instances", groups);
}

static void zero(struct fr_emitted *e) {
    static const char *const divides[] = {"no_shard", "optim", "optim_grads",
                                          "optim_grads_params"};
    field(e, "ddp.use_distributed_optimizer", truth(e->plan.zero > 0));
    field(e, "--use_megatron_fsdp", truth(e->plan.zero >= 2));
    if (e->plan.zero >= 2)
        field(e, "ddp.data_parallel_sharding_strategy", divides[e->plan.zero]);
}

static void overlap(struct fr_emitted *e) {
    const struct fr_plan *p = &e->plan;
    field(e, "ddp.overlap_grad_reduce", truth(p->overlap || p->zero >= 2));
    field(e, "ddp.overlap_param_gather", truth(p->zero == 3 || (p->zero >= 1 && p->overlap)));
}

static void offload(struct fr_emitted *e) {
    const struct fr_plan *p = &e->plan;
    int64_t layers = 0;
    if (p->offload == FR_OFFLOAD_NONE) fr_emit_remark(e, "none, as by default");
    if (p->offload & FR_OFFLOAD_OPTIMIZER) {
        field(e, "optimizer.optimizer_cpu_offload", "true");
        field(e, "optimizer.optimizer_offload_fraction", "1.0");
        field(e, "optimizer.overlap_cpu_optimizer_d2h_h2d", "true");
    }
    if (!fr_emit_offloaded_layers(e, &layers)) return;
    field(e, "model.cpu_offloading", "true");
    fr_emit_option(e, "model.cpu_offloading_num_layers", "%" PRId64, layers);
}

static void graphs(struct fr_emitted *e) {
    bool experts = e->job->workload.transformer.experts > 1;
    if (e->plan.graphs == FR_GRAPHS_NONE) fr_emit_remark(e, "as its recipe has them");
    if (e->plan.graphs == FR_GRAPHS_LAYERS) {
        fr_emit_option(e, "--cuda_graph_impl", "transformer_engine");
        fr_emit_option(e, "--cuda_graph_scope",
                       experts ? "attn,moe_router,moe_preprocess" : "attn,mlp");
    }
    if (e->plan.graphs == FR_GRAPHS_ITERATION) {
        fr_emit_option(e, "--cuda_graph_impl", "local");
        fr_emit_option(e, "--cuda_graph_scope", "full_iteration");
    }
}

static void bucket(struct fr_emitted *e) {
    fr_emit_bucket(e, e->plan.overlap && e->plan.zero < 2, "ddp.bucket_size");
}

static void dispatch(struct fr_emitted *e) {
    if (!e->plan.dispatch_ranks) {
        fr_emit_remark(e, "a copy for each expert, as its all-to-all dispatcher sends them");
        return;
    }
    fr_emit_option(e, "model.moe_token_dispatcher_type", "flex");
    fr_emit_option(e, "model.moe_enable_deepep", "true");
}

static void overlap_experts(struct fr_emitted *e) {
    field(e, "--moe_a2a_overlap", truth(e->plan.overlap_experts));
}

static void accumulation(struct fr_emitted *e) {
    field(e, "model.gradient_accumulation_fusion", truth(!e->plan.adds_apart));
}

static void loss(struct fr_emitted *e) {
    fr_loss of = e->plan.loss;
    if (of > FR_LOSS_UNFUSED) {
        fr_emit_lack(e, "%s: its loss is fused, native or unfused", fr_loss_names[of]);
        return;
    }
    field(e, "model.cross_entropy_loss_fusion", truth(of != FR_LOSS_UNFUSED));
    if (of != FR_LOSS_UNFUSED)
        field(e, "model.cross_entropy_fusion_impl", of == FR_LOSS_FUSED ? "te" : "native");
}

static void recompute(struct fr_emitted *e) {
    char word[FR_RECOMPUTE_TEXT];
    fr_recompute r = e->plan.recompute;
    bool block = e->plan.recompute_layers > 0;
    if (r == FR_RECOMPUTE_NONE)
        field(e, "model.recompute_granularity", "null");
    else if (fr_recompute_saves(r))
        fr_emit_lack(e, "%s: " NO("such policy; it has modules and full"),
                     fr_recompute_text(r, word, sizeof word));
    else if (r != FR_RECOMPUTE_FULL)
        field(e, "--recompute_modules", fr_recompute_modules(r, ",", word, sizeof word));
    if (r != FR_RECOMPUTE_FULL) return;
    field(e, "model.recompute_granularity", "full");
    field(e, "model.recompute_method", block ? "block" : "uniform");
    fr_emit_option(e, "--recompute_num_layers", "%" PRId64,
                   block ? e->plan.recompute_layers : 1);
}

static void iterations(struct fr_emitted *e) {
    if (e->plan.iterations > 0)
        fr_emit_option(e, "--max_steps", "%.0f", e->plan.iterations);
    else
        fr_emit_remark(e, "none stated; give --max_steps");
}

/* ---- what is no key of the plan ---------------------------------------------------------------- */

static void precision(struct fr_emitted *e) {
    const struct fr_workload *w = &e->job->workload;
    e->about = "precision";
    if (w->dtype == FR_BF16 || fr_dtype_is_narrow(w->dtype))
        field(e, "--compute_dtype",
              w->dtype == FR_FP4   ? "nvfp4"
              : w->dtype != FR_FP8 ? "bf16"
              : w->fp8_blocks      ? "fp8_mx"
                                   : "fp8_cs");
    else
        fr_emit_lack(e, "%s: its scripts take bf16, fp8 and nvfp4", fr_dtype_names[w->dtype]);
    field(e, "ddp.grad_reduce_in_fp32", truth(w->gradient_dtype == FR_FP32));
    if (fr_optimizer_is_8_bit(w) && !(e->plan.offload & FR_OFFLOAD_OPTIMIZER)) {
        field(e, "optimizer.use_precision_aware_optimizer", "true");
        field(e, "optimizer.exp_avg_dtype", "torch.uint8");
        field(e, "optimizer.exp_avg_sq_dtype", "torch.uint8");
    }
    if (w->transformer.kept_fp8) field(e, "model.activation_func_fp8_input_store", "true");
    if (w->dtype == FR_FP8) field(e, "ddp.fp8_param_gather", truth(w->weight_dtype == FR_FP8));
}

/* The newest first: gb200 has b200 in it. */
static void gpu(struct fr_emitted *e) {
    static const char *const known[] = {"gb300", "gb200", "b300", "b200", "h100", NULL};
    char name[128];
    size_t n = 0;
    for (const char *at = e->job->cluster.name; *at && n + 1 < sizeof name; at++)
        name[n++] = (char)tolower((unsigned char)*at);
    name[n] = '\0';
    for (int i = 0; known[i]; i++)
        if (strstr(name, known[i])) {
            field(e, "--gpu", known[i]);
            return;
        }
    fr_emit_variable(e, "--gpu", "${GPU:?the scripts know h100, b200, b300, gb200, gb300}");
}

static void rest(struct fr_emitted *e) {
    const struct fr_transformer *t = &e->job->workload.transformer;
    precision(e);
    e->about = "launch";
    fr_emit_option(e, "--num_gpus", "%" PRId64, e->out->ranks);
    gpu(e);
    e->about = "model";
    fr_emit_variable(e, "--model_family_name", "${FAMILY:?of a recipe, such as llama}");
    fr_emit_variable(e, "--model_recipe_name", "${RECIPE:?such as llama31_405b}");
    fr_emit_option(e, "--seq_length", "%" PRId64, t->sequence);
    fr_emit_option(e, "--num_layers", "%" PRId64, t->layers);
    fr_emit_option(e, "--hidden_size", "%" PRId64, t->hidden);
    if (t->lora_rank > 0)
        fr_emit_lack(e,
                     "lora_rank: this is its script of pre-training, which trains all weights");
    if (t->pattern[0])
        fr_emit_remark(e,
                       "pattern: a hybrid's letters are the recipe's: check that they are %s",
                       t->pattern);
    if (t->experts > 0) fr_emit_option(e, "model.num_moe_experts", "%" PRId64, t->experts);
    fr_emit_remark(
        e, "heads, MLP, norms and vocabulary are the recipe's: check that they are %s's",
        e->job->workload.name);
}

static const struct fr_emit_row rows[FR_PLAN_KEYS] = {
    {FR_PLAN_KEY_method, .none = "tensor parallelism is how Megatron-Bridge divides a layer"},
    {FR_PLAN_KEY_tp, .option = "--tensor_model_parallel_size"},
    {FR_PLAN_KEY_dp, .say = mesh_rest},
    {FR_PLAN_KEY_pp, .option = "--pipeline_model_parallel_size"},
    {FR_PLAN_KEY_pass, .none = NO("plan without a backward pass")},
    {FR_PLAN_KEY_cp, .option = "--context_parallel_size"},
    {FR_PLAN_KEY_context, .say = context},
    {FR_PLAN_KEY_ep, .option = "--expert_model_parallel_size"},
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
    {FR_PLAN_KEY_reshard, .none = "Megatron-FSDP gathers again for the backward pass"},
    {FR_PLAN_KEY_gradient_sync, .none = "Megatron-FSDP scatters behind every micro-batch"},
    {FR_PLAN_KEY_offload, .say = offload},
    {FR_PLAN_KEY_offload_layers, .none = "with the activations"},
    {FR_PLAN_KEY_graphs, .say = graphs},
    {FR_PLAN_KEY_global_batch, .option = "--global_batch_size"},
    {FR_PLAN_KEY_micro_batch, .option = "--micro_batch_size"},
    {FR_PLAN_KEY_iterations, .say = iterations},
};

/* What a search need not try for it. */
static const char *const able[] = {
    "schedule=1f1b,interleaved",       "method=tensor",
    "compression.backward.scope=none", "compression.gradient.stages=0",
    "compression.embedding=separate",  NULL};

/* Options "--x value", fields "section.x=value". */
static void write(const struct fr_emitted *e, struct fr_text *text) {
    fr_emit_array(e, "bridge", text);
}

const struct fr_emitter fr_emitter_megatron_bridge = {
    .name = "megatron-bridge",
    .framework = "Megatron-Bridge",
    .runtimes = "megatron-bridge",
    .version = "NVIDIA-NeMo/Megatron-Bridge at 067f987df03b (August 2026)",
    .no = NO(""),
    .rows = rows,
    .able = able,
    .rest = rest,
    .write = write,
    .program = "scripts/performance/run_script.py \"${bridge[@]}\" ",
};

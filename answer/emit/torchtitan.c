/* torchtitan's train.py: fields of its configuration as --section.field VALUE.  It counts batches in tokens;
 * replicas that divide parameters are data_parallel_shard_degree of them (FSDP), others replicate. */
#include <inttypes.h>

#include "answer/emit.h"
#include "models/workload/optimizer.h"

#define NO(what) "torchtitan has no " what

static void data_parallel(struct fr_emitted *e) {
    int64_t dp = e->plan.dp;
    /* Of the ranks of a sequence it divides parameters too: zero_ranks counts both. */
    int64_t z = e->plan.zero_ranks, all = fr_plan_replicas(&e->plan),
            shard = e->plan.zero < 2                      ? 1
                    : z > 0 && z < all && z >= e->plan.cp ? z / e->plan.cp
                                                          : dp;
    fr_emit_option(e, "--parallelism.data_parallel_replicate_degree", "%" PRId64, dp / shard);
    fr_emit_option(e, "--parallelism.data_parallel_shard_degree", "%" PRId64, shard);
}

static void experts_tp(struct fr_emitted *e) {
    if (e->job->workload.transformer.experts == 0)
        fr_emit_remark(e, "the model has no experts");
    else if (fr_plan_expert_tp(&e->plan) == 1)
        fr_emit_remark(e, "experts are whole, as in torchtitan");
    else
        fr_emit_lack(e, "%" PRId64 ": " NO("expert divided over ranks"),
                     fr_plan_expert_tp(&e->plan));
}

static void rank_order(struct fr_emitted *e) {
    const struct fr_plan *p = &e->plan;
    bool stages = p->rank_order == FR_ORDER_TP_PP_DP && p->pp > 1 && fr_plan_replicas(p) > 1;
    if (stages)
        fr_emit_lack(e, "tp-pp-dp: its mesh is pp-dp-cp-tp, tp innermost and pp outermost");
    else
        fr_emit_remark(e, "its mesh is pp-dp-cp-tp, tp innermost");
}

static void schedule(struct fr_emitted *e) {
    static const char option[] = "--parallelism.pipeline_parallel_schedule";
    const struct fr_schedule *s = e->plan.schedule;
    if (e->plan.pp == 1)
        fr_emit_remark(e, "one stage has nothing to schedule");
    else if (s == &fr_schedule_one_f_one_b || s == &fr_schedule_interleaved)
        fr_emit_option(e, option, e->plan.chunks > 1 ? "Interleaved1F1B" : "1F1B");
    else if (s == &fr_schedule_zero_bubble_v || s == &fr_schedule_dualpipe_v)
        fr_emit_option(e, option, s == &fr_schedule_dualpipe_v ? "DualPipeV" : "ZBVZeroBubble");
    else if (s == &fr_schedule_gpipe)
        fr_emit_option(e, option, "GPipe");
    else
        fr_emit_lack(e,
                     "%s: PyTorch has no such order of one chunk a stage; "
                     "pipeline_parallel_schedule_csv takes one from a file",
                     s->name);
}

/* Virtual stages follow from the layers of each. */
static void chunks(struct fr_emitted *e) {
    if (e->plan.pp == 1)
        fr_emit_remark(e, "one stage has nothing to interleave");
    else if (fr_emit_layers_equal(e))
        fr_emit_remark(e, "%" PRId64 ", from the layers of a stage", e->plan.chunks);
    else
        fr_emit_remark(e, "%" PRId64 ", from module_fqns_per_model_part", e->plan.chunks);
}

static void stage_layers(struct fr_emitted *e) {
    if (e->plan.pp == 1) {
        fr_emit_remark(e, "one stage has all of them");
        return;
    }
    fr_emit_option(e, "--parallelism.pipeline_parallel_first_stage_less_layers", "0");
    fr_emit_option(e, "--parallelism.pipeline_parallel_last_stage_less_layers", "0");
    if (fr_emit_layers_equal(e))
        fr_emit_option(e, "--parallelism.pipeline_parallel_layers_per_stage", "%" PRId64,
                       fr_emit_layers(e, 0));
    else
        fr_emit_lack(e, "uneven stages are lists of modules in the model's configuration: "
                        "parallelism.module_fqns_per_model_part");
}

static void overlap_tp(struct fr_emitted *e) {
    if (e->plan.overlap_tp)
        fr_emit_option(e, "--compile.enable_async_tensor_parallel", "%s", "");
    else
        fr_emit_remark(e, "off, as without --compile.enable_async_tensor_parallel");
}

static void sequence_parallel(struct fr_emitted *e) {
    if (e->plan.tp == 1)
        fr_emit_remark(e, "tp 1 divides no sequence");
    else if (e->plan.sequence_parallel)
        fr_emit_option(e, "--parallelism.enable_sequence_parallel", "%s", "");
    else
        fr_emit_option(e, "--parallelism.no_enable_sequence_parallel", "%s", "");
}

static void attention(struct fr_emitted *e) {
    fr_emit_remark(e, "%s: the model's configuration chooses the kernel",
                   fr_attention_names[e->plan.attention]);
}

static void context(struct fr_emitted *e) {
    if (e->plan.cp > 1 && e->plan.context_heads)
        fr_emit_lack(
            e, "all-to-all: " NO("exchange of heads for tokens; its ring is the only one"));
    else
        fr_emit_remark(e, "a ring, as it has");
}

static void zero_ranks(struct fr_emitted *e) {
    if (e->plan.zero >= 2)
        fr_emit_remark(e, "in data_parallel_shard_degree and data_parallel_replicate_degree");
    else
        fr_emit_remark(e, "replicas divide no parameters");
}

static void zero(struct fr_emitted *e) {
    if (e->plan.zero == 1)
        fr_emit_lack(e, "1: " NO("optimiser state divided alone; it divides parameters too, or "
                                 "nothing"));
    else if (e->plan.zero == 0)
        fr_emit_remark(e, "0: replicas hold everything");
    else
        fr_emit_option(e, "--parallelism.fsdp_reshard_after_forward",
                       e->plan.zero == 2 || !e->plan.reshards ? "never" : "always");
}

static void reshard(struct fr_emitted *e) {
    fr_emit_remark(e,
                   e->plan.zero == 3 ? "%s: in fsdp_reshard_after_forward"
                                     : "%s: parameters are not gathered for passes",
                   e->plan.reshards ? "true" : "false");
}

static void gradient_sync(struct fr_emitted *e) {
    if (e->plan.sums_whole && e->plan.pp == 1)
        fr_emit_lack(e,
                     "iteration: " NO("option; in one stage it scatters gradients behind every "
                                      "micro-batch"));
    else
        fr_emit_remark(e, e->plan.pp > 1 ? "stages scatter behind their last micro-batch"
                                         : "behind every micro-batch, as it does");
}

static void overlap(struct fr_emitted *e) {
    if (e->plan.overlap || e->plan.zero >= 2 || fr_plan_replicas(&e->plan) == 1)
        fr_emit_remark(e, "gradients are reduced beside the backward pass, always");
    else
        fr_emit_lack(e, "none: it always reduces gradients beside the backward pass");
}

static void bucket(struct fr_emitted *e) {
    fr_emit_remark(e, "a layer's gradients go together");
}

static void accumulation(struct fr_emitted *e) {
    fr_emit_remark(e, "apart: autograd adds gradients up in kernels of their own");
}

/* Its loss is divided over tp wherever that is above 1. */
static void loss(struct fr_emitted *e) {
    fr_loss of = e->plan.loss;
    bool parallel = of == FR_LOSS_PARALLEL || of == FR_LOSS_PARALLEL_COMPILED,
         compiled = of == FR_LOSS_COMPILED || of == FR_LOSS_PARALLEL_COMPILED;
    if ((!parallel && !compiled && of != FR_LOSS_EAGER) || parallel != (e->plan.tp > 1))
        fr_emit_lack(e, "%s: its loss is eager or compiled, and parallel where tp is above 1",
                     fr_loss_names[of]);
    if (!compiled) {
        fr_emit_remark(e, "eager, as without --compile.components loss");
        return;
    }
    fr_emit_option(e, "--compile.enable", "%s", "");
    fr_emit_option(e, "--compile.components", "loss");
}

static void recompute(struct fr_emitted *e) {
    fr_recompute r = e->plan.recompute;
    char word[FR_RECOMPUTE_TEXT];
    const char *class = r == FR_RECOMPUTE_NONE           ? "None"
                        : r == FR_RECOMPUTE_FULL         ? "FullAC.Config()"
                        : r == FR_RECOMPUTE_SELECTIVE_OP ? "SelectiveAC.Config()"
                                                         : NULL;
    fr_recompute_text(r, word, sizeof word);
    if (class)
        fr_emit_remark(e, "%s: a class in the model's configuration, activation_checkpoint=%s",
                       word, class);
    else
        fr_emit_lack(e, "%s: it has full and selective_op alone (FullAC, SelectiveAC)", word);
}

static void global_batch(struct fr_emitted *e) {
    fr_emit_option(e, "--training.num_tokens_per_train_step", "%" PRId64,
                   e->plan.global_batch * e->job->workload.transformer.sequence);
}

static void micro_batch(struct fr_emitted *e) {
    fr_emit_option(e, "--training.num_tokens_per_microbatch_per_dp_rank", "%" PRId64,
                   e->plan.micro_batch * e->job->workload.transformer.sequence);
    if (e->plan.pp > 1)
        fr_emit_option(e, "--parallelism.num_pp_microbatches", "%" PRId64,
                       fr_emit_micro_batches(e));
}

static void iterations(struct fr_emitted *e) {
    if (e->plan.iterations > 0)
        fr_emit_option(e, "--training.steps", "%.0f", e->plan.iterations);
    else
        fr_emit_remark(e, "none stated; give --training.steps");
}

/* ---- what is no key of the plan ---------------------------------------------------------------- */

static void rest(struct fr_emitted *e) {
    const struct fr_workload *w = &e->job->workload;
    e->about = "precision";
    if (w->dtype == FR_BF16 || w->dtype == FR_FP32) {
        fr_emit_option(e, "--training.dtype", "float32");
        fr_emit_option(e, "--training.mixed_precision_param",
                       w->dtype == FR_BF16 ? "bfloat16" : "float32");
    } else
        fr_emit_lack(e, "%s: no option; float8 is a converter in the model's configuration",
                     fr_dtype_names[w->dtype]);
    if (w->gradient_dtype == FR_FP32)
        fr_emit_option(e, "--training.mixed_precision_reduce", "float32");
    else
        fr_emit_lack(e, "gradients in %s: mixed_precision_reduce is float32 alone",
                     fr_dtype_names[w->gradient_dtype]);
    if (fr_optimizer_is_8_bit(w))
        fr_emit_lack(
            e, "optimizer_state 8-bit: " NO("option; torchao's AdamW8bit would be a class "
                                            "in the model's configuration"));
    e->about = "model";
    fr_emit_option(e, "--training.max_context_length", "%" PRId64, w->transformer.sequence);
    fr_emit_remark(e, "MODULE and CONFIG name the model's configuration; check that it is %s's",
                   w->name);
}

static const struct fr_emit_row rows[FR_PLAN_KEYS] = {
    {FR_PLAN_KEY_method, .none = "tensor parallelism is how torchtitan divides a layer"},
    {FR_PLAN_KEY_tp, .option = "--parallelism.tensor_parallel_degree"},
    {FR_PLAN_KEY_dp, .say = data_parallel},
    {FR_PLAN_KEY_pp, .option = "--parallelism.pipeline_parallel_degree"},
    {FR_PLAN_KEY_pass, .none = NO("plan without a backward pass")},
    {FR_PLAN_KEY_cp, .option = "--parallelism.context_parallel_degree"},
    {FR_PLAN_KEY_context, .say = context},
    {FR_PLAN_KEY_ep, .option = "--parallelism.expert_parallel_degree"},
    {FR_PLAN_KEY_etp, .say = experts_tp},
    {FR_PLAN_KEY_rank_order, .say = rank_order},
    {FR_PLAN_KEY_schedule, .say = schedule},
    {FR_PLAN_KEY_chunks, .say = chunks},
    {FR_PLAN_KEY_p2p, .none = "stages post messages and wait for those they read"},
    {FR_PLAN_KEY_embedding, .none = NO("fused reduction of a tied embedding")},
    {FR_PLAN_KEY_stage_layers, .say = stage_layers},
    {FR_PLAN_KEY_sequence_parallel, .say = sequence_parallel},
    {FR_PLAN_KEY_overlap_tp, .say = overlap_tp},
    {FR_PLAN_KEY_attention, .say = attention},
    {FR_PLAN_KEY_zero, .say = zero},
    {FR_PLAN_KEY_zero_ranks, .say = zero_ranks},
    {FR_PLAN_KEY_overlap, .say = overlap},
    {FR_PLAN_KEY_bucket, .say = bucket},
    {FR_PLAN_KEY_dispatch_ranks,
     .none = NO("option for one copy of a token for several experts")},
    {FR_PLAN_KEY_overlap_experts, .none = NO("option that hides the experts' all-to-all")},
    {FR_PLAN_KEY_accumulation, .say = accumulation},
    {FR_PLAN_KEY_loss, .say = loss},
    {FR_PLAN_KEY_recompute, .say = recompute},
    {FR_PLAN_KEY_recompute_layers,
     .none =
         NO("option for some layers (releases of 2025: selective_ac_option N, every N-th)")},
    {FR_PLAN_KEY_reshard, .say = reshard},
    {FR_PLAN_KEY_gradient_sync, .say = gradient_sync},
    {FR_PLAN_KEY_offload,
     .none = NO("option that offloads the optimiser or activations alone")},
    {FR_PLAN_KEY_offload_layers, .none = NO("option that offloads activations")},
    {FR_PLAN_KEY_graphs, .none = NO("option that says what graphs hold")},
    {FR_PLAN_KEY_global_batch, .say = global_batch},
    {FR_PLAN_KEY_micro_batch, .say = micro_batch},
    {FR_PLAN_KEY_iterations, .say = iterations},
};

/* What a search need not try for it. */
static const char *const able[] = {"schedule=1f1b,interleaved,gpipe,zero-bubble-v,dualpipe-v",
                                   "zero=0,2,3",
                                   "rank_order=tp-dp-pp",
                                   "overlap_experts=false",
                                   "recompute=none,selective_op,full",
                                   "etp=1",
                                   "offload=none",
                                   "method=tensor",
                                   "compression.backward.scope=none",
                                   "compression.gradient.stages=0",
                                   "compression.embedding=separate",
                                   NULL};

static void write(const struct fr_emitted *e, struct fr_text *text) {
    fr_emit_array(e, "titan", text);
}

const struct fr_emitter fr_emitter_torchtitan = {
    .name = "torchtitan",
    .framework = "torchtitan",
    .runtimes = "torchtitan",
    .version = "pytorch/torchtitan at b5bcd76c66d0 (August 2026)",
    .no = NO(""),
    .rows = rows,
    .able = able,
    .rest = rest,
    .write = write,
    .program = "-m torchtitan.train --module \"${MODULE:?such as llama3}\" --config "
               "\"${CONFIG:?such as llama3_405b}\" \"${titan[@]}\" ",
};

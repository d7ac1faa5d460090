/* DeepSpeed's JSON configuration: keys with a dot for each object around them.  How the model is cut up
 * is the training program's own code, but for what replicas divide. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answer/emit.h"

#define CODE(what) "no key; " what " in the training program's code"
#define NO(what) "DeepSpeed's configuration has no " what

/* An axis that the program's code divides by: nothing is lost where it is 1. */
static void in_code(struct fr_emitted *e, int64_t ways, const char *how) {
    if (ways == 1)
        fr_emit_remark(e, "1");
    else
        fr_emit_lack(e, "%" PRId64 ": no key; %s", ways, how);
}

static void tp(struct fr_emitted *e) {
    in_code(e, e->plan.tp, "the program's code divides layers (mpu of deepspeed.initialize)");
}
static void pp(struct fr_emitted *e) {
    in_code(e, e->plan.pp, "the program's code makes stages (PipelineModule's num_stages)");
}
static void cp(struct fr_emitted *e) {
    in_code(e, e->plan.cp, "it has Ulysses' all-to-all over heads, no ring");
}
static void context(struct fr_emitted *e) {
    fr_emit_remark(e, "the program's code shares sequences (Ulysses' DistributedAttention)");
}
static void ep(struct fr_emitted *e) {
    in_code(e, e->plan.ep, "the program's code says so (MoE's ep_size)");
}
static void etp(struct fr_emitted *e) {
    fr_emit_remark(e, "%" PRId64 ": the program's code divides experts",
                   fr_plan_expert_tp(&e->plan));
}

static void dp(struct fr_emitted *e) {
    fr_emit_remark(e, "%" PRId64 ", what the other axes leave of the ranks", e->plan.dp);
}

static void rank_order(struct fr_emitted *e) {
    fr_emit_remark(e,
                   "%s: the topology that the program gives (PipeModelDataParallelTopology is "
                   "tp-dp-pp)",
                   fr_rank_order_names[e->plan.rank_order]);
}

static void schedule(struct fr_emitted *e) {
    if (e->plan.pp == 1)
        fr_emit_remark(e, "one stage has nothing to schedule");
    else if (e->plan.schedule == &fr_schedule_one_f_one_b)
        fr_emit_remark(e, "1f1b is what its pipeline engine runs");
    else
        fr_emit_lack(e, "%s: its pipeline engine runs 1F1B", e->plan.schedule->name);
}

static void stage_layers(struct fr_emitted *e) {
    fr_emit_remark(e, CODE("PipelineModule's partition_method"));
}

static void sequence_parallel(struct fr_emitted *e) {
    fr_emit_remark(e, CODE("the model's own layers divide the sequence, or not,"));
}

static void attention(struct fr_emitted *e) {
    fr_emit_remark(e, "%s: " CODE("the model chooses the kernel"),
                   fr_attention_names[e->plan.attention]);
}

static void zero(struct fr_emitted *e) {
    fr_emit_option(e, "zero_optimization.stage", "%" PRId64, e->plan.zero);
    if (e->plan.zero >= 2 && e->plan.pp > 1)
        fr_emit_lack(e, "%" PRId64 " in a pipeline: its engine takes 0 and 1 there",
                     e->plan.zero);
}

/* MiCS divides all three in groups. */
static void zero_ranks(struct fr_emitted *e) {
    int64_t z = e->plan.zero_ranks;
    if (e->plan.zero == 0 || z == 0 || z == fr_plan_replicas(&e->plan))
        fr_emit_remark(e, "all replicas, as without it");
    else if (e->plan.zero == 3)
        fr_emit_option(e, "zero_optimization.mics_shard_size", "%" PRId64, z);
    else
        fr_emit_lack(e, "groups of %" PRId64 ": it has them with stage 3 alone (MiCS)", z);
}

static void overlap(struct fr_emitted *e) {
    bool wanted = e->plan.overlap || e->plan.zero >= 2;
    if (e->plan.zero > 0)
        fr_emit_option(e, "zero_optimization.overlap_comm", wanted ? "true" : "false");
    else if (wanted)
        fr_emit_lack(e, "without ZeRO gradients are reduced after the backward pass");
    else
        fr_emit_remark(e, "without ZeRO gradients are reduced after the backward pass");
}

static void bucket(struct fr_emitted *e) {
    fr_emit_bucket(e, e->plan.zero > 0 && e->plan.overlap,
                   "zero_optimization.reduce_bucket_size");
}

static void accumulation(struct fr_emitted *e) {
    fr_emit_remark(e, "apart: autograd adds gradients up in kernels of their own");
}

static void recompute(struct fr_emitted *e) {
    char word[FR_RECOMPUTE_TEXT];
    fr_emit_remark(e, "%s: " CODE("deepspeed.checkpointing around layers"),
                   fr_recompute_text(e->plan.recompute, word, sizeof word));
}

static void offload(struct fr_emitted *e) {
    if (!(e->plan.offload & FR_OFFLOAD_OPTIMIZER))
        fr_emit_remark(e, "the optimiser's state stays on the device");
    else if (e->plan.zero > 0)
        fr_emit_option(e, "zero_optimization.offload_optimizer", "cpu");
    else
        fr_emit_lack(e, "the optimiser's state without ZeRO: offload_optimizer needs a stage");
    if (!(e->plan.offload & FR_OFFLOAD_ACTIVATIONS)) return;
    if (e->plan.recompute == FR_RECOMPUTE_FULL && e->plan.offload_layers == 0)
        fr_emit_option(e, "activation_checkpointing.cpu_checkpointing", "true");
    else
        fr_emit_lack(
            e, "activations: cpu_checkpointing offloads what all layers recompute from, alone");
}

static void micro_batch(struct fr_emitted *e) {
    fr_emit_option(e, "train_micro_batch_size_per_gpu", "%" PRId64, e->plan.micro_batch);
    fr_emit_option(e, "gradient_accumulation_steps", "%" PRId64, fr_emit_micro_batches(e));
}

static void iterations(struct fr_emitted *e) { fr_emit_remark(e, CODE("how long it trains")); }

/* ---- what is no key of the plan ---------------------------------------------------------------- */

static void rest(struct fr_emitted *e) {
    const struct fr_workload *w = &e->job->workload;
    e->about = "precision";
    fr_emit_option(e, "bf16.enabled", w->dtype == FR_BF16 ? "true" : "false");
    fr_emit_option(e, "fp16.enabled", w->dtype == FR_FP16 ? "true" : "false");
    if (fr_dtype_is_narrow(w->dtype))
        fr_emit_lack(e, "%s: no key; the model's own layers", fr_dtype_names[w->dtype]);
    fr_emit_option(e, "data_types.grad_accum_dtype", "%s", fr_dtype_names[w->gradient_dtype]);
    fr_emit_option(e, "communication_data_type", "%s", fr_dtype_names[w->gradient_dtype]);
    e->about = "model";
    fr_emit_remark(e,
                   "sequence %" PRId64 ", layers, optimiser and data are the program's own: "
                   "check that they are %s's",
                   w->transformer.sequence, w->name);
}

static const struct fr_emit_row rows[FR_PLAN_KEYS] = {
    {FR_PLAN_KEY_method, .none = "the training program's code divides layers"},
    {FR_PLAN_KEY_tp, .say = tp},
    {FR_PLAN_KEY_dp, .say = dp},
    {FR_PLAN_KEY_pp, .say = pp},
    {FR_PLAN_KEY_pass, .none = NO("plan without a backward pass")},
    {FR_PLAN_KEY_cp, .say = cp},
    {FR_PLAN_KEY_context, .say = context},
    {FR_PLAN_KEY_ep, .say = ep},
    {FR_PLAN_KEY_etp, .say = etp},
    {FR_PLAN_KEY_rank_order, .say = rank_order},
    {FR_PLAN_KEY_schedule, .say = schedule},
    {FR_PLAN_KEY_chunks, .none = NO("virtual stages")},
    {FR_PLAN_KEY_p2p, .none = "its pipeline engine sends and receives in turn"},
    {FR_PLAN_KEY_embedding, .none = "it reduces a tied layer over the stages that hold it"},
    {FR_PLAN_KEY_stage_layers, .say = stage_layers},
    {FR_PLAN_KEY_sequence_parallel, .say = sequence_parallel},
    {FR_PLAN_KEY_overlap_tp, .none = NO("key that hides tensor parallelism's exchanges")},
    {FR_PLAN_KEY_attention, .say = attention},
    {FR_PLAN_KEY_zero, .say = zero},
    {FR_PLAN_KEY_zero_ranks, .say = zero_ranks},
    {FR_PLAN_KEY_overlap, .say = overlap},
    {FR_PLAN_KEY_bucket, .say = bucket},
    {FR_PLAN_KEY_dispatch_ranks, .none = NO("key for one copy of a token for several experts")},
    {FR_PLAN_KEY_overlap_experts, .none = NO("key that hides the experts' all-to-all")},
    {FR_PLAN_KEY_accumulation, .say = accumulation},
    {FR_PLAN_KEY_loss, .none = "the loss is the training program's own"},
    {FR_PLAN_KEY_recompute, .say = recompute},
    {FR_PLAN_KEY_recompute_layers, .none = CODE("which layers recompute")},
    {FR_PLAN_KEY_reshard,
     .none = NO("key that leaves parameters whole until the backward pass")},
    {FR_PLAN_KEY_gradient_sync,
     .none = NO("key that adds gradients of stages 2 and 3 up whole")},
    {FR_PLAN_KEY_offload, .say = offload},
    {FR_PLAN_KEY_offload_layers, .none = NO("key that offloads some layers' activations")},
    {FR_PLAN_KEY_graphs, .none = NO("key that records graphs of a training step")},
    {FR_PLAN_KEY_global_batch, .option = "train_batch_size"},
    {FR_PLAN_KEY_micro_batch, .say = micro_batch},
    {FR_PLAN_KEY_iterations, .say = iterations},
};

/* ---- the file ---------------------------------------------------------------------------------- */

/* A number or a word of JSON as it stands, anything else a string. */
static void value(struct fr_json_writer *w, const char *name, const char *text) {
    bool word = strcmp(text, "true") == 0;
    if (strcmp(name, "offload_optimizer") == 0) {
        fr_json_add_object(w, name);
        fr_json_add_string(w, "device", text);
        fr_json_end_object(w);
    } else if (word || strcmp(text, "false") == 0)
        fr_json_add_bool(w, name, word);
    else if (strspn(text, "0123456789") == strlen(text))
        fr_json_add_integer(w, name, strtoll(text, NULL, 10));
    else
        fr_json_add_string(w, name, text);
}

/* The options of object @p object ("": of none), which stand together or not. */
static void members(const struct fr_emitted *e, struct fr_json_writer *w, const char *object) {
    size_t length = strlen(object);
    for (int i = 0; i < e->n; i++) {
        const char *name = e->line[i].name, *dot = strchr(name, '.');
        bool inside =
            dot && (size_t)(dot - name) == length && strncmp(name, object, length) == 0;
        if (!*name || (length ? !inside : dot != NULL)) continue;
        value(w, length ? dot + 1 : name, e->line[i].text);
    }
}

/* What a search need not try for it. */
static const char *const able[] = {"schedule=1f1b",
                                   "chunks=1",
                                   "cp=1",
                                   "overlap_tp=false",
                                   "overlap_experts=false",
                                   "offload=none,optimizer",
                                   "method=tensor",
                                   "compression.backward.scope=none",
                                   "compression.gradient.stages=0",
                                   "compression.embedding=separate",
                                   NULL};

/* Is anything of it said? */
static bool said(const struct fr_emitted *e, const char *object) {
    size_t length = strlen(object);
    for (int i = 0; i < e->n; i++)
        if (strncmp(e->line[i].name, object, length) == 0 && e->line[i].name[length] == '.')
            return true;
    return false;
}

static void write(const struct fr_emitted *e, struct fr_text *text) {
    static const char *const objects[] = {"zero_optimization", "bf16", "fp16", "data_types"};
    static const char checkpointing[] = "activation_checkpointing";
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_text_addf(text, "cat > ds_config.json <<'END'\n");
    fr_json_begin_object(&w);
    members(e, &w, "");
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        fr_json_add_object(&w, objects[i]);
        members(e, &w, objects[i]);
        fr_json_end_object(&w);
    }
    if (said(e, checkpointing)) {
        fr_json_add_object(&w, checkpointing);
        members(e, &w, checkpointing);
        fr_json_end_object(&w);
    }
    fr_json_end_object(&w);
    fr_text_addf(text, "END\n");
}

const struct fr_emitter fr_emitter_deepspeed = {
    .name = "deepspeed",
    .framework = "DeepSpeed",
    .runtimes = "deepspeed",
    .version = "deepspeedai/DeepSpeed at edaa72212672 (August 2026)",
    .no = NO(""),
    .rows = rows,
    .able = able,
    .rest = rest,
    .write = write,
    .program = "\"${TRAIN:?your training program}\" --deepspeed "
               "--deepspeed_config ds_config.json ",
};

/* The plan, where several arguments of Megatron-LM say it together. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "answer/trainer/megatron/megatron.h"

enum { STAGES_MAX = 1024 };

/* ---- ranks ----------------------------------------------------------------------------------- */

void fr_launched_ranks(struct fr_reading *r) {
    static const char *const each[] = {"nproc_per_node",       "num_gpus_per_node",
                                       "gpus_per_node",        "sbatch_ntasks_per_node",
                                       "sbatch_gpus_per_node", "trainer.devices"},
                             *const of[] = {"nnodes", "num_nodes", "sbatch_nodes", "sbatch_N"};
    int64_t a_node = 0, nodes = 0;
    if (fr_reading_stated(r, "ranks")) return;
    for (size_t i = 0; i < sizeof each / sizeof *each && a_node < 1; i++)
        a_node = fr_reading_integer(r, each[i], 0);
    for (size_t i = 0; i < sizeof of / sizeof *of && nodes < 1; i++)
        nodes = fr_reading_integer(r, of[i], 0);
    if (a_node < 1 && r->launched > 0) fr_reading_say(r, "ranks", "%" PRId64, r->launched);
    if (a_node < 1) return;
    int64_t tp = fr_reading_stated_integer(r, "plan.tp", 1),
            pp = fr_reading_stated_integer(r, "plan.pp", 1),
            cp = fr_reading_stated_integer(r, "plan.cp", 1);
    if (tp > 1 << 20 || pp > 1 << 20 || cp > 1 << 20 || a_node > 1 << 20 || nodes > 1 << 20)
        return;
    if (nodes < 1 && a_node % (tp * pp * cp) != 0) {
        fr_reading_tell(r,
                        "the number of nodes is not stated, and %" PRId64
                        " ranks of one do not hold tp x pp x cp = %" PRId64
                        ": give the replicas as plan.dp=N",
                        a_node, tp * pp * cp);
        return;
    }
    fr_reading_say(r, "ranks", "%" PRId64, a_node * (nodes < 1 ? 1 : nodes));
}

/* ---- the pipeline ------------------------------------------------------------------------------ */

static fr_status take_chunks(struct fr_reading *r, struct fr_error *err) {
    int64_t pp = fr_reading_stated_integer(r, "plan.pp", 1),
            layers = fr_reading_stated_integer(r, "model.layers", 0),
            each = fr_reading_integer(r, "num_layers_per_virtual_pipeline_stage", 0),
            chunks = fr_reading_integer(r, "num_virtual_stages_per_pipeline_rank", 0);
    if (chunks < 1) chunks = fr_reading_integer(r, "virtual_pipeline_model_parallel_size", 0);
    if (chunks < 1 && each > 0) {
        if (layers < 1 || layers % pp != 0 || layers / pp % each != 0)
            return fr_reading_refuse(r, "num_layers_per_virtual_pipeline_stage", "plan.chunks",
                                     err, "does not divide the layers of a stage");
        chunks = layers / pp / each;
    }
    if (chunks > 1 && pp > 1) {
        fr_reading_say(r, "plan.chunks", "%" PRId64, chunks);
        fr_reading_say(r, "plan.schedule", "interleaved");
    } else if (r->whole || fr_reading_value(r, "pipeline_model_parallel_size"))
        fr_reading_say(r, "plan.schedule", "1f1b");
    bool paired = fr_reading_off(r, "overlap_p2p_comm") ||
                  fr_reading_on(r, "no_overlap_p2p_communication") ||
                  fr_reading_off(r, "overlap_p2p_communication");
    if (chunks > 1 && pp > 1 && paired) fr_reading_say(r, "plan.p2p", "duplex");
    return FR_OK;
}

static void say_stages(struct fr_reading *r, const int64_t *layers, int64_t n) {
    char list[144];
    size_t used = 0;
    bool equal = true;
    for (int64_t i = 0; i < n; i++) {
        equal &= layers[i] == layers[0];
        fr_line_addf(list, sizeof list, &used, "%s%" PRId64, i ? ", " : "[", layers[i]);
    }
    fr_line_addf(list, sizeof list, &used, "]");
    if (!equal) fr_reading_say(r, "plan.stage_layers", "%s", list);
}

/* "Et|(tt|)*2L" with its groups written out: "Et|tt|tt|L". */
static void write_groups(const char *layout, char *out, size_t capacity) {
    size_t used = 0;
    out[0] = '\0';
    for (const char *at = layout; *at;) {
        const char *end = *at == '(' ? strchr(at, ')') : NULL;
        if (!end) {
            fr_line_addf(out, capacity, &used, "%.1s", at++);
            continue;
        }
        char *stop = NULL;
        int64_t times = end[1] == '*' ? strtoll(end + 2, &stop, 10) : 1;
        for (int64_t i = 0; i < times && i < STAGES_MAX; i++)
            fr_line_addf(out, capacity, &used, "%.*s", (int)(end - at - 1), at + 1);
        at = stop ? stop : end + 1;
    }
}

/* "Et*3|t*3|t*3|t*2L": layers of virtual stages in the model's order; also "[['embedding', ...]]" of none. */
static fr_status take_layout(struct fr_reading *r, const char *given, struct fr_error *err) {
    char layout[4096];
    write_groups(given, layout, sizeof layout);
    int64_t stages[STAGES_MAX] = {0}, pp = fr_reading_stated_integer(r, "plan.pp", 1), n = 0;
    for (const char *at = layout; *at; at++) {
        int64_t times = 1;
        char which = *at;
        if (which == '|' && ++n == STAGES_MAX) break;
        if (strchr("|EmL ", which)) continue;
        if (which != 't')
            return fr_reading_refuse(r, "pipeline_model_parallel_layout", "plan.stage_layers",
                                     err, "a layout of other parts than E, t, m and L");
        if (at[1] == '*') {
            times = strtoll(at + 2, NULL, 10);
            at += 1 + strspn(at + 2, "0123456789");
        }
        if (times < 0 || times > 100000) times = 0;
        stages[n] += times;
    }
    n++;
    if (n > STAGES_MAX || n % pp != 0)
        return fr_reading_refuse(r, "pipeline_model_parallel_layout", "plan.stage_layers", err,
                                 "a layout that pp does not divide");
    for (int64_t i = pp; i < n; i++) stages[i % pp] += stages[i];
    if (n > pp) {
        fr_reading_say(r, "plan.chunks", "%" PRId64, n / pp);
        fr_reading_say(r, "plan.schedule", "interleaved");
    }
    say_stages(r, stages, pp);
    return FR_OK;
}

/* Fewer layers at the ends: their numbers, or an embedding and a loss that count as a layer each. */
static fr_status take_stage_layers(struct fr_reading *r, struct fr_error *err) {
    int64_t stages[STAGES_MAX], pp = fr_reading_stated_integer(r, "plan.pp", 1),
                                layers = fr_reading_stated_integer(r, "model.layers", 0);
    const char *layout = fr_reading_value(r, "pipeline_model_parallel_layout");
    int64_t first = fr_reading_integer(
                r, "decoder_first_pipeline_num_layers",
                fr_reading_integer(r, "num_layers_in_first_pipeline_stage", -1)),
            last = fr_reading_integer(
                r, "decoder_last_pipeline_num_layers",
                fr_reading_integer(r, "num_layers_in_last_pipeline_stage", -1));
    bool embedding = fr_reading_on(r, "account_for_embedding_in_pipeline_split"),
         loss = fr_reading_on(r, "account_for_loss_in_pipeline_split");
    if (layout) return take_layout(r, layout, err);
    if (pp < 2 || pp > STAGES_MAX || layers < 1 ||
        (first < 0 && last < 0 && !embedding && !loss))
        return FR_OK;
    const char *name = first >= 0 || last >= 0 ? "decoder_first_pipeline_num_layers"
                                               : "account_for_embedding_in_pipeline_split";
    int64_t all = layers + embedding + loss, middle = pp - (first >= 0) - (last >= 0),
            rest = all - (first >= 0 ? first : 0) - (last >= 0 ? last : 0);
    if (middle < 1 || rest < 0 || rest % middle != 0)
        return fr_reading_refuse(r, name, "plan.stage_layers", err,
                                 "does not divide the layers of the other stages");
    for (int64_t i = 0; i < pp; i++) stages[i] = rest / middle;
    if (first >= 0) stages[0] = first;
    if (last >= 0) stages[pp - 1] = last;
    stages[0] -= embedding;
    stages[pp - 1] -= loss;
    say_stages(r, stages, pp);
    return FR_OK;
}

/* ---- memory -------------------------------------------------------------------------------------- */

/* "['moe_act', 'layernorm']", "moe_act layernorm", "[a, b]" as "moe_act+layernorm". */
static void modules_of(const char *value, char *out, size_t capacity) {
    size_t used = 0;
    out[0] = '\0';
    for (const char *at = value; *at;) {
        size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
        if (n) fr_line_addf(out, capacity, &used, "%s%.*s", used ? "+" : "", (int)n, at);
        at += n ? n : 1;
    }
}

static fr_status take_full(struct fr_reading *r, struct fr_error *err) {
    const char *method = fr_reading_value(r, "recompute_method");
    int64_t layers = fr_reading_integer(r, "recompute_num_layers", 0);
    fr_reading_say(r, "plan.recompute", "full");
    if (method && strcmp(method, "block") == 0) {
        if (layers < 1)
            return fr_reading_refuse(r, "recompute_method", "plan.recompute_layers", err,
                                     "without recompute_num_layers");
        fr_reading_say(r, "plan.recompute_layers", "%" PRId64, layers);
    } else if (layers > 1) {
        fr_reading_say(r, "note.recompute_num_layers", "%" PRId64, layers);
        fr_reading_tell(r,
                        "recompute_num_layers %" PRId64
                        ": groups of layers recompute together; time is the same, memory is "
                        "priced for groups of one",
                        layers);
    }
    return FR_OK;
}

static fr_status take_recompute(struct fr_reading *r, struct fr_error *err) {
    const char *granularity = fr_reading_value(r, "recompute_granularity"),
               *modules = fr_reading_value(r, "recompute_modules");
    char list[128] = "";
    if (fr_reading_on(r, "checkpoint_activations")) granularity = "full";
    if (!granularity && fr_reading_on(r, "recompute_activations")) granularity = "selective";
    if (modules) modules_of(modules, list, sizeof list);
    if (!granularity) {
        const bool set = fr_settings_find(r->settings, "recompute_granularity") != NULL;
        if (set || (r->whole && !modules))
            fr_reading_say(r, "plan.recompute", "none");
        else if (*list) /* Megatron-Bridge's script: selective by itself */
            fr_reading_say(r, "plan.recompute", "%s", list);
        return FR_OK;
    }
    if (strcmp(granularity, "full") == 0) return take_full(r, err);
    if (strcmp(granularity, "selective") != 0)
        return fr_reading_refuse(r, "recompute_granularity", "plan.recompute", err,
                                 "neither full nor selective");
    fr_reading_say(r, "plan.recompute", "%s", *list ? list : "selective");
    return FR_OK;
}

static fr_status take_offload(struct fr_reading *r, struct fr_error *err) {
    const char *share = fr_reading_value(r, "optimizer_offload_fraction");
    int64_t layers = fr_reading_integer(r, "cpu_offloading_num_layers", 0);
    /* A launch line has the number alone, which turns it on. */
    bool optimizer = fr_reading_on(r, "optimizer_cpu_offload"),
         on = fr_reading_on(r, "cpu_offloading") ||
              (layers > 0 && !fr_settings_find(r->settings, "cpu_offloading")),
         activations = on && !fr_reading_off(r, "cpu_offloading_activations");
    if (optimizer && share && atof(share) < 1)
        return fr_reading_refuse(r, "optimizer_offload_fraction", "plan.offload", err,
                                 "a part of the optimiser's state in the host's memory");
    if (optimizer || activations)
        fr_reading_say(r, "plan.offload", "%s",
                       optimizer && activations ? "all"
                       : optimizer              ? "optimizer"
                                                : "activations");
    else if (r->whole || fr_settings_find(r->settings, "optimizer_cpu_offload"))
        fr_reading_say(r, "plan.offload", "none");
    if (activations && layers > 0) fr_reading_say(r, "plan.offload_layers", "%" PRId64, layers);
    return FR_OK;
}

/* ---- replicas -------------------------------------------------------------------------------------- */

static void take_fsdp(struct fr_reading *r, const char *strategy) {
    static const char *const words[] = {"no_shard", "optim", "optim_grads",
                                        "optim_grads_params"};
    for (int i = 0; i < 4; i++)
        if (strcmp(words[i], strategy) == 0) fr_reading_say(r, "plan.zero", "%d", i);
}

static fr_status take_zero(struct fr_reading *r, struct fr_error *err) {
    const char *strategy = fr_reading_value(r, "data_parallel_sharding_strategy");
    int64_t groups = fr_reading_integer(r, "num_distributed_optimizer_instances", 1);
    bool stated = r->whole || fr_settings_find(r->settings, "use_distributed_optimizer");
    bool fsdp = fr_reading_on(r, "use_megatron_fsdp") || fr_reading_on(r, "use_custom_fsdp");
    if (fr_reading_on(r, "use_torch_fsdp2")) {
        bool stays = fr_reading_on(r, "torch_fsdp2_no_reshard_after_forward") ||
                     fr_reading_off(r, "torch_fsdp2_reshard_after_forward");
        fr_reading_say(r, "plan.zero", "3");
        if (stays) fr_reading_say(r, "plan.reshard_after_forward", "false");
    } else if (fsdp)
        take_fsdp(r, strategy ? strategy : "no_shard");
    else if (stated)
        fr_reading_say(r, "plan.zero",
                       fr_reading_on(r, "use_distributed_optimizer") ? "1" : "0");
    if (groups <= 1) return FR_OK;
    int64_t ranks = fr_reading_stated_integer(r, "ranks", 0),
            tp = fr_reading_stated_integer(r, "plan.tp", 1),
            pp = fr_reading_stated_integer(r, "plan.pp", 1);
    if (tp > 1 << 20 || pp > 1 << 20 || ranks < 1 || ranks % (tp * pp) != 0 ||
        ranks / (tp * pp) % groups != 0)
        return fr_reading_refuse(r, "num_distributed_optimizer_instances", "plan.zero_ranks",
                                 err, "groups of replicas whose number is not said");
    fr_reading_say(r, "plan.zero_ranks", "%" PRId64, ranks / (tp * pp) / groups);
    return FR_OK;
}

/* A plan's `overlap` reduces beside the last backward pass and, of zero 1, gathers beside the next forward pass. */
static fr_status take_overlap(struct fr_reading *r, struct fr_error *err) {
    const char *zero = fr_reading_stated(r, "plan.zero");
    int64_t stage = zero ? atoi(zero) : 0;
    bool reduces = fr_reading_on(r, "overlap_grad_reduce"),
         stated = r->whole || fr_settings_find(r->settings, "overlap_grad_reduce");
    if (!stated) return FR_OK;
    fr_reading_say(r, "plan.overlap", reduces && stage < 2 ? "gradient" : "none");
    if (stage != 1) return FR_OK;
    if (reduces && (fr_reading_off(r, "overlap_param_gather") ||
                    (r->whole && !fr_reading_on(r, "overlap_param_gather")))) {
        fr_reading_say(r, "note.overlap_param_gather", "False");
        fr_reading_tell(r,
                        "overlap_param_gather False: the gather of parameters is priced beside "
                        "the next forward pass");
    }
    if (!reduces && fr_reading_on(r, "overlap_param_gather"))
        return fr_reading_refuse(r, "overlap_param_gather", "plan.overlap", err,
                                 "without overlap_grad_reduce");
    return FR_OK;
}

void fr_megatron_bucket(struct fr_reading *r) {
    int64_t values =
        fr_reading_integer(r, "ddp_bucket_size", fr_reading_integer(r, "ddp.bucket_size", 0));
    const char *dtype = fr_reading_stated(r, "model.gradient_dtype");
    int width = dtype && strcmp(dtype, "fp32") != 0 ? 2 : 4;
    if (values > 0) fr_reading_say(r, "plan.bucket", "%" PRId64 " B", width * values);
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

/* Transformer Engine's attention is fused whatever use_flash_attn says; attention_backend goes before both. */
static void take_attention(struct fr_reading *r) {
    const char *backend = fr_reading_value(r, "attention_backend"),
               *impl = fr_reading_value(r, "transformer_impl"),
               *version = fr_reading_value(r, "flash_attention_version");
    bool local = impl && strcmp(impl, "local") == 0;
    if (backend &&
        (fr_value_mentions(backend, "unfused") || fr_value_mentions(backend, "local")))
        fr_reading_say(r, "plan.attention", "plain");
    else if (version && strcmp(version, "2") == 0)
        fr_reading_say(r, "plan.attention", "flash-2");
    else if (fr_reading_on(r, "use_flash_attn") || fr_value_mentions(backend, "flash") ||
             fr_value_mentions(backend, "fused") || (impl && !local) || (r->whole && !local))
        fr_reading_say(r, "plan.attention", "flash");
    else if (local || fr_reading_off(r, "use_flash_attn"))
        fr_reading_say(r, "plan.attention", "plain");
}

static fr_status take_context(struct fr_reading *r, struct fr_error *err) {
    const char *kind = fr_reading_value(r, "cp_comm_type"),
               *cp = fr_reading_stated(r, "plan.cp");
    if (!cp || atoi(cp) < 2) return FR_OK;
    if (fr_value_mentions(kind, "allgather") || fr_value_mentions(kind, "a2a+p2p") ||
        fr_value_mentions(kind, "all_gather"))
        return fr_reading_refuse(r, "cp_comm_type", "plan.context", err,
                                 "neither a ring nor an all-to-all");
    if (fr_value_mentions(kind, "a2a") && fr_value_mentions(kind, "p2p"))
        return fr_reading_refuse(r, "cp_comm_type", "plan.context", err,
                                 "layers that exchange in different ways");
    fr_reading_say(r, "plan.context", fr_value_mentions(kind, "a2a") ? "all-to-all" : "ring");
    return FR_OK;
}

static void take_loss(struct fr_reading *r) {
    const char *impl = fr_reading_value(r, "cross_entropy_fusion_impl");
    if (fr_reading_on(r, "cross_entropy_loss_fusion"))
        fr_reading_say(r, "plan.loss", impl && strcmp(impl, "te") == 0 ? "fused" : "native");
    else if (r->whole || fr_reading_off(r, "cross_entropy_loss_fusion"))
        fr_reading_say(r, "plan.loss", "unfused");
}

static fr_status take_graphs(struct fr_reading *r, struct fr_error *err) {
    const char *impl = fr_reading_value(r, "cuda_graph_impl"),
               *scope = fr_reading_value(r, "cuda_graph_scope");
    if (!scope) scope = fr_reading_value(r, "cuda_graph_modules");
    bool old = fr_reading_on(r, "enable_cuda_graph") || fr_reading_on(r, "external_cuda_graph"),
         stated = r->whole || fr_settings_find(r->settings, "cuda_graph_impl") ||
                  fr_settings_find(r->settings, "enable_cuda_graph");
    bool whole =
        fr_value_mentions(impl, "full_iteration") || fr_value_mentions(scope, "full_iteration");
    bool none = !impl || strcasecmp(impl, "none") == 0;
    bool attention =
        !scope || fr_value_mentions(scope, "attn") || fr_value_mentions(scope, "full");
    if (whole)
        fr_reading_say(r, "plan.graphs", "iteration");
    else if ((!none && attention) || (none && old))
        fr_reading_say(r, "plan.graphs", "layers");
    else if (!none)
        return fr_reading_refuse(r,
                                 scope == fr_reading_value(r, "cuda_graph_modules")
                                     ? "cuda_graph_modules"
                                     : "cuda_graph_scope",
                                 "plan.graphs", err, "graphs that leave attention to the host");
    else if (stated)
        fr_reading_say(r, "plan.graphs", "none");
    return FR_OK;
}

/* A batch that grows: the steps counted say which one they had, else its last counts. */
static void take_ramp_up(struct fr_reading *r) {
    const char *ramp = fr_reading_value(r, "rampup_batch_size");
    if (!ramp || fr_value_is_off(ramp)) return;
    if (!r->log)
        fr_reading_tell(r, "rampup_batch_size %.60s: the batch at its end is priced", ramp);
    else
        fr_reading_say(r, "note.rampup_batch_size", "%.100s", ramp);
}

/* ---- all ------------------------------------------------------------------------------------------------ */

void fr_megatron_defaults(struct fr_reading *r) {
    static const struct {
        const char *key, *value;
    } usual[] = {{"plan.tp", "1"},
                 {"plan.pp", "1"},
                 {"plan.cp", "1"},
                 {"plan.ep", "1"},
                 {"plan.sequence_parallel", "false"},
                 {"plan.overlap_tp", "false"},
                 {"plan.overlap_experts", "false"},
                 {"plan.rank_order", "tp-dp-pp"},
                 {"plan.accumulation", "fused"},
                 {"model.gated", "false"},
                 {"model.norm", "layer"},
                 {"model.biases", "true"},
                 {"model.tied_embedding", "true"},
                 {"model.positions", "learned"}};
    for (size_t i = 0; r->whole && i < sizeof usual / sizeof *usual; i++)
        if (!fr_reading_stated(r, usual[i].key))
            fr_reading_say(r, usual[i].key, "%s", usual[i].value);
    /* The order of Megatron's ranks, whatever it prints. */
    if (!fr_reading_stated(r, "plan.rank_order") && fr_reading_stated(r, "plan.tp"))
        fr_reading_say(r, "plan.rank_order", "tp-dp-pp");
}

fr_status fr_megatron_plan(struct fr_reading *r, struct fr_error *err) {
    fr_launched_ranks(r);
    FR_TRY(take_chunks(r, err));
    FR_TRY(take_stage_layers(r, err));
    FR_TRY(take_recompute(r, err));
    FR_TRY(take_offload(r, err));
    FR_TRY(take_zero(r, err));
    FR_TRY(take_overlap(r, err));
    take_attention(r);
    FR_TRY(take_context(r, err));
    take_loss(r);
    take_ramp_up(r);
    return take_graphs(r, err);
}

/* MaxText: its YAML, "name=value" of its command line, "Config param name: value" of its log, and a line a step.
 *
 *      "completed step: 9, seconds: 5.667, TFLOP/s/device: 134.924, Tokens/s/device: 8672.758, total_weights: 196608, ..." */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/megatron/megatron.h"

static fr_line_kind line_of(const char *line, struct fr_logged_step *step) {
    const char *at = strstr(line, "completed step:");
    if (strstr(line, "eval metrics") || strstr(line, "Completed eval"))
        return FR_LINE_EVALUATION;
    if (strstr(line, "saved a checkpoint") || strstr(line, "Saved a checkpoint"))
        return FR_LINE_CHECKPOINT;
    if (!at) return FR_LINE_OTHER;
    if (!fr_step_number(at, "seconds:", &step->time_s)) return FR_LINE_MALFORMED;
    fr_step_number(at, "completed step:", &step->number);
    return FR_LINE_STEP;
}

/* "Num_devices: 64, shape (1, 1, 64, ...)" */
static void facts_of(const char *line, struct fr_run_row *row) {
    double ranks = 0;
    if ((fr_step_number(line, "Num_devices:", &ranks) ||
         fr_step_number(line, "num_devices:", &ranks)) &&
        ranks >= 1 && ranks < 1 << 24)
        fr_run_row_set(row, "ranks", "%.0f", ranks);
}

/* Degree of an axis: on chips of a slice, times over slices; 0: what the others leave. */
static int64_t axis(const struct fr_reading *r, const char *name) {
    char ici[64], dcn[64];
    snprintf(ici, sizeof ici, "ici_%s_parallelism", name);
    snprintf(dcn, sizeof dcn, "dcn_%s_parallelism", name);
    const bool rest = strcmp(name, "fsdp") == 0 && !r->log; /* base.yml's -1 */
    int64_t a = fr_reading_integer(r, ici, rest ? -1 : 1), b = fr_reading_integer(r, dcn, 1);
    if (a > 1 << 20 || b > 1 << 20) return 1;
    return a < 0 || b < 0 ? 0 : (a ? a : 1) * (b ? b : 1);
}

static void take_context(struct fr_reading *r, int64_t cp) {
    const char *how = fr_reading_value(r, "context_parallel_strategy");
    if (cp == 1) return;
    fr_reading_say(r, "plan.context", how && strstr(how, "ulysses") ? "all-to-all" : "ring");
    if (!how || strcmp(how, "all_gather") == 0)
        fr_reading_tell(
            r, "context_parallel_strategy all_gather: priced as a ring, which moves the "
               "same keys and values");
}

/* Its loop over stages is differentiated: all forward passes, then all backward ones. */
static fr_status take_pipeline(struct fr_reading *r, struct fr_error *err) {
    if (fr_reading_stated_integer(r, "plan.pp", 1) < 2) return FR_OK;
    fr_reading_say(r, "plan.schedule", "gpipe");
    if (fr_reading_integer(r, "num_pipeline_repeats", -1) > 1)
        return fr_reading_refuse(r, "num_pipeline_repeats", "plan.chunks", err,
                                 "stages that a micro-batch goes through several times");
    return FR_OK;
}

/* Axes that no plan says. */
static fr_status refuse_axes(struct fr_reading *r, struct fr_error *err) {
    static const char *const names[] = {"fsdp_transpose", "tensor_transpose",
                                        "context_autoregressive", "autoregressive"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        for (int outside = 0; outside < 2; outside++) {
            snprintf(name, sizeof name, "%s_%s_parallelism", outside ? "dcn" : "ici", names[i]);
            if (fr_reading_integer(r, name, 1) > 1)
                FR_TRY(fr_reading_refuse(r, name, "plan.tp", err, "an axis that no plan has"));
        }
    }
    if (axis(r, "tensor") > 1 && axis(r, "tensor_sequence") > 1)
        return fr_reading_refuse(r, "ici_tensor_sequence_parallelism", "plan.tp", err,
                                 "tensor parallelism of two kinds at once");
    return FR_OK;
}

static void take_mesh(struct fr_reading *r) {
    int64_t tp = axis(r, "tensor"), pp = axis(r, "pipeline"), ep = axis(r, "expert"),
            cp = axis(r, "context"), sequence = axis(r, "sequence"), fsdp = axis(r, "fsdp"),
            data = axis(r, "data"), norms = axis(r, "tensor_sequence"),
            ranks = fr_reading_stated_integer(r, "ranks", 0);
    if (cp == 1 && sequence > 1) cp = sequence;
    if (tp == 1 && norms > 1) tp = norms, fr_reading_say(r, "plan.sequence_parallel", "true");
    if (tp < 1 || pp < 1 || ep < 1 || cp < 1) return;
    if ((double)tp * (double)pp * (double)ep * (double)cp * fmax(1, (double)fsdp) *
            fmax(1, (double)data) >=
        (double)FR_STATED_MOST)
        return;
    fr_reading_say(r, "plan.tp", "%" PRId64, tp);
    fr_reading_say(r, "plan.pp", "%" PRId64, pp);
    fr_reading_say(r, "plan.cp", "%" PRId64, cp);
    if (ep > 1) fr_reading_say(r, "plan.ep", "%" PRId64, ep);
    /* An axis of experts is one of replicas for all else. */
    if (fsdp > 0 && data > 0) fr_reading_say(r, "plan.dp", "%" PRId64, fsdp * data * ep);
    if (fsdp > 0 && data > 0 && !ranks)
        fr_reading_say(r, "ranks", "%" PRId64, fsdp * data * ep * tp * pp * cp);
    /* Ranks of a sequence and of experts divide parameters as those of fsdp do. */
    const int64_t shards = fsdp > 0 ? fsdp * ep * cp : 0;
    const bool optimizer = fr_reading_on(r, "shard_optimizer_over_data");
    fr_reading_say(r, "plan.zero", shards != 1 ? "3" : optimizer ? "1" : "0");
    if (shards > 1 && data > 1) fr_reading_say(r, "plan.zero_ranks", "%" PRId64, shards);
    /* Axis data is outside of stages, fsdp inside. */
    fr_reading_say(r, "plan.rank_order",
                   pp > 1 && data > 1 && shards == 1 ? "tp-pp-dp" : "tp-dp-pp");
    take_context(r, cp);
}

static void take_batches(struct fr_reading *r) {
    const char *each = fr_reading_value(r, "per_device_batch_size");
    int64_t ranks = fr_reading_stated_integer(r, "ranks", 0),
            steps = fr_reading_integer(r, "gradient_accumulation_steps", 1),
            pp = fr_reading_stated_integer(r, "plan.pp", 1),
            passes = pp > 1 ? fr_reading_integer(r, "num_pipeline_microbatches", -1) : 1,
            dp = fr_reading_stated_integer(r, "plan.dp", 0);
    if (ranks < 1 && dp > 0 && dp < 1 << 20)
        ranks = dp * fr_reading_stated_integer(r, "plan.tp", 1) *
                fr_reading_stated_integer(r, "plan.pp", 1) *
                fr_reading_stated_integer(r, "plan.cp", 1);
    double all = each ? atof(each) * (double)ranks * (double)(steps > 0 ? steps : 1) : 0;
    if (!(all >= 1 && all < 1e12 && fabs(all - round(all)) < 1e-9 * all)) return;
    all = round(all); /* a device's share may be a third of a sample */
    fr_reading_say(r, "plan.global_batch", "%.0f", all);
    if (passes < 1) passes = pp; /* as many as stages */
    if (steps < 1 || steps > 1 << 20 || passes > 1 << 20) return;
    steps *= passes;
    if (dp > 0 && dp < 1 << 20 && fmod(all, (double)(dp * steps)) == 0)
        fr_reading_say(r, "plan.micro_batch", "%.0f", all / (double)(dp * steps));
}

/* Policies that save products by name repeat what is between them: norms, activation functions, the attention's core
 * where it is not named, too.  The norms stand for all that is elementwise. */
static fr_status take_recompute(struct fr_reading *r, struct fr_error *err) {
    static const struct {
        const char *policy, *recompute;
        bool about;
    } words[] = {{"full", "full", false},
                 {"save_qkv_proj", "save_qkv", false},
                 {"none", "none", false},
                 {"save_all", "none", false},
                 {"minimal", "core_attn+layernorm", true},
                 {"minimal_with_context", "layernorm", true},
                 {"minimal_flash", "layernorm", true},
                 {"save_dot_except_mlp", "core_attn+layernorm+mlp", true},
                 {"save_dot_with_context_except_mlp", "layernorm+mlp", true}};
    const struct fr_setting *set = fr_settings_find(r->settings, "remat_policy");
    const char *policy = fr_reading_value(r, "remat_policy");
    if (set && !policy && strcmp(set->value, "none") == 0) policy = "none"; /* the word */
    const bool mixed = fr_reading_stated_integer(r, "model.experts", 1) > 1;
    if (!policy && !r->log && fr_reading_stated(r, "model.hidden")) policy = "full";
    for (size_t i = 0; policy && i < sizeof words / sizeof *words; i++) {
        if (strcmp(policy, words[i].policy) != 0 || (mixed && strstr(policy, "except")))
            continue;
        fr_reading_say(r, "plan.recompute", "%s", words[i].recompute);
        if (words[i].about)
            fr_reading_tell(r, "remat_policy %s: read as recompute %s", policy,
                            words[i].recompute);
        return FR_OK;
    }
    return policy ? fr_reading_refuse(r, "remat_policy", "plan.recompute", err,
                                      "a policy that no plan says")
                  : FR_OK;
}

static fr_status take_dtype(struct fr_reading *r, struct fr_error *err) {
    const char *dtype = fr_reading_value(r, "dtype"),
               *quantized = fr_reading_value(r, "quantization"),
               *weights = fr_reading_value(r, "weight_dtype");
    if (!r->log && (fr_reading_stated(r, "model.hidden") || fr_reading_stated(r, "model"))) {
        dtype = dtype ? dtype : "bfloat16"; /* as in base.yml */
        weights = weights ? weights : "float32";
    }
    if (quantized && *quantized && strstr(quantized, "fp8")) {
        fr_reading_say(r, "model.dtype", "fp8");
        fr_reading_say(r, "model.weight_dtype", "bf16");
        return FR_OK;
    }
    if (quantized && *quantized)
        return fr_reading_refuse(r, "quantization", "model.dtype", err,
                                 "a number format that no model has");
    if (dtype) fr_reading_say(r, "model.dtype", strstr(dtype, "32") ? "fp32" : "bf16");
    if (dtype && weights)
        fr_reading_say(r, "model.weight_dtype", strstr(weights, "32") ? "fp32" : "bf16");
    return FR_OK;
}

/* ---- the model ------------------------------------------------------------------------------- */

static void take_latent(struct fr_reading *r) {
    const char *kind = fr_reading_value(r, "attention_type");
    const int64_t own = fr_reading_integer(r, "qk_nope_head_dim", 128),
                  shared = fr_reading_integer(r, "qk_rope_head_dim", 64),
                  queries = fr_reading_integer(r, "q_lora_rank", 0);
    if (!kind || !strstr(kind, "mla")) return;
    if (own < 1 || own > 1 << 20 || shared < 0 || shared > 1 << 20) return;
    if (queries > 0) fr_reading_say(r, "model.q_latent", "%" PRId64, queries);
    fr_reading_say(r, "model.kv_latent", "%" PRId64,
                   fr_reading_integer(r, "kv_lora_rank", 512));
    fr_reading_say(r, "model.rope_dim", "%" PRId64, shared);
    fr_reading_say(r, "model.head_dim", "%" PRId64, own + shared);
    fr_reading_say(r, "model.value_dim", "%" PRId64, fr_reading_integer(r, "v_head_dim", 128));
    fr_reading_say(r, "model.kv_heads", "%s", fr_reading_stated(r, "model.heads"));
}

static void take_mixture(struct fr_reading *r) {
    const int64_t shared = fr_reading_integer(r, "shared_experts", 0),
                  dense = fr_reading_integer(r, "first_num_dense_layers", 0),
                  groups = fr_reading_integer(r, "n_routing_groups", 0),
                  ffn = fr_reading_stated_integer(r, "model.expert_ffn",
                                                  fr_reading_stated_integer(r, "model.ffn", 0));
    if (fr_reading_stated_integer(r, "model.experts", 1) < 2) return;
    fr_reading_say(r, "model.experts_per_token", "%" PRId64,
                   fr_reading_integer(r, "num_experts_per_tok", 1));
    if (shared > 0 && shared < 1 << 20 && ffn < 1 << 26)
        fr_reading_say(r, "model.shared_ffn", "%" PRId64, shared * ffn);
    if (dense > 0) fr_reading_say(r, "model.dense_layers", "%" PRId64, dense);
    if (groups < 2) return;
    fr_reading_say(r, "model.expert_groups", "%" PRId64, groups);
    fr_reading_say(r, "model.groups_per_token", "%" PRId64,
                   fr_reading_integer(r, "topk_routing_group", groups));
}

/* A layer of gemma2's decoder is one with a window and one without; of gemma3's six one has none. */
static void take_windows(struct fr_reading *r, const char *block, const char *window) {
    const int64_t layers = fr_reading_stated_integer(r, "model.layers", 0);
    const bool pairs = strcmp(block, "gemma2") == 0, sixths = strcmp(block, "gemma3") == 0;
    const char *kind = fr_reading_value(r, "attention_type");
    if (pairs && layers < 1 << 20) fr_reading_say(r, "model.layers", "%" PRId64, 2 * layers);
    if (!window || fr_value_is_off(window)) return;
    if (!pairs && !sixths && !(kind && strstr(kind, "local_sliding"))) return;
    fr_reading_say(r, "model.window", "%s", window);
    if (pairs) fr_reading_say(r, "model.window_layers", "%" PRId64, layers);
    if (sixths) fr_reading_say(r, "model.window_layers", "%" PRId64, layers - layers / 6);
}

/* Sizes of a decoder's own: which block it has, and what base.yml says of keys that are not set. */
static fr_status take_sizes(struct fr_reading *r, struct fr_error *err) {
    static const char *const blocks[] = {
        "llama2", "mistral",   "mixtral", "gemma",    "gemma2",  "gemma3", "qwen2",
        "qwen3",  "qwen3_moe", "gpt3",    "deepseek", "default", NULL};
    static const char *const usual[][2] = {{"model.vocabulary", "32000"},
                                           {"model.sequence", "2048"},
                                           {"model.head_dim", "128"},
                                           {"model.tied_embedding", "false"}};
    const char *block = fr_reading_value(r, "decoder_block"),
               *activations = fr_reading_value(r, "mlp_activations");
    char low[40];
    if (!fr_reading_stated(r, "model.hidden")) return FR_OK;
    const char *dot =
        block ? strrchr(block, '.') : NULL; /* "DecoderBlockType.LLAMA2" of a log */
    snprintf(low, sizeof low, "%.39s", dot ? dot + 1 : block ? block : "llama2");
    for (char *c = low; *c; c++) *c = (char)tolower((unsigned char)*c);
    int known = 0;
    while (blocks[known] && strcmp(blocks[known], low) != 0) known++;
    if (!blocks[known])
        FR_TRY(fr_reading_refuse(r, "decoder_block", "model", err,
                                 "a decoder that is not read by its keys; name the model"));
    if (fr_reading_integer(r, "interleave_moe_layer_step", 1) > 1)
        FR_TRY(fr_reading_refuse(r, "interleave_moe_layer_step", "model", err,
                                 "layers with and without experts that alternate"));
    const bool old = strcmp(low, "gpt3") == 0;
    fr_reading_say(r, "model.gated",
                   activations ? strstr(activations, "linear") ? "true" : "false"
                   : old       ? "false"
                               : "true");
    fr_reading_say(r, "model.norm", old ? "layer" : "rms");
    fr_reading_say(r, "model.biases", old ? "true" : "false");
    fr_reading_say(r, "model.positions", old ? "learned" : "rotary");
    fr_reading_say(r, "model.dropout", "false");
    fr_reading_say(r, "model.vocabulary_multiple", "1");
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        if (fr_reading_stated(r, usual[i][0])) continue;
        fr_reading_say(r, usual[i][0], "%s", usual[i][1]);
        fr_reading_tell(r, "%s is not set: %s, as in base.yml", usual[i][0] + 6, usual[i][1]);
    }
    take_latent(r);
    take_mixture(r);
    take_windows(r, low, fr_reading_value(r, "sliding_window_size"));
    return FR_OK;
}

static fr_status finish(struct fr_reading *r, struct fr_error *err) {
    const char *name = fr_reading_value(r, "model_name"),
               *kind = fr_reading_value(r, "attention");
    fr_launched_ranks(r);
    if (!r->settings->n) return FR_OK;
    bool named = name && strcmp(name, "default") != 0;
    if (named && !fr_reading_model(r, name))
        fr_reading_tell(r, "model_name %s: no preset is it; give model=PRESET", name);
    const char *file = fr_reading_value(r, "config_file");
    if (!named && file && !fr_reading_stated(r, "model.hidden") && fr_reading_model(r, file))
        fr_reading_tell(r,
                        "%.100s: its model is read from its name; settings in it that the "
                        "launch line does not repeat are not",
                        file);
    FR_TRY(take_sizes(r, err));
    FR_TRY(refuse_axes(r, err));
    take_mesh(r);
    FR_TRY(take_pipeline(r, err));
    take_batches(r);
    FR_TRY(take_recompute(r, err));
    if (kind)
        fr_reading_say(r, "plan.attention",
                       strcmp(kind, "dot_product") == 0 ? "plain" : "flash");
    return take_dtype(r, err);
}

static const struct fr_meaning_row rows[] = {
    FR_SETS("max_target_length", "model.sequence"),
    FR_SETS("base_emb_dim", "model.hidden"),
    FR_SETS("base_num_query_heads", "model.heads"),
    FR_SETS("base_num_kv_heads", "model.kv_heads"),
    FR_SETS("base_mlp_dim", "model.ffn"),
    FR_SETS("base_num_decoder_layers", "model.layers"),
    FR_SETS_WHERE("base_moe_mlp_dim", "!-1,None", "model.expert_ffn", "{}"),
    FR_SETS("num_devices", "ranks"),
    FR_SETS("head_dim", "model.head_dim"),
    FR_SETS("vocab_size", "model.vocabulary"),
    FR_SETS_WHERE("num_experts", "!1,None,0", "model.experts", "{}"),
    FR_SETS_WHERE("steps", "!-1,None", "plan.iterations", "{}"),
    FR_SETS_WHERE("grad_dtype", "float32", "model.gradient_dtype", "fp32"),
    FR_SETS_WHERE("grad_dtype", "bfloat16", "model.gradient_dtype", "bf16"),
    FR_READ("num_experts_per_tok"),
    FR_READ("shared_experts"),
    FR_READ("first_num_dense_layers"),
    FR_READ("kv_lora_rank"),
    FR_READ("q_lora_rank"),
    FR_READ("per_device_batch_size"),
    FR_READ("remat_policy"),
    FR_READ("sliding_window_size"),
    FR_SETS_WHERE("mtp_num_layers", "!0,None", "model.predicted_tokens", "{}"),
    FR_SETS_WHERE("opt_type", "adamw,adam_pax", "model.optimizer", "adam"),
    FR_SETS_WHERE("opt_type", "sgd", "model.optimizer", "momentum"),
    FR_REFUSED("opt_type", "muon", "model.optimizer", "an optimiser that is not priced"),
    FR_SETS_WHERE("logits_via_embedding", "on", "model.tied_embedding", "true"),
    FR_SETS_WHERE("logits_via_embedding", "off", "model.tied_embedding", "false"),
    FR_SETS_WHERE("capacity_factor", "!-1.0,-1,None", "model.capacity", "{}"),
    FR_SETS_WHERE("optimizer_memory_host_offload", "on", "plan.offload", "optimizer"),
    FR_REFUSED("parameter_memory_host_offload", "on", "plan.offload",
               "parameters in the host's memory"),
    FR_REFUSED("attention_type",
               "!global,mla,local_sliding,full,None,AttentionType.GLOBAL,AttentionType.MLA,"
               "AttentionType.LOCAL_SLIDING",
               "model", "an attention of another kind; name the model"),
    {NULL, "", NULL, FR_MEANS_NOTHING, NULL, ""}};

static const char *const signs[] = {
    "per_device_batch_size",   "ici_fsdp_parallelism",   "max_target_length", "remat_policy",
    "base_num_decoder_layers", "ici_tensor_parallelism", "base_emb_dim",      NULL};
static const char *const marks[] = {"completed step:", NULL};

const struct fr_trainer fr_trainer_maxtext = {
    .name = "maxtext",
    .summary = "MaxText's YAML, options and logs",
    .source = "AI-Hypercomputer/maxtext, configs/base.yml and metric_logger.py",
    .runtime = "maxtext-2025",
    .signs = signs,
    .marks = marks,
    .rows = rows,
    .finish = finish,
    .line = line_of,
    .facts = facts_of,
};

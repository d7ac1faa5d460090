/* MaxText: its YAML, "name=value" of its command line, "Config param name: value" of its log, and a line a step.
 *
 *      "completed step: 9, seconds: 5.667, TFLOP/s/device: 134.924, Tokens/s/device: 8672.758, total_weights: 196608, ..." */
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

/* Degree of an axis: on chips of a slice, times over slices; 0: what the others leave. */
static int64_t axis(const struct fr_reading *r, const char *name) {
    char ici[64], dcn[64];
    snprintf(ici, sizeof ici, "ici_%s_parallelism", name);
    snprintf(dcn, sizeof dcn, "dcn_%s_parallelism", name);
    int64_t a = fr_reading_integer(r, ici, 1), b = fr_reading_integer(r, dcn, 1);
    if (a > 1 << 20 || b > 1 << 20) return 1;
    return a < 0 || b < 0 ? 0 : (a ? a : 1) * (b ? b : 1);
}

static void take_mesh(struct fr_reading *r) {
    int64_t tp = axis(r, "tensor"), pp = axis(r, "pipeline"), ep = axis(r, "expert"),
            cp = axis(r, "context"), sequence = axis(r, "sequence"), fsdp = axis(r, "fsdp"),
            data = axis(r, "data"), ranks = fr_reading_stated_integer(r, "ranks", 0);
    if (cp == 1 && sequence > 1) cp = sequence;
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
    fr_reading_say(r, "plan.zero", fsdp == 1 ? "0" : "3");
    if (fsdp > 1 && data > 1) fr_reading_say(r, "plan.zero_ranks", "%" PRId64, fsdp * ep * cp);
}

static void take_batches(struct fr_reading *r) {
    const char *each = fr_reading_value(r, "per_device_batch_size");
    int64_t ranks = fr_reading_stated_integer(r, "ranks", 0),
            steps = fr_reading_integer(r, "gradient_accumulation_steps", 1),
            dp = fr_reading_stated_integer(r, "plan.dp", 0);
    double all = each ? atof(each) * (double)ranks * (double)(steps > 0 ? steps : 1) : 0;
    if (!(all >= 1 && all < 1e12 && all == floor(all))) return;
    fr_reading_say(r, "plan.global_batch", "%.0f", all);
    if (dp > 0 && steps >= 1 && fmod(all, (double)(dp * steps)) == 0)
        fr_reading_say(r, "plan.micro_batch", "%.0f", all / (double)(dp * steps));
}

static fr_status take_recompute(struct fr_reading *r, struct fr_error *err) {
    static const char *const words[][2] = {{"full", "full"},
                                           {"save_qkv_proj", "save_qkv"},
                                           {"none", "none"},
                                           {"save_all", "none"}};
    const char *policy = fr_reading_value(r, "remat_policy");
    for (size_t i = 0; policy && i < sizeof words / sizeof *words; i++)
        if (strcmp(policy, words[i][0]) == 0)
            return fr_reading_say(r, "plan.recompute", "%s", words[i][1]), FR_OK;
    return policy ? fr_reading_refuse(r, "remat_policy", "plan.recompute", err,
                                      "a policy that no plan says")
                  : FR_OK;
}

static fr_status take_dtype(struct fr_reading *r, struct fr_error *err) {
    const char *dtype = fr_reading_value(r, "dtype"),
               *quantized = fr_reading_value(r, "quantization"),
               *weights = fr_reading_value(r, "weight_dtype");
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

static fr_status finish(struct fr_reading *r, struct fr_error *err) {
    const char *name = fr_reading_value(r, "model_name"),
               *kind = fr_reading_value(r, "attention");
    fr_launched_ranks(r);
    if (!r->settings->n) return FR_OK;
    bool named = name && strcmp(name, "default") != 0;
    if (named && !fr_reading_model(r, name))
        fr_reading_tell(r, "model_name %s: no preset is it; give model=PRESET", name);
    take_mesh(r);
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
    FR_SETS("base_moe_mlp_dim", "model.expert_ffn"),
    FR_SETS("num_devices", "ranks"),
    FR_SETS("head_dim", "model.head_dim"),
    FR_SETS("vocab_size", "model.vocabulary"),
    FR_SETS_WHERE("num_experts", "!1,None,0", "model.experts", "{}"),
    {"num_experts_per_tok", "", "num_experts", FR_MEANS_NOTHING, NULL, ""},
    FR_SETS_WHERE("logits_via_embedding", "on", "model.tied_embedding", "true"),
    FR_SETS_WHERE("logits_via_embedding", "off", "model.tied_embedding", "false"),
    FR_SETS_WHERE("capacity_factor", "!-1.0,-1,None", "model.capacity", "{}"),
    FR_SETS_WHERE("sliding_window_size", "on", "model.window", "{}"),
    FR_SETS_WHERE("optimizer_memory_host_offload", "on", "plan.offload", "optimizer"),
    FR_REFUSED("parameter_memory_host_offload", "on", "plan.offload",
               "parameters in the host's memory"),
    FR_REFUSED("attention_type", "!global,None", "model",
               "an attention of another kind; name the model"),
    {NULL, "", NULL, FR_MEANS_NOTHING, NULL, ""}};

static const char *const signs[] = {"per_device_batch_size",
                                    "ici_fsdp_parallelism",
                                    "max_target_length",
                                    "remat_policy",
                                    "base_num_decoder_layers",
                                    "ici_tensor_parallelism",
                                    NULL};
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
};

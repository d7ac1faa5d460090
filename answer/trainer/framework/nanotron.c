/* nanotron: its YAML, and its log.
 *
 *      "... iteration: 327281 / 378950 | ... | elapsed_time_per_iteration_ms: 11.5K | tokens_per_sec: 22.8K |
 *       tokens_per_sec_per_gpu: 11.4K | global_batch_size: 64 | ..."
 *
 *  Its models are Llama's: gated, RMSNorm, rotary, without biases (src/nanotron/models/llama.py). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/megatron/megatron.h"

static fr_line_kind line_of(const char *line, struct fr_logged_step *step) {
    static const char label[] = "time_per_iteration_ms:"; /* or elapsed_time_..., until 2025 */
    const char *at = strstr(line, "iteration: ");
    if (strstr(line, "Saving checkpoint")) return FR_LINE_CHECKPOINT;
    if (strstr(line, "Validation")) return FR_LINE_EVALUATION;
    if (!at || !strstr(at, label)) return FR_LINE_OTHER;
    if (!fr_step_number(at, label, &step->time_s)) return FR_LINE_MALFORMED;
    step->time_s *= 1e-3;
    fr_step_number(at, "iteration: ", &step->number);
    if (strstr(at, "elapsed_time_per")) /* the newer line counts tokens, rounded */
        fr_step_number(at, "global_batch_size:", &step->batch);
    return FR_LINE_STEP;
}

/* models_config.py, MoEConfig. */
static fr_status take_mixture(struct fr_reading *r, struct fr_error *err) {
    const char *layers = fr_reading_value(r, "moe_config.layers"),
               *kind = fr_reading_value(r, "moe_config.token_dispatcher_type");
    if (!fr_reading_on(r, "moe_config.num_experts")) return FR_OK;
    fr_reading_say(r, "model.expert_ffn", "%" PRId64,
                   fr_reading_integer(r, "moe_config.moe_intermediate_size", 1408));
    if (fr_reading_on(r, "moe_config.enable_shared_expert"))
        fr_reading_say(
            r, "model.shared_ffn", "%" PRId64,
            fr_reading_integer(r, "moe_config.shared_expert_intermediate_size", 5632));
    if (layers && strcmp(layers, "[-1]") != 0)
        return fr_reading_refuse(r, "layers", "model.dense_layers", err,
                                 "layers with experts that are listed one by one");
    if (kind && strcmp(kind, "allgather") == 0 &&
        fr_reading_stated_integer(r, "plan.ep", 1) > 1)
        return fr_reading_refuse(r, "token_dispatcher_type", "plan.dispatch_ranks", err,
                                 "every rank gets all tokens");
    return FR_OK;
}

static fr_status finish(struct fr_reading *r, struct fr_error *err) {
    const char *dtype = fr_reading_value(r, "model.dtype"),
               *mode = fr_reading_value(r, "tp_mode"),
               *engine = fr_reading_value(r, "pp_engine");
    fr_launched_ranks(r);
    if (!r->settings->n) return FR_OK;
    fr_reading_say(r, "plan.graphs", "none");
    fr_reading_say(r, "plan.loss",
                   fr_reading_stated_integer(r, "plan.tp", 1) > 1 ? "parallel" : "eager");
    FR_TRY(take_mixture(r, err));
    int64_t steps = fr_reading_integer(r, "batch_accumulation_per_replica", 0),
            dp = fr_reading_stated_integer(r, "plan.dp", 0),
            micro = fr_reading_stated_integer(r, "plan.micro_batch", 0);
    if (dp > 0 && dp < 1 << 20 && micro > 0 && micro < 1 << 20 && steps > 0 && steps < 1 << 20)
        fr_reading_say(r, "plan.global_batch", "%" PRId64, dp * micro * steps);
    if (fr_reading_stated_integer(r, "plan.tp", 1) > 1 && mode)
        fr_reading_say(r, "plan.sequence_parallel",
                       strstr(mode, "REDUCE_SCATTER") ? "true" : "false");
    if (fr_reading_stated_integer(r, "plan.pp", 1) > 1)
        fr_reading_say(r, "plan.schedule", engine && strstr(engine, "afab") ? "gpipe" : "1f1b");
    if (dtype)
        fr_reading_say(r, "model.dtype",
                       strstr(dtype, "32")   ? "fp32"
                       : strstr(dtype, "bf") ? "bf16"
                                             : "fp16");
    if (fr_reading_value(r, "accumulate_grad_in_fp32"))
        fr_reading_say(r, "model.gradient_dtype",
                       fr_reading_on(r, "accumulate_grad_in_fp32") ? "fp32" : "bf16");
    if (fr_reading_stated_integer(r, "model.hidden", 0)) {
        static const char *const keys[][2] = {{"gated", "true"},
                                              {"norm", "rms"},
                                              {"biases", "false"},
                                              {"positions", "rotary"},
                                              {"dropout", "false"}};
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            char key[32] = "model.";
            strncat(key, keys[i][0], sizeof key - 8);
            fr_reading_say(r, key, "%s", keys[i][1]);
        }
        const char *kernel = fr_reading_value(r, "_attn_implementation");
        fr_reading_say(r, "plan.attention",
                       kernel && strcmp(kernel, "flash_attention_2") == 0 ? "flash-2" : "flash");
    }
    if (fr_reading_stated_integer(r, "plan.dp", 1) > 1) /* PyTorch's DDP */
        fr_reading_say(r, "plan.overlap", "gradient");
    /* context.py: ranks of a model with experts go through its stages first. */
    fr_reading_say(r, "plan.rank_order",
                   fr_reading_on(r, "moe_config.num_experts") ? "tp-pp-dp" : "tp-dp-pp");
    return FR_OK;
}

static const struct fr_meaning_row rows[] = {
    FR_SETS("parallelism.dp", "plan.dp"),
    FR_SETS("parallelism.tp", "plan.tp"),
    FR_SETS("parallelism.pp", "plan.pp"),
    FR_SETS("parallelism.context_parallel_size", "plan.cp"),
    FR_SETS("parallelism.expert_parallel_size", "plan.ep"),
    FR_SETS("parallelism.expert_tensor_parallel_size", "plan.etp"),
    FR_SETS_WHERE("model.ddp_bucket_cap_mb", "", "plan.bucket", "{} MiB"),
    FR_SETS("tokens.micro_batch_size", "plan.micro_batch"),
    FR_SETS("tokens.sequence_length", "model.sequence"),
    FR_SETS("tokens.train_steps", "plan.iterations"),
    FR_SETS("optimizer.zero_stage", "plan.zero"),
    FR_SETS("model_config.hidden_size", "model.hidden"),
    FR_SETS("model_config.num_hidden_layers", "model.layers"),
    FR_SETS("model_config.intermediate_size", "model.ffn"),
    FR_SETS("model_config.num_attention_heads", "model.heads"),
    FR_SETS("model_config.num_key_value_heads", "model.kv_heads"),
    FR_SETS("model_config.vocab_size", "model.vocabulary"),
    FR_SETS_WHERE("model_config.tie_word_embeddings", "on", "model.tied_embedding", "true"),
    FR_SETS_WHERE("model_config.tie_word_embeddings", "off", "model.tied_embedding", "false"),
    FR_SETS_WHERE("parallelism.recompute_layer", "on", "plan.recompute", "full"),
    FR_SETS_WHERE("parallelism.recompute_layer", "off", "plan.recompute", "none"),
    FR_SETS_WHERE("tp_linear_async_communication", "on", "plan.overlap_tp", "true"),
    FR_SETS_WHERE("tp_linear_async_communication", "off", "plan.overlap_tp", "false"),
    FR_SETS_WHERE("moe_config.num_experts", "on", "model.experts", "{}"),
    FR_REFUSED("moe_num_experts", "!1,None", "model.experts",
               "experts of an example's own model; give model.expert_ffn, too"),
    FR_SETS_WHERE("moe_config.top_k", "on", "model.experts_per_token", "{}"),
    FR_SETS_WHERE("model_config.sliding_window_size", "on", "model.window", "{}"),
    {NULL, "", NULL, FR_MEANS_NOTHING, NULL, ""}};

static const char *const signs[] = {"parallelism.dp",
                                    "parallelism.tp",
                                    "tokens.micro_batch_size",
                                    "tokens.batch_accumulation_per_replica",
                                    "optimizer.zero_stage",
                                    "parallelism.pp_engine",
                                    NULL};
static const char *const marks[] = {"time_per_iteration_ms:", NULL};

const struct fr_trainer fr_trainer_nanotron = {
    .name = "nanotron",
    .summary = "nanotron's YAML and logs",
    .source = "huggingface/nanotron, src/nanotron/config and src/nanotron/trainer.py",
    .signs = signs,
    .marks = marks,
    .rows = rows,
    .finish = finish,
    .line = line_of,
};

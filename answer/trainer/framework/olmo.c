/* OLMo: its YAML, and the figures that it logs, several lines a step.
 *
 *      "2024-08-06 10:00:05.520 host:0  olmo.train:908  INFO    [step=2/739328,epoch=0]"
 *      "    throughput/device/tokens_per_second=26,668"
 *      "    throughput/device/batches_per_second=0.0254" */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/megatron/megatron.h"
#include "answer/trainer/reading.h"

static fr_line_kind line_of(const char *line, struct fr_logged_step *step) {
    double rate = 0;
    if (strstr(line, "[step=")) {
        *step = fr_step_none();
        fr_step_number(line, "[step=", &step->number);
        step->stamp_s = fr_step_stamp(line);
        return FR_LINE_PART;
    }
    if (strstr(line, "[eval_step=")) return FR_LINE_EVALUATION;
    if (strstr(line, "Saving checkpoint")) return FR_LINE_CHECKPOINT;
    /* BPS and TPS are OLMo-core's. */
    if (strstr(line, "throughput/device/tokens_per_second=") ||
        strstr(line, "throughput/device/TPS=")) {
        if (!fr_step_number(line, "tokens_per_second=", &step->tokens_per_s))
            fr_step_number(line, "TPS=", &step->tokens_per_s);
        return FR_LINE_PART;
    }
    if (!strstr(line, "throughput/device/batches_per_second=") &&
        !strstr(line, "throughput/device/BPS="))
        return FR_LINE_OTHER;
    if (!(fr_step_number(line, "batches_per_second=", &rate) ||
          fr_step_number(line, "BPS=", &rate)) ||
        !(rate > 0))
        return FR_LINE_MALFORMED;
    step->time_s = 1 / rate;
    return FR_LINE_STEP;
}

/* "one_in_four", "two_in_three": so many layers recompute. */
static bool take_some(struct fr_reading *r, const char *word) {
    static const struct {
        const char *word;
        int some, of;
    } words[] = {{"one_in_two", 1, 2},   {"one_in_three", 1, 3}, {"one_in_four", 1, 4},
                 {"one_in_eight", 1, 8}, {"two_in_three", 2, 3}, {"three_in_four", 3, 4}};
    const int64_t layers = fr_reading_stated_integer(r, "model.layers", 0);
    for (size_t i = 0; i < sizeof words / sizeof *words && layers > 0 && layers < 1 << 20;
         i++) {
        if (strcmp(words[i].word, word) != 0) continue;
        fr_reading_say(r, "plan.recompute", "full");
        fr_reading_say(r, "plan.recompute_layers", "%" PRId64,
                       (layers * words[i].some + words[i].of - 1) / words[i].of);
        return true;
    }
    return false;
}

/* The value of a setting that stands in no section: fsdp has a precision, too. */
static const char *at_top(const struct fr_reading *r, const char *name) {
    const char *value = NULL;
    for (int i = 0; i < r->settings->n; i++)
        if (strcmp(r->settings->item[i].name, name) == 0) value = r->settings->item[i].value;
    return value && !fr_value_is_none(value) ? value : NULL;
}

static bool has_section(const struct fr_reading *r, const char *name) {
    for (int i = 0; i < r->settings->n; i++)
        if (strncmp(r->settings->item[i].name, name, strlen(name)) == 0) return true;
    return false;
}

static fr_status finish(struct fr_reading *r, struct fr_error *err) {
    const char *precision = at_top(r, "precision"),
               *sharding = fr_reading_value(r, "fsdp.sharding_strategy"),
               *ac = fr_reading_value(r, "activation_checkpointing"),
               *activation = fr_reading_value(r, "activation_type"),
               *ratio = fr_reading_value(r, "mlp_ratio"),
               *norm = fr_reading_value(r, "layer_norm_type"),
               *hidden = fr_reading_stated(r, "model.hidden");
    fr_launched_ranks(r);
    if (!r->settings->n) return FR_OK;
    bool gated = !activation || strcmp(activation, "swiglu") == 0;
    int64_t width = fr_reading_integer(r, "mlp_hidden_size", 0);
    int64_t across = fr_reading_stated_integer(r, "model.hidden", 0),
            times = ratio ? strtoll(ratio, NULL, 10) : 4;
    if (width < 1 && times < 1 << 20) width = times > 0 ? times * across : 0;
    if (width > 0 && width < 1 << 26)
        fr_reading_say(r, "model.ffn", "%" PRId64, gated ? width / 2 : width);
    if (hidden) {
        fr_reading_say(r, "model.gated", gated ? "true" : "false");
        fr_reading_say(r, "model.norm", norm && strcmp(norm, "rms") == 0 ? "rms" : "layer");
        fr_reading_say(r, "model.biases", fr_reading_on(r, "include_bias") ? "true" : "false");
        fr_reading_say(r, "model.positions", fr_reading_on(r, "rope") ? "rotary" : "learned");
        fr_reading_say(r, "model.dropout", "false");
    }
    if (fr_settings_find(r->settings, "flash_attention"))
        fr_reading_say(r, "plan.attention",
                       fr_reading_on(r, "flash_attention") ? "flash" : "plain");
    if (precision)
        fr_reading_say(r, "model.dtype",
                       strstr(precision, "bf16")   ? "bf16"
                       : strstr(precision, "fp16") ? "fp16"
                                                   : "fp32");
    if (!sharding && has_section(r, "fsdp.")) sharding = "FULL_SHARD"; /* config.py's default */
    if (sharding && strstr(sharding, "FULL_SHARD"))
        fr_reading_say(r, "plan.zero", "3");
    else if (sharding && strstr(sharding, "SHARD_GRAD_OP"))
        fr_reading_say(r, "plan.zero", "2");
    else if (sharding && strstr(sharding, "NO_SHARD"))
        fr_reading_say(r, "plan.zero", "0");
    else if (sharding)
        return fr_reading_refuse(r, "sharding_strategy", "plan.zero_ranks", err,
                                 "groups whose size is not said");
    fr_reading_say(r, "plan.graphs", "none");
    fr_reading_say(r, "plan.loss", fr_reading_on(r, "fused_loss") ? "fused" : "eager");
    if (ac && strcmp(ac, "whole_layer") == 0)
        fr_reading_say(r, "plan.recompute", "full");
    else if (ac && take_some(r, ac))
        return FR_OK;
    else if (ac && strcmp(ac, "fine_grained") != 0 && !fr_value_is_off(ac))
        return fr_reading_refuse(r, "activation_checkpointing", "plan.recompute", err,
                                 "some layers that recompute");
    else if (ac && strcmp(ac, "fine_grained") == 0)
        return fr_reading_refuse(r, "activation_checkpointing", "plan.recompute", err,
                                 "parts of a layer that no plan says");
    else if (fr_settings_find(r->settings, "activation_checkpointing"))
        fr_reading_say(r, "plan.recompute", "none");
    return FR_OK;
}

static const struct fr_meaning_row rows[] = {
    FR_SETS("global_train_batch_size", "plan.global_batch"),
    FR_SETS("device_train_microbatch_size", "plan.micro_batch"),
    FR_SETS("model.d_model", "model.hidden"),
    FR_SETS("model.n_heads", "model.heads"),
    FR_SETS("model.n_kv_heads", "model.kv_heads"),
    FR_SETS("model.n_layers", "model.layers"),
    FR_SETS("model.max_sequence_length", "model.sequence"),
    FR_SETS_WHERE("model.embedding_size", "on", "model.vocabulary", "{}"),
    FR_SETS_WHERE("model.weight_tying", "on", "model.tied_embedding", "true"),
    FR_SETS_WHERE("model.weight_tying", "off", "model.tied_embedding", "false"),
    FR_REFUSED("model.alibi", "on", "model.positions", "positions that no model here has"),
    FR_SETS_WHERE("model.multi_query_attention", "on", "model.kv_heads", "1"),
    {"model.block_group_size", "!1,None", NULL, FR_MEANS_NOTE, NULL,
     "layers are gathered one by one"},
    {NULL, "", NULL, FR_MEANS_NOTHING, NULL, ""}};

static const char *const signs[] = {"global_train_batch_size", "device_train_microbatch_size",
                                    "model.d_model",           "model.n_layers",
                                    "fsdp.sharding_strategy",  NULL};
static const char *const marks[] = {
    "throughput/device/batches_per_second=", "throughput/device/BPS=", NULL};

const struct fr_trainer fr_trainer_olmo = {
    .name = "olmo",
    .summary = "OLMo's YAML and logs",
    .source = "allenai/OLMo, olmo/config.py and olmo/train.py",
    .signs = signs,
    .marks = marks,
    .rows = rows,
    .finish = finish,
    .line = line_of,
};

/* Frameworks that --emit knows; their options are rows of option_table.c. */
#include <stdlib.h>
#include <string.h>

#include "answer/emit/framework/megatron.h"

/* ---- what a search need not try for them ------------------------------------------------------ */

#define WHAT_NONE_HAS                                                                          \
    "method=tensor", "compression.backward.scope=none", "compression.gradient.stages=0",       \
        "compression.embedding=separate", NULL

static const char *const megatrons[] = {"schedule=1f1b,interleaved", WHAT_NONE_HAS};
static const char *const torchtitans[] = {
    "schedule=1f1b,interleaved,gpipe,zero-bubble-v,dualpipe-v",
    "zero=0,2,3",
    "rank_order=tp-dp-pp",
    "overlap_experts=false",
    "recompute=none,selective_op,full",
    "etp=1",
    "offload=none",
    WHAT_NONE_HAS};
static const char *const deepspeeds[] = {
    "schedule=1f1b",          "chunks=1",   "cp=1", "overlap_tp=false", "overlap_experts=false",
    "offload=none,optimizer", WHAT_NONE_HAS};

/* ---- DeepSpeed's JSON configuration: keys with a dot for each object around them -------------- */

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

/* The options of object @p object ("": of none). */
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

/* Is anything of it said? */
static bool stated(const struct fr_emitted *e, const char *object) {
    size_t length = strlen(object);
    for (int i = 0; i < e->n; i++)
        if (strncmp(e->line[i].name, object, length) == 0 && e->line[i].name[length] == '.')
            return true;
    return false;
}

static void write_configuration(const struct fr_emitted *e, struct fr_text *text) {
    static const char *const objects[] = {"zero_optimization", "bf16", "fp16", "data_types",
                                          "activation_checkpointing"};
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_text_addf(text, "cat > ds_config.json <<'END'\n");
    fr_json_begin_object(&w);
    members(e, &w, "");
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        if (!stated(e, objects[i])) continue;
        fr_json_add_object(&w, objects[i]);
        members(e, &w, objects[i]);
        fr_json_end_object(&w);
    }
    fr_json_end_object(&w);
    fr_text_addf(text, "END\n");
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* pretrain_gpt.py's.  A boolean that is True by default has a negated form; --fp8-format and
 * --disable-bias-linear are the spellings that its configuration class gives fields fp8 and
 * add_bias_linear. */
const struct fr_emitter fr_emitter_megatron = {
    .name = "megatron",
    .framework = "Megatron-LM",
    .no = "Megatron-LM has no ",
    .runtimes = "megatron",
    .version = "NVIDIA/Megatron-LM at d98e8a64ddf3 (August 2026)",
    .shared = FR_EMIT_MEGATRON,
    .rows = fr_emit_megatron_rows,
    .able = megatrons,
    .array = "megatron",
    .program = "pretrain_gpt.py \"${megatron[@]}\" ",
};

/* scripts/performance/run_script.py: its options, and fields of the training configuration as
 * SECTION.field=VALUE.  Sections are Bridge's; most of their fields are those of Megatron-LM's
 * classes, from which Bridge's derive. */
const struct fr_emitter fr_emitter_megatron_bridge = {
    .name = "megatron-bridge",
    .framework = "Megatron-Bridge",
    .no = "Megatron-Bridge has no ",
    .runtimes = "megatron-bridge",
    .version = "NVIDIA-NeMo/Megatron-Bridge at 067f987df03b (August 2026)",
    .shared = FR_EMIT_BRIDGE,
    .able = megatrons,
    .array = "bridge",
    .program = "scripts/performance/run_script.py \"${bridge[@]}\" ",
};

/* train.py: fields of its configuration as --section.field VALUE.  It counts batches in tokens;
 * replicas that divide parameters are data_parallel_shard_degree of them (FSDP), others replicate. */
const struct fr_emitter fr_emitter_torchtitan = {
    .name = "torchtitan",
    .framework = "torchtitan",
    .no = "torchtitan has no ",
    .runtimes = "torchtitan",
    .version = "pytorch/torchtitan at b5bcd76c66d0 (August 2026)",
    .shared = FR_EMIT_TORCHTITAN,
    .able = torchtitans,
    .array = "titan",
    .program = "-m torchtitan.train --module \"${MODULE:?such as llama3}\" --config "
               "\"${CONFIG:?such as llama3_405b}\" \"${titan[@]}\" ",
};

/* How the model is cut up is the training program's own code, but for what replicas divide. */
const struct fr_emitter fr_emitter_deepspeed = {
    .name = "deepspeed",
    .framework = "DeepSpeed",
    .no = "DeepSpeed's configuration has no ",
    .runtimes = "deepspeed",
    .version = "deepspeedai/DeepSpeed at edaa72212672 (August 2026)",
    .shared = FR_EMIT_DEEPSPEED,
    .able = deepspeeds,
    .write = write_configuration,
    .program = "\"${TRAIN:?your training program}\" --deepspeed "
               "--deepspeed_config ds_config.json ",
};

/* Hugging Face's Trainer: trainer_state.json, training arguments as JSON or YAML, and the figures of a run's end.
 *
 *      {'train_runtime': 1234.5, 'train_samples_per_second': 51.8, 'train_steps_per_second': 0.405, ...}
 *
 *  Rates of the whole run hold its warm-up, evaluation and checkpoints; where the progress bar is logged ("8.32s/it") its
 *  last figures are the steps. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/megatron/megatron.h"

static bool figure(const char *line, const char *name, double *number) {
    const char *at = strstr(line, name);
    if (!at) return false;
    at += strlen(name);
    at += strspn(at, "'\" :");
    char *end = NULL;
    double value = strtod(at, &end);
    if (end == at || !isfinite(value)) return false;
    *number = value;
    return true;
}

static fr_line_kind line_of(const char *line, struct fr_logged_step *step) {
    double steps = 0, samples = 0;
    if (!strstr(line, "train_steps_per_second")) {
        const char *bar = strstr(line, "%|");
        const size_t words = strcspn(line, "0123456789"); /* another's bar has a title */
        if (bar && line + words < bar && strspn(line, " \t") == words &&
            fr_step_bar(line, step))
            return step->number > 0 ? FR_LINE_STEP : FR_LINE_OTHER;
        if (strstr(line, "eval_runtime")) return FR_LINE_EVALUATION;
        if (figure(line, "train_samples_per_second", &samples) && samples > 0)
            step->samples_per_s = samples;
        return FR_LINE_OTHER;
    }
    if (!figure(line, "train_steps_per_second", &steps) || !(steps > 0))
        return FR_LINE_MALFORMED;
    if (!figure(line, "train_samples_per_second", &samples)) samples = step->samples_per_s;
    step->time_s = 1 / steps;
    if (samples > 0 && samples / steps < 1e9) step->batch = floor(samples / steps + 0.5);
    step->samples_per_s = NAN;
    return FR_LINE_STEP;
}

/* The Trainer prints this before its first step:
 *      "  Instantaneous batch size per device = 2", "  Total train batch size (w. parallel, ...) = 128" */
static void facts_of(const char *line, struct fr_run_row *row) {
    static const struct {
        const char *label, *key;
    } facts[] = {{"nstantaneous batch size per device =", "plan.micro_batch"},
                 {"Total train batch size (w. parallel, distributed & accumulation) =",
                  "plan.global_batch"},
                 {"Gradient Accumulation steps =", "note.accumulation"}};
    double value = 0;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (fr_step_number(line, facts[i].label, &value) && value >= 1 && value < 1 << 30)
            fr_run_row_set(row, facts[i].key, "%.0f", value);
    const char *keys[] = {"plan.global_batch", "plan.micro_batch", "note.accumulation"};
    double of[3] = {0};
    for (int i = 0; i < 3; i++) {
        const char *text = fr_run_row_get(row, keys[i]);
        of[i] = text ? atof(text) : 0;
    }
    const double ranks = of[0] / (of[1] * of[2]);
    if (ranks >= 1 && ranks == floor(ranks)) fr_run_row_set(row, "ranks", "%.0f", ranks);
}

/* ---- LLaMA-Factory's and Axolotl's YAML ------------------------------------------------------- */

static void take_model(struct fr_reading *r) {
    const char *title = fr_reading_value(r, "model_name_or_path");
    if (!title) title = fr_reading_value(r, "base_model");
    if (!title || fr_reading_stated(r, "model") || fr_reading_model(r, title)) return;
    fr_reading_tell(r, "model %.100s: no preset is it; give --model FILE, its config.json",
                    title);
}

/* Adapters beside frozen weights: their rank, and on which products. */
static void take_adapters(struct fr_reading *r) {
    const char *kind = fr_reading_value(r, "finetuning_type"),
               *where = fr_reading_value(r, "lora_target");
    if (!kind) kind = fr_reading_value(r, "adapter");
    if (!kind || strcmp(kind, "lora") != 0) return;
    if (!where) where = fr_reading_value(r, "lora_target_modules");
    const bool linear =
                   fr_reading_on(r, "lora_target_linear") || (where && strstr(where, "all")),
               mlp = linear ||
                     (where && (strstr(where, "gate_proj") || strstr(where, "up_proj"))),
               attention =
                   linear || !where || strstr(where, "q_proj") || strstr(where, "v_proj");
    fr_reading_say(r, "model.lora_rank", "%" PRId64,
                   fr_reading_integer(r, "lora_rank", fr_reading_integer(r, "lora_r", 8)));
    fr_reading_say(r, "model.lora_on", mlp ? attention ? "all" : "mlp" : "attention");
}

static void take_lengths(struct fr_reading *r) {
    const bool packs = fr_reading_on(r, "packing") || fr_reading_on(r, "sample_packing") ||
                       fr_reading_on(r, "neat_packing");
    const char *most = fr_reading_value(r, "cutoff_len");
    if (!most) most = fr_reading_value(r, "sequence_len");
    if (most && !packs)
        fr_reading_tell(r,
                        "samples are priced at their greatest length, %.20s tokens: they are "
                        "not packed; give model.sequence=N for their mean",
                        most);
}

static fr_status finish(struct fr_reading *r, struct fr_error *err) {
    int64_t each = fr_reading_integer(
                r, "per_device_train_batch_size",
                fr_reading_integer(r, "train_batch_size",
                                   fr_reading_integer(r, "micro_batch_size", 0))),
            steps = fr_reading_integer(r, "gradient_accumulation_steps", 1);
    const char *fsdp = fr_reading_value(r, "fsdp");
    fr_launched_ranks(r);
    take_model(r);
    take_adapters(r);
    take_lengths(r);
    if (r->settings->n) fr_reading_say(r, "plan.graphs", "none");
    const int64_t ranks =
        fr_reading_stated_integer(r, "ranks", fr_reading_stated_integer(r, "plan.dp", 0));
    if (fr_reading_value(r, "deepspeed"))
        fr_reading_tell(r, "deepspeed %.60s: read that file, too",
                        fr_reading_value(r, "deepspeed"));
    if (each > 0 && each < 1 << 30) fr_reading_say(r, "plan.micro_batch", "%" PRId64, each);
    if (each > 0 && ranks > 0 && steps > 0 && each < 1 << 20 && steps < 1 << 20 &&
        ranks < 1 << 20)
        fr_reading_say(r, "plan.global_batch", "%" PRId64, each * ranks * steps);
    if (fr_reading_on(r, "bf16") || fr_reading_on(r, "fp16"))
        fr_reading_say(r, "model.dtype", fr_reading_on(r, "bf16") ? "bf16" : "fp16");
    if (fr_reading_value(r, "finetuning_type") && /* LLaMA-Factory's default */
        !fr_settings_find(r->settings, "gradient_checkpointing"))
        fr_reading_say(r, "plan.recompute",
                       fr_reading_on(r, "disable_gradient_checkpointing") ? "none" : "full");
    if (fr_settings_find(r->settings, "gradient_checkpointing"))
        fr_reading_say(r, "plan.recompute",
                       fr_reading_on(r, "gradient_checkpointing") ? "full" : "none");
    if (fsdp && strstr(fsdp, "full_shard"))
        fr_reading_say(r, "plan.zero", "3");
    else if (fsdp && strstr(fsdp, "shard_grad_op"))
        fr_reading_say(r, "plan.zero", "2");
    else if (fsdp && strstr(fsdp, "hybrid_shard"))
        return fr_reading_refuse(r, "fsdp", "plan.zero_ranks", err,
                                 "groups whose size is not said");
    return FR_OK;
}

static const struct fr_meaning_row rows[] = {
    FR_REFUSED("finetuning_type", "!full,lora,None", "model.lora_rank",
               "weights that are not trained in another way than by adapters"),
    FR_REFUSED("adapter", "!lora,None", "model.lora_rank",
               "weights that are not trained in another way than by adapters"),
    FR_REFUSED("quantization_bit", "on", "model.weight_dtype", "frozen weights of fewer bits"),
    FR_REFUSED("load_in_4bit", "on", "model.weight_dtype", "frozen weights of fewer bits"),
    FR_REFUSED("load_in_8bit", "on", "model.weight_dtype", "frozen weights of fewer bits"),
    FR_READ("lora_rank"),
    FR_READ("lora_r"),
    FR_SETS("sequence_len", "model.sequence"),
    FR_REFUSED("group_by_length", "on", "model.sequence", "samples of different lengths"),
    FR_SETS("cutoff_len", "model.sequence"),
    FR_SETS("max_seq_length", "model.sequence"),
    FR_SETS_WHERE("world_size", "!0,1,None", "ranks", "{}"),
    {NULL, "", NULL, FR_MEANS_NOTHING, NULL, ""}};

static const char *const signs[] = {"per_device_train_batch_size",
                                    "gradient_checkpointing",
                                    "num_train_epochs",
                                    "log_history",
                                    "num_input_tokens_seen",
                                    "is_world_process_zero",
                                    "finetuning_type",
                                    "base_model",
                                    "sequence_len",
                                    "num_epochs",
                                    NULL};
static const char *const marks[] = {"train_steps_per_second", NULL}, *const hints[] = {"s/it]",
                                                                                       "it/s]",
                                                                                       NULL};

const struct fr_trainer fr_trainer_huggingface = {
    .name = "huggingface",
    .summary = "Hugging Face Trainer's states, arguments and logs",
    .source = "huggingface/transformers, trainer.py, trainer_callback.py and training_args.py",
    .signs = signs,
    .marks = marks,
    .hints = hints,
    .rows = rows,
    .finish = finish,
    .line = line_of,
    .facts = facts_of,
};

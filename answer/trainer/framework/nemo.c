/* NeMo and Megatron-Bridge: recipes and configurations (YAML, or assignments of Python and of the command line), and logs.
 *
 *      "Training epoch 0, iteration 49/49 | lr: ... | global_batch_size: 1024 | ... | train_step_timing in s: 24.00"
 *      "Epoch 0: : 100%|...| 50/50 [23:22<00:00, ..., global_step=49.00, ..., train_step_timing in s=24.00]"
 *      " [2026-04-02 10:00:00] iteration       20/      50 | consumed samples: ... | elapsed time per iteration (ms): ..."
 *
 *  Its settings are Megatron-Core's, in sections: model, ddp, optimizer, train. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/megatron/megatron.h"

static fr_line_kind line_of(const char *line, struct fr_logged_step *step) {
    const char *timing = strstr(line, "train_step_timing in s");
    if (!timing && strstr(line, "global_step=") && strncmp(line, "Epoch", 5) == 0 &&
        fr_step_bar(line, step)) /* of 2023 */
        return FR_LINE_STEP;
    if (!timing) return fr_megatron_line(line, step);
    if (!fr_step_number(timing, "train_step_timing in s=", &step->time_s) &&
        !fr_step_number(timing, "train_step_timing in s:", &step->time_s))
        return FR_LINE_MALFORMED;
    if (!fr_step_number(line, "global_step: ", &step->number))
        fr_step_number(line, "global_step=", &step->number);
    fr_step_number(line, "global_batch_size:", &step->batch);
    return FR_LINE_STEP;
}

/* --compute_dtype of Megatron-Bridge's scripts, and `mixed_precision` of its configuration. */
static void take_precision(struct fr_reading *r) {
    static const struct {
        const char *word, *dtype, *scaling;
    } words[] = {
        {"nvfp4", "fp4", NULL},      {"fp8_mx", "fp8", "block"}, {"fp8_cs", "fp8", "tensor"},
        {"fp8_ds", "fp8", "tensor"}, {"fp8_sc", "fp8", "block"}, {"mxfp8", "fp8", "block"},
        {"fp8", "fp8", "tensor"},    {"fp16", "fp16", NULL},     {"bf16", "bf16", NULL}};
    const char *value = fr_reading_value(r, "compute_dtype");
    if (!value) value = fr_reading_value(r, "mixed_precision");
    if (!value) value = fr_reading_value(r, "trainer.precision");
    if (!value || fr_reading_stated(r, "model.dtype")) return;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strstr(value, words[i].word)) continue;
        fr_reading_say(r, "model.dtype", "%s", words[i].dtype);
        if (words[i].scaling) fr_reading_say(r, "model.fp8_scaling", "%s", words[i].scaling);
        if (strncmp(words[i].dtype, "fp8", 3) == 0 || strcmp(words[i].dtype, "fp4") == 0) {
            bool narrow = fr_reading_on(r, "fp8_param_gather");
            fr_reading_say(r, "model.weight_dtype", "%s", narrow ? words[i].dtype : "bf16");
        }
        bool wide = fr_reading_on(r, "grad_reduce_in_fp32");
        if (!fr_reading_stated(r, "model.gradient_dtype") &&
            (wide || fr_reading_off(r, "grad_reduce_in_fp32")))
            fr_reading_say(r, "model.gradient_dtype", wide ? "fp32" : "bf16");
        return;
    }
}

static void take_model(struct fr_reading *r) {
    static const char *const names[] = {"model_recipe_name", "model_family_name", "recipe",
                                        "hf_model_id", "hf_path"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !fr_reading_stated(r, "model");
         i++) {
        const char *title = fr_reading_value(r, names[i]);
        if (title && !strchr(title, '$')) fr_reading_model(r, title); /* a script may leave it open */
    }
}

static fr_status finish(struct fr_reading *r, struct fr_error *err) {
    const char *ranks = fr_reading_value(r, "num_gpus");
    take_model(r);
    if (ranks && !fr_reading_stated(r, "ranks")) fr_reading_say(r, "ranks", "%s", ranks);
    fr_megatron_defaults(r);
    take_precision(r);
    FR_TRY(fr_megatron_plan(r, err));
    FR_TRY(fr_megatron_model(r, err));
    fr_megatron_bucket(r);
    return FR_OK;
}

static const char *const signs[] = {"model.tensor_model_parallel_size",
                                    "ddp.overlap_grad_reduce",
                                    "ddp.use_distributed_optimizer",
                                    "train.micro_batch_size",
                                    "train.global_batch_size",
                                    "strategy.tensor_model_parallel_size",
                                    "data.global_batch_size",
                                    "model_recipe_name",
                                    "compute_dtype",
                                    "num_gpus",
                                    "dist.use_tp_pp_dp_mapping",
                                    "model.sequence_parallel",
                                    "model.recompute_granularity",
                                    NULL};
static const char *const marks[] = {"train_step_timing in s", "reduced_train_loss=", NULL};

const struct fr_trainer fr_trainer_nemo = {
    .name = "nemo",
    .summary = "NeMo's and Megatron-Bridge's recipes, configurations and logs",
    .source = "NVIDIA/NeMo, lightning/pytorch/callbacks; NVIDIA-NeMo/Megatron-Bridge, "
              "training/config.py; NVIDIA/dgxc-benchmarking, READMEs",
    .emitter = "megatron-bridge",
    .signs = signs,
    .marks = marks,
    .rows = fr_megatron_rows,
    .families = fr_megatron_families,
    .finish = finish,
    .line = line_of,
    .facts = fr_megatron_facts,
};

/* DeepSpeed: its JSON configuration, as a file or printed, and the throughput that it logs.
 *
 *      "[2022-03-11 02:07:14,130] [INFO] [timer.py:189:stop] 0/50, SamplesPerSec=83.73838805358588, MemAllocated=0.26GB, ..."
 *
 *  How layers are divided is the training program's own code: tp, pp and the model are given by hand. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/megatron/megatron.h"

static fr_line_kind line_of(const char *line, struct fr_logged_step *step) {
    const char *at = strstr(line, "SamplesPerSec="), *pipe = strstr(line, "iter time (s):");
    if (pipe && strstr(line, "steps:")) { /* of its pipeline engine */
        fr_step_number(line, "steps:", &step->number);
        return fr_step_number(pipe, "iter time (s):", &step->time_s) ? FR_LINE_STEP
                                                                     : FR_LINE_MALFORMED;
    }
    if (!at) at = strstr(line, "CurrSamplesPerSec=");
    if (!at) return FR_LINE_OTHER;
    if (!fr_step_number(at, "CurrSamplesPerSec=", &step->samples_per_s) &&
        !fr_step_number(at, "SamplesPerSec=", &step->samples_per_s))
        return FR_LINE_MALFORMED;
    const char *number = at;
    while (number > line && *number != '/') number--;
    if (*number == '/') step->number = atof(number + 1);
    if (strstr(line, "global_step=")) fr_step_number(line, "global_step=", &step->number);
    return FR_LINE_STEP;
}

static int64_t stage_of(const struct fr_reading *r) {
    const char *printed = fr_reading_value(r, "zero_config"),
               *at = printed ? strstr(printed, "stage=") : NULL;
    int64_t stage = fr_reading_integer(r, "zero_optimization.stage",
                                       fr_reading_integer(r, "zero_optimization_stage", -1));
    return stage < 0 && at ? strtoll(at + 6, NULL, 10) : stage;
}

static void take_zero(struct fr_reading *r) {
    int64_t stage = stage_of(r), values = fr_reading_integer(r, "reduce_bucket_size", 0);
    bool on = fr_reading_on(r, "zero_optimization.overlap_comm"),
         stated = fr_settings_find(r->settings, "zero_optimization.overlap_comm") != NULL;
    if (stage < 0 && !r->whole) return;
    if (stage < 0 || stage > 3) stage = 0;
    fr_reading_say(r, "plan.zero", "%" PRId64, stage);
    if (stage >= 2 && stated && !on)
        fr_reading_tell(r, "overlap_comm false: ZeRO %" PRId64 " is priced beside the passes",
                        stage);
    if (stage >= 2 && stated && !on) fr_reading_say(r, "note.overlap_comm", "false");
    if (stated || stage == 0)
        fr_reading_say(r, "plan.overlap", stage == 1 && on ? "gradient" : "none");
    if (values > 0 && stage == 1) {
        const char *dtype = fr_reading_stated(r, "model.gradient_dtype");
        fr_reading_say(r, "plan.bucket", "%" PRId64 " B",
                       values * (dtype && strcmp(dtype, "fp32") == 0 ? 4 : 2));
    }
    int64_t some = fr_reading_integer(r, "mics_shard_size", 0);
    if (some > 0) fr_reading_say(r, "plan.zero_ranks", "%" PRId64, some);
}

/* train_batch_size is the product of the other two and the replicas. */
static void take_batches(struct fr_reading *r) {
    int64_t all = fr_reading_integer(r, "train_batch_size", 0),
            micro = fr_reading_integer(r, "train_micro_batch_size_per_gpu", 0),
            steps = fr_reading_integer(r, "gradient_accumulation_steps", 0);
    if (all > 0) fr_reading_say(r, "plan.global_batch", "%" PRId64, all);
    if (micro > 0) fr_reading_say(r, "plan.micro_batch", "%" PRId64, micro);
    if (all < 1 || micro < 1 || micro > 1 << 30 || steps > 1 << 30) return;
    if (steps < 1 || all % (micro * steps) != 0) return;
    fr_reading_say(r, "plan.dp", "%" PRId64, all / micro / steps);
}

static const char *dtype_word(const char *value) {
    if (!value) return NULL;
    if (strstr(value, "32")) return "fp32";
    return strstr(value, "bf") ? "bf16" : strstr(value, "16") ? "fp16" : NULL;
}

static void take_dtype(struct fr_reading *r) {
    bool bf16 = fr_reading_on(r, "bf16.enabled") || fr_reading_on(r, "bfloat16.enabled") ||
                fr_reading_on(r, "bfloat16_enabled"),
         fp16 = fr_reading_on(r, "fp16.enabled") || fr_reading_on(r, "fp16_enabled");
    const char *gradients = dtype_word(fr_reading_value(r, "grad_accum_dtype"));
    if (!gradients) gradients = dtype_word(fr_reading_value(r, "communication_data_type"));
    if (bf16 || fp16 || r->whole)
        fr_reading_say(r, "model.dtype", bf16 ? "bf16" : fp16 ? "fp16" : "fp32");
    if (gradients) fr_reading_say(r, "model.gradient_dtype", "%s", gradients);
}

static fr_status take_offload(struct fr_reading *r, struct fr_error *err) {
    const char *device = fr_reading_value(r, "offload_optimizer.device");
    if (!device) device = fr_reading_value(r, "zero_optimization.offload_optimizer");
    bool optimizer = (device && strcmp(device, "none") != 0) ||
                     fr_reading_on(r, "zero_optimization.cpu_offload");
    bool activations = fr_reading_on(r, "cpu_checkpointing");
    if (device && strcmp(device, "nvme") == 0)
        return fr_reading_refuse(r, "device", "plan.offload", err, "an optimiser on a disk");
    if (optimizer || activations)
        fr_reading_say(r, "plan.offload",
                       optimizer && activations ? "all"
                       : optimizer              ? "optimizer"
                                                : "activations");
    else if (r->whole)
        fr_reading_say(r, "plan.offload", "none");
    if (activations) fr_reading_say(r, "plan.recompute", "full");
    return FR_OK;
}

static fr_status finish(struct fr_reading *r, struct fr_error *err) {
    fr_launched_ranks(r);
    if (!r->settings->n) return FR_OK;
    take_dtype(r);
    take_batches(r);
    fr_reading_say(r, "plan.accumulation", "apart"); /* autograd's own kernels */
    take_zero(r);
    return take_offload(r, err);
}

static const struct fr_meaning_row rows[] = {
    FR_SETS("tensor_parallel.autotp_size", "plan.tp"),
    FR_READ("zero_optimization.offload_optimizer"),
    FR_READ("train_batch_size"),
    FR_READ("train_micro_batch_size_per_gpu"),
    FR_READ("mics_shard_size"),
    FR_READ("gradient_accumulation_steps"),
    FR_READ("zero_optimization.stage"),
    FR_READ("reduce_bucket_size"),
    FR_READ("zero_optimization.overlap_comm"),
    FR_READ("bf16.enabled"),
    FR_READ("fp16.enabled"),
    FR_READ("cpu_checkpointing"),
    FR_READ("grad_accum_dtype"),
    FR_READ("communication_data_type"),
    FR_SETS_WHERE("world_size", "!None,0", "ranks", "{}"),
    FR_REFUSED("offload_param.device", "!none,None", "plan.offload",
               "parameters in the host's memory"),
    FR_REFUSED("zero_hpz_partition_size", "!1,0,None", "plan.zero_ranks",
               "parameters divided on two levels"),
    FR_REFUSED("zero_quantized_weights", "on", NULL, "parameters that go compressed"),
    FR_REFUSED("zero_quantized_gradients", "on", NULL, "gradients that go compressed"),
    FR_REFUSED("sparse_attention.mode", "on", NULL, "sparse attention"),
    FR_REFUSED("progressive_layer_drop.enabled", "on", NULL, "layers that are left out"),
    FR_REFUSED("partition_activations", "on", NULL, "saved activations divided over tp"),
    {NULL, "", NULL, FR_MEANS_NOTHING, NULL, ""}};

static const char *const signs[] = {"train_micro_batch_size_per_gpu",
                                    "train_batch_size",
                                    "zero_optimization.stage",
                                    "gradient_accumulation_steps",
                                    "bf16.enabled",
                                    "fp16.enabled",
                                    NULL};
static const char *const marks[] = {"SamplesPerSec=", "iter time (s):", NULL};

const struct fr_trainer fr_trainer_deepspeed = {
    .name = "deepspeed",
    .summary = "DeepSpeed's JSON and logs",
    .source = "deepspeedai/DeepSpeed, runtime/config.py and utils/timer.py",
    .runtime = "deepspeed-2023",
    .emitter = "deepspeed",
    .signs = signs,
    .marks = marks,
    .rows = rows,
    .finish = finish,
    .line = line_of,
};

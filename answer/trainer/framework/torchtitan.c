/* torchtitan: TOML, options of its command line, its configuration as JSON in a log, and its metrics.
 *
 *      "step: 10  loss: 4.1 ...  memory: 47.54GiB(50.05%)  tps: 5,762  tflops: 309.97  mfu: 31.34%"
 *
 *  tps are tokens a second and device (torchtitan/components/metrics.py).  Options of 2025 count batches in samples of a
 *  replica (local_batch_size), those of 2026 in tokens. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/megatron/megatron.h"

static fr_line_kind line_of(const char *line, struct fr_logged_step *step) {
    const char *at = strstr(line, "step:");
    if (strstr(line, "validate step:")) return FR_LINE_EVALUATION;
    if (strstr(line, "aving the checkpoint") || strstr(line, "aving a full checkpoint"))
        return FR_LINE_CHECKPOINT;
    const char *label = at && strstr(at, "wps:") ? "wps:" : "tps:"; /* its name of 2024 */
    if (!at || !strstr(at, label)) return FR_LINE_OTHER;
    return fr_step_number(at, "step:", &step->number) &&
                   fr_step_number(at, label, &step->tokens_per_s)
               ? FR_LINE_STEP
               : FR_LINE_MALFORMED;
}

/* "Building 2-D device mesh with ['dp_shard', 'tp'], [8, 4]": all ranks. */
static void facts_of(const char *line, struct fr_run_row *row) {
    const char *at = strstr(line, "device mesh with"), *list = at ? strrchr(at, '[') : NULL;
    int64_t ranks = 1;
    if (!list || !isdigit((unsigned char)list[1])) return;
    for (char *end = NULL; *list == '[' || *list == ','; list = end) {
        const int64_t n = strtoll(list + 1, &end, 10);
        if (n < 1 || n > 1 << 20 || ranks > 1 << 20) return;
        ranks *= n;
    }
    if (*list == ']') fr_run_row_set(row, "ranks", "%" PRId64, ranks);
}

static int64_t degree(const struct fr_reading *r, const char *name) {
    int64_t value = fr_reading_integer(r, name, 1);
    return value >= 1 && value < 1 << 20 ? value : 1;
}

/* ---- replicas --------------------------------------------------------------------------------- */

/* Shards of replicas divide parameters; -1 is what the other axes leave of the ranks. */
static void take_replicas(struct fr_reading *r) {
    int64_t replicate = degree(r, "data_parallel_replicate_degree"),
            shard = fr_reading_integer(r, "data_parallel_shard_degree",
                                       fr_reading_integer(r, "data_parallel_degree", -1)),
            ranks = fr_reading_stated_integer(r, "ranks", 0),
            pp = degree(r, "pipeline_parallel_degree"),
            cp = degree(r, "context_parallel_degree"),
            others = degree(r, "tensor_parallel_degree") * pp * cp;
    const char *reshard = fr_reading_value(r, "fsdp_reshard_after_forward");
    if (!r->whole && !r->log && !fr_reading_value(r, "data_parallel_shard_degree")) return;
    if (shard < 1 && ranks > 0 && ranks % others == 0 && ranks / others % replicate == 0)
        shard = ranks / others / replicate;
    if (shard > 1 << 20) return;
    if (shard >= 1) fr_reading_say(r, "plan.dp", "%" PRId64, replicate * shard);
    bool sharded = shard != 1 || (cp > 1 && shard * cp > 1);
    fr_reading_say(r, "plan.zero", sharded ? "3" : "0");
    if (sharded && replicate > 1 && shard >= 1)
        fr_reading_say(r, "plan.zero_ranks", "%" PRId64, shard * cp);
    if (!sharded) {
        fr_reading_say(r, "plan.overlap", "gradient"); /* always beside the backward pass */
        return;
    }
    bool stays = reshard &&
                 (strcmp(reshard, "never") == 0 || (strcmp(reshard, "default") == 0 && pp > 1));
    if (reshard || r->whole || pp > 1)
        fr_reading_say(r, "plan.reshard_after_forward",
                       stays || (!reshard && pp > 1) ? "false" : "true");
}

/* ---- the pipeline ------------------------------------------------------------------------------ */

static void take_pipeline(struct fr_reading *r) {
    static const struct {
        const char *word, *schedule;
        int chunks;
    } words[] = {{"1F1B", "1f1b", 1},
                 {"Interleaved1F1B", "interleaved", 2},
                 {"GPipe", "gpipe", 1},
                 {"ZBVZeroBubble", "zero-bubble-v", 2},
                 {"DualPipeV", "dualpipe-v", 2}};
    const char *schedule = fr_reading_value(r, "pipeline_parallel_schedule");
    int64_t pp = degree(r, "pipeline_parallel_degree"),
            layers = fr_reading_stated_integer(r, "model.layers", 0),
            each = fr_reading_integer(r, "pipeline_parallel_layers_per_stage", 0);
    if (pp < 2) return;
    if (!schedule) schedule = "1F1B";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, schedule) != 0) continue;
        int64_t chunks = words[i].chunks;
        if (chunks > 1 && each > 0 && layers > 0 && layers % pp == 0 && layers / pp % each == 0)
            chunks = layers / pp / each;
        fr_reading_say(r, "plan.schedule", "%s", words[i].schedule);
        if (chunks > 1) fr_reading_say(r, "plan.chunks", "%" PRId64, chunks);
        if (words[i].chunks > 1 && each == 0)
            fr_reading_tell(r, "%s: two chunks a rank, the trainer's default", schedule);
    }
}

static fr_status refuse_schedule(struct fr_reading *r, struct fr_error *err) {
    if (degree(r, "pipeline_parallel_degree") < 2 || fr_reading_stated(r, "plan.schedule"))
        return FR_OK;
    return fr_reading_refuse(r, "pipeline_parallel_schedule", "plan.schedule", err,
                             "an order that no plan here has");
}

/* ---- batches ----------------------------------------------------------------------------------- */

static void take_batches(struct fr_reading *r) {
    int64_t sequence = fr_reading_integer(r, "seq_len",
                                          fr_reading_integer(r, "max_context_length", 0)),
            local = fr_reading_integer(r, "local_batch_size",
                                       fr_reading_integer(r, "training.batch_size", 0)),
            all = fr_reading_integer(r, "global_batch_size", 0),
            pp = degree(r, "pipeline_parallel_degree"),
            dp = fr_reading_stated_integer(r, "plan.dp", 0),
            micro = fr_reading_integer(r, "pipeline_parallel_microbatch_size", 1);
    if (sequence > 0) fr_reading_say(r, "model.sequence", "%" PRId64, sequence);
    int64_t stated = fr_reading_stated_integer(r, "model.sequence", 0),
            tokens = fr_reading_integer(r, "num_tokens_per_train_step", 0),
            some = fr_reading_integer(r, "num_tokens_per_microbatch_per_dp_rank", 0);
    if (stated > 0 && tokens >= stated)
        fr_reading_say(r, "plan.global_batch", "%" PRId64, tokens / stated);
    if (stated > 0 && some >= stated)
        fr_reading_say(r, "plan.micro_batch", "%" PRId64, some / stated);
    if (local < 1 || local > 1 << 30) return;
    if (all < 1 && dp > 0 && dp <= INT64_MAX / local) all = local * dp;
    if (all > 0) fr_reading_say(r, "plan.global_batch", "%" PRId64, all);
    fr_reading_say(r, "plan.micro_batch", "%" PRId64, pp > 1 ? micro : local);
}

/* ---- the rest ----------------------------------------------------------------------------------- */

/* Each N-th layer recomputes: so many of the layers of a chunk. */
static bool take_nth(struct fr_reading *r, const char *option) {
    const int64_t nth = strtoll(option, NULL, 10),
                  pp = fr_reading_stated_integer(r, "plan.pp", 1),
                  chunks = fr_reading_stated_integer(r, "plan.chunks", 1),
                  layers = fr_reading_stated_integer(
                      r, "model.layers", fr_reading_stated_integer(r, "note.model_layers", 0));
    if (nth < 1 || nth > 1 << 20 || pp > 1 << 20 || chunks > 1 << 20) return false;
    if (layers < pp * chunks) return false;
    const int64_t each = layers / (pp * chunks);
    fr_reading_say(r, "plan.recompute", "full");
    if (nth > 1) fr_reading_say(r, "plan.recompute_layers", "%" PRId64, (each + nth - 1) / nth);
    return true;
}

static fr_status take_recompute(struct fr_reading *r, struct fr_error *err) {
    const char *mode = fr_reading_value(r, "activation_checkpoint.mode"),
               *option = fr_reading_value(r, "selective_ac_option");
    if (!mode) return FR_OK;
    if (strcmp(mode, "full") == 0 || strcmp(mode, "none") == 0)
        fr_reading_say(r, "plan.recompute", "%s", mode);
    else if (strcmp(mode, "selective") == 0 && (!option || strcmp(option, "op") == 0))
        fr_reading_say(r, "plan.recompute", "selective_op");
    else if (strcmp(mode, "selective") == 0 && take_nth(r, option))
        return FR_OK;
    else if (strcmp(mode, "selective") == 0)
        return fr_reading_refuse(r, "selective_ac_option", "plan.recompute", err,
                                 "every N-th layer recomputes");
    else
        return fr_reading_refuse(r, "mode", "plan.recompute", err,
                                 "recomputation that no plan says");
    return FR_OK;
}

static void take_kernels(struct fr_reading *r) {
    const char *components = fr_reading_value(r, "compile.components");
    bool compiles = fr_reading_on(r, "compile.enable") || fr_reading_on(r, "training.compile"),
         loss = compiles && (!components || strstr(components, "loss"));
    int64_t tp = degree(r, "tensor_parallel_degree");
    if (r->whole || fr_settings_find(r->settings, "compile.enable"))
        fr_reading_say(r, "plan.loss", "%s",
                       tp > 1 ? loss ? "parallel-compiled" : "parallel"
                       : loss ? "compiled"
                              : "eager");
    if (tp > 1 && (r->whole || fr_settings_find(r->settings, "enable_sequence_parallel"))) {
        bool off = fr_reading_on(r, "no_enable_sequence_parallel") ||
                   fr_reading_off(r, "enable_sequence_parallel");
        fr_reading_say(r, "plan.sequence_parallel", off ? "false" : "true");
    }
    bool async = fr_reading_on(r, "enable_async_tensor_parallel");
    if (r->whole)
        fr_reading_say(r, "plan.overlap_tp", async ? "true" : "false");
    else if (async)
        fr_reading_say(r, "plan.overlap_tp", "true");
}

static void take_dtype(struct fr_reading *r) {
    const char *param = fr_reading_value(r, "mixed_precision_param"),
               *converters = fr_reading_value(r, "model.converters");
    bool fp8 = converters && strstr(converters, "float8"),
         mx = converters && strstr(converters, "mx");
    if (fr_reading_on(r, "float8.enable_float8_linear")) fp8 = true;
    if (fp8 || mx) {
        fr_reading_say(r, "model.dtype", "fp8");
        fr_reading_say(r, "model.weight_dtype", "bf16");
        fr_reading_say(r, "model.fp8_scaling", mx ? "block" : "tensor");
    } else
        fr_reading_say(r, "model.dtype", param && strstr(param, "32") ? "fp32" : "bf16");
    fr_reading_say(r, "model.gradient_dtype", "fp32");
}

/* "llama3" and "8B" name a model that a preset may describe; its sequence is the training's. */
static void take_model(struct fr_reading *r) {
    const char *name = fr_reading_value(r, "model.name"),
               *flavor = fr_reading_value(r, "model.flavor");
    const char *file = fr_reading_value(r, "config_file");
    char title[200];
    if (fr_run_row_get(r->given, "model")) return;
    if (!name && file && !fr_reading_model(r, file)) /* "llama3_8b.toml" of a launch line */
        fr_reading_tell(r, "config_file %.100s: read that file, or give --model", file);
    else if (!name && file)
        fr_reading_tell(r,
                        "config_file %.100s: its model is read from its name; settings in it "
                        "that the launch line does not repeat are not",
                        file);
    if (!name || !flavor) return;
    snprintf(title, sizeof title, "%.60s-%.60s", name, flavor);
    if (fr_reading_model(r, title)) return;
    snprintf(title, sizeof title, "%.60s %.60s", name, flavor);
    if (!fr_reading_model(r, title))
        fr_reading_tell(r, "model %s %s: no preset is it; give model=PRESET", name, flavor);
}

static fr_status finish(struct fr_reading *r, struct fr_error *err) {
    fr_launched_ranks(r);
    take_model(r);
    take_replicas(r);
    take_pipeline(r);
    FR_TRY(refuse_schedule(r, err));
    take_batches(r);
    FR_TRY(take_recompute(r, err));
    if (r->settings->n) {
        take_kernels(r);
        take_dtype(r);
        fr_reading_say(r, "plan.rank_order", "tp-dp-pp");
        fr_reading_say(r, "plan.context", "ring");
        fr_reading_say(r, "plan.etp", "1");              /* experts are whole */
        fr_reading_say(r, "plan.accumulation", "apart"); /* autograd's own kernels */
    }
    return FR_OK;
}

static const struct fr_meaning_row rows[] = {
    FR_SETS("tensor_parallel_degree", "plan.tp"),
    FR_SETS("pipeline_parallel_degree", "plan.pp"),
    FR_SETS("context_parallel_degree", "plan.cp"),
    FR_SETS("expert_parallel_degree", "plan.ep"),
    FR_SETS("training.steps", "plan.iterations"),
    FR_READ("data_parallel_replicate_degree"),
    FR_READ("data_parallel_shard_degree"),
    FR_READ("fsdp_reshard_after_forward"),
    FR_READ("pipeline_parallel_schedule"),
    FR_READ("enable_sequence_parallel"),
    FR_READ("no_enable_sequence_parallel"),
    FR_READ("compile.enable"),
    FR_READ("compile.components"),
    FR_READ("activation_checkpoint.mode"),
    FR_READ("mixed_precision_param"),
    FR_READ("pipeline_parallel_layers_per_stage"),
    FR_READ("pipeline_parallel_microbatch_size"),
    FR_READ("pipeline_parallel_first_stage_less_layers"),
    FR_READ("pipeline_parallel_last_stage_less_layers"),
    FR_READ("pipeline_parallel_split_points"),
    FR_READ("pipeline_parallel_schedule_csv"),
    FR_READ("selective_ac_option"),
    FR_READ("num_tokens_per_train_step"),
    FR_READ("num_pp_microbatches"),
    FR_READ("context_parallel_rotate_method"),
    FR_READ("context_parallel_load_balancer"),
    FR_READ("enable_async_tensor_parallel"),
    FR_READ("num_tokens_per_microbatch_per_dp_rank"),
    FR_REFUSED("expert_tensor_parallel_degree", "!1,0,None", "plan.etp",
               "experts divided in another way"),
    FR_REFUSED("module_fqns_per_model_part", "on", "plan.stage_layers",
               "stages that are lists of modules"),
    FR_REFUSED("enable_cpu_offload", "on", "plan.offload", "parameters in the host's memory"),
    FR_REFUSED("memory_budget", "!1.0,1,0.5,None", "plan.recompute",
               "recomputation by a budget of memory"),
    {NULL, "", NULL, FR_MEANS_NOTHING, NULL, ""}};

static const char *const signs[] = {"parallelism.tensor_parallel_degree",
                                    "parallelism.data_parallel_shard_degree",
                                    "parallelism.pipeline_parallel_degree",
                                    "activation_checkpoint.mode",
                                    "training.local_batch_size",
                                    "training.num_tokens_per_train_step",
                                    "parallelism.data_parallel_replicate_degree",
                                    "model.flavor",
                                    "job.config_file",
                                    NULL};
static const char *const marks[] = {"tps: ", "wps: ", NULL};

const struct fr_trainer fr_trainer_torchtitan = {
    .name = "torchtitan",
    .summary = "torchtitan's TOML, options and metrics",
    .source = "pytorch/torchtitan, torchtitan/config and torchtitan/components/metrics.py",
    .runtime = "torchtitan-2025",
    .signs = signs,
    .marks = marks,
    .rows = rows,
    .emitter = "torchtitan",
    .finish = finish,
    .line = line_of,
    .facts = facts_of,
};

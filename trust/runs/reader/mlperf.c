/* MLPerf Training's closed division: pre-training of GPT-3 and Llama 3.1, and fine-tuning of Llama 2 70B by
 * adapters (LoRA), plans tuned by hand.
 *
 * The table was made from the submitters' logs and configurations.  fp8 and fp4 of any scaling keep values between
 * products at 16 bits; gradients are reduced at the width that a row says.  Attention is fused.  Exchanges
 * hidden under products go with sequence parallelism alone (Megatron-LM asserts it).  Where a
 * row states no order of ranks it is Megatron-LM's, replicas after tp.  Where a log has no step times the
 * time is that of the run without its evaluations by its steps.  A row with an unnamed mesh, or of int8,
 * cannot be used.  Where the row does not say that parameters were gathered in fp8 weights of
 * fp8 runs are held at 16 bits, as that software did by default.
 *
 * Logs state memory too.  Three of Llama 3.1 405B, on H100 and GB200, dp 4 to 16: with the layout of their stages, the
 * embedding and the loss a layer each, they leave 19 to 22 bytes of activations a token, layer and hidden value in flight;
 * with the input of the MLP's activation at 16 bits it would be 27.5, at 8 bits it is 21.0.  So fp8 rows from v5.0 on, whose
 * logs these are, keep it at 8 bits (no column says so).
 *
 * Of fine-tuning the benchmark's rules say what rows leave out: sequences packed to 8192 tokens, adapters of rank 16
 * beside the attention's products, nothing else trained.  Over tp ranks it is sequence parallel, and second adapters'
 * outputs go all to all: SP=1 and LORA_A2A=1 in each of the submitters' configurations that we read
 * (mlcommons/training_results_v4.0, Dell, and v4.1, Dell and ASUSTeK; llama2_70b_lora, configs/config_common.sh and of
 * the systems).  Frozen weights of fp8 runs are held in fp8: at 16 bits, beside
 * the copies that products take, 70 billion would not be on one device, where rows of tp 1 have them.  A
 * row that names no micro-batch has one sample where its replicas' share is one. */
#include "trust/runs/row/machine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {
    "row_id",       "vpp_chunks",      "fp8_recipe",
    "duplicate_of", "gradient_bucket", "distributed_optimizer",
    "rank_order",   "accelerator",     NULL};

static bool is(const struct fr_run_source *in, const char *column, const char *word) {
    return strcmp(fr_run_cell(in, column), word) == 0;
}

/* bf16, fp8 of any scaling, or fp4 of any; NULL: another. */
static const char *dtype_of(const struct fr_run_source *in) {
    const char *precision = fr_run_cell(in, "precision");
    if (strcmp(precision, "bf16") == 0) return "bf16";
    if (fr_run_mentions(precision, "fp8")) return "fp8";
    return fr_run_mentions(precision, "fp4") ? "fp4" : NULL;
}

static fr_run_skip time_of(const struct fr_run_source *in, struct fr_run_row *out) {
    if (fr_run_cell(in, "quality")[0] == 'C') return FR_RUN_QUALITY;
    if (*fr_run_cell(in, "duplicate_of")) return FR_RUN_DUPLICATE;
    bool timed = fr_run_time(in, "measured_step_time_s", 1, out) ||
                 fr_run_time(in, "derived_step_time_wall_s", 1, out);
    return timed ? FR_RUN_USABLE : FR_RUN_NO_TIME;
}

/* Has a replica one sample of an iteration? */
static bool one_sample(const struct fr_run_source *in) {
    int64_t replicas = 0, batch = 0;
    return fr_run_integer(in, "dp", &replicas) &&
           fr_run_integer(in, "global_batch_seqs", &batch) && replicas > 0 && replicas == batch;
}

static fr_run_skip mesh(const struct fr_run_source *in, struct fr_run_row *out) {
    int64_t chunks = 1;
    if (!fr_run_copy(in, "tp", out, "plan.tp") || !fr_run_copy(in, "pp", out, "plan.pp") ||
        !fr_run_copy(in, "accelerators", out, "ranks"))
        return FR_RUN_NO_DEGREES;
    if (!fr_run_copy(in, "global_batch_seqs", out, "plan.global_batch")) return FR_RUN_NO_BATCH;
    if (!fr_run_copy(in, "micro_batch_seqs", out, "plan.micro_batch")) {
        if (!one_sample(in)) return FR_RUN_NO_MICRO_BATCH;
        fr_run_row_set(out, "plan.micro_batch", "1");
    }
    fr_run_copy(in, "cp", out, "plan.cp");
    fr_run_integer(in, "vpp_chunks", &chunks);
    if (chunks > 1) {
        fr_run_row_set(out, "plan.schedule", "interleaved");
        fr_run_row_set(out, "plan.chunks", "%" PRId64, chunks);
    }
    fr_run_row_set(out, "plan.rank_order",
                   is(in, "rank_order", "tp-cp-pp-dp") ? "tp-pp-dp" : "tp-dp-pp");
    return FR_RUN_USABLE;
}

/* "100 MB", or so many values of two bytes. */
static void bucket(const struct fr_run_source *in, struct fr_run_row *out) {
    const char *size = fr_run_cell(in, "gradient_bucket");
    double values = 0;
    if (strstr(size, "elements") && fr_run_number(in, "gradient_bucket", &values))
        fr_run_row_set(out, "plan.bucket", "%.0f B", 2 * values);
    else if (*size)
        fr_run_row_set(out, "plan.bucket", "%s", size);
}

static void options(const struct fr_run_source *in, struct fr_run_row *out) {
    bool pieces = is(in, "tp_comm_overlap", "yes");
    int64_t tp = 1;
    fr_run_integer(in, "tp", &tp);
    if (is(in, "sequence_parallel", "yes") || (pieces && tp > 1))
        fr_run_row_set(out, "plan.sequence_parallel", "true");
    if (pieces && tp > 1) fr_run_row_set(out, "plan.overlap_tp", "true");
    if (is(in, "distributed_optimizer", "zero1")) fr_run_row_set(out, "plan.zero", "1");
    if (is(in, "overlap_grad_reduce", "yes")) {
        fr_run_row_set(out, "plan.overlap", "gradient");
        bucket(in, out);
    }
    if (is(in, "recompute", "full")) fr_run_row_set(out, "plan.recompute", "full");
    if (is(in, "recompute", "selective")) fr_run_row_set(out, "plan.recompute", "selective");
    fr_run_row_set(out, "plan.attention", "flash");
    /* Of each layer: Megatron-Core's enable_cuda_graph and external_cuda_graph, as NeMo passes them on. */
    if (is(in, "cuda_graph", "yes")) fr_run_row_set(out, "plan.graphs", "layers");
}

static void fine_tuning(const struct fr_run_source *in, const char *dtype,
                        struct fr_run_row *out) {
    fr_run_row_set(out, "model.sequence", "8192");
    int64_t tp = 1;
    fr_run_integer(in, "tp", &tp);
    fr_run_row_set(out, "model.lora_rank", "16");
    if (tp > 1) {
        fr_run_row_set(out, "plan.sequence_parallel", "true");
        fr_run_row_set(out, "model.lora_exchange", "all_to_all");
    }
    fr_run_row_set(out, "note.task", "lora");
    if (strcmp(dtype, "bf16") == 0) return;
    fr_run_row_set(out, "model.weight_dtype", "fp8");
    /* No column says so: logs of cp 1 and 8 on Blackwell (168.8 and 82.3 GB) leave 69.96 GB whatever cp is,
     * the weights once, and 18.4 bytes a token, layer and hidden value; kept at 16 bits it would be 24.5,
     * with the input of the MLP's activation at 8, 17.5.  NeMo has an option for it. */
    fr_run_row_set(out, "model.activation_store", "fp8");
}

/* Is a size written here, as in eos-dfw_n64_ngc25.01_nemo, tyche_ngpu256_ngc25.04_nemo and hpg.dgxb200x8.n16? */
static bool is_size(const char *at) {
    if ((*at != '_' && *at != '.') || at[1] != 'n') return false;
    at += strncmp(at + 2, "gpu", 3) == 0 ? 5 : 2;
    return *at >= '0' && *at <= '9';
}

/* What the submitter calls the system, but for how much of it. */
static void set_machine(const struct fr_run_source *in, struct fr_run_row *out) {
    const char *system = fr_run_cell(in, "system"), *end = system;
    while (*end && !is_size(end)) end++;
    fr_run_row_set(out, "note.machine", "%.*s", (int)(end - system), system);
}

/* The release that `framework` names, else that of the round.  Submitters fused attention by cuDNN (`fp8_attention`) before
 * recipes did, in the releases since nemo-24.11, which stands for all before it. */
static const char *runtime_of(const struct fr_run_source *in) {
    static const struct {
        const char *told, *runtime;
    } named[] = {{"maxtext", "maxtext-2025"}, {"ROCm", "primus-2026"},
                 {"LLMBoost", "primus-2026"}, {"25.09", "megatron-bridge-25.09"},
                 {"25.04", "nemo-25.04"},     {"25.01", "nemo-25.02"},
                 {"24.09", "nemo-24.11"},     {"24.04", "nemo-24.11"}};
    const char *accelerator = fr_run_cell(in, "accelerator"), *round = fr_run_cell(in, "round");
    if (strncmp(accelerator, "MI", 2) == 0) return "primus-2026";
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (fr_run_mentions(fr_run_cell(in, "framework"), named[i].told))
            return named[i].runtime;
    if (strcmp(round, "v5.1") >= 0) return "megatron-bridge-25.09";
    return strcmp(round, "v5.0") >= 0 ? "nemo-25.04" : "nemo-24.11";
}

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    fr_run_skip skip = time_of(in, out);
    if (skip != FR_RUN_USABLE) return skip;
    bool adapters = fr_run_mentions(fr_run_cell(in, "model"), "lora");
    const char *dtype = dtype_of(in);
    if (!dtype) return FR_RUN_DTYPE;
    if (!fr_run_find_model(fr_run_cell(in, "model"), out)) return FR_RUN_UNKNOWN_MODEL;
    if (adapters)
        fine_tuning(in, dtype, out);
    else if (!fr_run_copy(in, "sequence", out, "model.sequence"))
        return FR_RUN_NO_SIZES;
    if ((skip = mesh(in, out)) != FR_RUN_USABLE) return skip;
    const char *layers = fr_run_row_get(out, "note.model_layers");
    if (layers && fr_run_mentions(fr_run_cell(in, "stage_layout"), "count as a layer each"))
        fr_run_ends_as_layers(strtoll(layers, NULL, 10), out);
    options(in, out);
    fr_run_memory(in, "measured_max_memory_GB", 1e9, FR_COUNTED_ALLOCATED, out);
    fr_run_row_set(out, "id", "%s", fr_run_cell(in, "row_id"));
    fr_run_row_set(out, "model.dtype", "%s", dtype);
    if (!adapters && strcmp(dtype, "bf16") != 0 &&
        strcmp(fr_run_cell(in, "round"), "v5.0") >= 0)
        fr_run_row_set(out, "model.activation_store", "fp8");
    if (is(in, "gradient_sync_dtype", "bf16"))
        fr_run_row_set(out, "model.gradient_dtype", "bf16");
    if (is(in, "fp8_param_gather", "yes")) fr_run_row_set(out, "model.weight_dtype", "fp8");
    fr_run_row_set(out, "note.device", "%s", fr_run_cell(in, "accelerator"));
    fr_run_set_cluster(out, fr_run_cell(in, "accelerator"));
    fr_run_row_set(out, "runtime", "%s", runtime_of(in));
    fr_run_row_set(out, "note.round", "%s", fr_run_cell(in, "round"));
    set_machine(in, out);
    fr_run_row_set(out, "note.dtype", "%s", dtype);
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_mlperf = {
    .name = "mlperf",
    .summary = "runs of MLPerf Training's closed division, v3.0 to v5.1",
    .source = "mlcommons/training_results_v3.0 to v5.1, result logs and configurations",
    .columns = columns,
    .read = read,
};

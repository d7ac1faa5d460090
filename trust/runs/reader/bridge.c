/* NVIDIA's Megatron-Bridge performance summary: throughput of its pre-training recipes.
 *
 * fp8 of any scaling keeps values between products at 16 bits, and weights at 8 (its mixed_precision.py:
 * fp8_param_gather), of fp4 at 16 (bf16_with_nvfp4_mixed, which keeps no layer at 16 bits).  Fused attention, sequence parallelism with
 * tp, its exchanges hidden under dense products (their recipes' tp_comm_overlap), a distributed optimiser
 * and gradients at 16 bits beside the backward pass; `fsdp` fully sharded; experts whole on their ranks
 * (its recipes' expert_tensor_parallel_size 1), and as evenly loaded as benchmarks make them.  What the tables do not
 * say and its recipes of the release do stands below.  Llama 3 70B
 * fully sharded offloads activations on Grace (scripts/performance/configs/llama/llama3_workload_base_configs.py:
 * cpu_offloading_num_layers 40 on GB200 and 20 on GB300 in fp8, 20 and 30 in bf16, 5 on B200 in fp8), which
 * the tables do not say.  In 26.02.01 they give GB300's rows in MXFP8 and NVFP4 2 samples a micro-batch and no
 * chunks, the latter no stages either, which 288 GB cannot hold; their recipes have 1, 5 and 4, as the rows of other
 * releases.  Values
 * in parentheses belong to another precision of the same row, and such rows are left out, as are
 * dropped tokens and fine-tuning. */
#include "trust/runs/row/machine.h"

#include <inttypes.h>
#include <string.h>

static const char *const columns[] = {
    "dense_or_moe",        "system",     "release", "paired_values_in_parentheses",
    "derived_step_time_s", "dp_derived", NULL};

static const char *dtype_of(const char *precision) {
    if (fr_run_mentions(precision, "fp8")) return "fp8";
    if (fr_run_mentions(precision, "fp4")) return "fp4";
    return fr_run_mentions(precision, "bf16") ? "bf16" : NULL;
}

/* Layers whose activations a fully sharded 70B offloads. */
static int offloaded(const struct fr_run_source *in, const char *dtype) {
    const char *system = fr_run_cell(in, "system");
    bool fp8 = strcmp(dtype, "fp8") == 0;
    if (!fr_run_mentions(fr_run_cell(in, "model"), "LLAMA3_70B")) return 0;
    if (fr_run_mentions(system, "GB200")) return fp8 ? 40 : 20;
    if (fr_run_mentions(system, "GB300")) return fp8 ? 20 : 30;
    return fr_run_mentions(system, "DGX-B200") && fp8 ? 5 : 0;
}

/* ---- what its recipes of a release set, which the tables do not say -----------------------------------------
 *
 * From scripts/performance/configs/qwen and nemotronh (the workload_base_configs.py and llm_pretrain.py of November
 * 2025 to June 2026) and the pull requests that changed them.  What a recipe had before the first release here is
 * not known, but that racks had theirs of the layers in December 2025.
 *
 * Graphs: of attention, router and the way to experts in Qwen3 235B on racks and 30B on DGX B200, of all but the
 * experts in Nemotron 3 Nano (2662, March 2026), of iterations in MXFP8 Qwen3 on Blackwell (4249, "for 26.06";
 * 4606).  Other recipes' hold the router and what follows it alone, and leave attention to the host.
 *
 * Copies of a token, `moe_flex_dispatcher_backend`: one a rank by HybridEP on racks and in Nemotron, of 30B on DGX
 * B300, on B200 since its recipe takes four samples (26.02.01) and on H100 since it takes ep 16; 235B by
 * all-to-all on H100 and B200, on B300 until 3490 (26.04.01: issue 3399).
 *
 * Beside another micro-batch, `moe_a2a_overlap`: off on racks until iterations are graphs, and then on without
 * stages too (4606); elsewhere while a recipe has chunks (1760 and 2669 took both from it). */

/* NeMo containers are named by year, month and patch: "26.02 NeMo Container", "26.02.01 NeMo Container". */
static bool since(const struct fr_run_source *in, const char *release) {
    return strcmp(fr_run_cell(in, "release"), release) >= 0;
}

static bool on(const struct fr_run_source *in, const char *system) {
    return fr_run_mentions(fr_run_cell(in, "system"), system);
}

static bool of(const struct fr_run_source *in, const char *model) {
    return fr_run_mentions(fr_run_cell(in, "model"), model);
}

static bool of_a_rack(const struct fr_run_source *in) {
    return on(in, "GB200") || on(in, "GB300");
}

/* Qwen3 in MXFP8 on Blackwell since 26.06. */
static bool whole(const struct fr_run_source *in) {
    return of(in, "Qwen3") && since(in, "26.06") && !on(in, "H100") &&
           fr_run_mentions(fr_run_cell(in, "precision"), "mxfp8");
}

static const char *graphs(const struct fr_run_source *in) {
    bool attends = of_a_rack(in) ? of(in, "235B") : on(in, "DGX-B200") && of(in, "30B");
    if (whole(in)) return "iteration";
    if (of(in, "Nemotron")) return since(in, "26.02.01") && !on(in, "H100") ? "layers" : "none";
    bool then = since(in, of_a_rack(in) ? "26.02" : "26.02.01");
    return of(in, "Qwen3") && attends && then ? "layers" : "none";
}

/* Neighbours that get a token once: DeepEP's and HybridEP's, of a node or rack each rank for itself. */
static int dispatched(const struct fr_run_source *in) {
    if (of(in, "Nemotron")) return 1;
    if (!of(in, "Qwen3") || !since(in, "26.02")) return 0;
    if (of_a_rack(in) || whole(in)) return 1;
    if (of(in, "235B")) return on(in, "B300") && since(in, "26.04.01") ? 1 : 0;
    if (on(in, "H100")) return since(in, "26.04") ? 8 : 0;
    return on(in, "B300") || since(in, "26.02.01") ? 1 : 0;
}

static bool overlapped(const struct fr_run_source *in, int64_t chunks) {
    if (whole(in)) return true;
    return chunks > 1 && !of_a_rack(in);
}

/* Of the releases that there is a file of, the newest that is no newer. */
static void name_runtime(const struct fr_run_source *in, struct fr_run_row *out) {
    static const char *const releases[] = {"26.06", "26.04", "26.02", "25.11", "25.09"};
    enum { RELEASES = sizeof releases / sizeof *releases };
    int i = 0;
    while (i < RELEASES - 1 && !since(in, releases[i])) i++;
    fr_run_row_set(out, "runtime", "megatron-bridge-%s", releases[i]);
}

/* @return whether the row's micro-batch and chunks are not its recipe's */
static bool mistaken(const struct fr_run_source *in) {
    return strncmp(fr_run_cell(in, "release"), "26.02.01 ", 9) == 0 &&
           fr_run_mentions(fr_run_cell(in, "model"), "LLAMA3_70B") &&
           fr_run_mentions(fr_run_cell(in, "system"), "GB300") &&
           (fr_run_mentions(fr_run_cell(in, "precision"), "MXFP8") ||
            fr_run_mentions(fr_run_cell(in, "precision"), "NVFP4"));
}

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    const char *dtype = dtype_of(fr_run_cell(in, "precision"));
    int64_t tp = 1, chunks = 1;
    double time_s = 0, sharded = 0;
    if (fr_run_cell(in, "quality")[0] == 'C') return FR_RUN_QUALITY;
    if (!fr_run_number(in, "derived_step_time_s", &time_s)) return FR_RUN_NO_TIME;
    if (!fr_run_mentions(fr_run_cell(in, "task"), "pretraining")) return FR_RUN_METHOD;
    if (fr_run_mentions(fr_run_cell(in, "paired_values_in_parentheses"), "true"))
        return FR_RUN_QUALITY;
    if (!dtype) return FR_RUN_DTYPE;
    if (!fr_run_copy(in, "micro_batch_seqs", out, "plan.micro_batch"))
        return FR_RUN_NO_MICRO_BATCH;
    if (!fr_run_copy(in, "global_batch_seqs", out, "plan.global_batch")) return FR_RUN_NO_BATCH;
    if (!fr_run_integer(in, "tp", &tp) || !fr_run_copy(in, "pp", out, "plan.pp"))
        return FR_RUN_NO_DEGREES;
    if (!fr_run_copy(in, "seq", out, "model.sequence")) return FR_RUN_NO_SIZES;
    bool dense = fr_run_mentions(fr_run_cell(in, "dense_or_moe"), "dense");
    if (!fr_run_find_model(fr_run_cell(in, "model"), out))
        return dense ? FR_RUN_UNKNOWN_MODEL : FR_RUN_EXPERTS;
    if (fr_run_mentions(fr_run_cell(in, "model"), "tokendrop"))
        return FR_RUN_METHOD; /* the capacity is not said */
    fr_run_number(in, "fsdp", &sharded);
    fr_run_integer(in, "vp", &chunks);
    if (mistaken(in)) {
        fr_run_row_set(out, "plan.micro_batch", "1");
        fr_run_row_set(out, "plan.pp", "4");
        chunks = 5;
    }
    if (sharded > 0 && offloaded(in, dtype) > 0) {
        fr_run_row_set(out, "plan.offload", "activations");
        fr_run_row_set(out, "plan.offload_layers", "%d", offloaded(in, dtype));
    }
    fr_run_row_set(out, "plan.tp", "%" PRId64, tp);
    fr_run_copy(in, "cp", out, "plan.cp");
    fr_run_copy(in, "gpus", out, "ranks");
    if (!dense && fr_run_copy(in, "ep", out, "plan.ep")) {
        fr_run_row_set(out, "plan.etp", "1");
        if (overlapped(in, chunks)) fr_run_row_set(out, "plan.overlap_experts", "true");
        if (dispatched(in) > 0)
            fr_run_row_set(out, "plan.dispatch_ranks", "%d", dispatched(in));
        fr_run_row_set(out, "plan.graphs", "%s", graphs(in));
    }
    if (chunks > 1) {
        fr_run_row_set(out, "plan.chunks", "%" PRId64, chunks);
        fr_run_row_set(out, "plan.schedule", "interleaved");
    }
    if (tp > 1) fr_run_row_set(out, "plan.sequence_parallel", "true");
    if (tp > 1 && dense) fr_run_row_set(out, "plan.overlap_tp", "true");
    fr_run_row_set(out, "id", "%s", fr_run_cell(in, "row_id"));
    fr_run_row_set(out, "model.dtype", "%s", dtype);
    fr_run_row_set(out, "model.gradient_dtype", "bf16");
    if (strcmp(dtype, "fp8") == 0) fr_run_row_set(out, "model.weight_dtype", "fp8");
    if (fr_run_mentions(fr_run_cell(in, "precision"), "mxfp8"))
        fr_run_row_set(out, "model.fp8_scaling", "block");
    fr_run_row_set(out, "plan.zero", sharded > 0 ? "3" : "1");
    if (sharded <= 0) fr_run_row_set(out, "plan.overlap", "gradient");
    fr_run_row_set(out, "plan.attention", "flash");
    fr_run_row_set(out, "plan.rank_order", "tp-dp-pp");
    fr_run_row_set(out, "note.device", "%s", fr_run_cell(in, "system"));
    fr_run_set_cluster(out, fr_run_cell(in, "system"));
    name_runtime(in, out);
    fr_run_row_set(out, "note.release", "%s", fr_run_cell(in, "release"));
    fr_run_row_set(out, "note.dtype", "%s", dtype);
    fr_run_row_set(out, "note.sharded", sharded > 0 ? "yes" : "no");
    fr_run_row_set(out, "measured_s", "%.9g", time_s);
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_bridge = {
    .name = "bridge",
    .summary = "Megatron-Bridge's performance summary",
    .source = "NVIDIA-NeMo/Megatron-Bridge, docs/performance-summary.md",
    .columns = columns,
    .read = read,
};

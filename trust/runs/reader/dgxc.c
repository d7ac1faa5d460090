/* NVIDIA's DGX Cloud benchmarking recipes: expected performance on H100 (and later) systems.
 *
 * Titles name the model, which a preset describes.  NeMo's Megatron recipes run fused attention,
 * sequence parallelism with tp, a distributed optimiser and gradients reduced at 16 bits beside the
 * backward pass, without recomputation; experts are divided over tp as the other products
 * (Megatron-Core before expert tensor parallelism), and evenly loaded.  Dense ones hide the exchanges of tensor
 * parallelism under products (ub_tp_comm_overlap: true in the configurations of GPT-3 and Nemotron-4 15B,
 * user buffers for H100 in Llama 3.1's); Grok-1's says false.  Fine-tuning packs sequences and freezes
 * weights, and is left out.  Recipes run with fewer layers than the model are runs of a model of so many
 * layers.
 *
 * MaxText and Paxml recipes run fully sharded and recompute, which their configure.sh says and the tables of
 * results do not: MaxText divides over all GPUs of up to 32 nodes and over 16 nodes' in larger jobs, Paxml over 16
 * nodes'.  Llama 2 keeps query_proj, key_proj, value_proj and out_proj (v24.11.1: a custom policy; in bf16
 * the MLP's output besides, which no gradient asks for), Llama 3 the first three (v25.02: save_qkv_proj);
 * Paxml's GPT-3 the same as Llama 2 (Synthetic175BCkpt: SAVE_QKV_OUT_PROJ).  Both hold weights once, at 32 bits,
 * and cast what they gather: with two moments 12 B a parameter, of which our weights' copies are a part.
 *
 * grok1/README.md of v25.05 has a table of plans for GB200 and one for H100; the copy at hand gives rows
 * of 512 H100 the former (tp 4, pp 1), which 80 GB cannot hold.  The latter says tp 4, pp 8, cp 2, ep 8, etp 1 and 8
 * chunks. */
#include "trust/runs/row/machine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {"release",
                                      "title",
                                      "precision",
                                      "grad_accum",
                                      "vp",
                                      "typo_in_source",
                                      "measured_step_time_s",
                                      NULL};

enum { GROUP = 16 * 8, LARGE = 64 * 8 }; /* GPUs that share parameters; of a large job */

static fr_run_skip sharded_degrees(const struct fr_run_source *in, struct fr_run_row *out) {
    const char *title = fr_run_cell(in, "title");
    int64_t gpus = 0;
    bool paxml = fr_run_mentions(title, "Paxml");
    if (!fr_run_integer(in, "gpus", &gpus)) return FR_RUN_NO_DEGREES;
    fr_run_row_set(out, "plan.zero", "3");
    if (gpus > GROUP && (paxml || gpus >= LARGE))
        fr_run_row_set(out, "plan.zero_ranks", "%d", GROUP);
    fr_run_row_set(out, "plan.recompute",
                   fr_run_mentions(title, "LLama3") ? "save_qkv" : "save_qkv_out");
    bool fp8 = fr_run_mentions(fr_run_cell(in, "precision"), "fp8");
    fr_run_row_set(out, "model.optimizer_state", fp8 ? "8 B" : "10 B");
    return FR_RUN_USABLE;
}

/* @return whether the row's plan is the other table's */
static bool other_table(const struct fr_run_source *in) {
    return strcmp(fr_run_cell(in, "file"), "grok1/README.md") == 0 &&
           fr_run_mentions(fr_run_cell(in, "gpu"), "H100") &&
           strcmp(fr_run_cell(in, "pp"), "1") == 0;
}

static fr_run_skip table_degrees(struct fr_run_row *out) {
    fr_run_row_set(out, "plan.tp", "4");
    fr_run_row_set(out, "plan.pp", "8");
    fr_run_row_set(out, "plan.cp", "2");
    fr_run_row_set(out, "plan.ep", "8");
    fr_run_row_set(out, "plan.etp", "1");
    fr_run_row_set(out, "plan.chunks", "8");
    fr_run_row_set(out, "plan.schedule", "interleaved");
    fr_run_row_set(out, "plan.sequence_parallel", "true");
    fr_run_row_set(out, "plan.zero", "1");
    fr_run_row_set(out, "plan.overlap", "gradient");
    return FR_RUN_USABLE;
}

static fr_run_skip degrees(const struct fr_run_source *in, bool sharded,
                           struct fr_run_row *out) {
    int64_t tp = 1, chunks = 1;
    if (sharded) return sharded_degrees(in, out);
    if (other_table(in)) return table_degrees(out);
    if (!fr_run_integer(in, "tp", &tp) || !fr_run_copy(in, "pp", out, "plan.pp"))
        return FR_RUN_NO_DEGREES;
    fr_run_row_set(out, "plan.tp", "%" PRId64, tp);
    fr_run_copy(in, "cp", out, "plan.cp");
    /* With experts some rows count replicas of the experts alone: dp follows from the ranks. */
    if (!fr_run_copy(in, "ep", out, "plan.ep")) fr_run_copy(in, "dp", out, "plan.dp");
    fr_run_integer(in, "vp", &chunks);
    if (chunks > 1) {
        fr_run_row_set(out, "plan.chunks", "%" PRId64, chunks);
        fr_run_row_set(out, "plan.schedule", "interleaved");
    }
    if (tp > 1) {
        fr_run_row_set(out, "plan.sequence_parallel", "true");
        if (!*fr_run_cell(in, "ep") || strcmp(fr_run_cell(in, "ep"), "NA") == 0)
            fr_run_row_set(out, "plan.overlap_tp", "true");
    }
    fr_run_row_set(out, "plan.zero", "1");
    fr_run_row_set(out, "plan.overlap", "gradient");
    return FR_RUN_USABLE;
}

static const char *dtype_of(const char *precision) {
    if (fr_run_mentions(precision, "bf16")) return "bf16";
    return fr_run_mentions(precision, "fp8") ? "fp8" : NULL;
}

/* Paxml and MaxText compile by XLA; NeMo's containers are named as its recipes' releases. */
static const char *runtime_of(const char *title, const char *release) {
    if (fr_run_mentions(title, "MaxText") || fr_run_mentions(title, "Paxml"))
        return "maxtext-2025";
    if (fr_run_mentions(release, "v24.11")) return "nemo-24.11";
    return fr_run_mentions(release, "v25.02") ? "nemo-25.02" : "nemo-25.04";
}

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    const char *title = fr_run_cell(in, "title");
    const char *dtype = dtype_of(fr_run_cell(in, "precision"));
    bool sharded = fr_run_mentions(title, "FSDP") || fr_run_mentions(title, "MaxText") ||
                   fr_run_mentions(title, "Paxml");
    int64_t layers = 0;
    double time_s = 0;
    if (fr_run_cell(in, "quality")[0] == 'C') return FR_RUN_QUALITY;
    if (fr_run_cell(in, "duplicate_of")[0]) return FR_RUN_DUPLICATE;
    if (!fr_run_number(in, "measured_step_time_s", &time_s)) return FR_RUN_NO_TIME;
    if (fr_run_mentions(title, "finetuning")) return FR_RUN_METHOD;
    if (!fr_run_copy(in, "micro_batch_seqs", out, "plan.micro_batch"))
        return FR_RUN_NO_MICRO_BATCH;
    if (!fr_run_copy(in, "global_batch_seqs", out, "plan.global_batch")) return FR_RUN_NO_BATCH;
    if (!fr_run_copy(in, "seq", out, "model.sequence")) return FR_RUN_NO_SIZES;
    if (!dtype) return FR_RUN_DTYPE;
    if (!fr_run_find_model(title, out)) return FR_RUN_UNKNOWN_MODEL;
    const char *all = fr_run_row_get(out, "note.model_layers");
    if (fr_run_integer(in, "layers", &layers) && all && layers < strtoll(all, NULL, 10))
        fr_run_row_set(out, "model.layers", "%" PRId64, layers);
    fr_run_skip skip = degrees(in, sharded, out);
    if (skip != FR_RUN_USABLE) return skip;
    fr_run_copy(in, "gpus", out, "ranks");
    fr_run_row_set(out, "id", "%s", fr_run_cell(in, "row_id"));
    fr_run_row_set(out, "model.dtype", "%s", dtype);
    fr_run_row_set(out, "model.gradient_dtype", "bf16");
    fr_run_row_set(out, "plan.attention", "flash");
    fr_run_row_set(out, "plan.rank_order", "tp-dp-pp");
    fr_run_row_set(out, "note.device", "%s", fr_run_cell(in, "gpu"));
    fr_run_set_cluster(out, fr_run_cell(in, "gpu"));
    fr_run_row_set(out, "runtime", "%s", runtime_of(title, fr_run_cell(in, "release")));
    fr_run_row_set(out, "note.release", "%s", fr_run_cell(in, "release"));
    fr_run_row_set(out, "note.dtype", "%s", dtype);
    fr_run_row_set(out, "note.sharded", "%s", sharded ? "yes" : "no");
    fr_run_row_set(out, "note.whole", "%s", fr_run_row_get(out, "model.layers") ? "no" : "yes");
    fr_run_row_set(out, "measured_s", "%.9g", time_s);
    fr_run_row_set(out, "group", "%s %s, %s, batch %s", fr_run_row_get(out, "model"), dtype,
                   fr_run_cell(in, "gpus"), fr_run_cell(in, "global_batch_seqs"));
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_dgxc = {
    .name = "dgxc",
    .summary = "DGX Cloud benchmarking recipes",
    .source = "NVIDIA/dgxc-benchmarking, README of each recipe",
    .columns = columns,
    .read = read,
};

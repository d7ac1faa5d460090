/* BigScience's logs of training: single iterations of BLOOM and of the models before it.
 *
 * The first iteration after a start is warm-up.  Megatron-DeepSpeed with ZeRO-1; where stages do not
 * divide the layers but divide two more, embedding and logits count as a layer each
 * (--pp-partition-method type:transformer|embedding), so that the first stage and the last have
 * one layer less.  BLOOM's own, in bf16, adds gradients up at 32 bits, and its launches block (tr11-176B-ml/README.md and
 * tr11-176B-ml.slurm); scripts of the models before it, in fp16, say nothing of either.  Gradients are added up
 * in kernels of their own: linear layers are autograd's (bigscience-workshop/Megatron-DeepSpeed, megatron/mpu/layers.py).  Iterations of one plan are runs of one group: what differs between them is noise. */
#include "trust/runs/runs.h"

static const char *const columns[] = {
    "zero", "dtype", "iteration", "measured_iter_time_s", "reported_hw_tflops_per_gpu",
    "note", NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    int64_t layers = 0, pp = 0;
    if (fr_run_mentions(fr_run_cell(in, "quality"), "warm-up")) return FR_RUN_WARM_UP;
    if (!fr_run_time(in, "measured_iter_time_s", 1, out)) return FR_RUN_NO_TIME;
    fr_run_skip skip = fr_run_columns(in, out);
    if (skip != FR_RUN_USABLE) return skip;
    fr_run_row_set(out, "model.dtype", "%s", fr_run_cell(in, "dtype"));
    fr_run_row_set(out, "plan.accumulation", "apart");
    fr_run_row_set(out, "runtime", "deepspeed-2023");
    if (fr_run_mentions(fr_run_cell(in, "dtype"), "bf16")) {
        fr_run_row_set(out, "model.gradient_dtype", "fp32");
        fr_run_row_set(out, "plan.launches", "blocking");
        fr_run_row_set(out, "cluster", "a100-opa");
    }
    if (fr_run_mentions(fr_run_cell(in, "zero"), "ZeRO-1"))
        fr_run_row_set(out, "plan.zero", "1");
    fr_run_row_set(out, "plan.recompute",
                   fr_run_mentions(fr_run_cell(in, "recompute"), "full") ? "full" : "none");
    if (fr_run_integer(in, "layers", &layers) && fr_run_integer(in, "pp", &pp) &&
        layers % pp != 0)
        fr_run_ends_as_layers(layers, out);
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_bloom_log = {
    .name = "bloom_log",
    .summary = "BigScience's logs of training",
    .source = "bigscience-workshop/bigscience, train/*/chronicles.md and reshaping-log.md",
    .columns = columns,
    .read = read,
};

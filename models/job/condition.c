/* When is a fact of a runtime taken? */
#include "models/job/condition.h"

#include "models/job/runtime.h"
#include "models/plan/key.h"

enum { PACKED_SEQUENCE = 4096 };

/* Devices that multiply 4-bit values, each block with a scale: Blackwell. */
static bool scales_blocks(const struct fr_job *job) {
    return job->cluster.device.gemm[FR_FP4].form != NULL;
}

static bool mixture(const struct fr_job *job, const struct fr_plan *plan) {
    (void)plan;
    return job->workload.transformer.experts > 0;
}

/* Does the user say which software runs, by its name or its date?  Recipes that a release publishes for speed are then its
 * own; the framework itself turns what they set on for nobody. */
static bool named(const struct fr_job *job) { return job->runtime && !job->runtime->guessed; }

static bool always(const struct fr_job *job, const struct fr_plan *plan) {
    (void)job, (void)plan;
    return true;
}

static bool divides_sequence(const struct fr_job *job, const struct fr_plan *plan) {
    return job->workload.transformer.sequence % (plan->tp * plan->cp) == 0;
}

static bool divides_optimizer(const struct fr_job *job, const struct fr_plan *plan) {
    return mixture(job, plan) && fr_plan_reduces(plan) && !fr_plan_compresses(plan) &&
           !plan->offload;
}

static bool overlaps(const struct fr_job *job, const struct fr_plan *plan) {
    (void)job;
    return plan->zero != 3 && !plan->blocking && !fr_plan_compresses(plan);
}

static bool overlaps_alone(const struct fr_job *job, const struct fr_plan *plan) {
    return overlaps(job, plan) && plan->tp == 1;
}

static bool has_whole_experts(const struct fr_job *job, const struct fr_plan *plan) {
    (void)job;
    return plan->ep > 1 && plan->tp > 1 && plan->sequence_parallel && plan->zero_ranks == 0;
}

static bool records_iterations(const struct fr_job *job, const struct fr_plan *plan) {
    return mixture(job, plan) && scales_blocks(job) && !plan->blocking;
}

static bool records_named_iterations(const struct fr_job *job, const struct fr_plan *plan) {
    return named(job) && records_iterations(job, plan);
}

/* An innermost unit of more ranks than a node has: a rack. */
static bool records_on_racks(const struct fr_job *job, const struct fr_plan *plan) {
    enum { NODE = 8 };
    const struct fr_levels *levels = &job->cluster.levels;
    return records_iterations(job, plan) && levels->level[fr_levels_near(levels)].ranks > NODE;
}

static bool records_layers(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_device *device = &job->cluster.device;
    return mixture(job, plan) && !scales_blocks(job) && device->gemm[FR_FP8].form &&
           device->fp8_transpose && !plan->blocking;
}

/* Does a rank have several micro-batches in a step?  A replica's samples are pipelined one by one by default. */
static bool has_micro_batches(const struct fr_job *job, const struct fr_plan *plan) {
    int64_t all = fr_job_batch(job, plan) / plan->dp,
            micro = plan->micro_batch ? plan->micro_batch : job->workload.micro_batch;
    return micro >= 0 && all > (micro ? micro : 1);
}

static bool overlaps_experts(const struct fr_job *job, const struct fr_plan *plan) {
    return scales_blocks(job) && has_micro_batches(job, plan) && !plan->blocking;
}

static bool overlaps_named_experts(const struct fr_job *job, const struct fr_plan *plan) {
    return named(job) && overlaps_experts(job, plan);
}

/* Chunks leave another micro-batch beside whose products exchanges run, but on racks. */
static bool overlaps_in_chunks(const struct fr_job *job, const struct fr_plan *plan) {
    return named(job) && mixture(job, plan) && plan->chunks > 1 &&
           has_micro_batches(job, plan) && !records_on_racks(job, plan) && !plan->blocking;
}

static bool divides_products(const struct fr_job *job, const struct fr_plan *plan) {
    return !mixture(job, plan) && plan->tp > 1 && plan->sequence_parallel && !plan->blocking;
}

static bool divides(const struct fr_job *job, const struct fr_plan *plan) {
    (void)job;
    return plan->tp > 1;
}

static bool has_whole_stages(const struct fr_job *job, const struct fr_plan *plan) {
    (void)job;
    return plan->pp > 1 && plan->chunks == 1;
}

static bool sixteen_bit_float(const struct fr_job *job, const struct fr_plan *plan) {
    (void)plan;
    return job->workload.dtype == FR_BF16;
}

static bool has_modules(const struct fr_job *job, const struct fr_plan *plan) {
    (void)plan;
    return job->workload.transformer.predicted > 0;
}

static bool narrow_gradients(const struct fr_job *job, const struct fr_plan *plan) {
    (void)plan;
    return fr_dtype_size_B(job->workload.dtype) <= 2;
}

/* Adapters of Llama 2 70B trained at tp 1 on B200 (MLPerf Training v6.0), where a copy of frozen weights for either pass,
 * as blocks want, would not fit beside what is kept: one scale a tensor. */
static bool eight_bits(const struct fr_job *job, const struct fr_plan *plan) {
    (void)plan;
    return job->workload.dtype == FR_FP8 && scales_blocks(job) &&
           job->workload.transformer.lora_rank == 0;
}

static bool named_eight_bits(const struct fr_job *job, const struct fr_plan *plan) {
    return named(job) && eight_bits(job, plan);
}

static bool has_narrow_modules(const struct fr_job *job, const struct fr_plan *plan) {
    return job->workload.transformer.predicted > 0 && eight_bits(job, plan);
}

static bool has_named_narrow_modules(const struct fr_job *job, const struct fr_plan *plan) {
    return named(job) && has_narrow_modules(job, plan);
}

/* Fine-tuning's samples are short, and packed, into sequences of up to 4096 tokens in recipes; longer ones are tuned on
 * long documents (MLPerf's GovReport at 8192).  A window or cross-attention is not priced beside that. */
static bool packs(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_transformer *t = &job->workload.transformer;
    (void)plan;
    return t->lora_rank > 0 && t->window == 0 && t->cross_layers == 0 && !t->pattern[0] &&
           !job->workload.of_2019 && t->sequence <= PACKED_SEQUENCE;
}

static bool eight_bit_experts(const struct fr_job *job, const struct fr_plan *plan) {
    return job->workload.dtype == FR_FP8 && mixture(job, plan);
}

static bool recomputes_beside_host(const struct fr_job *job, const struct fr_plan *plan) {
    return fr_recomputes_layer(plan->recompute) && !plan->forward &&
           job->cluster.device.host_link_B_per_s > 0;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *words;
    bool (*holds)(const struct fr_job *, const struct fr_plan *);
} rows[] = {
    {"always", "always", always},
    {"tp divides the sequence", "tp above 1 that divides the sequence", divides_sequence},
    {"whole experts", "ep and tp above 1, with sequence_parallel", has_whole_experts},
    {"experts reduced", "mixtures of experts whose gradients are reduced and not compressed",
     divides_optimizer},
    {"gradients reduced",
     "replicas reduce gradients, but with zero 3, compression or blocking launches", overlaps},
    {"gradients reduced, no tp", "the same, with tp 1", overlaps_alone},
    {"experts", "mixtures of experts", mixture},
    {"experts, scaled blocks", "mixtures on devices that scale blocks", records_iterations},
    {"experts, scaled blocks, release named",
     "mixtures on devices that scale blocks, of a named release", records_named_iterations},
    {"experts, racks", "mixtures on racks of devices that scale blocks", records_on_racks},
    {"experts in fp8", "mixtures on earlier devices with fp8", records_layers},
    {"micro-batches, scaled blocks",
     "ep and micro-batches above 1 on devices that scale blocks", overlaps_experts},
    {"micro-batches, scaled blocks, release named",
     "ep and micro-batches above 1 on devices that scale blocks, of a named release",
     overlaps_named_experts},
    {"experts in chunks, release named",
     "mixtures in pipelines of several chunks, but on racks, of a named release",
     overlaps_in_chunks},
    {"further tokens", "models that predict further tokens, in a pipeline", has_modules},
    {"further tokens, scaled blocks",
     "models in fp8 that predict further tokens, on devices that scale blocks",
     has_narrow_modules},
    {"further tokens, scaled blocks, release named",
     "models in fp8 that predict further tokens, on devices that scale blocks, of a named "
     "release",
     has_named_narrow_modules},
    {"16 bits", "products of 16 bits or fewer", narrow_gradients},
    {"fp8, scaled blocks", "fp8 on devices that scale blocks, but adapters", eight_bits},
    {"fp8, scaled blocks, release named",
     "fp8 on devices that scale blocks, of a named release, but adapters", named_eight_bits},
    {"fp8 experts", "mixtures of experts in fp8", eight_bit_experts},
    {"dense, tp", "tp above 1 with sequence_parallel, but mixtures and blocking launches",
     divides_products},
    {"tp", "tp above 1", divides},
    {"stages", "pipelines of one chunk a stage", has_whole_stages},
    {"bf16", "products in bf16", sixteen_bit_float},
    {"layers recomputed, host link",
     "layers that are made again, on devices with a link to their host",
     recomputes_beside_host},
    {"packed samples", "adapters (lora_rank), sequences of at most 4096 tokens", packs},
};
enum { ROWS = sizeof rows / sizeof *rows };

const char *const fr_condition_names[] = {"always",
                                          "tp divides the sequence",
                                          "whole experts",
                                          "experts reduced",
                                          "gradients reduced",
                                          "gradients reduced, no tp",
                                          "experts",
                                          "experts, scaled blocks",
                                          "experts, scaled blocks, release named",
                                          "experts, racks",
                                          "experts in fp8",
                                          "micro-batches, scaled blocks",
                                          "micro-batches, scaled blocks, release named",
                                          "experts in chunks, release named",
                                          "further tokens",
                                          "further tokens, scaled blocks",
                                          "further tokens, scaled blocks, release named",
                                          "16 bits",
                                          "fp8, scaled blocks",
                                          "fp8, scaled blocks, release named",
                                          "fp8 experts",
                                          "dense, tp",
                                          "tp",
                                          "stages",
                                          "bf16",
                                          "layers recomputed, host link",
                                          "packed samples",
                                          NULL};

const char *fr_condition_words(int condition) { return rows[condition].words; }

bool fr_condition_holds(int condition, const struct fr_job *job, const struct fr_plan *plan) {
    return rows[condition].holds(job, plan);
}

/* Why a plan cannot be, as sentences with its numbers (models/outcome/report.h). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "models/outcome/fits/fits.h"
#include "models/outcome/report.h"
#include "models/plan/key.h"
#include "models/price/codec_price.h"
#include "models/price/offload.h"
#include "models/price/pipeline.h"
#include "models/price/seats.h"
#include "models/work/recompute.h"
#include "models/work/transformer.h"

static void reason_eq8(const struct fr_job *job, const struct fr_outcome *out,
                       struct fr_text *text) {
    const struct fr_transformer *t = &job->workload.transformer;
    double p = (double)out->plan.tp;
    double narrowest = t->layers ? fmin((double)t->hidden, (double)t->ffn) : INFINITY;
    for (int i = 0; i < job->workload.n_layers; i++)
        narrowest = fmin(narrowest,
                         fmin(job->workload.layers[i].inputs, job->workload.layers[i].outputs));
    fr_text_addf(text,
                 "ghost = %" PRId64
                 " is not below (n/p)(1 - 1/p) = %g for n = %g, p = %g (Eq. 8): "
                 "the phantom model would not be smaller than the tensor-parallel one",
                 out->plan.ghost, narrowest / p * (1 - 1 / p), narrowest, p);
}

static int64_t listed_layers(const struct fr_plan *plan) {
    int64_t sum = 0;
    for (int i = 0; i < plan->n_stage_layers; i++) sum += plan->stage_layers[i];
    return sum;
}

static void reason_schedule(const struct fr_job *job, const struct fr_outcome *out,
                            struct fr_text *text) {
    const struct fr_plan *plan = &out->plan;
    int64_t micro_batches = fr_pipeline_micro_batches(job, plan);
    struct fr_schedule_args args = {(int32_t)plan->pp, (int32_t)micro_batches,
                                    (int32_t)plan->chunks, plan->order};
    const char *why = plan->schedule->refuses(&args);
    fr_text_addf(text, "%s (pp = %" PRId64 ", %" PRId64 " micro-batches, chunks = %" PRId64 ")",
                 why ? why : "blocking exchanges are priced for one chunk a stage only",
                 plan->pp, micro_batches, plan->chunks);
    if (plan->order)
        fr_text_addf(text, "; it has %d stages, %d micro-batches and %d chunks",
                     plan->order->stages, plan->order->micro_batches, plan->order->chunks);
}

static void reason_idle(const struct fr_job *job, const struct fr_plan *plan,
                        struct fr_text *text) {
    const char *needs = "";
    const struct fr_plan_key *key = fr_plan_idle_key(&job->workload, plan, &needs);
    fr_text_addf(text, "%s would have no effect: it needs %s", key ? key->name : "a key",
                 needs);
}

/* A table of another network or batch says nothing here. */
static void reason_iterations(const struct fr_job *job, const struct fr_outcome *out,
                              struct fr_text *text) {
    const struct fr_plan *plan = &out->plan;
    const struct fr_workload *w = &job->workload;
    int64_t known = w->basis.global_batch ? w->basis.global_batch : w->global_batch,
            batch = fr_job_batch(job, plan);
    fr_text_addf(
        text, "iterations to the loss are unknown for %s at tp = %" PRId64 ", ghost = %" PRId64,
        plan->method->name, plan->tp, plan->ghost);
    if (fr_outcome_lossy(out) > 0)
        fr_text_addf(text,
                     ", compressed as it is (rows of the table with such a \"plan\", or with "
                     "\"compressed\": true)");
    if (w->n_iterations && w->basis.width && w->basis.width != fr_workload_width(w))
        fr_text_addf(text, ": the table is of a width of %" PRId64 ", this is %" PRId64,
                     w->basis.width, fr_workload_width(w));
    else if (w->n_iterations && w->basis.sequence &&
             w->basis.sequence != w->transformer.sequence)
        fr_text_addf(text, ": the table is of a sequence of %" PRId64 ", this is %" PRId64,
                     w->basis.sequence, w->transformer.sequence);
    else if (w->n_iterations && !fr_iterations_apply(w))
        fr_text_addf(text, ": the table is of %" PRId64 " layers, this has %" PRId64,
                     w->basis.layers, fr_workload_depth(w));
    else if (w->n_iterations && batch != known && !w->basis.by_samples)
        fr_text_addf(text,
                     ": the table is of a global batch of %" PRId64 ", this is %" PRId64
                     " (\"scaling\": \"samples\" in it would take it over)",
                     known, batch);
    fr_text_addf(text, "; give them with --set model.iterations=FILE or rank --per-iteration");
}

/* Of a device that nothing but tensors takes memory of, needs are exact as far as they are known. */
static void reason_device(const struct fr_job *job, const struct fr_outcome *out,
                          struct fr_text *text) {
    const struct fr_fits f = fr_fits_of(job, out);
    char need[32], have[32], tensors[32], high[32], percent[FR_FITS_PERCENT];
    fr_text_addf(
        text, "the fullest rank needs %s, the device has %s",
        fr_quantity_format(f.needed_B, FR_QUANTITY_SIZE, need, sizeof need),
        fr_quantity_format(job->cluster.device.memory_B, FR_QUANTITY_SIZE, have, sizeof have));
    if (f.needed_high_B > f.needed_B)
        fr_text_addf(
            text, ": tensors of %s, with what the device shows besides %s to %s, fit with %s",
            fr_quantity_format(out->memory_peak_B, FR_QUANTITY_SIZE, tensors, sizeof tensors),
            fr_quantity_format(f.needed_low_B, FR_QUANTITY_SIZE, need, sizeof need),
            fr_quantity_format(f.needed_high_B, FR_QUANTITY_SIZE, high, sizeof high),
            fr_fits_percent(f.probability, percent));
}

/* The device's memory, the host's, or less than either that the user allows. */
static void reason_memory(const struct fr_job *job, const struct fr_outcome *out,
                          struct fr_text *text) {
    const double host_B = job->cluster.device.host_memory_B;
    char need[32], have[32];
    if (out->memory_spare < FR_FITS_REFUSED)
        reason_device(job, out, text);
    else if (host_B > 0 && out->host_memory_B > host_B)
        fr_text_addf(
            text, "what is offloaded needs %s, a device's share of the host's memory is %s",
            fr_quantity_format(out->host_memory_B, FR_QUANTITY_SIZE, need, sizeof need),
            fr_quantity_format(host_B, FR_QUANTITY_SIZE, have, sizeof have));
    else
        fr_text_addf(
            text, "the fullest rank's tensors take %s, more than --memory-limit allows",
            fr_quantity_format(out->memory_peak_B, FR_QUANTITY_SIZE, need, sizeof need));
}

/* The device may have enough, but not as surely as a search asks for. */
static void reason_unsure(const struct fr_job *job, const struct fr_outcome *out,
                          struct fr_text *text) {
    const struct fr_fits f = fr_fits_of(job, out);
    char need[32], low[32], high[32], have[32], percent[FR_FITS_PERCENT];
    fr_text_addf(
        text, "it fits with %s, less than asked for: it needs %s, %s to %s, the device has %s",
        fr_fits_percent(f.probability, percent),
        fr_quantity_format(f.needed_B, FR_QUANTITY_SIZE, need, sizeof need),
        fr_quantity_format(f.needed_low_B, FR_QUANTITY_SIZE, low, sizeof low),
        fr_quantity_format(f.needed_high_B, FR_QUANTITY_SIZE, high, sizeof high),
        fr_quantity_format(job->cluster.device.memory_B, FR_QUANTITY_SIZE, have, sizeof have));
}

static void reason_host(const struct fr_job *job, struct fr_text *text) {
    bool linked = job->cluster.device.host_link_B_per_s > 0;
    fr_text_addf(text, "offload needs %s: give it with --set cluster.device.%s",
                 linked ? "the rate at which a device's share of the host takes the "
                          "optimiser's step"
                        : "the rate of a device's link to the host's memory",
                 linked ? "host_bandwidth=\"30 GB/s\"" : "host_link=\"25 GB/s\"");
}

/* Sub-graphs divide branches, and whatever else as one rank would. */
static void say_transformer(const struct fr_job *job, const struct fr_plan *plan, int reason,
                            struct fr_text *text) {
    struct fr_plan as_one = *plan;
    if (plan->method->branches) as_one.tp = 1;
    fr_transformer_say(&job->workload, &as_one, reason, text);
}

static void reason_layer_tp(const struct fr_job *job, const struct fr_outcome *out,
                            struct fr_text *text) {
    const struct fr_plan *plan = &out->plan;
    bool transformer = job->workload.transformer.layers > 0;
    int groups = transformer ? FR_GRIDS : job->workload.n_layers;
    if (plan->layer_tp_best && !plan->layer_tp)
        fr_text_addf(text,
                     "no grid per layer of the ranks of a stage fits the model, the batch "
                     "and the memory");
    else if (plan->n_layer_tp != groups)
        fr_text_addf(text, "layer_tp has %d entries, the model %d %s", plan->n_layer_tp, groups,
                     transformer ? "groups: attention, MLP, embedding and logits" : "layers");
    else if (out->engine && !(fr_pipeline_check(job, plan) & FR_BECAUSE(FR_REASON_LAYER_TP)))
        fr_text_addf(text, "a grid per layer is priced by the closed form only");
    else if (transformer)
        say_transformer(job, plan, FR_REASON_LAYER_TP, text);
    else
        fr_text_addf(text,
                     "layer_tp needs method grid, a value a layer, and values that divide the "
                     "ranks and leave a data axis that divides the batch");
}

/* The first layer of which tp does not divide what comes out, or, of phantom, goes in. */
static void reason_width(const struct fr_job *job, const struct fr_plan *plan,
                         struct fr_text *text) {
    const struct fr_transformer *t = &job->workload.transformer;
    double tp = (double)plan->tp;
    size_t before = text->length;
    if (t->layers) say_transformer(job, plan, FR_REASON_WIDTH, text);
    if (t->layers && plan->method->uses_ghost && t->hidden % plan->tp != 0)
        fr_text_addf(text, "%stp = %" PRId64 " does not divide the hidden width of %" PRId64,
                     text->length > before ? "; " : "", plan->tp, t->hidden);
    for (int i = 0; i < job->workload.n_layers; i++) {
        const struct fr_layer *layer = &job->workload.layers[i];
        bool out = fmod(layer->outputs, tp) != 0;
        if (!out && (!plan->method->uses_ghost || fmod(layer->inputs, tp) == 0)) continue;
        fr_text_addf(text, "tp = %" PRId64 " does not divide a layer's %.0f %s", plan->tp,
                     out ? layer->outputs : layer->inputs, out ? "outputs" : "inputs");
        return;
    }
}

/* As many values as neither one for all nor one for each stage; 0: as it should be. */
static int stages_listed(const struct fr_plan *plan, int count) {
    return count > 1 && count != plan->pp ? count : 0;
}

static void reason_power(const struct fr_job *job, const struct fr_outcome *out,
                         struct fr_text *text) {
    const struct fr_device *device = &job->cluster.device;
    if (!device->power.known)
        fr_text_addf(text, "the cluster's device states no power, so energy is unknown");
    else if (!device->clock.known)
        fr_text_addf(text,
                     "the cluster's device states no \"clock\", so what %s does is unknown",
                     out->plan.cap_W && !out->plan.clock_Hz ? "power_cap" : "clock");
    else
        fr_text_addf(text, "a clock of the plan is outside the %.0f to %.0f MHz of the device",
                     device->clock.min_Hz / 1e6, device->clock.max_Hz / 1e6);
}

void fr_report_reason(const struct fr_job *job, const struct fr_outcome *out, int reason,
                      struct fr_text *text) {
    const struct fr_plan *plan = &out->plan;
    if (out->job) job = out->job;
    int64_t batch = fr_job_batch(job, plan);
    char word[FR_RECOMPUTE_TEXT];
    int clocks = stages_listed(plan, plan->n_clock_Hz),
        caps = stages_listed(plan, plan->n_cap_W);
    switch (reason) {
    case FR_REASON_RANKS:
        fr_text_addf(text, "the plan has %" PRId64 " ranks, the cluster holds %" PRId64,
                     out->ranks, fr_levels_largest(&job->cluster.levels));
        break;
    case FR_REASON_MESH:
        fr_text_addf(text, "dp x pp x tp does not make the %" PRId64 " ranks asked for",
                     out->ranks);
        break;
    case FR_REASON_PIPELINE:
        fr_text_addf(text,
                     job->workload.transformer.cross_layers
                         ? "pp = %" PRId64
                           " with several chunks a stage: the encoder's output, "
                           "which cross-attention reads, would travel with messages of some "
                           "and not of others, which have one price"
                         : "pp = %" PRId64 ": a grid per layer is priced without pipeline only",
                     plan->pp);
        break;
    case FR_REASON_STAGES:
        if (clocks || caps)
            fr_text_addf(text, "%s lists %d stages, the plan has pp = %" PRId64,
                         clocks ? "clock" : "power_cap", clocks ? clocks : caps, plan->pp);
        else if (fr_plan_reduces(plan) && plan->compression.gradient_stages > plan->pp)
            fr_text_addf(
                text, "compression.gradient.stages = %" PRId64 ", the plan has pp = %" PRId64,
                plan->compression.gradient_stages, plan->pp);
        else if (job->workload.n_layers)
            fr_text_addf(text, "the model's layers do not make %" PRId64 " stages of %s",
                         plan->pp * plan->chunks,
                         plan->stage_layers ? "the numbers in stage_layers" : "one at least");
        else if (job->workload.stages.listed)
            fr_text_addf(text, "the model lists %d stages, the plan has pp = %" PRId64,
                         job->workload.stages.listed, plan->pp);
        else if (plan->stage_layers)
            fr_text_addf(text,
                         "stage_layers lists %d stages of %" PRId64
                         " layers in all; the plan has pp = %" PRId64 ", the model %" PRId64
                         " layers",
                         plan->n_stage_layers, listed_layers(plan), plan->pp,
                         job->workload.transformer.layers);
        else
            fr_text_addf(text,
                         "the model has %" PRId64 " layers, too few for pp x chunks = %" PRId64
                         "%s",
                         job->workload.transformer.layers, plan->pp * plan->chunks,
                         plan->chunks > 1 ? ", embedding and logits counted as layers" : "");
        break;
    case FR_REASON_METHOD:
        if (job->workload.transformer.lora_rank > 0 && !plan->method->megatron)
            fr_text_addf(text,
                         "lora_rank: adapters are divided as method tensor divides their "
                         "products; how method %s would nobody has said",
                         plan->method->name);
        else if (job->workload.transformer.predicted > 0 && !plan->method->megatron)
            fr_text_addf(text,
                         "predicted_tokens: what predicts a further token is divided as method "
                         "tensor does; "
                         "how method %s would nobody has said",
                         plan->method->name);
        else if (job->workload.transformer.kv_latent > 0 && !plan->method->megatron)
            fr_text_addf(
                text,
                "latent attention is divided by heads, as method tensor does; how method "
                "%s would divide its narrow products nobody has said",
                plan->method->name);
        else if (fr_transformer_is_hybrid(&job->workload.transformer) &&
                 !plan->method->megatron)
            fr_text_addf(text,
                         "pattern: blocks of a hybrid are divided as method tensor divides "
                         "them; how method %s would nobody has said",
                         plan->method->name);
        else
            fr_text_addf(
                text,
                plan->sequence_parallel
                    ? "sequence_parallel has nothing to divide with method %s: what is between "
                      "its products is divided over tp already, by values or by samples"
                    : "experts are divided by methods tensor and grid, not by %s: how a "
                      "router's "
                      "choice meets it nobody has said",
                plan->method->name);
        break;
    case FR_REASON_SCHEDULE:
        reason_schedule(job, out, text);
        break;
    case FR_REASON_NO_CLOSED_FORM:
        fr_text_addf(text,
                     "blocking exchanges (p2p duplex) have no closed form; use --engine event");
        break;
    case FR_REASON_IDLE_KEY:
        reason_idle(job, plan, text);
        break;
    case FR_REASON_OVERLAP:
        fr_text_addf(text,
                     plan->blocking
                         ? "overlap would have no effect where launches block: nothing runs "
                           "beside what the host waits for"
                     : plan->zero == 3
                         ? "overlap would have no effect with zero 3, which gathers parameters "
                           "and scatters gradients beside every pass anyway"
                         : "overlap would have no effect where the gradients of all stages go "
                           "compressed: a codec waits for all of them");
        break;
    case FR_REASON_RECOMPUTE:
        fr_recompute_text(plan->recompute, word, sizeof word);
        if (job->workload.transformer.layers && !plan->method->megatron)
            fr_text_addf(text,
                         "recompute %s is priced for method tensor: what method %s would "
                         "keep nobody has said",
                         word, plan->method->name);
        else if (job->workload.transformer.layers)
            fr_text_addf(text, "recompute %s %s", word,
                         fr_recompute_refused(&job->workload, plan));
        else
            fr_text_addf(text, "recompute is priced for transformers only");
        break;
    case FR_REASON_LOSSY:
        fr_text_addf(
            text, "%.3g of the gradient bytes and %.3g of the backward messages go compressed",
            out->lossy_gradient, out->lossy_backward);
        if (out->lossy_forward > 0)
            fr_text_addf(text, ", and %.3g of the messages forward", out->lossy_forward);
        break;
    case FR_REASON_COMPRESSION:
        fr_text_addf(text, "%s (zero = %" PRId64 ", pp = %" PRId64 ")",
                     fr_codec_refused(job, plan), plan->zero, plan->pp);
        break;
    case FR_REASON_SIZE:
        fr_text_addf(text, "the pipeline has too many passes to go through one by one");
        break;
    case FR_REASON_DTYPE:
        if (job->cluster.device.gemm[job->workload.dtype].form) {
            fr_text_addf(text,
                         "fp4 is a format of a transformer's products by methods tensor and "
                         "grid; what others send between products nobody trains in");
            break;
        }
        fr_text_addf(text, "the cluster's device does not say how fast it is in %s",
                     fr_dtype_names[job->workload.dtype]);
        break;
    case FR_REASON_ZERO_RANKS:
        fr_text_addf(
            text,
            "zero_ranks = %" PRId64 " does not divide the %" PRId64
            " ranks that hold the same parameters (dp x cp%s)",
            plan->zero_ranks, fr_plan_replicas(plan),
            job->workload.transformer.experts ? "; of experts dp x cp x tp / (ep x etp)" : "");
        break;
    case FR_REASON_BATCH:
        fr_text_addf(text, "global_batch = %" PRId64 " is not divisible by dp = %" PRId64,
                     batch, plan->dp);
        break;
    case FR_REASON_MICRO_BATCH:
        fr_text_addf(text,
                     "the %" PRId64
                     " samples of a rank are not divisible by micro_batch = %" PRId64,
                     batch / plan->dp, plan->micro_batch);
        break;
    case FR_REASON_WIDTH:
        reason_width(job, plan, text);
        break;
    case FR_REASON_HEADS:
    case FR_REASON_SEQUENCE:
    case FR_REASON_EXPERTS:
        say_transformer(job, plan, reason, text);
        break;
    case FR_REASON_TOO_WIDE:
        fr_text_addf(
            text, "a layer has fewer output channels than the ranks that should divide them");
        break;
    case FR_REASON_BRANCHES:
        if (job->workload.transformer.layers)
            fr_text_addf(text, "of %" PRId64 " heads (%" PRId64 " of keys and values): ",
                         job->workload.transformer.heads, job->workload.transformer.kv_heads);
        fr_text_addf(text, "%" PRId64 " ways%s must divide the branches (heads)%s", plan->tp,
                     plan->context_heads ? ", times cp," : "",
                     plan->common_subgrid
                         ? ""
                         : ", and the micro-batch, whose samples the common layers share");
        break;
    case FR_REASON_PLACEMENT:
        fr_text_addf(text, "%s",
                     fr_seats_refused(plan)
                         ? fr_seats_refused(plan)
                         : "a grid per layer is priced with linear placement");
        break;
    case FR_REASON_LAYER:
        fr_text_addf(text,
                     "method %s divides fully connected layers only; use grid for convolutions",
                     plan->method->name);
        break;
    case FR_REASON_LAYER_TP:
        reason_layer_tp(job, out, text);
        break;
    case FR_REASON_GHOST:
        fr_text_addf(text, "method %s needs ghost, the number of ghost neurons (at least 1)",
                     plan->method->name);
        break;
    case FR_REASON_GHOST_EQ8:
        reason_eq8(job, out, text);
        break;
    case FR_REASON_MEMORY:
        reason_memory(job, out, text);
        break;
    case FR_REASON_UNSURE:
        reason_unsure(job, out, text);
        break;
    case FR_REASON_ITERATIONS:
        reason_iterations(job, out, text);
        break;
    case FR_REASON_HOST:
        reason_host(job, text);
        break;
    case FR_REASON_POWER:
        reason_power(job, out, text);
        break;
    default:
        break;
    }
}

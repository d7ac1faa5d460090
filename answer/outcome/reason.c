/* Why a plan cannot be, as sentences with its numbers (answer/outcome/report.h). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "answer/outcome/report.h"
#include "base/text.h"
#include "models/outcome/fits/fits.h"
#include "models/plan/key.h"
#include "models/price/codec_price.h"
#include "models/price/offload.h"
#include "models/price/pipeline.h"
#include "models/price/rank_map.h"
#include "models/work/domain.h"
#include "models/work/phantom_stage.h"
#include "models/work/recompute.h"
#include "models/work/transformer.h"
#include "models/workload/attention.h"

static const char *size(double size_B, char *out) {
    return fr_quantity_format(size_B, FR_QUANTITY_SIZE, out, 48);
}

/* Width of the narrowest product, of a transformer of those that are phantom. */
static double narrowest(const struct fr_workload *w, const struct fr_plan *plan) {
    const struct fr_transformer *t = &w->transformer;
    double width = t->layers ? fr_phantom_narrowest(t, plan) : INFINITY;
    for (int i = 0; i < w->n_layers; i++)
        width = fmin(width, fmin(w->layers[i].inputs, w->layers[i].outputs));
    return width;
}

static int64_t listed_layers(const struct fr_plan *plan) {
    int64_t sum = 0;
    for (int i = 0; i < plan->n_stage_layers; i++) sum += plan->stage_layers[i];
    return sum;
}

/* As many values as neither one for all nor one for each stage; 0: as it should be. */
static int stages_listed(const struct fr_plan *plan, int count) {
    return count > 1 && count != plan->pp ? count : 0;
}

static void say_schedule(const struct fr_job *job, const struct fr_outcome *out,
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

static void say_idle_key(const struct fr_job *job, const struct fr_outcome *out,
                         struct fr_text *text) {
    const char *needs = "";
    const struct fr_plan_key *key = fr_plan_idle_key(&job->workload, &out->plan, &needs);
    fr_text_addf(text, "%s would have no effect: it needs %s", key ? key->name : "a key",
                 needs);
}

/* A table of another network or batch says nothing here. */
static void say_iterations(const struct fr_job *job, const struct fr_outcome *out,
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

/* Where only tensors take a device's memory, needs are exact as far as they are known. */
static void say_device(const struct fr_job *job, const struct fr_outcome *out,
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

/* The device may have enough, but not as surely as a search asks for. */
static void say_unsure(const struct fr_job *job, const struct fr_outcome *out,
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

/* Sub-graphs divide branches, and whatever else as one rank would. */
static void say_transformer(const struct fr_job *job, const struct fr_plan *plan, int reason,
                            struct fr_text *text) {
    struct fr_plan as_one = *plan;
    if (plan->method->branches) as_one.tp = 1;
    fr_transformer_say(&job->workload, &as_one, reason, text);
}

static void say_heads(const struct fr_job *job, const struct fr_outcome *out,
                      struct fr_text *text) {
    say_transformer(job, &out->plan, FR_REASON_HEADS, text);
}
static void say_sequence(const struct fr_job *job, const struct fr_outcome *out,
                         struct fr_text *text) {
    say_transformer(job, &out->plan, FR_REASON_SEQUENCE, text);
}
static void say_experts(const struct fr_job *job, const struct fr_outcome *out,
                        struct fr_text *text) {
    say_transformer(job, &out->plan, FR_REASON_EXPERTS, text);
}
static void say_layer_tp(const struct fr_job *job, const struct fr_outcome *out,
                         struct fr_text *text) {
    say_transformer(job, &out->plan, FR_REASON_LAYER_TP, text);
}

static void say_cache(const struct fr_job *job, const struct fr_outcome *out,
                      struct fr_text *text) {
    say_transformer(job, &out->plan, FR_REASON_CACHE, text);
}

/* The first layer of which tp does not divide what comes out, or, of phantom, goes in. */
static void say_width(const struct fr_job *job, const struct fr_outcome *out,
                      struct fr_text *text) {
    const struct fr_plan *plan = &out->plan;
    const struct fr_transformer *t = &job->workload.transformer;
    double tp = (double)plan->tp;
    size_t before = text->length;
    if (t->layers) say_transformer(job, plan, FR_REASON_WIDTH, text);
    if (t->layers && plan->method->uses_ghost && t->hidden % plan->tp != 0)
        fr_text_addf(text, "%stp = %" PRId64 " does not divide the hidden width of %" PRId64,
                     text->length > before ? "; " : "", plan->tp, t->hidden);
    for (int i = 0; i < job->workload.n_layers; i++) {
        const struct fr_layer *layer = &job->workload.layers[i];
        bool uneven = fmod(layer->outputs, tp) != 0;
        if (!uneven && (!plan->method->uses_ghost || fmod(layer->inputs, tp) == 0)) continue;
        fr_text_addf(text, "tp = %" PRId64 " does not divide a layer's %.0f %s", plan->tp,
                     uneven ? layer->outputs : layer->inputs, uneven ? "outputs" : "inputs");
        return;
    }
}

static void say_branches(const struct fr_job *job, const struct fr_outcome *out,
                         struct fr_text *text) {
    const struct fr_transformer *t = &job->workload.transformer;
    if (t->layers)
        fr_text_addf(text, "of %" PRId64 " heads (%" PRId64 " of keys and values): ", t->heads,
                     t->kv_heads);
    fr_text_addf(text, "%" PRId64 " ways%s must divide the branches (heads)%s", out->plan.tp,
                 out->plan.context_heads ? ", times cp," : "",
                 out->plan.common_subgrid
                     ? ""
                     : ", and the micro-batch, whose samples the common layers share");
}

void fr_report_reason(const struct fr_job *of, const struct fr_outcome *out, int reason,
                      struct fr_text *text) {
    const struct fr_job *job = out->job ? out->job : of;
    const struct fr_plan *plan = &out->plan;
    const struct fr_workload *w = &job->workload;
    const struct fr_transformer *t = &w->transformer;
    const struct fr_device *device = &job->cluster.device;
    const int64_t batch = fr_job_batch(job, plan);
    const int clocks = stages_listed(plan, plan->n_clock_Hz),
              caps = stages_listed(plan, plan->n_cap_W);
    char word[FR_RECOMPUTE_TEXT], other[48];
#define WHY(code, condition, ...)                                                              \
    if (reason == FR_REASON_##code && (condition)) {                                           \
        fr_text_addf(text, __VA_ARGS__);                                                       \
        return;                                                                                \
    }
#define WHY_BY(code, condition, function)                                                      \
    if (reason == FR_REASON_##code && (condition)) {                                           \
        function(job, out, text);                                                              \
        return;                                                                                \
    }
#include "answer/outcome/sentences.h"
#undef WHY
#undef WHY_BY
}

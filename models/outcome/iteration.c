/* From the times of a pipeline to its outcome: parts, energy, memory, bytes, what is lossy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/extremes.h"
#include "models/outcome/cost.h"
#include "models/outcome/energy.h"
#include "models/outcome/fits/fits.h"
#include "models/outcome/iteration.h"
#include "models/outcome/moments.h"
#include "models/outcome/recurrence.h"
#include "models/price/lines.h"
#include "models/price/offload.h"
#include "models/price/zero.h"

/* Share of compressed messages in one direction; @p compressed counts those across a boundary. */
static double lossy_share(const struct fr_pipeline *p,
                          double (*compressed)(const struct fr_pipeline *p, int32_t i)) {
    double all = 0, lossy = 0;
    if (!fr_pipeline_codes(p)) return 0;
    for (int32_t i = 0; i < p->args.stages && p->args.stages > 1; i++) {
        all += fr_pipeline_n_messages(p, i);
        lossy += compressed(p, i);
    }
    return lossy > 0 ? lossy / all : 0;
}

double fr_pipeline_lossy_backward(const struct fr_pipeline *p) {
    return lossy_share(p, fr_pipeline_n_compressed);
}

double fr_pipeline_lossy_forward(const struct fr_pipeline *p) {
    return p->codes_forward ? lossy_share(p, fr_pipeline_n_forward_compressed) : 0;
}

/* ---- use of a stage ------------------------------------------------------------------------- */

/* The same where the second chunk comes back: it reads and sends across either boundary, whose messages are
 * alike. */
static double folded_codec_busy_s(const struct fr_pipeline *p, int32_t i) {
    const struct fr_stage *stage = &p->stage[i];
    bool under = i<p->args.stages - 1, above = i> 0;
    double reads = (under ? fr_pipeline_n_read(p, i, 0) : 0) +
                   (above ? fr_pipeline_n_read(p, i, 1) : 0),
           sends = (above ? fr_pipeline_n_read(p, i - 1, 0) : 0) +
                   (under ? fr_pipeline_n_read(p, i + 1, 1) : 0),
           forward = p->codes_forward ? p->args.micro_batches * (under + above) : 0;
    return stage->gradient_codec_s - stage->codec_idle_s + stage->decode_s * reads +
           stage->encode_s * sends +
           (stage->forward_encode_s + stage->forward_decode_s) * forward;
}

/* Time of an iteration that the codecs of the messages across a boundary take: of backward ones on the stage below it
 * and on the one above, of forward ones likewise. */
struct crossing_use {
    double read_s, sent_s, encoded_s, decoded_s;
};

static struct crossing_use crossing_use_of(const struct fr_pipeline *p, int32_t i) {
    const struct fr_stage *stage = &p->stage[i];
    const double n = fr_pipeline_n_compressed(p, i),
                 forward = p->codes_forward ? fr_pipeline_n_forward_compressed(p, i) : 0;
    return (struct crossing_use){stage->decode_s * n, stage->encode_s * n,
                                 stage->forward_encode_s * forward,
                                 stage->forward_decode_s * forward};
}

/* Time that stage @p i spends compressing and decompressing in an iteration: its gradients, what it
 * reads across the boundary above it, what it sends across the one below.
 * @param across  of the boundary below; then of the one above */
static double codec_busy_s(const struct fr_pipeline *p, int32_t i,
                           struct crossing_use *across) {
    const struct fr_stage *stage = &p->stage[i];
    const double gradient_s = stage->gradient_codec_s - stage->codec_idle_s;
    if (!fr_pipeline_codes(p)) return gradient_s;
    if (p->schedule && p->schedule->folds) return folded_codec_busy_s(p, i);
    const struct crossing_use below = *across;
    *across = crossing_use_of(p, i);
    return gradient_s + across->read_s + below.sent_s + across->encoded_s + below.decoded_s;
}

/* Time that one rank of a stage computes in an iteration, codecs aside.  Communication beside a pass counts with the pass.  It
 * is the mean over a stage's ranks: some wait in the passes while others compute for them (cSub). */
static double busy_of(const struct fr_stage *s, double m) {
    return m * (1 - s->idle_share) *
               (fr_pass_s(&s->forward, FR_WITH_LAUNCH) +
                fr_pass_s(&s->backward, FR_WITH_LAUNCH)) +
           s->optimizer_s - s->optimizer_idle_s;
}

/* E = sum over stages of replicas (P_busy busy + P_comm (T - busy)): a rank that does not compute communicates or
 * waits, and polls meanwhile. */
static void add_energy(const struct fr_job *job, const struct fr_pipeline *p, double m,
                       struct fr_outcome *out) {
    const struct fr_power *power = &job->cluster.device.power;
    double replicas = (double)(fr_plan_replicas(&out->plan) * out->plan.tp),
           device_J = power->known ? 0 : NAN, all_s = 0;
    const bool alike = !fr_pipeline_codes(p) && !p->longer_s; /* stages that repeat */
    double passes_s = 0, busy_s = 0, one_J = 0;
    struct crossing_use across = crossing_use_of(p, p->args.stages - 1);
    for (int32_t i = 0; power->known && i < p->args.stages; i++) {
        if (p->stage[i].repeats && alike) {
            device_J += one_J;
            all_s += replicas * busy_s;
            continue;
        }
        if (!p->stage[i].repeats) passes_s = busy_of(&p->stage[i], m);
        busy_s = passes_s + codec_busy_s(p, i, &across) + job->cluster.device.fixed_s +
                 (p->longer_s ? p->busy_longer_s[i] : 0);
        one_J = replicas * (fr_rank_energy_J(&job->cluster.device, p->stage[i].clock_Hz, busy_s,
                                             fr_larger(0, out->time_s - busy_s)) +
                            (p->longer_s ? p->more_J[i] : 0));
        device_J += one_J;
        all_s += replicas * busy_s;
    }
    fr_outcome_add_energy(&job->cluster, device_J, all_s, out);
}

double fr_pipeline_messages_B(const struct fr_pipeline *p, int32_t i) {
    const struct fr_stage *stage = &p->stage[i];
    return p->args.stages > 1 ? 2 * fr_larger(stage->message_B, stage->gathered_B) : 0;
}

/* Each encoder keeps what it lost. */
double fr_pipeline_codecs_B(const struct fr_pipeline *p, int32_t i) {
    const struct fr_stage *stage = &p->stage[i];
    bool folds = p->schedule && p->schedule->folds, top = i == p->args.stages - 1;
    double encoders =
        folds || i == 0 ? p->args.chunks - 1 + (folds && i > 0 && !top) : p->args.chunks;
    int32_t below = i > 0 ? i - 1 : p->args.stages - 1;
    double forward = folds || top ? p->args.chunks - 1 + (folds && i > 0 && !top)
                                  : p->args.chunks; /* likewise */
    return encoders * p->stage[below].message_codec_B + forward * stage->forward_codec_B +
           stage->codec_B;
}

/* The optimiser's own fp32 of what is trained is where parameters are. */
static void keep_wide(const struct fr_workload *w, double trained,
                      double part_B[FR_MEMORY_COUNT]) {
    const double wide_B = fr_dtype_size_B(FR_FP32), moments_B = 2 * wide_B;
    if (w->optimizer_state_B < moments_B + wide_B || fr_dtype_size_B(w->weight_dtype) >= wide_B)
        return;
    part_B[FR_MEMORY_PARAMETERS] = fr_larger(part_B[FR_MEMORY_PARAMETERS], trained * wide_B);
    part_B[FR_MEMORY_OPTIMIZER] -= trained * wide_B;
}

void fr_pipeline_state_B(const struct fr_job *job, const struct fr_plan *plan,
                         const struct fr_stage *stage, double part_B[FR_MEMORY_COUNT]) {
    const struct fr_workload *w = &job->workload;
    const struct fr_device *device = &job->cluster.device;
    part_B[FR_MEMORY_GRADIENTS] = part_B[FR_MEMORY_OPTIMIZER] = 0;
    part_B[FR_MEMORY_PARAMETERS] = fr_zero_stored(plan, stage, 3) *
                                   (plan->forward ? fr_workload_forward_weight_B(w, device)
                                                  : fr_workload_weight_B(w, device));
    if (plan->forward) return;
    part_B[FR_MEMORY_GRADIENTS] =
        fr_zero_trained(plan, stage, 2) * fr_dtype_size_B(w->gradient_dtype);
    if (plan->offload & FR_OFFLOAD_OPTIMIZER) return;
    part_B[FR_MEMORY_OPTIMIZER] = fr_zero_trained(plan, stage, 1) * w->optimizer_state_B;
    if (plan->zero == 3 && fr_plan_reduces(plan) && device->framework.wide_shards > 0)
        keep_wide(w, fr_zero_trained(plan, stage, 1), part_B);
}

struct fr_pipeline_in_flight fr_pipeline_slots_hold(const struct fr_pipeline *p,
                                                    const struct fr_slot *slots) {
    double chunks = p->args.chunks;
    return (struct fr_pipeline_in_flight){
        (double)fr_schedule_in_flight(p->splits_backward, slots, p->n_slots) / chunks,
        (double)fr_schedule_waiting(p->splits_backward, slots, p->n_slots) / chunks};
}

/* One pass after the other of one stage: 1, and none waits. */
struct fr_pipeline_in_flight fr_pipeline_holds(const struct fr_pipeline *p, int32_t i) {
    if (p->in_flight) return p->in_flight[i];
    if (!p->slots) return (struct fr_pipeline_in_flight){1. / p->args.chunks, 0};
    return fr_pipeline_slots_hold(p, p->slots + i * p->n_slots);
}

/* In what stages that are alike differ. */
struct held {
    double codecs_B;
    struct fr_pipeline_in_flight passes;
};

static bool holds_less(const struct held *here, const struct held *before) {
    return here->codecs_B <= before->codecs_B && here->passes.all <= before->passes.all &&
           here->passes.waiting <= before->passes.waiting;
}

/* Memory of the peak rank, at the peak moment of its stage.  Early stages hold the most activations (P - i micro-
 * batches in flight with 1F1B), late ones the logits, so all stages are compared, but for those that cannot be it. */
static void add_memory(const struct fr_job *job, const struct fr_pipeline *p,
                       struct fr_outcome *out) {
    struct held before = {0};
    for (int32_t i = 0; i < p->args.stages; i++) {
        const struct fr_stage *stage = &p->stage[i];
        const struct held here = {fr_pipeline_codecs_B(p, i), fr_pipeline_holds(p, i)};
        double part_B[FR_MEMORY_COUNT], sum_B = 0;
        bool less = stage->alike && holds_less(&here, &before);
        out->cache_B = fr_larger(out->cache_B, stage->cache_B * p->args.micro_batches);
        before = here;
        out->parameters += stage->parameters;
        out->parameters_frozen += stage->frozen;
        if (less) continue;
        out->parameters_rank_max = fr_larger(out->parameters_rank_max, stage->parameters_rank);
        out->host_memory_B =
            fr_larger(out->host_memory_B, fr_offload_host_B(stage, here.passes.all));
        fr_moments_peak(job, &out->plan, p, i, part_B);
        part_B[FR_MEMORY_FRAGMENTATION] =
            fr_memory_fragmentation_B(&job->cluster.device, part_B);
        for (int k = 0; k < FR_MEMORY_COUNT; k++) sum_B += part_B[k];
        if (sum_B <= out->memory_peak_B) continue;
        out->memory_peak_B = sum_B;
        out->peak_stage = i;
        out->peak_rank = p->slots || p->in_flight || !out->plan.method->data_first
                             ? i * fr_plan_pp_stride(&out->plan)
                             : -1;
        memcpy(out->memory_B, part_B, sizeof part_B);
    }
    const double copy_B = job->cluster.device.framework.step_copy_B;
    if (copy_B > 0 && !out->plan.forward)
        out->memory_step_B =
            copy_B * fr_zero_trained(&out->plan, &p->stage[out->peak_stage], 1);
    fr_fits_add(job, out);
}

/* (bytes saved) / (time to compress and decompress): on a faster network the codec costs more
 * than it saves, were all of it exposed. */
static void add_break_even(const struct fr_pipeline *p, struct fr_outcome *out) {
    double codec_s = 0, saved_B = 0, gradient_codec_s = 0, gradient_saved_B = 0, forward_s = 0,
           forward_saved_B = 0;
    for (int32_t i = 0; i < p->args.stages; i++) {
        const struct fr_stage *stage = &p->stage[i];
        bool coded = fr_pipeline_n_compressed(p, i) > 0;
        codec_s += coded ? stage->encode_s + stage->decode_s : 0;
        saved_B += coded ? stage->message_B - stage->small_message_B : 0;
        coded = fr_pipeline_n_forward_compressed(p, i) > 0;
        forward_s += coded ? stage->forward_encode_s + stage->forward_decode_s : 0;
        forward_saved_B += coded ? stage->message_B - stage->small_forward_B : 0;
        gradient_codec_s += stage->gradient_codec_s;
        gradient_saved_B += stage->saved_B;
    }
    if (codec_s > 0) out->break_even_backward_B_per_s = saved_B / codec_s;
    if (forward_s > 0) out->break_even_forward_B_per_s = forward_saved_B / forward_s;
    if (gradient_codec_s > 0)
        out->break_even_gradient_B_per_s = gradient_saved_B / gradient_codec_s;
}

/* The busiest rank's bytes along each axis; ranks of one stage send as much as each other. */
static void add_bytes(const struct fr_pipeline *p, struct fr_outcome *out) {
    for (int32_t i = 0; i < p->args.stages; i++)
        for (int axis = 0; axis < FR_SENT_COUNT; axis++)
            out->sent_B[axis] = fr_larger(out->sent_B[axis], p->stage[i].sent_B[axis]);
}

void fr_pipeline_fill_limits(const struct fr_job *job, const struct fr_pipeline *p,
                             struct fr_outcome *out) {
    out->lossy_gradient = p->gradient_B > 0 ? p->lossy_B / p->gradient_B : 0;
    out->lossy_backward = fr_pipeline_lossy_backward(p);
    out->lossy_forward = fr_pipeline_lossy_forward(p);
    if (isnan(p->stage[0].parameters))
        out->parameters = out->parameters_rank_max = NAN;
    else
        add_memory(job, p, out);
}

void fr_pipeline_fill_still(const struct fr_pipeline *p, struct fr_outcome *out) {
    add_bytes(p, out);
    add_break_even(p, out);
    fr_pipeline_fill_messages(p, out);
}

/* Work that takes no time in any pass is not beside messages. */
void fr_pipeline_fill_messages(const struct fr_pipeline *p, struct fr_outcome *out) {
    uint8_t shown = 1 << FR_BESIDE_REPLICAS;
    out->messages = FR_MESSAGES_NONE;
    for (int32_t i = 0; i < p->args.stages; i++)
        if (p->stage[i].message_s > 0 && p->args.stages > 1)
            out->messages = p->lines ? FR_MESSAGES_IN_ORDER : FR_MESSAGES_ALONE;
    for (int32_t i = 0; p->lines && i < p->args.stages; i++) {
        const struct fr_stage *s = &p->stage[i];
        const double beside_s[FR_BESIDE_REPLICAS] = {
            [FR_BESIDE_TP] = s->forward.tp_s + s->backward.tp_s,
            [FR_BESIDE_CP] = s->forward.cp_s + s->backward.cp_s,
            [FR_BESIDE_EP] = s->forward.ep_s + s->backward.ep_s,
            [FR_BESIDE_DP] = s->forward.dp_s + s->backward.dp_s + s->buckets};
        for (int k = 0; k < FR_BESIDE_REPLICAS; k++)
            if (beside_s[k] > 0) shown |= (uint8_t)(1 << k);
    }
    out->beside = p->lines ? p->lines->beside & shown : 0;
}

void fr_pipeline_fill_energy(const struct fr_job *job, const struct fr_pipeline *p, double m,
                             struct fr_outcome *out) {
    add_energy(job, p, m, out);
    fr_outcome_add_totals(job, out);
}

/* Fill in the rest once time and parts are known. */
static void fill_outcome(const struct fr_job *job, const struct fr_pipeline *p, double m,
                         struct fr_outcome *out) {
    fr_pipeline_fill_limits(job, p, out); /* what is lossy decides the iterations */
    fr_pipeline_fill_still(p, out);
    fr_pipeline_fill_energy(job, p, m, out);
}

/* ---- parts ------------------------------------------------------------------------------------ */

/* One stage that does everything after everything else: no order to follow, nothing hidden. */
static void add_in_a_row(const struct fr_job *job, const struct fr_stage *s, double m,
                         struct fr_outcome *out) {
    out->part_s[FR_PART_COMPUTE] =
        m * (s->forward.compute_s + s->backward.compute_s) + s->optimizer_s;
    out->part_s[FR_PART_LAUNCH] = m * (s->forward.launch_s + s->backward.launch_s);
    out->part_s[FR_PART_FIXED] = job->cluster.device.fixed_s;
    out->part_s[FR_PART_TP_COMM] = m * (s->forward.tp_s + s->backward.tp_s);
    out->part_s[FR_PART_DP_COMM] = s->gradient_s;
    out->part_s[FR_PART_REDISTRIBUTION] = s->redistribution_s;
    out->part_s[FR_PART_COMPRESSION] = s->gradient_codec_s;
    out->time_s = 0;
    for (int i = 0; i < FR_PART_COUNT; i++) out->time_s += out->part_s[i];
}

/* Computation of the stage that computes most: no iteration can be shorter. The rest of the time, once all parts are switched off, is the bubble. */
static double busiest_s(const struct fr_pipeline *p) {
    double most_s = 0;
    for (int32_t i = 0; i < p->args.stages; i++) {
        const struct fr_stage *s = &p->stage[i];
        most_s = fr_larger(most_s, p->args.micro_batches *
                                           (s->forward.compute_s + s->backward.compute_s) +
                                       s->optimizer_s);
    }
    return most_s;
}

/* Each part is what the iteration is shorter by without it, switched off in turn:
 *
 *     part_k = T(without the parts before k) - T(without these and k)
 *
 * The parts add up to the whole exactly, which no attribution by busy time does when work overlaps.  The order is
 * fixed, and a part that others hide entirely shows as 0. */
static fr_status add_parts(const struct fr_job *job, const struct fr_pipeline *p,
                           fr_pipeline_timer *timer, const void *context, double whole_s,
                           struct fr_outcome *out, struct fr_error *err) {
    static const struct {
        int off, part;
    } turns[] = {
        {FR_WITH_CODEC, FR_PART_COMPRESSION}, {FR_WITH_EMBEDDING, FR_PART_EMBEDDING_COMM},
        {FR_WITH_GRADIENTS, FR_PART_DP_COMM}, {FR_WITH_MESSAGES, FR_PART_PP_COMM},
        {FR_WITH_EP, FR_PART_EP_COMM},        {FR_WITH_CP, FR_PART_CP_COMM},
        {FR_WITH_TP, FR_PART_TP_COMM},        {FR_WITH_OFFLOAD, FR_PART_OFFLOAD},
        {FR_WITH_LAUNCH, FR_PART_LAUNCH}};
    double before_s = whole_s;
    int with = FR_WITH_ALL;
    out->time_s = before_s + job->cluster.device.fixed_s;
    for (size_t k = 0; k < sizeof turns / sizeof *turns; k++) {
        struct fr_pipeline_times now = {0};
        with &= ~turns[k].off;
        if (turns[k].off == FR_WITH_EP && out->plan.ep <= 1)
            continue; /* nothing to switch off */
        if (turns[k].off == FR_WITH_CP && out->plan.cp <= 1) continue;
        if (turns[k].off == FR_WITH_OFFLOAD && !out->plan.offload) continue;
        FR_TRY(timer(context, with, &now, err));
        out->part_s[turns[k].part] =
            fr_larger(0, before_s - now.makespan_s); /* but for rounding */
        before_s = now.makespan_s;
    }
    out->part_s[FR_PART_COMPUTE] = busiest_s(p);
    out->part_s[FR_PART_FIXED] = job->cluster.device.fixed_s;
    /* A stage alone waits for nothing: the rest is rounding. */
    out->part_s[FR_PART_BUBBLE] =
        p->args.stages > 1 ? fr_larger(0, before_s - out->part_s[FR_PART_COMPUTE]) : 0;
    return FR_OK;
}

fr_status fr_pipeline_outcome(const struct fr_job *job, const struct fr_pipeline *p,
                              fr_pipeline_timer *timer, const void *context,
                              struct fr_outcome *out, struct fr_error *err) {
    struct fr_pipeline_times times = {0};
    fr_status status = timer(context, FR_WITH_ALL, &times, err);
    if (status == FR_OK) status = add_parts(job, p, timer, context, times.makespan_s, out, err);
    if (status == FR_OK) fill_outcome(job, p, p->args.micro_batches, out);
    return status;
}

/* A pipeline, and where its runs are kept. */
struct timed {
    const struct fr_pipeline *p;
    struct fr_recurrence_cache *cache, *shared;
};

static fr_status recurrence(const void *context, int with, struct fr_pipeline_times *times,
                            struct fr_error *err) {
    const struct timed *timed = context;
    times->cache = timed->cache;
    times->shared = timed->shared;
    return fr_pipeline_run(timed->p, with, times, err);
}

static fr_status cost_in_a_row(const struct fr_job *job, const struct fr_plan *plan,
                               struct fr_outcome *out) {
    struct fr_stage stage = {0};
    struct fr_pipeline p = {.args = {.stages = 1, .micro_batches = 1, .chunks = 1},
                            .stage = &stage};
    double m = (double)fr_pipeline_micro_batches(job, plan);
    FR_TRY(fr_pipeline_price(job, plan, &p, &out->extrapolated, NULL));
    add_in_a_row(job, &stage, m, out);
    fill_outcome(job, &p, m, out);
    return FR_OK;
}

static fr_status cost_by_order(const struct fr_job *job, const struct fr_plan *plan,
                               struct fr_outcome *out) {
    struct fr_pipeline p;
    fr_status status = fr_pipeline_make(job, plan, &p, &out->extrapolated, NULL);
    struct timed timed = {.p = &p};
    if (status == FR_OK &&
        p.lines) { /* parts that take no time change nothing: the last run is theirs */
        timed.cache = fr_recurrence_cache_make(1);
        timed.shared = fr_recurrence_cache_make(1);
    }
    if (status == FR_OK) status = fr_pipeline_outcome(job, &p, recurrence, &timed, out, NULL);
    fr_recurrence_cache_free(timed.cache);
    fr_recurrence_cache_free(timed.shared);
    fr_pipeline_free(&p);
    return status;
}

void fr_pipeline_refuse(const struct fr_plan *plan, fr_reasons reasons,
                        struct fr_outcome *out) {
    memset(out, 0, sizeof *out);
    out->plan = *plan;
    out->ranks = fr_plan_ranks(plan);
    out->reasons = reasons;
    out->time_s = out->energy_J = out->iterations = out->total_time_s = out->total_energy_J =
        out->memory_spare = NAN;
}

void fr_pipeline_cost(const struct fr_job *job, const struct fr_plan *plan,
                      struct fr_outcome *out) {
    bool ordered = fr_job_is_pipeline(job, plan);
    fr_pipeline_refuse(plan, fr_pipeline_check(job, plan), out);
    if (plan->duplex && ordered) out->reasons |= FR_BECAUSE(FR_REASON_NO_CLOSED_FORM);
    if (out->reasons) return;
    if ((ordered ? cost_by_order : cost_in_a_row)(job, plan, out) != FR_OK)
        out->reasons |= FR_BECAUSE(FR_REASON_SIZE);
}

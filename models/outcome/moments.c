#include "models/outcome/moments.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/extremes.h"
#include "models/job/job.h"
#include "models/outcome/iteration.h"
#include "models/price/offload.h"

const char *const fr_moment_names[] = {
#define FR_MOMENT_NAME(code, name) #name,
    FR_MOMENT_LIST(FR_MOMENT_NAME)
#undef FR_MOMENT_NAME
        NULL};

const char *const fr_tensor_names[] = {
#define FR_TENSOR_NAME(code, name, part) #name,
    FR_TENSOR_LIST(FR_TENSOR_NAME)
#undef FR_TENSOR_NAME
        NULL};

static const int part_of[] = {
#define FR_TENSOR_PART(code, name, part) part,
    FR_TENSOR_LIST(FR_TENSOR_PART)
#undef FR_TENSOR_PART
};

/* A stage in an iteration: what it always holds, and its sizes. */
struct view {
    const struct fr_stage *stage;
    const struct fr_moment_sizes *m;
    const struct fr_loss_row *loss;
    double base_B[FR_TENSORS];
    double pass_B;     /* of what layers keep, one pass of one chunk's */
    double ends;       /* micro-batches whose logits are held, the one at work too */
    bool places;       /* weight gradients have theirs for good, */
    bool group_places; /* and of experts */
    bool writes; /* products write weight gradients of their own or ask for the place of one */
    double caller_B; /* a logit that the caller of the loss keeps */
    double copies;   /* of what a layer works with */
    bool frees;      /* a backward pass leaves nothing to a later one */
    /* Gradients come with their backward pass: how wide a value is over what a product writes; 0: they are always there. */
    double comes;
};

/* The ends of a micro-batch between its passes. */
static double between_B(const struct view *v) {
    const struct fr_moment_sizes *m = v->m;
    return m->heads * m->logits * fr_loss_logit_B(&v->loss->in_flight, m->value_B);
}

static double places_B(const struct view *v) {
    return (v->places ? v->m->shapes_B : 0) + (v->group_places ? v->m->grouped_shapes_B : 0);
}

static void view_states(const struct fr_job *job, const struct fr_plan *plan,
                        const struct fr_pipeline *p, int32_t i, struct view *v) {
    const struct fr_framework *f = &job->cluster.device.framework;
    double part_B[FR_MEMORY_COUNT];
    fr_pipeline_state_B(job, plan, v->stage, part_B);
    v->base_B[FR_TENSOR_PARAMETERS] = part_B[FR_MEMORY_PARAMETERS];
    v->base_B[FR_TENSOR_GRADIENTS] = part_B[FR_MEMORY_GRADIENTS];
    v->base_B[FR_TENSOR_OPTIMIZER] = part_B[FR_MEMORY_OPTIMIZER];
    v->base_B[FR_TENSOR_CODECS] = fr_pipeline_codecs_B(p, i);
    v->base_B[FR_TENSOR_WORKING] = v->stage->working_B - v->m->pass_B;
    if (!v->m->known) {
        v->base_B[FR_TENSOR_MESSAGES] = fr_pipeline_messages_B(p, i);
        return;
    }
    v->places = f->dummy_gradients > 0 && !plan->adds_apart && !plan->forward;
    v->group_places = f->dummy_gradients > 1 && v->places;
    v->writes = plan->zero < 2 || !fr_plan_reduces(plan); /* no copy, nothing divided */
    v->base_B[FR_TENSOR_DUMMIES] = places_B(v);
    v->base_B[FR_TENSOR_WORKSPACE] =
        f->workspace_B + (v->m->grouped ? f->grouped_workspace_B : 0);
    if (fr_plan_replicas(plan) > 1 && !plan->forward)
        v->base_B[FR_TENSOR_REDUCED] =
            f->gradient_copy_B * (v->stage->parameters_rank - v->stage->frozen_rank) +
            f->reduce_buffer_B;
}

/* Micro-batches of the stage that are held: as its order of passes says, or in buffers of a graph. */
static struct fr_pipeline_in_flight held_by(const struct fr_framework *f,
                                            const struct fr_pipeline *p, int32_t i) {
    struct fr_pipeline_in_flight in_flight = fr_pipeline_holds(p, i);
    if (f->stage_buffers > 0 && i + 1 < p->args.stages)
        in_flight.all = fr_smaller(f->stage_buffers * p->args.stages, p->args.micro_batches);
    return in_flight;
}

static void view_of(const struct fr_job *job, const struct fr_plan *plan,
                    const struct fr_pipeline *p, int32_t i, struct view *v) {
    const struct fr_stage *s = &p->stage[i];
    const struct fr_moment_sizes *m = &s->moment;
    const struct fr_framework *f = &job->cluster.device.framework;
    const struct fr_pipeline_in_flight holds = held_by(f, p, i);
    double chunks = p->args.chunks, logits_B = m->heads * m->logits * m->value_B,
           rest_B = s->ends_B - logits_B - m->head_B,
           besides_B = m->fused_B +
                       fr_workload_casts(&job->workload, &job->cluster.device) * m->casts_B;
    *v = (struct view){.stage = s, .m = m, .loss = &fr_losses[plan->loss]};
    view_states(job, plan, p, i, v);
    v->ends = chunks > 1 && holds.all > 1 ? 1 : holds.all;
    v->frees = !p->splits_backward;
    v->pass_B = (s->activation_B - s->ends_B - s->offloaded_B + besides_B) / chunks;
    v->base_B[FR_TENSOR_LAYERS] =
        fr_offload_saved_B(s, holds.all, holds.waiting) + holds.all * (besides_B - s->ends_B);
    /* A number that rounding leaves of equal ones is none. */
    if (!(v->base_B[FR_TENSOR_LAYERS] > 1e-9 * holds.all * s->activation_B))
        v->base_B[FR_TENSOR_LAYERS] = 0;
    v->base_B[FR_TENSOR_LAYERS] += s->cache_B * p->args.micro_batches; /* of all samples */
    v->base_B[FR_TENSOR_ENDS] = rest_B > 1e-9 * s->ends_B ? holds.all * rest_B : 0;
    v->caller_B = f->saved_logits * m->value_B;
    bool alone = p->args.stages == 1 && p->args.micro_batches == 1 && !fr_plan_reduces(plan);
    if (alone && m->known && m->heads > 0 && f->frees_gradients > 0 && !plan->forward)
        v->comes = fr_dtype_size_B(job->workload.gradient_dtype) / m->value_B;
    v->copies = p->args.stages > 1 && f->layer_copies > 0 ? f->layer_copies : 1;
    if (p->args.stages > 1 && m->known)
        v->base_B[FR_TENSOR_ENDS] +=
            f->stage_messages * holds.all * fr_larger(s->message_B, s->gathered_B);
    if (m->heads > 0 && v->ends > 1) {
        v->base_B[FR_TENSOR_ENDS] += (v->ends - 1) * (m->head_B + m->normed_B);
        v->base_B[FR_TENSOR_LOGITS] = (v->ends - 1) * between_B(v);
    }
}

/* Has the stage such a moment? */
static bool has(const struct view *v, fr_moment moment) {
    bool loss = v->m->heads > 0;
    switch (moment) {
    case FR_MOMENT_PASS:
        return !v->m->known && !loss;
    case FR_MOMENT_LOSS:
    case FR_MOMENT_LOSS_BACKWARD:
        return loss;
    case FR_MOMENT_HEAD_BACKWARD:
        return v->m->known && loss;
    case FR_MOMENT_LAYER_BACKWARD:
        return v->m->known;
    case FR_MOMENT_EMBEDDING_BACKWARD:
        return v->m->known && v->m->embedded_B > 0;
    default:
        return true;
    }
}

/* Memory of a moment beside the permanent memory; `freed` of the layers' activations is gone. */
struct extra {
    double ends, logits, again, layer, joined, weights, freed;
    double absent; /* gradients that have not come yet */
};

/* The ends of the micro-batch at work, one of whose heads holds @p logit_B a logit. */
static struct extra of_loss(const struct view *v, double logit_B) {
    const struct fr_moment_sizes *m = v->m;
    double others =
        m->heads > 1 ? (m->heads - 1) * fr_loss_logit_B(&v->loss->in_flight, m->value_B) : 0;
    return (struct extra){.ends = m->head_B + m->normed_B,
                          .logits = m->logits * (logit_B + others + v->caller_B)};
}

static struct extra of_head(const struct view *v) {
    const struct fr_moment_sizes *m = v->m;
    double weights = v->loss->weights > 0 ? v->loss->weights : v->writes && !v->places;
    struct extra x =
        of_loss(v, fmin(m->value_B, fr_loss_logit_B(&v->loss->backward, m->value_B)));
    x.joined = m->gathered_B + m->input_B;
    x.weights = weights * m->head_weight_B;
    return x;
}

/* With the last layer all activations are kept, and of gradients the head's alone has come; with the first, one layer's
 * activations, and all gradients but its own and the embedding's.  The larger counts. */
static void come(const struct view *v, struct extra *x) {
    const struct fr_moment_sizes *m = v->m;
    double all_B = v->base_B[FR_TENSOR_GRADIENTS], kept_B = v->base_B[FR_TENSOR_LAYERS],
           head_B = v->comes * m->head_weight_B, layers = fmax(1, m->layers),
           here_B = v->comes > 1 ? v->comes * m->layer_weight_B : 0, /* beside the product's */
        last_B = fmax(0, all_B - head_B - here_B),
           first_B = fmin(all_B, v->comes * m->lookup_B + last_B / layers),
           gone_B = v->frees ? (1 - 1 / layers) * fmin(v->pass_B, kept_B) : 0;
    bool last = gone_B + first_B > last_B;
    x->absent = last ? last_B : first_B;
    x->freed = last ? 0 : gone_B;
}

static struct extra of_layer(const struct view *v) {
    const struct fr_moment_sizes *m = v->m;
    struct extra x = {.again = v->copies * m->again_B,
                      .layer = m->layer_B,
                      .joined = m->joined_B,
                      .weights = v->writes && !v->places ? m->layer_weight_B : 0};
    if (v->comes > 0) come(v, &x);
    return x;
}

/* The layers' activations of its micro-batch are gone. */
static struct extra of_embedding(const struct view *v) {
    const struct fr_moment_sizes *m = v->m;
    return (struct extra){.joined = m->embedded_B,
                          .weights = m->lookup_B,
                          .freed = v->frees ? fr_smaller(v->pass_B, v->base_B[FR_TENSOR_LAYERS])
                                            : 0};
}

/* Gradients that are not there yet: all at the loss; at its head's and at the embedding's backward pass that one, which
 * is the product's own unless it is kept wider. */
static double absent_B(const struct view *v, fr_moment moment, double absent) {
    double all_B = v->base_B[FR_TENSOR_GRADIENTS], own = v->comes > 1 ? v->comes : 0;
    if (v->comes <= 0) return 0;
    switch (moment) {
    case FR_MOMENT_LOSS:
    case FR_MOMENT_LOSS_BACKWARD:
        return all_B;
    case FR_MOMENT_HEAD_BACKWARD:
        return fmax(0, all_B - own * v->m->head_weight_B);
    case FR_MOMENT_EMBEDDING_BACKWARD:
        return v->comes > 1 ? 0 : fmin(all_B, v->m->lookup_B);
    default:
        return absent;
    }
}

/* The bytes of a moment beyond those that are there in every moment, by the list in moments.h. */
static struct extra beyond(const struct view *v, fr_moment moment) {
    struct extra x = {0};
    switch (moment) {
    case FR_MOMENT_LOSS:
        return of_loss(v, fr_loss_logit_B(&v->loss->forward, v->m->value_B));
    case FR_MOMENT_LOSS_BACKWARD:
        x = of_loss(v, fr_loss_logit_B(&v->loss->backward, v->m->value_B));
        x.weights = v->loss->weights * v->m->head_weight_B;
        return x;
    case FR_MOMENT_HEAD_BACKWARD:
        return of_head(v);
    case FR_MOMENT_LAYER_BACKWARD:
        return of_layer(v);
    case FR_MOMENT_EMBEDDING_BACKWARD:
        return of_embedding(v);
    default:
        return x;
    }
}

static struct extra of_moment(const struct view *v, fr_moment moment) {
    struct extra x = beyond(v, moment);
    x.absent = absent_B(v, moment, x.absent);
    return x;
}

static double sum_of(const struct extra *x) {
    return x->ends + x->logits + x->again + x->layer + x->joined + x->weights - x->freed -
           x->absent;
}

/* Tensor by tensor, so that a profiler's snapshot can be held beside it. */
static void add_to(const struct extra *x, double t[FR_TENSORS]) {
    t[FR_TENSOR_LAYERS] -= x->freed;
    t[FR_TENSOR_GRADIENTS] -= x->absent;
    t[FR_TENSOR_ENDS] += x->ends;
    t[FR_TENSOR_LOGITS] += x->logits;
    t[FR_TENSOR_AGAIN] += x->again;
    t[FR_TENSOR_LAYER] += x->layer;
    t[FR_TENSOR_JOINED] += x->joined;
    t[FR_TENSOR_WEIGHTS] += x->weights;
}

/* The peak is the largest of the moments that the stage has.  Only their differences are compared, since the permanent
 * part is in all of them.  A step holds no more than any pass, so it is no candidate. */
fr_moment fr_moments_peak(const struct fr_job *job, const struct fr_plan *plan,
                          const struct fr_pipeline *p, int32_t i,
                          double part_B[FR_MEMORY_COUNT]) {
    struct view v;
    struct extra peak = {0};
    double most_B = -HUGE_VAL;
    fr_moment at = FR_MOMENT_PASS;
    view_of(job, plan, p, i, &v);
    for (int moment = 0; moment < FR_MOMENT_STEP; moment++) {
        if (!has(&v, (fr_moment)moment)) continue;
        const struct extra x = of_moment(&v, (fr_moment)moment);
        double sum_B = sum_of(&x);
        if (sum_B <= most_B) continue;
        most_B = sum_B;
        at = (fr_moment)moment;
        peak = x;
    }
    add_to(&peak, v.base_B);
    for (int k = 0; k < FR_MEMORY_COUNT; k++) part_B[k] = 0;
    for (int k = 0; k < FR_TENSORS; k++) part_B[part_of[k]] += v.base_B[k];
    return at;
}

double fr_moments_of(const struct fr_job *job, const struct fr_plan *plan,
                     const struct fr_pipeline *p, int32_t i, fr_moment moment,
                     struct fr_moment_memory *memory) {
    struct view v;
    double sum_B = 0;
    view_of(job, plan, p, i, &v);
    if (!has(&v, moment)) return -1;
    const struct extra x = of_moment(&v, moment);
    add_to(&x, v.base_B);
    if (moment == FR_MOMENT_STEP)
        for (int k = FR_TENSOR_LAYERS; k < FR_TENSORS; k++)
            if (k < FR_TENSOR_DUMMIES || k > FR_TENSOR_CODECS) v.base_B[k] = 0;
    memcpy(memory->tensor_B, v.base_B, sizeof v.base_B);
    for (int k = 0; k < FR_TENSORS; k++) sum_B += v.base_B[k];
    return sum_B;
}

/* The pipeline of an outcome's plan, priced once more: one stage on its own in @p alone, or in an order. */
static bool price(const struct fr_job *job, const struct fr_outcome *out,
                  struct fr_stage *alone, struct fr_pipeline *p) {
    uint32_t extrapolated = 0;
    *alone = (struct fr_stage){0};
    *p = (struct fr_pipeline){.args = {.stages = 1, .micro_batches = 1, .chunks = 1},
                              .stage = alone};
    if (!isfinite(out->time_s) || !isfinite(out->parameters)) return false;
    if (!fr_job_is_pipeline(job, &out->plan))
        return fr_pipeline_price(job, &out->plan, p, &extrapolated, NULL) == FR_OK;
    if (fr_pipeline_make(job, &out->plan, p, &extrapolated, NULL) == FR_OK) return true;
    fr_pipeline_free(p);
    return false;
}

static void release(const struct fr_job *job, const struct fr_outcome *out,
                    struct fr_pipeline *p) {
    if (fr_job_is_pipeline(job, &out->plan)) fr_pipeline_free(p);
}

bool fr_moments_of_peak_stage(const struct fr_job *job, const struct fr_outcome *out,
                              struct fr_moment_memory memory[FR_MOMENTS],
                              double total_B[FR_MOMENTS]) {
    struct fr_stage alone;
    struct fr_pipeline p;
    if (!price(job, out, &alone, &p)) return false;
    for (int k = 0; k < FR_MOMENTS; k++)
        total_B[k] = fr_moments_of(job, &out->plan, &p, (int32_t)out->peak_stage, (fr_moment)k,
                                   &memory[k]);
    release(job, out, &p);
    return true;
}

/* ---- over time ------------------------------------------------------------------------------------ */

/* The most of moments @p from to @p to that the stage has. */
static double most_of(const struct view *v, int from, int to) {
    double most_B = 0;
    for (int k = from; k <= to; k++) {
        if (!has(v, (fr_moment)k)) continue;
        const struct extra x = of_moment(v, (fr_moment)k);
        most_B = fr_larger(most_B, sum_of(&x) + x.freed + x.absent);
    }
    return most_B;
}

/* Only the model's last chunk makes logits, and only its first looks words up. */
static double of_pass_B(const struct view *v, const struct fr_slot *slot, int chunks) {
    bool last = slot->chunk == chunks - 1;
    switch (slot->kind) {
    case FR_SLOT_FORWARD:
        return last ? most_of(v, FR_MOMENT_LOSS, FR_MOMENT_LOSS) : 0;
    case FR_SLOT_BACKWARD:
        return most_of(v, last ? FR_MOMENT_LOSS_BACKWARD : FR_MOMENT_LAYER_BACKWARD,
                       FR_MOMENT_LAYER_BACKWARD);
    default:
        return 0;
    }
}

/* Walk the peak stage's slots and count micro-batches in flight: a forward pass adds one at its end, the pass that
 * frees activations (backward, or weight where it is split) takes one away. Memory in a pass is
 *
 *     always + in_flight * (activations of a chunk's pass) + what the pass itself works with */
int fr_moments_steps(const struct fr_job *job, const struct fr_outcome *out, int most,
                     struct fr_memory_step *steps) {
    struct fr_stage alone;
    struct fr_pipeline p;
    struct view v;
    int n = 0, in_flight = 0;
    double always_B = 0;
    if (!price(job, out, &alone, &p)) return 0;
    const int32_t i = (int32_t)out->peak_stage;
    const uint8_t frees = p.splits_backward ? FR_SLOT_WEIGHT : FR_SLOT_BACKWARD;
    view_of(job, &out->plan, &p, i, &v);
    for (int k = 0; k < FR_TENSORS; k++)
        always_B += k == FR_TENSOR_LAYERS || k == FR_TENSOR_LOGITS ? 0 : v.base_B[k];
    for (; p.slots && n < most && n < p.n_slots; n++) {
        const struct fr_slot *slot = &p.slots[i * p.n_slots + n];
        in_flight += slot->kind == FR_SLOT_FORWARD;
        double peak_B =
            always_B + in_flight * v.pass_B + of_pass_B(&v, slot, (int)p.args.chunks);
        in_flight -= slot->kind == frees;
        steps[n] = (struct fr_memory_step){slot->kind, slot->micro, slot->chunk,
                                           always_B + in_flight * v.pass_B, peak_B};
    }
    release(job, out, &p);
    return n;
}

/* ---- as JSON -------------------------------------------------------------------------------------- */

void fr_moments_put(const struct fr_job *job, const struct fr_outcome *out,
                    struct fr_json_writer *w) {
    struct fr_moment_memory memory[FR_MOMENTS];
    double total_B[FR_MOMENTS];
    if (!fr_moments_of_peak_stage(job, out, memory, total_B)) {
        fr_json_add_number(w, "memory_moments", NAN);
        return;
    }
    fr_json_add_array(w, "memory_moments");
    for (int k = 0; k < FR_MOMENTS; k++) {
        if (total_B[k] < 0) continue;
        fr_json_begin_object(w);
        fr_json_add_string(w, "moment", fr_moment_names[k]);
        fr_json_add_number(w, "total_B", total_B[k]);
        fr_json_add_object(w, "tensors");
        for (int j = 0; j < FR_TENSORS; j++)
            if (memory[k].tensor_B[j] > 0)
                fr_json_add_number(w, fr_tensor_names[j], memory[k].tensor_B[j]);
        fr_json_end_object(w);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

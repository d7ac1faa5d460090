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
    double pass_B;    /* of what layers keep, one pass of one chunk's */
    double ends;      /* micro-batches whose logits are held, the one at work too */
    bool places;      /* weight gradients have theirs for good, */
    bool group_places; /* and of experts */
    bool writes;      /* products write weight gradients of their own or ask for the place of one */
    bool frees;       /* a backward pass leaves nothing to a later one */
};

/* The ends of a micro-batch between its passes. */
static double between_B(const struct view *v) {
    const struct fr_moment_sizes *m = v->m;
    return m->heads * m->logits * fr_loss_logit_B(&v->loss->held, m->value_B);
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
    v->writes = plan->zero < 2;
    v->base_B[FR_TENSOR_DUMMIES] = places_B(v);
    v->base_B[FR_TENSOR_WORKSPACE] =
        f->workspace_B + (v->m->grouped ? f->grouped_workspace_B : 0);
}

static struct view view_of(const struct fr_job *job, const struct fr_plan *plan,
                           const struct fr_pipeline *p, int32_t i) {
    const struct fr_stage *s = &p->stage[i];
    const struct fr_moment_sizes *m = &s->moment;
    const struct fr_pipeline_held holds = fr_pipeline_holds(p, i);
    struct view v = {.stage = s, .m = m, .loss = &fr_losses[plan->loss]};
    double chunks = p->args.chunks, logits_B = m->heads * m->logits * m->value_B,
           rest_B = s->ends_B - logits_B - m->head_B;
    view_states(job, plan, p, i, &v);
    v.ends = chunks > 1 && holds.all > 1 ? 1 : holds.all;
    v.frees = !p->splits_backward;
    v.pass_B = (s->activation_B - s->ends_B - s->offloaded_B + m->twice_B) / chunks;
    v.base_B[FR_TENSOR_LAYERS] = fr_offload_kept_B(s, holds.all, holds.waiting) +
                                 holds.all * (m->twice_B - s->ends_B);
    /* A number that rounding leaves of equal ones is none. */
    if (!(v.base_B[FR_TENSOR_LAYERS] > 1e-9 * holds.all * s->activation_B))
        v.base_B[FR_TENSOR_LAYERS] = 0;
    v.base_B[FR_TENSOR_ENDS] = rest_B > 1e-9 * s->ends_B ? holds.all * rest_B : 0;
    if (m->heads > 0 && v.ends > 1) {
        v.base_B[FR_TENSOR_ENDS] += (v.ends - 1) * (m->head_B + m->normed_B);
        v.base_B[FR_TENSOR_LOGITS] = (v.ends - 1) * between_B(&v);
    }
    return v;
}

/* Has the stage such a moment? */
static bool has(const struct view *v, fr_moment moment) {
    bool loss = v->m->heads > 0;
    switch (moment) {
    case FR_MOMENT_PASS: return !v->m->known && !loss;
    case FR_MOMENT_LOSS:
    case FR_MOMENT_LOSS_BACKWARD: return loss;
    case FR_MOMENT_HEAD_BACKWARD: return v->m->known && loss;
    case FR_MOMENT_LAYER_BACKWARD: return v->m->known;
    case FR_MOMENT_EMBEDDING_BACKWARD: return v->m->known && v->m->embedded_B > 0;
    default: return true;
    }
}

/* The ends of the micro-batch at work, one of whose heads holds @p logit_B a logit. */
static void add_loss(const struct view *v, double logit_B, double *t) {
    const struct fr_moment_sizes *m = v->m;
    double others = m->heads - 1;
    t[FR_TENSOR_ENDS] += m->head_B + m->normed_B;
    t[FR_TENSOR_LOGITS] +=
        m->logits * (logit_B + others * fr_loss_logit_B(&v->loss->held, m->value_B));
}

static void add_head(const struct view *v, double *t) {
    const struct fr_moment_sizes *m = v->m;
    double weights = v->loss->weights > 0 ? v->loss->weights : v->writes && !v->places;
    add_loss(v, m->value_B, t);
    t[FR_TENSOR_JOINED] += m->gathered_B + m->input_B;
    t[FR_TENSOR_WEIGHTS] += weights * m->head_weight_B;
}

static void add_layer(const struct view *v, double *t) {
    const struct fr_moment_sizes *m = v->m;
    t[FR_TENSOR_AGAIN] += m->again_B;
    t[FR_TENSOR_LAYER] += m->layer_B;
    t[FR_TENSOR_JOINED] += m->joined_B;
    if (v->writes && !v->places) t[FR_TENSOR_WEIGHTS] += m->layer_weight_B;
}

/* Of the layers' activations those of its micro-batch are gone. */
static void add_embedding(const struct view *v, double *t) {
    const struct fr_moment_sizes *m = v->m;
    if (v->frees) t[FR_TENSOR_LAYERS] = fr_most(0, t[FR_TENSOR_LAYERS] - v->pass_B);
    t[FR_TENSOR_JOINED] += m->embedded_B;
    t[FR_TENSOR_WEIGHTS] += m->lookup_B;
}

static double fill(const struct view *v, fr_moment moment, double t[FR_TENSORS]) {
    double sum_B = 0;
    memcpy(t, v->base_B, sizeof v->base_B);
    switch (moment) {
    case FR_MOMENT_LOSS:
        add_loss(v, fr_loss_logit_B(&v->loss->forward, v->m->value_B), t);
        break;
    case FR_MOMENT_LOSS_BACKWARD:
        add_loss(v, fr_loss_logit_B(&v->loss->backward, v->m->value_B), t);
        t[FR_TENSOR_WEIGHTS] += v->loss->weights * v->m->head_weight_B;
        break;
    case FR_MOMENT_HEAD_BACKWARD: add_head(v, t); break;
    case FR_MOMENT_LAYER_BACKWARD: add_layer(v, t); break;
    case FR_MOMENT_EMBEDDING_BACKWARD: add_embedding(v, t); break;
    case FR_MOMENT_STEP:
        t[FR_TENSOR_LAYERS] = t[FR_TENSOR_ENDS] = t[FR_TENSOR_LOGITS] = 0;
        t[FR_TENSOR_WORKING] = t[FR_TENSOR_MESSAGES] = 0;
        break;
    default: break;
    }
    for (int k = 0; k < FR_TENSORS; k++) sum_B += t[k];
    return sum_B;
}

/* A step holds no more than any pass: no moment to look for. */
fr_moment fr_moments_peak(const struct fr_job *job, const struct fr_plan *plan,
                          const struct fr_pipeline *p, int32_t i,
                          double part_B[FR_MEMORY_COUNT]) {
    const struct view v = view_of(job, plan, p, i);
    double most_B = -1, now[FR_TENSORS], peak[FR_TENSORS] = {0};
    fr_moment at = FR_MOMENT_STEP;
    for (int moment = 0; moment < FR_MOMENT_STEP; moment++) {
        if (!has(&v, (fr_moment)moment)) continue;
        double sum_B = fill(&v, (fr_moment)moment, now);
        if (sum_B <= most_B) continue;
        most_B = sum_B;
        at = (fr_moment)moment;
        memcpy(peak, now, sizeof peak);
    }
    for (int k = 0; k < FR_MEMORY_COUNT; k++) part_B[k] = 0;
    for (int k = 0; k < FR_TENSORS; k++) part_B[part_of[k]] += peak[k];
    return at;
}

double fr_moments_of(const struct fr_job *job, const struct fr_plan *plan,
                     const struct fr_pipeline *p, int32_t i, fr_moment moment,
                     struct fr_moment_memory *memory) {
    const struct view v = view_of(job, plan, p, i);
    if (!has(&v, moment)) return -1;
    return fill(&v, moment, memory->tensor_B);
}

bool fr_moments_of_fullest(const struct fr_job *job, const struct fr_outcome *out,
                           struct fr_moment_memory memory[FR_MOMENTS],
                           double total_B[FR_MOMENTS]) {
    struct fr_stage alone = {0};
    struct fr_pipeline p = {.args = {.stages = 1, .micro_batches = 1, .chunks = 1},
                            .stage = &alone};
    uint32_t extrapolated = 0;
    bool ordered = fr_job_is_pipeline(job, &out->plan);
    if (!isfinite(out->time_s) || !isfinite(out->parameters)) return false;
    bool made = (ordered ? fr_pipeline_make : fr_pipeline_price)(job, &out->plan, &p,
                                                                 &extrapolated, NULL) == FR_OK;
    for (int k = 0; k < FR_MOMENTS && made; k++)
        total_B[k] = fr_moments_of(job, &out->plan, &p, (int32_t)out->fullest_stage,
                                   (fr_moment)k, &memory[k]);
    if (ordered) fr_pipeline_free(&p);
    return made;
}

void fr_moments_put(const struct fr_job *job, const struct fr_outcome *out,
                    struct fr_json_writer *w) {
    struct fr_moment_memory memory[FR_MOMENTS];
    double total_B[FR_MOMENTS];
    if (!fr_moments_of_fullest(job, out, memory, total_B)) {
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

#include "models/pipeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/transformer.h"

static int64_t batch_of(const struct fr_job *job, const struct fr_plan *plan) {
    return plan->global_batch ? plan->global_batch : job->workload.global_batch;
}

/* Stage times are those of one micro-batch, so its size only counts micro-batches: one sample
 * unless the plan says otherwise. */
static int64_t micro_batches(const struct fr_job *job, const struct fr_plan *plan) {
    return batch_of(job, plan) / plan->dp / (plan->micro_batch ? plan->micro_batch : 1);
}

enum { SLOTS_MAX = 1 << 25 };

fr_reasons fr_pipeline_check(const struct fr_job *job, const struct fr_plan *plan) {
    fr_reasons reasons = 0;
    int64_t batch = batch_of(job, plan), micro = plan->micro_batch ? plan->micro_batch : 1;
    if (fr_plan_ranks(plan) > fr_levels_capacity(&job->cluster.levels))
        reasons |= FR_BECAUSE(FR_REASON_RANKS);
    if (job->workload.stages.listed && job->workload.stages.listed != plan->pp)
        reasons |= FR_BECAUSE(FR_REASON_STAGES);
    if (batch % plan->dp != 0) return reasons | FR_BECAUSE(FR_REASON_BATCH);
    if (batch / plan->dp % micro != 0) return reasons | FR_BECAUSE(FR_REASON_MICRO_BATCH);
    int64_t m = micro_batches(job, plan);
    if ((double)m * (double)plan->pp * (double)plan->chunks * 3 > SLOTS_MAX ||
        plan->pp > 1 << 20)
        return reasons | FR_BECAUSE(FR_REASON_SIZE);
    struct fr_schedule_args args = {(int32_t)plan->pp, (int32_t)m, (int32_t)plan->chunks};
    if (plan->schedule->refuses(&args)) reasons |= FR_BECAUSE(FR_REASON_SCHEDULE);
    if (plan->duplex && plan->chunks > 1) reasons |= FR_BECAUSE(FR_REASON_SCHEDULE);
    if (!job->workload.transformer.layers) return reasons;
    if (plan->method != &fr_method_tensor) reasons |= FR_BECAUSE(FR_REASON_METHOD);
    if (!job->cluster.device.gemm[job->workload.dtype].form)
        reasons |= FR_BECAUSE(FR_REASON_DTYPE);
    reasons |= fr_transformer_check(&job->workload, plan->tp, plan->pp * plan->chunks);
    return reasons;
}

/* ---- pricing stages ---------------------------------------------------------------------- */

static double stage_value(const double *values, int listed, int32_t i) {
    return values[listed ? i : 0];
}

static void price_measured(const struct fr_stages *s, int32_t i, struct fr_pipeline *p) {
    struct fr_stage *stage = &p->stage[i];
    stage->forward.compute_s = stage_value(s->forward_s, s->listed, i);
    stage->backward.compute_s = stage_value(s->backward_s, s->listed, i);
    stage->weight.compute_s =
        s->weight_s ? stage_value(s->weight_s, s->listed, i) : stage->backward.compute_s / 2;
    stage->gradient_B = s->gradient_B ? stage_value(s->gradient_B, s->listed, i) : 0;
}

/* A product's backward pass is two products of the same flop: input and weight gradient. */
static void price_products(const struct fr_job *job, const struct fr_stage_work *work,
                           struct fr_stage *stage, uint32_t *extrapolated) {
    const struct fr_gemm_model *gemm = &job->cluster.device.gemm[job->workload.dtype];
    bool outside = false;
    for (int k = 0; k < work->n_gemms; k++) {
        struct fr_gemm_shape forward = work->gemm[k].shape;
        struct fr_gemm_shape input = {forward.k, forward.n, forward.m, forward.batch};
        struct fr_gemm_shape weight = {forward.m, forward.k, forward.n, forward.batch};
        double count = work->gemm[k].count,
               weight_s = count * gemm->form->time_s(gemm, &weight, &outside);
        stage->forward.compute_s += count * gemm->form->time_s(gemm, &forward, &outside);
        stage->backward.compute_s +=
            count * gemm->form->time_s(gemm, &input, &outside) + weight_s;
        stage->weight.compute_s += weight_s;
    }
    if (outside) *extrapolated |= FR_EXTRAPOLATED_GEMM;
}

/* Element-wise passes and kernels of the backward pass are twice the forward's: a gradient comes
 * in beside what was kept, and each product becomes two. */
static void price_transformer(const struct fr_job *job, const struct fr_plan *plan, int32_t i,
                              struct fr_pipeline *p, uint32_t *extrapolated) {
    const struct fr_device *device = &job->cluster.device;
    struct fr_stage *stage = &p->stage[i];
    struct fr_stage_work work;
    int64_t micro = plan->micro_batch ? plan->micro_batch : 1;
    fr_transformer_stage(&job->workload, plan->tp, plan->pp, i, micro, &work);
    price_products(job, &work, stage, extrapolated);
    double moved_s = work.forward_B / device->memory_rate_B_per_s,
           launch_s = work.kernels * device->launch_s;
    struct fr_group tp = fr_group_make(&job->cluster.levels, plan->tp, 1);
    bool outside = false;
    double reduce_s = work.all_reduces * fr_comm_time_s(&job->cluster.price[FR_OP_ALL_REDUCE],
                                                        &tp, work.all_reduce_B, &outside);
    if (outside) *extrapolated |= (uint32_t)1 << FR_OP_ALL_REDUCE;
    stage->forward.compute_s += moved_s;
    stage->backward.compute_s += 2 * moved_s;
    stage->forward.launch_s = launch_s;
    stage->backward.launch_s = 2 * launch_s;
    stage->weight.launch_s = launch_s / 2;
    stage->forward.tp_s = stage->backward.tp_s = reduce_s;
    stage->gradient_B =
        plan->dp > 1 ? work.parameters_rank * fr_dtype_size_B(job->workload.gradient_dtype) : 0;
    stage->optimizer_s = work.parameters_rank * fr_workload_update_B(&job->workload) /
                         device->memory_rate_B_per_s;
    double sent_B = 2 * p->args.micro_batches * work.all_reduces * work.all_reduce_B *
                    fr_op_bus_factor(FR_OP_ALL_REDUCE, plan->tp);
    if (sent_B > p->tp_B) p->tp_B = sent_B;
    if (i > 0 || plan->pp == 1 || work.embedding_rank <= 0) return;
    struct fr_group ends = fr_group_pair(&job->cluster.levels, 0, (plan->pp - 1) * plan->tp);
    p->embedding_s = fr_comm_time_s(
        &job->cluster.price[FR_OP_ALL_REDUCE], &ends,
        work.embedding_rank * fr_dtype_size_B(job->workload.gradient_dtype), &outside);
}

/* With tp > 1 each rank of a stage sends 1/t of the activation, and the receivers gather it
 * (Megatron's scatter-gather). */
static double message_s(const struct fr_job *job, const struct fr_plan *plan, int32_t i,
                        double message_B, double gathered_B, uint32_t *extrapolated) {
    bool send_outside = false, gather_outside = false;
    struct fr_group pair =
        fr_group_pair(&job->cluster.levels, i * plan->tp, (i + 1) % plan->pp * plan->tp);
    struct fr_group tp = fr_group_make(&job->cluster.levels, plan->tp, 1);
    double time_s =
        fr_comm_time_s(&job->cluster.price[FR_OP_SEND_RECV], &pair, message_B, &send_outside);
    if (gathered_B > 0)
        time_s += fr_comm_time_s(&job->cluster.price[FR_OP_ALL_GATHER], &tp, gathered_B,
                                 &gather_outside);
    if (send_outside) *extrapolated |= (uint32_t)1 << FR_OP_SEND_RECV;
    if (gather_outside) *extrapolated |= (uint32_t)1 << FR_OP_ALL_GATHER;
    return time_s;
}

fr_status fr_pipeline_make(const struct fr_job *job, const struct fr_plan *plan,
                           struct fr_pipeline *p, uint32_t *extrapolated,
                           struct fr_error *err) {
    const struct fr_transformer *t = &job->workload.transformer;
    int64_t micro = plan->micro_batch ? plan->micro_batch : 1;
    double gathered_B = 0;
    *p = (struct fr_pipeline){
        .schedule = plan->schedule,
        .args = {(int32_t)plan->pp, (int32_t)micro_batches(job, plan), (int32_t)plan->chunks},
        .duplex = plan->duplex,
        .stage = calloc((size_t)plan->pp, sizeof *p->stage),
        .message_B = job->workload.stages.message_B};
    if (!p->stage)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the pipeline does not fit in memory");
    if (t->layers) {
        double values = (double)(micro * t->sequence * t->hidden);
        p->message_B = values * fr_dtype_size_B(job->workload.dtype) / (double)plan->tp;
        if (plan->tp > 1) gathered_B = p->message_B * (double)plan->tp;
    }
    struct fr_group dp = fr_group_make(&job->cluster.levels, plan->dp, plan->tp * plan->pp);
    for (int32_t i = 0; i < p->args.stages; i++) {
        bool outside = false;
        if (t->layers)
            price_transformer(job, plan, i, p, extrapolated);
        else
            price_measured(&job->workload.stages, i, p);
        if (plan->pp > 1)
            p->stage[i].message_s =
                message_s(job, plan, i, p->message_B, gathered_B, extrapolated);
        if (p->stage[i].gradient_B > 0)
            p->stage[i].gradient_s = fr_comm_time_s(&job->cluster.price[FR_OP_ALL_REDUCE], &dp,
                                                    p->stage[i].gradient_B, &outside);
        if (outside) *extrapolated |= (uint32_t)1 << FR_OP_ALL_REDUCE;
    }
    return FR_OK;
}

void fr_pipeline_free(struct fr_pipeline *p) {
    free(p->stage);
    *p = (struct fr_pipeline){0};
}

static double pass_s(const struct fr_pass *pass, int with) {
    return pass->compute_s + (with & FR_WITH_LAUNCH ? pass->launch_s : 0) +
           (with & FR_WITH_TP ? pass->tp_s : 0);
}

double fr_pipeline_pass_s(const struct fr_pipeline *p, int32_t i, uint8_t slot_kind, int with) {
    const struct fr_stage *stage = &p->stage[i];
    double chunks = p->args.chunks;
    if (slot_kind == FR_SLOT_FORWARD) return pass_s(&stage->forward, with) / chunks;
    if (slot_kind == FR_SLOT_WEIGHT) return pass_s(&stage->weight, with) / chunks;
    double whole_s = pass_s(&stage->backward, with);
    return (p->schedule->splits_backward ? whole_s - pass_s(&stage->weight, with) : whole_s) /
           chunks;
}

/* ---- the recurrence ---------------------------------------------------------------------- */

/* End times of forward and backward passes by virtual stage and micro-batch; < 0: not yet. */
struct sweep {
    const struct fr_pipeline *p;
    struct fr_slot *slots; /* [P][n_slots] */
    int64_t n_slots, *next;
    double *forward_end_s, *backward_end_s, *free_s;
    double *pass_s; /* [P][3]: of one chunk, by slot kind */
    bool messages;
};

/* Earliest start of slot @p x on stage @p i for its input, or < 0 while that is not there. */
static double input_s(const struct sweep *w, int32_t i, const struct fr_slot *x) {
    int32_t stages = w->p->args.stages, m = w->p->args.micro_batches;
    int64_t at = (int64_t)x->chunk * stages + i, last = (int64_t)stages * w->p->args.chunks - 1;
    double ready_s, lag_s = 0;
    if (x->kind == FR_SLOT_WEIGHT) return w->backward_end_s[at * m + x->micro];
    if (x->kind == FR_SLOT_FORWARD) {
        if (at == 0) return 0;
        ready_s = w->forward_end_s[(at - 1) * m + x->micro];
        lag_s = w->p->stage[(i + stages - 1) % stages].message_s;
    } else if (at == last) {
        ready_s = w->forward_end_s[at * m + x->micro];
    } else {
        ready_s = w->backward_end_s[(at + 1) * m + x->micro];
        lag_s = w->p->stage[i].message_s;
    }
    if (stages == 1 || !w->messages)
        lag_s = 0; /* chunks of one rank hand over without a message */
    return ready_s < 0 ? -1 : ready_s + lag_s;
}

/* Run stage @p i as far as its inputs allow. @return slots done */
static int64_t advance(struct sweep *w, int32_t i) {
    int32_t stages = w->p->args.stages, m = w->p->args.micro_batches;
    int64_t done = 0;
    for (; w->next[i] < w->n_slots; w->next[i]++, done++) {
        const struct fr_slot *x = &w->slots[i * w->n_slots + w->next[i]];
        double start_s = input_s(w, i, x);
        if (start_s < 0) break;
        if (start_s < w->free_s[i]) start_s = w->free_s[i];
        w->free_s[i] = start_s + w->pass_s[3 * i + x->kind];
        int64_t at = ((int64_t)x->chunk * stages + i) * m + x->micro;
        if (x->kind == FR_SLOT_FORWARD) w->forward_end_s[at] = w->free_s[i];
        if (x->kind == FR_SLOT_BACKWARD) w->backward_end_s[at] = w->free_s[i];
    }
    return done;
}

static fr_status sweep_run(struct sweep *w, struct fr_error *err) {
    int64_t left = w->n_slots * w->p->args.stages;
    while (left > 0) {
        int64_t done = 0; /* down and up, as forward and backward passes travel */
        for (int32_t i = 0; i < w->p->args.stages; i++) done += advance(w, i);
        for (int32_t i = w->p->args.stages; i-- > 0;) done += advance(w, i);
        if (done == 0)
            return fr_fail(err, FR_ERR_INPUT, "plan#/schedule",
                           "the stages wait for each other: the order of passes deadlocks");
        left -= done;
    }
    return FR_OK;
}

/* After the last backward pass: gradients, the embedding's at both ends, the optimiser. */
static double finish_s(const struct fr_pipeline *p, double *end_s, int with) {
    int32_t last = p->args.stages - 1;
    double makespan_s = 0;
    for (int32_t i = 0; i <= last && with & FR_WITH_GRADIENTS; i++)
        end_s[i] += p->stage[i].gradient_s;
    if (with & FR_WITH_EMBEDDING && p->embedding_s > 0)
        end_s[0] = end_s[last] = fmax(end_s[0], end_s[last]) + p->embedding_s;
    for (int32_t i = 0; i <= last; i++)
        makespan_s = fmax(makespan_s, end_s[i] + p->stage[i].optimizer_s);
    return makespan_s;
}

fr_status fr_pipeline_time_s(const struct fr_pipeline *p, int with, double *time_s,
                             struct fr_error *err) {
    if (p->duplex)
        return fr_fail(
            err, FR_ERR_UNSUPPORTED, "plan#/p2p",
            "blocking exchanges are priced by the event engine only (forerun simulate)");
    size_t stages = (size_t)p->args.stages;
    size_t passes = stages * (size_t)p->args.chunks * (size_t)p->args.micro_batches;
    struct sweep w = {.p = p,
                      .n_slots = fr_schedule_slots(p->schedule, &p->args),
                      .messages = with & FR_WITH_MESSAGES};
    fr_status status = FR_ERR_NOMEM;
    w.slots = malloc(stages * (size_t)w.n_slots * sizeof *w.slots);
    w.next = calloc(stages, sizeof *w.next);
    w.free_s = calloc(stages, sizeof *w.free_s);
    w.pass_s = malloc(3 * stages * sizeof *w.pass_s);
    w.forward_end_s = malloc(passes * sizeof *w.forward_end_s);
    w.backward_end_s = malloc(passes * sizeof *w.backward_end_s);
    if (!w.slots || !w.next || !w.free_s || !w.pass_s || !w.forward_end_s ||
        !w.backward_end_s) {
        fr_fail(err, FR_ERR_NOMEM, NULL, "the pipeline does not fit in memory");
        goto done;
    }
    for (size_t k = 0; k < passes; k++) w.forward_end_s[k] = w.backward_end_s[k] = -1;
    for (int32_t i = 0; i < p->args.stages; i++) {
        p->schedule->order(&p->args, i, w.slots + i * w.n_slots);
        for (uint8_t kind = 0; kind < 3; kind++)
            w.pass_s[3 * i + kind] = fr_pipeline_pass_s(p, i, kind, with);
    }
    status = sweep_run(&w, err);
    *time_s = finish_s(p, w.free_s, with);
done:
    free(w.slots);
    free(w.next);
    free(w.free_s);
    free(w.pass_s);
    free(w.forward_end_s);
    free(w.backward_end_s);
    return status;
}

/* ---- the outcome ------------------------------------------------------------------------- */

/* Compute and communication of one rank of stage @p i in an iteration. */
static void use_of(const struct fr_pipeline *p, int32_t i, double *busy_s, double *comm_s) {
    const struct fr_stage *s = &p->stage[i];
    double m = p->args.micro_batches;
    *busy_s = m * (pass_s(&s->forward, FR_WITH_LAUNCH) + pass_s(&s->backward, FR_WITH_LAUNCH)) +
              s->optimizer_s;
    *comm_s = m * (s->forward.tp_s + s->backward.tp_s) + s->gradient_s;
    if (i == 0 || i == p->args.stages - 1) *comm_s += p->embedding_s;
}

static void add_energy(const struct fr_job *job, const struct fr_pipeline *p,
                       struct fr_outcome *out) {
    const struct fr_power *power = &job->cluster.device.power;
    double replicas = (double)(out->plan.dp * out->plan.tp), busy_s, comm_s;
    out->energy_J = power->known ? 0 : NAN;
    for (int32_t i = 0; power->known && i < p->args.stages; i++) {
        use_of(p, i, &busy_s, &comm_s);
        busy_s += job->cluster.device.fixed_s;
        double idle_s = fmax(0, out->time_s - busy_s - comm_s);
        out->energy_J += replicas * (power->busy_W * busy_s + power->communicating_W * comm_s +
                                     power->idle_W * idle_s);
    }
}

/* Peak of the fullest rank: state, and the activations of the micro-batches that its place in
 * the schedule makes it hold. */
static fr_status add_memory(const struct fr_job *job, const struct fr_pipeline *p,
                            struct fr_outcome *out, struct fr_error *err) {
    const struct fr_workload *w = &job->workload;
    const struct fr_plan *plan = &out->plan;
    int64_t n_slots = fr_schedule_slots(p->schedule, &p->args);
    struct fr_slot *slots = malloc((size_t)n_slots * sizeof *slots);
    if (!slots) return fr_fail(err, FR_ERR_NOMEM, NULL, "the pipeline does not fit in memory");
    for (int32_t i = 0; i < p->args.stages; i++) {
        struct fr_stage_work work;
        double part_B[FR_MEMORY_COUNT], sum_B = 0;
        fr_transformer_stage(w, plan->tp, plan->pp, i,
                             plan->micro_batch ? plan->micro_batch : 1, &work);
        p->schedule->order(&p->args, i, slots);
        double held = (double)fr_schedule_held(p->schedule, slots, n_slots) / p->args.chunks;
        part_B[FR_MEMORY_PARAMETERS] = work.parameters_rank * fr_dtype_size_B(w->dtype);
        part_B[FR_MEMORY_GRADIENTS] = work.parameters_rank * fr_dtype_size_B(w->gradient_dtype);
        part_B[FR_MEMORY_OPTIMIZER] = work.parameters_rank * w->optimizer_state_B;
        part_B[FR_MEMORY_ACTIVATIONS] = held * work.activation_B;
        part_B[FR_MEMORY_BUFFERS] = plan->pp > 1 ? 2 * p->message_B * (double)plan->tp : 0;
        for (int k = 0; k < FR_MEMORY_COUNT; k++) sum_B += part_B[k];
        out->parameters += work.parameters;
        out->parameters_rank_max = fmax(out->parameters_rank_max, work.parameters_rank);
        if (sum_B <= out->memory_peak_B) continue;
        out->memory_peak_B = sum_B;
        memcpy(out->memory_B, part_B, sizeof part_B);
    }
    free(slots);
    if (job->cluster.device.memory_B > 0 && out->memory_peak_B > job->cluster.device.memory_B)
        out->reasons |= FR_BECAUSE(FR_REASON_MEMORY);
    return FR_OK;
}

static void add_bytes(const struct fr_pipeline *p, struct fr_outcome *out) {
    double neighbours = p->args.stages > 2 ? 2 : p->args.stages - 1, gradient_B = 0;
    for (int32_t i = 0; i < p->args.stages; i++)
        gradient_B = fmax(gradient_B, p->stage[i].gradient_B);
    /* A middle stage sends one activation and one gradient a micro-batch and chunk. */
    out->sent_pp_B = neighbours * p->args.micro_batches * p->args.chunks * p->message_B;
    out->sent_dp_B = fr_op_bus_factor(FR_OP_ALL_REDUCE, out->plan.dp) * gradient_B;
    out->sent_tp_B = p->tp_B;
}

static void add_totals(const struct fr_job *job, struct fr_outcome *out) {
    out->iterations = NAN;
    if (out->plan.iterations > 0) {
        out->iterations = out->plan.iterations;
        out->iterations_origin = FR_ITERATIONS_GIVEN;
    } else
        out->iterations_origin = fr_iterations_find(
            &job->workload, out->plan.method, out->plan.tp, out->plan.ghost, &out->iterations);
    out->total_time_s = out->iterations * out->time_s;
    out->total_energy_J = out->iterations * out->energy_J;
}

fr_status fr_pipeline_outcome(const struct fr_job *job, const struct fr_pipeline *p,
                              fr_pipeline_timer *timer, const void *context,
                              struct fr_outcome *out, struct fr_error *err) {
    static const struct {
        int off, part;
    } turns[] = {{FR_WITH_EMBEDDING, FR_PART_EMBEDDING_COMM},
                 {FR_WITH_GRADIENTS, FR_PART_DP_COMM},
                 {FR_WITH_MESSAGES, FR_PART_PP_COMM},
                 {FR_WITH_TP, FR_PART_TP_COMM},
                 {FR_WITH_LAUNCH, FR_PART_LAUNCH}};
    double before_s = 0, now_s = 0, busiest_s = 0;
    int with = FR_WITH_ALL;
    FR_TRY(timer(context, with, &before_s, err));
    out->time_s = before_s + job->cluster.device.fixed_s;
    for (size_t k = 0; k < sizeof turns / sizeof *turns; k++) {
        with &= ~turns[k].off;
        FR_TRY(timer(context, with, &now_s, err));
        out->part_s[turns[k].part] = before_s - now_s;
        before_s = now_s;
    }
    for (int32_t i = 0; i < p->args.stages; i++) {
        const struct fr_stage *s = &p->stage[i];
        busiest_s = fmax(busiest_s, p->args.micro_batches *
                                            (s->forward.compute_s + s->backward.compute_s) +
                                        s->optimizer_s);
    }
    out->part_s[FR_PART_COMPUTE] = busiest_s;
    out->part_s[FR_PART_FIXED] = job->cluster.device.fixed_s;
    out->part_s[FR_PART_BUBBLE] = before_s - busiest_s;
    add_bytes(p, out);
    add_energy(job, p, out);
    add_totals(job, out);
    if (job->workload.transformer.layers) return add_memory(job, p, out, err);
    out->parameters = out->parameters_rank_max =
        NAN; /* times say nothing of what is in memory */
    return FR_OK;
}

static fr_status recurrence(const void *context, int with, double *time_s,
                            struct fr_error *err) {
    return fr_pipeline_time_s(context, with, time_s, err);
}

void fr_pipeline_cost(const struct fr_job *job, const struct fr_plan *plan,
                      struct fr_outcome *out) {
    struct fr_pipeline p = {0};
    *out = (struct fr_outcome){.plan = *plan, .ranks = fr_plan_ranks(plan)};
    out->time_s = out->energy_J = out->iterations = out->total_time_s = out->total_energy_J =
        NAN;
    out->reasons = fr_pipeline_check(job, plan);
    if (plan->duplex) out->reasons |= FR_BECAUSE(FR_REASON_NO_CLOSED_FORM);
    if (out->reasons) return;
    if (fr_pipeline_make(job, plan, &p, &out->extrapolated, NULL) != FR_OK ||
        fr_pipeline_outcome(job, &p, recurrence, &p, out, NULL) != FR_OK)
        out->reasons |= FR_BECAUSE(FR_REASON_SIZE);
    fr_pipeline_free(&p);
}

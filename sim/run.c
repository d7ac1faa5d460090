#include "sim/run.h"

#include <math.h>
#include <stdlib.h>

void fr_price_classes(const struct fr_pipeline *p, const struct fr_program *program, int with,
                      double *class_s) {
    for (int32_t c = 0; c < program->n_classes; c++) {
        int32_t i = program->classes[c].stage;
        const struct fr_stage *stage = &p->stage[i];
        bool part = program->classes[c].part;
        double parts = part ? fmax(1, stage->buckets) : 1, gradient_s;
        switch (program->classes[c].kind) {
        case FR_TASK_FORWARD:
            class_s[c] = fr_pipeline_pass_s(p, i, FR_SLOT_FORWARD, with);
            break;
        case FR_TASK_BACKWARD:
            class_s[c] = fr_pipeline_pass_s(p, i, FR_SLOT_BACKWARD, with) / parts;
            break;
        case FR_TASK_WEIGHT:
            class_s[c] = fr_pipeline_pass_s(p, i, FR_SLOT_WEIGHT, with) / parts;
            break;
        case FR_TASK_FORWARD_MESSAGE:
        case FR_TASK_BACKWARD_MESSAGE:
        case FR_TASK_EXCHANGE:
            class_s[c] = with & FR_WITH_MESSAGES ? stage->message_s : 0;
            break;
        case FR_TASK_GRADIENT:
            gradient_s = part ? stage->bucket_s : stage->gradient_s;
            class_s[c] = (with & FR_WITH_GRADIENTS ? gradient_s : 0) +
                         (with & FR_WITH_CODEC ? stage->gradient_codec_s : 0);
            break;
        case FR_TASK_COMPRESSED_MESSAGE:
            class_s[c] = with & FR_WITH_MESSAGES ? stage->small_message_s : 0;
            break;
        case FR_TASK_COMPRESS:
            class_s[c] = with & FR_WITH_CODEC ? p->encode_s : 0;
            break;
        case FR_TASK_DECOMPRESS:
            class_s[c] = with & FR_WITH_CODEC ? p->decode_s : 0;
            break;
        case FR_TASK_EMBEDDING:
            class_s[c] = with & FR_WITH_EMBEDDING ? p->embedding_s : 0;
            break;
        case FR_TASK_OPTIMIZER:
            class_s[c] = stage->optimizer_s;
            break;
        default:
            class_s[c] = 0;
            break;
        }
    }
}

static bool is_message(fr_task_kind kind) {
    return kind == FR_TASK_FORWARD_MESSAGE || kind == FR_TASK_BACKWARD_MESSAGE ||
           kind == FR_TASK_COMPRESSED_MESSAGE || kind == FR_TASK_EXCHANGE;
}

/* Bytes that a message of each class carries one way. */
static void size_classes(const struct fr_pipeline *p, const struct fr_program *program,
                         double *class_B) {
    for (int32_t c = 0; c < program->n_classes; c++) {
        fr_task_kind kind = program->classes[c].kind;
        class_B[c] = kind == FR_TASK_COMPRESSED_MESSAGE ? p->small_message_B
                     : is_message(kind)                 ? p->message_B
                                                        : 0;
    }
}

static void add_use(const struct fr_program *program, const double *start_s,
                    const double *end_s, bool blocking, struct fr_stage_use *stages) {
    for (int64_t t = 0; t < program->n_tasks; t++) {
        const struct fr_task *task = &program->tasks[t];
        fr_task_kind kind = program->classes[task->class_id].kind;
        double time_s = end_s[t] - start_s[t];
        if (kind == FR_TASK_GRADIENT)
            stages[task->rank].gradient_s += time_s;
        else if (!is_message(kind))
            stages[task->rank].busy_s += time_s;
        else if (blocking) {
            stages[task->rank].blocked_s += time_s;
            stages[task->peer].blocked_s += time_s;
        }
    }
}

static int by_start(const void *x, const void *y) {
    const struct fr_span *a = x, *b = y;
    if (a->start_s != b->start_s) return a->start_s < b->start_s ? -1 : 1;
    if (a->message != b->message) return a->message < b->message ? -1 : 1;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->stream != b->stream) return a->stream < b->stream ? -1 : 1;
    if (a->end_s != b->end_s) return a->end_s < b->end_s ? -1 : 1;
    return (a->micro > b->micro) - (a->micro < b->micro);
}

/* A message shows on both sides; in an exchange each side sends and receives. */
static int64_t add_spans(const struct fr_task *task, fr_task_kind kind, struct fr_span span,
                         struct fr_span *out) {
    out[0] = span;
    if (kind == FR_TASK_EMBEDDING) { /* both ends take part */
        out[1] = span;
        out[1].rank = task->peer;
        out[1].peer = task->rank;
        return 2;
    }
    if (!is_message(kind)) return 1;
    out[0].stream = FR_STREAM_SEND;
    out[1] = span;
    out[1].stream = FR_STREAM_RECV;
    out[1].rank = task->peer;
    out[1].peer = task->rank;
    if (kind != FR_TASK_EXCHANGE) return 2;
    out[2] = out[0];
    out[2].rank = task->peer;
    out[2].peer = task->rank;
    out[2].message = out[0].message + 1;
    out[3] = out[2];
    out[3].stream = FR_STREAM_RECV;
    out[3].rank = task->rank;
    out[3].peer = task->peer;
    return 4;
}

/* Spans come by start: each takes the first lane of its stream that is free by then.  The last
 * lane takes what is left over, and may overlap; nothing that a schedule here makes gets there. */
enum { LANES = 32 };

static fr_status assign_lanes(struct fr_timeline *timeline, struct fr_error *err) {
    size_t streams = (size_t)timeline->n_ranks * FR_STREAM_COUNT;
    double *free_s = calloc(streams * LANES, sizeof *free_s);
    if (!free_s) return fr_fail(err, FR_ERR_NOMEM, NULL, "the timeline does not fit in memory");
    for (int64_t k = 0; k < timeline->count; k++) {
        struct fr_span *span = &timeline->spans[k];
        double *lane_s = free_s + ((size_t)span->rank * FR_STREAM_COUNT + span->stream) * LANES;
        int lane = 0;
        while (lane < LANES - 1 && lane_s[lane] > span->start_s * (1 + 1e-12)) lane++;
        lane_s[lane] = span->end_s;
        span->lane = (uint8_t)lane;
    }
    free(free_s);
    return FR_OK;
}

static double reduced_B(const struct fr_pipeline *p, const struct fr_task_class *class) {
    const struct fr_stage *stage = &p->stage[class->stage];
    return class->part ? stage->gradient_B / p->args.chunks / stage->buckets
                       : stage->gradient_B;
}

/* Is task @p t the continuation of the pass that the task before it is a part of? */
static bool same_pass(const struct fr_program *program, int64_t t) {
    const struct fr_task *task = &program->tasks[t];
    const struct fr_task_class *class = &program->classes[task->class_id];
    if (!class->part || class->kind == FR_TASK_GRADIENT) return false;
    return t > 0 && task[-1].class_id == task->class_id && task[-1].micro == task->micro &&
           task[-1].chunk == task->chunk;
}

static fr_status make_timeline(const struct fr_pipeline *p, const struct fr_program *program,
                               const double *start_s, const double *end_s, double makespan_s,
                               struct fr_timeline *timeline, struct fr_error *err) {
    bool *critical = calloc((size_t)program->n_tasks + 1, sizeof *critical);
    timeline->spans = malloc(((size_t)program->n_tasks * 4 + 1) * sizeof *timeline->spans);
    if (!critical || !timeline->spans) {
        free(critical);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the timeline does not fit in memory");
    }
    fr_engine_critical(program, end_s, critical);
    int32_t message = 0;
    for (int64_t t = 0; t < program->n_tasks; t++) {
        const struct fr_task *task = &program->tasks[t];
        fr_task_kind kind = program->classes[task->class_id].kind;
        bool collective = kind == FR_TASK_GRADIENT || kind == FR_TASK_EMBEDDING;
        if (same_pass(program, t)) { /* parts of one pass are one span */
            timeline->spans[timeline->count - 1].end_s = end_s[t];
            timeline->spans[timeline->count - 1].critical |= critical[t];
            continue;
        }
        struct fr_span span = {.start_s = start_s[t],
                               .end_s = end_s[t],
                               .size_B = kind == FR_TASK_COMPRESSED_MESSAGE ? p->small_message_B
                                         : is_message(kind)                 ? p->message_B
                                         : kind == FR_TASK_GRADIENT
                                             ? reduced_B(p, &program->classes[task->class_id])
                                             : 0,
                               .rank = task->rank,
                               .micro = task->micro,
                               .chunk = task->chunk,
                               .peer = task->peer,
                               .message = is_message(kind) ? message : -1,
                               .stream = collective ? FR_STREAM_COLLECTIVE : FR_STREAM_COMPUTE,
                               .kind = (uint8_t)kind,
                               .critical = critical[t]};
        timeline->count += add_spans(task, kind, span, timeline->spans + timeline->count);
        if (is_message(kind)) message += kind == FR_TASK_EXCHANGE ? 2 : 1;
    }
    free(critical);
    qsort(timeline->spans, (size_t)timeline->count, sizeof *timeline->spans, by_start);
    timeline->n_ranks = timeline->n_stages = program->n_ranks;
    timeline->makespan_s = makespan_s;
    return assign_lanes(timeline, err);
}

struct timed { /* what a run with some things switched off needs */
    const struct fr_pipeline *p;
    const struct fr_program *program;
    const struct fr_network *network;
    struct fr_network_work work;
    void *state; /* the network's */
    double *class_s, *class_B, *start_s, *end_s;
    double *last_s; /* scratch, [2][n_ranks] */
};

/* How much later than its passes, and the codec of its gradients, a stage's gradients end. */
static void find_exposed(const struct timed *t, double *exposed_s) {
    const struct fr_program *program = t->program;
    int32_t n = program->n_ranks;
    double *passes_s = t->last_s, *gradients_s = t->last_s + n;
    for (int32_t i = 0; i < 2 * n; i++) t->last_s[i] = 0;
    for (int64_t k = 0; k < program->n_tasks; k++) {
        int32_t i = program->tasks[k].rank;
        fr_task_kind kind = program->classes[program->tasks[k].class_id].kind;
        if (is_message(kind) || kind == FR_TASK_EMBEDDING || kind == FR_TASK_OPTIMIZER)
            continue;
        double *last_s = kind == FR_TASK_GRADIENT ? &gradients_s[i] : &passes_s[i];
        *last_s = fmax(*last_s, t->end_s[k]);
    }
    for (int32_t i = 0; i < n; i++)
        exposed_s[i] = fmax(0, gradients_s[i] - passes_s[i] - t->p->stage[i].gradient_codec_s);
}

static fr_status run_with(const void *context, int with, struct fr_pipeline_times *times,
                          struct fr_error *err) {
    const struct timed *t = context;
    fr_price_classes(t->p, t->program, with, t->class_s);
    FR_TRY(t->network->run(&t->work, t->state, t->class_s, t->start_s, t->end_s,
                           &times->makespan_s, err));
    if (times->gradient_exposed_s) find_exposed(t, times->gradient_exposed_s);
    return FR_OK;
}

static fr_status timed_open(struct timed *t, const struct fr_job *job,
                            const struct fr_plan *plan, struct fr_error *err) {
    size_t tasks = (size_t)t->program->n_tasks + 1, classes = (size_t)t->program->n_classes;
    t->start_s = malloc(2 * tasks * sizeof *t->start_s);
    t->class_s = malloc(2 * classes * sizeof *t->class_s);
    t->last_s = malloc(2 * (size_t)t->program->n_ranks * sizeof *t->last_s);
    if (!t->start_s || !t->class_s || !t->last_s)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the simulation does not fit in memory");
    t->end_s = t->start_s + tasks;
    t->class_B = t->class_s + classes;
    size_classes(t->p, t->program, t->class_B);
    t->work = (struct fr_network_work){.cluster = &job->cluster,
                                       .program = t->program,
                                       .class_B = t->class_B,
                                       .seats = {.tp = plan->tp, .dp = plan->dp}};
    return t->network->open ? t->network->open(&t->work, &t->state, err) : FR_OK;
}

static void timed_close(struct timed *t) {
    if (t->network->close && t->state) t->network->close(t->state);
    free(t->start_s);
    free(t->class_s);
    free(t->last_s);
}

static fr_status simulate(const struct fr_job *job, const struct fr_pipeline *p,
                          struct fr_program *program, const struct fr_simulate_options *options,
                          struct fr_simulation *s, struct fr_error *err) {
    struct timed t = {.p = p, .program = program, .network = s->network};
    struct fr_pipeline_times full = {0};
    FR_TRY(fr_program_make(p, program, err));
    fr_status status = timed_open(&t, job, &s->outcome.plan, err);
    s->stages = calloc((size_t)program->n_ranks, sizeof *s->stages);
    if (status == FR_OK && !s->stages)
        status = fr_fail(err, FR_ERR_NOMEM, NULL, "the simulation does not fit in memory");
    s->n_stages = s->stages ? program->n_ranks : 0;
    s->n_tasks = program->n_tasks;
    if (status == FR_OK) status = fr_pipeline_outcome(job, p, run_with, &t, &s->outcome, err);
    if (status == FR_OK) status = run_with(&t, FR_WITH_ALL, &full, err);
    if (status == FR_OK) add_use(program, t.start_s, t.end_s, p->duplex, s->stages);
    if (status == FR_OK && options && options->timeline)
        status =
            make_timeline(p, program, t.start_s, t.end_s, full.makespan_s, &s->timeline, err);
    timed_close(&t);
    return status;
}

fr_status fr_simulate(const struct fr_job *job, const struct fr_plan *plan,
                      const struct fr_simulate_options *options, struct fr_simulation *s,
                      struct fr_error *err) {
    struct fr_pipeline p = {0};
    struct fr_program program = {0};
    *s = (struct fr_simulation){
        .outcome = {.plan = *plan, .engine = "event", .ranks = fr_plan_ranks(plan)},
        .network = options && options->network ? options->network : &fr_network_isolated};
    struct fr_outcome *out = &s->outcome;
    out->time_s = out->energy_J = out->iterations = out->total_time_s = out->total_energy_J =
        NAN;
    if (job->workload.n_layers > 0)
        return fr_fail(err, FR_ERR_UNSUPPORTED, job->model_from,
                       "the event engine runs models of kind \"stages\" and \"transformer\" so "
                       "far; forerun predict "
                       "prices this one");
    out->reasons = fr_pipeline_check(job, plan);
    if (out->reasons) return FR_OK;
    fr_status status = fr_pipeline_make(job, plan, &p, &out->extrapolated, err);
    if (status == FR_OK) status = simulate(job, &p, &program, options, s, err);
    fr_program_free(&program);
    fr_pipeline_free(&p);
    return status;
}

void fr_simulation_free(struct fr_simulation *s) {
    fr_timeline_free(&s->timeline);
    free(s->stages);
    *s = (struct fr_simulation){0};
}

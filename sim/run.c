#include "sim/run.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/progress.h"
#include "models/outcome/cost.h"
#include "models/outcome/energy.h"
#include "models/outcome/iteration.h"
#include "models/outcome/moments.h"
#include "models/outcome/resolve.h"
#include "models/price/offload.h"
#include "models/price/rank_map.h"
#include "sim/layers.h"
#include "sim/ranks/exposed.h"
#include "sim/ranks/lay_out.h"

struct timed { /* what a run with some things switched off needs */
    const struct fr_program *program;
    const struct fr_class_price *price;
    const struct fr_network *network;
    const struct fr_pipeline *pipeline; /* or NULL */
    const struct fr_mesh
        *mesh; /* of all its ranks; NULL: its passes are whole, a rank a stage */
    struct fr_progress *progress;
    struct fr_network_work work;
    struct fr_cluster cluster; /* the job's, with its levels as the plan's ranks take them */
    void *state;               /* the network's */
    int64_t *slot;             /* of each rank, or NULL */
    bool blocking;
    bool serial; /* a rank that does nothing else communicates */
    double *class_s, *class_B, *class_gathered_B, *class_W, *start_s, *end_s;
    struct fr_stage_use *use; /* [n_ranks]: of the last run with everything */
};

/* Differences of rounding grow where messages hold up one another (models/outcome/messages/message_lines.h), so passes take
 * there what the recurrence says to the last bit; the sum of their parts may differ in it. */
static void round_alike(const struct timed *t, int with) {
    for (int32_t c = 0; c < t->program->n_classes; c++) {
        const struct fr_task_class *class = &t->program->classes[c];
        if (class->part || class->clock) continue;
        if (class->kind == FR_TASK_FORWARD)
            t->class_s[c] =
                fr_pipeline_pass_s(t->pipeline, class->stage, FR_SLOT_FORWARD, with);
        if (class->kind == FR_TASK_BACKWARD)
            t->class_s[c] =
                fr_pipeline_pass_s(t->pipeline, class->stage, FR_SLOT_BACKWARD, with);
        if (class->kind == FR_TASK_WEIGHT)
            t->class_s[c] = fr_pipeline_pass_s(t->pipeline, class->stage, FR_SLOT_WEIGHT, with);
    }
}

/* Runs of one simulation at most: everything, each part switched off in turn, everything again. */
enum { RUNS = 10 };

/* One run of the program with the parts of @p with switched on. The difference between two runs is what a part costs
 * where it shows, after everything that hides it: the same definition as the closed form's (models/outcome/cost.c), so
 * that both engines can be compared part by part. */
static fr_status run_with(const void *context, int with, struct fr_pipeline_times *times,
                          struct fr_error *err) {
    const struct timed *t = context;
    fr_price_with(t->price, t->program->n_classes, with, t->class_s);
    if (t->pipeline && !t->mesh && t->network == &fr_network_shared) round_alike(t, with);
    FR_TRY(t->network->run(&t->work, t->state, t->class_s, t->start_s, t->end_s,
                           &times->makespan_s, err));
    fr_progress_add(t->progress, 1);
    return FR_OK;
}

/* The stage of rank @p i of the program. */
static int32_t stage_of(const struct timed *t, int32_t i) {
    const struct fr_mesh *mesh = t->mesh;
    return mesh ? (int32_t)(i / fr_mesh_stride(mesh, FR_MESH_PP) % mesh->size[FR_MESH_PP]) : i;
}

/* A clock of 0 is the device's own; models of layers have no stages with clocks. */
static double clock_of(const struct timed *t, int32_t stage) {
    return t->pipeline ? t->pipeline->stage[stage].clock_Hz : 0;
}

static double class_clock(const struct timed *t, const struct fr_device *device,
                          const struct fr_task_class *class) {
    return class->clock ? fr_device_clock_at(&device->clock, class->clock - 1)
                        : clock_of(t, class->stage);
}

/* Energy of passes at clocks of their own beyond that at their stage's clock. */
static double more_J(const struct timed *t, int32_t stage) {
    return t->pipeline && t->pipeline->longer_s ? t->pipeline->more_J[stage] : 0;
}

/* Mean power of each class's work above that of waiting: what is communicated draws its own. */
static void power_classes(struct timed *t, const struct fr_device *device) {
    const struct fr_power *power = &device->power;
    const int comm = FR_WITH_TP | FR_WITH_CP | FR_WITH_EP | FR_WITH_GRADIENTS |
                     FR_WITH_EMBEDDING | FR_WITH_OFFLOAD | FR_WITH_MESSAGES;
    int32_t n = t->program->n_classes;
    fr_price_with(t->price, n, FR_WITH_ALL & ~comm, t->class_W);
    fr_price_with(t->price, n, FR_WITH_ALL, t->class_s);
    for (int32_t c = 0; c < n; c++) {
        /* In the mean of a stage's ranks some wait in it while others compute for them (cSub). */
        double busy_s = t->class_W[c] * (1 - t->price[c].waiting), all_s = t->class_s[c];
        double busy_W =
            fr_device_busy_W(device, class_clock(t, device, &t->program->classes[c]));
        double work_J = busy_W * busy_s + power->communicating_W * (all_s - busy_s);
        bool works = all_s > 0 && !fr_task_is_message(t->program->classes[c].kind);
        t->class_W[c] = works ? fmax(0, work_J / all_s - power->communicating_W) : 0;
    }
}

/* Slots of the plan's ranks as networks number them.  In a folded program tp is innermost, then its ranks, then dp;
 * in an unfolded one the order is the mesh's.  NULL where rank i is in slot i. */
static fr_status map_replicas(const struct fr_job *job, const struct fr_plan *plan,
                              bool as_messages, int64_t **slot, struct fr_error *err) {
    struct fr_rank_map rank_map = {.mesh = fr_rank_map_mesh(plan)};
    /* Linear needs no list, and its groups' costs are not asked for here. */
    if (!plan->placement.row->in_order) FR_TRY(fr_rank_map_make(job, plan, &rank_map, err));
    int64_t tp = fr_mesh_stride(&rank_map.mesh, FR_MESH_TP),
            pp = fr_mesh_stride(&rank_map.mesh, FR_MESH_PP),
            dp = fr_mesh_stride(&rank_map.mesh, FR_MESH_DP);
    /* In every order of ranks tp comes before pp, so where dp is outermost or alone they are in place. */
    bool plain = !rank_map.slot &&
                 (as_messages || dp == plan->tp * plan->pp || fr_plan_replicas(plan) == 1);
    size_t n = (size_t)fr_plan_ranks(plan);
    if (!plain) *slot = fr_malloc(n, sizeof **slot);
    for (size_t i = 0; *slot && i < n; i++) {
        int64_t t = (int64_t)i % plan->tp, r = (int64_t)i / plan->tp % plan->pp,
                d = (int64_t)i / plan->tp / plan->pp, rank = t * tp + r * pp + d * dp;
        if (as_messages) rank = (int64_t)i;
        (*slot)[i] = rank_map.slot ? rank_map.slot[rank] : rank;
    }
    fr_rank_map_free(&rank_map);
    return plain || *slot
               ? FR_OK
               : fr_fail(err, FR_ERR_NOMEM, NULL, "the simulation does not fit in memory");
}

/* Each rank of the program stands for tp x dp x cp that do the same, unless the program is unfolded. */
/* Folding is what makes a million ranks affordable: ranks of one stage run the same passes at the same times, so one
 * of them is played and its messages count for all (weight w of sim/fluid.h). */
static fr_status timed_open(struct timed *t, const struct fr_job *job,
                            const struct fr_plan *plan, bool as_messages,
                            struct fr_error *err) {
    const struct fr_power *power = &job->cluster.device.power;
    size_t tasks = (size_t)t->program->n_tasks + 1, classes = (size_t)t->program->n_classes;
    t->start_s = fr_malloc(2 * tasks, sizeof *t->start_s);
    t->class_s = fr_malloc(4 * classes, sizeof *t->class_s);
    t->use = fr_calloc((size_t)t->program->n_ranks, sizeof *t->use);
    if (!t->start_s || !t->class_s || !t->use)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the simulation does not fit in memory");
    t->end_s = t->start_s + tasks;
    t->class_B = t->class_s + classes;
    t->class_W = t->class_B + classes;
    t->class_gathered_B = t->class_W + classes;
    power_classes(t, &job->cluster.device);
    for (int32_t c = 0; c < t->program->n_classes; c++) {
        fr_task_kind kind = t->program->classes[c].kind;
        t->class_B[c] = fr_task_is_message(kind) ? t->price[c].size_B : 0;
        t->class_gathered_B[c] = fr_task_is_collective(kind) ? t->price[c].size_B : 0;
    }
    t->cluster = job->cluster;
    t->cluster.levels = fr_rank_map_levels(&job->cluster.levels, plan);
    t->work =
        (struct fr_network_work){.cluster = &t->cluster,
                                 .program = t->program,
                                 .class_B = t->class_B,
                                 .class_gathered_B = t->class_gathered_B,
                                 .class_W = power->known ? t->class_W : NULL,
                                 .waiting_W = power->communicating_W,
                                 .rank_map = {as_messages ? 1 : plan->tp,
                                              as_messages ? 1 : fr_plan_replicas(plan), NULL}};
    if (t->network->open) FR_TRY(map_replicas(job, plan, as_messages, &t->slot, err));
    t->work.rank_map.slot = t->slot;
    fr_progress_begin(t->progress, "simulating", RUNS);
    return t->network->open ? t->network->open(&t->work, &t->state, err) : FR_OK;
}

static void timed_close(struct timed *t) {
    fr_progress_end(t->progress);
    if (t->network->close && t->state) t->network->close(t->state);
    free(t->slot);
    free(t->start_s);
    free(t->class_s);
    free(t->use);
}

/* Energy of a rank of each stage, in one of its replicas. */
/* A rank is busy, communicates, is blocked by an exchange, or idles; the four fill the iteration:
 *
 *     idle = T - busy - comm - blocked      E = P_busy busy + P_comm (comm + blocked + idle)
 *
 * A rank that waits in a collective polls, so it draws as much as one that sends (models/outcome/energy.h). The fixed
 * part of an iteration is busy, as in the closed form. */
static void add_energy(const struct fr_job *job, const struct timed *t,
                       struct fr_simulation *s) {
    const struct fr_power *power = &job->cluster.device.power;
    double fixed_s = job->cluster.device.fixed_s, device_J = 0, busy_s = 0;
    int64_t replicas = s->outcome.ranks / s->n_stages;
    for (int32_t i = 0; i < s->n_stages; i++) {
        struct fr_stage_use *use = &s->stages[i];
        if (t->serial)
            use->comm_s = fmax(0, s->outcome.time_s - fixed_s - use->busy_s - use->waiting_s);
        use->busy_s += fixed_s;
        use->idle_s = fmax(0, s->outcome.time_s - use->busy_s - use->comm_s - use->blocked_s);
        int32_t stage = stage_of(t, i);
        use->clock_Hz = clock_of(t, stage);
        use->energy_J = power->known
                            ? fr_rank_energy_J(&job->cluster.device, use->clock_Hz, use->busy_s,
                                               use->comm_s + use->blocked_s + use->idle_s) +
                                  more_J(t, stage)
                            : NAN;
        device_J += use->energy_J * (double)replicas;
        busy_s += use->busy_s * (double)replicas;
    }
    fr_outcome_add_energy(&job->cluster, device_J, busy_s, &s->outcome);
    fr_outcome_add_totals(job, &s->outcome);
}

/* A network that keeps an account of its own goes before ours, as to devices; of an iteration's fixed
 * part it knows nothing. */
static void take_energy(const struct fr_job *job, const struct timed *t,
                        const struct fr_stage_use *use, int n, struct fr_outcome *out) {
    const struct fr_device *device = &job->cluster.device;
    if (!t->network->energy_J || !device->power.known) return;
    double busy_s = 0, replicas = (double)out->ranks / n;
    for (int i = 0; i < n; i++) busy_s += replicas * use[i].busy_s;
    fr_outcome_add_energy(&job->cluster,
                          t->network->energy_J(t->state) +
                              (double)out->ranks * device->power.busy_W * device->fixed_s,
                          busy_s, out);
    fr_outcome_add_totals(job, out);
}

/* Memory of each stage's rank over time, for traces: a constant part and a part per micro-batch in flight,
 *
 *     memory(t) = state + in_flight(t) activation / chunks
 *
 * so that its largest value is the peak that the closed form has (models/outcome/moments.h). */
static void add_memory(const struct fr_job *job, const struct fr_plan *plan,
                       const struct fr_pipeline *p, struct fr_stage_use *use) {
    double grown = 1 + job->cluster.device.memory_margin; /* by what the allocator loses */
    for (int32_t i = 0; i < p->args.stages && !isnan(p->stage[0].parameters); i++) {
        double part_B[FR_MEMORY_COUNT];
        const struct fr_stage *stage = &p->stage[i];
        double stays_B =
            stage->activation_B - stage->ends_B - stage->offloaded_B + stage->moment.fused_B;
        fr_moments_peak(job, plan, p, i, part_B);
        use[i].state_B = part_B[FR_MEMORY_PARAMETERS] + part_B[FR_MEMORY_GRADIENTS] +
                         part_B[FR_MEMORY_OPTIMIZER] +
                         grown * (part_B[FR_MEMORY_ACTIVATIONS] + part_B[FR_MEMORY_BUFFERS] -
                                  fr_pipeline_holds(p, i).all * stays_B);
        use[i].activation_B = grown * stays_B / p->args.chunks;
        use[i].frees = p->splits_backward ? FR_TASK_WEIGHT : FR_TASK_BACKWARD;
    }
}

/* The iteration with each message alone, on a network where they meet. */
static fr_status play_alone(const struct fr_job *job, struct timed *t, struct fr_simulation *s,
                            struct fr_error *err) {
    if (t->network == &fr_network_isolated) return FR_OK;
    fr_price_with(t->price, t->program->n_classes, FR_WITH_ALL, t->class_s);
    FR_TRY(fr_network_isolated.run(&t->work, NULL, t->class_s, t->start_s, t->end_s,
                                   &s->conflicts.alone_s, err));
    s->conflicts.alone_s += job->cluster.device.fixed_s;
    return FR_OK;
}

/* Run once more with everything, and keep what was asked for. */
/* The run with everything comes last, although its time is known by then: the arrays of starts and ends belong to the
 * run that was made last, and the timeline reads them. */
static fr_status keep(const struct fr_job *job, struct timed *t,
                      const struct fr_simulate_options *options, struct fr_simulation *s,
                      struct fr_error *err) {
    struct fr_pipeline_times full = {0};
    if (s->conflicts.played) FR_TRY(play_alone(job, t, s, err));
    FR_TRY(run_with(t, FR_WITH_ALL, &full, err));
    if (s->conflicts.played)
        fr_conflicts_add(t->program, t->price, t->class_s, t->start_s, t->end_s, &s->conflicts);
    fr_record_use(t->program, t->price, t->start_s, t->end_s, t->blocking, t->use);
    if (s->conflicts.played && !t->serial)
        FR_TRY(fr_exposed_add(t->program, t->start_s, t->end_s, t->use, err));
    s->n_stages = t->program->n_ranks;
    s->n_tasks = t->program->n_tasks;
    s->stages = t->use;
    t->use = NULL;
    add_energy(job, t, s);
    take_energy(job, t, s->stages, (int)s->n_stages, &s->outcome);
    if (options && options->look)
        FR_TRY(options->look(options->context, &t->work, t->class_s, err));
    if (!options || !options->timeline) return FR_OK;
    FR_TRY(fr_record_timeline(t->program, t->price, t->start_s, t->end_s, full.makespan_s,
                              t->blocking, &s->timeline, err));
    if (t->serial) s->timeline.n_stages = 1;
    if (t->mesh) {
        s->timeline.n_stages = (int32_t)t->mesh->size[FR_MESH_PP];
        s->timeline.ranks_apart = (int32_t)fr_mesh_stride(t->mesh, FR_MESH_PP);
    }
    return FR_OK;
}

/* By which rule the network's messages went.  An exchange waits for no other. */
static void note_messages(const struct fr_pipeline *p, const struct fr_network *network,
                          bool as_messages, struct fr_outcome *out) {
    if (out->messages != FR_MESSAGES_NONE)
        out->messages = p->duplex                         ? FR_MESSAGES_NONE
                        : network == &fr_network_isolated ? FR_MESSAGES_ALONE
                        : network == &fr_network_shared   ? FR_MESSAGES_IN_ORDER
                                                          : FR_MESSAGES_FAIR;
    /* Played by all ranks, what else uses the links is counted. */
    if (out->messages != FR_MESSAGES_IN_ORDER || as_messages) out->beside = 0;
}

/* Its passes whole, a rank a stage; or every rank's, layer by layer. */
static fr_status lay_out_pipeline(const struct fr_job *job, const struct fr_plan *plan,
                                  const struct fr_pipeline *p,
                                  const struct fr_simulate_options *options,
                                  struct fr_program *program, struct fr_class_price **price,
                                  struct fr_ranks_laid_out *laid_out, struct fr_error *err) {
    if (options && options->as_messages)
        return fr_ranks_lay_out(job, plan, p, options->tasks, program, price, laid_out, err);
    FR_TRY(fr_program_make(p, program, err));
    *price = fr_malloc((size_t)program->n_classes, sizeof **price);
    if (!*price)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the simulation does not fit in memory");
    fr_price_pipeline(p, program, *price);
    return FR_OK;
}

static fr_status simulate_pipeline(const struct fr_job *job, const struct fr_plan *plan,
                                   const struct fr_simulate_options *options,
                                   struct fr_simulation *s, struct fr_error *err) {
    struct fr_outcome *out = &s->outcome;
    struct fr_pipeline p = {0};
    struct fr_program program = {0};
    struct fr_class_price *price = NULL;
    struct fr_progress progress = {0};
    struct fr_ranks_laid_out laid_out = {0};
    const struct fr_mesh mesh = fr_rank_map_mesh(plan);
    bool as_messages = options && options->as_messages;
    struct timed t = {.program = &program, .progress = &progress, .blocking = plan->duplex};
    out->reasons = fr_pipeline_check(job, plan);
    if (out->reasons) return FR_OK;
    fr_status status = fr_pipeline_make(job, plan, &p, &out->extrapolated, err);
    if (p.lines && !(options && options->network)) s->network = &fr_network_shared;
    t.network = s->network;
    if (status == FR_OK && options && options->timeline)
        status = fr_pipeline_price_again(job, plan, &p, err);
    const char *refused = status == FR_OK && as_messages ? fr_ranks_refused(plan) : NULL;
    if (refused) status = fr_fail(err, FR_ERR_UNSUPPORTED, "--collectives", "%s", refused);
    if (status == FR_OK)
        status = lay_out_pipeline(job, plan, &p, options, &program, &price, &laid_out, err);
    t.price = price;
    t.pipeline = &p;
    t.mesh = as_messages ? &mesh : NULL;
    if (status == FR_OK) status = timed_open(&t, job, plan, as_messages, err);
    s->conflicts.played = as_messages;
    s->conflicts.merged = laid_out.merged;
    if (status == FR_OK) status = fr_pipeline_outcome(job, &p, run_with, &t, out, err);
    if (status == FR_OK) status = keep(job, &t, options, s, err);
    note_messages(&p, s->network, as_messages, out);
    if (status == FR_OK && !as_messages) add_memory(job, plan, &p, s->stages);
    timed_close(&t);
    free(price);
    fr_program_free(&program);
    fr_pipeline_free(&p);
    return status;
}

/* Parts found by switching off in turn, as for pipelines; what is left computes. */
static fr_status time_layers(const struct fr_job *job, struct timed *t, struct fr_outcome *out,
                             struct fr_error *err) {
    static const struct {
        int off, part;
    } turns[] = {{FR_WITH_CODEC, FR_PART_COMPRESSION},
                 {FR_WITH_GRADIENTS, FR_PART_DP_COMM},
                 {FR_WITH_TP, FR_PART_TP_COMM},
                 {FR_WITH_LAUNCH, FR_PART_LAUNCH}};
    struct fr_pipeline_times now = {0};
    int with = FR_WITH_ALL;
    FR_TRY(run_with(t, with, &now, err));
    out->time_s = now.makespan_s + job->cluster.device.fixed_s;
    for (size_t k = 0; k < sizeof turns / sizeof *turns; k++) {
        double before_s = now.makespan_s;
        with &= ~turns[k].off;
        FR_TRY(run_with(t, with, &now, err));
        out->part_s[turns[k].part] = fmax(0, before_s - now.makespan_s);
    }
    out->part_s[FR_PART_COMPUTE] = now.makespan_s;
    return FR_OK;
}

/* Memory, parameters and bytes do not depend on when things happen: the closed form's stay. */
static fr_status simulate_layers(const struct fr_job *job, const struct fr_plan *plan,
                                 const struct fr_simulate_options *options,
                                 struct fr_simulation *s, struct fr_error *err) {
    struct fr_outcome *out = &s->outcome;
    struct fr_program program = {0};
    struct fr_class_price *price = NULL;
    struct fr_progress progress = {0};
    struct timed t = {
        .program = &program, .progress = &progress, .network = s->network, .serial = true};
    bool as_messages = options && options->as_messages;
    fr_pipeline_cost(job, plan, out);
    out->engine = s->network->engine;
    if (!out->reasons && plan->layer_tp) {
        fr_pipeline_refuse(plan, FR_BECAUSE(FR_REASON_LAYER_TP), out);
        out->engine = s->network->engine;
    }
    if (out->reasons & ~FR_BECAUSE(FR_REASON_MEMORY)) return FR_OK;
    fr_status status = fr_layers_make(job, plan, as_messages, &program, &price, err);
    t.price = price;
    s->conflicts.played = as_messages;
    s->conflicts.merged = 1;
    if (status == FR_OK) status = timed_open(&t, job, plan, as_messages, err);
    if (status == FR_OK) status = time_layers(job, &t, out, err);
    if (status == FR_OK) status = keep(job, &t, options, s, err);
    timed_close(&t);
    free(price);
    fr_program_free(&program);
    return status;
}

static fr_status simulate(const struct fr_job *job, const struct fr_plan *plan,
                          const struct fr_simulate_options *options, struct fr_simulation *s,
                          struct fr_error *err) {
    if (!fr_job_is_pipeline(job, plan)) return simulate_layers(job, plan, options, s, err);
    return simulate_pipeline(job, plan, options, s, err);
}

/* A plan that warms up (compression after some iterations, say) is two plans in turn: the second simulation is of the
 * first iterations, and the outcome is their mix over the whole training. */
fr_status fr_simulate(const struct fr_job *job, const struct fr_plan *given,
                      const struct fr_simulate_options *options, struct fr_simulation *s,
                      struct fr_error *err) {
    struct fr_resolved resolved;
    *s = (struct fr_simulation){.network = options && options->network ? options->network
                                                                       : &fr_network_isolated};
    fr_status status = fr_resolve(job, given, &resolved, err);
    fr_pipeline_refuse(&resolved.plan, 0, &s->outcome);
    s->outcome.engine = s->network->engine;
    if (status == FR_OK) status = simulate(resolved.job, &resolved.plan, options, s, err);
    struct fr_plan plain;
    if (status == FR_OK && !s->outcome.reasons && fr_plan_warms_up(&resolved.plan, &plain)) {
        struct fr_simulation before = {.network = s->network};
        struct fr_simulate_options again = options ? *options : (struct fr_simulate_options){0};
        again.timeline = false;
        fr_pipeline_refuse(&plain, 0, &before.outcome);
        status = simulate(resolved.job, &plain, &again, &before, err);
        if (status == FR_OK) fr_outcome_add_warm_up(resolved.job, &before.outcome, &s->outcome);
        fr_simulation_free(&before);
    }
    fr_resolved_restore(&resolved, &s->outcome.plan);
    fr_resolved_free(&resolved);
    return status;
}

void fr_simulation_free(struct fr_simulation *s) {
    fr_timeline_free(&s->timeline);
    free(s->stages);
    *s = (struct fr_simulation){0};
}

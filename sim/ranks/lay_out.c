#include "sim/ranks/lay_out.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/plan/method.h"
#include "sim/ranks/laying.h"

/* Below, each collective is played for itself. */
enum { TASKS_WANTED = 3 << 20 };

/* ---- messages between stages ------------------------------------------------------------------------ */

static void stand_at(struct fr_ranks_laying *l, int32_t stage) {
    bool ends = stage == l->p->args.stages;
    l->b.here = l->here[stage];
    l->b.n_here = ends ? 2 * l->n_here : l->n_here;
    l->b.stage = ends ? 0 : stage;
}

/* Those who received parts gather them; on links that need no gather there is none. */
static void gather(struct fr_ranks_laying *l, const struct fr_ranks_played *at,
                   int32_t boundary, int32_t stage) {
    struct fr_ranks_exchanged *e = fr_ranks_exchanged(l, boundary, stage, FR_EXCHANGES_ARRIVED);
    stand_at(l, stage);
    for (int k = 0; k < e->x.n && !l->b.failed; k++)
        fr_ranks_play(l, e, k, at->share, at->task->micro);
}

/* From every rank of the sender's stage to that of equal place.  The folded task's time holds the gather. */
static void play_message(struct fr_ranks_laying *l, const struct fr_ranks_played *at) {
    const struct fr_task *task = at->task;
    const bool both = at->class->kind == FR_TASK_EXCHANGE;
    struct fr_ranks_exchanged *e =
        fr_ranks_exchanged(l, at->class->stage, at->class->stage, FR_EXCHANGES_ARRIVED);
    struct fr_class_price price = *at->price;
    double gather_s = e->x.n > 0 ? e->x.list[0].alone_s : 0;
    bool gathers = gather_s > 0 && price.part_s[FR_PRICE_MESSAGES] >= gather_s * (1 - 1e-12);
    if (gathers)
        price.part_s[FR_PRICE_MESSAGES] = fmax(0, price.part_s[FR_PRICE_MESSAGES] - gather_s);
    const int32_t *from = l->here[task->rank], *to = l->here[task->peer];
    int32_t class_id = fr_ranks_class(&l->b, at->class->kind, &price);
    if (class_id >= 0) l->b.program->classes[class_id].stage = at->class->stage;
    for (int32_t x = 0; x < l->n_here && !l->b.failed; x++) {
        int32_t sent = fr_ranks_task(&l->b, class_id, from[x], to[x], task->micro);
        fr_ranks_wait(&l->b, sent, to[x]);
        l->b.ranks[to[x]].last = l->b.ranks[from[x]].last = sent;
    }
    if (gathers) gather(l, at, at->class->stage, task->peer);
    if (gathers && both) {
        gather(l, at, at->class->stage, task->rank);
        for (int32_t x = 0; x < l->n_here; x++)
            l->b.ranks[to[x]].also[0] = l->b.ranks[from[x]].last;
        stand_at(l, task->peer);
        fr_ranks_join(&l->b, task->micro);
    }
}

/* A tied embedding's gradients, between both ends. */
static void play_embedding(struct fr_ranks_laying *l, struct fr_ranks_played *at) {
    int32_t last = l->p->args.stages - 1;
    stand_at(l, last + 1);
    fr_ranks_play_work(l, at);
    for (int32_t x = 0; x < l->n_here; x++)
        l->b.ranks[l->here[last][x]].also[0] = l->b.ranks[l->here[0][x]].last;
    stand_at(l, last);
    fr_ranks_join(&l->b, at->task->micro);
}

/* ---- the folded program ----------------------------------------------------------------------------- */

static fr_exchanges_step step_of(fr_task_kind kind) {
    switch (kind) {
    case FR_TASK_FORWARD:
        return FR_EXCHANGES_FORWARD;
    case FR_TASK_BACKWARD:
        return FR_EXCHANGES_BACKWARD;
    case FR_TASK_WEIGHT:
        return FR_EXCHANGES_WEIGHT;
    case FR_TASK_GRADIENT:
        return FR_EXCHANGES_GRADIENT;
    case FR_TASK_EMBEDDING:
        return FR_EXCHANGES_EMBEDDING;
    case FR_TASK_OPTIMIZER:
        return FR_EXCHANGES_UPDATED;
    default:
        return FR_EXCHANGES_STEPS; /* a codec's work, or a message */
    }
}

static bool is_pass(fr_task_kind kind) {
    return kind == FR_TASK_FORWARD || kind == FR_TASK_BACKWARD || kind == FR_TASK_WEIGHT;
}

static double share_of(const struct fr_ranks_laying *l, const struct fr_task_class *class) {
    double buckets = class->part ? fmax(1, l->p->stage[class->stage].buckets) : 1;
    bool parted = is_pass(class->kind) || (class->kind == FR_TASK_GRADIENT && class->part);
    return parted ? 1 / (l->p->args.chunks * buckets) : 1;
}

static struct fr_ranks_played played_of(struct fr_ranks_laying *l, int64_t t) {
    const struct fr_task *task = &l->folded.tasks[t];
    struct fr_ranks_played at = {.task = task,
                                 .class = &l->folded.classes[task->class_id],
                                 .price = &l->folded_price[task->class_id],
                                 .e = &l->none};
    fr_exchanges_step step = step_of(at.class->kind);
    at.share = share_of(l, at.class);
    if (step < FR_EXCHANGES_STEPS)
        at.e = fr_ranks_exchanged(l, at.class->stage, at.class->stage, step);
    return at;
}

/* Ranks of the task's stage begin where what it waits for is over, at their place in its stage. */
static void begin_ranks(struct fr_ranks_laying *l, const struct fr_task *task, int32_t stage) {
    for (int32_t x = 0; x < l->n_here; x++) {
        struct fr_ranks_rank *r = &l->b.ranks[l->here[stage][x]];
        int32_t found[FR_TASK_WAITS_MAX], n = 0;
        for (int k = 0; k < FR_TASK_WAITS_MAX; k++)
            if (task->after[k] >= 0 && l->end[(int64_t)task->after[k] * l->n_here + x] >= 0)
                found[n++] = l->end[(int64_t)task->after[k] * l->n_here + x];
        *r = (struct fr_ranks_rank){
            n > 0 ? found[0] : -1, {n > 1 ? found[1] : -1, n > 2 ? found[2] : -1}, -1, -1, -1};
    }
}

static void end_ranks(struct fr_ranks_laying *l, int64_t t, int32_t stage) {
    for (int32_t x = 0; x < l->n_here; x++)
        l->end[t * l->n_here + x] = l->b.ranks[l->here[stage][x]].last;
}

static void expand(struct fr_ranks_laying *l, int64_t t) {
    struct fr_ranks_played at = played_of(l, t);
    int32_t from = at.task->rank, to = at.task->peer;
    bool message = to >= 0 && at.class->kind != FR_TASK_EMBEDDING;
    if (l->b.failed) return;
    l->b.chunk = at.task->chunk;
    begin_ranks(l, at.task, from);
    if (to >= 0) begin_ranks(l, at.task, to);
    fr_ranks_begin(&l->b, &l->reused[at.task->class_id]);
    stand_at(l, message ? to : from);
    if (message)
        play_message(l, &at);
    else if (to >= 0)
        play_embedding(l, &at);
    else
        fr_ranks_play_work(l, &at);
    end_ranks(l, t, to >= 0 ? to : from);
}

/* ---- how many tasks --------------------------------------------------------------------------------- */

/* Tasks of a rank in one of the folded program. */
static double tasks_of(struct fr_ranks_laying *l, const struct fr_ranks_played *at) {
    double n = 1;
    for (int k = 0; k < at->e->x.n; k++) {
        const struct fr_exchange *x = &at->e->x.list[k];
        const struct fr_ranks_collective c = fr_ranks_collective_of(l, at->e, k, 1);
        n += fr_ranks_repeats(l, x, at->share) * (1 + fr_ranks_tasks(&l->b, &c));
    }
    return n;
}

static double count_tasks(struct fr_ranks_laying *l, const double *of_class) {
    double sum = 0;
    for (int64_t t = 0; t < l->folded.n_tasks && !l->b.failed; t++)
        sum += of_class[l->folded.tasks[t].class_id] * l->n_here;
    return sum;
}

/* Tasks of the whole program where at most l->most equal collectives of a pass go apart. */
static double estimate(struct fr_ranks_laying *l) {
    double *of_class = fr_calloc((size_t)l->folded.n_classes + 1, sizeof *of_class), sum = 0;
    l->b.failed = l->b.failed || !of_class;
    for (int64_t t = 0; t < l->folded.n_tasks && !l->b.failed; t++) {
        double *n = &of_class[l->folded.tasks[t].class_id];
        if (*n > 0) continue;
        struct fr_ranks_played at = played_of(l, t);
        if (!l->b.failed) *n = tasks_of(l, &at);
    }
    if (of_class) sum = count_tasks(l, of_class);
    free(of_class);
    return sum;
}

static double most_repeats(struct fr_ranks_laying *l) {
    double most = 1;
    l->most = INFINITY;
    for (int64_t t = 0; t < l->folded.n_tasks && !l->b.failed; t++) {
        struct fr_ranks_played at = played_of(l, t);
        for (int k = 0; k < at.e->x.n && !l->b.failed; k++)
            most = fmax(most, fr_ranks_repeats(l, &at.e->x.list[k], at.share));
    }
    return most;
}

/* Halve how many go apart until the program is short. */
static void choose_most(struct fr_ranks_laying *l, double wanted,
                        struct fr_ranks_laid_out *out) {
    double all = most_repeats(l);
    l->most = all;
    out->tasks = estimate(l);
    while (out->tasks > wanted && l->most > 1 && !l->b.failed) {
        l->most = fmax(1, floor(l->most / 2));
        out->tasks = estimate(l);
    }
    out->merged = all / l->most;
}

/* ---- laying out ------------------------------------------------------------------------------------- */

static bool find_ranks(struct fr_ranks_laying *l) {
    int32_t stages = l->p->args.stages;
    l->n_here = (int32_t)(fr_mesh_ranks(&l->rank_map.mesh) / stages);
    l->here = fr_calloc((size_t)stages + 1, sizeof *l->here);
    for (int32_t i = 0; l->here && i <= stages; i++) {
        int64_t n = (int64_t)l->n_here * (i == stages ? 2 : 1);
        l->here[i] = fr_malloc((size_t)n, sizeof *l->here[i]);
        for (int64_t k = 0; l->here[i] && k < n; k++) {
            int64_t x = k % l->n_here, of = i < stages ? i : k < l->n_here ? 0 : stages - 1;
            l->here[i][k] = (int32_t)fr_members_rank(&l->rank_map, of, x);
        }
        if (!l->here[i]) return false;
    }
    return l->here != NULL;
}

static bool make_buffers(struct fr_ranks_laying *l) {
    size_t ranks = (size_t)l->b.program->n_ranks,
           ends = (size_t)l->folded.n_tasks * (size_t)l->n_here;
    l->exchanged =
        fr_calloc((size_t)l->p->args.stages * (FR_EXCHANGES_STEPS + 1), sizeof *l->exchanged);
    l->reused = fr_malloc((size_t)l->folded.n_classes + 1, sizeof *l->reused);
    for (int32_t c = 0; l->reused && c < l->folded.n_classes; c++)
        l->reused[c].first_class = -1;
    l->end = fr_malloc(ends + 1, sizeof *l->end);
    l->start = fr_malloc(ranks, sizeof *l->start);
    l->lane_end = fr_malloc(FR_LANES * ranks, sizeof *l->lane_end);
    l->block_start = fr_malloc(ranks, sizeof *l->block_start);
    l->block_end = fr_malloc(ranks, sizeof *l->block_end);
    return l->exchanged && l->reused && l->end && l->start && l->lane_end && l->block_start &&
           l->block_end && fr_ranks_make(&l->b, (int32_t)ranks);
}

static bool fold(struct fr_ranks_laying *l, fr_status *status) {
    *status = fr_program_make(l->p, &l->folded, l->b.err);
    if (*status != FR_OK) return true;
    l->folded_price = fr_malloc((size_t)l->folded.n_classes, sizeof *l->folded_price);
    if (l->folded_price) fr_price_pipeline(l->p, &l->folded, l->folded_price);
    return l->folded_price != NULL;
}

static fr_status too_many(const struct fr_ranks_laying *l, double tasks) {
    return fr_fail(l->b.err, FR_ERR_UNSUPPORTED, "--collectives",
                   "played by %d ranks the plan has about %.3g million messages and pieces of "
                   "work, of %d million at most; play fewer micro-batches (a smaller "
                   "global_batch), fewer replicas (dp), or --collectives operations",
                   l->b.program->n_ranks, tasks / 1e6, FR_RANKS_TASKS_MAX >> 20);
}

static fr_status lay_out(struct fr_ranks_laying *l, double wanted,
                         struct fr_ranks_laid_out *out) {
    choose_most(l, wanted > 0 ? wanted : TASKS_WANTED, out);
    if (out->tasks > FR_RANKS_TASKS_MAX && !l->b.failed) return too_many(l, out->tasks);
    for (int64_t t = 0; t < l->folded.n_tasks && !l->b.failed && l->b.status == FR_OK; t++)
        expand(l, t);
    if (l->b.program->n_tasks >= FR_RANKS_TASKS_MAX)
        return too_many(l, (double)l->b.program->n_tasks);
    out->tasks = (double)l->b.program->n_tasks;
    return l->b.status;
}

static void end(struct fr_ranks_laying *l) {
    fr_ranks_free_exchanged(l);
    for (int32_t i = 0; l->here && i <= l->p->args.stages; i++) free(l->here[i]);
    free(l->here);
    free(l->reused);
    free(l->end);
    free(l->start);
    free(l->lane_end);
    free(l->block_start);
    free(l->block_end);
    free(l->folded_price);
    free(l->b.ranks);
    fr_program_free(&l->folded);
    fr_rank_map_free(&l->rank_map);
}

const char *fr_ranks_refused(const struct fr_plan *plan) {
    return plan->layer_tp && plan->n_layer_tp != FR_GRIDS
               ? "a grid per layer is priced by the closed form only"
               : NULL;
}

fr_status fr_ranks_lay_out(const struct fr_job *job, const struct fr_plan *plan,
                           const struct fr_pipeline *p, double wanted,
                           struct fr_program *program, struct fr_class_price **price,
                           struct fr_ranks_laid_out *out, struct fr_error *err) {
    int64_t ranks = fr_plan_ranks(plan);
    *program = (struct fr_program){0};
    *price = NULL;
    *out = (struct fr_ranks_laid_out){0};
    FR_TRY(fr_ranks_check(ranks, err));
    struct fr_ranks_laying l = {.job = job,
                                .plan = plan,
                                .p = p,
                                .b = {.cluster = &job->cluster,
                                      .cluster_from = job->cluster_from,
                                      .program = program,
                                      .rank_map = &l.rank_map,
                                      .err = err}};
    fr_status status = FR_OK;
    program->n_ranks = (int32_t)ranks;
    l.b.failed = fr_rank_map_make(job, plan, &l.rank_map, NULL) != FR_OK ||
                 !fold(&l, &status) ||
                 (status == FR_OK && (!find_ranks(&l) || !make_buffers(&l)));
    if (!l.b.failed && status == FR_OK) status = lay_out(&l, wanted, out);
    end(&l);
    *price = l.b.price;
    if (status != FR_OK) return status;
    return l.b.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "the program does not fit in memory")
                      : FR_OK;
}

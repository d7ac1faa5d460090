/* The same plan in SimGrid 3.32: a third opinion, at flow level.
 *
 * All replicas run, none folded.  Work takes its time on a host of two cores, one for computing and one for
 * collectives, at a share of the core that draws the work's power.  A message is its bytes over the route of the
 * exported platform.  The part of its class's time beyond route latency and bytes (a gather among the receivers)
 * follows as time of the receiver, at next to no power.  A rank that a message blocks draws no more here than one
 * that waits.  The model is CM02 with latencies and rates as they are (topology/platform.h).
 *
 * Where it differs from `shared`: flows of different latencies that meet on a link get shares in
 * inverse proportion to their round-trip times there (CM02 follows TCP), equal ones here. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/network/simgrid/child.h"
#include "sim/paths.h"
#include "sim/unfold.h"
#include "topology/platform.h"

/* Beyond these SimGrid takes gigabytes and minutes. */
enum { RANKS_MAX = 4096, ACTIVITIES_MAX = 4000000 };

/* A task's share of a core that draws nothing to speak of. */
#define NO_POWER_SHARE 1e-6

/* A run and the class times it was made with: the first (all costs) and the latest are kept, so as
 * not to be made twice. */
struct outcome {
    double *class_s, *start_s, *end_s;
    double makespan_s, energy_J, wall_s;
};

struct simgrid {
    struct fr_paths paths; /* of the folded program */
    struct fr_program all; /* unfolded */
    struct fr_text platform;
    int64_t replicas;
    double full_W; /* above idle, of a whole core */
    struct outcome first, latest, *current;
    int32_t *last; /* [tasks][2]: activities that end a task */
};

/* ---- writing the program ---------------------------------------------------------------------- */

struct writing {
    const struct fr_network_work *work;
    struct simgrid *s;
    const double *class_s;
    struct fr_text *text;
    int32_t count; /* activities so far */
};

static void add_waits(struct writing *w, const struct fr_task *task) {
    int32_t all[2 * FR_TASK_WAITS_MAX];
    int n = 0;
    for (int k = 0; k < FR_TASK_WAITS_MAX && task->after[k] >= 0; k++)
        for (int e = 0; e < 2; e++) {
            int32_t id = w->s->last[2 * (size_t)task->after[k] + (size_t)e];
            if (id >= 0) all[n++] = id;
        }
    fr_text_addf(w->text, " %d", n);
    for (int k = 0; k < n; k++) fr_text_addf(w->text, " %d", all[k]);
    fr_text_addf(w->text, "\n");
}

/* @p side: which of the ends of a task that two ranks take part in */
static void add_work(struct writing *w, int64_t t, int side, double time_s) {
    const struct fr_task *task = &w->s->all.tasks[t];
    double share = NO_POWER_SHARE;
    if (w->work->class_W && w->s->full_W > 0)
        share = fmax(share, w->work->class_W[task->class_id] / w->s->full_W);
    fr_text_addf(w->text, "x %d %.17g %.17g", side ? task->peer : task->rank, time_s, share);
    add_waits(w, task);
    w->s->last[2 * t + side] = w->count++;
}

static void add_message(struct writing *w, int64_t t, int side, const struct fr_path *path) {
    const struct fr_task *task = &w->s->all.tasks[t];
    double alone_s = w->class_s[task->class_id];
    double size_B = fmin(w->work->class_B[task->class_id], alone_s * path->alone_B_per_s);
    double after_s = alone_s - path->latency_s - size_B / path->alone_B_per_s;
    int32_t from = side ? task->peer : task->rank, to = side ? task->rank : task->peer;
    fr_text_addf(w->text, "m %d %d %.17g", from, to, size_B);
    add_waits(w, task);
    w->s->last[2 * t + side] = w->count++;
    /* The term for shared links in a collective's closed form happens by itself, where the collective is simulated by
     * messages.  One that stands for several has the latency of each; one that is a part, as in passes of many parts,
     * has a whole one. */
    const struct fr_task_class *class = &w->work->program->classes[task->class_id];
    if (class->kind == FR_TASK_COLLECTIVE_MESSAGE)
        after_s = (class->times - 1) * path->latency_s;
    if (after_s <= 1e-9 * alone_s) return;
    fr_text_addf(w->text, "x %d %.17g %.17g 1 %d\n", to, after_s, NO_POWER_SHARE,
                 w->s->last[2 * t + side]);
    w->s->last[2 * t + side] = w->count++;
}

static void write_program(struct writing *w) {
    const struct fr_program *all = &w->s->all;
    for (int64_t t = 0; t < all->n_tasks; t++) {
        const struct fr_task *task = &all->tasks[t];
        int32_t q = w->s->paths.task_path[t / w->s->replicas];
        w->s->last[2 * t] = w->s->last[2 * t + 1] = -1;
        double alone_s = w->class_s[task->class_id];
        if (q < 0 || !(w->work->class_B[task->class_id] > 0) || !(alone_s > 0)) {
            add_work(w, t, 0, alone_s);
            if (w->work->program->classes[task->class_id].kind == FR_TASK_EMBEDDING)
                add_work(w, t, 1, alone_s);
            continue;
        }
        add_message(w, t, 0, &w->s->paths.paths[q]);
        if (w->work->program->classes[task->class_id].kind == FR_TASK_EXCHANGE)
            add_message(w, t, 1, &w->s->paths.paths[w->s->paths.back[q]]);
    }
}

/* ---- reading the result ----------------------------------------------------------------------- */

static bool next_number(char **at, double *value) {
    char *end = NULL;
    *value = strtod(*at, &end);
    if (end == *at) return false;
    *at = end;
    return true;
}

/* For each folded task, the replica that ends last. */
static fr_status read_result(const struct fr_network_work *work, struct simgrid *s,
                             int32_t activities, char *text, struct fr_error *err) {
    double *times = fr_malloc(2 * ((size_t)activities + 1), sizeof *times), energy_J;
    bool complete = times != NULL;
    char *at = text;
    for (int64_t k = 0; complete && k < 2 * (int64_t)activities; k++)
        complete = next_number(&at, &times[k]);
    struct outcome *out = s->current;
    out->makespan_s = out->energy_J = 0;
    for (int64_t r = 0; complete && r < s->all.n_ranks; r++) {
        complete = next_number(&at, &energy_J);
        out->energy_J += energy_J;
    }
    complete = complete && next_number(&at, &out->wall_s);
    for (int64_t t = 0; complete && t < s->all.n_tasks; t++) {
        int64_t folded = t / s->replicas;
        const struct fr_task *task = &work->program->tasks[folded];
        double end_s = 0, start_s = 0;
        for (int e = 0; e < 2; e++)
            if (s->last[2 * t + e] >= 0)
                end_s = fmax(end_s, times[2 * (size_t)s->last[2 * t + e] + 1]);
        if (t % s->replicas && end_s <= out->end_s[folded]) continue;
        for (int k = 0; k < FR_TASK_WAITS_MAX && task->after[k] >= 0; k++)
            start_s = fmax(start_s, out->end_s[task->after[k]]);
        out->end_s[folded] = end_s;
        out->start_s[folded] = fmin(start_s, end_s);
        out->makespan_s = fmax(out->makespan_s, end_s);
    }
    free(times);
    return complete
               ? FR_OK
               : fr_fail(err, FR_ERR_EXTERNAL, "forerun-simgrid", "left an incomplete result");
}

/* ---- running ----------------------------------------------------------------------------------- */

static bool same_classes(const struct outcome *out, const double *class_s, size_t classes) {
    return memcmp(out->class_s, class_s, classes * sizeof *class_s) == 0;
}

static fr_status run_anew(const struct fr_network_work *work, struct simgrid *s,
                          const double *class_s, struct fr_error *err) {
    struct fr_text text = {0};
    struct writing w = {work, s, class_s, &text, 0};
    char *result = NULL;
    s->current = s->first.class_s[0] < 0 ? &s->first : &s->latest;
    write_program(&w);
    fr_status status = fr_simgrid_run(&s->platform, &text, &result, err);
    fr_text_free(&text);
    if (status == FR_OK) status = read_result(work, s, w.count, result, err);
    free(result);
    if (status == FR_OK)
        memcpy(s->current->class_s, class_s,
               (size_t)work->program->n_classes * sizeof *class_s);
    return status;
}

static fr_status run(const struct fr_network_work *work, void *state, const double *class_s,
                     double *start_s, double *end_s, double *makespan_s, struct fr_error *err) {
    struct simgrid *s = state;
    size_t classes = (size_t)work->program->n_classes, tasks = (size_t)work->program->n_tasks;
    if (!same_classes(&s->first, class_s, classes) &&
        !same_classes(&s->latest, class_s, classes))
        FR_TRY(run_anew(work, s, class_s, err));
    s->current = same_classes(&s->first, class_s, classes) ? &s->first : &s->latest;
    memcpy(start_s, s->current->start_s, tasks * sizeof *start_s);
    memcpy(end_s, s->current->end_s, tasks * sizeof *end_s);
    *makespan_s = s->current->makespan_s;
    return FR_OK;
}

static double energy_J(void *state) { return ((struct simgrid *)state)->current->energy_J; }

/* ---- preparing --------------------------------------------------------------------------------- */

static fr_status write_platform(const struct fr_network_work *work, struct simgrid *s,
                                struct fr_error *err) {
    const struct fr_power *power = &work->cluster->device.power;
    int64_t n = 0;
    int32_t(*pairs)[2] =
        fr_malloc((size_t)s->paths.n_paths * (size_t)s->replicas + 1, sizeof *pairs);
    if (!pairs) return fr_fail(err, FR_ERR_NOMEM, NULL, "the platform does not fit in memory");
    for (int32_t q = 0; q < s->paths.n_paths; q++)
        for (int64_t d = 0; d < work->rank_map.dp; d++)
            for (int64_t t = 0; t < work->rank_map.tp; t++) {
                const struct fr_path *path = &s->paths.paths[q];
                int64_t first = d * work->program->n_ranks;
                pairs[n][0] = (int32_t)((first + path->from) * work->rank_map.tp + t);
                pairs[n++][1] = (int32_t)((first + path->to) * work->rank_map.tp + t);
            }
    struct fr_platform platform = {.name = "cluster",
                                   .n_ranks = s->all.n_ranks,
                                   .slot = work->rank_map.slot,
                                   .speed_flop_per_s = 1e9,
                                   .cores = 2,
                                   .idle_W = NAN,
                                   .n_pairs = n,
                                   .pairs = (const int32_t(*)[2])pairs};
    if (power->known) {
        double waiting_W = work->waiting_W;
        s->full_W = fmax(power->busy_W, power->communicating_W) - waiting_W;
        platform.idle_W = waiting_W;
        platform.all_cores_W = waiting_W + 2 * s->full_W;
    }
    fr_status status = fr_platform_write(&work->cluster->levels, &platform, &s->platform, err);
    free(pairs);
    return status;
}

static double wall_s(void *state) { return ((struct simgrid *)state)->current->wall_s; }

/* No time is negative: class times below 0 are those of no run. */
static bool outcome_make(const struct fr_program *program, struct outcome *out) {
    size_t classes = (size_t)program->n_classes, tasks = (size_t)program->n_tasks;
    out->class_s = fr_malloc(classes + 2 * tasks + 1, sizeof *out->class_s);
    if (!out->class_s) return false;
    out->start_s = out->class_s + classes;
    out->end_s = out->start_s + tasks;
    for (size_t c = 0; c < classes; c++) out->class_s[c] = -1;
    return true;
}

static void close_simgrid(void *state) {
    struct simgrid *s = state;
    fr_paths_free(&s->paths);
    fr_program_free(&s->all);
    fr_text_free(&s->platform);
    free(s->first.class_s);
    free(s->latest.class_s);
    free(s->last);
    free(s);
}

static fr_status open_simgrid(const struct fr_network_work *work, void **state,
                              struct fr_error *err) {
    size_t tasks = (size_t)work->program->n_tasks;
    double replicas = (double)work->rank_map.tp * (double)work->rank_map.dp;
    if (replicas * work->program->n_ranks > RANKS_MAX ||
        replicas * (double)tasks > ACTIVITIES_MAX)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "--network simgrid",
                       "the plan has %.6g ranks and %.6g tasks, SimGrid is given %d and %d at "
                       "most; --network shared has no such limit",
                       replicas * work->program->n_ranks, replicas * (double)tasks, RANKS_MAX,
                       ACTIVITIES_MAX);
    struct simgrid *s = fr_calloc(1, sizeof *s);
    *state = s;
    if (!s) return fr_fail(err, FR_ERR_NOMEM, NULL, "the network does not fit in memory");
    s->replicas = work->rank_map.tp * work->rank_map.dp;
    FR_TRY(fr_paths_make(work, &s->paths, err));
    FR_TRY(fr_program_unfold(work->program, &work->rank_map, &s->all, err));
    s->last = fr_malloc(2 * ((size_t)s->all.n_tasks + 1), sizeof *s->last);
    if (!s->last || !outcome_make(work->program, &s->first) ||
        !outcome_make(work->program, &s->latest))
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the network does not fit in memory");
    return write_platform(work, s, err);
}

const struct fr_network fr_network_simgrid = {
    .name = "simgrid",
    .summary = "the same plan in SimGrid 3.32, every replica, by forerun-simgrid",
    .source =
        "Casanova, Giersch, Legrand, Quinson & Suter, J. Parallel Distrib. Comput. 74(10), "
        "2014; model CM02, latencies and rates as they are",
    .engine = "simgrid",
    .open = open_simgrid,
    .close = close_simgrid,
    .run = run,
    .energy_J = energy_J,
    .wall_s = wall_s,
};

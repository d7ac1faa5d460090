#include "sim/exposed.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"

struct stretch {
    double start_s, end_s;
};

struct ranks {
    const struct fr_program *program;
    const double *start_s, *end_s;
    int64_t *first; /* [n_ranks + 1]: of its tasks */
    int32_t *task;
    struct stretch *stretch; /* of one rank */
};

/* Tasks that count: work and collectives' messages that take time. */
static bool counts(const struct ranks *r, int64_t t) {
    const struct fr_task_class *class = &r->program->classes[r->program->tasks[t].class_id];
    bool message = class->kind == FR_TASK_COLLECTIVE_MESSAGE;
    if (class->unseen || !(r->end_s[t] > r->start_s[t])) return false;
    return message || !fr_task_is_message(class->kind);
}

/* A message is of both its ranks. */
static bool of_both(const struct ranks *r, int64_t t) { return r->program->tasks[t].peer >= 0; }

static bool list_tasks(struct ranks *r) {
    const struct fr_program *p = r->program;
    r->first = fr_calloc((size_t)p->n_ranks + 2, sizeof *r->first);
    if (!r->first) return false;
    for (int64_t t = 0; t < p->n_tasks; t++) {
        if (!counts(r, t)) continue;
        r->first[p->tasks[t].rank + 2]++;
        if (of_both(r, t)) r->first[p->tasks[t].peer + 2]++;
    }
    int64_t most = 0;
    for (int32_t i = 0; i < p->n_ranks; i++) {
        most = r->first[i + 2] > most ? r->first[i + 2] : most;
        r->first[i + 2] += r->first[i + 1];
    }
    r->task = fr_malloc((size_t)r->first[p->n_ranks + 1] + 1, sizeof *r->task);
    r->stretch = fr_malloc((size_t)most + 1, sizeof *r->stretch);
    for (int64_t t = 0; t < p->n_tasks && r->task; t++) {
        if (!counts(r, t)) continue;
        r->task[r->first[p->tasks[t].rank + 1]++] = (int32_t)t;
        if (of_both(r, t)) r->task[r->first[p->tasks[t].peer + 1]++] = (int32_t)t;
    }
    return r->task && r->stretch;
}

static int by_start(const void *a, const void *b) {
    const struct stretch *x = a, *y = b;
    if (x->start_s != y->start_s) return FR_ORDER(x->start_s, y->start_s);
    return FR_ORDER(x->end_s, y->end_s);
}

/* Its stretches of the kind, joined where they meet. @return how many */
static int64_t join(const struct ranks *r, int32_t rank, bool works, struct stretch *out) {
    int64_t n = 0, joined = 0;
    for (int64_t k = r->first[rank]; k < r->first[rank + 1]; k++) {
        int32_t t = r->task[k];
        fr_task_kind kind = r->program->classes[r->program->tasks[t].class_id].kind;
        if ((kind != FR_TASK_COLLECTIVE_MESSAGE) == works)
            out[n++] = (struct stretch){r->start_s[t], r->end_s[t]};
    }
    fr_sort_items(out, (size_t)n, sizeof *out, by_start);
    for (int64_t k = 0; k < n; k++)
        if (joined > 0 && out[k].start_s <= out[joined - 1].end_s)
            out[joined - 1].end_s = fmax(out[joined - 1].end_s, out[k].end_s);
        else
            out[joined++] = out[k];
    return joined;
}

/* The messages' stretches without the work's. */
static double exposed_s(const struct ranks *r, int32_t rank) {
    int64_t n = join(r, rank, true, r->stretch), m = join(r, rank, false, r->stretch + n),
            k = 0;
    const struct stretch *work = r->stretch, *message = r->stretch + n;
    double sum_s = 0;
    for (int64_t j = 0; j < m; j++) {
        double beside_s = 0;
        while (k < n && work[k].end_s <= message[j].start_s) k++;
        for (int64_t i = k; i < n && work[i].start_s < message[j].end_s; i++)
            beside_s += fmin(work[i].end_s, message[j].end_s) -
                        fmax(work[i].start_s, message[j].start_s);
        sum_s += message[j].end_s - message[j].start_s - beside_s;
    }
    return sum_s;
}

fr_status fr_exposed_add(const struct fr_program *program, const double *start_s,
                         const double *end_s, struct fr_stage_use *use, struct fr_error *err) {
    struct ranks r = {program, start_s, end_s, NULL, NULL, NULL};
    bool made = list_tasks(&r);
    for (int32_t i = 0; i < program->n_ranks && made; i++) use[i].comm_s += exposed_s(&r, i);
    free(r.first);
    free(r.task);
    free(r.stretch);
    return made ? FR_OK
                : fr_fail(err, FR_ERR_NOMEM, NULL, "the simulation does not fit in memory");
}

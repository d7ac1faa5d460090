/* Perseus' whole trainings: four A100 or eight A40 as a pipeline, at full clock and under plans of a
 * clock for every pass, whose rows tell the highest, the lowest and the mean clock.  A row's time is
 * given; its energy is predicted (studies/energy/pipelined.h) from its network's shape, from the stages
 * of an A40, and from the other trainings on its device. */
#include "studies/energy/pipelined.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "studies/energy/stage_work.h"

static const char *const file = "energy/perseus_sosp24_training.csv";

enum { GIVEN = 4 };

/* ---- reading -------------------------------------------------------------------------------- */

static struct fr_pipelined *training_of(struct fr_pipelined_all *t,
                                        const struct fr_pipelined *key) {
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->items[i].device, key->device) == 0 &&
            strcmp(t->items[i].model, key->model) == 0)
            return &t->items[i];
    if (t->count == FR_PIPELINED_MAX) return NULL;
    t->items[t->count] = *key;
    return &t->items[t->count++];
}

/* balance and flop; @return false for a network whose shape is not known. */
static bool set_work(const struct fr_csv *csv, int row, struct fr_pipelined *x) {
    double flop[FR_STAGES_MAX], sum = 0, most = 0;
    int stages = (int)x->stages;
    if (!fr_energy_stage_work(x->model, fr_energy_text(csv, row, "partition"), stages,
                              fr_energy_number(csv, row, "micro_batch"), flop))
        return false;
    for (int i = 0; i < stages; i++) {
        sum += flop[i];
        most = fmax(most, flop[i]);
    }
    x->balance = sum / stages / most;
    x->flop = sum * x->micro_batches;
    return true;
}

static void read_row(const struct fr_csv *csv, int row, struct fr_pipelined_all *t) {
    struct fr_pipelined key = {.devices = fr_energy_number(csv, row, "gpus"),
                               .stages = fr_energy_number(csv, row, "pp"),
                               .micro_batches = fr_energy_number(csv, row, "num_microbatches")};
    struct fr_clock_plan p = {
        .mean_Hz = 1e6 * fr_energy_number(csv, row, "freq_mhz_mean"),
        .time_s = fr_energy_number(csv, row, "measured_iter_time_s"),
        .energy_J = fr_energy_number(csv, row, "measured_iter_energy_J_all_gpus")};
    snprintf(key.device, sizeof key.device, "%.*s",
             (int)strcspn(fr_energy_text(csv, row, "gpu"), "- "),
             fr_energy_text(csv, row, "gpu"));
    snprintf(key.model, sizeof key.model, "%.30s", fr_energy_text(csv, row, "model"));
    snprintf(p.id, sizeof p.id, "%.20s/%.10s", fr_energy_text(csv, row, "planner"),
             fr_energy_text(csv, row, "plan_index"));
    struct fr_pipelined *x = set_work(csv, row, &key) ? training_of(t, &key) : NULL;
    if (x && x->n < FR_CLOCK_PLANS_MAX && p.mean_Hz > 0 && p.time_s > 0 && p.energy_J > 0)
        x->plans[x->n++] = p;
}

static int by_clock(const void *a, const void *b) {
    const struct fr_clock_plan *x = a, *y = b;
    return FR_ORDER(x->mean_Hz, y->mean_Hz);
}

static void tidy(struct fr_pipelined *x) {
    fr_sort_items(x->plans, (size_t)x->n, sizeof *x->plans, by_clock);
    x->full_Hz = x->n ? x->plans[x->n - 1].mean_Hz : 0;
    while (x->clocked < x->n && x->plans[x->clocked].mean_Hz < 0.999 * x->full_Hz) x->clocked++;
    for (int i = x->clocked; i < x->n; i++) {
        x->full_s += x->plans[i].time_s / (x->n - x->clocked);
        x->full_J += x->plans[i].energy_J / (x->n - x->clocked);
    }
}

/* ---- fits ------------------------------------------------------------------------------------ */

/* The training @p x predicted, and what of it and of the others may be seen. */
struct view {
    const struct fr_pipelined_all *all;
    const struct fr_pipelined *x;
    const struct fr_pipelined *without; /* of the others, left out too; or NULL */
    int without_given;                  /* of the plans given, left out; -1: none */
};

static double error_of(const struct view *v, const struct fr_pipelined *x, int plan,
                       const struct fr_pipelined_device *d) {
    const struct fr_clock_plan *p = &x->plans[plan];
    return fr_pipelined_energy_J(x, p, d, fr_pipelined_share(v->all, x, v->x)) / p->energy_J -
           1;
}

/* Mean square of the errors of the plans with clocks of @p x. */
static double square_of(const struct view *v, const struct fr_pipelined *x,
                        const struct fr_pipelined_device *d) {
    double sum = 0;
    for (int i = 0; i < x->clocked; i++) sum += pow(error_of(v, x, i, d), 2);
    return x->clocked > 0 ? sum / x->clocked : 0;
}

static int given_at(const struct fr_pipelined *x, int k) {
    return (int)lround((double)k * (x->clocked - 1) / (GIVEN - 1));
}

static bool is_given(const struct fr_pipelined *x, int i) {
    for (int k = 0; k < GIVEN; k++)
        if (given_at(x, k) == i) return true;
    return false;
}

typedef double misfit_fn(const struct view *v, const struct fr_pipelined_device *d);

/* Each of the other trainings counts alike. */
static double misfit_others(const struct view *v, const struct fr_pipelined_device *d) {
    double sum = 0;
    for (int i = 0; i < v->all->count; i++) {
        const struct fr_pipelined *y = &v->all->items[i];
        if (fr_pipelined_is_other(y, v->x) && y != v->without) sum += square_of(v, y, d);
    }
    return sum;
}

static double misfit_given(const struct view *v, const struct fr_pipelined_device *d) {
    double sum = 0;
    for (int k = 0; k < GIVEN; k++)
        if (k != v->without_given) sum += pow(error_of(v, v->x, given_at(v->x, k), d), 2);
    return sum;
}

/* By a grid, 5 W and a hundredth of the highest clock. */
static void fit(const struct view *v, misfit_fn *misfit, struct fr_pipelined_device *d) {
    struct fr_pipelined_device best = *d;
    double least = INFINITY;
    for (int w = 0; w <= 40; w++)
        for (int f = 70; f <= 100; f++) {
            d->static_W = 5 * w;
            d->free_share = 0.01 * f;
            double sum = misfit(v, d);
            if (sum >= least) continue;
            least = sum;
            best = *d;
        }
    *d = best;
}

/* ---- how far off ----------------------------------------------------------------------------- */

struct scatter {
    double squares;
    int n;
};

static double sigma_of(const struct scatter *s) { return s->n ? sqrt(s->squares / s->n) : NAN; }

/* Between trainings: each other one from those that are left without it. */
static struct scatter between(const struct fr_pipelined_all *t, const struct fr_pipelined *x,
                              const struct fr_pipelined_device *start) {
    struct scatter s = {0};
    for (int i = 0; i < t->count; i++) {
        struct view v = {t, x, &t->items[i], -1};
        struct fr_pipelined_device d = *start;
        if (!fr_pipelined_is_other(&t->items[i], x)) continue;
        fit(&v, misfit_others, &d);
        s.squares += square_of(&v, &t->items[i], &d);
        s.n++;
    }
    return s;
}

/* Within trainings of the device: of the plans given those between the ends, each from the others given. */
static struct scatter within(const struct fr_pipelined_all *t, const struct fr_pipelined *x,
                             const struct fr_pipelined_device *start) {
    struct scatter s = {0};
    for (int i = 0; i < t->count; i++)
        for (int k = 1; k + 1 < GIVEN && strcmp(t->items[i].device, x->device) == 0; k++) {
            struct view v = {t, &t->items[i], NULL, k};
            struct fr_pipelined_device d = *start;
            fit(&v, misfit_given, &d);
            s.squares += pow(error_of(&v, v.x, given_at(v.x, k), &d), 2);
            s.n++;
        }
    return s;
}

/* ---- plans with clocks ---------------------------------------------------------------------- */

static void add_plans(const struct view *v, const struct fr_pipelined_device *d,
                      const struct scatter *scatter, bool own, struct fr_energy_rows *rows) {
    const struct fr_pipelined *x = v->x;
    double share = fr_pipelined_share(v->all, x, x);
    for (int i = 0; i < x->clocked; i++) {
        const struct fr_clock_plan *p = &x->plans[i];
        struct fr_energy_row row = {.measured = p->energy_J,
                                    .predicted = fr_pipelined_energy_J(x, p, d, share),
                                    .sigma = sigma_of(scatter),
                                    .degrees = scatter->n};
        if (own && is_given(x, i)) continue;
        snprintf(row.group, sizeof row.group, "%s/%s", x->device, x->model);
        snprintf(row.id, sizeof row.id, "%.46s/%.30s", row.group, p->id);
        fr_energy_rows_add(rows, &row);
    }
}

/* For each measured plan, choose the plan of least predicted energy among those that are no slower; return the mean
 * cost of that choice. */
static double frontier_regret(const struct view *v, const struct fr_pipelined_device *d) {
    const struct fr_pipelined *x = v->x;
    double sum = 0, share = fr_pipelined_share(v->all, x, x);
    for (int b = 0; b < x->n; b++) {
        double least_J = INFINITY, foretold_J = INFINITY, chosen_J = INFINITY;
        for (int i = 0; i < x->n; i++) {
            const struct fr_clock_plan *p = &x->plans[i];
            double energy_J = fr_pipelined_energy_J(x, p, d, share);
            if (p->time_s > x->plans[b].time_s) continue;
            least_J = fmin(least_J, p->energy_J);
            if (energy_J >= foretold_J) continue;
            foretold_J = energy_J;
            chosen_J = p->energy_J;
        }
        sum += chosen_J / least_J - 1;
    }
    return sum / x->n;
}

/* Stages of the A40 were measured on the board that trained.  The A100's stages are of another board (400 W), and
 * both boards that trained have a limit of 300 W. So only voltage and times are taken from the A100's stages. */
static fr_status device_of(const struct fr_pipelined *x, struct fr_pipelined_device *d,
                           struct fr_error *err) {
    struct fr_stage_device a40;
    char name[24] = "";
    for (size_t i = 0; x->device[i]; i++)
        name[i] = (char)(x->device[i] | ('A' <= x->device[i] && x->device[i] <= 'Z' ? 32 : 0));
    *d = (struct fr_pipelined_device){.free_share = 1};
    FR_TRY(fr_energy_stage_device("a40", &a40, err));
    d->work_W = a40.full_W;
    return fr_energy_stage_device(name, &d->stage, err);
}

static const struct fr_table_limits limits = {.mean = 0.05, FR_TABLE_COVERED};

struct plan_tables {
    struct fr_energy_rows own, others;
    double regret;
};

static fr_status predict_plans(const struct fr_pipelined_all *t, const struct fr_pipelined *x,
                               struct plan_tables *tables, struct fr_error *err) {
    struct fr_pipelined_device d;
    struct view v = {t, x, NULL, -1};
    FR_TRY(device_of(x, &d, err));
    struct scatter in = within(t, x, &d), across = between(t, x, &d);
    fit(&v, misfit_given, &d);
    add_plans(&v, &d, &in, true, &tables->own);
    fit(&v, misfit_others, &d);
    add_plans(&v, &d, &across, false, &tables->others);
    tables->regret += frontier_regret(&v, &d) / t->count;
    return FR_OK;
}

static fr_status clock_plans(struct fr_reproduction *r, const struct fr_pipelined_all *t,
                             struct fr_error *err) {
    struct plan_tables tables = {.regret = 0};
    fr_status status = FR_OK;
    for (int i = 0; i < t->count && status == FR_OK; i++)
        status = predict_plans(t, &t->items[i], &tables, err);
    if (status == FR_OK)
        status = fr_energy_rows_table(r, &tables.own, "clock_plans",
                                      "energy given the time; four plans of the training given",
                                      "J", &limits, err);
    if (status == FR_OK)
        status = fr_energy_rows_table(
            r, &tables.others, "clock_plans_from_others",
            "energy given the time; the plans at full clock given, the rest from the device's "
            "other trainings",
            "J", &limits, err);
    free(tables.own.items);
    free(tables.others.items);
    FR_TRY(status);
    fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, tables.regret, "1", 0,
                     "energy of the plan of least predicted energy among those no slower, over "
                     "the least measured, less 1; must be at most 0.02",
                     "clock_plans_frontier/regret");
    fr_reproduce_judge(r, tables.regret <= 0.02);
    return FR_OK;
}

/* ---- at full clock -------------------------------------------------------------------------- */

/* W, from the other trainings on the device, as @p x sees them. */
static double waiting_W(const struct fr_pipelined_all *t, const struct fr_pipelined *x,
                        double work_W) {
    double sum = 0, n = 0;
    for (int i = 0; i < t->count; i++) {
        const struct fr_pipelined *y = &t->items[i];
        if (!fr_pipelined_is_other(y, x)) continue;
        sum += fr_pipelined_waiting_W(y, fr_pipelined_share(t, y, x), work_W);
        n++;
    }
    return n > 0 ? sum / n : 0;
}

fr_status fr_pipelined_full_W(const struct fr_pipelined_all *t, const struct fr_pipelined *x,
                              double *mean_W, struct fr_error *err) {
    struct fr_pipelined_device d;
    FR_TRY(device_of(x, &d, err));
    double u = fr_pipelined_share(t, x, x);
    *mean_W = u * d.work_W + (1 - u) * waiting_W(t, x, d.work_W);
    return FR_OK;
}

static fr_status full_clock(struct fr_reproduction *r, const struct fr_pipelined_all *t,
                            struct fr_error *err) {
    struct fr_energy_rows rows = {0};
    fr_status status = FR_OK;
    for (int i = 0; i < t->count && status == FR_OK; i++) {
        const struct fr_pipelined *x = &t->items[i];
        double mean_W;
        status = fr_pipelined_full_W(t, x, &mean_W, err);
        if (status != FR_OK) break;
        struct fr_energy_row row = {
            .measured = x->full_J, .predicted = x->devices * mean_W * x->full_s, .sigma = NAN};
        snprintf(row.id, sizeof row.id, "%s/%s", x->device, x->model);
        fr_energy_rows_add(&rows, &row);
    }
    if (status == FR_OK)
        status = fr_energy_rows_table(
            r, &rows, "full_clock",
            "energy given the time: stages at work draw what an A40's were measured at, for as "
            "long as its shape says; waiting from the device's other trainings",
            "J", &limits, err);
    free(rows.items);
    return status;
}

fr_status fr_pipelined_read(struct fr_pipelined_all *t, struct fr_error *err) {
    *t = (struct fr_pipelined_all){fr_calloc(FR_PIPELINED_MAX, sizeof *t->items), 0};
    struct fr_csv csv = {.text = NULL};
    fr_status status = t->items
                           ? fr_energy_csv(file, &csv, err)
                           : fr_fail(err, FR_ERR_NOMEM, NULL, "the rows do not fit in memory");
    for (int row = 0; status == FR_OK && row < csv.n_rows; row++) read_row(&csv, row, t);
    for (int i = 0; i < t->count; i++) tidy(&t->items[i]);
    fr_csv_free(&csv);
    return status;
}

fr_status fr_energy_trainings(struct fr_reproduction *r, struct fr_error *err) {
    struct fr_pipelined_all t;
    fr_status status = fr_pipelined_read(&t, err);
    if (status == FR_OK) status = clock_plans(r, &t, err);
    if (status == FR_OK) status = full_clock(r, &t, err);
    free(t.items);
    return status;
}

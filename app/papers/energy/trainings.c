/* Perseus' whole trainings: four A100 or eight A40 as a pipeline, at full clock and under plans of a
 * clock for every pass, whose rows tell the highest, the lowest and the mean clock.  A row's time is
 * given; its energy is predicted.
 *
 *      E = N s T + D v(f)^2 / v(f0)^2          D = E0 - N s T0
 *
 *  N devices, T time and f mean clock of the row, E0 and T0 of the training at full clock, at which the
 *  device runs at f0 in the mean; v the voltage, fitted to the stages' profiles (models/device/clock.h);
 *  s what a device draws whatever it does.  s and f0 are the device's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/papers/energy/parts.h"
#include "base/alloc.h"
#include "base/sort.h"

static const char *const file = "energy/perseus_sosp24_training.csv";

enum { TRAININGS_MAX = 64, PLANS_MAX = 128, GIVEN = 4 };

struct plan {
    char id[40];
    double mean_Hz, time_s, energy_J;
};

struct training {
    char device[24], model[32];
    double devices, stages, micro_batches;
    struct plan plans[PLANS_MAX];
    int n;
    double full_Hz, full_s, full_J; /* of its plans without clocks */
};

struct trainings {
    struct training *items;
    int count;
};

/* What is a device's: the voltage, what it draws whatever it does, its mean clock when none is set. */
struct device {
    struct fr_clock_voltage voltage;
    double static_W, free_Hz;
};

/* ---- reading -------------------------------------------------------------------------------- */

static struct training *training_of(struct trainings *t, const struct training *key) {
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->items[i].device, key->device) == 0 &&
            strcmp(t->items[i].model, key->model) == 0)
            return &t->items[i];
    if (t->count == TRAININGS_MAX) return NULL;
    t->items[t->count] = *key;
    return &t->items[t->count++];
}

static void read_row(const struct fr_csv *csv, int row, struct trainings *t) {
    struct training key = {.devices = fr_energy_number(csv, row, "gpus"),
                           .stages = fr_energy_number(csv, row, "pp"),
                           .micro_batches = fr_energy_number(csv, row, "num_microbatches")};
    struct plan p = {.mean_Hz = 1e6 * fr_energy_number(csv, row, "freq_mhz_mean"),
                     .time_s = fr_energy_number(csv, row, "measured_iter_time_s"),
                     .energy_J = fr_energy_number(csv, row, "measured_iter_energy_J_all_gpus")};
    snprintf(key.device, sizeof key.device, "%.*s",
             (int)strcspn(fr_energy_text(csv, row, "gpu"), "- "),
             fr_energy_text(csv, row, "gpu"));
    snprintf(key.model, sizeof key.model, "%.30s", fr_energy_text(csv, row, "model"));
    snprintf(p.id, sizeof p.id, "%.20s/%.10s", fr_energy_text(csv, row, "planner"),
             fr_energy_text(csv, row, "plan_index"));
    struct training *x = training_of(t, &key);
    if (x && x->n < PLANS_MAX && p.mean_Hz > 0 && p.time_s > 0 && p.energy_J > 0)
        x->plans[x->n++] = p;
}

static bool without_clocks(const struct training *x, const struct plan *p) {
    return p->mean_Hz >= 0.999 * x->full_Hz;
}

static int by_clock(const void *a, const void *b) {
    const struct plan *x = a, *y = b;
    return FR_ORDER(x->mean_Hz, y->mean_Hz);
}

static void tidy(struct training *x) {
    double n = 0;
    fr_sort_items(x->plans, (size_t)x->n, sizeof *x->plans, by_clock);
    x->full_Hz = x->n ? x->plans[x->n - 1].mean_Hz : 0;
    for (int i = 0; i < x->n; i++) {
        if (!without_clocks(x, &x->plans[i])) continue;
        x->full_s += x->plans[i].time_s;
        x->full_J += x->plans[i].energy_J;
        n++;
    }
    x->full_s /= n;
    x->full_J /= n;
}

/* ---- plans with clocks ---------------------------------------------------------------------- */

static double energy_J(const struct training *x, const struct plan *p, const struct device *d) {
    double least_W = fmin(d->static_W, 0.95 * x->full_J / x->full_s / x->devices),
           dynamic_J = x->full_J - x->devices * least_W * x->full_s,
           v = fr_clock_voltage_squared(&d->voltage, fmin(p->mean_Hz, d->free_Hz)),
           v0 = fr_clock_voltage_squared(&d->voltage, d->free_Hz);
    return x->devices * least_W * p->time_s + dynamic_J * v / v0;
}

/* Root mean square of the errors of the plans with clocks of @p x: all, or @p given of them. */
static double scatter(const struct training *x, const struct device *d, int given) {
    double sum = 0, n = 0;
    int clocked = 0;
    while (clocked < x->n && !without_clocks(x, &x->plans[clocked])) clocked++;
    for (int k = 0; k < (given ? given : clocked); k++) {
        int i = given ? (int)lround((double)k * (clocked - 1) / (given - 1)) : k;
        sum += pow(energy_J(x, &x->plans[i], d) / x->plans[i].energy_J - 1, 2);
        n++;
    }
    return n > 0 ? sqrt(sum / n) : 0;
}

typedef double misfit_fn(const struct trainings *t, const struct training *x,
                         const struct device *d);

/* Each of the other trainings counts alike. */
static double misfit_others(const struct trainings *t, const struct training *x,
                            const struct device *d) {
    double sum = 0;
    for (int i = 0; i < t->count; i++)
        if (&t->items[i] != x && strcmp(t->items[i].device, x->device) == 0)
            sum += pow(scatter(&t->items[i], d, 0), 2);
    return sum;
}

static double misfit_own(const struct trainings *t, const struct training *x,
                         const struct device *d) {
    (void)t;
    return scatter(x, d, GIVEN);
}

/* By a grid, 5 W and a hundredth of the highest clock. */
static double fit(const struct trainings *t, const struct training *x, misfit_fn *misfit,
                  struct device *d) {
    struct device best = *d;
    double least = INFINITY;
    for (int w = 0; w <= 40; w++)
        for (int f = 70; f <= 100; f++) {
            d->static_W = 5 * w;
            d->free_Hz = 0.01 * f * x->full_Hz;
            double sum = misfit(t, x, d);
            if (sum >= least) continue;
            least = sum;
            best = *d;
        }
    *d = best;
    return least;
}

static double others_of(const struct trainings *t, const struct training *x) {
    int n = 0;
    for (int i = 0; i < t->count; i++)
        n += &t->items[i] != x && strcmp(t->items[i].device, x->device) == 0;
    return n;
}

static bool is_given(const struct training *x, int i) {
    int clocked = 0;
    while (clocked < x->n && !without_clocks(x, &x->plans[clocked])) clocked++;
    for (int k = 0; k < GIVEN; k++)
        if ((int)lround((double)k * (clocked - 1) / (GIVEN - 1)) == i) return true;
    return false;
}

static fr_status add_plans(const struct training *x, const struct device *d, double sigma,
                           int degrees, bool own, struct fr_energy_rows *rows,
                           struct fr_error *err) {
    for (int i = 0; i < x->n && !without_clocks(x, &x->plans[i]); i++) {
        struct fr_energy_row row = {.measured = x->plans[i].energy_J,
                                    .predicted = energy_J(x, &x->plans[i], d),
                                    .sigma = sigma,
                                    .degrees = degrees};
        if (own && is_given(x, i)) continue;
        snprintf(row.group, sizeof row.group, "%s/%s", x->device, x->model);
        snprintf(row.id, sizeof row.id, "%.46s/%.30s", row.group, x->plans[i].id);
        if (!fr_energy_rows_add(rows, &row))
            return fr_fail(err, FR_ERR_NOMEM, NULL, "the rows do not fit in memory");
    }
    return FR_OK;
}

/* Of the plans that are no slower than each measured one, that of the least predicted energy: what
 * choosing it costs, in the mean. */
static double frontier_regret(const struct training *x, const struct device *d) {
    double sum = 0;
    for (int b = 0; b < x->n; b++) {
        double least_J = INFINITY, foretold_J = INFINITY, chosen_J = INFINITY;
        for (int i = 0; i < x->n; i++) {
            const struct plan *p = &x->plans[i];
            if (p->time_s > x->plans[b].time_s) continue;
            least_J = fmin(least_J, p->energy_J);
            if (energy_J(x, p, d) >= foretold_J) continue;
            foretold_J = energy_J(x, p, d);
            chosen_J = p->energy_J;
        }
        sum += chosen_J / least_J - 1;
    }
    return sum / x->n;
}

static fr_status voltage(const struct training *x, struct device *d, struct fr_error *err) {
    char name[24] = "";
    for (size_t i = 0; x->device[i]; i++)
        name[i] = (char)(x->device[i] | ('A' <= x->device[i] && x->device[i] <= 'Z' ? 32 : 0));
    return fr_energy_stage_voltage(name, &d->voltage, err);
}

static const struct fr_table_limits limits = {.mean = 0.05, FR_TABLE_COVERED};

static fr_status clock_plans(struct fr_reproduction *r, const struct trainings *t,
                             struct fr_error *err) {
    struct fr_energy_rows own = {0}, others = {0};
    double regret = 0;
    fr_status status = FR_OK;
    for (int i = 0; i < t->count && status == FR_OK; i++) {
        const struct training *x = &t->items[i];
        struct device d = {.static_W = 0};
        status = voltage(x, &d, err);
        if (status != FR_OK) break;
        /* of the four plans given two are spent on what was fitted */
        double sigma = fit(t, x, misfit_own, &d) * sqrt(GIVEN / (GIVEN - 2.0));
        status = add_plans(x, &d, sigma, GIVEN - 2, true, &own, err);
        sigma = sqrt(fit(t, x, misfit_others, &d) / fmax(1, others_of(t, x)));
        if (status == FR_OK)
            status = add_plans(x, &d, sigma, (int)others_of(t, x), false, &others, err);
        regret += frontier_regret(x, &d) / t->count;
    }
    if (status == FR_OK)
        status = fr_energy_rows_table(r, &own, "clock_plans",
                                      "energy given the time; four plans of the training given",
                                      "J", &limits, err);
    if (status == FR_OK)
        status = fr_energy_rows_table(
            r, &others, "clock_plans_from_others",
            "energy given the time; the plans at full clock given, the rest from the device's "
            "other trainings",
            "J", &limits, err);
    free(own.items);
    free(others.items);
    FR_TRY(status);
    fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, regret, "1", 0,
                     "energy of the plan of least predicted energy among those no slower, over "
                     "the least measured, less 1; must be at most 0.02",
                     "clock_plans_frontier/regret");
    fr_reproduce_judge(r, regret <= 0.02);
    return FR_OK;
}

/* ---- at full clock -------------------------------------------------------------------------- */

/* Both boards have the same limit, which stages of the A40 reach (energy/perseus_stage_profile_freq). */
static const double BUSY_W = 300;

static double busy_share(const struct training *x) {
    return x->micro_batches / (x->micro_batches + x->stages - 1);
}

/* Power of a device that waits, from the other trainings on it: between none and all. */
static double waiting_W(const struct trainings *t, const struct training *x) {
    double sum = 0, n = 0;
    for (int i = 0; i < t->count; i++) {
        const struct training *y = &t->items[i];
        double u = busy_share(y), mean_W = y->full_J / y->full_s / y->devices;
        if (y == x || strcmp(y->device, x->device) != 0 || u >= 1) continue;
        sum += fmin(BUSY_W, fmax(0, (mean_W - u * BUSY_W) / (1 - u)));
        n++;
    }
    return n > 0 ? sum / n : 0;
}

static fr_status full_clock(struct fr_reproduction *r, const struct trainings *t,
                            struct fr_error *err) {
    struct fr_energy_rows rows = {0};
    fr_status status = FR_OK;
    for (int i = 0; i < t->count && status == FR_OK; i++) {
        const struct training *x = &t->items[i];
        double u = busy_share(x), mean_W = u * BUSY_W + (1 - u) * waiting_W(t, x);
        struct fr_energy_row row = {
            .measured = x->full_J, .predicted = x->devices * mean_W * x->full_s, .sigma = NAN};
        snprintf(row.id, sizeof row.id, "%s/%s", x->device, x->model);
        if (!fr_energy_rows_add(&rows, &row))
            status = fr_fail(err, FR_ERR_NOMEM, NULL, "the rows do not fit in memory");
    }
    if (status == FR_OK)
        status = fr_energy_rows_table(
            r, &rows, "full_clock",
            "energy given the time: the board's limit while a balanced pipeline works; waiting "
            "from the device's other trainings",
            "J", &limits, err);
    free(rows.items);
    return status;
}

fr_status fr_energy_trainings(struct fr_reproduction *r, struct fr_error *err) {
    struct trainings t = {fr_calloc(TRAININGS_MAX, sizeof *t.items), 0};
    struct fr_csv csv = {.text = NULL};
    fr_status status = t.items
                           ? fr_energy_csv(file, &csv, err)
                           : fr_fail(err, FR_ERR_NOMEM, NULL, "the rows do not fit in memory");
    for (int row = 0; status == FR_OK && row < csv.n_rows; row++) read_row(&csv, row, &t);
    for (int i = 0; i < t.count; i++) tidy(&t.items[i]);
    if (status == FR_OK) status = clock_plans(r, &t, err);
    if (status == FR_OK) status = full_clock(r, &t, err);
    fr_csv_free(&csv);
    free(t.items);
    return status;
}

/* Zeus' trainings on one GPU under power limits, and the pipelines of its successor under one limit
 * for all.  A device's shape (calibrate/energy/limit_fit.h) is chosen by how well every second limit
 * of its *other* networks is predicted from the rest, so that no row has a part in its own prediction. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "calibrate/energy/limit_fit.h"
#include "calibrate/energy/line.h"
#include "studies/energy/parts.h"

enum { SERIES_MAX = 1024, POINTS_MAX = 24 };

struct trained {
    char device[40], network[40], id[64];
    struct fr_limit_point points[POINTS_MAX];
    int n;
    double errors[FR_LIMIT_SHAPES],
        squares[FR_LIMIT_SHAPES]; /* of time, every second limit predicted */
    double power_squares;
    int tried;
};

struct trainings {
    struct trained *items;
    int count;
};

/* ---- reading -------------------------------------------------------------------------------- */

static struct trained *training_of(struct trainings *t, const struct trained *key) {
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->items[i].id, key->id) == 0 &&
            strcmp(t->items[i].device, key->device) == 0)
            return &t->items[i];
    if (t->count == SERIES_MAX) return NULL;
    t->items[t->count] = *key;
    return &t->items[t->count++];
}

static void add_point(struct trainings *t, const struct trained *key,
                      const struct fr_limit_point *p) {
    struct trained *x = training_of(t, key);
    if (x && x->n < POINTS_MAX && p->limit_W > 0 && p->time_s > 0 && p->power_W > 0)
        x->points[x->n++] = *p;
}

static void read_single(const struct fr_csv *csv, int row, struct trainings *t) {
    struct trained key = {.n = 0};
    struct fr_limit_point p = {fr_energy_number(csv, row, "power_limit"),
                               fr_energy_number(csv, row, "measured_time_per_epoch_s"),
                               fr_energy_number(csv, row, "measured_avg_power_W")};
    snprintf(key.device, sizeof key.device, "%.30s", fr_energy_text(csv, row, "gpu"));
    snprintf(key.network, sizeof key.network, "%.30s", fr_energy_text(csv, row, "network"));
    snprintf(key.id, sizeof key.id, "%.14s/%.18s/%.9s/%.8s",
             fr_energy_text(csv, row, "dataset"), key.network,
             fr_energy_text(csv, row, "optimizer"), fr_energy_text(csv, row, "batch_size"));
    add_point(t, &key, &p);
}

/* One limit for all: the first of the list counts; mean power of a device. */
static void read_pipelines(const struct fr_csv *csv, int row, struct trainings *t) {
    struct trained key = {.n = 0};
    double devices = fr_energy_number(csv, row, "dp") * fr_energy_number(csv, row, "tp") *
                     fr_energy_number(csv, row, "pp"),
           time_s = fr_energy_number(csv, row, "measured_iter_time_s"),
           energy_J = fr_energy_number(csv, row, "measured_iter_energy_J_all_gpus");
    struct fr_limit_point p = {strtod(fr_energy_text(csv, row, "power_limits_W"), NULL), time_s,
                               energy_J / time_s / devices};
    if (strncmp(fr_energy_text(csv, row, "knob"), "one ", 4) != 0) return;
    snprintf(key.device, sizeof key.device, "%.30s", fr_energy_text(csv, row, "gpu"));
    snprintf(key.network, sizeof key.network, "%.30s", fr_energy_text(csv, row, "model_name"));
    snprintf(key.id, sizeof key.id, "%.30s/pp%.0f", key.network,
             fr_energy_number(csv, row, "pp"));
    add_point(t, &key, &p);
}

static int by_limit(const void *a, const void *b) {
    const struct fr_limit_point *x = a, *y = b;
    return FR_ORDER(x->limit_W, y->limit_W);
}

static fr_status read_all(const char *file,
                          void (*read)(const struct fr_csv *, int, struct trainings *),
                          struct trainings *t, struct fr_error *err) {
    struct fr_csv csv;
    fr_status status = fr_energy_csv(file, &csv, err);
    for (int row = 0; status == FR_OK && row < csv.n_rows; row++) read(&csv, row, t);
    for (int i = 0; i < t->count; i++)
        fr_sort_items(t->items[i].points, (size_t)t->items[i].n, sizeof *t->items[i].points,
                      by_limit);
    fr_csv_free(&csv);
    return status;
}

/* ---- a device's shape ----------------------------------------------------------------------- */

/* Every second point, from the lowest limit on. */
static struct fr_limit_series halves(const struct trained *x, struct fr_limit_point *given) {
    int n = 0;
    for (int i = 0; i < x->n; i += 2) given[n++] = x->points[i];
    return (struct fr_limit_series){given, n};
}

static double least_power_W(const struct trainings *t, const struct trained *like) {
    double least_W = INFINITY;
    for (int i = 0; i < t->count; i++)
        for (int k = 0; k < t->items[i].n; k++)
            if (strcmp(t->items[i].device, like->device) == 0 &&
                (&t->items[i] == like || strcmp(t->items[i].network, like->network) != 0))
                least_W = fmin(least_W, t->items[i].points[k].power_W);
    return least_W;
}

static void try_shapes(const struct trainings *t, struct trained *x) {
    struct fr_limit_point given[POINTS_MAX];
    struct fr_limit_series s = halves(x, given);
    for (int j = 0; j < FR_LIMIT_SHAPES; j++) {
        struct fr_limit_shape shape = fr_limit_shape_at(j, least_power_W(t, x));
        struct fr_limit_fitted f;
        if (fr_limit_fit(&s, -1, &shape, &f, NULL) != FR_OK) continue;
        for (int i = 1; i < x->n; i += 2) {
            const struct fr_limit_point *p = &x->points[i];
            double error = fr_limit_time_s(&f, p->limit_W) / p->time_s - 1;
            x->errors[j] += fabs(error);
            x->squares[j] += error * error;
            if (j > 0) continue; /* power hangs on no shape */
            x->tried++;
            x->power_squares += pow(fr_limit_power_W(&f, p->limit_W) / p->power_W - 1, 2);
        }
    }
}

struct chosen {
    struct fr_limit_shape shape;
    double time_sigma, power_sigma; /* of the other networks' held-out rows */
    int networks;                   /* so many of them */
};

struct held_out {
    double error, time_square, power_square; /* means; NaN: no other network */
};

/* Held-out errors of the device's other networks under shape @p j. */
static struct held_out others(const struct trainings *t, const struct trained *x, int j) {
    struct held_out h = {0, 0, 0};
    double tried = 0;
    for (int i = 0; i < t->count; i++) {
        const struct trained *y = &t->items[i];
        if (strcmp(y->device, x->device) != 0 || strcmp(y->network, x->network) == 0) continue;
        h.error += y->errors[j];
        h.time_square += y->squares[j];
        h.power_square += y->power_squares;
        tried += y->tried;
    }
    return (struct held_out){h.error / tried, h.time_square / tried, h.power_square / tried};
}

/* Networks on the device beside that of @p x, of which rows were predicted: their trainings err alike. */
static int other_networks(const struct trainings *t, const struct trained *x) {
    int n = 0;
    for (int i = 0; i < t->count; i++) {
        const struct trained *y = &t->items[i];
        bool first = y->tried > 0 && strcmp(y->device, x->device) == 0 &&
                     strcmp(y->network, x->network) != 0;
        for (int k = 0; k < i && first; k++)
            first = strcmp(t->items[k].device, y->device) != 0 ||
                    strcmp(t->items[k].network, y->network) != 0 || t->items[k].tried == 0;
        n += first;
    }
    return n;
}

/* The shape under which the device's other networks are predicted best, by mean error. */
static struct chosen choose(const struct trainings *t, const struct trained *x) {
    int best = 0;
    struct held_out least = others(t, x, 0);
    for (int j = 1; j < FR_LIMIT_SHAPES; j++) {
        struct held_out h = others(t, x, j);
        if (!(h.error < least.error)) continue;
        least = h;
        best = j;
    }
    return (struct chosen){fr_limit_shape_at(best, least_power_W(t, x)),
                           sqrt(least.time_square), sqrt(least.power_square),
                           other_networks(t, x)};
}

/* ---- predictions ---------------------------------------------------------------------------- */

struct tables {
    struct fr_energy_rows time, power;
};

static void add(struct tables *t, const struct trained *x, int i,
                const struct fr_limit_fitted *f, const struct chosen *c) {
    const struct fr_limit_point *p = &x->points[i];
    struct fr_energy_row row = {.measured = p->time_s,
                                .predicted = fr_limit_time_s(f, p->limit_W),
                                .sigma = c->time_sigma,
                                .degrees = c->networks};
    snprintf(row.group, sizeof row.group, "%.14s/%.60s", x->device, x->id);
    snprintf(row.id, sizeof row.id, "%.70s/%.0fW", row.group, p->limit_W);
    fr_energy_rows_add(&t->time, &row);
    row.measured = p->power_W;
    row.predicted = fr_limit_power_W(f, p->limit_W);
    row.sigma = c->power_sigma;
    fr_energy_rows_add(&t->power, &row);
}

static fr_status every_second(struct tables *t, const struct trained *x, const struct chosen *c,
                              struct fr_error *err) {
    struct fr_limit_point given[POINTS_MAX];
    struct fr_limit_series s = halves(x, given);
    struct fr_limit_fitted f;
    FR_TRY(fr_limit_fit(&s, -1, &c->shape, &f, err));
    for (int i = 1; i < x->n; i += 2) add(t, x, i, &f, c);
    return FR_OK;
}

static fr_status each_in_turn(struct tables *t, const struct trained *x, const struct chosen *c,
                              struct fr_error *err) {
    struct fr_limit_series s = {x->points, x->n};
    for (int i = 0; i < x->n; i++) {
        struct fr_limit_fitted f;
        FR_TRY(fr_limit_fit(&s, i, &c->shape, &f, err));
        add(t, x, i, &f, c);
    }
    return FR_OK;
}

/* Scatter of the other networks' rows, each predicted from the training's others under the chosen shape: the ends err
 * more than the points between. */
static void scatter_in_turn(const struct trainings *t, const struct trained *x,
                            struct chosen *c) {
    double time = 0, power = 0, n = 0;
    for (int k = 0; k < t->count; k++) {
        const struct trained *y = &t->items[k];
        struct fr_limit_series s = {y->points, y->n};
        struct fr_limit_fitted f;
        if (strcmp(y->device, x->device) != 0 || strcmp(y->network, x->network) == 0) continue;
        for (int i = 0; i < y->n; i++) {
            const struct fr_limit_point *p = &y->points[i];
            if (y->n < 4 || fr_limit_fit(&s, i, &c->shape, &f, NULL) != FR_OK) continue;
            time += pow(fr_limit_time_s(&f, p->limit_W) / p->time_s - 1, 2);
            power += pow(fr_limit_power_W(&f, p->limit_W) / p->power_W - 1, 2);
            n++;
        }
    }
    c->time_sigma = sqrt(time / n);
    c->power_sigma = sqrt(power / n);
}

typedef fr_status predict_fn(struct tables *, const struct trained *, const struct chosen *,
                             struct fr_error *);

static const struct fr_table_limits limits = {.mean = 0.05, FR_TABLE_COVERED};

static fr_status table(struct fr_reproduction *r, const struct trainings *t,
                       predict_fn *predict, const char *name, const char *procedure,
                       struct fr_error *err) {
    struct tables rows = {.time = {0}};
    char id[80];
    fr_status status = FR_OK;
    struct chosen before = {.networks = 0};
    for (int i = 0; i < t->count && status == FR_OK; i++) {
        const struct trained *x = &t->items[i];
        struct chosen c = choose(t, x);
        bool alike = i > 0 && strcmp(x[-1].device, x->device) == 0 &&
                     strcmp(x[-1].network, x->network) == 0;
        if (predict == each_in_turn && alike)
            c.time_sigma = before.time_sigma, c.power_sigma = before.power_sigma;
        else if (predict == each_in_turn)
            scatter_in_turn(t, x, &c);
        before = c;
        if (x->n >= 4) status = predict(&rows, x, &c, err);
    }
    snprintf(id, sizeof id, "%s_time", name);
    if (status == FR_OK)
        status = fr_energy_rows_table(r, &rows.time, id, procedure, "s", &limits, err);
    snprintf(id, sizeof id, "%s_power", name);
    if (status == FR_OK)
        status = fr_energy_rows_table(r, &rows.power, id, procedure, "W", &limits, err);
    free(rows.time.items);
    free(rows.power.items);
    return status;
}

static fr_status both(struct fr_reproduction *r, struct trainings *t, const char *half,
                      const char *each, struct fr_error *err) {
    for (int i = 0; i < t->count; i++) try_shapes(t, &t->items[i]);
    FR_TRY(table(r, t, every_second, half,
                 "every second limit given, the others predicted; the device's shape from its "
                 "other networks",
                 err));
    return table(r, t, each_in_turn, each,
                 "each limit from the training's others, the lowest and the highest too; the "
                 "device's shape from its other networks",
                 err);
}

fr_status fr_energy_limits(struct fr_reproduction *r, struct fr_error *err) {
    struct trainings single = {fr_calloc(SERIES_MAX, sizeof *single.items), 0},
                     pipelines = {fr_calloc(SERIES_MAX, sizeof *pipelines.items), 0};
    fr_status status = single.items && pipelines.items
                           ? FR_OK
                           : fr_fail(err, FR_ERR_NOMEM, NULL, "the rows do not fit in memory");
    if (status == FR_OK)
        status = read_all("energy/zeus_nsdi23_single_gpu_power.csv", read_single, &single, err);
    if (status == FR_OK) status = both(r, &single, "limits", "limits_each", err);
    if (status == FR_OK)
        status =
            read_all("energy/zeus_power_limit_sweep_3d.csv", read_pipelines, &pipelines, err);
    if (status == FR_OK)
        status = both(r, &pipelines, "pipeline_limits", "pipeline_limits_each", err);
    free(single.items);
    free(pipelines.items);
    return status;
}

#include "plots/ghost_points.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { ROWS_MAX = 4096 };

/* A whole number of a model or plan that the configuration holds as text; else @p otherwise. */
static int64_t number_in(const struct fr_json *configuration, const char *document,
                         const char *key, int64_t otherwise) {
    struct fr_json node = fr_json_member(configuration, document);
    struct fr_json_document *parsed = NULL;
    const char *text = NULL;
    int64_t value = otherwise;
    if (fr_json_text(&node, &text, NULL) != FR_OK ||
        fr_json_parse(text, strlen(text), document, &parsed, NULL) != FR_OK)
        return otherwise;
    struct fr_json root = fr_json_root(parsed);
    if (fr_json_get_integer(&root, key, false, 0, 1 << 30, &value, NULL) != FR_OK)
        value = otherwise;
    fr_json_free(parsed);
    return value;
}

static fr_status read_point(const struct fr_json *one, struct fr_ghost_points *points,
                            struct fr_error *err) {
    struct fr_json c = fr_json_member(one, "configuration");
    struct fr_ghost_point *p = &points->items[points->n];
    char app[24] = "";
    *p = (struct fr_ghost_point){.seeds_low = 1, .seeds_high = 1};
    FR_TRY(fr_json_get_string(&c, "app", true, app, sizeof app, err));
    FR_TRY(fr_json_get_string(&c, "group", true, p->group, sizeof p->group, err));
    FR_TRY(fr_json_get_known(one, "measured_J", 0, 1e18, &p->measured[0], err));
    FR_TRY(fr_json_get_known(one, "predicted_J", 0, 1e18, &p->predicted[0], err));
    FR_TRY(fr_json_get_known(one, "measured_s", 0, 1e18, &p->measured[1], err));
    FR_TRY(fr_json_get_known(one, "predicted_s", 0, 1e18, &p->predicted[1], err));
    bool phantom = strcmp(app, "phantom") == 0;
    if (!phantom && strcmp(app, "tensor") != 0) return FR_OK;
    p->width = number_in(&c, "model", "width", 0);
    p->tp = number_in(&c, "plan", "tp", 1);
    p->ghost = phantom ? number_in(&c, "plan", "ghost", 0) : 0;
    points->n++;
    return FR_OK;
}

static fr_status read_runs(const struct fr_json *root, struct fr_ghost_points *points,
                           struct fr_error *err) {
    struct fr_json list = fr_json_member(root, "rows");
    FR_TRY(fr_json_array(&list, 1, ROWS_MAX, err));
    int64_t n = fr_json_array_length(&list);
    points->items = fr_calloc((size_t)n, sizeof *points->items);
    if (!points->items) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        struct fr_json one = fr_json_element(&list, i);
        FR_TRY(read_point(&one, points, err));
    }
    return points->n ? FR_OK : fr_json_fail(&list, err, "holds no run of phantom or tensor");
}

/* Iterations that training needed, in a row of iterations. */
struct needed {
    int64_t tp, ghost; /* tp 0: any */
    double iterations, low, high, iteration_J, total_J;
};

static fr_status read_needed(const struct fr_json *one, struct needed *row,
                             struct fr_error *err) {
    struct fr_json tp = fr_json_member(one, "tp");
    *row = (struct needed){0};
    if (fr_json_is_number(&tp)) FR_TRY(fr_json_integer(&tp, 1, 1 << 30, &row->tp, err));
    FR_TRY(fr_json_get_integer(one, "ghost", true, 0, 1 << 30, &row->ghost, err));
    FR_TRY(fr_json_get_known(one, "iterations", 0, 1e18, &row->iterations, err));
    FR_TRY(fr_json_get_known(one, "iterations_low", 0, 1e18, &row->low, err));
    FR_TRY(fr_json_get_known(one, "iterations_high", 0, 1e18, &row->high, err));
    FR_TRY(fr_json_get_known(one, "iteration_energy_J", 0, 1e18, &row->iteration_J, err));
    FR_TRY(fr_json_get_known(one, "total_energy_J", 0, 1e18, &row->total_J, err));
    return FR_OK;
}

static void add_seeds(const struct needed *row, struct fr_ghost_point *p) {
    p->seeds_low = row->low > 0 ? row->low / row->iterations : 1;
    p->seeds_high = row->high > 0 ? row->high / row->iterations : 1;
}

/* Multiply by the iterations of the same network; without them a point is left out. */
static fr_status join(const struct fr_json *list, int64_t width, struct fr_ghost_points *points,
                      struct fr_error *err) {
    int kept = 0;
    for (int i = 0; i < points->n; i++) {
        struct fr_ghost_point p = points->items[i];
        double iterations = NAN;
        for (int64_t j = 0; j < fr_json_array_length(list); j++) {
            struct fr_json one = fr_json_element(list, j);
            struct needed row;
            FR_TRY(read_needed(&one, &row, err));
            if (row.ghost != p.ghost || (p.ghost > 0 && row.tp != p.tp)) continue;
            iterations = row.iterations;
            add_seeds(&row, &p);
        }
        if (p.width != width || !(iterations > 0)) continue;
        for (int k = 0; k < FR_GHOST_PANELS; k++) {
            p.measured[k] *= iterations;
            p.predicted[k] *= iterations;
        }
        points->items[kept++] = p;
    }
    points->n = kept;
    return kept ? FR_OK
                : fr_json_fail(list, err,
                               "has no iterations for the runs: a network of width "
                               "%" PRId64,
                               width);
}

/* Trainings alone: their iterations times the energy of an iteration that the cluster file gave. */
static fr_status stand_alone(const struct fr_json *list, int64_t width,
                             struct fr_ghost_points *points, struct fr_error *err) {
    int64_t n = fr_json_array_length(list);
    points->items = fr_calloc((size_t)n, sizeof *points->items);
    if (!points->items) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int64_t j = 0; j < n; j++) {
        struct fr_json one = fr_json_element(list, j);
        struct fr_ghost_point *p = &points->items[points->n];
        struct needed row;
        FR_TRY(read_needed(&one, &row, err));
        *p = (struct fr_ghost_point){.width = width,
                                     .tp = row.tp,
                                     .ghost = row.ghost,
                                     .measured = {NAN, NAN},
                                     .predicted = {row.total_J, row.iteration_J},
                                     .seeds_low = 1,
                                     .seeds_high = 1};
        snprintf(p->group, sizeof p->group, "n=%" PRId64 " p=%" PRId64, width, row.tp);
        if (!(row.total_J > 0)) continue;
        add_seeds(&row, p);
        points->n++;
    }
    points->trained_only = true;
    return points->n
               ? FR_OK
               : fr_json_fail(list, err,
                              "has no energy: give forerun iterations a --cluster, or the "
                              "figure a result of validate too");
}

static fr_status read_iterations(const struct fr_json *root, bool alone,
                                 struct fr_ghost_points *points, struct fr_error *err) {
    struct fr_json list = fr_json_member(root, "rows");
    int64_t width = 0;
    FR_TRY(fr_json_get_integer(root, "width", true, 1, 1 << 30, &width, err));
    FR_TRY(fr_json_get_number(root, "loss", true, 0, 1e18, &points->loss, err));
    FR_TRY(fr_json_array(&list, 1, ROWS_MAX, err));
    points->to_loss = true;
    return alone ? stand_alone(&list, width, points, err) : join(&list, width, points, err);
}

static fr_status read_all(const struct fr_json *roots, int n_inputs,
                          struct fr_ghost_points *points, struct fr_error *err) {
    static const char *const schemas[] = {"forerun/validate/1", "forerun/iterations/1", NULL};
    const struct fr_json *runs = NULL, *iterations = NULL;
    for (int i = 0; i < n_inputs; i++) {
        int schema = 0;
        FR_TRY(fr_json_get_choice(&roots[i], "schema", true, schemas, &schema, err));
        if (schema == 0) runs = &roots[i];
        if (schema == 1) iterations = &roots[i];
    }
    if (n_inputs > 2 || n_inputs != (runs != NULL) + (iterations != NULL))
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "figure ghost takes one result of validate, one of iterations, or both");
    if (runs) FR_TRY(read_runs(runs, points, err));
    return iterations ? read_iterations(iterations, !runs, points, err) : FR_OK;
}

static void find_groups(struct fr_ghost_points *points) {
    for (int i = 0; i < points->n; i++) {
        int k = 0;
        if (points->items[i].ghost == 0) continue;
        while (k < points->n_groups && strcmp(points->group[k], points->items[i].group) != 0)
            k++;
        if (k < points->n_groups) continue;
        if (points->n_groups == FR_GHOST_GROUPS_MAX)
            points->left_out++;
        else
            strcpy(points->group[points->n_groups++], points->items[i].group);
    }
}

fr_status fr_ghost_points_read(const struct fr_json *roots, int n_inputs,
                               struct fr_ghost_points *points, struct fr_error *err) {
    FR_TRY(read_all(roots, n_inputs, points, err));
    find_groups(points);
    return FR_OK;
}

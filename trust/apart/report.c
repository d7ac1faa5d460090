/* Values of devices and of software apart, as tables and files: trust/apart/apart.h. */
#include "trust/apart/apart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json/file_schema.h"
#include "base/json/quantity.h"
#include "models/job/fact.h"
#include "trust/fitted_row.h"
#include "trust/tune_report.h"

static double learned(const struct fr_apart_value *v) {
    return fmax(0, 1 - pow(v->sigma / v->sigma_prior, 2));
}

bool fr_apart_learned(const struct fr_apart_value *v) { return learned(v) >= 0.5; }

static const char *shown(const struct fr_coefficient *c, double value, char *out,
                         size_t capacity) {
    if (c->plain)
        snprintf(out, capacity, "%.4g", value);
    else
        fr_quantity_format(value, c->quantity, out, capacity);
    return out;
}

void fr_apart_print(const struct fr_apart *a, struct fr_text *text) {
    char prior[48], value[48];
    bool marked = false;
    for (int s = 0; s < a->n_scopes; s++) {
        const struct fr_apart_scope *scope = &a->scope[s];
        fr_text_addf(text, "%s%s %s%s%s, %d rows\n", s ? "\n" : "",
                     scope->software ? "software" : "cluster", scope->name,
                     scope->software ? " on " : "", scope->of, scope->rows);
        bool any = false;
        for (int k = 0; k < a->n; k++) {
            const struct fr_apart_value *v = &a->value[k];
            const struct fr_coefficient *c = &fr_coefficients[v->coefficient];
            if (v->scope != s) continue;
            if (!any) fr_fitted_head_print("coefficient", text);
            any = true;
            const struct fr_fitted_row row = {.name = c->name,
                                              .group = fr_tune_group_names[c->group],
                                              .prior = shown(c, v->prior, prior, sizeof prior),
                                              .value = shown(c, v->value, value, sizeof value),
                                              .sigma_prior = v->sigma_prior,
                                              .sigma = v->sigma,
                                              .learned = learned(v),
                                              .rows = v->rows};
            marked |= fr_fitted_row_print(&row, text);
        }
        if (!any) fr_text_addf(text, "too few rows feel any of its values\n");
    }
    if (marked) fr_fitted_mark_print(text);
    fr_text_addf(text, "\n%d rows, mean error %.2f %% on them (fitted to them)\n", a->rows,
                 100 * a->mean_error);
}

void fr_apart_json(struct fr_json_writer *w, const struct fr_apart *a) {
    fr_json_begin_array(w);
    for (int k = 0; k < a->n; k++) {
        const struct fr_apart_value *v = &a->value[k];
        const struct fr_apart_scope *scope = &a->scope[v->scope];
        fr_json_begin_object(w);
        fr_json_add_string(w, scope->software ? "runtime" : "cluster", scope->name);
        if (scope->software) fr_json_add_string(w, "of", scope->of);
        fr_json_add_string(w, "name", fr_coefficients[v->coefficient].name);
        fr_json_add_number(w, "prior", v->prior);
        fr_json_add_number(w, "value", v->value);
        fr_json_add_number(w, "sigma_prior", v->sigma_prior);
        fr_json_add_number(w, "sigma", v->sigma);
        fr_json_add_integer(w, "rows", v->rows);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

/* ---- files -------------------------------------------------------------------------------------- */

static void put_fact(const struct fr_apart *a, const struct fr_apart_value *v, const char *file,
                     struct fr_json_writer *w) {
    const struct fr_apart_scope *scope = &a->scope[v->scope];
    const struct fr_fact_row *row =
        &fr_facts[fr_apart_fact(v->coefficient, scope->cluster, a->dtype)];
    char source[256];
    fr_json_begin_object(w);
    fr_json_add_string(w, "key", row->key);
    fr_json_add_string(w, "of", scope->of);
    if (row->is_quantity)
        fr_json_add_quantity(w, "value", v->value, row->quantity);
    else
        fr_json_add_number(w, "value", v->value);
    fr_json_add_number(w, "width", fmin(2, fmax(0.001, v->sigma)));
    snprintf(source, sizeof source, "tuned on %d rows of %.150s", scope->rows, file);
    fr_json_add_string(w, "source", source);
    if (*scope->cluster->drift.date) fr_json_add_string(w, "date", scope->cluster->drift.date);
    fr_json_end_object(w);
}

void fr_apart_runtime_put(const struct fr_apart *a, int s, const char *name, const char *file,
                          struct fr_json_writer *w) {
    const struct fr_apart_scope *scope = &a->scope[s];
    char source[512];
    fr_json_begin_object(w);
    fr_file_schema_put(w, "runtime");
    fr_json_add_string(w, "name", name);
    if (*scope->cluster->drift.date) fr_json_add_string(w, "date", scope->cluster->drift.date);
    snprintf(source, sizeof source, "%s, as tuned on rows of %.300s", scope->name, file);
    fr_json_add_string(w, "source", source);
    fr_json_add_string(w, "from", scope->name);
    fr_json_add_array(w, "facts");
    for (int k = 0; k < a->n; k++) {
        const struct fr_apart_scope *of = &a->scope[a->value[k].scope];
        if (of->software && strcmp(of->name, scope->name) == 0 &&
            fr_apart_learned(&a->value[k]))
            put_fact(a, &a->value[k], file, w);
    }
    fr_json_end_array(w);
    fr_json_end_object(w);
}

/* A width is alike where no dtype is named. */
static void set_width(struct fr_uncertainty *widths, fr_value value, fr_dtype dtype,
                      double width) {
    for (int d = 0; d < FR_DTYPE_COUNT; d++)
        if (!fr_value_has_dtype(value) || d == (int)dtype) widths->sigma[value][d] = width;
}

/* Widths of what its runtime knows are its runtime's. */
static void drop_software(const struct fr_cluster *cluster, struct fr_uncertainty *widths) {
    for (int j = 0; j < fr_coefficient_count(); j++)
        for (int d = 0; d < FR_DTYPE_COUNT; d++)
            if (fr_apart_fact(j, cluster, (fr_dtype)d) >= 0)
                widths->sigma[fr_coefficients[j].place][d] = 0;
}

fr_status fr_apart_cluster_set(const struct fr_apart *a, int s,
                               struct fr_json_document *document, struct fr_error *err) {
    struct fr_cluster cluster = *a->scope[s].cluster;
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    const bool none[FR_VALUE_COUNT] = {false};
    fr_apart_apply(a, &cluster);
    struct fr_tune_result r = {.cluster = cluster, .dtype = a->dtype};
    cluster.uncertainty.present = true;
    cluster.uncertainty.n_correlated = 0; /* of other values than these */
    drop_software(&cluster, &cluster.uncertainty);
    for (int k = 0; k < a->n; k++) {
        const struct fr_apart_value *v = &a->value[k];
        if (v->scope != s || !fr_apart_learned(v)) continue;
        r.tuned[v->coefficient].prior = v->prior;
        r.tuned[v->coefficient].value = v->value;
        FR_TRY(fr_tune_set_value(document, &r, v->coefficient, err));
        set_width(&cluster.uncertainty, fr_coefficients[v->coefficient].place, a->dtype,
                  fmin(2, fmax(0.001, v->sigma)));
    }
    fr_json_drop(document, "tuning");
    bool any = fr_uncertainty_put(&cluster.uncertainty, &cluster.levels, none, &w);
    fr_status status = text.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                       : any ? fr_json_set(document, "widths", fr_text_get(&text), "tune", err)
                             : FR_OK;
    fr_text_free(&text);
    return status;
}

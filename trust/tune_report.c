#include "trust/tune_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trust/fitted_row.h"

/* Efficiency of a form without one is its peak. */
static bool is_peak(const struct fr_tune_result *r, int j) {
    return fr_coefficients[j].at(&((struct fr_tune_result *)(uintptr_t)r)->cluster, r->dtype) ==
           &r->cluster.device.gemm[r->dtype].peak_flop_per_s;
}

static const char *value_text(const struct fr_tune_result *r, int j, double value, char *out,
                              size_t capacity) {
    const struct fr_coefficient *c = &fr_coefficients[j];
    if (is_peak(r, j)) return fr_quantity_format(value, FR_QUANTITY_WORK_RATE, out, capacity);
    if (c->plain)
        snprintf(out, capacity, "%.4g", value);
    else
        fr_quantity_format(value, c->quantity, out, capacity);
    return out;
}

static const char *why_fixed(const struct fr_tune_result *r, int j) {
    if (r->tuned[j].rows < fr_coefficients[j].rows_needed) return "too few rows";
    return "held";
}

void fr_tune_print(const struct fr_tune_result *r, struct fr_text *text) {
    char prior[48], value[48];
    bool marked = false;
    fr_fitted_head_print("coefficient", text);
    for (int j = 0; j < fr_coefficient_count(); j++) {
        const struct fr_tuned *t = &r->tuned[j];
        if (!t->present) continue;
        const struct fr_fitted_row row = {
            .name = fr_coefficients[j].name,
            .group = fr_tune_group_names[fr_coefficients[j].group],
            .prior = value_text(r, j, t->prior, prior, sizeof prior),
            .value = value_text(r, j, t->value, value, sizeof value),
            .sigma_prior = t->sigma_prior,
            .sigma = t->sigma,
            .learned = t->learned,
            .rows = t->rows,
            .fixed = t->fitted ? NULL : why_fixed(r, j)};
        marked |= fr_fitted_row_print(&row, text);
    }
    if (marked) fr_fitted_mark_print(text);
    fr_text_addf(text, "\n%d rows, mean error %.2f %% on them%s; spread %.1f %%\n", r->rows,
                 100 * r->mean_error, r->unmoved ? "" : " (fitted to them)", 100 * r->spread);
    if (r->unmoved)
        fr_text_addf(text, "nothing was moved: the rows do not refute the cluster file\n"
                           "(--always moves all the same)\n");
}

static void json_coefficients(struct fr_json_writer *w, const struct fr_tune_result *r) {
    fr_json_add_array(w, "coefficients");
    for (int j = 0; j < fr_coefficient_count(); j++) {
        const struct fr_tuned *t = &r->tuned[j];
        if (!t->present) continue;
        fr_json_begin_object(w);
        fr_json_add_string(w, "name", fr_coefficients[j].name);
        fr_json_add_string(w, "group", fr_tune_group_names[fr_coefficients[j].group]);
        fr_json_add_bool(w, "fitted", t->fitted);
        fr_json_add_bool(w, "known", t->known);
        fr_json_add_number(w, "prior", t->prior);
        fr_json_add_number(w, "value", t->value);
        fr_json_add_number(w, "sigma_prior", t->sigma_prior);
        fr_json_add_number(w, "sigma", t->sigma);
        fr_json_add_number(w, "learned", t->learned);
        fr_json_add_integer(w, "rows", t->rows);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static void json_effects(struct fr_json_writer *w, const struct fr_tune_result *r) {
    fr_json_add_object(w, "effects");
    for (int k = 0; k < FR_EFFECTS; k++)
        fr_json_add_number(w, fr_tuning_effect_names[k], r->effect[k]);
    fr_json_end_object(w);
}

/* Which entry of the index coefficient @p j is; -1: none. */
static int place_of(const struct fr_tune_result *r, int j) {
    for (int k = 0; k < r->n_known; k++)
        if (r->index[k] == j) return k;
    return -1;
}

/* In order of the coefficients above. */
static void json_covariance(struct fr_json_writer *w, const struct fr_tune_result *r) {
    fr_json_add_array(w, "covariance");
    for (int i = 0; i < fr_coefficient_count(); i++) {
        int a = place_of(r, i);
        if (a < 0) continue;
        fr_json_begin_array(w);
        for (int j = 0; j < fr_coefficient_count(); j++) {
            int b = place_of(r, j);
            if (b >= 0) fr_json_put_number(w, r->covariance[a * r->n_known + b]);
        }
        fr_json_end_array(w);
    }
    fr_json_end_array(w);
}

/* Each with the coefficients, in their order, then with those before it and itself. */
static void json_seen(struct fr_json_writer *w, const struct fr_tune_result *r) {
    int from = 0;
    while (from < r->n_known && r->index[from] < FR_KNOWN_SEEN) from++;
    fr_json_add_array(w, "seen");
    for (int i = 0; i < r->n_seen; i++) {
        const double *row = r->covariance + (size_t)(from + i) * (size_t)r->n_known;
        const struct fr_tuning_seen *seen = &r->seen[i];
        fr_json_begin_object(w);
        fr_json_add_array(w, fr_seen_names[seen->what]);
        for (int k = 0; k < fr_seen_keys[seen->what]; k++) fr_json_put_integer(w, seen->key[k]);
        fr_json_end_array(w);
        fr_json_add_number(w, "missed", seen->model_error);
        fr_json_add_array(w, "covariance");
        for (int j = 0; j < fr_coefficient_count(); j++) {
            int b = place_of(r, j);
            if (b >= 0) fr_json_put_number(w, row[b]);
        }
        for (int j = 0; j <= i; j++) fr_json_put_number(w, row[from + j]);
        fr_json_end_array(w);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

void fr_tune_json(struct fr_json_writer *w, const struct fr_tune_result *r,
                  const struct fr_run *const *runs, int n) {
    fr_json_begin_object(w);
    fr_json_add_string(w, "dtype", fr_dtype_names[r->dtype]);
    fr_json_add_number(w, "spread", r->spread);
    fr_json_add_number(w, "stretch", r->stretch);
    fr_json_add_number(w, "mean_error", r->mean_error);
    fr_json_add_bool(w, "kept", r->unmoved);
    fr_json_add_bool(w, "experts", r->experts);
    fr_json_add_bool(w, "sharded", r->sharded);
    fr_json_add_bool(w, "pipelined", r->pipelined);
    json_effects(w, r);
    json_coefficients(w, r);
    json_covariance(w, r);
    json_seen(w, r);
    fr_json_add_array(w, "runs");
    for (int i = 0; i < n; i++) fr_json_put_string(w, runs[i]->id);
    fr_json_end_array(w);
    fr_json_end_object(w);
}

/* A peak that runs have moved is no longer the data sheet's, which utilisation is a share of. */
static fr_status keep_nominal(struct fr_json_document *document, const struct fr_tune_result *r,
                              double sheet_flop_per_s, struct fr_error *err) {
    const struct fr_gemm_model *gemm = &r->cluster.device.gemm[r->dtype];
    char path[FR_VALUE_PATH], value[64];
    if (gemm->nominal_flop_per_s > 0 || !(fr_gemm_nominal_flop_per_s(gemm) > 0)) return FR_OK;
    snprintf(path, sizeof path, "device.gemm.%s.nominal_peak", fr_dtype_names[r->dtype]);
    fr_quantity_write(sheet_flop_per_s, FR_QUANTITY_WORK_RATE, value, sizeof value);
    return fr_json_set(document, path, value, "tune", err);
}

fr_status fr_tune_set_value(struct fr_json_document *document, const struct fr_tune_result *r,
                            int j, struct fr_error *err) {
    const struct fr_coefficient *c = &fr_coefficients[j];
    char path[FR_VALUE_PATH] = "", value[64];
    double si = r->tuned[j].value;
    fr_value_path(c->place, r->dtype, &r->cluster.levels, path);
    if (is_peak(r, j)) {
        FR_TRY(keep_nominal(document, r, r->tuned[j].prior, err));
        snprintf(path, sizeof path, "device.gemm.%s.peak", fr_dtype_names[r->dtype]);
        fr_quantity_write(si, FR_QUANTITY_WORK_RATE, value, sizeof value);
    } else if (c->plain)
        fr_number_write(si, value, sizeof value);
    else
        fr_quantity_write(si, c->quantity, value, sizeof value);
    return fr_cluster_set(document, path, value, "tune", err);
}

/* "tuning" has a coefficient's uncertainty after the rows; coefficients without information from rows keep a width. */
static fr_status keep_widths(struct fr_json_document *document, const struct fr_tune_result *r,
                             struct fr_error *err) {
    bool dropped[FR_VALUE_COUNT] = {false};
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    if (!r->cluster.uncertainty.present) return FR_OK;
    for (int j = 0; j < fr_coefficient_count(); j++)
        dropped[fr_coefficients[j].place] = r->tuned[j].known;
    bool any = fr_uncertainty_put(&r->cluster.uncertainty, &r->cluster.levels, dropped, &w);
    fr_status status = FR_OK;
    if (text.failed)
        status = fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    else if (any)
        status = fr_json_set(document, "widths", fr_text_get(&text), "tune", err);
    else
        fr_json_drop(document, "widths");
    fr_text_free(&text);
    return status;
}

fr_status fr_tune_apply(struct fr_json_document *document, const struct fr_tune_result *r,
                        const struct fr_run *const *runs, int n, struct fr_error *err) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    for (int k = 0; k < r->n_fitted; k++)
        FR_TRY(fr_tune_set_value(document, r, r->index[k], err));
    FR_TRY(keep_widths(document, r, err));
    fr_json_drop(document, "date"); /* they are of what was tuned */
    fr_json_drop(document, "checked");
    fr_tune_json(&w, r, runs, n);
    fr_status status = text.failed
                           ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                           : fr_json_set(document, "tuning", fr_text_get(&text), "tune", err);
    fr_text_free(&text);
    return status;
}

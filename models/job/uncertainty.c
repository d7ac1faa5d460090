#include "models/job/uncertainty.h"

#include <stdio.h>
#include <string.h>

/* Nobody knows a value better than the least; a factor of seven says nothing of it. */
static const double sigma_min = 0.001, sigma_max = 2, power_max = 100;

static const char correlated_key[] = "together";

static const char *const paths[] = {
#define FR_VALUE_PATH_OF(code, path) path,
    FR_VALUE_LIST(FR_VALUE_PATH_OF)
#undef FR_VALUE_PATH_OF
};

bool fr_value_has_dtype(fr_value value) { return strstr(paths[value], "%s"); }

const char *fr_value_path(fr_value value, fr_dtype dtype, const struct fr_levels *levels,
                          char out[FR_VALUE_PATH]) {
    const char *path = paths[value], *mark = strchr(path, '%');
    if (!mark) {
        snprintf(out, FR_VALUE_PATH, "%s", path);
    } else if (fr_value_has_dtype(value)) {
        snprintf(out, FR_VALUE_PATH, "%.*s%s%s", (int)(mark - path), path,
                 fr_dtype_names[dtype], mark + 2);
    } else {
        bool of_node = mark[1] == 'n';
        if (!of_node && levels->count < 2) return NULL;
        snprintf(out, FR_VALUE_PATH, "%.*s%d%s", (int)(mark - path), path,
                 of_node ? fr_levels_near(levels) : levels->count - 1, mark + 2);
    }
    return out;
}

/* Widths that a file may state: a path for each value, or one for each dtype. */
struct table {
    int n;
    struct {
        fr_value value;
        fr_dtype dtype;
        char path[FR_VALUE_PATH];
    } row[FR_VALUE_COUNT * FR_DTYPE_COUNT];
    const char *keys[FR_VALUE_COUNT * FR_DTYPE_COUNT + 2]; /* and "together" */
};

static void fill(struct table *t, const struct fr_levels *levels) {
    t->n = 0;
    for (int v = 0; v < FR_VALUE_COUNT; v++)
        for (int d = 0; d < (fr_value_has_dtype((fr_value)v) ? FR_DTYPE_COUNT : 1); d++) {
            if (!fr_value_path((fr_value)v, (fr_dtype)d, levels, t->row[t->n].path)) continue;
            t->row[t->n].value = (fr_value)v;
            t->row[t->n].dtype = (fr_dtype)d;
            t->keys[t->n] = t->row[t->n].path;
            t->n++;
        }
    t->keys[t->n] = correlated_key;
    t->keys[t->n + 1] = NULL;
}

/* ---- together ------------------------------------------------------------------------------ */

double fr_correlated_power(const struct fr_correlated *correlated, fr_value value) {
    for (int i = 0; i < correlated->n; i++)
        if (correlated->of[i].value == value) return correlated->of[i].power;
    return 0;
}

bool fr_correlated_is_of(const struct fr_correlated *correlated, fr_dtype dtype) {
    for (int i = 0; i < correlated->n; i++)
        if (correlated->of[i].dtype != FR_DTYPE_COUNT && correlated->of[i].dtype != dtype)
            return false;
    return true;
}

/* Values of two dtypes come together in no run. */
static fr_status read_powers(const struct fr_json *of, const struct table *t,
                             struct fr_correlated *out, struct fr_error *err) {
    fr_dtype dtype = FR_DTYPE_COUNT;
    for (int i = 0; i < t->n; i++) {
        struct fr_json power = fr_json_member(of, t->keys[i]);
        if (!fr_json_present(&power)) continue;
        if (out->n == FR_CORRELATED_OF)
            return fr_json_fail(of, err, "more than %d values", FR_CORRELATED_OF);
        struct fr_correlated_of *x = &out->of[out->n++];
        *x = (struct fr_correlated_of){
            t->row[i].value,
            fr_value_has_dtype(t->row[i].value) ? t->row[i].dtype : FR_DTYPE_COUNT, 0};
        FR_TRY(fr_json_number(&power, -power_max, power_max, &x->power, err));
        if (x->power == 0) return fr_json_fail(&power, err, "0 says nothing: leave it out");
        if (x->dtype == FR_DTYPE_COUNT) continue;
        if (dtype != FR_DTYPE_COUNT && dtype != x->dtype)
            return fr_json_fail(&power, err, "is of another dtype than one before it");
        dtype = x->dtype;
    }
    return out->n > 1 ? FR_OK
                      : fr_json_fail(of, err, "has %d value%s: expected two or more", out->n,
                                     out->n == 1 ? "" : "s");
}

static fr_status read_correlated(const struct fr_json *object, struct table *t,
                                 struct fr_uncertainty *uncertainty, struct fr_error *err) {
    static const char *const keys[] = {"of", "width", NULL};
    struct fr_json list = fr_json_member(object, correlated_key);
    if (!fr_json_present(&list)) return FR_OK;
    FR_TRY(fr_json_array(&list, 1, FR_CORRELATED_MAX, err));
    t->keys[t->n] = NULL;
    for (int i = 0; i < (int)fr_json_array_length(&list); i++) {
        struct fr_json item = fr_json_element(&list, i), of;
        struct fr_correlated *out = &uncertainty->correlated[uncertainty->n_correlated++];
        FR_TRY(fr_json_object(&item, keys, err));
        FR_TRY(
            fr_json_get_number(&item, "width", true, sigma_min, sigma_max, &out->sigma, err));
        of = fr_json_member(&item, "of");
        if (!fr_json_present(&of)) return fr_json_fail(&item, err, "has no \"of\"");
        FR_TRY(fr_json_object(&of, t->keys, err));
        FR_TRY(read_powers(&of, t, out, err));
    }
    uncertainty->present = true;
    return FR_OK;
}

static bool any_dropped(const struct fr_correlated *x, const bool *dropped) {
    for (int i = 0; i < x->n; i++)
        if (dropped[x->of[i].value]) return true;
    return false;
}

static bool put_correlated(const struct fr_uncertainty *uncertainty,
                           const struct fr_levels *levels, const bool *dropped,
                           struct fr_json_writer *w) {
    bool any = false;
    for (int k = 0; k < uncertainty->n_correlated; k++) {
        const struct fr_correlated *x = &uncertainty->correlated[k];
        char path[FR_VALUE_PATH];
        if (any_dropped(x, dropped)) continue;
        if (!any) fr_json_add_array(w, correlated_key);
        any = true;
        fr_json_begin_object(w);
        fr_json_add_object(w, "of");
        for (int i = 0; i < x->n; i++)
            fr_json_add_number(w, fr_value_path(x->of[i].value, x->of[i].dtype, levels, path),
                               x->of[i].power);
        fr_json_end_object(w);
        fr_json_add_number(w, "width", x->sigma);
        fr_json_end_object(w);
    }
    if (any) fr_json_end_array(w);
    return any;
}

/* ---- the object ---------------------------------------------------------------------------- */

fr_status fr_uncertainty_read(const struct fr_json *object, const struct fr_levels *levels,
                              struct fr_uncertainty *uncertainty, struct fr_error *err) {
    struct table t;
    *uncertainty = (struct fr_uncertainty){0};
    if (!fr_json_present(object)) return FR_OK;
    fill(&t, levels);
    FR_TRY(fr_json_object(object, t.keys, err));
    for (int i = 0; i < t.n; i++) {
        double *sigma = uncertainty->sigma[t.row[i].value];
        FR_TRY(fr_json_get_number(object, t.keys[i], false, sigma_min, sigma_max,
                                  &sigma[t.row[i].dtype], err));
        for (int d = 1; d < FR_DTYPE_COUNT && !fr_value_has_dtype(t.row[i].value); d++)
            sigma[d] = sigma[0];
        uncertainty->present |= sigma[t.row[i].dtype] > 0;
    }
    return read_correlated(object, &t, uncertainty, err);
}

bool fr_uncertainty_put(const struct fr_uncertainty *uncertainty,
                        const struct fr_levels *levels, const bool *dropped,
                        struct fr_json_writer *w) {
    struct table t;
    bool any = false;
    fill(&t, levels);
    fr_json_begin_object(w);
    for (int i = 0; i < t.n; i++) {
        double sigma = uncertainty->sigma[t.row[i].value][t.row[i].dtype];
        if (!(sigma > 0) || dropped[t.row[i].value]) continue;
        fr_json_add_number(w, t.keys[i], sigma);
        any = true;
    }
    any |= put_correlated(uncertainty, levels, dropped, w);
    fr_json_end_object(w);
    return any;
}

#include "models/job/widths.h"

#include <stdio.h>
#include <string.h>

/* Nobody knows a value better than the least; a factor of seven says nothing of it. */
static const double sigma_min = 0.001, sigma_max = 2;

static const char *const paths[] = {
#define FR_VALUE_PATH_OF(code, path) path,
    FR_VALUE_LIST(FR_VALUE_PATH_OF)
#undef FR_VALUE_PATH_OF
};

static bool of_dtype(fr_value value) { return strstr(paths[value], "%s"); }

const char *fr_value_path(fr_value value, fr_dtype dtype, int n_levels,
                          char out[FR_VALUE_PATH]) {
    const char *path = paths[value], *mark = strchr(path, '%');
    if (!mark) {
        snprintf(out, FR_VALUE_PATH, "%s", path);
    } else if (of_dtype(value)) {
        snprintf(out, FR_VALUE_PATH, "%.*s%s%s", (int)(mark - path), path,
                 fr_dtype_names[dtype], mark + 2);
    } else {
        if (n_levels < 2) return NULL;
        snprintf(out, FR_VALUE_PATH, "%.*s%d%s", (int)(mark - path), path, n_levels - 1,
                 mark + 2);
    }
    return out;
}

/* What may be stated: of each value a path, or one of each dtype. */
struct table {
    int n;
    struct {
        fr_value value;
        fr_dtype dtype;
        char path[FR_VALUE_PATH];
    } row[FR_VALUE_COUNT * FR_DTYPE_COUNT];
    const char *keys[FR_VALUE_COUNT * FR_DTYPE_COUNT + 1];
};

static void fill(struct table *t, int n_levels) {
    t->n = 0;
    for (int v = 0; v < FR_VALUE_COUNT; v++)
        for (int d = 0; d < (of_dtype((fr_value)v) ? FR_DTYPE_COUNT : 1); d++) {
            if (!fr_value_path((fr_value)v, (fr_dtype)d, n_levels, t->row[t->n].path)) continue;
            t->row[t->n].value = (fr_value)v;
            t->row[t->n].dtype = (fr_dtype)d;
            t->keys[t->n] = t->row[t->n].path;
            t->n++;
        }
    t->keys[t->n] = NULL;
}

fr_status fr_widths_read(const struct fr_json *object, const struct fr_levels *levels,
                         struct fr_widths *widths, struct fr_error *err) {
    struct table t;
    *widths = (struct fr_widths){0};
    if (!fr_json_present(object)) return FR_OK;
    fill(&t, levels->count);
    FR_TRY(fr_json_object(object, t.keys, err));
    for (int i = 0; i < t.n; i++) {
        double *sigma = widths->sigma[t.row[i].value];
        FR_TRY(fr_json_get_number(object, t.keys[i], false, sigma_min, sigma_max,
                                  &sigma[t.row[i].dtype], err));
        for (int d = 1; d < FR_DTYPE_COUNT && !of_dtype(t.row[i].value); d++)
            sigma[d] = sigma[0];
        widths->present |= sigma[t.row[i].dtype] > 0;
    }
    return FR_OK;
}

bool fr_widths_put(const struct fr_widths *widths, int n_levels, const bool *dropped,
                   struct fr_json_writer *w) {
    struct table t;
    bool any = false;
    fill(&t, n_levels);
    fr_json_begin_object(w);
    for (int i = 0; i < t.n; i++) {
        double sigma = widths->sigma[t.row[i].value][t.row[i].dtype];
        if (!(sigma > 0) || dropped[t.row[i].value]) continue;
        fr_json_add_number(w, t.keys[i], sigma);
        any = true;
    }
    fr_json_end_object(w);
    return any;
}

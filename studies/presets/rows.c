#include "studies/presets/rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/data.h"

static const double rounding = 0.05;

fr_status fr_presets_read(const char *file, struct fr_csv *csv, struct fr_error *err) {
    char path[512];
    *csv = (struct fr_csv){0};
    return fr_data_find(file, path, sizeof path) ? fr_csv_read(path, csv, err) : FR_OK;
}

const char *fr_presets_cell(const struct fr_csv *csv, int row, const char *column) {
    const char *text = fr_csv_get(csv, row, column);
    return text ? text : "";
}

double fr_presets_number(const struct fr_csv *csv, int row, const char *column) {
    return strtod(fr_presets_cell(csv, row, column), NULL);
}

void fr_presets_add(struct fr_reproduction *r, const char *preset, const char *what,
                    double rows, double ours, const char *unit, bool taken, const char *note) {
    fr_reproduce_add(r, taken ? FR_ROLE_FITTED : FR_ROLE_NOT_EXPLAINED, rows, ours, unit,
                     rounding, note, "%s/%s", preset, what);
}

void fr_presets_add_width(struct fr_reproduction *r, const char *preset, const char *what,
                          double rows, double ours, const char *note) {
    fr_reproduce_add(r, FR_ROLE_FITTED, rows, ours, "1", rounding, note, "%s/%s/width", preset,
                     what);
}

const struct fr_together *fr_presets_together(const struct fr_cluster *cluster, fr_value value,
                                              fr_dtype dtype) {
    const struct fr_widths *widths = &cluster->widths;
    for (int k = 0; k < widths->n_together; k++)
        if (fr_together_is_of(&widths->together[k], dtype) &&
            fr_together_power(&widths->together[k], value) != 0)
            return &widths->together[k];
    return NULL;
}

void fr_presets_add_together(struct fr_reproduction *r, const char *preset,
                             const struct fr_together *rows, const struct fr_cluster *cluster,
                             fr_dtype dtype, const char *note) {
    const struct fr_together *ours = fr_presets_together(cluster, rows->of[0].value, dtype);
    char path[FR_VALUE_PATH];
    for (int i = 0; i < rows->n; i++) {
        const struct fr_together_of *x = &rows->of[i];
        fr_value_path(x->value, dtype, cluster->levels.count, path);
        fr_reproduce_add(r, FR_ROLE_FITTED, x->power,
                         ours ? fr_together_power(ours, x->value) : 0, "1", rounding,
                         i ? NULL : "power of each in a sum of logarithms", "%s/together.%s/%s",
                         preset, fr_dtype_names[dtype], path);
    }
    fr_reproduce_add(r, FR_ROLE_FITTED, rows->sigma, ours ? ours->sigma : 0, "1", rounding,
                     note, "%s/together.%s/width", preset, fr_dtype_names[dtype]);
}

#include "app/papers/presets/rows.h"

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

#include "studies/energy/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/data.h"
#include "trust/numbers/statistics.h"

void fr_energy_rows_add(struct fr_energy_rows *rows, const struct fr_energy_row *row) {
    if (rows->count == rows->capacity) {
        int capacity = rows->capacity ? 2 * rows->capacity : 256;
        struct fr_energy_row *grown = fr_realloc(rows->items, (size_t)capacity, sizeof *grown);
        rows->failed = rows->failed || !grown;
        if (!grown) return;
        rows->items = grown;
        rows->capacity = capacity;
    }
    rows->items[rows->count++] = *row;
}

fr_status fr_energy_rows_table(struct fr_reproduction *r, struct fr_energy_rows *rows,
                               const char *name, const char *procedure, const char *unit,
                               const struct fr_table_limits *limits, struct fr_error *err) {
    struct fr_scored *scored = fr_calloc((size_t)rows->count + 1, sizeof *scored);
    fr_status status = scored && !rows->failed ? FR_OK
                                               : fr_fail(err, FR_ERR_NOMEM, NULL,
                                                         "the table does not fit in memory");
    for (int i = 0; scored && i < rows->count; i++) {
        const struct fr_energy_row *x = &rows->items[i];
        double reach = fr_reach_90(x->degrees) * x->sigma * x->predicted;
        scored[i] =
            (struct fr_scored){.id = x->id,
                               .group = x->group,
                               .measured_s = x->measured,
                               .predicted_s = x->predicted,
                               .low_s = (x->least > 0 ? x->least : x->predicted) - reach,
                               .high_s = x->predicted + reach};
    }
    if (status == FR_OK && rows->count > 0)
        status = fr_table_add(r, name, procedure, NULL, scored, rows->count, limits, unit, err);
    free(scored);
    free(rows->items);
    *rows = (struct fr_energy_rows){0};
    return status;
}

fr_status fr_energy_csv(const char *file, struct fr_csv *csv, struct fr_error *err) {
    char path[512];
    *csv = (struct fr_csv){.text = NULL};
    if (!fr_data_find(file, path, sizeof path))
        return fr_fail(err, FR_ERR_IO, file, "not found; set FORERUN_DATA to where it lies");
    return fr_csv_read(path, csv, err);
}

const char *fr_energy_text(const struct fr_csv *csv, int row, const char *column) {
    const char *cell = fr_csv_get(csv, row, column);
    return cell ? cell : "";
}

double fr_energy_number(const struct fr_csv *csv, int row, const char *column) {
    const char *cell = fr_energy_text(csv, row, column);
    char *end = NULL;
    double value = strtod(cell, &end);
    return end == cell || *end ? NAN : value;
}
